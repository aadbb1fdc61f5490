//! The end of a page: what was cut and where it is, and what the letters rest on.

use super::{fit::Cut, own_link, words};
use crate::{
    ci::Publication,
    report::wording::{self, NAME, counted},
    text::{
        excerpt,
        markdown::{code, inline},
    },
};

/// The most that [`footer`] can write besides what was cut.
pub(super) const MOST: usize = 6_000;

/// The last lines.
pub(super) fn footer(publication: &Publication<'_>, cut: &Cut) -> String {
    let mut out = String::new();
    if !cut.is_empty() {
        let parts: Vec<String> = cut.iter().map(|(number, noun)| plural(*number, noun)).collect();
        out.push_str(&format!(
            "**Not on this page:** {}. All of it is in {}.\n\n",
            parts.join(", "),
            whereabouts(publication)
        ));
    }
    let mut parts = Vec::new();
    if cut.is_empty() {
        parts.push(format!("whole report: {}", whereabouts(publication)));
    }
    parts.extend(standing(publication));
    out.push_str(&format!("---\n\n{}\n\n", parts.join(" · ")));
    out.push_str(&format!(
        "_{} Self-reported: this job made the report, and nobody else vouches for it._\n",
        wording::CLOSING
    ));
    out
}

fn plural(number: usize, noun: &str) -> String {
    match noun.split_once(' ') {
        // The head of the phrase takes the ending.
        Some((head, rest)) if ["change", "pack", "block", "piece", "note", "server"].contains(&head) => {
            format!("{} {rest}", counted(number, head))
        }
        _ => counted(number, noun),
    }
}

/// Where the report is.
fn whereabouts(publication: &Publication<'_>) -> String {
    let words = words(publication);
    let run = match publication.context.run_url.as_deref().and_then(own_link) {
        Some(url) => format!("[this {}]({url})", words.run),
        None => format!("this {}", words.run),
    };
    match words.artifact {
        true => format!("the artifact {} of {run}", code(&excerpt(&publication.options.artifact_name, NAME))),
        false => format!("the artifacts of {run}"),
    }
}

/// Build, methodology, standing and configuration; several servers may differ.
fn standing(publication: &Publication<'_>) -> Vec<String> {
    let runs = publication.runs;
    let distinct = |of: fn(&crate::report::RunResult) -> &str| {
        let mut seen: Vec<&str> = Vec::new();
        for run in runs {
            if !seen.contains(&of(run)) && seen.len() < 4 {
                seen.push(of(run));
            }
        }
        let shown: Vec<String> = seen.iter().take(3).map(|word| inline(&excerpt(word, 40))).collect();
        if seen.len() > 3 { format!("{}, …", shown.join(", ")) } else { shown.join(", ") }
    };
    let custom = runs.iter().filter(|run| !run.config.standard).count();
    let label = match (custom, runs) {
        (0, _) => "**STANDARD**".to_owned(),
        (_, [run]) => format!("**{}**", inline(&wording::label_in_full(run))),
        (custom, runs) if custom == runs.len() => "**CUSTOM** (not the published methodology)".to_owned(),
        (custom, runs) => {
            format!("**CUSTOM** for {custom} of {} (not the published methodology)", counted(runs.len(), "server"))
        }
    };
    let mut hashes: Vec<String> = runs.iter().map(|run| run.config.hash.chars().take(12).collect()).collect();
    hashes.sort();
    hashes.dedup();
    let hash = match hashes.as_slice() {
        [hash] => format!("configuration {}", code(hash)),
        hashes => counted(hashes.len(), "configuration"),
    };
    vec![
        format!("sealmark {}", distinct(|run| &run.sealmark.version)),
        format!("methodology {}", distinct(|run| &run.sealmark.methodology)),
        label,
        hash,
    ]
}
