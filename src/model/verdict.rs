//! What a check decides, and the lines that support it.

use serde::{Deserialize, Serialize};

use super::trace::EventRef;

/// The verdict of one check. Ordered from worst to best for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// What must be refused was processed, or what must hold does not.
    Fail,
    /// It holds with a defect: half a point.
    Part,
    /// Configured, but it could not be exercised. Never a pass.
    Inconclusive,
    /// The probe ran, was answered, and the property holds.
    Pass,
    /// Not configured, or the server has no such target. Never a pass.
    Na,
}

impl Verdict {
    /// The tag the text report prints, five characters wide without the brackets' padding.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Part => "PART",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCL",
            Self::Na => "N/A ",
        }
    }

    /// The word used in machine formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Part => "part",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Na => "na",
        }
    }
}

/// What a pack came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackStatus {
    /// It has a letter.
    Graded,
    /// Configured, not exercised.
    Inconclusive,
    /// Not configured or no such tool.
    Na,
    /// Left out on purpose.
    Skipped,
}

/// How much a check weighs in its pack's letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Scored, and a fail caps the pack's letter at D.
    Critical,
    /// Scored: pass 1, part 0.5, fail 0.
    Scored,
    /// Reported, never scored.
    Advisory,
}

impl Severity {
    /// The word used in machine formats and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Scored => "scored",
            Self::Advisory => "advisory",
        }
    }
}

/// One line of evidence: what was sent, what came back, what the harness saw, which rule decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The probe's short name within the check (`unknown-tool`, `stdout-noise`).
    pub probe: String,
    /// The tool it concerns, as the server spelled it.
    pub tool: Option<String>,
    /// The event that sent the request, rendered late as an excerpt.
    pub sent: Option<EventRef>,
    /// The event that answered it, rendered late as an excerpt.
    pub received: Option<EventRef>,
    /// What the harness observed, in our own words (may quote the server: it is escaped on output).
    pub observed: String,
    /// The id of the rule that decided this line (`robust.refusal-text`).
    pub rule: &'static str,
    /// What this line alone says. Lines that merely inform carry `Pass`.
    pub verdict: Verdict,
}

/// A check's verdict with its one-sentence summary and the evidence, worst lines first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// One sentence for the report's check line.
    pub summary: String,
    /// The evidence lines.
    pub evidence: Vec<Line>,
}

impl Judgement {
    /// A judgement without evidence lines beyond its summary (for `na` and `inconclusive`).
    pub fn bare(verdict: Verdict, summary: impl Into<String>) -> Self {
        Self { verdict, summary: summary.into(), evidence: Vec::new() }
    }
}
