//! Text for XML 1.0.

use super::{html, terminal};

/// Text with nothing hidden, nothing XML 1.0 forbids (shown as escapes) and the special characters as entities.
pub fn text(text: &str) -> String {
    html::text(text)
}

/// The same without entities, for a writer that makes them itself.
pub fn unescaped(text: &str) -> String {
    terminal::line(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The `Char` production of XML 1.0, fifth edition.
    fn allowed(c: char) -> bool {
        matches!(c, '\u{9}' | '\u{a}' | '\u{d}' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
    }

    proptest! {
        #[test]
        fn every_character_is_one_xml_allows(content in any::<String>()) {
            prop_assert!(unescaped(&content).chars().all(allowed));
            prop_assert!(!text(&content).contains(['<', '>', '"', '\'']));
        }
    }

    #[test]
    fn forbidden_characters_are_shown_as_escapes() {
        assert_eq!(text("a\0\u{b}\u{ffff}]]>"), "a\\u{0}\\u{b}\\u{ffff}]]&gt;");
    }
}
