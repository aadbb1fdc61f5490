//! Why a session could not be opened, or a server not be started: the cause in a sentence and the next step.

use crate::targets::{Exit, TargetError};

/// A session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The program could not be started.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The pipes of the new process are missing.
    #[error("the new process has no pipes")]
    Pipes,
    /// The address is none.
    #[error("`{url}` is not an http or https address: {why}")]
    Url {
        /// The address as written.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A header cannot be sent.
    #[error("the header `{name}` cannot be sent: {why}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it; never its value.
        why: &'static str,
    },
    /// The HTTP client could not be made.
    #[error("no HTTP client could be made: {why}")]
    Client {
        /// The cause.
        why: String,
    },
}

impl SessionError {
    /// What the user can do about it, when there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Target(error) => error.hint(),
            Self::Url { .. } => Some("write the whole address, for example http://127.0.0.1:3000/mcp".to_owned()),
            Self::Header { .. } => Some("write `Name: value` with visible ASCII characters".to_owned()),
            Self::Client { .. } => Some("install the system's CA certificates, or use an http address".to_owned()),
            Self::Pipes => None,
        }
    }
}

/// A server that was not started: nothing can be graded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct StartFailure {
    /// The cause, a lower-case sentence without a full stop. It may quote the server: escape it on output.
    pub reason: String,
    /// What the user can do, when there is something.
    pub hint: Option<String>,
    /// How the process ended, when it did.
    pub exit: Option<Exit>,
    /// The last 64 KiB of its stderr.
    pub stderr: String,
}

impl StartFailure {
    /// What the user can do about it, when there is something.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<SessionError> for StartFailure {
    fn from(error: SessionError) -> Self {
        Self { hint: error.hint(), reason: with_causes(&error), exit: None, stderr: String::new() }
    }
}

/// An error and its causes in one line, repeated ones left out.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// The innermost cause of an error: what the system or the other side said.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}
