//! The badge as a shields.io endpoint document.

use serde::Serialize;

use super::{badge, json, options::ReportError, result::RunResult};
use crate::config::settings::Format;

/// shields.io refuses unknown keys; these four are enough.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint {
    schema_version: u8,
    label: String,
    message: String,
    color: &'static str,
}

/// The endpoint document of one run.
pub(super) fn render(runs: &[RunResult]) -> Result<Vec<u8>, ReportError> {
    let badge::Face { label, message, color } = badge::face(Format::Shields, runs)?;
    json::bytes(&Endpoint { schema_version: 1, label, message, color })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_document_holds_what_shields_reads_and_nothing_else() {
        let document: serde_json::Value =
            serde_json::from_slice(&render(&[sample::clean()]).expect("one run")).expect("JSON");
        let expected = serde_json::json!({
            "schemaVersion": 1,
            "label": "sealmark 0.3-draft",
            "message": "no badge: core only",
            "color": "lightgrey",
        });
        assert_eq!(document, expected);
    }
}
