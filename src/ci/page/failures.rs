//! Failed and partial checks with what to do about them.

use std::collections::{BTreeMap, BTreeSet};

use super::{fit::Section, own_link};
use crate::{
    ci::Publication,
    model::{Severity, Verdict},
    report::{
        result::{CheckResult, EvidenceFacts, PackResult, RunResult},
        wording::{self, NAME, QUOTE, SENTENCE, counted},
    },
    text::{
        excerpt,
        markdown::{code, element, inline},
    },
};

/// Servers or tools of a check that are named.
const NAMED: usize = 8;
/// Evidence lines of a check in a comment.
const EVIDENCE: usize = 6;
/// Evidence blocks of a comment.
const BLOCKS: usize = 60;

/// One check that failed somewhere: what is to be done is the same for every server.
struct Failure<'a> {
    pack: &'a str,
    check: &'a CheckResult,
    /// Where, the worst first in the order of the runs.
    at: Vec<(&'a RunResult, &'a PackResult, &'a CheckResult)>,
    worst: Verdict,
    new: bool,
}

/// How many scored checks failed and how many did in part, over all servers.
pub(super) fn count(runs: &[RunResult]) -> (usize, usize) {
    let scored = || {
        let checks = runs.iter().flat_map(|run| &run.packs.0).flat_map(|(_, pack)| &pack.checks);
        checks.filter(|check| check.severity != Severity::Advisory)
    };
    let of = |verdict| scored().filter(|check| check.verdict == verdict).count();
    (of(Verdict::Fail), of(Verdict::Part))
}

/// Scored ones in the open; advice is folded.
pub(super) fn sections(publication: &Publication<'_>) -> Vec<Section> {
    let several = publication.runs.len() > 1;
    let (advice, scored): (Vec<_>, Vec<_>) =
        failures(publication).into_iter().partition(|failure| failure.check.severity == Severity::Advisory);
    let items = |failures: &[Failure<'_>]| failures.iter().map(|failure| item(failure, several)).collect();
    vec![
        Section {
            noun: "failed check",
            open: "### To fix\n\n".to_owned(),
            items: items(&scored),
            close: "\n".to_owned(),
            share: 25,
            ..Section::default()
        },
        Section {
            noun: "piece of advice",
            open: format!("<details><summary>Advice, not scored: {}</summary>\n\n", counted(advice.len(), "check")),
            items: items(&advice),
            close: "\n</details>\n\n".to_owned(),
            share: 5,
            ..Section::default()
        },
    ]
}

fn failures<'a>(publication: &Publication<'a>) -> Vec<Failure<'a>> {
    let regressed: BTreeSet<(&str, &str)> = (publication.comparison.iter())
        .flat_map(|comparison| &comparison.servers)
        .flat_map(|server| {
            server.regressions.iter().filter_map(|change| Some((server.name.as_str(), change.check.as_deref()?)))
        })
        .collect();
    let mut found: Vec<Failure<'_>> = Vec::new();
    let mut index: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    for run in publication.runs {
        for (pack_id, pack) in &run.packs.0 {
            let bad = pack.checks.iter().filter(|check| matches!(check.verdict, Verdict::Fail | Verdict::Part));
            for check in bad {
                let key = (pack_id.as_str(), check.id.as_str(), check.severity == Severity::Advisory);
                let at = *index.entry(key).or_insert_with(|| {
                    found.push(Failure { pack: pack_id, check, at: Vec::new(), worst: check.verdict, new: false });
                    found.len() - 1
                });
                found[at].at.push((run, pack, check));
                found[at].worst = found[at].worst.min(check.verdict);
                found[at].new |= regressed.contains(&(run.name.as_str(), check.id.as_str()));
            }
        }
    }
    for failure in &mut found {
        failure.at.sort_by_key(|(_, _, check)| check.verdict);
        if let Some((_, _, check)) = failure.at.first() {
            failure.check = check;
        }
    }
    // What is new comes first, then what weighs most.
    found.sort_by_key(|failure| {
        (!failure.new, failure.check.severity, failure.worst, std::cmp::Reverse(failure.at.len()))
    });
    found
}

fn item(failure: &Failure<'_>, several: bool) -> String {
    let check = failure.check;
    let mark = if failure.worst == Verdict::Fail { "❌" } else { "⚠" };
    let new = if failure.new { "**new** " } else { "" };
    let mut words = vec![format!("pack {}", inline(&excerpt(failure.pack, NAME)))];
    let capped = failure.at.iter().any(|(_, pack, _)| pack.capped.contains(&check.id));
    match (check.severity, failure.worst) {
        (Severity::Critical, _) if capped => words.push("critical, caps the letter at D".to_owned()),
        (Severity::Critical, _) => words.push("critical".to_owned()),
        _ => {}
    }
    if failure.worst == Verdict::Part {
        words.push("in part".to_owned());
    }
    let mut out = format!(
        "- {mark} {new}{} ({}): {}\n",
        code(&excerpt(&check.id, NAME)),
        words.join(", "),
        inline(&excerpt(&check.summary, SENTENCE))
    );
    if several {
        let names = failure.at.iter().map(|(run, _, _)| run.name.as_str());
        out.push_str(&format!("  - in {}: {}\n", counted(failure.at.len(), "server"), named(names)));
    } else {
        let mut tools: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for tool in bad_lines(check).filter_map(|line| line.tool.as_deref()) {
            if seen.insert(tool) {
                tools.push(tool);
            }
        }
        if !tools.is_empty() {
            let word = if tools.len() == 1 { "tool" } else { "tools" };
            out.push_str(&format!("  - {word} {}\n", named(tools.into_iter())));
        }
    }
    if let Some((fix, page)) = wording::fix(&check.id) {
        let more = own_link(&page).map(|page| format!(" ([more]({page}))")).unwrap_or_default();
        out.push_str(&format!("  - **Fix:** {}{more}\n", inline(fix)));
    }
    out
}

/// The first few names and how many there are besides.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut more = 0;
    for name in names {
        if shown.len() < NAMED {
            shown.push(code(&excerpt(name, 64)));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        shown.push(format!("… and {more} more"));
    }
    shown.join(", ")
}

fn bad_lines(check: &CheckResult) -> impl Iterator<Item = &EvidenceFacts> {
    check.evidence.iter().filter(|line| matches!(line.verdict, Verdict::Fail | Verdict::Part))
}

/// The evidence of what is to be fixed, folded.
pub(super) fn evidence(publication: &Publication<'_>) -> Section {
    let several = publication.runs.len() > 1;
    let blocks: Vec<(&RunResult, &CheckResult)> = (failures(publication).into_iter())
        .filter(|failure| failure.check.severity != Severity::Advisory)
        .flat_map(|failure| failure.at.into_iter().map(|(run, _, check)| (run, check)))
        .filter(|(_, check)| bad_lines(check).next().is_some())
        .collect();
    let items = blocks.iter().take(BLOCKS).map(|(run, check)| block(run, check, several)).collect();
    let unmade = blocks.len().saturating_sub(BLOCKS);
    Section { noun: "block of evidence", items, unmade, share: 15, ..Section::default() }
}

fn block(run: &RunResult, check: &CheckResult, several: bool) -> String {
    let lines = bad_lines(check).count();
    let server = if several { format!("{} · ", element(&excerpt(&run.name, NAME))) } else { String::new() };
    let mut out = format!(
        "<details><summary>Evidence: {server}{} ({})</summary>\n\n",
        element(&excerpt(&check.id, NAME)),
        counted(lines, "line")
    );
    for line in bad_lines(check).take(EVIDENCE) {
        let tool = line.tool.as_deref().map(|tool| format!(" · {}", code(&excerpt(tool, NAME)))).unwrap_or_default();
        out.push_str(&format!(
            "- {} {}{tool}: {} ({})\n",
            line.verdict.as_str(),
            code(&excerpt(&line.probe, NAME)),
            inline(&excerpt(&line.observed, SENTENCE)),
            code(&excerpt(&line.rule, NAME))
        ));
        for (word, quote) in [("sent", &line.sent), ("received", &line.received)] {
            if let Some(quote) = quote {
                out.push_str(&format!("  - {word} {}\n", code(&excerpt(&quote.text(), QUOTE))));
            }
        }
    }
    if lines > EVIDENCE {
        out.push_str(&format!("- … and {}, in the report\n", counted(lines - EVIDENCE, "more line")));
    }
    out.push_str("\n</details>\n\n");
    out
}
