//! `merge`: several shards' reports → one.

use super::Exit;
use crate::cli::MergeArgs;

/// Runs the command.
pub fn merge(_args: &MergeArgs) -> Exit {
    Exit::Failure
}
