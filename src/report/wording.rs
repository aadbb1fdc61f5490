//! The words that every human format shares. Nothing here is escaped: each renderer does that for its destination.

use std::collections::BTreeSet;

use serde_json::Value;

use super::result::{CheckResult, DiffFacts, PackResult, PackStatus, RunResult, Status};
use crate::{
    check::Check,
    model::{Severity, Verdict},
    packs,
    text::excerpt,
};

/// Characters of a name that are shown.
pub const NAME: usize = 128;
/// Characters of a sentence that are shown.
pub const SENTENCE: usize = 600;
/// Characters of a quotation that are shown.
pub const QUOTE: usize = 300;
/// Warnings that are shown.
pub const WARNINGS: usize = 40;

/// Stands at the end of every human report.
pub const CLOSING: &str = "An A says that these checks passed for this server in exactly this configuration. \
                                  It vouches for nothing else, least of all for the server's security.";

/// The coverage label of a run whose tools were never exercised.
pub const HYGIENE_ONLY: &str = "hygiene only";

/// `STANDARD` or `CUSTOM`.
pub fn label(run: &RunResult) -> &'static str {
    if run.config.standard { "STANDARD" } else { "CUSTOM" }
}

/// The label, with the number of differences of a custom run.
pub fn label_in_full(run: &RunResult) -> String {
    if run.config.standard {
        return "STANDARD".to_owned();
    }
    let number = run.config.standard_diff.len();
    format!("CUSTOM (not the published methodology: {})", counted(number, "difference"))
}

/// The server's name and version.
pub fn named(run: &RunResult) -> String {
    let name = excerpt(&run.name, NAME);
    match &run.version {
        Some(version) if !version.is_empty() => format!("{name} {}", excerpt(version, NAME)),
        _ => name,
    }
}

/// The first line of every report: which build, which methodology, which standing, which server.
pub fn header(run: &RunResult) -> String {
    format!(
        "sealmark {} · methodology {} · {} · {}",
        excerpt(&run.sealmark.version, NAME),
        excerpt(&run.sealmark.methodology, NAME),
        label_in_full(run),
        named(run)
    )
}

/// One difference from the standard profile.
pub fn difference(diff: &DiffFacts) -> String {
    format!(
        "{}: standard {}, effective {}  ({})",
        excerpt(&diff.key, NAME),
        value(&diff.standard),
        value(&diff.effective),
        excerpt(&diff.origin, NAME)
    )
}

fn value(value: &Value) -> String {
    excerpt(&value.to_string(), 160)
}

/// `1 check`, `2 checks`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The letter with its star, when the pack has one; a report from elsewhere may hold any character instead.
pub fn letter(pack: &PackResult) -> Option<String> {
    let grade = known_letter(pack.grade.filter(|_| pack.status == PackStatus::Graded)?);
    Some(if pack.provisional { format!("{grade}*") } else { grade.to_string() })
}

/// The letter, or a question mark for what is none.
pub fn known_letter(grade: char) -> char {
    if matches!(grade, 'A'..='F') { grade } else { '?' }
}

/// `3/4 points, 75% · 1 of 5 checks not scored`. The percentage is rounded down, so that it never shows a letter's
/// threshold that was not reached.
pub fn fraction(pack: &PackResult) -> String {
    let percent = if pack.scored == 0 { 0.0 } else { (pack.points / f64::from(pack.scored) * 100.0 + 1e-9).floor() };
    let mut text = format!("{}/{} points, {percent}%", pack.points, pack.scored);
    if pack.total > pack.scored {
        text.push_str(&format!(" · {} of {} checks not scored", pack.total - pack.scored, pack.total));
    }
    text
}

/// Ids of the critical checks that failed.
pub fn critical_fails(pack: &PackResult) -> Vec<&str> {
    critical(pack, Verdict::Fail)
}

/// Ids of the critical checks that came out at part.
pub fn critical_parts(pack: &PackResult) -> Vec<&str> {
    critical(pack, Verdict::Part)
}

fn critical(pack: &PackResult, verdict: Verdict) -> Vec<&str> {
    pack.checks
        .iter()
        .filter(|check| check.critical && check.verdict == verdict)
        .map(|check| check.id.as_str())
        .collect()
}

/// What a critical check did to the letter: `capped: critical fail: x`, `critical part: y`.
pub fn criticals(pack: &PackResult) -> Vec<String> {
    let mut remarks = Vec::new();
    let capped: Vec<&str> = pack.capped.iter().map(String::as_str).collect();
    if !capped.is_empty() {
        remarks.push(format!("capped: critical fail: {}", excerpt(&capped.join(", "), QUOTE)));
    }
    let uncapped: Vec<&str> = critical_fails(pack).into_iter().filter(|id| !capped.contains(id)).collect();
    if !uncapped.is_empty() {
        remarks.push(format!("critical fail: {}", excerpt(&uncapped.join(", "), QUOTE)));
    }
    let parts = critical_parts(pack);
    if !parts.is_empty() {
        remarks.push(format!("critical part: {}", excerpt(&parts.join(", "), QUOTE)));
    }
    remarks
}

/// Everything that qualifies a pack's letter.
pub fn remarks(run: &RunResult, id: &str, pack: &PackResult) -> Vec<String> {
    let mut remarks = criticals(pack);
    if pack.provisional {
        remarks.push("provisional: a critical check was inconclusive".to_owned());
    }
    if pack.candidate {
        remarks.push("candidate pack".to_owned());
    }
    if !run.config.standard {
        remarks.push("custom grade".to_owned());
    }
    if id == "core" {
        remarks.extend(coverage(run));
    }
    remarks
}

/// How much of the server was exercised.
pub fn coverage(run: &RunResult) -> Vec<String> {
    let coverage = &run.coverage;
    let called = format!("tools called with valid arguments: {} of {}", coverage.tools_called_valid, coverage.tools);
    let label = excerpt(&coverage.label, NAME);
    match label.as_str() {
        "" => vec![called],
        HYGIENE_ONLY => vec![label, called],
        _ => vec![format!("{label} coverage"), called],
    }
}

/// Why a pack has no letter, in a word: `inconclusive`, `not applicable`, `skipped`.
pub fn ungraded(pack: &PackResult) -> &'static str {
    match pack.status {
        PackStatus::Graded => "graded",
        PackStatus::Inconclusive => "inconclusive",
        PackStatus::Na => "not applicable",
        PackStatus::Skipped => "skipped",
    }
}

/// The reason of a pack without a letter.
pub fn reason(pack: &PackResult) -> String {
    excerpt(pack.reason.as_deref().unwrap_or("no reason was recorded"), SENTENCE)
}

/// The checks, worst verdict first and the heavier first among equals.
pub fn worst_first(pack: &PackResult) -> Vec<&CheckResult> {
    let mut checks: Vec<&CheckResult> = pack.checks.iter().collect();
    checks.sort_by_key(|check| (check.verdict, check.severity));
    checks
}

/// What qualifies a check's line: `critical`, `advisory, not scored`, `candidate`.
pub fn weight(check: &CheckResult) -> Option<String> {
    let mut words = Vec::new();
    match check.severity {
        Severity::Critical => words.push("critical"),
        Severity::Scored => {}
        Severity::Advisory => words.push("advisory, not scored"),
    }
    if check.candidate {
        words.push("candidate");
    }
    (!words.is_empty()).then(|| format!("({})", words.join("; ")))
}

/// `title — summary`.
pub fn check_line(check: &CheckResult) -> String {
    let (title, summary) = (excerpt(&check.title, SENTENCE), excerpt(&check.summary, SENTENCE));
    if summary.is_empty() { title } else { format!("{title} — {summary}") }
}

/// What to do about a failed or partial check, and the page that explains it; `None` for a check that is not ours.
pub fn fix(check: &str) -> Option<(&'static str, String)> {
    let (_, check) = packs::check(check)?;
    (!check.explain.fix.is_empty()).then(|| (check.explain.fix, page_of(check)))
}

/// The page about a check.
pub fn page_of(check: &Check) -> String {
    format!("{}/blob/main/docs/checks/{}.md", env!("CARGO_PKG_REPOSITORY"), check.id)
}

/// The packs that produced a letter or an inconclusive result.
pub fn packs_applied(run: &RunResult) -> String {
    let applied: Vec<String> = (run.packs.0.iter())
        .filter(|(_, pack)| matches!(pack.status, PackStatus::Graded | PackStatus::Inconclusive))
        .map(|(id, _)| excerpt(id, NAME))
        .collect();
    if applied.is_empty() { "none".to_owned() } else { applied.join(", ") }
}

/// `stdio server`.
pub fn transport(run: &RunResult) -> String {
    match run.server.transport.as_str() {
        "stdio" => "stdio server".to_owned(),
        "http-launched" => "HTTP server, started by sealmark".to_owned(),
        "http" => "HTTP server".to_owned(),
        other => format!("{} server", excerpt(other, NAME)),
    }
}

/// The command line as written, arguments with blanks in quotes.
pub fn command(run: &RunResult) -> String {
    let words: Vec<String> = (run.server.command.iter())
        .map(|word| {
            let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '\'' || c == '"');
            if plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
        })
        .collect();
    words.join(" ")
}

/// The names of the tools, the first few.
pub fn tools(run: &RunResult, shown: usize) -> String {
    let tools = &run.server.surface.tools;
    let mut names: Vec<String> = tools.iter().take(shown).map(|tool| excerpt(&tool.name, 64)).collect();
    if tools.len() > shown {
        names.push(format!("… and {} more", tools.len() - shown));
    }
    let number = counted(tools.len(), "tool");
    if names.is_empty() { number } else { format!("{number}: {}", names.join(", ")) }
}

/// The revision and what the other era's handshake gave.
pub fn protocol(run: &RunResult) -> Option<String> {
    let version = run.server.protocol_version.as_deref()?;
    let mut text = format!("protocol {}", excerpt(version, NAME));
    if let Some(era) = &run.server.era {
        text.push_str(&format!(" ({})", excerpt(era, NAME)));
    }
    if let Some(other) = &run.server.other_era {
        text.push_str(&format!(" · {}", excerpt(other, QUOTE)));
    }
    Some(text)
}

/// What the sandbox was and what became of it.
pub fn sandbox(run: &RunResult) -> String {
    let facts = &run.sandbox;
    if !facts.used {
        let mut parts = vec!["not used".to_owned()];
        if !facts.withheld.is_empty() {
            parts.push(format!("withheld: {}", excerpt(&facts.withheld.join(", "), SENTENCE)));
        }
        if !facts.inherited.is_empty() {
            parts.push(format!("given back: {}", excerpt(&facts.inherited.join(", "), SENTENCE)));
        }
        return parts.join(" · ");
    }
    let mut parts = vec![excerpt(facts.dir.as_deref().unwrap_or("{sandbox_dir}"), QUOTE), "env scrubbed".to_owned()];
    if !facts.cleanup.is_empty() {
        parts.push(excerpt(&facts.cleanup, QUOTE));
    }
    if !facts.inherited.is_empty() {
        parts.push(format!("inherited: {}", excerpt(&facts.inherited.join(", "), SENTENCE)));
    }
    parts.join(" · ")
}

/// Whether the run may carry a badge.
pub fn badge(run: &RunResult) -> String {
    let reason = excerpt(&run.badge.reason, SENTENCE);
    match (run.badge.eligible, reason.as_str()) {
        (true, _) => format!("eligible: {}", super::badge::assess(run).message),
        (false, "") => "not eligible".to_owned(),
        (false, reason) => format!("not eligible: {reason}"),
    }
}

/// A run's warnings, but those that an earlier run of the same report has shown: what is about all servers is said once.
pub fn unsaid<'r>(run: &'r RunResult, said: &mut BTreeSet<&'r str>) -> Vec<String> {
    run.warnings.iter().filter(|warning| said.insert(warning)).cloned().collect()
}

/// How a run that graded nothing ended; `None` for one that did.
pub fn ending(run: &RunResult) -> Option<String> {
    let error = run.error.as_deref().map(|error| excerpt(error, 2 * SENTENCE));
    match run.status {
        Status::Graded => None,
        Status::NothingGraded => Some("NOTHING GRADED: no pack has a letter; the reasons are below".to_owned()),
        Status::Failed => Some(format!("FAILED: {}", error.unwrap_or_else(|| "no reason was recorded".to_owned()))),
        Status::Interrupted => Some(match error {
            Some(error) => format!("INTERRUPTED: {error}"),
            None => "INTERRUPTED: a signal ended the run, so this report may be incomplete".to_owned(),
        }),
    }
}

/// The packs that a failed run did not come to: their checks have no reason but the failure.
pub fn not_reached(run: &RunResult) -> Option<String> {
    let packs: Vec<String> = run.packs.0.iter().map(|(id, _)| excerpt(id, NAME)).collect();
    (!packs.is_empty()).then(|| format!("PACK {}  not graded: the run did not get this far", packs.join(", ")))
}

/// The packs of all runs, in registry order: the order in which the runs name them.
pub fn pack_columns(runs: &[RunResult]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for (at, (id, _)) in runs.iter().flat_map(|run| run.packs.0.iter().enumerate()) {
        if !columns.contains(&id.as_str()) {
            columns.insert(at.min(columns.len()), id);
        }
    }
    columns
}

/// A pack's cell in the overview of several servers.
pub fn overview_cell(run: &RunResult, pack: &str) -> String {
    let Some((_, pack)) = run.packs.0.iter().find(|(id, _)| id == pack) else { return "-".to_owned() };
    match (letter(pack), pack.status) {
        (Some(letter), _) => letter,
        (None, PackStatus::Inconclusive) => "incl".to_owned(),
        (None, PackStatus::Skipped) => "skip".to_owned(),
        (None, _) => "n/a".to_owned(),
    }
}

/// A run's last cell in the overview of several servers.
pub fn overview_state(run: &RunResult) -> &'static str {
    match run.status {
        Status::Graded => "graded",
        Status::NothingGraded => "nothing graded",
        Status::Failed => "failed",
        Status::Interrupted => "interrupted",
    }
}
