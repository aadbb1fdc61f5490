//! Orders to GitHub's runner about the log itself: silence its commands, mask a value.

use crate::text::workflow;

/// Two lines between which the runner takes nothing in the log for a command.
///
/// The word that ends it is random, so that no server can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    word: String,
}

impl Stop {
    /// Makes one with a new word; `None` where the system has no randomness to give, as a word that could be guessed
    /// would be worse than none.
    pub fn new() -> Option<Self> {
        random_word().map(|word| Self { word: format!("sealmark-{word}") })
    }

    /// The line that comes before a server's own output.
    pub fn open(&self) -> String {
        format!("::stop-commands::{}", self.word)
    }

    /// The line that comes after it.
    pub fn close(&self) -> String {
        format!("::{}::", self.word)
    }
}

/// The lines that keep a value out of the log from then on; the runner masks line by line.
///
/// Values shorter than four characters would blacken the log and hide nothing: they get no line.
pub fn mask(value: &str) -> Vec<String> {
    let lines = value.lines().map(str::trim).filter(|line| line.chars().count() >= 4);
    lines.map(|line| format!("::add-mask::{}", workflow::exact(line))).collect()
}

/// 32 hexadecimal digits that nobody can guess.
pub(super) fn random_word() -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_new_each_time_and_opens_and_closes() {
        let (one, other) = (Stop::new().unwrap(), Stop::new().unwrap());
        assert_ne!(one, other);
        let word = one.open().strip_prefix("::stop-commands::").unwrap().to_owned();
        assert_eq!(one.close(), format!("::{word}::"));
        assert!(word.len() > 32 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    }

    #[test]
    fn every_line_of_a_secret_is_masked_as_it_is() {
        assert_eq!(mask("ghp_abc%1"), ["::add-mask::ghp_abc%251"]);
        assert_eq!(mask("-----BEGIN\nMIIabc\nxy\n"), ["::add-mask::-----BEGIN", "::add-mask::MIIabc"]);
        assert!(mask("abc").is_empty());
    }
}
