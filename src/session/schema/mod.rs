//! Structural schema of each revision (placeholder until the schema room is merged).

use serde_json::Value;

use crate::model::Revision;

/// Nothing is wrong.
pub fn complaints(_revision: Revision, _method: &str, _result: &Value) -> Vec<String> {
    Vec::new()
}

/// Nothing is wrong.
pub fn error_complaints(_revision: Revision, _error: &Value) -> Vec<String> {
    Vec::new()
}

/// Everything is accepted.
pub fn sdk_complaint(_method: &str, _result: &Value) -> Option<String> {
    None
}
