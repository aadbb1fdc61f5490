//! Settings → what is really started: placeholders filled in, files staged, environment made.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use super::{Failure, Outside, launch::Launch};
use crate::{
    config::{self, Settings, settings::ServerSettings},
    model::TokenKind,
    session::{HttpTarget, Link, Tokens},
    targets::{Sandbox, Spawn},
};

/// What is started and how it is reached.
pub(super) struct Prepared {
    pub(super) link: Link,
    pub(super) launch: Option<Launch>,
    pub(super) inherited: Vec<String>,
    pub(super) secrets: Vec<String>,
    pub(super) sandboxed: bool,
}

/// Variables that let their holder publish; a server under test never gets them (see `docs/architecture.md`).
const PUBLISHING: &[&str] = &["GITHUB_TOKEN", "GH_TOKEN", "CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD"];

/// Whether that variable could publish in our user's name.
fn publishes(name: &str) -> bool {
    PUBLISHING.contains(&name)
        || (name.starts_with("ACTIONS_") && (name.contains("TOKEN") || name.starts_with("ACTIONS_ID_TOKEN_REQUEST_")))
        || name.ends_with("_GITLAB_TOKEN")
        || name == "GITLAB_TOKEN"
        || name.starts_with("INPUT_")
        || (name.starts_with("SEALMARK_") && name.contains("TOKEN"))
}

struct Filler<'a> {
    values: BTreeMap<&'static str, String>,
    env: BTreeMap<String, String>,
    secrets: &'a mut Vec<String>,
}

impl Filler<'_> {
    fn fill(&mut self, text: &str) -> Result<String, Failure> {
        let expanded = config::expand(text, &self.values, &self.env)
            .map_err(|error| Failure::harness(&error).with_hint(error.hint()))?;
        self.secrets.extend(expanded.from_env);
        Ok(expanded.text)
    }
}

pub(super) fn prepare(
    server: &ServerSettings,
    settings: &Settings,
    outside: &Outside,
    tokens: &Tokens,
    sandbox: Option<&Sandbox>,
) -> Result<Prepared, Failure> {
    let mut secrets = Vec::new();
    let mut filler = Filler { values: values(sandbox), env: texts(&outside.env), secrets: &mut secrets };
    let launched = server.url.is_some() && !server.command.is_empty();
    let sandboxed = sandbox.is_some() && !launched;
    if let Some(sandbox) = sandbox {
        stage(server, sandbox, &mut filler)?;
    }
    let http = match &server.url {
        Some(url) => {
            let mut headers = Vec::new();
            for (name, value) in &server.headers {
                headers.push((name.clone(), filler.fill(value)?));
            }
            Some(HttpTarget { url: filler.fill(url)?, headers })
        }
        None => None,
    };
    let mut inherited = Vec::new();
    let spawn = if server.command.is_empty() {
        None
    } else {
        let mut env: BTreeMap<OsString, OsString> = match sandbox.filter(|_| sandboxed) {
            Some(sandbox) => {
                let environment = sandbox.environment(&outside.env);
                inherited = environment.inherited;
                environment.vars.into_iter().collect()
            }
            None => {
                let kept = outside.env.iter().filter(|(name, _)| !name.to_str().is_some_and(publishes));
                kept.map(|(name, value)| (name.clone(), value.clone())).collect()
            }
        };
        for (name, value) in &server.env {
            env.insert(name.into(), filler.fill(value)?.into());
        }
        env.insert("SEALMARK_CANARY".into(), tokens.value(TokenKind::Canary).into());
        env.insert("SEALMARK_FAKE_API_KEY".into(), tokens.value(TokenKind::FakeApiKey).into());
        let mut words = Vec::new();
        for word in &server.command {
            let filled = filler.fill(word)?;
            let absolute = config::absolutize(&filled, &server.base);
            words.push(absolute.map_or_else(|| OsString::from(filled), PathBuf::into_os_string));
        }
        let program = words.remove(0);
        let cwd = match sandbox.filter(|_| sandboxed && !server.cwd_project) {
            Some(sandbox) => sandbox.work().to_owned(),
            None => server.base.clone(),
        };
        Some(Spawn {
            program,
            args: words,
            cwd,
            env: env.into_iter().collect(),
            low_priority: false,
            marker: tokens.value(TokenKind::Canary).to_owned(),
        })
    };
    let _ = settings;
    let (link, launch) = match (spawn, http) {
        (Some(spawn), Some(target)) => (Link::Http(target.clone()), Some(Launch { spawn, url: target.url })),
        (Some(spawn), None) => (Link::Stdio(spawn), None),
        (None, Some(target)) => (Link::Http(target), None),
        (None, None) => return Err(Failure::harness("the server has neither a command nor a url")),
    };
    Ok(Prepared { link, launch, inherited, secrets, sandboxed })
}

fn values(sandbox: Option<&Sandbox>) -> BTreeMap<&'static str, String> {
    let Some(sandbox) = sandbox else { return BTreeMap::new() };
    let work = sandbox.work().display().to_string();
    BTreeMap::from([
        ("sandbox", work.clone()),
        ("dir", work),
        ("sandbox_home", sandbox.home().display().to_string()),
    ])
}

/// The variables that are valid text; others cannot be referred to from a configuration.
fn texts(env: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let text = |value: &OsString| value.to_str().map(str::to_owned);
    env.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

fn stage(server: &ServerSettings, sandbox: &Sandbox, filler: &mut Filler<'_>) -> Result<(), Failure> {
    for file in &server.files {
        let path = PathBuf::from(filler.fill(&file.path)?);
        let inside = [sandbox.work(), sandbox.home()].iter().any(|root| path.starts_with(root));
        let plain = path.components().all(|part| part != Component::ParentDir);
        if !inside || !plain {
            let message = format!("server.files: {} does not stay inside the sandbox", file.path);
            return Err(Failure::harness(&message).with_hint(Some("start the path with {sandbox}/ or {sandbox_home}/".to_owned())));
        }
        let content = filler.fill(&file.content)?;
        write(&path, &content)
            .map_err(|error| Failure::harness(&format!("server.files: {} cannot be written: {error}", file.path)))?;
    }
    Ok(())
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)
}

#[cfg(test)]
mod tests {
    use super::publishes;

    #[test]
    fn publishing_tokens_are_known_by_name() {
        for name in ["GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "CI_JOB_TOKEN", "MY_GITLAB_TOKEN", "INPUT_TOKEN"] {
            assert!(publishes(name), "{name}");
        }
        for name in ["PATH", "API_TOKEN", "GITHUB_SHA", "ACTIONS_CACHE_URL", "MCP_TOKEN"] {
            assert!(!publishes(name), "{name}");
        }
    }
}
