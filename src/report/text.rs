//! The text report: everything one run found, for people on a terminal.

use std::collections::BTreeSet;

use super::{
    layout::{Page, Tone},
    options::RenderOptions,
    result::{CheckResult, EvidenceFacts, PackResult, PackStatus, RunResult, Status},
    wording::{self, NAME, QUOTE, SENTENCE},
};
use crate::{config::settings::Verbosity, model::Verdict, text::excerpt};

/// Tools named on the server's line.
const TOOLS: usize = 20;
/// Evidence lines of a check outside verbose reports.
const EVIDENCE: usize = 6;
/// "Not covered" lines that are shown.
const NOT_COVERED: usize = 12;

/// One block per server, then an overview when there are several.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    let mut said = BTreeSet::new();
    for run in runs {
        page.gap();
        block(&mut page, run, &wording::unsaid(run, &mut said), options.verbosity);
    }
    if runs.len() > 1 {
        page.gap();
        matrix(&mut page, runs);
    }
    page.finish()
}

fn block(page: &mut Page, run: &RunResult, warnings: &[String], verbosity: Verbosity) {
    page.whole(Tone::Strong, &wording::header(run));
    for diff in &run.config.standard_diff {
        page.line(2, Tone::Plain, &wording::difference(diff));
    }
    page.gap();
    if verbosity > Verbosity::Quiet {
        server(page, run);
        page.gap();
    }
    if let Some(ending) = wording::ending(run) {
        page.line(0, Tone::Bad, &ending);
        if let Some(file) = &run.stderr_file {
            page.line(2, Tone::Plain, &format!("the server's stderr: {}", excerpt(file, QUOTE)));
        }
        page.gap();
    }
    if verbosity > Verbosity::Quiet && run.status != Status::Failed {
        classification(page, run);
    }
    if run.status == Status::Failed {
        page.gap();
        if let Some(packs) = wording::not_reached(run) {
            page.line(0, Tone::Faint, &packs);
        }
    } else {
        for (id, pack) in &run.packs.0 {
            page.gap();
            self::pack(page, run, id, pack, verbosity);
        }
    }
    if verbosity > Verbosity::Quiet {
        page.gap();
        page.line(0, Tone::Plain, &format!("Badge: {}", wording::badge(run)));
        list(page, "Not covered:", &run.not_covered, NOT_COVERED);
    }
    list(page, "Warnings:", warnings, wording::WARNINGS);
    page.gap();
    page.line(0, Tone::Faint, wording::CLOSING);
}

fn server(page: &mut Page, run: &RunResult) {
    if !run.server.command.is_empty() {
        page.line(0, Tone::Plain, &format!("server: {}", excerpt(&wording::command(run), 2 * SENTENCE)));
    }
    if let Some(url) = &run.server.url {
        page.line(0, Tone::Plain, &format!("url: {}", excerpt(url, SENTENCE)));
    }
    if !run.server.headers.is_empty() {
        page.line(0, Tone::Plain, "headers:");
        for (name, value) in &run.server.headers {
            page.line(2, Tone::Plain, &format!("{}: {}", excerpt(name, NAME), excerpt(value, QUOTE)));
        }
    }
    if !run.server.env.is_empty() {
        page.line(0, Tone::Plain, "env:");
        for (name, value) in &run.server.env {
            page.line(2, Tone::Plain, &format!("{}={}", excerpt(name, NAME), excerpt(value, QUOTE)));
        }
    }
    page.line(0, Tone::Plain, &format!("{}, {}", wording::transport(run), wording::tools(run, TOOLS)));
    if let Some(protocol) = wording::protocol(run) {
        page.line(0, Tone::Plain, &protocol);
    }
    page.line(0, Tone::Plain, &format!("sandbox: {}", wording::sandbox(run)));
}

fn classification(page: &mut Page, run: &RunResult) {
    page.line(0, Tone::Strong, "Classification:");
    let rows: Vec<Vec<(String, Tone)>> = (run.classification.iter())
        .map(|tool| {
            let mut reason = excerpt(&tool.reason, SENTENCE);
            if let Some(parameter) = &tool.parameter {
                reason = format!("{reason} [parameter {}]", excerpt(parameter, NAME));
            }
            if let Some(secondary) = &tool.secondary {
                reason = format!("{reason}; secondary: {}", excerpt(secondary, NAME));
            }
            let plain = |text: &str| (excerpt(text, NAME), Tone::Plain);
            vec![plain(&tool.tool), plain(&tool.class), plain(&tool.confidence), (reason, Tone::Plain)]
        })
        .collect();
    page.table(2, 40, &rows);
    page.line(2, Tone::Plain, &format!("packs applied: {}", wording::packs_applied(run)));
}

fn pack(page: &mut Page, run: &RunResult, id: &str, pack: &PackResult, verbosity: Verbosity) {
    let id = excerpt(id, NAME);
    let Some(letter) = wording::letter(pack) else {
        let text = format!("{}: {}", wording::ungraded(pack), wording::reason(pack));
        let tone = if pack.status == PackStatus::Inconclusive { Tone::Doubtful } else { Tone::Faint };
        page.item(0, &format!("PACK {id} "), tone, &format!("not graded, {text}"));
        checks(page, pack, verbosity);
        return;
    };
    let mut heading = format!("GRADE {letter}  ({})", wording::fraction(pack));
    let remarks = wording::remarks(run, &id, pack);
    if !remarks.is_empty() {
        heading.push_str(&format!("  {}", remarks.join(" · ")));
    }
    page.item(0, &format!("PACK {id} "), Tone::of_letter(pack.grade), &heading);
    if id == "core" && run.coverage.label == wording::HYGIENE_ONLY && verbosity > Verbosity::Quiet {
        page.line(
            2,
            Tone::Faint,
            "core is hygiene only: no tool was given valid arguments to work on, so this letter says nothing about what the tools do.",
        );
    }
    checks(page, pack, verbosity);
}

fn checks(page: &mut Page, pack: &PackResult, verbosity: Verbosity) {
    for check in wording::worst_first(pack) {
        if verbosity > Verbosity::Quiet || matches!(check.verdict, Verdict::Fail | Verdict::Part) {
            self::check(page, check, verbosity);
        }
    }
}

fn check(page: &mut Page, check: &CheckResult, verbosity: Verbosity) {
    let mut text = wording::check_line(check);
    if let Some(weight) = wording::weight(check) {
        text = format!("{text} {weight}");
    }
    page.item(2, &format!("[{}]", check.verdict.tag()), Tone::of(check.verdict), &text);
    if verbosity == Verbosity::Quiet {
        return;
    }
    page.line(9, Tone::Faint, &format!("scope: {} · check: {}", excerpt(&check.scope, NAME), excerpt(&check.id, NAME)));
    if verbosity == Verbosity::Verbose {
        for line in &check.evidence {
            evidence(page, line, true);
        }
    } else if check.verdict != Verdict::Pass {
        let lines: Vec<&EvidenceFacts> = check.evidence.iter().filter(|line| line.verdict != Verdict::Pass).collect();
        for line in lines.iter().take(EVIDENCE) {
            evidence(page, line, false);
        }
        if lines.len() > EVIDENCE {
            let more = wording::counted(lines.len() - EVIDENCE, "more line");
            page.line(9, Tone::Faint, &format!("… {more} with --verbosity verbose"));
        }
    }
}

fn evidence(page: &mut Page, line: &EvidenceFacts, in_full: bool) {
    let place = match &line.tool {
        Some(tool) => format!("{} · {}", excerpt(&line.probe, NAME), excerpt(tool, NAME)),
        None => excerpt(&line.probe, NAME),
    };
    let text = format!("{place}: {} [{}]", excerpt(&line.observed, SENTENCE), excerpt(&line.rule, NAME));
    page.item(9, "-", Tone::of(line.verdict), &text);
    if in_full {
        for (mark, quote) in [("sent", &line.sent), ("received", &line.received)] {
            if let Some(quote) = quote {
                page.item(13, &format!("{mark}:"), Tone::Faint, &excerpt(&quote.text(), QUOTE));
            }
        }
    }
}

fn list(page: &mut Page, heading: &str, lines: &[String], shown: usize) {
    if lines.is_empty() {
        return;
    }
    page.gap();
    page.line(0, Tone::Strong, heading);
    for line in lines.iter().take(shown) {
        page.item(2, "-", Tone::Plain, &excerpt(line, SENTENCE));
    }
    if lines.len() > shown {
        page.line(2, Tone::Plain, &format!("… and {} more", lines.len() - shown));
    }
}

fn matrix(page: &mut Page, runs: &[RunResult]) {
    let columns = wording::pack_columns(runs);
    page.line(0, Tone::Strong, "Matrix:");
    let heading = |text: &str| (excerpt(text, NAME), Tone::Faint);
    let mut rows = vec![
        std::iter::once(heading("server"))
            .chain(columns.iter().map(|id| heading(id)))
            .chain([heading("run")])
            .collect(),
    ];
    for run in runs {
        let mut row: Vec<(String, Tone)> = vec![(wording::named(run), Tone::Plain)];
        for id in &columns {
            let cell = wording::overview_cell(run, id);
            let grade = run.packs.0.iter().find(|(known, _)| known == id).and_then(|(_, pack)| pack.grade);
            row.push((cell, Tone::of_letter(grade)));
        }
        row.push((wording::overview_state(run).to_owned(), Tone::Plain));
        rows.push(row);
    }
    page.table(2, 40, &rows);
}
