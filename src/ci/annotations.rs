//! Annotations of a GitHub job: one that sums up, then the worst findings at the line of their server.

use super::{Context, Platform, Publication};
use crate::{
    compare::{DriftLevel, ServerComparison},
    model::{Severity, Verdict},
    report::{
        grade_line,
        result::{CheckResult, EvidenceFacts, PackStatus, RunResult, Status},
    },
    text::{excerpt, workflow},
};

/// What the runner takes of each level, for a whole composite action.
const LIMIT: usize = 10;
/// Characters of a title.
const TITLE: usize = 200;
/// Characters of a message.
const MESSAGE: usize = 1200;

/// How an annotation is shown; the worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Notice,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    level: Level,
    /// Among those of one level, the lowest comes first.
    rank: u8,
    title: String,
    message: String,
    place: Option<(String, Option<u32>)>,
}

/// The lines to print, as they are: at most ten, each a finished workflow command. None but on GitHub.
///
/// What a server wrote is escaped. A finding that is said twice is told once; the first line says how many were left out.
pub fn annotations(publication: &Publication<'_>) -> Vec<String> {
    if publication.context.platform != Platform::GitHub {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = Vec::new();
    for run in publication.runs {
        let comparison = publication.comparison.and_then(|comparison| comparison.server(&run.name));
        of_run(publication, run, comparison, &mut findings);
    }
    // Stable: servers, packs and checks keep their order within a rank.
    findings.sort_by_key(|finding| (finding.level, finding.rank));
    let mut kept: Vec<Finding> = Vec::new();
    let mut left_out = 0;
    for finding in findings {
        if kept.contains(&finding) {
            continue;
        }
        if kept.len() < LIMIT - 1 {
            kept.push(finding);
        } else {
            left_out += 1;
        }
    }
    let mut lines = vec![summary(publication, &kept, left_out)];
    lines.extend(kept.iter().map(line));
    lines
}

fn line(finding: &Finding) -> String {
    let (file, number) = finding.place.clone().unwrap_or_default();
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let properties = [("file", file.as_str()), ("line", number.as_str()), ("title", finding.title.as_str())];
    workflow::command(word(finding.level), &properties, &finding.message)
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    }
}

/// The annotation that stands when all others are cut.
fn summary(publication: &Publication<'_>, kept: &[Finding], left_out: usize) -> String {
    let code = publication.decision.code;
    let level = match kept.first() {
        _ if code != 0 || publication.unpublished => Level::Error,
        Some(finding) => finding.level.max(Level::Warning),
        None => Level::Notice,
    };
    let servers = publication.runs.len();
    let mut parts = match publication.runs {
        [run] => vec![format!("{}: {}", excerpt(&run.name, 80), excerpt(&grade_line(run), 300))],
        runs => {
            let graded = runs.iter().filter(|run| run.status == Status::Graded).count();
            vec![format!("{graded} of {servers} servers graded")]
        }
    };
    if let Some(comparison) = publication.comparison {
        let regressions: usize = comparison.servers.iter().map(|server| server.regressions.len()).sum();
        let drift = comparison.servers.iter().flat_map(|server| &server.drift);
        let breaking = drift.filter(|drift| drift.level == DriftLevel::Breaking).count();
        let grades = comparison.has_grades().then(|| counted(regressions, "regression"));
        let surface = comparison.has_surface().then(|| counted(breaking, "breaking change"));
        let found: Vec<String> = grades.into_iter().chain(surface).collect();
        parts.push(if found.is_empty() { "nothing was compared".to_owned() } else { found.join(", ") });
    }
    for reason in publication.decision.reasons.iter().take(3) {
        parts.push(excerpt(reason, 300));
    }
    if publication.decision.reasons.len() > 3 {
        parts.push(format!("and {} more reasons", publication.decision.reasons.len() - 3));
    }
    if left_out > 0 {
        parts.push(format!("{left_out} more findings are in the job summary and in the report"));
    }
    let title = match (code, publication.gate.fail_under) {
        (0, _) if publication.unpublished => "sealmark: something was not published",
        (0, None) => "sealmark: the gate is off",
        (0, Some(_)) if publication.decision.reasons.is_empty() => "sealmark: the gate is met",
        (0, Some(_)) => "sealmark: the gate is missed, and that is let pass",
        (3, _) => "sealmark: nothing was graded",
        (4, _) => "sealmark: a server could not be graded",
        _ => "sealmark: the gate is missed",
    };
    workflow::command(word(level), &[("title", title)], &parts.join("\n"))
}

fn of_run(
    publication: &Publication<'_>,
    run: &RunResult,
    comparison: Option<&ServerComparison>,
    findings: &mut Vec<Finding>,
) {
    let place = place(publication.context, run);
    let name = excerpt(&run.name, 80);
    let strict = publication.decision.code != 0;
    let mut add = |level: Level, rank: u8, title: String, message: &str| {
        let level = if level == Level::Error && !strict { Level::Warning } else { level };
        let (title, message) = (excerpt(&title, TITLE), excerpt(message, MESSAGE));
        findings.push(Finding { level, rank, title, message, place: place.clone() });
    };
    if matches!(run.status, Status::Failed | Status::Interrupted) {
        let why = run.error.as_deref().unwrap_or("a signal ended the run");
        return add(Level::Error, 0, format!("{name}: could not be graded"), why);
    }
    for (id, pack) in &run.packs.0 {
        if pack.status == PackStatus::Inconclusive {
            let level = if publication.gate.inconclusive_fails { Level::Error } else { Level::Warning };
            let why = pack.reason.as_deref().unwrap_or("no check could be judged");
            add(level, 4, format!("{name}: {id} is inconclusive"), why);
            continue;
        }
        for check in &pack.checks {
            let Some((level, rank)) = weigh(check) else { continue };
            let worse = comparison.is_some_and(|comparison| regressed(comparison, id, &check.id));
            let mark = if worse { ", a regression" } else { "" };
            let title = format!("{name}: {}/{} {}{mark}", id, check.id, said(check.verdict));
            add(level, rank - u8::from(worse), title, &told(check));
        }
    }
    let drift = comparison.map(|comparison| comparison.drift.as_slice()).unwrap_or_default();
    for drift in drift.iter().filter(|drift| drift.level == DriftLevel::Breaking) {
        let what = if drift.name.is_empty() { "the server" } else { drift.name.as_str() };
        add(Level::Warning, 3, format!("{name}: breaking change of {}", excerpt(what, 80)), &drift.detail);
    }
}

/// How much a check's verdict matters; `None` where nobody has to act. Ranks are even: a regression comes one earlier.
fn weigh(check: &CheckResult) -> Option<(Level, u8)> {
    match (check.verdict, check.severity) {
        (Verdict::Fail, Severity::Critical) => Some((Level::Error, 2)),
        (Verdict::Fail, Severity::Scored) => Some((Level::Error, 4)),
        (Verdict::Part, Severity::Critical) => Some((Level::Warning, 2)),
        (Verdict::Inconclusive, Severity::Critical) => Some((Level::Warning, 4)),
        (Verdict::Part, Severity::Scored) => Some((Level::Warning, 6)),
        (Verdict::Fail, Severity::Advisory) => Some((Level::Notice, 2)),
        (Verdict::Part, Severity::Advisory) => Some((Level::Notice, 4)),
        _ => None,
    }
}

fn regressed(comparison: &ServerComparison, pack: &str, check: &str) -> bool {
    comparison.regressions.iter().any(|change| change.pack == pack && change.check.as_deref() == Some(check))
}

fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fail => "failed",
        Verdict::Part => "passed in part",
        Verdict::Inconclusive => "is inconclusive",
        Verdict::Pass => "passed",
        Verdict::Na => "does not apply",
    }
}

/// The check's sentence and the evidence that weighs most.
fn told(check: &CheckResult) -> String {
    let mut text = format!("{}. {}", excerpt(&check.title, 200), excerpt(&check.summary, 400));
    let decisive = |line: &&EvidenceFacts| matches!(line.verdict, Verdict::Fail | Verdict::Part);
    if let Some(line) = check.evidence.iter().find(decisive) {
        let tool = line.tool.as_deref().map(|tool| format!("{}: ", excerpt(tool, 80))).unwrap_or_default();
        text.push_str(&format!(" ({tool}{})", excerpt(&line.observed, 300)));
    }
    text
}

/// Where the server stands in the configuration.
fn place(context: &Context, run: &RunResult) -> Option<(String, Option<u32>)> {
    let file = context.in_repository(run.config.path.as_deref()?)?;
    Some((file, run.config.line.filter(|line| *line > 0)))
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
