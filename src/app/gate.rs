//! `gate`: reports on disk → exit code.

use super::Exit;
use crate::cli::GateCommandArgs;

/// Runs the command.
pub fn gate_reports(_args: &GateCommandArgs) -> Exit {
    Exit::Failure
}
