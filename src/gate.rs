//! The gate: reports and exit policy → exit code and the lines that explain it. Pure.

use crate::{
    compare::{Change, Comparison, Drift, DriftLevel},
    config::settings::{FailOn, OutputSettings},
    model::Verdict,
    report::{
        GateFacts,
        result::{PackResult, PackStatus, RunResult, Status},
    },
    text::excerpt,
};

/// Longest name in a line, in characters.
const NAME: usize = 80;
/// Longest quoted sentence in a line.
const SENTENCE: usize = 600;

/// What the gate decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// The exit code: 0, 1, 3, 4 or `critical_fail`.
    pub code: u8,
    /// Why the gate was missed, one sentence fragment each.
    pub reasons: Vec<String>,
    /// Lines for stderr, in order; the reasons are among them.
    pub lines: Vec<String>,
    /// Names of the servers that got worse or offer something else, where that counts.
    pub worse: Vec<String>,
}

impl Decision {
    /// No server was due: an empty share of them.
    pub fn nothing_due() -> Self {
        Self::default()
    }

    /// What renderers are told of the gate.
    pub fn facts(&self, output: &OutputSettings) -> GateFacts {
        GateFacts {
            fail_under: bar(output),
            soft_fail: output.soft_fail,
            inconclusive_fails: output.inconclusive_fails,
            exit_code: self.code,
            reasons: self.reasons.clone(),
            worse: self.worse.clone(),
        }
    }
}

/// Decides over every run of one invocation; the code is the worst of them. `comparison` is the one with the baseline, when
/// there is one: `fail_on` says what of it counts.
pub fn decide(runs: &[RunResult], output: &OutputSettings, comparison: Option<&Comparison>) -> Decision {
    let mut lines = Vec::new();
    let mut misses = Vec::new();
    let mut critical = false;
    // Why a run failed or was interrupted is said where it happened; its packs have nothing to add.
    let ended = |run: &&RunResult| !matches!(run.status, Status::Failed | Status::Interrupted);
    for run in runs.iter().filter(ended) {
        let prefix = prefix(&run.name, runs.len());
        for (id, pack) in &run.packs.0 {
            critical |= pack.checks.iter().any(|check| check.critical && check.verdict == Verdict::Fail);
            judge_pack(id, pack, output, &prefix, &mut lines, &mut misses);
        }
    }
    let inconclusive = |run: &RunResult| run.packs.0.iter().any(|(_, pack)| pack.status == PackStatus::Inconclusive);
    if output.inconclusive_fails && bar(output).is_none() && runs.iter().filter(ended).any(inconclusive) {
        lines.push("note: treat_inconclusive_as: fail does not affect the exit code while the gate is off".to_owned());
    }
    if !output.fail_on.gate {
        let words = words(output.fail_on);
        lines.push(format!("the gate is off (--fail-on {words}); grades do not affect the exit code"));
    } else if output.fail_under.is_none() {
        lines.push("the gate is off (--fail-under none); grades do not affect the exit code".to_owned());
    }
    let (servers, changes) = comparison.map(|comparison| worse(comparison, output.fail_on)).unwrap_or_default();
    misses.extend(changes);
    let ended_early = runs.iter().any(|run| matches!(run.status, Status::Failed | Status::Interrupted));
    let nothing = runs.is_empty() || runs.iter().any(|run| run.status == Status::NothingGraded);
    let passed = if critical { output.critical_fail } else { 0 };
    let code = if ended_early {
        4
    } else if nothing {
        lines.push("no pack was graded; the report says why".to_owned());
        3
    } else if misses.is_empty() {
        passed
    } else if output.soft_fail {
        lines.extend(misses.iter().map(|miss| format!("soft-fail: {miss}")));
        passed
    } else {
        lines.extend(misses.iter().cloned());
        if passed == 0 { 1 } else { passed }
    };
    Decision { code, reasons: misses, lines, worse: servers }
}

fn prefix(name: &str, servers: usize) -> String {
    if servers > 1 { format!("{}: ", excerpt(name, NAME)) } else { String::new() }
}

/// The letter that grades are held to, `None` while they do not count.
fn bar(output: &OutputSettings) -> Option<char> {
    output.fail_under.filter(|_| output.fail_on.gate)
}

fn words(fail_on: FailOn) -> String {
    let words = [(fail_on.regressions, "regressions"), (fail_on.drift, "drift")];
    words.into_iter().filter_map(|(counts, word)| counts.then_some(word)).collect::<Vec<_>>().join(",")
}

/// What of a comparison misses the gate: the servers, and one sentence fragment per server and kind.
fn worse(comparison: &Comparison, fail_on: FailOn) -> (Vec<String>, Vec<String>) {
    let (mut servers, mut misses) = (Vec::new(), Vec::new());
    for server in &comparison.servers {
        let before = misses.len();
        let prefix = prefix(&server.name, comparison.servers.len());
        if fail_on.regressions && !server.regressions.is_empty() {
            let what = if server.regressions.len() == 1 { "regression" } else { "regressions" };
            let changes = server.regressions.iter().map(Change::line).collect();
            misses.push(format!("{prefix}{}", several(changes, what, "against the baseline")));
        }
        let drift: Vec<&Drift> = server.drift.iter().filter(|drift| drift.level < DriftLevel::Info).collect();
        if fail_on.drift && !drift.is_empty() {
            let what = if drift.len() == 1 { "breaking or notable change" } else { "breaking or notable changes" };
            let changes = drift.into_iter().map(Drift::line).collect();
            misses.push(format!("{prefix}{}", several(changes, what, "of what the server offers")));
        }
        if misses.len() > before {
            servers.push(server.name.clone());
        }
    }
    (servers, misses)
}

/// Changes that a fragment names; the comparison's own lines name more.
const NAMED: usize = 3;

/// `4 regressions against the baseline: pack core A → B; …; and 1 more`
fn several(changes: Vec<String>, what: &str, of: &str) -> String {
    let count = changes.len();
    let mut named: Vec<String> = changes.into_iter().take(NAMED).map(|change| excerpt(&change, 160)).collect();
    if count > NAMED {
        named.push(format!("and {} more", count - NAMED));
    }
    format!("{count} {what} {of}: {}", named.join("; "))
}

fn judge_pack(
    id: &str,
    pack: &PackResult,
    output: &OutputSettings,
    prefix: &str,
    lines: &mut Vec<String>,
    misses: &mut Vec<String>,
) {
    // The report may come from disk: what it holds is quoted short.
    let id = excerpt(id, NAME);
    if pack.status == PackStatus::Inconclusive {
        let reason = excerpt(pack.reason.as_deref().unwrap_or("no scored check could be judged"), SENTENCE);
        if output.inconclusive_fails && bar(output).is_some() {
            misses.push(format!(
                "{prefix}pack {id} was inconclusive, which counts as failing (output.exit_policy.treat_inconclusive_as: fail): {reason}"
            ));
        } else {
            lines.push(format!("{prefix}warning: pack {id} was inconclusive: {reason}"));
        }
    }
    let (Some(letter), Some(bar)) = (pack.grade, bar(output)) else { return };
    if letter > bar {
        misses.push(format!("{prefix}pack {id} graded {letter}, which does not meet --fail-under {bar}"));
    } else if pack.provisional && bar == 'A' {
        misses.push(format!(
            "{prefix}pack {id} graded A* (provisional: a critical check was inconclusive), which does not meet --fail-under A"
        ));
    }
}

#[cfg(test)]
mod tests;
