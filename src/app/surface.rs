//! `surface`: what the servers offer, without grading.

use super::Exit;
use crate::cli::SurfaceArgs;

/// Runs the command.
pub fn surface(_args: &SurfaceArgs) -> Exit {
    Exit::Failure
}
