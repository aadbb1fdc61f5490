//! A short, one-line quotation of untrusted text.

use super::hidden;

/// Quotes a text on one line: hidden characters become escapes, and what is longer than `max_chars` is cut with `…`.
///
/// The result has at most `max_chars` characters, the ellipsis included; an escape is never cut in two. Reads no more of
/// the text than it shows. Redact first: a value that was cut is not recognised afterwards.
pub fn excerpt(text: &str, max_chars: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_chars.saturating_mul(2)));
    let mut shown = 0;
    // Where to cut when the text turns out to be too long: the last place that leaves room for the ellipsis.
    let mut cut = 0;
    let mut piece = String::new();
    for c in text.chars() {
        piece.clear();
        hidden::push(&mut piece, c);
        let width = piece.chars().count();
        if shown + width > max_chars {
            out.truncate(cut);
            if max_chars > 0 {
                out.push('…');
            }
            return out;
        }
        out.push_str(&piece);
        shown += width;
        if shown < max_chars {
            cut = out.len();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_kept_and_a_long_one_is_cut() {
        assert_eq!(excerpt("abc", 3), "abc");
        assert_eq!(excerpt("abcd", 3), "ab…");
        assert_eq!(excerpt("", 3), "");
        assert_eq!(excerpt("abcd", 0), "");
    }

    #[test]
    fn an_escape_is_never_cut_in_two() {
        assert_eq!(excerpt("ab\u{1b}cdef", 6), "ab…");
        assert_eq!(excerpt("ab\u{1b}", 8), "ab\\u{1b}");
        assert_eq!(excerpt("a\nb", 4), "a\\nb");
    }

    proptest! {
        #[test]
        fn it_is_one_visible_line_within_its_bound(text in any::<String>(), max in 0usize..40) {
            let quoted = excerpt(&text, max);
            prop_assert!(quoted.chars().count() <= max);
            prop_assert!(!quoted.chars().any(hidden::is_hidden));
        }
    }
}
