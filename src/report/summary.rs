//! The summary: what a person wants to see in a CI log. Says the same at every verbosity.

use std::collections::BTreeSet;

use super::{
    layout::{Page, Tone},
    options::{GateFacts, RenderOptions},
    result::{CheckResult, PackResult, PackStatus, RunResult, Status},
    wording::{self, NAME, SENTENCE},
};
use crate::{
    model::{Severity, Verdict},
    packs,
    text::excerpt,
};

/// "Not covered" lines that are shown.
const NOT_COVERED: usize = 8;
/// Warnings that are shown.
const WARNINGS: usize = 8;

/// One block per server and, last, what the exit code means.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    let mut said = BTreeSet::new();
    for run in runs {
        page.gap();
        block(&mut page, run, &wording::unsaid(run, &mut said), &options.gate);
    }
    page.gap();
    exit(&mut page, runs, &options.gate);
    page.finish()
}

fn block(page: &mut Page, run: &RunResult, warnings: &[String], gate: &GateFacts) {
    page.whole(Tone::Strong, &wording::header(run));
    let (tone, banner) = banner(run, gate);
    page.item(0, "==", tone, &banner);
    for diff in &run.config.standard_diff {
        page.line(2, Tone::Plain, &wording::difference(diff));
    }
    if let Some(file) = run.stderr_file.as_ref().filter(|_| run.status == Status::Failed) {
        page.line(2, Tone::Plain, &format!("the server's stderr: {}", excerpt(file, SENTENCE)));
    }
    if run.status == Status::Failed {
        page.gap();
        if let Some(packs) = wording::not_reached(run) {
            page.line(0, Tone::Faint, &packs);
        }
    } else {
        cards(page, run);
        rows(page, run);
        fixes(page, run);
        apart(page, run);
    }
    list(page, "NOT COVERED", &run.not_covered, NOT_COVERED);
    list(page, "WARNINGS", warnings, WARNINGS);
    page.gap();
    page.line(0, Tone::Faint, wording::CLOSING);
}

fn heading(page: &mut Page, text: &str) {
    page.gap();
    page.line(0, Tone::Strong, text);
}

/// The first thing to read; it never contradicts the exit code.
fn banner(run: &RunResult, gate: &GateFacts) -> (Tone, String) {
    if let Some(ending) = wording::ending(run) {
        return (Tone::Bad, ending);
    }
    let graded = || run.packs.0.iter().filter(|(_, pack)| pack.status == PackStatus::Graded);
    let letters = || {
        let letters: Vec<String> = graded()
            .filter_map(|(id, pack)| Some(format!("{} {}", excerpt(id, NAME), wording::letter(pack)?)))
            .collect();
        letters.join(" · ")
    };
    let worse = gate.worse.contains(&run.name);
    let uncompared = gate.uncompared.contains(&run.name);
    let Some(least) = gate.fail_under else {
        if worse {
            return (Tone::Bad, format!("WORSE THAN BEFORE: {}{}", letters(), soft(gate)));
        }
        if uncompared {
            return (Tone::Bad, format!("COMPARED WITH NOTHING: {}{}", letters(), soft(gate)));
        }
        return (Tone::Plain, format!("GRADED: {} (the gate is off)", letters()));
    };
    let named = |packs: Vec<&str>| excerpt(&packs.join(", "), SENTENCE);
    let below = graded().any(|(_, pack)| pack.grade.is_some_and(|letter| letter > least));
    let soft = soft(gate);
    if below {
        return (Tone::Bad, format!("BELOW THE GATE ({least}): {}{soft}", letters()));
    }
    let provisional: Vec<&str> = graded().filter(|(_, pack)| pack.provisional).map(|(id, _)| id.as_str()).collect();
    if !provisional.is_empty() && least == 'A' {
        let why = format!("a critical check of {} was inconclusive, which does not meet an A gate", named(provisional));
        return (Tone::Doubtful, format!("GRADED {}, BUT PROVISIONAL: {why}{soft}", letters()));
    }
    let inconclusive: Vec<&str> = run
        .packs
        .0
        .iter()
        .filter(|(_, pack)| pack.status == PackStatus::Inconclusive)
        .map(|(id, _)| id.as_str())
        .collect();
    if !inconclusive.is_empty() && gate.inconclusive_fails {
        return (
            Tone::Bad,
            format!("INCONCLUSIVE: {} · pack {} counts as failing{soft}", letters(), named(inconclusive)),
        );
    }
    if worse {
        return (Tone::Bad, format!("MEETS {least}, BUT WORSE THAN BEFORE: {}{soft}", letters()));
    }
    if uncompared {
        return (Tone::Bad, format!("MEETS {least}, BUT COMPARED WITH NOTHING: {}{soft}", letters()));
    }
    (Tone::Good, format!("MEETS THE GATE ({least}): {}", letters()))
}

fn soft(gate: &GateFacts) -> &'static str {
    if gate.soft_fail { " (soft-fail: a miss exits with 0)" } else { "" }
}

fn cards(page: &mut Page, run: &RunResult) {
    let rows: Vec<Vec<(String, Tone)>> = (run.packs.0.iter())
        .filter_map(|(id, pack)| {
            let letter = wording::letter(pack)?;
            Some(vec![
                (excerpt(id, NAME), Tone::Plain),
                (letter, Tone::of_letter(pack.grade)),
                (
                    format!("({})  {}", wording::fraction(pack), wording::remarks(run, id, pack).join(" · ")),
                    Tone::Plain,
                ),
            ])
        })
        .collect();
    if !rows.is_empty() {
        heading(page, "GRADES");
        page.table(2, 40, &rows);
    }
}

/// Every check of every pack, worst first, in one table; passes stay short.
fn checks(run: &RunResult) -> Vec<(&str, &PackResult, &CheckResult)> {
    let mut checks: Vec<_> = (run.packs.0.iter())
        .flat_map(|(id, pack)| wording::worst_first(pack).into_iter().map(move |check| (id.as_str(), pack, check)))
        .collect();
    // Scored findings first: an advisory fail changes no letter.
    checks.sort_by_key(|(_, _, check)| (check.verdict, check.severity == Severity::Advisory));
    checks
}

fn rows(page: &mut Page, run: &RunResult) {
    let rows: Vec<Vec<(String, Tone)>> = (checks(run).into_iter())
        .map(|(_, _, check)| {
            let found = if check.verdict == Verdict::Pass { &check.title } else { &check.summary };
            let weight = wording::weight(check).map(|weight| format!(" {weight}")).unwrap_or_default();
            vec![
                (check.verdict.tag().to_owned(), Tone::of(check.verdict)),
                (excerpt(&check.id, NAME), Tone::Plain),
                (format!("{}{weight}", excerpt(found, SENTENCE)), Tone::Plain),
            ]
        })
        .collect();
    if !rows.is_empty() {
        heading(page, "CHECKS");
        page.table(2, 32, &rows);
    }
}

fn fixes(page: &mut Page, run: &RunResult) {
    let found: Vec<_> = (checks(run).into_iter())
        .filter(|(_, _, check)| check.severity != Severity::Advisory)
        .filter(|(_, _, check)| matches!(check.verdict, Verdict::Fail | Verdict::Part))
        .collect();
    if found.is_empty() {
        return;
    }
    heading(page, "TO FIX");
    for (id, pack, check) in found {
        let pack_id = excerpt(id, NAME);
        let effect = match (check.verdict, check.critical) {
            _ if pack.capped.contains(&check.id) => format!(" (caps {pack_id} at D)"),
            (Verdict::Fail, true) => " (critical fail)".to_owned(),
            (Verdict::Part, true) => " (critical part)".to_owned(),
            _ => String::new(),
        };
        let fix = packs::check(&check.id).map(|(_, check)| check.explain.fix).filter(|fix| !fix.is_empty());
        let advice = fix.map_or_else(|| excerpt(&check.summary, SENTENCE), str::to_owned);
        page.item(
            2,
            "-",
            Tone::of(check.verdict),
            &format!("{pack_id}/{}{effect}: {advice}", excerpt(&check.id, NAME)),
        );
    }
}

/// Packs without a letter: inconclusive ones apart from those that do not apply.
fn apart(page: &mut Page, run: &RunResult) {
    for (status, words) in [
        (PackStatus::Inconclusive, "INCONCLUSIVE"),
        (PackStatus::Na, "NOT APPLICABLE"),
        (PackStatus::Skipped, "SKIPPED"),
    ] {
        let packs: Vec<_> = run.packs.0.iter().filter(|(_, pack)| pack.status == status).collect();
        if packs.is_empty() {
            continue;
        }
        heading(page, words);
        for (id, pack) in packs {
            page.item(2, "-", Tone::Plain, &format!("{}: {}", excerpt(id, NAME), wording::reason(pack)));
        }
    }
}

fn list(page: &mut Page, words: &str, lines: &[String], shown: usize) {
    if lines.is_empty() {
        return;
    }
    heading(page, words);
    for line in lines.iter().take(shown) {
        page.item(2, "-", Tone::Plain, &excerpt(line, SENTENCE));
    }
    if lines.len() > shown {
        page.line(2, Tone::Plain, &format!("… and {} more", lines.len() - shown));
    }
}

fn exit(page: &mut Page, runs: &[RunResult], gate: &GateFacts) {
    let meaning = match gate.exit_code {
        0 if runs.is_empty() => "this share of the servers is empty, so nothing was graded",
        0 if gate.fail_under.is_none() => "the gate is off, so grades do not affect it",
        0 if gate.soft_fail && !gate.reasons.is_empty() => "a miss of the gate was only a warning (soft-fail)",
        0 => "every graded pack met the gate",
        1 => "the gate was missed",
        2 => "the command or the configuration was wrong",
        3 => "no pack was graded",
        4 => "a server could not be started, or the harness failed",
        129 | 143 => "the run was stopped by a signal",
        130 => "the run was interrupted",
        _ => "a critical check failed (output.exit_policy.critical_fail)",
    };
    let tone = if gate.exit_code == 0 { Tone::Good } else { Tone::Bad };
    page.item(0, &format!("EXIT CODE {}", gate.exit_code), tone, &format!("· {meaning}"));
    for reason in gate.reasons.iter().take(WARNINGS) {
        page.item(2, "-", Tone::Plain, &excerpt(reason, SENTENCE));
    }
}
