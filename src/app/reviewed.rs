//! A committed snapshot of what servers offer: what a run is held against, and the command that accepts what changed.

use std::path::{Path, PathBuf};

use super::{Exit, console};
use crate::{
    compare::{Comparison, ServerComparison, Snapshot, surface_drift},
    report::RunResult,
    text::{Redactor, excerpt},
};

/// A committed snapshot and what was read from it.
#[derive(Debug)]
pub(super) struct Reviewed {
    path: PathBuf,
    snapshot: Snapshot,
}

impl Reviewed {
    /// Reads a snapshot before anything is started.
    pub(super) fn read(path: &Path) -> Result<Self, Exit> {
        match Snapshot::read_file(path) {
            Ok(snapshot) => Ok(Self { path: path.to_owned(), snapshot }),
            Err(error) => Err(console::mistake(&error, Some(error.hint()))),
        }
    }

    /// Whether somebody reviewed that server.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.snapshot.servers.contains_key(name)
    }

    /// Puts what changed into a comparison, in the place of what a baseline tells.
    pub(super) fn merge(&self, comparison: &mut Comparison, runs: &[RunResult]) {
        for run in runs {
            let known = comparison.servers.iter().position(|server| server.name == run.name);
            let at = known.unwrap_or(comparison.servers.len());
            if known.is_none() {
                // Only a baseline tells of its grades.
                let server = ServerComparison { name: run.name.clone(), without_grades: true, ..Default::default() };
                comparison.servers.push(server);
            }
            let (server, file) = (&mut comparison.servers[at], self.path.display());
            let before = self.snapshot.servers.get(&run.name);
            // Where the snapshot does not hold it, a baseline may.
            server.without_surface = before.is_none() && (known.is_none() || server.without_surface);
            match (before, run.server.offers.as_deref()) {
                (Some(before), Some(after)) => {
                    if server.before.is_some() {
                        let note = format!("what the server offers was compared with {file} and not with the baseline");
                        server.snapshot_notes.push(note);
                    }
                    server.drift = surface_drift(before, after);
                }
                // What a baseline tells of it, if anything, still holds.
                (None, Some(_)) => server.snapshot_notes.push(format!(
                    "{file} does not hold {}: it holds {} (servers are matched by name: --name, or `name:` in the configuration)",
                    run.name,
                    self.names()
                )),
                (_, None) => {
                    server.drift.clear();
                    server.without_surface = true;
                    server.snapshot_notes.push(format!("the server was not met, so nothing was compared with {file}"));
                }
            }
        }
    }

    /// The first few servers that it holds.
    fn names(&self) -> String {
        const SHOWN: usize = 3;
        let servers = &self.snapshot.servers;
        let mut names: Vec<String> = servers.keys().take(SHOWN).map(|name| excerpt(name, 80)).collect();
        match servers.len() {
            0 => names.push("none".to_owned()),
            many if many > SHOWN => names.push(format!("and {} more", many - SHOWN)),
            _ => {}
        }
        names.join(", ")
    }

    /// Whether there is something to accept: a change, or a server that the snapshot does not hold.
    pub(super) fn differs(&self, runs: &[RunResult]) -> bool {
        runs.iter().filter_map(|run| Some((&run.name, run.server.offers.as_deref()?))).any(|(name, after)| {
            self.snapshot.servers.get(name).is_none_or(|before| !surface_drift(before, after).is_empty())
        })
    }

    /// The line that says how to accept it.
    pub(super) fn acceptance(&self, secrets: &[String]) -> String {
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let command = accepting(&words, &self.path);
        format!("surface: accept it with: {}", Redactor::new(&[], secrets, true).apply(&command))
    }
}

/// Flags that say which servers there are, all with a value.
const NAMING: [&str; 10] = [
    "--config",
    "--profile",
    "--server",
    "--start",
    "--url",
    "--header",
    "--bearer",
    "--name",
    "--start-timeout",
    "--connect-timeout",
];

/// The command that accepts what changed, with the words of an invocation that name its servers.
fn accepting(words: &[String], path: &Path) -> String {
    let mut kept = vec!["sealmark".to_owned(), "surface".to_owned()];
    let mut rest = words.iter();
    let mut tail = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            tail.push(word.clone());
            tail.extend(rest.by_ref().cloned());
            break;
        }
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if !NAMING.contains(&flag) {
            continue;
        }
        let value = match word.split_once('=') {
            Some((_, value)) => Some(value.to_owned()),
            None => rest.next().cloned(),
        };
        let Some(value) = value else { break };
        // A token that is written out stays out of the log.
        let written_out = matches!(flag, "--bearer" | "--header") && !value.contains("${");
        kept.extend([flag.to_owned(), if written_out { "…".to_owned() } else { value }]);
    }
    kept.extend(["--out".to_owned(), path.display().to_string()]);
    kept.extend(tail);
    shell_words::join(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(line: &str) -> String {
        super::accepting(&shell_words::split(line).unwrap(), Path::new("s.json"))
    }

    #[test]
    fn the_accepting_command_names_the_same_servers() {
        assert_eq!(accepting("run --surface s.json"), "sealmark surface --out s.json");
        assert_eq!(
            accepting("run --fail-on drift --start 'node x.js --y' --config=a.yaml --server b"),
            "sealmark surface --start 'node x.js --y' --config a.yaml --server b --out s.json"
        );
        assert_eq!(accepting("run -- node x.js --config y"), "sealmark surface --out s.json -- node x.js --config y");
    }

    #[test]
    fn a_token_that_was_written_out_is_not_repeated() {
        let line = accepting("run --url http://x/mcp --bearer hunter2 --header 'Authorization: Bearer ${TOKEN}'");
        assert!(!line.contains("hunter2") && line.contains("${TOKEN}"), "{line}");
    }
}
