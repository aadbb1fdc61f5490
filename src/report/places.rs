//! Where in the checked-out sources a maintainer can act on a finding.

use std::collections::BTreeMap;

/// A line of a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Relative to the repository's root, with `/`.
    pub path: String,
    /// From 1.
    pub line: u32,
}

/// What is known of the repository that a report's findings point into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The lines that register tools: server and tool → line. Empty when no sources were looked at.
    pub registered: BTreeMap<(String, String), Place>,
    /// The working directory below the repository's root, with `/`; empty for the root itself. A report's own paths start
    /// there.
    pub directory: String,
    /// A file of the repository that findings point at when no configuration file was read, from the root.
    pub stand_in: Option<String>,
}

impl Places {
    /// The line that registers a tool, when it was found.
    pub fn of(&self, server: &str, tool: &str) -> Option<&Place> {
        self.registered.get(&(server.to_owned(), tool.to_owned()))
    }
}
