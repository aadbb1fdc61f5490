//! `completions`: a script for one shell, from the clap command.

use super::{Exit, command_line, console};
use crate::cli::CompletionsArgs;

/// Prints the script.
pub fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line::command(), "sealmark", &mut script);
    console::answer(&String::from_utf8_lossy(&script))
}
