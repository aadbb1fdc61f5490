//! Which characters a reader cannot see, and how they are shown instead.

use std::fmt::Write as _;

/// Whether a character drives a terminal, changes reading order or shows nothing: it never reaches a human output raw.
///
/// Covers the control characters (C0, DEL, C1), line and paragraph separators, the bidirectional controls, zero-width
/// and filler characters, variation selectors, tag characters, interlinear and musical format controls, noncharacters.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}' => true,
        '\u{600}'..='\u{605}' | '\u{890}'..='\u{891}' => true,
        '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{13455}' | '\u{16fe4}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' | '\u{fdd0}'..='\u{fdef}' => true,
        c => (c as u32) & 0xfffe == 0xfffe,
    }
}

/// Appends a character as a reader should see it: as it is, or as an escape when it is hidden.
pub(super) fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_hidden(c) => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32); // writing to a String cannot fail
        }
        c => out.push(c),
    }
}

/// The whole text on one line, hidden characters as escapes.
pub(super) fn one_line(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push(&mut out, c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_writing_is_not_hidden() {
        for c in "aé漢字 ع🙂—…“”\u{a0}\u{3000}|`@<>&".chars() {
            assert!(!is_hidden(c), "{c:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_hidden() {
        for c in "\0\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{2028}\u{feff}\u{fe0f}\u{e0041}\u{e01ef}\u{ffff}\u{1fffe}".chars() {
            assert!(is_hidden(c), "{c:?}");
        }
    }

    #[test]
    fn escapes_name_the_character() {
        assert_eq!(one_line("a\u{1b}[31m\nb\tc\u{202e}"), "a\\u{1b}[31m\\nb\\tc\\u{202e}");
    }
}
