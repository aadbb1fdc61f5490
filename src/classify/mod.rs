//! What each tool takes, and calls made from its declared schema. Pure: nothing here talks to a server.

mod fill;
mod invalid;
#[cfg(test)]
mod listed;
mod names;
mod parameters;
mod schema;
mod tool;

pub use fill::valid_arguments;
pub use invalid::{EXTRA_KEY, InvalidCall, MAX_CALLS, invalid_calls};
pub use names::{reads_by_name, takes_nothing, words};
pub use parameters::text_parameters_of;
pub use schema::{Admits, admits};
pub use tool::{Class, Confidence, ToolClass, classify};
