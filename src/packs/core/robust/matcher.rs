//! A pattern with the words one of which every match holds: most texts are done without running the pattern.

use std::sync::OnceLock;

use regex_lite::Regex;

/// A pattern behind its needles.
pub(in super::super) struct Matcher {
    /// What a match shows.
    pub(in super::super) what: &'static str,
    needles: &'static [&'static str],
    pattern: &'static str,
    regex: OnceLock<Regex>,
}

impl Matcher {
    /// Every match of `pattern` must hold one of `needles` (in lower case where the pattern ignores case).
    pub(in super::super) const fn new(
        what: &'static str,
        needles: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self { what, needles, pattern, regex: OnceLock::new() }
    }

    /// The first match in `text`; `sieve` is the text the needles are looked for in (the same, or its lower case).
    pub(in super::super) fn find<'t>(&self, text: &'t str, sieve: &str) -> Option<regex_lite::Match<'t>> {
        if self.needles.iter().any(|needle| sieve.contains(needle)) { self.regex().find(text) } else { None }
    }

    /// The pattern itself.
    pub(in super::super) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| Regex::new(self.pattern).expect("a constant pattern that the tests compile"))
    }
}

/// The first `most` bytes of a text, cut between characters.
pub(in super::super) fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}
