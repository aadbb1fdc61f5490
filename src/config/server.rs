//! `server`, `servers` and the flags that name one → the servers to grade.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::{
    catalog::Catalog,
    error::{ConfigError, Origin},
    layer::{Merged, Rank, Setting},
    naming,
    settings::ServerSettings,
    suggest::hint_for,
    yaml,
};

/// What the servers are read from.
pub(crate) struct Inputs<'i> {
    pub merged: &'i Merged,
    pub catalog: &'i Catalog,
    pub cwd: &'i Path,
    pub env: &'i BTreeMap<String, String>,
    /// `--server`.
    pub select: &'i [String],
    pub sandboxed: bool,
}

/// The names below `servers`, in the order they were written.
pub(crate) fn names(merged: &Merged) -> Vec<String> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, setting) in merged.below(&["servers"]) {
        let order = first.entry(&path[0]).or_insert(setting.order);
        *order = setting.order.min(*order);
    }
    let mut names: Vec<(usize, &str)> = first.into_iter().map(|(name, order)| (order, name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Reads the selected servers; none when nothing names one. `warnings` takes what the user should hear once.
pub(crate) fn servers(inputs: &Inputs<'_>, warnings: &mut Vec<String>) -> Result<Vec<ServerSettings>, ConfigError> {
    let names = names(inputs.merged);
    if names.is_empty() {
        let own = ["command", "url"].iter().any(|key| inputs.merged.setting(&["server", key]).is_some());
        let server = if own { Some(Part { inputs, name: None }.read(warnings)?) } else { None };
        let known: Vec<String> = server.iter().map(|server| server.name.clone()).collect();
        return match selected(&known, inputs.select) {
            Ok(_) => Ok(server.into_iter().collect()),
            Err(unknown) => {
                let message = format!("there is no server `{}`", yaml::cut(unknown));
                Err(ConfigError::at(&Origin::Flag("--server"), message)
                    .hinting("list several under `servers:`, each with its name"))
            }
        };
    }
    exclusive(inputs)?;
    let selected = selected(&names, inputs.select).map_err(|unknown| {
        let message = format!("there is no server `{}`", yaml::cut(unknown));
        ConfigError::at(&Origin::Flag("--server"), message)
            .maybe_hinting(hint_for(unknown, names.iter().map(String::as_str).chain(["all"])))
    })?;
    if let Some(name) = inputs.merged.setting(&["name"]) {
        if name.rank < Rank::Variables {
            warnings.push(format!("{}: `name` is not used: the keys under `servers` name the servers.", name.origin));
        } else if selected.len() > 1 {
            return Err(ConfigError::at(
                &name.origin,
                format!("names one server, but {} are selected", selected.len()),
            )
            .hinting("choose one with --server <name>"));
        }
    }
    selected.into_iter().map(|name| Part { inputs, name: Some(name) }.read(warnings)).collect()
}

/// The names that `--server` asks for, each once, in the order of `names`; the first word that is none of them otherwise.
/// A name is taken as a whole before commas separate anything: a key may hold one.
pub fn selected<'n, 'w>(names: &'n [String], select: &'w [String]) -> Result<Vec<&'n String>, &'w str> {
    let mut wanted: Vec<&str> = Vec::new();
    for word in select {
        match names.contains(word) {
            true => wanted.push(word),
            false => wanted.extend(word.split(',').map(str::trim)),
        }
    }
    if let Some(unknown) = wanted.iter().find(|word| **word != "all" && !names.iter().any(|name| name == *word)) {
        return Err(unknown);
    }
    let all = wanted.is_empty() || wanted.contains(&"all");
    Ok(names.iter().filter(|name| all || wanted.contains(&name.as_str())).collect())
}

/// `server` and `servers` cannot be used together; what flags and variables say of every server is no `server` block.
fn exclusive(inputs: &Inputs<'_>) -> Result<(), ConfigError> {
    let listed = inputs.merged.below(&["servers"]).min_by_key(|(_, setting)| setting.order).map(|(_, setting)| setting);
    for (path, setting) in inputs.merged.below(&["server"]) {
        let names_one = ["command", "args", "url"].contains(&path[0].as_str());
        let in_file = matches!(setting.rank, Rank::User | Rank::Project | Rank::Local);
        if let (Some(listed), true) = (listed, names_one || in_file) {
            let message =
                format!("`server.{}` and `servers` ({}) cannot be used together", path.join("."), listed.origin);
            let hint = if in_file {
                "move it below `servers`, under a name of its own"
            } else {
                "choose a listed server with --server <name>, or use a --config without `servers`"
            };
            return Err(ConfigError::at(&setting.origin, message).hinting(hint));
        }
    }
    Ok(())
}

/// What was said of a mapping (`env`, `headers`) of one server, lowest layer first.
fn said<'m>(merged: &'m Merged, name: Option<&str>, mapping: &str) -> Vec<(&'m str, &'m Setting)> {
    let own = name.map(|name| merged.below(&["servers", name, mapping]));
    let mut all: Vec<(&str, &Setting)> = merged
        .below(&["server", mapping])
        .chain(own.into_iter().flatten())
        .filter_map(|(path, setting)| Some((path.first()?.as_str(), setting)))
        .collect();
    all.sort_by_key(|(_, setting)| (setting.rank, setting.order));
    all
}

/// What took effect of it: a higher layer replaces a name, and of header names every spelling.
pub(crate) fn mapping<'m>(merged: &'m Merged, name: Option<&str>, mapping: &str) -> Vec<(&'m str, &'m Setting)> {
    let same = |one: &str, two: &str| if mapping == "headers" { one.eq_ignore_ascii_case(two) } else { one == two };
    let mut effective: Vec<(&str, &Setting)> = Vec::new();
    for (word, setting) in said(merged, name, mapping) {
        effective.retain(|(lower, _)| !same(lower, word));
        effective.push((word, setting));
    }
    effective
}

/// One server: its own entry under `servers`, and what is said of every server.
pub(super) struct Part<'p> {
    pub(super) inputs: &'p Inputs<'p>,
    name: Option<&'p str>,
}

impl<'p> Part<'p> {
    /// The path of a key, as written in files.
    pub(super) fn dotted(&self, key: &str) -> String {
        match self.name {
            None => format!("server.{key}"),
            Some(name) => format!("servers.{name}.{key}"),
        }
    }

    pub(super) fn setting(&self, key: &str) -> Option<&'p Setting> {
        let merged = self.inputs.merged;
        let shared = merged.setting(&["server", key]);
        let own = self.name.and_then(|name| merged.setting(&["servers", name, key]));
        shared.into_iter().chain(own).max_by_key(|setting| setting.rank)
    }

    fn text(&self, key: &str) -> Option<&'p str> {
        self.setting(key)?.value.as_str()
    }

    fn seconds(&self, key: &str) -> Duration {
        let default =
            self.inputs.catalog.key(&["server".to_owned(), key.to_owned()]).and_then(|key| key.default.as_ref());
        let value = self.setting(key).map(|setting| &setting.value).or(default);
        Duration::from_secs(value.and_then(Value::as_u64).unwrap_or_default())
    }

    fn read(&self, all_warnings: &mut Vec<String>) -> Result<ServerSettings, ConfigError> {
        let mut own = Vec::new();
        let warnings = &mut own;
        let (command, url) = (self.setting("command"), self.setting("url"));
        let named = self.one_place(command, url)?;
        let args: Vec<String> = self.setting("args").map(|setting| texts(&setting.value)).unwrap_or_default();
        let mut origins = BTreeMap::new();
        for key in [
            "command",
            "args",
            "url",
            "files",
            "cwd",
            "rootless",
            "pass_env",
            "connect_timeout_sec",
            "start_timeout_sec",
        ] {
            if let Some(setting) = self.setting(key) {
                origins.insert(key.to_owned(), setting.origin.to_string());
            }
        }
        if let (Some(setting), None) = (self.setting("args").filter(|_| !args.is_empty()), command) {
            let dotted = self.dotted("args");
            warnings.push(format!(
                "{}: `{dotted}` is not used: there is no `{}`.",
                setting.origin,
                self.dotted("command")
            ));
        }
        let command: Vec<String> = match command.and_then(|setting| setting.value.as_str()) {
            Some(program) => std::iter::once(program.to_owned()).chain(args).collect(),
            None => Vec::new(),
        };
        let url = url.and_then(|setting| setting.value.as_str()).map(str::to_owned);
        self.check_command(&command, warnings)?;
        if let Some(url) = &url {
            self.check_url(url)?;
        }
        let env = self.env(&mut origins)?;
        let headers = self.headers(&mut origins)?;
        let files = self.files(&command)?;
        if let (None, Some((first, _))) = (&url, headers.first()) {
            let at = &origins[&format!("headers.{first}")];
            warnings.push(format!("{at}: `{}` are only sent to a `url`, and there is none.", self.dotted("headers")));
        }
        let given =
            self.inputs.merged.setting(&["name"]).filter(|name| self.name.is_none() || name.rank >= Rank::Variables);
        let name = given
            .and_then(|setting| setting.value.as_str())
            .filter(|name| !name.trim().is_empty())
            .or(self.name)
            .map(str::to_owned)
            .or_else(|| naming::of_command(&command))
            .or_else(|| url.as_deref().and_then(naming::of_url))
            .unwrap_or_else(|| "server".to_owned());
        let version = self.name.and_then(|name| self.inputs.merged.setting(&["servers", name, "version"]));
        let version = version.or_else(|| self.inputs.merged.setting(&["version"]));
        let mut server = ServerSettings {
            name,
            version: version.and_then(|setting| setting.value.as_str()).map(str::to_owned),
            command,
            url,
            env,
            headers,
            files,
            cwd_project: self.text("cwd") == Some("project"),
            pass_env: self
                .setting("pass_env")
                .and_then(|setting| setting.value.as_array())
                .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
                .unwrap_or_default(),
            rootless: self.setting("rootless").is_some_and(|setting| setting.value == Value::Bool(true)),
            connect_timeout: self.seconds("connect_timeout_sec"),
            start_timeout: self.seconds("start_timeout_sec"),
            line: named.line(),
            base: PathBuf::from(named.base(self.inputs.cwd)),
            origins,
            warnings: Vec::new(),
        };
        self.check_placeholders(&server, warnings)?;
        self.point_out_real_paths(&server, warnings);
        all_warnings.extend(own.iter().cloned());
        server.warnings = own;
        Ok(server)
    }

    /// A command and a URL make a launched server only when they were written in one place.
    fn one_place(&self, command: Option<&'p Setting>, url: Option<&'p Setting>) -> Result<Origin, ConfigError> {
        match (command, url) {
            (Some(command), Some(url)) if !command.origin.same_place(&url.origin) => {
                let message = format!(
                    "`{}` ({}) and `{}` ({}) come from different places",
                    self.dotted("command"),
                    command.origin,
                    self.dotted("url"),
                    url.origin
                );
                Err(ConfigError::new(message).hinting(
                    "to start a server and wait for its URL, give both in one place: --start with --url, or both in one file",
                ))
            }
            (Some(setting), _) | (None, Some(setting)) => Ok(setting.origin.clone()),
            (None, None) => {
                let name = self.name.unwrap_or_default();
                let first = self
                    .inputs
                    .merged
                    .below(&["servers", name])
                    .map(|(_, setting)| setting)
                    .min_by_key(|one| one.order);
                let origin = first.map_or(Origin::Default, |setting| setting.origin.clone());
                Err(ConfigError::at(&origin, format!("`servers.{name}` has neither `command` nor `url`"))
                    .hinting("add the command that starts it, or the url it answers on"))
            }
        }
    }

    fn env(&self, origins: &mut BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ConfigError> {
        let mut env = BTreeMap::new();
        for (name, setting) in mapping(self.inputs.merged, self.name, "env") {
            let value = setting.value.as_str().unwrap_or_default();
            if name.contains(['=', '\0']) || value.contains('\0') {
                let message =
                    format!("`{}`: a name without `=` and a value without NUL are expected", self.dotted("env"));
                return Err(ConfigError::at(&setting.origin, message));
            }
            origins.insert(format!("env.{name}"), setting.origin.to_string());
            env.insert(name.to_owned(), value.to_owned());
        }
        Ok(env)
    }

    fn headers(&self, origins: &mut BTreeMap<String, String>) -> Result<Vec<(String, String)>, ConfigError> {
        let key = self.dotted("headers");
        let said = said(self.inputs.merged, self.name, "headers");
        for (at, (name, setting)) in said.iter().enumerate() {
            let token = |char: char| char.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char);
            if !name.chars().all(token) {
                return Err(ConfigError::at(&setting.origin, format!("`{key}`: {name:?} is no header name"))
                    .hinting("a header is written `Name: value`"));
            }
            if setting.value.as_str().is_some_and(|value| value.contains(['\r', '\n', '\0'])) {
                return Err(ConfigError::at(&setting.origin, format!("`{key}.{name}`: a header's value is one line")));
            }
            let repeats = |(earlier, lower): &&(&str, &Setting)| {
                earlier.eq_ignore_ascii_case(name) && lower.rank == setting.rank && lower.origin.line().is_some()
            };
            if let Some((earlier, _)) = said[..at].iter().find(repeats) {
                let message = format!("`{key}.{name}` repeats `{earlier}`: header names know no case");
                return Err(ConfigError::at(&setting.origin, message).hinting("keep one of them"));
            }
        }
        let effective = mapping(self.inputs.merged, self.name, "headers").into_iter();
        Ok(effective
            .map(|(name, setting)| {
                origins.insert(format!("headers.{name}"), setting.origin.to_string());
                (name.to_owned(), setting.value.as_str().unwrap_or_default().to_owned())
            })
            .collect())
    }
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
