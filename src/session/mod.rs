//! The MCP client we own: framing, transports, lifecycle per era; records every byte that matters.

mod acceptance;
mod attribution;
mod client;
mod error;
mod frame;
mod framing;
mod headers;
mod http;
mod inbox;
pub mod lifecycle;
mod message;
mod parse;
mod reading;
pub mod recorder;
pub mod schema;
mod sse;
mod stderr;
mod stdio;
pub mod tokens;
mod weight;

pub use client::{Answer, Bounds, HttpTarget, Link, Pending, Reply, Session};
pub use error::{SessionError, StartFailure};
pub use http::status as http_status;
pub use lifecycle::{Opened, OtherEra, open_server};
pub use recorder::Recorder;
pub use tokens::Tokens;
