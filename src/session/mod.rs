//! The MCP client we own: framing, transports, lifecycle per era; records every byte that matters.

pub mod recorder;
pub mod schema;

pub use recorder::Recorder;
