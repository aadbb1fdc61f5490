//! The folded end of a page: what was not covered, or whole reports where there is room for them.

use super::fit::Section;
use crate::{
    ci::Publication,
    config::settings::{Format, Verbosity},
    report::{
        self, RenderOptions, RunResult,
        result::PackStatus,
        wording::{self, NAME, SENTENCE, counted},
    },
    text::{
        excerpt,
        markdown::{code, element, inline},
    },
};

/// Servers whose lists stand in a comment; of more, the report has them.
const FEW: usize = 3;
/// Servers whose whole report is made with its evidence.
const WITH_EVIDENCE: usize = 8;

/// Packs without a letter, what was not covered, warnings.
pub(super) fn lists(publication: &Publication<'_>) -> Vec<Section> {
    let runs = publication.runs;
    let several = runs.len() > 1;
    let whose = |run: &RunResult| {
        if several { format!("{} · ", code(&excerpt(&run.name, NAME))) } else { String::new() }
    };
    let lines = |of: fn(&RunResult) -> Vec<String>| -> Vec<String> {
        let lines = runs.iter().flat_map(|run| of(run).into_iter().map(move |line| (run, line)));
        lines.map(|(run, line)| format!("- {}{}\n", whose(run), inline(&line))).collect()
    };
    let folded = |noun: &'static str, title: &str, items: Vec<String>| {
        let (items, unmade) = if runs.len() > FEW { (Vec::new(), items.len()) } else { (items, 0) };
        let number = items.len() + unmade;
        Section {
            noun,
            open: format!("<details><summary>{title}: {number}</summary>\n\n"),
            items,
            close: "\n</details>\n\n".to_owned(),
            unmade,
            share: 5,
        }
    };
    vec![
        folded("warning", "Warnings", lines(|run| run.warnings.iter().map(|line| excerpt(line, SENTENCE)).collect())),
        folded("pack without a letter", "Packs without a letter", lines(ungraded)),
        folded("gap", "Not covered", lines(|run| run.not_covered.iter().map(|line| excerpt(line, SENTENCE)).collect())),
    ]
}

fn ungraded(run: &RunResult) -> Vec<String> {
    let packs = run.packs.0.iter().filter(|(_, pack)| pack.status != PackStatus::Graded);
    packs
        .map(|(id, pack)| format!("{}, {}: {}", excerpt(id, NAME), wording::ungraded(pack), wording::reason(pack)))
        .collect()
}

/// The whole report of every server, folded, as many as `room` can hold.
pub(super) fn reports(publication: &Publication<'_>, room: usize) -> Section {
    let runs = publication.runs;
    let verbosity = if runs.len() > WITH_EVIDENCE { Verbosity::Quiet } else { Verbosity::Normal };
    let mut section = Section { noun: "whole report", share: 40, ..Section::default() };
    let mut made = 0;
    for run in runs {
        if made > room {
            section.unmade += 1;
            continue;
        }
        match whole(run, verbosity, room) {
            Some(block) => {
                made += block.len();
                section.items.push(block);
            }
            None => section.unmade += 1,
        }
    }
    if section.items.len() > 1 {
        section.open = format!("### Whole reports of {}\n\n", counted(runs.len(), "server"));
    }
    section
}

/// One report; without its evidence when it has no room with it.
fn whole(run: &RunResult, verbosity: Verbosity, room: usize) -> Option<String> {
    let options = RenderOptions { verbosity, ..RenderOptions::default() };
    let rendered = report::render(Format::Markdown, std::slice::from_ref(run), &options).ok()?;
    let body = String::from_utf8(rendered).ok()?;
    if body.len() > room {
        return if verbosity > Verbosity::Quiet { whole(run, Verbosity::Quiet, room) } else { None };
    }
    let name = element(&wording::named(run));
    Some(format!("<details><summary>The whole report of {name}</summary>\n\n{}\n\n</details>\n\n", body.trim_end()))
}
