//! What is wrong, or odd, about one server.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

use super::{
    error::{ConfigError, Origin},
    paths,
    placeholders::{self, Meaning, meaning, pieces},
    server::Part,
    settings::{ServerSettings, StagedFile},
};

impl Part<'_> {
    fn error(&self, key: &str, message: &str) -> ConfigError {
        let origin = self.setting(key).map_or(Origin::Default, |setting| setting.origin.clone());
        ConfigError::at(&origin, format!("`{}`: {message}", self.dotted(key)))
    }

    pub(super) fn check_command(&self, command: &[String], warnings: &mut Vec<String>) -> Result<(), ConfigError> {
        let Some(program) = command.first() else { return Ok(()) };
        if program.trim().is_empty() {
            return Err(self.error("command", "is empty").hinting("name the program, for example `node`"));
        }
        if let Some(at) = command.iter().position(|word| word.contains('\0')) {
            return Err(self.error(if at == 0 { "command" } else { "args" }, "holds a NUL character"));
        }
        if program.contains(' ') && !program.contains(['/', '\\']) && command.len() == 1 {
            let origin = &self.setting("command").map_or(Origin::Default, |setting| setting.origin.clone());
            warnings.push(format!(
                "{origin}: `{}` is one program's name and no command line; put the rest into `args`.",
                self.dotted("command")
            ));
        }
        Ok(())
    }

    pub(super) fn check_url(&self, url: &str) -> Result<(), ConfigError> {
        if url.starts_with(['$', '{']) {
            return Ok(());
        }
        let lower = url.to_lowercase();
        let rest = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://"));
        let hint = "write the whole endpoint, for example http://localhost:8000/mcp";
        match rest {
            Some(rest) if !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']) => {}
            _ => return Err(self.error("url", "expected an http:// or https:// URL with a host").hinting(hint)),
        }
        if url.chars().any(|char| char.is_whitespace() || char.is_control()) {
            return Err(self.error("url", "holds a space or a control character").hinting(hint));
        }
        // A part that a variable fills in, or that `config show` has hidden, is judged when it is known.
        if !url.contains(['$', '{', '<'])
            && let Err(error) = reqwest::Url::parse(url)
        {
            return Err(self.error("url", &format!("is no URL: {error}")).hinting(hint));
        }
        Ok(())
    }

    pub(super) fn files(&self, command: &[String]) -> Result<Vec<StagedFile>, ConfigError> {
        let Some(setting) = self.setting("files") else { return Ok(Vec::new()) };
        let member = |file: &Value, key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let files: Vec<StagedFile> = setting
            .value
            .as_array()
            .map(|files| {
                files
                    .iter()
                    .map(|file| StagedFile { path: member(file, "path"), content: member(file, "content") })
                    .collect()
            })
            .unwrap_or_default();
        if files.is_empty() {
            return Ok(files);
        }
        if command.is_empty() {
            return Err(self
                .error("files", "files can be staged only for a server that sealmark starts")
                .hinting("add `command`, or remove `files`"));
        }
        if !self.inputs.sandboxed {
            return Err(self
                .error("files", "files are staged in the sandbox, which is switched off")
                .hinting("remove `files`, or run with the sandbox"));
        }
        let mut seen = BTreeSet::new();
        for file in &files {
            if !seen.insert(file.path.replacen("{dir}", "{sandbox}", 1)) {
                return Err(self.error("files", &format!("{:?} is staged twice", file.path)));
            }
        }
        Ok(files)
    }

    pub(super) fn check_placeholders(
        &self,
        server: &ServerSettings,
        warnings: &mut Vec<String>,
    ) -> Result<(), ConfigError> {
        for (key, text) in texts_of(server) {
            let origin = server.origins.get(key.split('[').next().unwrap_or(&key));
            let at = origin.map(String::as_str).unwrap_or_default();
            let dotted = self.dotted(&key);
            let place = at.strip_prefix("flag ").unwrap_or(at);
            pieces(text).map_err(|error| {
                ConfigError::at_text(place, format!("`{dotted}`: {error}"))
                    .maybe_hinting(error.hint().map(str::to_owned))
            })?;
            // Once per word, however often it stands there.
            for word in placeholders::placeholders_of(text).into_iter().collect::<BTreeSet<_>>() {
                match meaning(word) {
                    Meaning::Known if server.command.is_empty() => {
                        let message = format!("`{dotted}`: {{{word}}} has no value: sealmark starts no server here");
                        return Err(
                            ConfigError::at_text(place, message).hinting("write the real value, or add `command`")
                        );
                    }
                    Meaning::Known => {}
                    Meaning::Needs(what) => {
                        let message = format!("`{dotted}`: {{{word}}} needs {what}, which this version does not have");
                        return Err(ConfigError::at_text(place, message).hinting("write the real value in its place"));
                    }
                    // A staged file is the user's text: braces in it are its own.
                    Meaning::Unknown(_) if key.starts_with("files") => {}
                    Meaning::Unknown(near) => {
                        let near = near.map(|near| format!(" Did you mean {{{near}}}?")).unwrap_or_default();
                        warnings.push(format!(
                            "{place}: `{dotted}`: {{{word}}} is no placeholder; the server receives it as written.{near}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn point_out_real_paths(&self, server: &ServerSettings, warnings: &mut Vec<String>) {
        // A path may hide behind a variable; what is not set says nothing yet.
        let filled = |text: &str| {
            placeholders::expand(text, &BTreeMap::new(), self.inputs.env).map(|expanded| expanded.text).ok()
        };
        let command: Vec<String> = server.command.iter().map(|word| filled(word).unwrap_or_default()).collect();
        let env: Vec<(&str, String)> =
            server.env.iter().filter_map(|(name, value)| Some((name.as_str(), filled(value)?))).collect();
        if command.is_empty() {
            return;
        }
        let pairs = env.iter().map(|(name, value)| (*name, value.as_str()));
        for (key, value) in paths::real_paths(&command, pairs, Path::exists) {
            let at = server.origins.get(&key).map(|origin| format!("{origin}: ")).unwrap_or_default();
            let what = match key.split_once('.') {
                Some((_, name)) => format!("`{}` {name}", self.dotted("env")),
                None => format!("`{}`", self.dotted("args")),
            };
            warnings.push(format!(
                "{at}{what} points at a real path on this machine; calls may read or change what is there. Use {} to keep it in the sandbox.",
                paths::sandboxed(&value)
            ));
        }
    }
}

/// Every text of a server that may hold placeholders, with its key.
fn texts_of(server: &ServerSettings) -> Vec<(String, &str)> {
    let mut texts: Vec<(String, &str)> = Vec::new();
    for (index, word) in server.command.iter().enumerate() {
        texts.push((if index == 0 { "command".to_owned() } else { format!("args[{}]", index - 1) }, word));
    }
    texts.extend(server.env.iter().map(|(name, value)| (format!("env.{name}"), value.as_str())));
    texts.extend(server.url.as_deref().map(|url| ("url".to_owned(), url)));
    texts.extend(server.headers.iter().map(|(name, value)| (format!("headers.{name}"), value.as_str())));
    for (index, file) in server.files.iter().enumerate() {
        texts.push((format!("files[{index}].path"), &file.path));
        texts.push((format!("files[{index}].content"), &file.content));
    }
    texts
}
