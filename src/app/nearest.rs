//! Did-you-mean for ids that clap does not know: checks and packs.

use crate::packs;

/// An id that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} is called `{id}`", id = crate::app::nearest::shown(id))]
pub struct Unknown {
    /// `check` or `pack`.
    pub kind: &'static str,
    /// What was asked for.
    pub id: String,
    /// The closest id there is, when one is close.
    pub nearest: Option<&'static str>,
}

impl Unknown {
    /// A check id that the registry lacks.
    pub fn check(id: &str) -> Self {
        Self { kind: "check", id: id.to_owned(), nearest: nearest(id, packs::checks().map(|(_, check)| check.id)) }
    }

    /// A pack id that the registry lacks.
    pub fn pack(id: &str) -> Self {
        Self { kind: "pack", id: id.to_owned(), nearest: nearest(id, packs::ALL.iter().map(|pack| pack.id)) }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let list = "`sealmark list-checks` prints all of them";
        match self.nearest {
            Some(near) => format!("did you mean `{near}`? {list}"),
            None => list.to_owned(),
        }
    }
}

/// The user's own word made printable: an argument can hold anything.
fn shown(id: &str) -> String {
    id.escape_debug().take(80).collect()
}

/// The candidate closest to `word`, when it is close enough to be meant.
fn nearest(word: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let word = word.to_lowercase().replace(['_', ' '], "-");
    candidates
        .map(|candidate| (candidate, closeness(&word, candidate)))
        .filter(|(_, close)| *close >= 0.6)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(candidate, _)| candidate)
}

/// From 0 to 1. A word that is contained in the other counts as close, so that `poisoning` finds `tool-poisoning`.
fn closeness(word: &str, candidate: &str) -> f64 {
    let contained = word.len() >= 4 && (candidate.contains(word) || word.contains(candidate));
    let edits = strsim::normalized_damerau_levenshtein(word, candidate);
    if contained { edits.max(0.8) } else { edits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_a_part_and_an_underscore_find_the_check() {
        for (typed, meant) in
            [("protocl", "protocol"), ("poisoning", "tool-poisoning"), ("secret_echo", "secret-echo"), ("CORE", "core")]
        {
            let found = Unknown::check(typed).nearest.or(Unknown::pack(typed).nearest);
            assert_eq!(found, Some(meant), "{typed}");
        }
    }

    #[test]
    fn something_else_entirely_finds_nothing() {
        assert_eq!(Unknown::check("xyzzy").nearest, None);
        assert!(!Unknown::check("xyzzy").hint().contains("did you mean"));
    }

    #[test]
    fn what_was_typed_is_printed_escaped_and_short() {
        let text = Unknown::check(&format!("\u{1b}[31m{}", "a".repeat(500))).to_string();
        assert!(!text.contains('\u{1b}') && text.len() < 120, "{text}");
    }
}
