//! `ci`: the whole job of a CI run.

use super::Exit;
use crate::cli::{CiArgs, ColorWhen};

/// Runs the command.
pub fn ci(_args: &CiArgs, _color: ColorWhen) -> Exit {
    Exit::Failure
}
