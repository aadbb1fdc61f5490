//! Protocol revisions and the two eras they fall into.

use serde::{Deserialize, Serialize};

/// How a revision opens a conversation (specification, `basic/versioning`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// `initialize` first, then a session: every revision up to 2025-11-25.
    Legacy,
    /// No handshake, `_meta` on every request, `server/discover`: 2026-07-28 and later.
    Modern,
}

/// A final revision of the Model Context Protocol, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Revision {
    /// 2024-11-05.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25, the newest legacy revision.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28, the first modern revision.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Every revision this build grades, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision that starts with `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest modern revision.
    pub const NEWEST_MODERN: Self = Self::V2026_07_28;

    /// The revision's date as the wire spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with that exact date, if this build knows it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// The era the revision belongs to.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
