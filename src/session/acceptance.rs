//! The seam to the two verdicts every reply gets: what the revision's schema says, and what the SDK's types say.

use serde_json::Value;

use super::schema;
use crate::model::Revision;

/// The two verdicts on one reply.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Acceptance {
    pub(super) schema: Vec<String>,
    pub(super) sdk: Option<String>,
}

/// Examines the result of a request.
pub(super) fn result(revision: Revision, method: &str, result: &Value) -> Acceptance {
    Acceptance { schema: schema::complaints(revision, method, result), sdk: schema::sdk_complaint(method, result) }
}

/// Examines a JSON-RPC error.
pub(super) fn error(revision: Revision, error: &Value) -> Acceptance {
    Acceptance { schema: schema::error_complaints(revision, error), sdk: None }
}
