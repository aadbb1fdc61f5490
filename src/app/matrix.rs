//! `ci matrix`: the configured servers as a matrix of jobs.

use super::Exit;
use crate::cli::CiMatrixArgs;

/// Runs the command.
pub fn matrix(_args: &CiMatrixArgs) -> Exit {
    Exit::Failure
}
