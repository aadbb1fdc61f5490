//! What was asked: raw file shape with positions → resolved settings with origins.

mod catalog;
mod docs;
mod environment;
mod error;
mod expanded;
mod file;
mod keys;
mod layer;
mod naming;
mod paths;
mod placeholders;
mod profiles;
mod registry;
mod reserved;
mod resolve;
mod schema;
mod secrets;
mod server;
pub mod settings;
mod show;
mod standing;
mod suggest;
#[cfg(test)]
mod tests;
mod value;
mod vetting;
mod yaml;

pub use catalog::{KeyFacts, keys};
pub use docs::markdown;
pub use environment::{FlagValue, IGNORED_VARIABLES};
pub use error::{ConfigError, Origin, Place};
pub use expanded::{ExpandedServer, expand_server};
pub use layer::Merged;
pub use paths::absolutize;
pub use placeholders::{Expanded, PLACEHOLDERS, expand, placeholders_of};
pub use profiles::{ProfileFacts, profiles, profiles_text};
pub use resolve::{Request, Resolved, resolve, user_config_path};
pub use schema::schema;
pub(crate) use secrets::shown_arguments;
pub use secrets::{REDACTED, is_secret_name, shown};
pub use server::selected;
pub use settings::Settings;
pub use show::{show, show_json};
pub use suggest::suggest;
