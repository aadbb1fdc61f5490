//! `sealmark.diff/1`: a comparison for programs.
//!
//! ```text
//! schema     "sealmark.diff/1"
//! before     the earlier side: {"builds": [{"version", "methodology"}], "servers": count}
//! after      the later side, the same
//! compared   whether anything of a server was compared: names match and the earlier runs were graded
//! regressed  whether a server has regressions
//! drifted    whether a server has breaking or notable drift
//! notes      sentences about no single server
//! servers    the later side's servers in its order, each
//!   name
//!   before        pack id → letter or null; null as a whole when the earlier side does not hold the server
//!   after         pack id → letter or null
//!   regressions   [{"pack", "check"?, "before", "after"}]: letters, verdicts or "not graded"
//!   improvements  the same
//!   notes         sentences
//!   drift         [{"level", "offer", "name", "kind", "detail", "text"?: {"before", "after"}}], breaking first
//! ```
//!
//! Members may be added, never changed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Change, Comparison, Drift};
use crate::report::{
    self, ReportError,
    result::{Build, RunResult},
};

/// The format's name, the first member of the document.
pub const SCHEMA: &str = "sealmark.diff/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    before: Side<'a>,
    after: Side<'a>,
    compared: bool,
    regressed: bool,
    drifted: bool,
    notes: &'a [String],
    servers: Vec<Server<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    /// The builds that made the runs, each once, in the order of the runs.
    builds: Vec<&'a Build>,
    servers: usize,
}

#[derive(Serialize)]
struct Server<'a> {
    name: &'a str,
    before: Option<&'a BTreeMap<String, Option<char>>>,
    after: BTreeMap<&'a str, Option<char>>,
    regressions: &'a [Change],
    improvements: &'a [Change],
    notes: &'a [String],
    drift: &'a [Drift],
}

/// The document of a comparison that [`compare`](super::compare) made of these two sides. The same input gives the same
/// bytes; nothing in them is hidden or a log command.
///
/// # Errors
/// The JSON writer failed.
pub fn document(before: &[RunResult], after: &[RunResult], comparison: &Comparison) -> Result<Vec<u8>, ReportError> {
    let servers = comparison.servers.iter().zip(after).map(|(server, run)| Server {
        name: &server.name,
        before: server.before.as_ref(),
        after: run.packs.0.iter().map(|(id, pack)| (id.as_str(), pack.grade)).collect(),
        regressions: &server.regressions,
        improvements: &server.improvements,
        notes: &server.notes,
        drift: &server.drift,
    });
    report::json_bytes(&Document {
        schema: SCHEMA,
        before: side(before),
        after: side(after),
        compared: comparison.has_grades() || comparison.has_surface(),
        regressed: comparison.regressed(),
        drifted: comparison.drifted(),
        notes: &comparison.notes,
        servers: servers.collect(),
    })
}

fn side(runs: &[RunResult]) -> Side<'_> {
    let mut builds: Vec<&Build> = Vec::new();
    for run in runs {
        if !builds.contains(&&run.sealmark) {
            builds.push(&run.sealmark);
        }
    }
    Side { builds, servers: runs.len() }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{
        compare::compare,
        report::sample::{self, HOSTILE},
        text::{is_hidden, terminal},
    };

    #[test]
    fn the_document_holds_both_sides_and_what_changed() {
        let mut later = sample::clean();
        later.packs.0[0].1.grade = Some('C');
        later.sealmark.version = "9.9.9".to_owned();
        let (before, after) = ([sample::clean()], [later, sample::failed()]);
        let bytes = document(&before, &after, &compare(&before, &after)).expect("JSON");
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(value["schema"], SCHEMA);
        assert!(bytes.starts_with(b"{\n  \"schema\": \"sealmark.diff/1\""), "the schema is the first member");
        assert_eq!(value["before"]["builds"][0]["version"], "0.1.0");
        assert_eq!((&value["after"]["builds"][0]["version"], &value["after"]["servers"]), (&"9.9.9".into(), &2.into()));
        assert_eq!((&value["regressed"], &value["drifted"]), (&true.into(), &false.into()));
        assert_eq!(value["compared"], true);
        let server = &value["servers"][0];
        assert_eq!((&server["before"]["core"], &server["after"]["core"]), (&"A".into(), &"C".into()));
        assert_eq!(server["regressions"], serde_json::json!([{ "pack": "core", "before": "A", "after": "C" }]));
        assert_eq!((&value["servers"][1]["name"], &value["servers"][1]["before"]), (&"broken".into(), &Value::Null));
        assert_eq!(document(&before, &after, &compare(&before, &after)).expect("JSON"), bytes);
    }

    #[test]
    fn hostile_words_are_written_as_escapes() {
        let (before, after) = ([sample::hostile("x")], [sample::hostile(HOSTILE), sample::hostile("x")]);
        let comparison = Comparison { notes: vec![HOSTILE.to_owned()], ..compare(&before, &after) };
        let bytes = document(&before, &after, &comparison).expect("JSON");
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(!text.replace('\n', "").chars().any(is_hidden));
        assert_eq!(terminal::guard(text.clone()), text);
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&value["notes"][0], &value["servers"][0]["name"]), (&HOSTILE.into(), &HOSTILE.into()));
    }
}
