//! `init`: prints a CI job.

use super::Exit;
use crate::cli::InitArgs;

/// Runs the command.
pub fn init(_args: &InitArgs) -> Exit {
    Exit::Failure
}
