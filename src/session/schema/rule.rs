//! The small table language in which the revisions' schemas are written down once, with what changed when.

use crate::model::Revision;

/// What a value must be. Objects are open, as in the official schemas: members that no rule names are allowed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// Anything, null too.
    Any,
    /// A string. Formats (`uri`, `byte`) are annotations and not checked.
    Text,
    /// A boolean.
    Flag,
    /// A number without a fraction (`1.0` is one, as in JSON Schema), not below the minimum.
    Whole(Option<i64>),
    /// A number.
    Number,
    /// A number from 0 to 1.
    Share,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An object with these members.
    Object(&'static [Member]),
    /// An object whose members all follow the rule.
    Map(&'static Rule),
    /// An array whose items all follow the rule.
    List(&'static Rule),
    /// An object whose kind is named by the member `key`.
    Tagged {
        /// The telling member.
        key: &'static str,
        /// The kinds.
        kinds: &'static [Kind],
    },
    /// A value that follows one of several rules.
    Either {
        /// What the alternatives are called together.
        name: &'static str,
        /// The alternatives.
        rules: &'static [Rule],
    },
    /// One rule from a revision on, another before it.
    Since(Revision, &'static Rule, &'static Rule),
}

/// One kind of a [`Rule::Tagged`] object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The telling member's value.
    pub(super) tag: &'static str,
    /// The first revision that has it.
    pub(super) since: Revision,
    /// Its other members.
    pub(super) members: &'static [Member],
}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: &'static str,
    /// What it must be.
    pub(super) rule: Rule,
    /// Whether it may not be left out.
    pub(super) required: bool,
    since: Revision,
    until: Option<Revision>,
}

impl Member {
    /// Whether the revision says anything about this member.
    pub(super) fn known_to(&self, revision: Revision) -> bool {
        revision >= self.since && self.until.is_none_or(|until| revision < until)
    }

    /// The same member, known from `revision` on.
    pub(super) const fn since(self, revision: Revision) -> Self {
        Self { since: revision, ..self }
    }

    /// The same member, no longer known in `revision`.
    pub(super) const fn until(self, revision: Revision) -> Self {
        Self { until: Some(revision), ..self }
    }
}

/// A member that may not be left out.
pub(super) const fn must(name: &'static str, rule: Rule) -> Member {
    Member { name, rule, required: true, since: Revision::V2024_11_05, until: None }
}

/// A member that may be left out.
pub(super) const fn may(name: &'static str, rule: Rule) -> Member {
    Member { name, rule, required: false, since: Revision::V2024_11_05, until: None }
}
