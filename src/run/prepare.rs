//! Settings → what is really started: placeholders filled in, files staged, environment made.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use super::{Failure, Outside, launch::Launch, publishing};
use crate::{
    config::{self, ExpandedServer, settings::ServerSettings},
    model::TokenKind,
    session::{HttpTarget, Link, Tokens},
    targets::{Sandbox, Spawn},
};

/// What is started and how it is reached.
pub(super) struct Prepared {
    pub(super) link: Link,
    pub(super) launch: Option<Launch>,
    pub(super) inherited: Vec<String>,
    pub(super) withheld: Vec<String>,
    pub(super) secrets: Vec<String>,
    pub(super) sandboxed: bool,
}

pub(super) fn prepare(
    server: &ServerSettings,
    outside: &Outside,
    tokens: &Tokens,
    sandbox: Option<&Sandbox>,
) -> Result<Prepared, Failure> {
    let expanded = config::expand_server(server, &values(sandbox), &texts(&outside.env))
        .map_err(|error| Failure::harness(&error).with_hint(error.hint().map(str::to_owned)))?;
    let ExpandedServer { command, url, env, headers, files, mut secrets } = expanded;
    for file in &files {
        write(Path::new(&file.path), &file.content)
            .map_err(|error| Failure::harness(&format!("server.files: {} cannot be written: {error}", file.path)))?;
    }
    // A server launched for its URL runs in the user's own surroundings; its sandbox only holds staged files.
    let own = sandbox.filter(|_| url.is_none());
    let sandboxed = own.is_some();
    let (mut inherited, mut withheld) = (Vec::new(), Vec::new());
    let spawn = command.split_first().map(|(program, args)| {
        let given = publishing::withhold(&outside.env, &server.pass_env);
        // What the user gives back is a token all the same: no report quotes it.
        secrets.extend(given.passed_secrets());
        let names = given.passed.keys().map(|name| format!("{} (server.pass_env)", name.to_string_lossy()));
        let mut vars: BTreeMap<OsString, OsString> = match own {
            Some(sandbox) => {
                let environment = sandbox.environment(&given.vars);
                (inherited, withheld) = (environment.inherited, environment.withheld);
                environment.vars.into_iter().collect()
            }
            None => {
                withheld = given.withheld;
                given.vars
            }
        };
        inherited.extend(names);
        withheld.extend(given.missing.iter().map(|name| format!("{name} (is not set)")));
        vars.extend(given.passed);
        vars.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        for token in [TokenKind::Canary, TokenKind::FakeApiKey] {
            vars.insert(variable(token).into(), tokens.value(token).into());
        }
        Spawn {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: own.filter(|_| !server.cwd_project).map_or_else(|| server.base.clone(), |own| own.work().to_owned()),
            env: vars.into_iter().collect(),
            low_priority: false,
            marker: own
                .map_or_else(|| tokens.value(TokenKind::Probe).to_owned(), |own| own.dir().display().to_string()),
        }
    });
    let http = url.map(|url| HttpTarget { url, headers });
    let (link, launch) = match (spawn, http) {
        (Some(spawn), Some(target)) => (Link::Http(target.clone()), Some(Launch { spawn, url: target.url })),
        (Some(spawn), None) => (Link::Stdio(spawn), None),
        (None, Some(target)) => (Link::Http(target), None),
        (None, None) => return Err(Failure::harness("the server has neither a command nor a url")),
    };
    Ok(Prepared { link, launch, inherited, withheld, secrets, sandboxed })
}

/// The variable that carries a token into the server's environment.
fn variable(token: TokenKind) -> &'static str {
    match token {
        TokenKind::Canary => "SEALMARK_CANARY",
        TokenKind::FakeApiKey | TokenKind::Probe => "SEALMARK_FAKE_API_KEY",
    }
}

fn values(sandbox: Option<&Sandbox>) -> BTreeMap<&'static str, String> {
    let Some(sandbox) = sandbox else { return BTreeMap::new() };
    let work = sandbox.work().display().to_string();
    BTreeMap::from([("sandbox", work.clone()), ("dir", work), ("sandbox_home", sandbox.home().display().to_string())])
}

/// The variables that are valid text; others cannot be referred to from a configuration.
fn texts(env: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let text = |value: &OsString| value.to_str().map(str::to_owned);
    env.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)
}
