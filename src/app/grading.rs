//! Every server's way from its start to its report, side by side; a signal ends them in order and loses nothing recorded.

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
use tokio::task::JoinHandle;

use super::{Exit, console, facts, failed, progress::Progress, signals::Signals};
use crate::{
    config::{Resolved, Settings},
    files,
    model::{Surface, Trace},
    plan::{self, Plan},
    report::{RunResult, build},
    run::{self, Finished, Fit, Impossible, Outside},
    session::Recorder,
    targets::cleanup,
    text::{Redactor, terminal},
};

/// How long taking everything down may take after a signal.
const CLEANUP: Duration = Duration::from_secs(15);
/// How long writing the reports may go on after a signal: a reader that does not read would hold it for ever.
pub(super) const WRITING: Duration = Duration::from_secs(8);

pub(super) fn warn(warnings: &[String]) {
    for warning in warnings {
        console::line(&format!("warning: {}", terminal::line(warning)));
    }
}

/// The report of a server that nobody started.
pub(super) fn never_started(settings: &Settings, at: usize, reason: &str) -> RunResult {
    let finished = run::not_run(&settings.servers[at], settings, &plan::plan(settings), reason);
    report(settings, at, finished, Vec::new(), (SystemTime::now(), Instant::now()), false, None)
}

/// The report of a configured server that no report is of: lost, not absent.
pub(super) fn lost(settings: &Settings, at: usize) -> RunResult {
    never_started(settings, at, "no report of it was found: the job that was to grade it did not finish")
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
        .and_then(|text| files::write(path, redactor.apply_json(&text).as_bytes()));
    if let Err(error) = written {
        console::line(&format!("warning: the recording could not be written to {}: {error}", path.display()));
    }
}
