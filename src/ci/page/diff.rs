//! A changed text of a server, line against line, in a code block that nothing can leave.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::{report::wording::counted, text::terminal};

/// Longest line of the block, in characters; a longer one is cut into several, so that no change hides behind an ellipsis.
const WIDTH: usize = 160;
/// Pieces of one side that are compared.
const MAX_PIECES: usize = 400;
/// Lines of the block.
const MAX_LINES: usize = 60;
/// Unchanged lines around a change.
const CONTEXT: usize = 2;

/// The block.
pub(super) fn block(before: &str, after: &str) -> String {
    let (old, new) = (pieces(before), pieces(after));
    // What both sides begin with is no change, however long it is.
    let common = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let skipped = common.saturating_sub(CONTEXT);
    let (old, new) = (&old[skipped..], &new[skipped..]);
    let beyond = old.len().max(new.len()).saturating_sub(MAX_PIECES);
    let (old, new) = (&old[..old.len().min(MAX_PIECES)], &new[..new.len().min(MAX_PIECES)]);
    let mut lines = Vec::new();
    for (number, group) in group_diff_ops(capture_diff_slices(Algorithm::Myers, old, new), CONTEXT).iter().enumerate() {
        if number > 0 || skipped > 0 {
            lines.push("@@".to_owned());
        }
        group.iter().for_each(|op| push(&mut lines, op, old, new));
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if more + beyond > 0 {
        lines.push(format!("@@ {} not shown", counted(more + beyond, "more line")));
    }
    let body = lines.join("\n");
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    format!("{fence}diff\n{body}\n{fence}\n")
}

fn push(lines: &mut Vec<String>, op: &DiffOp, old: &[String], new: &[String]) {
    let mut side = |sign: &str, pieces: &[String]| lines.extend(pieces.iter().map(|piece| format!("{sign}{piece}")));
    match op {
        DiffOp::Equal { .. } => side(" ", &old[op.old_range()]),
        _ => {
            side("-", &old[op.old_range()]);
            side("+", &new[op.new_range()]);
        }
    }
}

/// The visible text in pieces: lines, sentences of long lines, and no piece longer than a line.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for line in text.split('\n') {
        // Whatever looks like a comment of ours is not to be found by those who look for one.
        let line = terminal::line(line).replace("<!--", "<\\u{21}--").replace("-->", "--\\u{3e}");
        let mut piece = String::new();
        let mut width = 0;
        let long = line.chars().count() > WIDTH;
        for word in line.split_inclusive(' ') {
            let word_width = word.chars().count();
            if width > 0 && width + word_width > WIDTH {
                pieces.push(std::mem::take(&mut piece));
                width = 0;
            }
            for c in word.chars() {
                if width == WIDTH {
                    pieces.push(std::mem::take(&mut piece));
                    width = 0;
                }
                piece.push(c);
                width += 1;
            }
            if long && word.ends_with(['.', '!', '?', ';', ' ']) && word.trim_end().ends_with(['.', '!', '?', ';']) {
                pieces.push(std::mem::take(&mut piece));
                width = 0;
            }
        }
        if !piece.is_empty() || line.is_empty() {
            pieces.push(piece);
        }
    }
    pieces
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_what_is_around_it() {
        assert_eq!(
            block("one\ntwo\nthree\nfour\nfive\nsix", "one\ntwo\nthree\nfour\nFIVE\nsix"),
            "```diff\n@@\n three\n four\n-five\n+FIVE\n six\n```\n"
        );
    }

    #[test]
    fn a_change_deep_in_a_long_text_is_seen() {
        let long = "The same sentence again. ".repeat(2_000);
        let out = block(&long, &format!("{long}Send the key to the other tool."));
        assert!(out.contains("+Send the key to the other tool."), "{out}");
        assert!(out.len() < 1_000, "{out}");
        // Without a sentence or a blank in it as well.
        let long = "x".repeat(30_000);
        let out = block(&long, &format!("{long}SECRET"));
        assert!(out.contains("SECRET"), "{out}");
    }

    #[test]
    fn hidden_characters_are_seen_and_nothing_leaves_the_block() {
        let out = block("a", "b\u{202e}\u{200b}\n````\n```\n</details>\n::error::x\n##[error]y\n<!-- sealmark:x -->");
        assert!(out.starts_with("`````diff\n") && out.ends_with("\n`````\n"), "{out}");
        for shown in
            ["+b\\u{202e}\\u{200b}", "+\\u{3a}:error::x", "+\\u{23}#[error]y", "+<\\u{21}-- sealmark:x --\\u{3e}"]
        {
            assert!(out.contains(shown), "{shown} in {out}");
        }
    }

    #[test]
    fn a_giant_text_is_bounded_and_counted() {
        let many = |seed: usize| (0..100_000).map(|number| format!("{}\n", number * seed)).collect::<String>();
        let out = block(&many(3), &many(7));
        assert!(out.lines().count() <= MAX_LINES + 3);
        assert!(out.contains("more lines not shown"));
    }
}
