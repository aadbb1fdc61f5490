//! A text that changed → a short unified diff in which nothing is hidden.

use similar::{DiffOp, TextDiff};

use super::TextChange;
use crate::text::excerpt;

/// Lines of a diff; what is more is counted.
const LINES: usize = 40;
/// Characters of a line.
const WIDTH: usize = 240;
/// Characters of a long line that are shown before what differs in it.
const LEAD: usize = 60;
/// Lines of each side that are compared.
const COMPARED: usize = 2_000;
/// Unchanged lines around a change.
const CONTEXT: usize = 1;

/// The lines that changed: `-` before, `+` after, a space for what surrounds them. Hidden characters are escapes, each
/// line is one line, and length is bounded. Escaping for the destination is left to whoever prints it.
pub fn text_diff(change: &TextChange) -> Vec<String> {
    let ((before, cut_before), (after, cut_after)) = (lines(&change.before), lines(&change.after));
    let diff = TextDiff::from_slices(&before, &after);
    let mut shown = Vec::new();
    for (at, group) in diff.grouped_ops(CONTEXT).into_iter().enumerate() {
        if at > 0 {
            shown.push("…".to_owned());
        }
        for op in group {
            // A line that replaces another is shown from where it differs.
            let start = |old: usize, new: usize| match op {
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    let (old, new) = (old - old_index, new - new_index);
                    let pair = (old < new_len && new < old_len).then_some(()).and_then(|()| {
                        Some((before.get(old_index + old.max(new))?, after.get(new_index + old.max(new))?))
                    });
                    pair.map_or(0, |(one, two)| common(one, two))
                }
                _ => 0,
            };
            let old = op.old_range();
            let new = op.new_range();
            match op {
                DiffOp::Equal { .. } => shown.extend(old.map(|line| line_of(' ', before[line], 0))),
                _ => {
                    let first = (old.start, new.start);
                    shown.extend(old.map(|line| line_of('-', before[line], start(line, first.1))));
                    shown.extend(new.map(|line| line_of('+', after[line], start(first.0, line))));
                }
            }
        }
    }
    let more = shown.len().saturating_sub(LINES);
    shown.truncate(LINES);
    if more > 0 {
        shown.push(format!("… {more} more lines"));
    }
    if cut_before || cut_after {
        shown.push(format!("… only the first {COMPARED} lines were compared"));
    }
    shown
}

fn lines(text: &str) -> (Vec<&str>, bool) {
    // A text that was not there has no line, not an empty one.
    if text.is_empty() {
        return (Vec::new(), false);
    }
    let mut lines: Vec<&str> = text.split('\n').take(COMPARED + 1).collect();
    let cut = lines.len() > COMPARED;
    lines.truncate(COMPARED);
    (lines, cut)
}

/// Characters that two lines begin with alike.
fn common(one: &str, two: &str) -> usize {
    one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count()
}

fn line_of(sign: char, line: &str, differs_at: usize) -> String {
    let skip = differs_at.saturating_sub(LEAD);
    if skip < LEAD {
        return format!("{sign}{}", excerpt(line, WIDTH));
    }
    let rest: String = line.chars().skip(skip).take(4 * WIDTH).collect();
    format!("{sign}…{}", excerpt(&rest, WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> Vec<String> {
        text_diff(&TextChange { before: before.to_owned(), after: after.to_owned() })
    }

    #[test]
    fn changed_lines_are_shown_with_their_neighbours() {
        let found = diff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nX\ne\nf\ng\nY");
        assert_eq!(found, [" c", "-d", "+X", " e", "…", " g", "-h", "+Y"]);
        assert_eq!(diff("same", "same"), [] as [&str; 0]);
        assert_eq!(diff("", "new"), ["+new"]);
    }

    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(diff("safe", "sa\u{200b}fe\u{1b}[31m\r"), ["-safe", "+sa\\u{200b}fe\\u{1b}[31m\\r"]);
    }

    #[test]
    fn a_long_line_is_shown_from_where_it_differs() {
        let long = "word ".repeat(400);
        let found = diff(&format!("{long}end"), &format!("{long}other"));
        assert!(found[0].starts_with("-…") && found[0].ends_with("end"), "{found:?}");
        assert!(found[1].starts_with("+…") && found[1].ends_with("other"), "{found:?}");
        let found = diff(&"é".repeat(100_000), "");
        assert!(found.iter().all(|line| line.chars().count() <= WIDTH + 2), "{}", found[0].len());
    }

    #[test]
    fn length_is_bounded_and_the_rest_is_counted() {
        let many = |word: &str| (0..10_000).map(|at| format!("{word} {at}\n")).collect::<String>();
        let found = diff(&many("a"), &many("b"));
        assert_eq!(found.len(), LINES + 2);
        assert!(found[LINES].contains("more lines") && found[LINES + 1].contains("2000 lines"), "{found:?}");
    }
}
