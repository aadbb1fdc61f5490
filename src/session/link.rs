//! Where a server is and how long it may take.

use std::time::Duration;

use crate::targets::Spawn;

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Link {
    /// A child process on pipes.
    Stdio(Spawn),
    /// Streamable HTTP.
    Http(HttpTarget),
}

/// A Streamable HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// The endpoint.
    pub url: String,
    /// Headers sent with every request, in order.
    pub headers: Vec<(String, String)>,
}

/// How long a session waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// For the handshake, start included.
    pub connect: Duration,
    /// For one call, and for the server to read what we write.
    pub call: Duration,
}
