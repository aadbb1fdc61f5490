//! `run`: settings → servers → reports → exit code.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant, SystemTime},
};

use futures_util::StreamExt;
use tokio::{runtime::Runtime, task::JoinHandle};

use super::{
    Exit,
    compared::Compared,
    conclude::{self, Concluded},
    config_cmd, console, facts, failed,
    progress::Progress,
    publication::{Fetched, Job},
    signals::{self, Signals},
};
use crate::{
    cli::{ColorWhen, RunArgs, SarifWhere, Shard},
    config::{self, ConfigError, Resolved, Settings, settings::Format},
    model::{Surface, Trace},
    plan::{self, Plan},
    report::{RunResult, build},
    run::{self, Finished, Fit, Impossible, Outside},
    session::Recorder,
    targets::{self, cleanup},
    text::{Redactor, terminal},
};

/// How long taking everything down may take after a signal.
const CLEANUP: Duration = Duration::from_secs(15);

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
                console::line(
                    "note: CI is set, so the ci profile is used: a summary here, JUnit and JSON in ./sealmark-report \
                     (--profile standard, --format, --out or --out-dir ask for something else)",
                );
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
    if let Some(note) = args.settings.gate.note() {
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
    if let Some(shard) = args.shard {
        take_share(&mut resolved.settings, shard);
    }
    Ok(resolved)
}

/// The report of a server that nobody started.
pub(super) fn never_started(settings: &Settings, at: usize, reason: &str) -> RunResult {
    let finished = run::not_run(&settings.servers[at], settings, &plan::plan(settings), reason);
    report(settings, at, finished, Vec::new(), (SystemTime::now(), Instant::now()), false, None)
}

/// Leaves one share of the servers. An empty share is no mistake (there may be more jobs than servers) and no run that
/// graded nothing: it ends well, with a report without servers, and `merge` makes sure that somebody graded something.
pub(super) fn take_share(settings: &mut Settings, shard: Shard) {
    let names: Vec<&str> = settings.servers.iter().map(|server| server.name.as_str()).collect();
    let (of, taken) = (names.len(), plan::share(&names, shard.index, shard.count));
    let servers = taken.iter().map(|at| settings.servers[*at].clone()).collect();
    settings.servers = servers;
    if taken.is_empty() {
        // They show one server.
        settings.output.formats.retain(|format| !matches!(format, Format::Badge | Format::Shields));
        console::line(&format!(
            "note: share {}/{} of {of} servers is empty: nothing is graded here",
            shard.index, shard.count
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
    let settings = Arc::new(settings.clone());
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
        let (runs, stopped) = graded?;
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
    Well(Option<(Vec<RunResult>, Concluded)>, Exit),
    /// By a signal.
    Stopped(Exit),
}

/// How long writing the reports may go on after a signal: a reader that does not read would hold it for ever.
const WRITING: Duration = Duration::from_secs(8);

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
        let mut concluded = conclude::conclude(&runs, &of, color, &compared);
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
            Ended::Well(Some((runs, concluded)), exit)
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

fn warn(warnings: &[String]) {
    for warning in warnings {
        console::line(&format!("warning: {}", terminal::line(warning)));
    }
}

/// What `tools:` says of tools that no server lists; nothing while a server's list is not known.
fn unmatched(resolved: &Resolved, fits: &[Fit]) -> Vec<String> {
    let Some(first) = fits.first().filter(|_| fits.iter().all(|fit| !fit.listed.is_empty())) else { return Vec::new() };
    let everywhere = |of: fn(&Fit) -> &Vec<String>| -> Vec<String> {
        of(first).iter().filter(|word| fits.iter().all(|fit| of(fit).contains(word))).cloned().collect()
    };
    let listed: Vec<String> = fits.iter().flat_map(|fit| fit.listed.iter().cloned()).collect();
    resolved.unmatched(&everywhere(|fit| &fit.excludes), &everywhere(|fit| &fit.overrides), &listed)
}

/// One server's way from start to report, kept outside the futures so that a signal loses nothing recorded.
struct Slot {
    recorder: Recorder,
    started: SystemTime,
    clock: Instant,
    /// Its sandbox, when that is to stay.
    kept: Rc<RefCell<Option<PathBuf>>>,
    /// Its report, while that is being made.
    judging: RefCell<Option<JoinHandle<RunResult>>>,
}

/// Every server's report, and the signal that ended them; or the override that no tool can follow.
pub(super) async fn all(
    resolved: &Resolved,
    settings: &Arc<Settings>,
    plan: &Plan,
    record: Option<&Path>,
    signals: &mut Signals,
) -> Result<(Vec<RunResult>, Option<Exit>), Impossible> {
    let alone = settings.servers.len() == 1;
    let progress = Progress::new();
    let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let slots: Vec<Slot> = settings
        .servers
        .iter()
        .map(|_| Slot {
            recorder: Recorder::new(crate::model::Header::default()),
            started: SystemTime::now(),
            clock: Instant::now(),
            kept: Rc::default(),
            judging: RefCell::default(),
        })
        .collect();
    let mut results: Vec<Option<RunResult>> = settings.servers.iter().map(|_| None).collect();
    let mut fits: Vec<Fit> = Vec::new();
    let ended = {
        let work = futures_util::stream::iter(settings.servers.iter().zip(&slots).enumerate())
            .map(|(at, (server, slot))| {
                let kept = Rc::clone(&slot.kept);
                let kept = Rc::new(move |dir: &Path| *kept.borrow_mut() = Some(dir.to_owned()));
                let outside = Outside { env: env.clone(), progress: progress.reporter(&server.name), kept };
                let progress = &progress;
                async move {
                    let clock = (SystemTime::now(), Instant::now());
                    let mut finished = run::run(server, settings, plan, &outside, &slot.recorder).await;
                    let mut fit = std::mem::take(&mut finished.fit);
                    if let Some(wrong) = fit.impossible.take() {
                        return Err(wrong);
                    }
                    let said = if alone { unmatched(resolved, std::slice::from_ref(&fit)) } else { Vec::new() };
                    (outside.progress)("judging");
                    if finished.failure.is_some() || !said.is_empty() {
                        // What follows is said on the terminal's own lines.
                        progress.done(&server.name);
                    }
                    warn(&said);
                    let (settings, record) = (Arc::clone(settings), record.map(Path::to_owned));
                    // In a task of its own: judging takes time that other servers need, and a defect in it must not end them.
                    let judging = tokio::task::spawn_blocking(move || {
                        report(&settings, at, finished, said, clock, false, record.as_deref())
                    });
                    *slot.judging.borrow_mut() = Some(judging);
                    let result = std::future::poll_fn(|context| slot.poll(context)).await;
                    progress.done(&server.name);
                    Ok((at, fit, result))
                }
            })
            .buffer_unordered(settings.jobs.max(1));
        tokio::pin!(work);
        let mut ended = Ok(None);
        let mut show = std::pin::pin!(progress.show());
        while matches!(ended, Ok(None)) {
            tokio::select! {
                biased;
                exit = signals.next() => ended = Ok(Some(exit)),
                next = work.next() => match next {
                    Some(Ok((at, fit, result))) => {
                        fits.push(fit);
                        results[at] = result;
                    }
                    Some(Err(wrong)) => ended = Err(wrong),
                    None => break,
                },
                never = &mut show => match never {},
            }
        }
        // Before the work is dropped: what that takes down at once, and in silence, is ended in order and told here.
        let cut_short = !matches!(ended, Ok(None));
        let end = move || if cut_short { cleanup::emergency(CLEANUP) } else { cleanup::finish() };
        for path in tokio::task::spawn_blocking(end).await.unwrap_or_default() {
            console::line(&format!("cleanup did not finish: {} (remove it by hand)", path.display()));
        }
        ended
    };
    let stopped = ended?;
    if stopped.is_some() {
        for (at, (slot, result)) in slots.into_iter().zip(&mut results).enumerate() {
            if result.is_none() {
                *result = Some(interrupted(settings, at, slot).await);
            }
        }
    }
    let mut runs: Vec<RunResult> = results.into_iter().flatten().collect();
    if !alone && stopped.is_none() {
        let said = unmatched(resolved, &fits);
        runs.iter_mut().for_each(|run| run.warnings.extend(said.iter().cloned()));
        warn(&said);
    }
    Ok((runs, stopped))
}

impl Slot {
    /// Asks for the report that is being made; none when making it met a defect.
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<RunResult>> {
        let mut judging = self.judging.borrow_mut();
        let Some(handle) = judging.as_mut() else { return Poll::Ready(None) };
        let result = std::task::ready!(Pin::new(handle).poll(context));
        *judging = None;
        Poll::Ready(result.ok())
    }
}

/// The report of a run that a signal cut short: the whole one when only judging was left to do.
async fn interrupted(settings: &Settings, at: usize, slot: Slot) -> RunResult {
    if let Some(judging) = slot.judging.take()
        && let Ok(Ok(mut result)) = tokio::time::timeout(WRITING, judging).await
    {
        result.interrupted = true;
        result.warnings.push(INTERRUPTED.to_owned());
        return result;
    }
    let mut trace = slot.recorder.take();
    trace.header.failure = Some("the run was interrupted".to_owned());
    if trace.header.name.is_empty() {
        trace.header.name.clone_from(&settings.servers[at].name);
    }
    let kept = slot.kept.take().map(|dir| dir.display().to_string());
    let placed = trace.header.placeholders.iter().find(|(path, name)| name == "{sandbox_dir}" && path.starts_with('/'));
    let dir = placed.map(|(path, _)| path.clone());
    let sandbox = run::SandboxReport { used: dir.is_some(), dir, kept, ..run::SandboxReport::default() };
    let secrets = settings.secrets.clone();
    let finished = Finished { trace, failure: None, sandbox, secrets, fit: Fit::default() };
    let mut result = report(settings, at, finished, Vec::new(), (slot.started, slot.clock), true, None);
    result.error = None;
    result.warnings.push(INTERRUPTED.to_owned());
    result
}

/// What every report of such a run says.
const INTERRUPTED: &str = "the run was interrupted; the report may be incomplete";

/// Judges and reports one finished run, saves its recording and the stderr of a failed start.
fn report(
    settings: &Settings,
    at: usize,
    finished: Finished,
    said: Vec<String>,
    (started, clock): (SystemTime, Instant),
    interrupted: bool,
    record: Option<&Path>,
) -> RunResult {
    let server = &settings.servers[at];
    let Finished { mut trace, failure, sandbox, secrets, fit: _ } = finished;
    let redactor =
        Redactor::new(&trace.header.placeholders, &secrets, settings.output.redact && !settings.sandbox.keep);
    let secrets_only = Redactor::new(&[], &secrets, settings.output.redact);
    let mut facts = facts::facts(server, settings, &sandbox, started, clock.elapsed(), &secrets_only);
    facts.interrupted = interrupted;
    facts.warnings.extend(said);
    facts.stderr_file =
        failure.as_ref().and_then(|failure| failed::announce(settings, &server.name, failure, &redactor));
    trace.header.report = serde_json::to_value(&facts).unwrap_or_default();
    let surface = Surface::read(&trace);
    let judged = crate::judge::judge(&trace, &surface);
    let mut result = build::build(&trace, &surface, &judged, facts, &redactor);
    result.server.offers =
        super::surface::offers(&settings.output, &trace, &surface, &secrets).filter(|_| !interrupted);
    drop(surface);
    if let Some(path) = record {
        write_recording(path, &trace, &secrets);
    }
    result
}

/// A recording keeps this run's tokens (they are worthless afterwards) and no secret of the user.
fn write_recording(path: &Path, trace: &Trace, secrets: &[String]) {
    let redactor = Redactor::new(&[], secrets, true);
    let written = serde_json::to_string(trace)
        .map_err(std::io::Error::other)
        .and_then(|text| std::fs::write(path, redactor.apply_json(&text)));
    if let Err(error) = written {
        console::line(&format!("warning: the recording could not be written to {}: {error}", path.display()));
    }
}
