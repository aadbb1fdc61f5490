//! What the revisions' schemas and the SDK's types say about a reply: two verdicts, kept apart.

mod content;
mod input;
mod result;
mod rule;
mod sdk;
mod walk;

pub use result::{complaints, error_complaints};
pub use sdk::sdk_complaint;
