//! Grade cards of one server, the matrix of several.

use std::collections::BTreeMap;

use super::{fit::Section, row, verdict};
use crate::{
    ci::Publication,
    compare::ServerComparison,
    report::{
        result::{PackResult, PackStatus, RunResult, Status},
        wording::{self, NAME, SENTENCE},
    },
    text::{
        excerpt,
        markdown::{cell, code, inline},
    },
};

/// Servers in the open table; of more, those that need a look come first and the rest is folded.
const OPEN: usize = 12;
/// The most that stand open, however many need a look.
const MOST_OPEN: usize = 30;

/// The cards of one server or the matrix of several.
pub(super) fn sections(publication: &Publication<'_>) -> Vec<Section> {
    match publication.runs {
        [run] => vec![cards(publication, run)],
        runs => matrix(publication, runs),
    }
}

type Before<'a> = Option<&'a BTreeMap<String, Option<char>>>;

fn before<'a>(publication: &Publication<'a>, run: &RunResult) -> (Option<&'a ServerComparison>, Before<'a>) {
    let server = publication.comparison.and_then(|comparison| comparison.server(&run.name));
    (server, server.and_then(|server| server.before.as_ref()))
}

/// A letter against the baseline's: a smaller letter is better.
fn trend(before: Before<'_>, id: &str, now: Option<char>) -> Option<String> {
    let then = before?.get(id).copied().flatten();
    Some(match (then, now) {
        (Some(then), Some(now)) if then == now => "=".to_owned(),
        (Some(then), Some(now)) if then < now => format!("▼ {}", wording::known_letter(then)),
        (Some(then), Some(_)) => format!("▲ {}", wording::known_letter(then)),
        (Some(then), None) => format!("▼ {}", wording::known_letter(then)),
        (None, Some(_)) => "new".to_owned(),
        (None, None) => String::new(),
    })
}

fn graded(pack: &PackResult) -> Option<char> {
    pack.grade.filter(|_| pack.status == PackStatus::Graded)
}

/// The letter; its star is no emphasis.
fn letter(pack: &PackResult) -> Option<String> {
    Some(wording::letter(pack)?.replace('*', "\\*"))
}

fn cards(publication: &Publication<'_>, run: &RunResult) -> Section {
    let (_, before) = before(publication, run);
    let mut section = Section { noun: "pack", share: 30, ..Section::default() };
    let mut open = String::from("### Grades\n\n");
    let with_baseline = before.is_some();
    let mut head = vec!["", "pack", "grade"];
    head.extend(with_baseline.then_some("baseline"));
    head.push("remarks");
    row(&mut open, &head);
    row(&mut open, &vec!["---"; head.len()]);
    let mut apart: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (id, pack) in &run.packs.0 {
        let trend = trend(before, id, graded(pack));
        let was_graded = before.is_some_and(|before| before.get(id).copied().flatten().is_some());
        let name = cell(&excerpt(id, NAME));
        let letter = letter(pack);
        if letter.is_none() && !was_graded && matches!(pack.status, PackStatus::Na | PackStatus::Skipped) {
            apart.entry(wording::ungraded(pack)).or_default().push(name);
            continue;
        }
        let remarks = match &letter {
            Some(_) => {
                let mut remarks = vec![wording::fraction(pack)];
                remarks.extend(wording::remarks(run, id, pack));
                remarks.join(" · ")
            }
            None => format!("{}: {}", wording::ungraded(pack), wording::reason(pack)),
        };
        let grade = letter.map_or_else(|| "–".to_owned(), |letter| format!("**{letter}**"));
        let mut cells = vec![verdict::pack_mark(publication, pack).to_owned(), name, grade];
        cells.extend(trend);
        cells.push(cell(&excerpt(&remarks, SENTENCE)));
        let mut line = String::new();
        row(&mut line, &cells);
        section.items.push(line);
    }
    // What the baseline graded and this run does not know at all.
    let gone = before
        .into_iter()
        .flatten()
        .filter(|(id, then)| then.is_some() && !run.packs.0.iter().any(|(known, _)| known == *id));
    for (id, then) in gone {
        let then = wording::known_letter(then.unwrap_or('?'));
        let mut line = String::new();
        row(&mut line, &["", &cell(&excerpt(id, NAME)), "–", &format!("▼ {then}"), "not part of this run"]);
        section.items.push(line);
    }
    section.close = String::from("\n");
    for (word, packs) in apart {
        let packs = packs.iter().take(40).cloned().collect::<Vec<_>>().join(", ");
        section.close.push_str(&format!("No letter, {word}: {packs}\n\n"));
    }
    if section.items.is_empty() {
        // A table without rows says nothing.
        open.clear();
        section.items.push(std::mem::take(&mut section.close).trim_start().to_owned());
    }
    section.open = open;
    section
}

fn matrix(publication: &Publication<'_>, runs: &[RunResult]) -> Vec<Section> {
    let columns = columns(publication, runs);
    let mut head = String::new();
    let mut names = vec![String::new(), "server".to_owned()];
    names.extend(columns.iter().map(|id| cell(&excerpt(id, NAME))));
    names.push("run".to_owned());
    row(&mut head, &names);
    row(&mut head, &vec!["---"; names.len()]);

    let mut order: Vec<(&RunResult, &'static str)> =
        runs.iter().map(|run| (run, verdict::mark(publication, run))).collect();
    order.sort_by_key(|(run, mark)| worst_first(publication, run, mark));
    let rows = |part: &[(&RunResult, &'static str)]| -> Vec<String> {
        part.iter().map(|(run, mark)| server_row(publication, run, mark, &columns)).collect()
    };
    let need_a_look = order.iter().filter(|(_, mark)| *mark != "✅").count();
    let open = if runs.len() <= OPEN { runs.len() } else { need_a_look.clamp(1, MOST_OPEN) };
    let (shown, folded) = order.split_at(open.min(order.len()));
    let legend = if publication.comparison.is_some_and(|comparison| comparison.held.is_some()) {
        "\n▲ better, ▼ worse, = as in the baseline, whose letter follows. The worst come first.\n\n"
    } else {
        "\nThe worst come first.\n\n"
    };
    let mut sections = vec![Section {
        noun: "server",
        open: format!("### Grades\n\n{head}"),
        items: rows(shown),
        close: legend.to_owned(),
        share: 20,
        ..Section::default()
    }];
    if !folded.is_empty() {
        let number = wording::counted(folded.len(), "more server");
        sections.push(Section {
            noun: "server",
            open: format!("<details><summary>{number}</summary>\n\n{head}"),
            items: rows(folded),
            close: "\n</details>\n\n".to_owned(),
            share: 20,
            ..Section::default()
        });
    }
    sections
}

/// Packs that say something of at least one server; the rest would be columns of dashes.
fn columns<'a>(publication: &Publication<'a>, runs: &'a [RunResult]) -> Vec<&'a str> {
    let mut said: std::collections::BTreeSet<&str> = std::collections::BTreeSet::new();
    for run in runs {
        let packs =
            run.packs.0.iter().filter(|(_, pack)| matches!(pack.status, PackStatus::Graded | PackStatus::Inconclusive));
        said.extend(packs.map(|(id, _)| id.as_str()));
        let (_, before) = before(publication, run);
        said.extend(before.into_iter().flatten().filter(|(_, then)| then.is_some()).map(|(id, _)| id.as_str()));
    }
    // A report of somebody's own making may name thousands.
    let columns = wording::pack_columns(runs).into_iter().take(64);
    columns.filter(|id| said.contains(id)).take(24).collect()
}

/// Not graded, then marked, then by regressions, then by the worst letters; the order of the run among equals.
fn worst_first(publication: &Publication<'_>, run: &RunResult, mark: &str) -> impl Ord + use<> {
    let (server, _) = before(publication, run);
    let regressions = server.map_or(0, |server| server.regressions.len());
    let mut letters: Vec<char> = run.packs.0.iter().filter_map(|(_, pack)| graded(pack)).collect();
    letters.sort_by(|left, right| right.cmp(left));
    let standing = match (run.status, mark) {
        (Status::Failed, _) => 0,
        (Status::Graded, "❌") => 2,
        (Status::Graded, "⚠") => 3,
        (Status::Graded, _) => 4,
        _ => 1,
    };
    (standing, std::cmp::Reverse(regressions), std::cmp::Reverse(letters))
}

fn server_row(publication: &Publication<'_>, run: &RunResult, mark: &str, columns: &[&str]) -> String {
    let (_, before) = before(publication, run);
    let mut cells = vec![mark.to_owned(), code(&excerpt(&run.name, 64))];
    for id in columns {
        let pack = run.packs.0.iter().find(|(known, _)| known == id).map(|(_, pack)| pack);
        let shown = match pack {
            Some(pack) => letter(pack).unwrap_or_else(|| match pack.status {
                PackStatus::Inconclusive => "incl".to_owned(),
                _ => "–".to_owned(),
            }),
            None => "–".to_owned(),
        };
        let trend = trend(before, id, pack.and_then(graded)).unwrap_or_default();
        cells.push(if trend.is_empty() { shown } else { format!("{shown} {trend}") });
    }
    let custom = if run.config.standard { "" } else { ", custom" };
    cells.push(format!("{}{custom}", wording::overview_state(run)));
    let mut line = String::new();
    row(&mut line, &cells);
    line
}

/// The servers that were not graded, with the reason.
pub(super) fn not_graded(publication: &Publication<'_>) -> Section {
    let items = publication.runs.iter().filter_map(|run| {
        let ending = wording::ending(run)?;
        let ending = match ending.split_once(": ") {
            Some((word, rest)) => format!("**{word}:** {}", inline(rest)),
            None => inline(&ending),
        };
        let stderr = (run.stderr_file.as_deref().filter(|_| run.status == Status::Failed))
            .map(|file| format!("\n  - its stderr: {}", code(&excerpt(file, SENTENCE))))
            .unwrap_or_default();
        Some(format!("- {} {ending}{stderr}\n", code(&excerpt(&run.name, NAME))))
    });
    let items: Vec<String> = items.collect();
    Section {
        noun: "server that was not graded",
        open: "### Not graded\n\n".to_owned(),
        items,
        close: "\n".to_owned(),
        share: 10,
        ..Section::default()
    }
}
