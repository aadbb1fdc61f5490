//! What the harness owns: sandbox directories and their environment, server processes, directory snapshots.

pub mod cleanup;
mod descendants;
mod environment;
mod error;
mod fixture;
mod hiding;
mod process;
mod program;
mod removal;
mod sandbox;
mod snapshot;
#[cfg(test)]
mod testing;

pub use descendants::become_subreaper;
pub use environment::Environment;
pub use error::TargetError;
pub use hiding::hide;
pub use process::{Child, Exit, Spawn};
pub use sandbox::Sandbox;
pub use snapshot::{Change, Snapshot};
