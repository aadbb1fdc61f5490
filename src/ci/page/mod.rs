//! The comment, the note and the job summary: one page in three sizes. Pure; the same publication gives the same bytes.

mod changes;
mod details;
mod diff;
mod failures;
mod fit;
mod footer;
mod grades;
#[cfg(test)]
mod tests;
mod verdict;

use self::fit::Section;
use super::{Platform, Publication};
use crate::text::terminal;

/// Bytes of a GitHub comment: the limit is 65 536 characters, and what GitHub counts as one is not documented.
const COMMENT: usize = 60_000;
/// Bytes of a job summary: 1 MiB per step, above which nothing of it is shown.
const SUMMARY: usize = 1_000 * 1_024;

/// The sticky comment of a pull or merge request, at most 60 000 bytes: on GitLab too, which takes more.
pub fn comment(publication: &Publication<'_>) -> String {
    let mut sections = common(publication);
    sections.push(failures::evidence(publication));
    sections.extend(details::lists(publication));
    assemble(publication, format!("{}\n", marker(&publication.options.comment_key)), sections, COMMENT)
}

/// Whether a comment that a platform keeps says what a new one would say.
///
/// Platforms change line ends and cut blanks at the end. The link to the run is another one each time: a comment that differs
/// in it alone is left as it is, with the link to the first run that said so.
pub fn says_the_same(kept: &str, new: &str, run_url: Option<&str>) -> bool {
    let stem = run_url.map(|url| url.trim_end_matches(|c: char| c.is_ascii_digit())).filter(|stem| !stem.is_empty());
    words_alone(kept, stem) == words_alone(new, stem)
}

/// A text without what [`says_the_same`] passes over.
fn words_alone(text: &str, stem: Option<&str>) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let Some(stem) = stem else { return text };
    let mut parts = text.split(stem);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// The job summary, at most 1 000 KiB, with the whole report of every server while there is room.
pub fn summary(publication: &Publication<'_>) -> String {
    let mut sections = common(publication);
    let made: usize = sections.iter().flat_map(|section| &section.items).map(String::len).sum();
    sections.push(details::reports(publication, SUMMARY.saturating_sub(made.min(SUMMARY / 2) + footer::MOST)));
    assemble(publication, String::new(), sections, SUMMARY)
}

/// What marks the one comment that is kept up to date; the first line of its body.
pub fn marker(comment_key: &str) -> String {
    // A key is one plain word; anything else must not close the comment.
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let key: String = comment_key.chars().filter(plain).take(64).collect();
    format!("<!-- sealmark:{} -->", key.replace("--", "-"))
}

/// What every page has, in the order in which it is wanted.
fn common(publication: &Publication<'_>) -> Vec<Section> {
    let mut sections = vec![grades::not_graded(publication)];
    sections.extend(grades::sections(publication));
    sections.extend(changes::worse(publication));
    sections.extend(failures::sections(publication));
    sections.extend(changes::better(publication));
    sections
}

fn assemble(publication: &Publication<'_>, marker: String, sections: Vec<Section>, limit: usize) -> String {
    let head = format!("{marker}{}", verdict::head(publication));
    let sections: Vec<Section> =
        sections.into_iter().filter(|section| section.unmade > 0 || !section.items.is_empty()).collect();
    let (body, cut) = fit::fit(sections, limit.saturating_sub(head.len() + footer::MOST));
    terminal::guard(format!("{head}{body}{}", footer::footer(publication, &cut)))
}

/// Words that differ between platforms.
struct Words {
    /// What a job belongs to.
    run: &'static str,
    /// Whether artifacts have names.
    artifact: bool,
}

fn words(publication: &Publication<'_>) -> Words {
    match publication.context.platform {
        Platform::GitHub | Platform::Gitea => Words { run: "run", artifact: true },
        Platform::GitLab => Words { run: "job", artifact: false },
        _ => Words { run: "job", artifact: false },
    }
}

/// A row of a table; cells must be made safe already.
fn row<S: AsRef<str>>(out: &mut String, cells: &[S]) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(cell.as_ref());
        out.push_str(" |");
    }
    out.push('\n');
}

/// An address of ours or of the platform that may stand in a link; anything odd is left out.
fn own_link(url: &str) -> Option<&str> {
    let web = url.starts_with("https://") || url.starts_with("http://");
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#&=%+,;".contains(c);
    (web && url.len() <= 1_000 && url.chars().all(plain) && !url.contains("::")).then_some(url)
}
