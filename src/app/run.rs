//! `run`: settings → servers → reports → exit code.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use tokio::runtime::Runtime;

use super::{
    Exit,
    compared::Compared,
    conclude::{self, Concluded},
    config_cmd, console, detect,
    grading::{WRITING, all, warn},
    job::Job,
    platform::Fetched,
    signals::{self, Signals},
};
use crate::{
    cli::{ColorWhen, RunArgs, SarifWhere, Shard},
    config::{
        self, ConfigError, Resolved, Settings,
        settings::{Format, ServerSettings},
    },
    files, plan,
    report::{RunResult, wording::counted},
    run::Impossible,
    targets::{self, cleanup},
};

/// What an invocation does besides grading.
#[derive(Clone, Copy, Default)]
pub struct Besides<'a> {
    /// Where everything that is seen goes.
    pub record: Option<&'a Path>,
    /// When to use colour.
    pub color: ColorWhen,
    /// The CI job that it is.
    pub(super) job: Option<&'a Job>,
}

/// Runs the command.
pub fn run(args: &RunArgs, color: ColorWhen) -> Exit {
    match start(args, false) {
        Ok(resolved) => {
            let job = resolved.profile_from_ci().then(Job::local);
            if job.is_some() {
                console::line(&format!(
                    "note: CI is set, so the ci profile is used: {} (--profile standard, --format, --out or --out-dir ask \
                     for something else)",
                    conclude::reports_go(&resolved.settings.output)
                ));
            }
            grade(&resolved, Besides { record: args.record.as_deref(), color, job: job.as_ref() })
        }
        Err(exit) => exit,
    }
}

/// Runs the whole job of a CI run: the same grading, with what the job needs and publishes.
pub(super) fn job(args: &RunArgs, color: ColorWhen, mut job: Job, sarif: SarifWhere) -> Exit {
    let fitted = start(args, true).and_then(|mut resolved| job.fit(&mut resolved.settings, sarif).map(|()| resolved));
    match fitted {
        Ok(resolved) => grade(&resolved, Besides { record: args.record.as_deref(), color, job: Some(&job) }),
        Err(exit) => exit,
    }
}

/// The settings of the flags, the servers of this share.
fn start(args: &RunArgs, ci: bool) -> Result<Resolved, Exit> {
    let mut values = args.values().map_err(|error| super::command_line::refuse(&error))?;
    if let Some(note) = args.settings.gate.letter.note() {
        console::line(&format!("note: {note}"));
    }
    if ci {
        // Words of `ci`, and no files.
        let word = |value: &serde_json::Value| matches!(value.as_str(), Some("auto" | "off"));
        values.retain(|(_, key, value)| key != "output.baseline" || !word(value));
    }
    let mut request = config_cmd::request(&args.settings.source, values)?;
    request.ci |= ci;
    let resolved = config::resolve(&request).and_then(|resolved| resolved.require_servers().map(|()| resolved));
    let mut resolved = resolved.map_err(|error| config_cmd::mistake(&error))?;
    detect::refuse_to_start(&resolved.settings)?;
    if let Some(shard) = args.shard {
        take_share(&mut resolved.settings, shard);
    }
    Ok(resolved)
}

/// Leaves one share of the servers. An empty share is no mistake (there may be more jobs than servers) and no run that
/// graded nothing: it ends well, with a report without servers, and `merge` makes sure that somebody graded something.
pub(super) fn take_share(settings: &mut Settings, shard: Shard) {
    let names: Vec<&str> = settings.servers.iter().map(|server| server.name.as_str()).collect();
    let (of, taken) = (names.len(), plan::share(&names, shard.index, shard.count));
    let servers: Vec<ServerSettings> = taken.iter().map(|at| settings.servers[*at].clone()).collect();
    let about_others = |warning: &String| {
        let about = |servers: &[ServerSettings]| servers.iter().any(|server| server.warnings.contains(warning));
        about(&settings.servers) && !about(&servers)
    };
    let warnings = settings.warnings.iter().filter(|warning| !about_others(warning)).cloned().collect();
    (settings.servers, settings.warnings) = (servers, warnings);
    settings.partial = true;
    if taken.is_empty() {
        // They show one server.
        settings.output.formats.retain(|format| !matches!(format, Format::Badge | Format::Shields));
        console::line(&format!(
            "note: share {}/{} of {} is empty: nothing is graded here",
            shard.index,
            shard.count,
            counted(of, "server")
        ));
    }
}

/// Grades every server of the settings and writes the reports.
pub fn grade(resolved: &Resolved, besides: Besides<'_>) -> Exit {
    let Besides { record, color, job } = besides;
    let settings = &resolved.settings;
    if record.is_some() && settings.servers.len() > 1 {
        console::line("error: --record writes one server's recording, and several servers are configured");
        console::line("hint: choose one with --server NAME");
        return Exit::Usage;
    }
    if let Err(exit) = conclude::precheck(settings, record) {
        return exit;
    }
    let compared = match Compared::read(&settings.output, job.is_some_and(Job::fetches)) {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    let runtime = match ready(settings) {
        Ok(runtime) => runtime,
        Err(exit) => return exit,
    };
    let settings = Arc::new(settled(settings));
    let record = record.map(files::resolved);
    let record = record.as_deref();
    // A server's words in the log are no commands of ours.
    let (opened, closed) = job.map(Job::bracket).unwrap_or_default();
    console::order(&opened);
    let ended = runtime.block_on(async {
        let mut signals = Signals::catch();
        let fetching = async {
            match job {
                Some(job) => job.fetch().await,
                None => Fetched::Off,
            }
        };
        let plan = plan::plan(&settings);
        let (graded, fetched) = beside(all(resolved, &settings, &plan, record, &mut signals), fetching).await;
        let (runs, stopped) = graded.inspect_err(|_| console::order(&closed))?;
        let kept = kept(&settings, &runs);
        let (compared, missing) = fetched.into_compared(compared);
        let ended = reported(&settings, runs, stopped, (color, compared), &mut signals).await;
        console::order(&closed);
        let ended = match (ended, job) {
            (Ended::Well(Some((runs, concluded)), _), Some(job)) => {
                tokio::select! {
                    exit = job.finish(&runs, &concluded, missing.as_deref()) => Ended::Well(None, exit),
                    exit = signals.next() => Ended::Stopped(exit),
                }
            }
            (ended, _) => ended,
        };
        Ok((ended, kept))
    });
    // A blocked task must not hold the exit.
    runtime.shutdown_background();
    let (ended, kept) = match ended {
        Ok(ended) => ended,
        Err(Impossible { tool, class, takes_text }) => {
            return config_cmd::mistake(&resolved.override_without_parameter(&tool, &class, &takes_text));
        }
    };
    if let Ended::Stopped(exit) = ended {
        console::line(&signals::last_line(exit));
    }
    kept.iter().for_each(|path| console::line(&format!("kept sandbox: {path}")));
    match ended {
        Ended::Well(_, exit) | Ended::Stopped(exit) => exit,
    }
}

/// The settings with the places of reports as they are now: a server may put links there.
fn settled(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let output = &mut settings.output;
    for path in [&mut output.out, &mut output.out_dir, &mut output.write_baseline, &mut output.write_surface] {
        *path = path.as_deref().map(files::resolved);
    }
    settings
}

/// Refuses what could not be started, and makes what the servers are started in.
pub(super) fn ready(settings: &Settings) -> Result<Runtime, Exit> {
    fillable(settings).map_err(|unset| config_cmd::mistake(&unset))?;
    if let Some(wrong) = targets::Sandbox::unusable(&settings.sandbox) {
        return Err(console::mistake(&wrong, wrong.hint().as_deref()));
    }
    warn(&settings.warnings);
    targets::become_subreaper();
    targets::hide();
    cleanup::install_panic_cleanup();
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        console::line(&format!("error: the runtime could not be started: {error}"));
        Exit::Failure
    })
}

/// Both, side by side. The second is given up when the first ended without needing it: it was stopped or had nothing to do.
async fn beside<T>(
    graded: impl Future<Output = Result<(Vec<RunResult>, Option<Exit>), T>>,
    fetching: impl Future<Output = Fetched>,
) -> (Result<(Vec<RunResult>, Option<Exit>), T>, Fetched) {
    let (mut graded, mut fetching) = (std::pin::pin!(graded), std::pin::pin!(fetching));
    let mut fetched = None;
    let ended = loop {
        tokio::select! {
            ended = &mut graded => break ended,
            baseline = &mut fetching, if fetched.is_none() => fetched = Some(baseline),
        }
    };
    let fetched = match (fetched, &ended) {
        (Some(fetched), _) => fetched,
        (None, Ok((_, None))) => fetching.await,
        (None, _) => Fetched::Off,
    };
    (ended, fetched)
}

/// How a run is over.
enum Ended {
    /// By itself: what it came to, unless that was lost, and the exit code.
    Well(Option<(Vec<RunResult>, Box<Concluded>)>, Exit),
    /// By a signal.
    Stopped(Exit),
}

/// Writes the reports where a signal is still heard. A run that a signal reaches only here is complete: its reports are
/// written and its own exit code stays, unless they cannot be finished.
async fn reported(
    settings: &Arc<Settings>,
    runs: Vec<RunResult>,
    stopped: Option<Exit>,
    (color, compared): (ColorWhen, Compared),
    signals: &mut Signals,
) -> Ended {
    let of = Arc::clone(settings);
    let mut writing = tokio::task::spawn_blocking(move || {
        let mut concluded = conclude::conclude(&runs, &of, color, &compared, stopped);
        if runs.len() != of.servers.len() {
            console::line("error: a report could not be made: a defect of sealmark, please report it");
            concluded.exit = concluded.exit.worst(Exit::Failure);
        }
        (runs, concluded)
    });
    let mut late = None;
    let written = tokio::select! {
        written = &mut writing => Some(written),
        () = tokio::time::sleep(WRITING), if stopped.is_some() => None,
        exit = signals.next(), if stopped.is_none() => {
            late = Some(exit);
            tokio::time::timeout(WRITING, &mut writing).await.ok()
        }
    };
    match (stopped, written) {
        (Some(stopped), _) => Ended::Stopped(stopped),
        (None, Some(Ok((runs, concluded)))) => {
            let exit = concluded.exit;
            Ended::Well(Some((runs, Box::new(concluded))), exit)
        }
        (None, Some(Err(_))) => Ended::Well(None, Exit::Failure),
        (None, None) => Ended::Stopped(late.unwrap_or(Exit::Failure)),
    }
}

/// Where the sandboxes are that were to be kept.
fn kept(settings: &Settings, runs: &[RunResult]) -> Vec<String> {
    let dirs = runs.iter().filter_map(|run| run.sandbox.dir.clone());
    dirs.filter(|dir| settings.sandbox.keep && !dir.starts_with('{')).collect()
}

/// Whether every variable that a server's settings refer to is set: known before anything is started.
fn fillable(settings: &Settings) -> Result<(), ConfigError> {
    let env = config_cmd::environment();
    // The sandbox does not exist yet; where it will be decides nothing.
    let places = ["sandbox", "dir", "sandbox_home"].map(|name| (name, format!("/{name}")));
    let places = BTreeMap::from(places);
    settings.servers.iter().try_for_each(|server| config::expand_server(server, &places, &env).map(drop))
}
