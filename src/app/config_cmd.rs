//! `config show` and `config profiles`: the configuration without a server.

use super::{Exit, console, describe, request::request};
use crate::{
    cli::{ConfigCommand, ConfigProfilesArgs, ConfigShowArgs, SourceArgs, flags::FromFlag},
    config::{self, ConfigError, Resolved},
};

/// Prints what was asked for.
pub fn config(command: &ConfigCommand) -> Exit {
    match command {
        ConfigCommand::Show(args) => show(args),
        ConfigCommand::Profiles(args) => profiles(args),
    }
}

fn show(args: &ConfigShowArgs) -> Exit {
    let values = match args.settings.values() {
        Ok(values) => values,
        Err(error) => return console::mistake(&error, Some(error.hint())),
    };
    args.settings.gate.note().into_iter().for_each(|note| console::line(&format!("note: {note}")));
    match resolve(&args.settings.source, values) {
        Ok(resolved) if args.json => describe::print(&config::show_json(&resolved, args.origins)),
        Ok(resolved) => console::answer(&config::show(&resolved, args.origins)),
        Err(exit) => exit,
    }
}

fn profiles(args: &ConfigProfilesArgs) -> Exit {
    let source = SourceArgs { config: args.config.clone(), ..SourceArgs::default() };
    let listed = match resolve(&source, Vec::new()) {
        Ok(resolved) => config::profiles(&resolved),
        Err(exit) => return exit,
    };
    match listed {
        Ok(profiles) if args.json => describe::print(&serde_json::json!(profiles)),
        Ok(profiles) => console::answer(&config::profiles_text(&profiles)),
        Err(error) => refused(&error),
    }
}

/// Resolves the configuration and says its warnings; `Err` is how the process ends.
pub fn resolve(source: &SourceArgs, values: Vec<FromFlag>) -> Result<Resolved, Exit> {
    let request = request(source, values).map_err(|error| {
        console::line(&format!("error: the working directory cannot be read: {error}"));
        Exit::Failure
    })?;
    let resolved = config::resolve(&request).map_err(|error| refused(&error))?;
    resolved.settings.warnings.iter().for_each(|warning| console::line(&format!("warning: {warning}")));
    Ok(resolved)
}

fn refused(error: &ConfigError) -> Exit {
    console::mistake(error, error.hint())
}
