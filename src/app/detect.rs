//! `ci detect`: where this job runs and what it may do.

use super::Exit;
use crate::cli::CiDetectArgs;

/// Runs the command.
pub fn detect(_args: &CiDetectArgs) -> Exit {
    Exit::Failure
}
