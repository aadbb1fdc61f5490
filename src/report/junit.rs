//! JUnit XML: a suite per pack, a case per check.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{
    options::ReportError,
    result::{CheckResult, EvidenceFacts, PackResult, PackStatus, RunResult, Status},
    wording::{self, NAME, QUOTE, SENTENCE},
};
use crate::{
    model::{Severity, Verdict},
    text::{excerpt, xml},
};

/// Evidence lines of a case.
const EVIDENCE: usize = 50;

/// All runs in one document; with several servers the suites' names start with the server's.
pub(super) fn render(runs: &[RunResult]) -> Result<Vec<u8>, ReportError> {
    let mut report = Report::new("sealmark");
    report.set_time(Duration::from_millis(runs.iter().map(|run| run.duration_ms).sum()));
    for run in runs {
        let prefix = if runs.len() > 1 { format!("{} / ", plain(&run.name, NAME)) } else { String::new() };
        for (id, pack) in &run.packs.0 {
            report.add_test_suite(suite(run, &format!("{prefix}{}", plain(id, NAME)), pack));
        }
        if matches!(run.status, Status::Failed | Status::Interrupted) {
            report.add_test_suite(ended(run, &format!("{prefix}run")));
        }
    }
    let mut out = Vec::new();
    report.serialize(&mut out)?;
    Ok(out)
}

/// One visible line without what XML forbids; the writer makes the entities.
fn plain(text: &str, max_chars: usize) -> String {
    xml::unescaped(&excerpt(text, max_chars))
}

fn begun(run: &RunResult, name: &str) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.extra.insert("timestamp".into(), plain(&run.started_at, NAME).as_str().into());
    suite.add_property(("sealmark.header", plain(&wording::header(run), SENTENCE).as_str()));
    suite.add_property(("sealmark.standing", wording::label(run)));
    suite.add_property(("sealmark.config.hash", plain(&run.config.hash, NAME).as_str()));
    suite
}

fn suite(run: &RunResult, name: &str, pack: &PackResult) -> TestSuite {
    let mut suite = begun(run, name);
    match wording::letter(pack) {
        Some(letter) => {
            suite.add_property(("sealmark.grade", letter.as_str()));
            suite.add_property(("sealmark.points", wording::fraction(pack).as_str()));
        }
        None => {
            let why = plain(&format!("{}: {}", wording::ungraded(pack), wording::reason(pack)), SENTENCE);
            suite.add_property(("sealmark.grade", why.as_str()));
        }
    }
    for check in &pack.checks {
        suite.add_test_case(case(run, name, pack, check));
    }
    suite
}

fn case(run: &RunResult, suite: &str, pack: &PackResult, check: &CheckResult) -> TestCase {
    let summary = plain(&check.summary, SENTENCE);
    let title = plain(&check.title, SENTENCE);
    let scored = check.severity != Severity::Advisory && pack.status != PackStatus::Skipped;
    let mut status = match check.verdict {
        Verdict::Fail if scored => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Inconclusive | Verdict::Na => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    };
    let detail = detail(check, &title, &summary);
    if !matches!(status, TestCaseStatus::Success { .. }) {
        status.set_message(summary.as_str());
        status.set_type(if check.verdict == Verdict::Fail { check.severity.as_str() } else { check.verdict.as_str() });
    }
    let in_system_out = match check.verdict {
        Verdict::Fail if scored => {
            status.set_description(detail.as_str());
            false
        }
        Verdict::Fail | Verdict::Part => true,
        _ => check.severity == Severity::Advisory,
    };
    let mut case = TestCase::new(plain(&check.id, NAME), status);
    case.set_classname(suite);
    placed(&mut case, run);
    if in_system_out {
        case.set_system_out(detail.as_str());
    }
    case
}

/// The place in the configuration that names the server.
fn placed(case: &mut TestCase, run: &RunResult) {
    if let Some(path) = &run.config.path {
        case.extra.insert("file".into(), plain(path, QUOTE).as_str().into());
        case.extra.insert("line".into(), run.config.line.unwrap_or(1).to_string().as_str().into());
    }
}

fn detail(check: &CheckResult, title: &str, summary: &str) -> String {
    let weight = wording::weight(check).map(|weight| format!(" {weight}")).unwrap_or_default();
    let mut lines = vec![format!("{}{weight}: {title}", check.verdict.as_str()), summary.to_owned()];
    lines.push(format!("scope: {}", plain(&check.scope, NAME)));
    let shown: Vec<&EvidenceFacts> = check.evidence.iter().filter(|line| line.verdict != Verdict::Pass).collect();
    for line in shown.iter().take(EVIDENCE) {
        let tool = line.tool.as_deref().map(|tool| format!(" · {}", plain(tool, NAME))).unwrap_or_default();
        let observed = plain(&line.observed, SENTENCE);
        lines.push(format!("- {}{tool}: {observed} [{}]", plain(&line.probe, NAME), plain(&line.rule, NAME)));
        for (word, quote) in [("sent", &line.sent), ("received", &line.received)] {
            lines.extend(quote.as_ref().map(|quote| format!("    {word}: {}", plain(&quote.text(), QUOTE))));
        }
    }
    if shown.len() > EVIDENCE {
        lines.push(format!("… and {} more", shown.len() - EVIDENCE));
    }
    lines.join("\n")
}

/// A run that did not end by itself is an error of its own.
fn ended(run: &RunResult, name: &str) -> TestSuite {
    let mut suite = begun(run, name);
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let (case, kind) = if run.status == Status::Failed { ("start", "failed") } else { ("complete", "interrupted") };
    status.set_type(kind);
    status.set_message(plain(&wording::ending(run).unwrap_or_default(), 2 * SENTENCE).as_str());
    let mut case = TestCase::new(case, status);
    case.set_classname(name);
    placed(&mut case, run);
    suite.add_test_case(case);
    suite
}
