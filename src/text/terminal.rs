//! Text for a terminal and for CI logs: one line, nothing hidden, nothing a log viewer takes for a command.

use super::hidden;

/// What a colon becomes where it would open a workflow command.
const COLON: &str = "\\u{3a}";
/// What a number sign becomes where it would open a log command.
const NUMBER_SIGN: &str = "\\u{23}";

/// The whole text on one line, safe for a terminal and for the log of a CI system.
///
/// Hidden characters become escapes (`\n`, `\u{1b}`). So do the first characters of `::command::` (GitHub, at the start
/// of a word, so that wrapping cannot bring it to a line's start), `##[…]` and `##vso[…]` (GitHub, Azure, TeamCity;
/// anywhere) and `section_start:` (GitLab). Applying it twice changes nothing.
pub fn line(text: &str) -> String {
    let visible = hidden::one_line(text);
    let trimmed = visible.trim_start();
    if trimmed.starts_with(':') && !trimmed.starts_with("::") {
        // A lone colon is harmless here, but not after another one that a caller puts before it.
        let at = visible.len() - trimmed.len();
        return disarm(format!("{}{COLON}{}", &visible[..at], &trimmed[1..]));
    }
    disarm(visible)
}

/// A finished document of several lines with every line disarmed: the last defence where pieces were put together.
///
/// Line feeds and whatever colours the document has are kept.
pub fn guard(document: String) -> String {
    if !document.split('\n').any(is_armed) {
        return document;
    }
    let lines: Vec<String> = document.split('\n').map(|line| disarm(line.to_owned())).collect();
    lines.join("\n")
}

fn is_armed(line: &str) -> bool {
    let mut word_start = true;
    line.char_indices().any(|(at, c)| {
        let armed = command_at(line, at, c, word_start).is_some();
        word_start = c.is_whitespace();
        armed
    })
}

fn disarm(line: String) -> String {
    if !is_armed(&line) {
        return line;
    }
    let mut out = String::with_capacity(line.len() + 32);
    let mut word_start = true;
    let mut copied = 0;
    for (at, c) in line.char_indices() {
        if at >= copied
            && let Some((offset, escape)) = command_at(&line, at, c, word_start)
        {
            out.push_str(&line[copied..at + offset]);
            out.push_str(escape);
            copied = at + offset + 1;
        }
        word_start = c.is_whitespace();
    }
    out.push_str(&line[copied..]);
    out
}

/// The place (from `at`) and the replacement of the one ASCII character that makes a log command of what starts at `at`.
fn command_at(line: &str, at: usize, c: char, word_start: bool) -> Option<(usize, &'static str)> {
    let rest = &line[at..];
    match c {
        ':' if word_start && rest.starts_with("::") => Some((0, COLON)),
        '#' if rest.starts_with("##") => {
            let word =
                rest[2..].trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
            word.starts_with('[').then_some((0, NUMBER_SIGN))
        }
        's' | 'S' => ["section_start:", "section_end:"]
            .iter()
            .find(|marker| {
                rest.as_bytes().get(..marker.len()).is_some_and(|head| head.eq_ignore_ascii_case(marker.as_bytes()))
            })
            .map(|marker| (marker.len() - 1, COLON)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn workflow_commands_are_disarmed() {
        assert_eq!(line("::error::x"), "\\u{3a}:error::x");
        assert_eq!(line("  ::set-output name=a::b"), "  \\u{3a}:set-output name=a::b");
        assert_eq!(line("\u{3000}::warning::x"), "\u{3000}\\u{3a}:warning::x");
        assert_eq!(line("see ::group::x"), "see \\u{3a}:group::x");
        assert_eq!(line(":error::x"), "\\u{3a}error::x");
    }

    #[test]
    fn log_commands_are_disarmed_anywhere() {
        assert_eq!(line("a##[error]b"), "a\\u{23}#[error]b");
        assert_eq!(line("###[error]"), "#\\u{23}#[error]");
        assert_eq!(line("##vso[task.complete]"), "\\u{23}#vso[task.complete]");
        assert_eq!(line("##teamcity[x]"), "\\u{23}#teamcity[x]");
        assert_eq!(line("section_start:1:a\r\u{1b}[0K"), "section_start\\u{3a}1:a\\r\\u{1b}[0K");
        assert_eq!(line("section_end:1:a"), "section_end\\u{3a}1:a");
    }

    #[test]
    fn ordinary_text_is_kept() {
        for text in ["std::io::Error", "## Heading", "a: b :: c".replace(" :: ", " : ").as_str(), "C# and F#", "漢字 é"]
        {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn a_document_is_guarded_line_by_line() {
        assert_eq!(guard("a\n ::b\n##[c\n".to_owned()), "a\n \\u{3a}:b\n\\u{23}#[c\n");
        assert_eq!(guard("a\nb\n".to_owned()), "a\nb\n");
    }

    proptest! {
        #[test]
        fn no_line_is_ever_armed(text in "[:#\\[\\]a-z _\n\r\u{1b}\u{202e}\u{3000}]{0,60}") {
            let safe = line(&text);
            prop_assert!(!safe.chars().any(hidden::is_hidden));
            prop_assert!(!safe.trim_start().starts_with("::"));
            prop_assert!(!safe.contains("##["));
            prop_assert_eq!(line(&safe), safe.clone());
            prop_assert!(!safe.split_whitespace().any(|word| word.starts_with("::")));
        }
    }
}
