//! `diff`: two reports → what changed.

use super::Exit;
use crate::cli::DiffArgs;

/// Runs the command.
pub fn diff(_args: &DiffArgs) -> Exit {
    Exit::Failure
}
