//! What became of one publication: one line each.

use crate::text::terminal;

/// The outcome of one publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It is done.
    Done {
        /// What (`comment updated`).
        what: String,
        /// Where it can be seen.
        url: Option<String>,
    },
    /// It was not tried, as the event or the token does not allow it.
    Skipped {
        /// What (`no comment`).
        what: String,
        /// Why not.
        why: String,
        /// What enables it.
        remedy: String,
    },
    /// It was asked for, and comes with another event than this one.
    OutOfPlace {
        /// What (`no badges`).
        what: String,
        /// Why not now.
        why: String,
        /// When.
        remedy: String,
    },
    /// It was tried and failed.
    Failed {
        /// What (`the comment was not written`).
        what: String,
        /// Why.
        cause: String,
        /// What to do.
        remedy: String,
    },
}

impl Notice {
    /// The line for the log, harmless whatever the platform answered.
    pub fn line(&self) -> String {
        terminal::line(&match self {
            Self::Done { what, url: Some(url) } => format!("{what}: {url}"),
            Self::Done { what, url: None } => what.clone(),
            Self::Skipped { what, why, remedy } | Self::OutOfPlace { what, why, remedy } => {
                format!("note: {what}: {why} ({remedy})")
            }
            Self::Failed { what, cause, remedy } => format!("warning: {what}: {cause} ({remedy})"),
        })
    }

    /// Whether it was tried in vain.
    pub fn failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Whether something was due and is not published.
    pub fn missed(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Skipped { .. })
    }
}
