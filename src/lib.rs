//! Sealmark grades MCP servers by what they do. See `docs/architecture.md` for the rooms and the way of the data.

pub mod check;
pub mod config;
pub mod model;
pub mod packs;
pub mod report;
pub mod session;
pub mod targets;
