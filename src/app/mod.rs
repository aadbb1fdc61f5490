//! One file per command: straight-line wiring, and the only readers of the environment and the clock.

pub mod command_line;
pub mod completions;
pub mod config_cmd;
pub mod console;
pub mod describe;
pub mod exit;
pub mod explain;
pub mod list_checks;
pub mod man;
pub mod nearest;
pub mod pages;
pub mod request;

pub use exit::Exit;
