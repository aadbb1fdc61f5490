//! The first lines of a page: did it pass, what got worse, what is to be done.

use super::failures;
use crate::{
    ci::Publication,
    compare::{DriftLevel, ServerComparison},
    model::Verdict,
    report::{
        result::{PackResult, PackStatus, RunResult, Status},
        wording::{self, SENTENCE, counted},
    },
    text::{
        excerpt,
        markdown::{code, inline},
    },
};

/// Reasons of a missed gate that are shown.
const REASONS: usize = 8;

/// The heading and the lines under it, without anything that could be cut.
pub(super) fn head(publication: &Publication<'_>) -> String {
    let (mark, word, sentence) = outcome(publication);
    let whose = match publication.runs {
        [run] => code(&wording::named(run)),
        runs => counted(runs.len(), "server"),
    };
    let (mark, word) = match publication.unpublished && publication.decision.code == 0 {
        true => ("❌", "not published"),
        false => (mark, word),
    };
    let mut out = format!("## {mark} Sealmark: {word} · {whose}\n\n");
    if publication.unpublished {
        out.push_str(
            "**Exit code 4:** something that had to be published was not (`require-publish`); the log says what it was and \
             what helps.\n\n",
        );
    }
    out.push_str(&format!("{sentence}\n\n"));
    let reasons = &publication.decision.reasons;
    for reason in reasons.iter().take(REASONS) {
        out.push_str(&format!("- {}\n", inline(&excerpt(reason, SENTENCE))));
    }
    if reasons.len() > REASONS {
        out.push_str(&format!("- … and {}, see below\n", counted(reasons.len() - REASONS, "more reason")));
    }
    if !reasons.is_empty() {
        out.push('\n');
    }
    if let Some(line) = against_the_baseline(publication) {
        out.push_str(&format!("{line}\n\n"));
    }
    out.push_str(&format!("**To do:** {}\n\n", to_do(publication)));
    out
}

/// The mark, the word and the sentence: what the exit code means.
fn outcome(publication: &Publication<'_>) -> (&'static str, &'static str, String) {
    let gate = publication.gate;
    let plain = |text: &str| text.to_owned();
    match publication.decision.code {
        0 if !publication.decision.reasons.is_empty() => {
            ("⚠", "passed with a warning", plain("The gate was missed, which is only a warning here (`soft-fail`)."))
        }
        0 => match gate.fail_under {
            None => ("✅", "passed", plain("Letters do not decide here: the gate is off.")),
            Some(least) => {
                ("✅", "passed", format!("Every graded pack met the gate ({}).", wording::known_letter(least)))
            }
        },
        1 => ("❌", "failed", plain("The gate was missed:")),
        3 => ("❌", "nothing graded", plain("No pack has a letter; the reasons are below.")),
        4 => ("❌", "failed", plain("A server could not be graded, or the harness failed.")),
        129..=143 => ("❌", "interrupted", plain("The run was stopped, so what is below may be incomplete.")),
        code => ("❌", "failed", format!("A critical check failed, which exits with {code} here.")),
    }
}

fn against_the_baseline(publication: &Publication<'_>) -> Option<String> {
    let Some(comparison) = publication.comparison else {
        let why = publication.no_baseline?;
        return Some(format!("**No baseline:** {}", inline(&excerpt(why, SENTENCE))));
    };
    let servers = &comparison.servers;
    let regressions: usize = servers.iter().map(|server| server.regressions.len()).sum();
    let improvements: usize = servers.iter().map(|server| server.improvements.len()).sum();
    let drift = |level| servers.iter().flat_map(|server| &server.drift).filter(|drift| drift.level == level).count();
    let mut parts = Vec::new();
    if regressions > 0 {
        parts.push(format!("▼ **{}**", counted(regressions, "regression")));
    }
    if improvements > 0 {
        parts.push(format!("▲ {}", counted(improvements, "improvement")));
    }
    for (level, word) in [(DriftLevel::Breaking, "breaking change"), (DriftLevel::Notable, "notable change")] {
        match drift(level) {
            0 => {}
            number if level == DriftLevel::Breaking => {
                parts.push(format!("**{} of the surface**", counted(number, word)))
            }
            number => parts.push(format!("{} of the surface", counted(number, word))),
        }
    }
    let with_baseline = comparison.held.is_some();
    let alone = |server: &&ServerComparison| match with_baseline {
        true => server.before.is_none(),
        false => server.without_surface,
    };
    let (whose, new) = (if with_baseline { "baseline" } else { "snapshot" }, servers.iter().filter(alone).count());
    if new > 0 {
        parts.push(format!("{} that it does not hold", counted(new, "server")));
    }
    let said = match (parts.is_empty(), with_baseline) {
        _ if !comparison.has_grades() && !comparison.has_surface() => "nothing was compared".to_owned(),
        (true, true) => "nothing got worse, nothing changed".to_owned(),
        (true, false) => "nothing changed".to_owned(),
        (false, _) => parts.join(" · "),
    };
    Some(format!("**Against the {whose}:** {said}"))
}

fn to_do(publication: &Publication<'_>) -> String {
    let mut parts = Vec::new();
    let of = |status: Status| publication.runs.iter().filter(|run| run.status == status).count();
    match of(Status::Failed) {
        0 => {}
        1 => parts.push("make the server start that did not (the reason is below)".to_owned()),
        number => parts.push(format!("make the {number} servers start that did not (the reasons are below)")),
    }
    if of(Status::NothingGraded) + of(Status::Interrupted) > 0 {
        parts.push("see why nothing was graded".to_owned());
    }
    let (fails, partial) = failures::count(publication.runs);
    if fails + partial > 0 {
        let mut what = Vec::new();
        if fails > 0 {
            what.push(counted(fails, "failed check"));
        }
        if partial > 0 {
            what.push(counted(partial, "partly failed check"));
        }
        parts.push(format!("fix {} (below it says how)", what.join(" and ")));
    }
    if let Some(comparison) = publication.comparison {
        let drift = comparison.servers.iter().flat_map(|server| &server.drift);
        match drift.filter(|drift| drift.level == DriftLevel::Breaking).count() {
            0 => {}
            1 => parts.push("make sure that the breaking change is meant".to_owned()),
            number => parts.push(format!("make sure that the {number} breaking changes are meant")),
        }
    }
    let open = |pack: &PackResult| pack.status == PackStatus::Inconclusive || pack.provisional;
    let inconclusive = publication.runs.iter().flat_map(|run| &run.packs.0).filter(|(_, pack)| open(pack)).count();
    if inconclusive > 0 && publication.decision.code == 1 {
        parts.push(format!("see why {} could not be judged", counted(inconclusive, "pack")));
    }
    if parts.is_empty() { "nothing.".to_owned() } else { format!("{}.", parts.join("; ")) }
}

/// How a server stands: ❌ misses the gate or was not graded, ⚠ should be looked at, ✅ is fine.
pub(super) fn mark(publication: &Publication<'_>, run: &RunResult) -> &'static str {
    if run.status != Status::Graded {
        return "❌";
    }
    let marks: Vec<&str> = run.packs.0.iter().map(|(_, pack)| pack_mark(publication, pack)).collect();
    let changed = publication.comparison.and_then(|comparison| comparison.server(&run.name)).is_some_and(|server| {
        !server.regressions.is_empty() || server.drift.iter().any(|drift| drift.level < DriftLevel::Info)
    });
    if marks.contains(&"❌") || publication.gate.uncompared.contains(&run.name) {
        "❌"
    } else if changed || marks.contains(&"⚠") {
        "⚠"
    } else {
        "✅"
    }
}

/// How a pack stands.
pub(super) fn pack_mark(publication: &Publication<'_>, pack: &PackResult) -> &'static str {
    let gate = publication.gate;
    match (pack.status, pack.grade) {
        (PackStatus::Graded, Some(grade)) => match gate.fail_under {
            Some(least) if grade > least || (least == 'A' && pack.provisional) => "❌",
            _ if pack.provisional
                || pack.checks.iter().any(|check| check.critical && check.verdict == Verdict::Fail) =>
            {
                "⚠"
            }
            _ => "✅",
        },
        (PackStatus::Inconclusive, _) if gate.inconclusive_fails && gate.fail_under.is_some() => "❌",
        (PackStatus::Inconclusive, _) => "⚠",
        _ => "",
    }
}
