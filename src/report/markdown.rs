//! The Markdown report: tables and folded evidence, for a comment or a wiki.

use std::collections::BTreeSet;

use super::{
    options::RenderOptions,
    result::{CheckResult, EvidenceFacts, PackResult, RunResult, Status},
    wording::{self, NAME, QUOTE, SENTENCE},
};
use crate::{
    config::settings::Verbosity,
    model::Verdict,
    text::{
        excerpt,
        markdown::{cell, code, element, inline},
    },
};

/// Evidence lines of a check outside verbose reports.
const EVIDENCE: usize = 20;
/// "Not covered" lines that are shown.
const NOT_COVERED: usize = 12;

/// One section per server, after an overview when there are several.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> String {
    let mut out = String::new();
    if runs.len() > 1 {
        overview(&mut out, runs);
    }
    let mut said = BTreeSet::new();
    for run in runs {
        section(&mut out, run, &wording::unsaid(run, &mut said), options.verbosity);
    }
    out
}

fn overview(out: &mut String, runs: &[RunResult]) {
    let columns = wording::pack_columns(runs);
    let quoted: Vec<String> = columns.iter().map(|id| cell(&excerpt(id, NAME))).collect();
    out.push_str("## Matrix\n\n");
    row(out, std::iter::once("server").chain(quoted.iter().map(String::as_str)).chain(["run"]));
    row(out, std::iter::repeat_n("---", columns.len() + 2));
    for run in runs {
        let server = code(&wording::named(run));
        let grades: Vec<String> = columns.iter().map(|id| starred(&wording::overview_cell(run, id))).collect();
        let cells = std::iter::once(server.as_str()).chain(grades.iter().map(String::as_str));
        row(out, cells.chain([wording::overview_state(run)]));
    }
    out.push('\n');
}

/// Cells must be made safe already.
fn row<'a>(out: &mut String, cells: impl IntoIterator<Item = &'a str>) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(cell);
        out.push_str(" |");
    }
    out.push('\n');
}

/// A letter or one of our words; the star of a provisional letter is no emphasis.
fn starred(grade: &str) -> String {
    grade.replace('*', "\\*")
}

fn section(out: &mut String, run: &RunResult, warnings: &[String], verbosity: Verbosity) {
    out.push_str(&format!("## {}\n\n", code(&wording::named(run))));
    out.push_str(&format!(
        "sealmark {} · methodology {} · **{}**\n\n",
        inline(&excerpt(&run.sealmark.version, NAME)),
        inline(&excerpt(&run.sealmark.methodology, NAME)),
        wording::label_in_full(run)
    ));
    bullets(out, run.config.standard_diff.iter().map(|diff| inline(&wording::difference(diff))));
    if let Some(words) = wording::ending(run) {
        out.push_str(&format!("{}\n\n", ending(&words)));
        if let Some(file) = &run.stderr_file {
            out.push_str(&format!("The server's stderr: {}\n\n", code(&excerpt(file, QUOTE))));
        }
    }
    packs(out, run);
    for (id, pack) in &run.packs.0 {
        checks(out, id, pack, verbosity);
    }
    if verbosity > Verbosity::Quiet {
        server(out, run);
        if run.status != Status::Failed {
            classification(out, run);
        }
        out.push_str(&format!("**Badge:** {}\n\n", inline(&wording::badge(run))));
        list(out, "Not covered", &run.not_covered, NOT_COVERED);
    }
    list(out, "Warnings", warnings, wording::WARNINGS);
    out.push_str(&format!("_{}_\n\n", wording::CLOSING));
}

/// How the run ended; only our own word is emphasised.
fn ending(ending: &str) -> String {
    match ending.split_once(": ") {
        Some((word, rest)) => format!("**{word}:** {}", inline(rest)),
        None => inline(ending),
    }
}

fn packs(out: &mut String, run: &RunResult) {
    if run.packs.0.is_empty() {
        return;
    }
    row(out, ["pack", "grade", "points", "remarks"]);
    row(out, ["---"; 4]);
    for (id, pack) in &run.packs.0 {
        let name = cell(&excerpt(id, NAME));
        match wording::letter(pack) {
            Some(letter) => {
                let remarks = cell(&wording::remarks(run, id, pack).join(" · "));
                row(out, [name.as_str(), &format!("**{}**", starred(&letter)), &wording::fraction(pack), &remarks]);
            }
            None => row(
                out,
                [name.as_str(), "–", "–", &cell(&format!("{}: {}", wording::ungraded(pack), wording::reason(pack)))],
            ),
        }
    }
    out.push('\n');
}

fn checks(out: &mut String, id: &str, pack: &PackResult, verbosity: Verbosity) {
    let shown: Vec<&CheckResult> = (wording::worst_first(pack).into_iter())
        .filter(|check| verbosity > Verbosity::Quiet || matches!(check.verdict, Verdict::Fail | Verdict::Part))
        .collect();
    if shown.is_empty() {
        return;
    }
    out.push_str(&format!("### Pack {}\n\n", inline(&excerpt(id, NAME))));
    row(out, ["verdict", "check", "what was found"]);
    row(out, ["---"; 3]);
    for check in &shown {
        let verdict = match check.verdict {
            Verdict::Fail | Verdict::Part => format!("**{}**", check.verdict.as_str()),
            verdict => verdict.as_str().to_owned(),
        };
        let weight = wording::weight(check).map(|weight| format!(" {weight}")).unwrap_or_default();
        let name = format!("{}{weight}", code(&excerpt(&check.id, NAME)));
        row(out, [verdict.as_str(), &name, &cell(&wording::check_line(check))]);
    }
    out.push('\n');
    if verbosity > Verbosity::Quiet {
        for check in shown {
            evidence(out, check, verbosity == Verbosity::Verbose);
        }
    }
}

fn evidence(out: &mut String, check: &CheckResult, in_full: bool) {
    let lines: Vec<&EvidenceFacts> = (check.evidence.iter())
        .filter(|line| in_full || (check.verdict != Verdict::Pass && line.verdict != Verdict::Pass))
        .collect();
    if lines.is_empty() {
        return;
    }
    let shown = if in_full { lines.len() } else { lines.len().min(EVIDENCE) };
    out.push_str(&format!(
        "<details><summary>Evidence of {}: {} (scope: {})</summary>\n\n",
        element(&excerpt(&check.id, NAME)),
        wording::counted(lines.len(), "line"),
        element(&excerpt(&check.scope, NAME)),
    ));
    for line in &lines[..shown] {
        let place = match &line.tool {
            Some(tool) => format!("{} · {}", code(&excerpt(&line.probe, NAME)), code(&excerpt(tool, NAME))),
            None => code(&excerpt(&line.probe, NAME)),
        };
        out.push_str(&format!(
            "- {} {place}: {} ({})\n",
            line.verdict.as_str(),
            inline(&excerpt(&line.observed, SENTENCE)),
            code(&excerpt(&line.rule, NAME))
        ));
        for (word, quote) in [("sent", &line.sent), ("received", &line.received)] {
            if let Some(quote) = quote.as_ref().filter(|_| in_full || line.verdict != Verdict::Pass) {
                out.push_str(&format!("  - {word} {}\n", code(&excerpt(&quote.text(), QUOTE))));
            }
        }
    }
    if shown < lines.len() {
        out.push_str(&format!("- … and {} more\n", lines.len() - shown));
    }
    out.push_str("\n</details>\n\n");
}

fn server(out: &mut String, run: &RunResult) {
    out.push_str("<details><summary>Server, sandbox and environment</summary>\n\n");
    let mut lines = Vec::new();
    if !run.server.command.is_empty() {
        lines.push(format!("command: {}", code(&excerpt(&wording::command(run), 2 * SENTENCE))));
    }
    if let Some(url) = &run.server.url {
        lines.push(format!("URL: {}", code(&excerpt(url, SENTENCE))));
    }
    for (name, value) in &run.server.headers {
        lines.push(format!("header {}", code(&format!("{}: {}", excerpt(name, NAME), excerpt(value, QUOTE)))));
    }
    for (name, value) in &run.server.env {
        lines.push(format!("env {}", code(&format!("{}={}", excerpt(name, NAME), excerpt(value, QUOTE)))));
    }
    lines.push(inline(&format!(
        "{}, {}",
        wording::transport(run),
        wording::counted(run.server.surface.tools.len(), "tool")
    )));
    lines.extend(wording::protocol(run).map(|protocol| inline(&protocol)));
    lines.push(inline(&format!("sandbox: {}", wording::sandbox(run))));
    bullets(out, lines);
    out.push_str("</details>\n\n");
}

fn classification(out: &mut String, run: &RunResult) {
    let tools = run.classification.len();
    out.push_str(&format!("<details><summary>Classification of {}</summary>\n\n", wording::counted(tools, "tool")));
    row(out, ["tool", "class", "confidence", "why"]);
    row(out, ["---"; 4]);
    for tool in &run.classification {
        let mut why = cell(&excerpt(&tool.reason, SENTENCE));
        if let Some(parameter) = &tool.parameter {
            why.push_str(&format!("; parameter {}", code(&excerpt(parameter, NAME))));
        }
        if let Some(secondary) = &tool.secondary {
            why.push_str(&format!("; secondary {}", code(&excerpt(secondary, NAME))));
        }
        let name = code(&excerpt(&tool.tool, NAME));
        row(out, [name.as_str(), &cell(&excerpt(&tool.class, NAME)), &cell(&excerpt(&tool.confidence, NAME)), &why]);
    }
    out.push_str(&format!("\npacks applied: {}\n\n</details>\n\n", inline(&wording::packs_applied(run))));
}

fn list(out: &mut String, heading: &str, lines: &[String], shown: usize) {
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("**{heading}**\n\n"));
    let more = (lines.len() > shown).then(|| format!("… and {} more", lines.len() - shown));
    bullets(out, lines.iter().take(shown).map(|line| inline(&excerpt(line, SENTENCE))).chain(more));
}

/// Lines must be made safe already.
fn bullets(out: &mut String, lines: impl IntoIterator<Item = String>) {
    let start = out.len();
    for line in lines {
        out.push_str(&format!("- {line}\n"));
    }
    if out.len() > start {
        out.push('\n');
    }
}
