//! GitLab Code Quality: one JSON array of findings, empty when there is nothing to find.

use serde::Serialize;

use super::{
    findings::{Finding, Identities, configured, findings, hash},
    json as writer,
    options::{RenderOptions, ReportError},
    places::{Place, Places},
    result::{RunResult, Status},
    wording::{self, NAME, QUOTE, SENTENCE},
};
use crate::{
    model::{Severity, Verdict},
    text::{excerpt, terminal},
};

/// What GitLab reads; it ignores everything else.
#[derive(Debug, Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: u32,
}

/// Every failed or partial check, and every server that was not graded: a widget without it would call its findings solved.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    let mut issues: Vec<Issue> = Vec::new();
    for run in runs {
        issues.extend(findings(run).iter().map(|finding| issue(finding, options)));
        if matches!(run.status, Status::Failed | Status::Interrupted) {
            issues.push(not_graded(run, &options.places));
        }
    }
    let mut identities = Identities::default();
    for issue in &mut issues {
        issue.fingerprint = identities.unique(std::mem::take(&mut issue.fingerprint));
    }
    writer::bytes(&issues)
}

fn plain(text: &str, max_chars: usize) -> String {
    terminal::line(&excerpt(text, max_chars))
}

fn issue(finding: &Finding<'_>, options: &RenderOptions) -> Issue {
    let server = plain(&finding.run.name, NAME);
    let place = match finding.tool {
        Some(tool) => format!("{server}, tool {}", plain(tool, NAME)),
        None => server,
    };
    let more = match finding.more_tools {
        0 => String::new(),
        more => format!(" (and {})", wording::counted(more, "more tool")),
    };
    Issue {
        description: format!("{place}: {}{more}", plain(&finding.check.summary, QUOTE)),
        check_name: plain(&finding.check.id, NAME),
        fingerprint: finding.fingerprint(),
        severity: severity(finding.verdict, finding.check.severity),
        location: location(finding.spot(&options.places).place),
    }
}

fn severity(verdict: Verdict, severity: Severity) -> &'static str {
    match (verdict, severity) {
        (Verdict::Fail, Severity::Critical) => "critical",
        (Verdict::Fail, Severity::Scored) | (_, Severity::Critical) => "major",
        (Verdict::Fail, Severity::Advisory) | (_, Severity::Scored) => "minor",
        _ => "info",
    }
}

fn not_graded(run: &RunResult, places: &Places) -> Issue {
    let ending = wording::ending(run).unwrap_or_default();
    Issue {
        description: format!("{}: {}", plain(&run.name, NAME), plain(&ending, SENTENCE)),
        check_name: "run".to_owned(),
        fingerprint: hash(&["run", &run.name])[..32].to_owned(),
        severity: "blocker",
        location: location(configured(run, places)),
    }
}

fn location(place: Place) -> Location {
    Location { path: place.path, lines: Lines { begin: place.line } }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::report::sample;

    fn rendered(runs: &[RunResult]) -> Value {
        serde_json::from_slice(&render(runs, &RenderOptions::default()).expect("a report")).expect("JSON")
    }

    #[test]
    fn a_clean_run_is_an_empty_list() {
        assert_eq!(rendered(&[sample::clean()]), json!([]));
    }

    #[test]
    fn severities_follow_verdict_and_weight() {
        let report = rendered(&[sample::graded()]);
        let of: Vec<(&str, &str)> = (report.as_array().expect("a list").iter())
            .map(|issue| (issue["check_name"].as_str().expect("name"), issue["severity"].as_str().expect("word")))
            .collect();
        assert_eq!(
            of,
            [
                ("refusal-quality", "info"),
                ("mutating-sql", "critical"),
                ("mutating-sql", "major"),
                ("db-row-cap", "minor")
            ]
        );
        assert_eq!(report[1]["location"], json!({"path": "conf/sealmark.yaml", "lines": {"begin": 7}}));
    }

    #[test]
    fn a_server_that_did_not_start_is_the_worst_finding() {
        let report = rendered(&[sample::failed()]);
        assert_eq!(report[0]["severity"], "blocker");
        assert_eq!(report[0]["check_name"], "run");
    }

    #[test]
    fn fingerprints_are_unique_and_do_not_follow_lines() {
        let mut moved = sample::graded();
        moved.config.line = Some(99);
        let prints = |report: &Value| -> Vec<String> {
            (report.as_array().expect("a list").iter()).map(|issue| issue["fingerprint"].to_string()).collect()
        };
        assert_eq!(prints(&rendered(&[sample::graded()])), prints(&rendered(&[moved])));
        let twice = prints(&rendered(&[sample::graded(), sample::graded()]));
        assert_eq!(twice.iter().collect::<BTreeSet<_>>().len(), twice.len());
    }
}
