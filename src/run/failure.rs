//! Why a run could not start, in words a maintainer can act on.

use std::fmt::Display;

use crate::session::StartFailure;

/// A run that did not get to grading: exit code 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened, one sentence without a stop.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// What the server wrote to stderr, bounded; empty when nothing.
    pub stderr: String,
}

impl Failure {
    /// A failure of the harness' own.
    pub fn harness(error: &(impl Display + ?Sized)) -> Self {
        Self { message: error.to_string(), hint: None, stderr: String::new() }
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// A server that did not open.
    pub fn start(failure: StartFailure) -> Self {
        let hint = drifted(&failure.stderr).or_else(|| failure.hint.clone());
        Self { message: failure.reason, hint, stderr: failure.stderr }
    }

    /// The same for a server of ours that had ended by then.
    #[must_use]
    pub fn of_ended(mut self, how: &str) -> Self {
        self.message = format!("the server {how} after it had come up; {}", self.message);
        self.hint = Some("look at what it wrote; run the same command by hand".to_owned());
        self
    }

    /// The same with the stderr of a process that was started beside the session.
    #[must_use]
    pub fn with_stderr(mut self, stderr: String) -> Self {
        if self.stderr.is_empty() {
            self.hint = drifted(&stderr).or(self.hint);
            self.stderr = stderr;
        }
        self
    }
}

/// Stderr texts that mean the server's dependencies moved under it, and what to do.
const DRIFT: &[(&[&str], &str)] = &[
    (
        &["ModuleNotFoundError", "ImportError: cannot import name", "No module named"],
        "stderr names a Python module that is missing or has changed: install the server's dependencies in the versions it was written for",
    ),
    (
        &["ERR_MODULE_NOT_FOUND", "Cannot find module", "Cannot find package", "ERR_PACKAGE_PATH_NOT_EXPORTED"],
        "stderr names a Node module that is missing or has changed: run npm ci (or npm install) for the server first",
    ),
    (
        &["does not provide an export named", "is not a constructor", "SyntaxError: Unexpected"],
        "stderr looks like a dependency or a Node version that the server was not written for: pin its dependencies or use another Node",
    ),
    (&["npm error 404", "npm ERR! 404", "E404"], "npm does not know that package or version: check its spelling"),
    (&["EBADENGINE", "Unsupported engine"], "the package asks for another Node version"),
    (
        &["error while loading shared libraries", "GLIBC_"],
        "a shared library that the server needs is missing on this machine",
    ),
];

fn drifted(stderr: &str) -> Option<String> {
    let found = DRIFT.iter().find(|(marks, _)| marks.iter().any(|mark| stderr.contains(mark)));
    found.map(|(_, hint)| (*hint).to_owned())
}

#[cfg(test)]
mod tests {
    use super::drifted;

    #[test]
    fn a_missing_module_is_named_as_drift() {
        assert!(drifted("Traceback\nModuleNotFoundError: No module named 'mcp'").unwrap().contains("Python module"));
        assert!(drifted("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'").unwrap().contains("Node module"));
        assert_eq!(drifted("listening on stdio"), None);
    }
}
