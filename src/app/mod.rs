//! One file per command: straight-line wiring, and the only readers of the environment and the clock.

mod baseline;
mod ci;
pub mod command_line;
mod compared;
pub mod completions;
mod conclude;
mod config_cmd;
pub mod console;
mod demo;
pub mod describe;
mod detect;
mod diff;
pub mod exit;
pub mod explain;
mod facts;
mod failed;
mod found;
mod gate;
mod grading;
mod init;
mod job;
mod judge;
pub mod list_checks;
pub mod man;
mod matrix;
mod merge;
pub mod nearest;
pub mod pages;
mod places;
mod platform;
mod progress;
mod publish;
mod reviewed;
mod run;
mod signals;
mod surface;

use std::ffi::OsString;

pub use exit::Exit;

use crate::cli::{BaselineCommand, CiCommand, Command, ConfigCommand};

/// Reads the command line, hands it to the command's own file and says how the process ends.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match command_line::parse(arguments) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    match cli.command {
        Command::Run(args) => run::run(&args, cli.color),
        Command::Demo(args) => demo::demo(&args, cli.color),
        Command::Diff(args) => diff::diff(&args),
        Command::Surface(args) => surface::surface(&args),
        Command::Ci(args) => match &args.command {
            Some(CiCommand::Detect(args)) => detect::detect(args),
            Some(CiCommand::Matrix(args)) => matrix::matrix(args),
            None => ci::ci(&args, cli.color),
        },
        Command::Publish(args) => publish::publish(&args),
        Command::Gate(args) => gate::gate_reports(&args),
        Command::Baseline(BaselineCommand::Fetch(args)) => baseline::fetch(&args),
        Command::Merge(args) => merge::merge(&args),
        Command::Init(args) => init::init(&args),
        Command::ListChecks(args) => list_checks::list_checks(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Describe(args) if args.schema => describe::print(&crate::config::schema()),
        Command::Describe(_) => describe::print(&describe::document(config_cmd::keys())),
        Command::Config(ConfigCommand::Show(args)) => config_cmd::show(&args),
        Command::Config(ConfigCommand::Profiles(args)) => config_cmd::profiles(&args),
        Command::Judge(args) => judge::judge(&args, cli.color),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::DemoServer(args) => demo::serve(&args),
    }
}
