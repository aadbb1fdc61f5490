//! The command line as the whole program sees it: the clap command with what it cannot know by itself.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::{Exit, console};
use crate::{cli::Cli, packs};

/// The command with its version line and exit codes; the source of help, completions, manual and docs.
pub fn command() -> clap::Command {
    Cli::command()
        .long_version(format!("{} (methodology {})", env!("CARGO_PKG_VERSION"), packs::METHODOLOGY))
        .after_long_help(exit_codes())
}

/// Reads the arguments. `Err` is how the process ends when there is nothing left to do: help, version, a usage error.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Exit> {
    command().try_get_matches_from(arguments).and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)).map_err(
        |error| {
            // A reader that went away while help is printed is nothing to report, and there is nobody to tell.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Ok }
        },
    )
}

fn exit_codes() -> String {
    let lines = Exit::FIXED.iter().map(|exit| format!("  {:<4} {}", exit.code(), exit.meaning()));
    std::iter::once("Exit codes:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Prints what is wrong with a combination of flags that clap accepted.
pub fn refuse(error: &crate::cli::flags::FlagError) -> Exit {
    console::mistake(error, Some(error.hint()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_nothing_wrong_with_the_definition() {
        command().debug_assert();
    }

    #[test]
    fn every_flag_and_command_has_a_help_text() {
        fn look(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no text", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(look);
        }
        look(&command());
    }

    #[test]
    fn the_long_help_names_every_exit_code() {
        let help = command().render_long_help().to_string();
        for exit in Exit::FIXED {
            assert!(help.contains(&format!("\n  {:<4} ", exit.code())), "{exit:?}");
        }
    }
}
