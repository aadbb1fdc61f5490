//! The MCP client we own: framing, transports, lifecycle per era; records every byte that matters.

pub mod recorder;

pub use recorder::Recorder;
