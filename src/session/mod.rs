//! The MCP client we own: framing, transports, lifecycle per era; records every byte that matters.

mod acceptance;
mod answer;
mod attribution;
mod client;
mod error;
mod frame;
mod framing;
mod headers;
mod http;
mod inbox;
pub mod lifecycle;
mod link;
mod message;
mod parse;
mod reading;
pub mod recorder;
mod request;
pub mod schema;
mod sse;
mod stderr;
mod stdio;
pub mod tokens;
mod weight;

pub use answer::{Answer, Pending, Reply};
pub use client::Session;
pub use error::{SessionError, StartFailure};
pub use http::status as http_status;
pub use lifecycle::{Opened, OtherEra, open_server};
pub use link::{Bounds, HttpTarget, Link};
pub use recorder::Recorder;
pub use tokens::Tokens;
