//! What got worse, what is offered differently, what got better.

use super::{diff, fit::Section, row};
use crate::{
    ci::Publication,
    compare::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison},
    report::wording::{NAME, SENTENCE, counted},
    text::{
        excerpt,
        markdown::{cell, code, element, inline},
    },
};

/// Texts whose change is shown.
const MOST_TEXTS: usize = 200;

/// Regressions, then the surface.
pub(super) fn worse(publication: &Publication<'_>) -> Vec<Section> {
    let Some(comparison) = publication.comparison else { return Vec::new() };
    let several = publication.runs.len() > 1;
    let mut sections = vec![Section {
        noun: "regression",
        open: "### Got worse\n\n".to_owned(),
        items: changes(comparison, several, |server| &server.regressions),
        close: "\n".to_owned(),
        share: 15,
        ..Section::default()
    }];
    sections.extend(surface(comparison, several));
    sections
}

/// Improvements and remarks on the comparison.
pub(super) fn better(publication: &Publication<'_>) -> Vec<Section> {
    let Some(comparison) = publication.comparison else { return Vec::new() };
    let several = publication.runs.len() > 1;
    let improvements = changes(comparison, several, |server| &server.improvements);
    let own = comparison.notes.iter().map(|note| format!("- {}\n", inline(&excerpt(note, SENTENCE))));
    let notes: Vec<String> = (comparison.servers.iter())
        .flat_map(|server| {
            (server.notes.iter().chain(&server.snapshot_notes))
                .map(move |note| format!("- {}{}\n", whose(server, several), inline(&excerpt(note, SENTENCE))))
        })
        .chain(own)
        .collect();
    let folded = |noun: &'static str, title: String, items: Vec<String>| Section {
        noun,
        open: format!("<details><summary>{title}</summary>\n\n"),
        items,
        close: "\n</details>\n\n".to_owned(),
        share: 5,
        ..Section::default()
    };
    vec![
        folded("note on the comparison", format!("{} on the comparison", counted(notes.len(), "note")), notes),
        folded("improvement", format!("▲ {}", counted(improvements.len(), "improvement")), improvements),
    ]
}

fn whose(server: &ServerComparison, several: bool) -> String {
    if several { format!("{} · ", code(&excerpt(&server.name, NAME))) } else { String::new() }
}

fn changes(comparison: &Comparison, several: bool, of: fn(&ServerComparison) -> &Vec<Change>) -> Vec<String> {
    let line = |server: &ServerComparison, change: &Change| {
        let pack = inline(&excerpt(&change.pack, NAME));
        let check =
            change.check.as_deref().map(|check| format!(" {}", code(&excerpt(check, NAME)))).unwrap_or_default();
        let (before, after) = (inline(&excerpt(&change.before, NAME)), inline(&excerpt(&change.after, NAME)));
        format!("- {}pack {pack}{check}: {before} → {after}\n", whose(server, several))
    };
    comparison.servers.iter().flat_map(|server| of(server).iter().map(move |change| line(server, change))).collect()
}

/// A table of what somebody should look at, the changed texts folded, and folded what nobody has to look at.
fn surface(comparison: &Comparison, several: bool) -> Vec<Section> {
    let mut all: Vec<(&ServerComparison, &Drift)> =
        comparison.servers.iter().flat_map(|server| server.drift.iter().map(move |drift| (server, drift))).collect();
    all.sort_by_key(|(_, drift)| drift.level);
    let at = all.partition_point(|(_, drift)| drift.level < DriftLevel::Info);
    let (grave, info) = all.split_at(at);
    let mut head = String::new();
    let names: &[&str] = if several { &["level", "server", "what", "change"] } else { &["level", "what", "change"] };
    row(&mut head, names);
    row(&mut head, &vec!["---"; names.len()]);
    let rows = |part: &[(&ServerComparison, &Drift)]| -> Vec<String> {
        part.iter().map(|(server, drift)| drift_row(server, drift, several)).collect()
    };
    let texts: Vec<_> = all.iter().filter_map(|(server, drift)| Some((server, drift, drift.text.as_ref()?))).collect();
    let blocks = texts.iter().take(MOST_TEXTS).map(|(server, drift, text)| {
        let name =
            if drift.name.is_empty() { String::new() } else { format!(" {}", element(&excerpt(&drift.name, NAME))) };
        let server = if several { format!("{} · ", element(&excerpt(&server.name, NAME))) } else { String::new() };
        let kind: String = drift.kind.replace('-', " ");
        format!(
            "<details><summary>{server}{}{name}: {}</summary>\n\n{}\n</details>\n\n",
            offer(drift.offer),
            element(&kind),
            diff::block(&text.before, &text.after)
        )
    });
    vec![
        Section {
            noun: "change of the surface",
            open: format!(
                "### What agents are offered\n\nBreaking changes come first. One that is meant becomes the normal case with the \
                 next baseline.\n\n{head}"
            ),
            items: rows(grave),
            close: "\n".to_owned(),
            share: 15,
            ..Section::default()
        },
        Section {
            noun: "changed text",
            items: blocks.collect(),
            unmade: texts.len().saturating_sub(MOST_TEXTS),
            share: 10,
            ..Section::default()
        },
        Section {
            noun: "change of the surface",
            open: format!(
                "<details><summary>{} of the surface for information</summary>\n\n{head}",
                counted(info.len(), "change")
            ),
            items: rows(info),
            close: "\n</details>\n\n".to_owned(),
            share: 5,
            ..Section::default()
        },
    ]
}

fn drift_row(server: &ServerComparison, drift: &Drift, several: bool) -> String {
    let level = match drift.level {
        DriftLevel::Breaking => "**breaking**",
        DriftLevel::Notable => "notable",
        DriftLevel::Info => "info",
    };
    let name = if drift.name.is_empty() { String::new() } else { format!(" {}", code(&excerpt(&drift.name, NAME))) };
    let mut cells = vec![level.to_owned()];
    if several {
        cells.push(code(&excerpt(&server.name, NAME)));
    }
    cells.push(format!("{}{name}", offer(drift.offer)));
    cells.push(cell(&excerpt(&drift.detail, SENTENCE)));
    let mut line = String::new();
    row(&mut line, &cells);
    line
}

fn offer(offer: Offer) -> &'static str {
    match offer {
        Offer::Server => "server",
        Offer::Tool => "tool",
        Offer::Prompt => "prompt",
        Offer::Resource => "resource",
        Offer::ResourceTemplate => "resource template",
    }
}
