//! What a report repeats of the settings: command, URL, environment and headers as written, the configuration's standing.

use std::{
    collections::HashSet,
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{
    config::{self, Settings, settings::ServerSettings},
    report::{
        build::Facts,
        result::{ConfigFacts, DiffFacts, SandboxFacts, ServerFacts},
    },
    run::SandboxReport,
    text::Redactor,
};

/// Collects them. The redactor knows the secrets alone: placeholders are still unexpanded here.
pub(super) fn facts(
    server: &ServerSettings,
    settings: &Settings,
    sandbox: &SandboxReport,
    started: SystemTime,
    took: Duration,
    secrets: &Redactor,
) -> Facts {
    let clean = |text: &String| secrets.apply(text);
    let shown = |name: &str, value: &String| match settings.output.redact {
        true => clean(&config::shown(name, value)),
        false => value.clone(),
    };
    let command = match settings.output.redact {
        true => config::shown_arguments(&server.command),
        false => server.command.clone(),
    };
    let mut env: std::collections::BTreeMap<_, _> =
        server.env.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect();
    if !server.command.is_empty() {
        env.insert("SEALMARK_CANARY".to_owned(), "<canary>".to_owned());
        env.insert("SEALMARK_FAKE_API_KEY".to_owned(), "<canary>".to_owned());
    }
    let transport = match (server.command.is_empty(), &server.url) {
        (true, _) => "http",
        (false, Some(_)) => "http-launched",
        (false, None) => "stdio",
    };
    let standing = &settings.standing;
    Facts {
        server: ServerFacts {
            transport: transport.to_owned(),
            command: command.iter().map(clean).collect(),
            url: server.url.as_ref().map(|url| shown("url", url)),
            env,
            headers: server.headers.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect(),
            ..ServerFacts::default()
        },
        config: ConfigFacts {
            hash: standing.hash.clone(),
            standard: standing.standard,
            standard_diff: standing
                .diff
                .iter()
                .map(|diff| DiffFacts {
                    key: diff.key.clone(),
                    standard: diff.standard.clone(),
                    effective: diff.effective.clone(),
                    origin: diff.origin.clone(),
                })
                .collect(),
            path: settings.path.as_deref().map(relative),
            line: server.line,
            locked: standing.locked.clone(),
        },
        sandbox: SandboxFacts {
            used: sandbox.used,
            dir: sandbox.used.then(|| {
                let real = sandbox.dir.clone().filter(|_| sandbox.kept.is_some() || !settings.output.redact);
                real.unwrap_or_else(|| "{sandbox_dir}".to_owned())
            }),
            cleanup: match (&sandbox.kept, &sandbox.not_removed) {
                (Some(_), _) => "kept".to_owned(),
                (None, Some(why)) => format!("not removed: {why}"),
                (None, None) => "cleaned up".to_owned(),
            },
            inherited: sandbox.inherited.clone(),
            withheld: sandbox.withheld.clone(),
        },
        started_at: timestamp(started),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        warnings: about(server, settings).map(clean).collect(),
        not_covered: settings.not_covered_extra.clone(),
        interrupted: false,
        stderr_file: None,
    }
}

/// The warnings about everything and those about this server.
fn about<'s>(server: &'s ServerSettings, settings: &'s Settings) -> impl Iterator<Item = &'s String> {
    let of_one: HashSet<&String> = settings.servers.iter().flat_map(|server| &server.warnings).collect();
    settings.warnings.iter().filter(move |warning| !of_one.contains(warning) || server.warnings.contains(warning))
}

/// The path as seen from the working directory, so that reports of two checkouts agree.
fn relative(path: &Path) -> String {
    seen_from(path, &std::env::current_dir().unwrap_or_default())
}

fn seen_from(path: &Path, here: &Path) -> String {
    if let Ok(below) = path.strip_prefix(here) {
        return below.display().to_string();
    }
    let shared = here.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    // Nothing but the root in common: another place altogether.
    if shared < 2 {
        return path.display().to_string();
    }
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect::<PathBuf>().display().to_string()
}

/// RFC 3339 in UTC with milliseconds.
fn timestamp(time: SystemTime) -> String {
    chrono::DateTime::<chrono::Utc>::from(time).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_working_directory() {
        for (path, expected) in [
            ("/home/me/project/sealmark.yaml", "sealmark.yaml"),
            ("/home/me/project/ci/s.yaml", "ci/s.yaml"),
            ("/home/me/other/s.yaml", "../other/s.yaml"),
            ("/home/me/project/../other/s.yaml", "../other/s.yaml"),
            ("/etc/s.yaml", "/etc/s.yaml"),
        ] {
            assert_eq!(seen_from(Path::new(path), Path::new("/home/me/project")), expected);
        }
    }
}
