//! Sealmark grades MCP servers by what they do. See `docs/architecture.md` for the rooms and the way of the data.

pub mod app;
pub mod check;
pub mod ci;
pub mod classify;
pub mod cli;
pub mod compare;
pub mod config;
pub mod demo;
pub mod files;
pub mod gate;
pub mod grade;
pub mod judge;
pub mod model;
pub mod packs;
pub mod plan;
pub mod probes;
pub mod report;
pub mod run;
pub mod session;
pub mod targets;
pub mod text;
