//! A server's settings with everything filled in, just before it is started.

use std::collections::BTreeMap;

use super::{
    error::ConfigError,
    paths::{absolutize, absolutize_program, inside},
    placeholders::{Expanded, expand},
    secrets::hides_reference,
    settings::{ServerSettings, StagedFile},
};

/// What is started or connected to. Nothing in it may be shown as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpandedServer {
    /// Program and arguments; relative paths that exist are absolute. Empty for a bare URL.
    pub command: Vec<String>,
    /// The endpoint.
    pub url: Option<String>,
    /// The configured part of the environment.
    pub env: Vec<(String, String)>,
    /// HTTP headers in order.
    pub headers: Vec<(String, String)>,
    /// Files to stage, with real paths.
    pub files: Vec<StagedFile>,
    /// Values of `${VAR}` that must be scrubbed from every output.
    pub secrets: Vec<String>,
}

/// Fills in placeholders (`values`: `sandbox`, `dir`, `sandbox_home`) and variables.
///
/// # Errors
/// A variable that is not set, or a staged path that leaves the sandbox once filled in; the error names the setting.
pub fn expand_server(
    server: &ServerSettings,
    values: &BTreeMap<&str, String>,
    env: &BTreeMap<String, String>,
) -> Result<ExpandedServer, ConfigError> {
    let mut secrets = Vec::new();
    let mut fill = |key: &str, text: &str| -> Result<String, ConfigError> {
        let Expanded { text, from_env, variables } =
            expand(text, values, env).map_err(|error| in_setting(server, key, &error))?;
        let name = key.rsplit('.').next().unwrap_or(key);
        let pairs = variables.iter().zip(from_env);
        secrets
            .extend(pairs.filter(|(variable, value)| hides_reference(name, variable, value)).map(|(_, value)| value));
        Ok(text)
    };
    let mut command = Vec::with_capacity(server.command.len());
    for (index, word) in server.command.iter().enumerate() {
        let filled = fill(if index == 0 { "command" } else { "args" }, word)?;
        let real =
            if index == 0 { absolutize_program(&filled, &server.base) } else { absolutize(&filled, &server.base) };
        command.push(real.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(filled));
    }
    let url = server.url.as_ref().map(|url| fill("url", url)).transpose()?;
    let mut variables = Vec::with_capacity(server.env.len());
    for (name, value) in &server.env {
        variables.push((name.clone(), fill(&format!("env.{name}"), value)?));
    }
    let mut headers = Vec::with_capacity(server.headers.len());
    for (name, value) in &server.headers {
        let key = format!("headers.{name}");
        let value = fill(&key, value)?;
        if value.contains(['\r', '\n', '\0']) {
            let error = ConfigError::new("a header's value is one line, and the variable holds several");
            return Err(in_setting(server, &key, &error));
        }
        headers.push((name.clone(), value));
    }
    let mut files = Vec::with_capacity(server.files.len());
    for file in &server.files {
        // The path was checked as written; a variable in it could still lead out.
        let below = file.path.split_once('}').map_or("", |(_, below)| below);
        let below = expand(below, values, env).map_err(|error| in_setting(server, "files", &error))?.text;
        let below = below.strip_prefix(['/', '\\']).unwrap_or(&below);
        inside(below)
            .map_err(|why| in_setting(server, "files", &ConfigError::new(format!("{:?} {why}", file.path))))?;
        files.push(StagedFile { path: fill("files", &file.path)?, content: fill("files", &file.content)? });
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    Ok(ExpandedServer { command, url, env: variables, headers, files, secrets })
}

fn in_setting(server: &ServerSettings, key: &str, error: &ConfigError) -> ConfigError {
    let origin = server.origins.get(key).map(String::as_str).unwrap_or_default();
    let place = origin.strip_prefix("flag ").unwrap_or(origin);
    ConfigError::at_text(place, format!("`{key}` of {}: {error}", server.name))
        .maybe_hinting(error.hint().map(str::to_owned))
}
