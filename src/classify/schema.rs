//! Three-valued evaluation of JSON Schema: what a declared schema surely accepts, surely refuses, or leaves open.
//!
//! `No` and `Yes` hold for every reading of the schema (its dialect, whether formats are asserted); everything else is `Unsure`.

mod containers;
mod equal;
mod pattern;
mod walk;

use serde_json::Value;

pub(super) use walk::{Evaluator, Texts};

/// Steps one evaluation may take. An honest tool schema needs some dozens.
pub(super) const STEPS: u32 = 20_000;

/// What a schema says about an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admits {
    /// Surely valid.
    Yes,
    /// Surely invalid.
    No,
    /// It depends on what the dialect, a format, a pattern or a remote reference means, or a bound was hit.
    Unsure,
}

impl Admits {
    /// Both must hold.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unsure,
        }
    }

    /// The opposite.
    pub(super) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unsure => Self::Unsure,
        }
    }

    /// A violation that counts only where the keyword is known to the dialect.
    pub(super) fn doubt_no_unless(self, known: bool) -> Self {
        if self == Self::No && !known { Self::Unsure } else { self }
    }

    /// `Yes` for true, `No` for false.
    pub(super) fn from_bool(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Evaluates `instance` against `schema` (draft-07, 2019-09, 2020-12; without `$schema`: 2020-12, as MCP says).
/// Ends after a bounded number of steps whatever the schema is.
pub fn admits(schema: &Value, instance: &Value) -> Admits {
    Evaluator::new(schema, Texts::Doubted, STEPS).admits(schema, instance)
}

#[cfg(test)]
mod tests;
