//! CI platforms: what is detected, what is written for them, what is published.

mod annotations;
pub mod archive;
pub mod asked;
mod context;
mod detect;
pub mod github;
pub mod gitlab;
pub mod http;
pub mod jobs;
mod local;
pub mod log;
mod notice;
mod outputs;
pub mod page;
pub mod places;
mod publication;
pub mod sections;

pub use annotations::annotations;
pub use context::{Capabilities, Capability, Context, Event, Platform, PullRequest};
pub use detect::detect;
pub use local::{Local, local};
pub use notice::Notice;
pub use outputs::{Output, OutputError, Written, dotenv, github_lines, outputs};
pub use publication::{BadgePlace, BaselineFrom, Options, Publication, Published, When};
