//! Where in a schema: the way of names and items to a part.

use std::fmt;

use crate::text::excerpt;

/// Longest name that is shown, in characters.
const NAME: usize = 60;
/// Longest path that is shown, in characters.
const SHOWN: usize = 200;

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Segment {
    /// A member.
    Member(String),
    /// The items of an array, or one place of it.
    Item(Option<usize>),
    /// The members that are not listed.
    Others,
    /// The members whose names match.
    Matching(String),
    /// The names of members.
    Names,
    /// A definition that nothing refers to.
    Definition(String),
}

/// The way from the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in super::super) struct Path(Vec<Segment>);

impl Path {
    pub(super) fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The beginnings of the way, the root's left out, each with whether its last step is a member.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = (Self, bool)> {
        (1..=self.0.len()).map(|end| (Self(self.0[..end].to_vec()), matches!(self.0[end - 1], Segment::Member(_))))
    }

    /// Whether it is the whole.
    pub(in super::super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        for segment in &self.0 {
            let dot = if shown.is_empty() { "" } else { "." };
            match segment {
                Segment::Member(name) => shown.push_str(&format!("{dot}{}", excerpt(name, NAME))),
                Segment::Item(None) => shown.push_str("[]"),
                Segment::Item(Some(at)) => shown.push_str(&format!("[{at}]")),
                Segment::Others => shown.push_str(&format!("{dot}*")),
                Segment::Matching(pattern) => shown.push_str(&format!("{dot}/{}/", excerpt(pattern, NAME))),
                Segment::Names => shown.push_str(&format!("{dot}(names)")),
                Segment::Definition(name) => shown.push_str(&format!("$defs.{}", excerpt(name, NAME))),
            }
        }
        f.write_str(&excerpt(&shown, SHOWN))
    }
}
