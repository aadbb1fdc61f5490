//! `baseline fetch`: the report that the default branch left behind.

use super::Exit;
use crate::cli::BaselineFetchArgs;

/// Runs the command.
pub fn fetch(_args: &BaselineFetchArgs) -> Exit {
    Exit::Failure
}
