//! The gate: reports and exit policy → exit code and the lines that explain it. Pure.

use crate::{
    compare::{Change, Comparison, Drift, DriftLevel, ServerComparison},
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
    /// Why the exit code is not 0, one sentence fragment each: the servers without a grade, where there are several; then
    /// what misses the gate.
    pub reasons: Vec<String>,
    /// Lines for stderr, in order; what misses the gate is among them.
    pub lines: Vec<String>,
    /// Names of the servers that got worse or offer something else, where that counts.
    pub worse: Vec<String>,
    /// Names of the servers that had to be compared and could not be.
    pub uncompared: Vec<String>,
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
            uncompared: self.uncompared.clone(),
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
    let (worse, changes) = comparison.map(|comparison| worse(comparison, output.fail_on)).unwrap_or_default();
    misses.extend(changes);
    let to_compare = comparison.map(|comparison| uncompared(comparison, runs, output)).unwrap_or_default();
    let (uncompared, untold) = to_compare;
    misses.extend(untold);
    let ended_early = runs.iter().any(|run| matches!(run.status, Status::Failed | Status::Interrupted));
    let nothing = runs.is_empty() || runs.iter().any(|run| run.status == Status::NothingGraded);
    let passed = if critical { output.critical_fail } else { 0 };
    let soft = if output.soft_fail { "soft-fail: " } else { "" };
    lines.extend(misses.iter().map(|miss| format!("{soft}{miss}")));
    let code = if ended_early {
        4
    } else if nothing {
        lines.push("no pack was graded; the report says why".to_owned());
        3
    } else if misses.is_empty() || output.soft_fail || passed != 0 {
        passed
    } else {
        1
    };
    // Among several it is not plain which one decided; one alone is told as a whole.
    let mut reasons: Vec<String> =
        runs.iter().filter(|_| runs.len() > 1 && code >= 3).filter_map(without_grade).collect();
    reasons.extend(misses);
    Decision { code, reasons, lines, worse, uncompared }
}

/// Why a server has no grade at all.
fn without_grade(run: &RunResult) -> Option<String> {
    let why = match run.status {
        Status::Graded => return None,
        Status::NothingGraded => "no pack was graded",
        Status::Failed => run.error.as_deref().unwrap_or("it could not be graded"),
        Status::Interrupted => "its run was interrupted",
    };
    Some(format!("{}: {}", excerpt(&run.name, NAME), excerpt(why, SENTENCE)))
}

/// What had to be compared with a file that was named, and could not be: the servers, and one sentence fragment for each file
/// or server. A gate that cannot be judged is missed.
///
/// Of a baseline one server at least must have been compared: another one may be new. A snapshot is what somebody reviewed,
/// so it must hold every server, as in `surface --check`. A baseline that comes from the default branch need not: there was
/// none before the first run.
fn uncompared(comparison: &Comparison, runs: &[RunResult], output: &OutputSettings) -> (Vec<String>, Vec<String>) {
    let FailOn { regressions, drift, .. } = output.fail_on;
    // A server without a grade now has an exit code of its own.
    let graded = |name: &str| runs.iter().any(|run| run.name == name && run.status == Status::Graded);
    let servers: Vec<&ServerComparison> = comparison.servers.iter().filter(|server| graded(&server.name)).collect();
    let (mut names, mut misses) = (Vec::new(), Vec::new());
    if let Some(file) = &output.surface
        && drift
    {
        for server in servers.iter().filter(|server| server.without_surface) {
            let prefix = prefix(&server.name, comparison.servers.len());
            misses.push(format!(
                "{prefix}what the server offers was compared with nothing: {} does not hold it",
                file.display()
            ));
            names.push(server.name.clone());
        }
    }
    let without =
        |what: fn(&ServerComparison) -> bool| !servers.is_empty() && servers.iter().all(|server| what(server));
    let lost = (regressions && without(|server| server.without_grades))
        || (drift && output.surface.is_none() && without(|server| server.without_surface));
    if let (Some(file), true) = (&output.baseline, lost) {
        let held = comparison.held.as_deref().unwrap_or_default();
        let why = if servers.iter().any(|server| server.before.is_some()) {
            "the run that it holds was not graded; write it again with --write-baseline".to_owned()
        } else {
            let named = listed(held.iter().map(|name| excerpt(name, NAME)).collect());
            format!(
                "it holds {named} and no server of this run; give a server one name in both (--name, or `name:` in the configuration)"
            )
        };
        misses.push(format!("nothing was compared with the baseline {}: {why}", file.display()));
        names.extend(servers.iter().map(|server| server.name.clone()));
    }
    (names, misses)
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
    let named = listed(changes.iter().map(|change| excerpt(change, 160)).collect());
    format!("{count} {what} {of}: {named}")
}

/// The first few, and how many more there are.
fn listed(mut named: Vec<String>) -> String {
    let more = named.len().saturating_sub(NAMED);
    if more > 0 {
        named.truncate(NAMED);
        named.push(format!("and {more} more"));
    }
    named.join("; ")
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
