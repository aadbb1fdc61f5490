//! What a renderer is told besides the runs, and what it can refuse.

use super::places::Places;
use crate::config::settings::{Format, Verbosity};

/// How a report is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOptions {
    /// How much text and Markdown say.
    pub verbosity: Verbosity,
    /// Columns to wrap text at; less than 40 counts as 40.
    pub width: usize,
    /// Whether text and summary may hold ANSI colours.
    pub color: bool,
    /// A template for text and Markdown: its name for messages, and its source.
    pub template: Option<(String, String)>,
    /// The gate and what came of it.
    pub gate: GateFacts,
    /// Lines of the sources that SARIF, Code Quality and SAST point at.
    pub places: Places,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            verbosity: Verbosity::Normal,
            width: 100,
            color: false,
            template: None,
            gate: GateFacts::default(),
            places: Places::default(),
        }
    }
}

/// The gate of an invocation and the exit code that was decided; a renderer prints them and decides nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFacts {
    /// The lowest letter that passes, `None` when the gate is off.
    pub fail_under: Option<char>,
    /// A miss exits with 0.
    pub soft_fail: bool,
    /// An inconclusive pack counts as failing.
    pub inconclusive_fails: bool,
    /// The exit code of the whole invocation.
    pub exit_code: u8,
    /// Why it is not 0, one sentence fragment each (`pack core graded B, which does not meet --fail-under A`).
    pub reasons: Vec<String>,
    /// Names of the servers that are worse than before, or offer something else, where that misses the gate.
    pub worse: Vec<String>,
    /// Names of the servers that had to be compared with an earlier run and could not be.
    pub uncompared: Vec<String>,
}

impl Default for GateFacts {
    fn default() -> Self {
        Self {
            fail_under: Some('A'),
            soft_fail: false,
            inconclusive_fails: false,
            exit_code: 0,
            reasons: Vec::new(),
            worse: Vec::new(),
            uncompared: Vec::new(),
        }
    }
}

/// Why a report was not rendered.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A badge shows one server.
    #[error("the {} format shows one server, and this run has {servers}", format.as_str())]
    SeveralServers {
        /// The format asked for.
        format: Format,
        /// How many servers there are.
        servers: usize,
    },
    /// There is nothing to show.
    #[error("the {} format needs a server, and this run has none", format.as_str())]
    NoServer {
        /// The format asked for.
        format: Format,
    },
    /// The template is at fault.
    #[error("template {name}{}: {reason}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Template {
        /// The template's name as given.
        name: String,
        /// The line at fault, from 1.
        line: Option<usize>,
        /// What is wrong with it.
        reason: String,
    },
    /// The document could not be written.
    #[error("could not write JSON")]
    Json(#[from] serde_json::Error),
    /// The document could not be written.
    #[error("could not write JUnit XML")]
    Junit(#[from] quick_junit::SerializeError),
}

impl ReportError {
    /// What the user can do about it, when it is theirs to mend.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::SeveralServers { .. } => Some("choose one with --server <name>"),
            Self::Template { .. } => Some(
                "a template reads the fields of the JSON report, header, standardLabel, summary and packList; \
                 --format json shows them",
            ),
            Self::NoServer { .. } | Self::Json(_) | Self::Junit(_) => None,
        }
    }
}
