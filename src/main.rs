//! The binary: reads the command line, hands it to the command's own file, ends with its exit code.

use std::process::ExitCode;

use sealmark::{
    app::{Exit, command_line, completions, config_cmd, console, describe, explain, list_checks, man},
    cli::Command,
    config,
};

fn main() -> ExitCode {
    match command_line::parse(std::env::args_os()) {
        Ok(cli) => dispatch(cli.command).into(),
        Err(exit) => exit.into(),
    }
}

fn dispatch(command: Command) -> Exit {
    match command {
        Command::ListChecks(args) => list_checks::list_checks(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Describe(args) if args.schema => describe::print(&config::schema()),
        Command::Describe(_) => describe::print(&describe::document(serde_json::json!(config::keys()))),
        Command::Config(command) => config_cmd::config(&command),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        _ => {
            console::line("error: this build lacks that command");
            Exit::Failure
        }
    }
}
