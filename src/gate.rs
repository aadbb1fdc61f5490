//! The gate: reports and exit policy → exit code and the lines that explain it. Pure.

use crate::{
    config::settings::OutputSettings,
    model::Verdict,
    report::result::{PackResult, PackStatus, RunResult, Status},
};

/// What the gate decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The exit code: 0, 1, 3, 4 or `critical_fail`.
    pub code: u8,
    /// Why the gate was missed, one sentence fragment each.
    pub reasons: Vec<String>,
    /// Lines for stderr, in order; the reasons are among them.
    pub lines: Vec<String>,
}

/// Decides over every run of one invocation; the code is the worst of them.
pub fn decide(runs: &[RunResult], output: &OutputSettings) -> Decision {
    let mut lines = Vec::new();
    let mut misses = Vec::new();
    let mut critical = false;
    // Why a run failed or was interrupted is said where it happened; its packs have nothing to add.
    let ended = |run: &&RunResult| !matches!(run.status, Status::Failed | Status::Interrupted);
    for run in runs.iter().filter(ended) {
        let prefix = if runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
        for (id, pack) in &run.packs.0 {
            critical |= pack.checks.iter().any(|check| check.critical && check.verdict == Verdict::Fail);
            judge_pack(id, pack, output, &prefix, &mut lines, &mut misses);
        }
    }
    if output.fail_under.is_none() {
        lines.push("the gate is off (--fail-under none); grades do not affect the exit code".to_owned());
    }
    let failed = runs.iter().any(|run| run.status == Status::Failed);
    let nothing = runs.iter().any(|run| run.status == Status::NothingGraded);
    let code = if failed {
        4
    } else if nothing {
        lines.push("no pack was graded; the report says why".to_owned());
        3
    } else if misses.is_empty() {
        u8::from(critical && output.critical_fail != 0) * output.critical_fail
    } else if output.soft_fail {
        lines.extend(misses.iter().map(|miss| format!("soft-fail: {miss}")));
        u8::from(critical && output.critical_fail != 0) * output.critical_fail
    } else {
        lines.extend(misses.iter().cloned());
        if critical && output.critical_fail != 0 { output.critical_fail } else { 1 }
    };
    Decision { code, reasons: misses, lines }
}

fn judge_pack(
    id: &str,
    pack: &PackResult,
    output: &OutputSettings,
    prefix: &str,
    lines: &mut Vec<String>,
    misses: &mut Vec<String>,
) {
    if pack.status == PackStatus::Inconclusive {
        let reason = pack.reason.as_deref().unwrap_or("no scored check could be judged");
        match (output.inconclusive_fails, output.fail_under) {
            (true, Some(_)) => misses.push(format!(
                "{prefix}pack {id} was inconclusive, which counts as failing (output.exit_policy.treat_inconclusive_as: fail): {reason}"
            )),
            (true, None) => {
                lines.push(format!("{prefix}warning: pack {id} was inconclusive: {reason}"));
                lines.push(
                    "note: treat_inconclusive_as: fail does not affect the exit code while the gate is off".to_owned(),
                );
            }
            (false, _) => lines.push(format!("{prefix}warning: pack {id} was inconclusive: {reason}")),
        }
    }
    let (Some(letter), Some(bar)) = (pack.grade, output.fail_under) else { return };
    if letter > bar {
        misses.push(format!("{prefix}pack {id} graded {letter}, which does not meet --fail-under {bar}"));
    } else if pack.provisional && bar == 'A' {
        misses.push(format!(
            "{prefix}pack {id} graded A* (provisional: a critical check was inconclusive), which does not meet --fail-under A"
        ));
    }
}
