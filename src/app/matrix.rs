//! `ci matrix`: the configured servers as a matrix of jobs.

use std::{collections::BTreeMap, io, path::Path};

use super::{Exit, config_cmd, console};
use crate::{
    ci::jobs,
    cli::{CiMatrixArgs, CiWord},
    compare::{self, FileError, ReadError},
    config::Resolved,
    plan,
    text::is_hidden,
};

/// Runs the command.
pub fn matrix(args: &CiMatrixArgs) -> Exit {
    let resolved = match config_cmd::configured(&args.source) {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    let gitlab = std::env::var_os("GITLAB_CI").is_some_and(|value| value == "true");
    let platform = args.platform.unwrap_or(if gitlab { CiWord::Gitlab } else { CiWord::Github });
    let limit = match platform {
        CiWord::Github => jobs::GITHUB_JOBS,
        CiWord::Gitlab => jobs::GITLAB_JOBS,
    };
    let wanted = args.jobs.map_or(limit, usize::from);
    if wanted > limit {
        console::line(&format!("error: --jobs {wanted}: a matrix has at most {limit} jobs there"));
        console::line("hint: several servers share a job when there are more servers than jobs");
        return Exit::Usage;
    }
    let words = match words(&resolved, &args.source.server) {
        Ok(words) => words,
        Err(name) => {
            console::line(&format!("error: the name {name:?} cannot stand in a list of servers"));
            console::line(
                "hint: rename it: in a matrix a name is not `all`, and without commas, outer spaces and hidden characters",
            );
            return Exit::Usage;
        }
    };
    let took = match args.baseline.as_deref().map(durations).transpose() {
        Ok(took) => took.unwrap_or_default(),
        Err(error) => return console::mistake(&error, Some(&error.hint())),
    };
    let servers: Vec<(&str, Option<u64>)> = words.iter().map(|word| (word.as_str(), took.get(word).copied())).collect();
    let dealt: Vec<Vec<&str>> = plan::balanced(&servers, wanted)
        .into_iter()
        .map(|job| job.into_iter().map(|at| servers[at].0).collect())
        .collect();
    console::answer(&match platform {
        CiWord::Github => jobs::github_matrix(&dealt),
        CiWord::Gitlab => jobs::gitlab_pipeline(&dealt, args.source.config.as_deref(), &args.source.server),
    })
}

/// What `--server` calls the servers that were chosen; the first one that it cannot call, otherwise.
fn words<'r>(resolved: &'r Resolved, chosen: &[String]) -> Result<Vec<String>, &'r str> {
    let names: Vec<&str> = resolved.settings.servers.iter().map(|server| server.name.as_str()).collect();
    if let [name] = names[..]
        && !resolved.server_names.iter().any(|key| key == name)
    {
        // The one `server:`, or one that a variable renames: the same choice finds it again.
        return Ok(vec![if chosen.is_empty() { "all".to_owned() } else { chosen.join(",") }]);
    }
    let plain = |name: &str| {
        !name.is_empty() && name != "all" && name.trim() == name && !name.contains(',') && !name.chars().any(is_hidden)
    };
    match names.iter().find(|name| !plain(name)) {
        Some(name) => Err(name),
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

/// How long each server took, from an earlier report. None in the first run, when there is no report yet.
fn durations(path: &Path) -> Result<BTreeMap<String, u64>, FileError> {
    match compare::read_file(path) {
        Ok(runs) => {
            Ok(runs.into_iter().filter(|run| !run.interrupted).map(|run| (run.name, run.duration_ms)).collect())
        }
        Err(FileError { why: ReadError::Io(error), .. }) if error.kind() == io::ErrorKind::NotFound => {
            console::line(&format!("note: there is no {}: every server counts the same", path.display()));
            Ok(BTreeMap::new())
        }
        Err(error) => Err(error),
    }
}
