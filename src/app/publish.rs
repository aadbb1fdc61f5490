//! `publish`: reports on disk → comment, badges, code scanning.

use super::Exit;
use crate::cli::PublishCommandArgs;

/// Runs the command.
pub fn publish(_args: &PublishCommandArgs) -> Exit {
    Exit::Failure
}
