//! Sets of words, written as one text and looked up by hash.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    sync::OnceLock,
};

/// A fixed set of lower-case words.
#[derive(Debug)]
pub struct Lexicon {
    text: &'static str,
    /// A bit for each letter that a word starts with: most words of a text are turned away by it.
    initials: u32,
    words: OnceLock<HashSet<&'static str, BuildHasherDefault<Fnv>>>,
}

impl Lexicon {
    /// The words of `text`, separated by blanks.
    pub const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut initials, mut at) = (0, 0);
        while at < bytes.len() {
            if bytes[at] != b' ' && (at == 0 || bytes[at - 1] == b' ') {
                initials |= initial(bytes[at]);
            }
            at += 1;
        }
        Self { text, initials, words: OnceLock::new() }
    }

    /// Whether the set holds `word`.
    pub fn holds(&self, word: &str) -> bool {
        self.may_start(word) && self.words.get_or_init(|| self.text.split_whitespace().collect()).contains(word)
    }

    /// Whether `word` begins with one of the set's words.
    pub fn begins(&self, word: &str) -> bool {
        self.may_start(word) && self.text.split(' ').any(|stem| !stem.is_empty() && word.starts_with(stem))
    }

    fn may_start(&self, word: &str) -> bool {
        word.as_bytes().first().is_some_and(|byte| self.initials & initial(*byte) != 0)
    }
}

/// The bit of a first letter; everything but a to z shares one.
const fn initial(byte: u8) -> u32 {
    if byte.is_ascii_lowercase() { 1 << (byte - b'a') } else { 1 << 31 }
}

/// Anything that words can be looked up in.
pub trait WordSet {
    /// Whether the set holds `word`.
    fn holds(&self, word: &str) -> bool;
}

impl WordSet for Lexicon {
    fn holds(&self, word: &str) -> bool {
        Self::holds(self, word)
    }
}

impl<const N: usize> WordSet for [&str; N] {
    fn holds(&self, word: &str) -> bool {
        self.contains(&word)
    }
}

/// FNV-1a: short words, and nobody gains by a collision because the sets are fixed.
#[derive(Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
