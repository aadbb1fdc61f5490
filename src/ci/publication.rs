//! What is to be published, and what became of it.

use std::path::PathBuf;

use super::{Context, Notice};
use crate::{
    compare::Comparison,
    gate::Decision,
    report::{GateFacts, RunResult},
};

/// Where badges are committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadgePlace {
    /// Nowhere.
    Off,
    /// To a branch of their own.
    Branch(String),
    /// To a directory of the default branch, relative, without `./`.
    Directory(String),
}

/// Where the baseline comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineFrom {
    /// The default branch's last report.
    Auto,
    /// Nowhere.
    Off,
    /// A file.
    File(PathBuf),
}

/// When a comment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Where the token may.
    Auto,
    /// The same; that it may not is a warning.
    Always,
    /// When something is worse or different, or a comment is there already.
    OnChange,
    /// Never.
    Off,
}

/// What the user wants published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The sticky comment.
    pub comment: When,
    /// Tells several comments of one request apart.
    pub comment_key: String,
    /// Send SARIF to code scanning.
    pub upload_sarif: bool,
    /// Annotations in the log.
    pub annotations: bool,
    /// The job summary.
    pub summary: bool,
    /// Badges.
    pub badge: BadgePlace,
    /// The artifact with the report.
    pub artifact_name: String,
    /// The job whose artifacts hold the baseline (GitLab).
    pub baseline_job: Option<String>,
}

/// Everything the adapters publish from: made once from one grading, or read from reports on disk.
#[derive(Debug, Clone, Copy)]
pub struct Publication<'a> {
    /// Where the job runs.
    pub context: &'a Context,
    /// The reports.
    pub runs: &'a [RunResult],
    /// Against the baseline; `None` without one.
    pub comparison: Option<&'a Comparison>,
    /// Why there is no baseline, when one was looked for.
    pub no_baseline: Option<&'a str>,
    /// What the gate decided.
    pub decision: &'a Decision,
    /// The gate as the renderers are told.
    pub gate: &'a GateFacts,
    /// What is wanted.
    pub options: &'a Options,
    /// Whether something that had to be published was not, so that the job fails whatever the gate says.
    pub unpublished: bool,
}

impl Publication<'_> {
    /// Whether there is something to say: a change against the baseline, or without one a missed gate.
    pub fn has_news(&self) -> bool {
        match self.comparison.filter(|comparison| comparison.has_grades() || comparison.has_surface()) {
            Some(comparison) => {
                let better = comparison.servers.iter().any(|server| !server.improvements.is_empty());
                better || comparison.regressed() || comparison.drifted()
            }
            None => self.decision.code != 0,
        }
    }
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Published {
    /// One line each.
    pub notices: Vec<Notice>,
    /// The comment's address.
    pub comment_url: Option<String>,
}
