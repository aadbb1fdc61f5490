//! GitLab Code Quality: one JSON array of findings.

use super::{
    json as writer,
    options::{RenderOptions, ReportError},
    result::RunResult,
};

pub(super) fn render(_runs: &[RunResult], _options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    writer::bytes(&serde_json::json!([]))
}
