//! How long and how much.

use std::time::Duration;

/// Bounds of the work with GitHub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One call, with its body.
    pub request: Duration,
    /// Everything together.
    pub total: Duration,
    /// The longest wait that GitHub may ask for before a GET is sent again.
    pub patience: Duration,
    /// The first wait for code scanning to read an upload; it doubles.
    pub poll: Duration,
    /// An artifact as downloaded, in bytes.
    pub artifact: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            total: Duration::from_secs(60),
            patience: Duration::from_secs(20),
            poll: Duration::from_secs(5),
            artifact: 64 << 20,
        }
    }
}
