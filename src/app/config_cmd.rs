//! `config`: the merged configuration and the profiles; and how every command asks for its settings.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};

use super::{Exit, command_line, console};
use crate::{
    cli::{ConfigProfilesArgs, ConfigShowArgs, SourceArgs, flags::FromFlag},
    config::{self, ConfigError, FlagValue, Request, Resolved},
};

/// What a command asks the configuration with: working directory, environment, files and flags.
pub(super) fn request(source: &SourceArgs, values: Vec<FromFlag>) -> Result<Request, Exit> {
    let cwd = std::env::current_dir().map_err(|error| {
        console::line(&format!("error: the working directory cannot be read: {error}"));
        Exit::Usage
    })?;
    let env = environment();
    let ci = env.get("CI").is_some_and(|value| value == "true" || value == "1");
    Ok(Request {
        user_config: user_config(&env),
        config: source.config.clone(),
        flags: values.into_iter().map(|(flag, key, value)| FlagValue { flag, key, value }).collect(),
        server: source.server.clone(),
        cwd,
        env,
        ci,
        fileless: false,
    })
}

/// The settings of a command that takes its servers from the configuration alone.
pub(super) fn configured(source: &SourceArgs) -> Result<Resolved, Exit> {
    let resolved = config::resolve(&request(source, Vec::new())?).map_err(|error| mistake(&error))?;
    match resolved.require_servers() {
        Ok(()) => Ok(resolved),
        Err(error) => Err(mistake(&error.hinting(
            "this command takes the servers from a configuration: write `servers:` into sealmark.yaml, or name a file with \
             --config FILE",
        ))),
    }
}

/// The variables that are valid text.
pub(super) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The user's own file: below `XDG_CONFIG_HOME`, else below `~/.config`.
fn user_config(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(base.join("sealmark/config.yaml"))
}

/// Reports a mistake in the configuration.
pub(super) fn mistake(error: &ConfigError) -> Exit {
    console::mistake(error, error.hint())
}

/// `config show`.
pub(super) fn show(args: &ConfigShowArgs) -> Exit {
    let values = match args.settings.values() {
        Ok(values) => values,
        Err(error) => return command_line::refuse(&error),
    };
    let request = match request(&args.settings.source, values) {
        Ok(request) => request,
        Err(exit) => return exit,
    };
    match config::resolve(&request) {
        Ok(resolved) if args.json => console::answer(&pretty(&config::show_json(&resolved, args.origins))),
        Ok(resolved) => console::answer(&config::show(&resolved, args.origins)),
        Err(error) => mistake(&error),
    }
}

/// `config profiles`.
pub(super) fn profiles(args: &ConfigProfilesArgs) -> Exit {
    let source = SourceArgs { config: args.config.clone(), ..SourceArgs::default() };
    let request = match request(&source, Vec::new()) {
        Ok(request) => request,
        Err(exit) => return exit,
    };
    match config::resolve(&request).and_then(|resolved| config::profiles(&resolved)) {
        Ok(profiles) if args.json => console::answer(&pretty(&json!(profiles))),
        Ok(profiles) => console::answer(&config::profiles_text(&profiles)),
        Err(error) => mistake(&error),
    }
}

/// The key table for `describe --json`.
pub(super) fn keys() -> Value {
    json!(config::keys())
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
