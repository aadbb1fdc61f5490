//! Tokens: values that are random per run, so that seeing one proves where it came from.

use serde::{Deserialize, Serialize};

/// What a token stands for; a report prints the meaning, never the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenKind {
    /// `SEALMARK_CANARY` in the server's environment.
    Canary,
    /// `SEALMARK_FAKE_API_KEY` in the server's environment.
    FakeApiKey,
    /// A value our own bytes carried (an unknown tool's name, a wrong argument).
    Probe,
}

/// How a token was written where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As it is.
    Plain,
    /// Base64, standard or URL-safe, in any of the three alignments.
    Base64,
    /// Hexadecimal, either case.
    Hex,
    /// Percent-encoded, byte by byte.
    Percent,
    /// Back to front.
    Reversed,
}

/// A token that was seen in what a server sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// What the token stands for.
    pub token: TokenKind,
    /// How it was spelled.
    pub encoding: Encoding,
    /// Text around it (at most 120 characters), the token itself replaced by its placeholder.
    pub excerpt: String,
}
