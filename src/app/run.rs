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
use tokio::task::JoinHandle;

use super::{
    Exit, conclude, config_cmd, console, facts,
    progress::Progress,
    signals::{self, Signals},
};
use crate::{
    cli::{ColorWhen, RunArgs},
    config::{self, Settings},
    model::{Surface, Trace},
    plan,
    report::{RunResult, build},
    run::{self, Finished, Outside},
    session::Recorder,
    targets::{self, cleanup},
    text::Redactor,
};

/// How long taking everything down may take after a signal.
const CLEANUP: Duration = Duration::from_secs(15);

/// Runs the command.
pub fn run(args: &RunArgs, color: ColorWhen) -> Exit {
    let values = match args.values() {
        Ok(values) => values,
        Err(error) => return super::command_line::refuse(&error),
    };
    if let Some(note) = args.settings.gate.note() {
        console::line(&format!("note: {note}"));
    }
    let request = match config_cmd::request(&args.settings.source, values) {
        Ok(request) => request,
        Err(exit) => return exit,
    };
    let resolved = config::resolve(&request).and_then(|resolved| resolved.require_servers().map(|()| resolved));
    match resolved {
        Ok(resolved) => grade(&resolved.settings, args.record.as_deref(), color),
        Err(error) => config_cmd::mistake(&error),
    }
}

/// Grades every server of the settings and writes the reports.
pub fn grade(settings: &Settings, record: Option<&Path>, color: ColorWhen) -> Exit {
    if record.is_some() && settings.servers.len() > 1 {
        console::line("error: --record writes one server's recording, and several servers are configured");
        console::line("hint: choose one with --server NAME");
        return Exit::Usage;
    }
    if let Err(exit) = conclude::precheck(settings) {
        return exit;
    }
    for warning in &settings.warnings {
        console::line(&format!("warning: {}", crate::text::terminal::line(warning)));
    }
    targets::become_subreaper();
    targets::hide();
    cleanup::install_panic_cleanup();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console::line(&format!("error: the runtime could not be started: {error}"));
            return Exit::Failure;
        }
    };
    let settings = Arc::new(settings.clone());
    let (exit, kept) = runtime.block_on(async {
        let mut signals = Signals::catch();
        let (runs, stopped) = all(&settings, record, &mut signals).await;
        let kept = kept(&settings, &runs);
        (reported(&settings, runs, stopped, color, &mut signals).await, kept)
    });
    // A blocked task must not hold the exit.
    runtime.shutdown_background();
    match exit {
        Ended::Well(exit) => exit,
        Ended::Stopped(exit) => {
            console::line(&signals::last_line(exit));
            kept.iter().for_each(|path| console::line(&format!("kept sandbox: {path}")));
            exit
        }
    }
}

/// How a run is over.
enum Ended {
    Well(Exit),
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
    color: ColorWhen,
    signals: &mut Signals,
) -> Ended {
    let of = Arc::clone(settings);
    let mut writing = tokio::task::spawn_blocking(move || {
        let exit = conclude::conclude(&runs, &of, color);
        if runs.len() == of.servers.len() {
            return exit;
        }
        console::line("error: a report could not be made: a defect of sealmark, please report it");
        exit.worst(Exit::Failure)
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
        (None, Some(exit)) => Ended::Well(exit.unwrap_or(Exit::Failure)),
        (None, None) => Ended::Stopped(late.unwrap_or(Exit::Failure)),
    }
}

/// Where the sandboxes are that were to be kept.
fn kept(settings: &Settings, runs: &[RunResult]) -> Vec<String> {
    let dirs = runs.iter().filter_map(|run| run.sandbox.dir.clone());
    dirs.filter(|dir| settings.sandbox.keep && !dir.starts_with('{')).collect()
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

async fn all(settings: &Arc<Settings>, record: Option<&Path>, signals: &mut Signals) -> (Vec<RunResult>, Option<Exit>) {
    let plan = plan::plan(settings);
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
    let stopped = {
        let work = futures_util::stream::iter(settings.servers.iter().zip(&slots).enumerate())
            .map(|(at, (server, slot))| {
                let kept = Rc::clone(&slot.kept);
                let kept = Rc::new(move |dir: &Path| *kept.borrow_mut() = Some(dir.to_owned()));
                let outside = Outside { env: env.clone(), progress: progress.reporter(&server.name), kept };
                let (plan, progress) = (&plan, &progress);
                async move {
                    let clock = (SystemTime::now(), Instant::now());
                    let finished = run::run(server, settings, plan, &outside, &slot.recorder).await;
                    (outside.progress)("judging");
                    let (settings, record) = (Arc::clone(settings), record.map(Path::to_owned));
                    // In a task of its own: judging takes time that other servers need, and a defect in it must not end them.
                    let judging = tokio::task::spawn_blocking(move || {
                        report(&settings, at, finished, clock, false, record.as_deref())
                    });
                    *slot.judging.borrow_mut() = Some(judging);
                    let result = std::future::poll_fn(|context| slot.poll(context)).await;
                    progress.done(&server.name);
                    (at, result)
                }
            })
            .buffer_unordered(settings.jobs.max(1));
        tokio::pin!(work);
        let mut stopped = None;
        let mut show = std::pin::pin!(progress.show());
        while stopped.is_none() {
            tokio::select! {
                biased;
                exit = signals.next() => stopped = Some(exit),
                next = work.next() => match next {
                    Some((at, result)) => results[at] = result,
                    None => break,
                },
                never = &mut show => match never {},
            }
        }
        // Before the work is dropped: what that takes down at once, and in silence, is ended in order and told here.
        let end = move || if stopped.is_some() { cleanup::emergency(CLEANUP) } else { cleanup::finish() };
        for path in tokio::task::spawn_blocking(end).await.unwrap_or_default() {
            console::line(&format!("cleanup did not finish: {} (remove it by hand)", path.display()));
        }
        stopped
    };
    if stopped.is_some() {
        for (at, (slot, result)) in slots.into_iter().zip(&mut results).enumerate() {
            if result.is_none() {
                *result = Some(interrupted(settings, at, slot).await);
            }
        }
    }
    (results.into_iter().flatten().collect(), stopped)
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
    let sandbox = run::SandboxReport { used: trace.header.sandboxed, kept, ..run::SandboxReport::default() };
    let finished = Finished { trace, failure: None, sandbox, secrets: settings.secrets.clone() };
    let mut result = report(settings, at, finished, (slot.started, slot.clock), true, None);
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
    (started, clock): (SystemTime, Instant),
    interrupted: bool,
    record: Option<&Path>,
) -> RunResult {
    let server = &settings.servers[at];
    let Finished { mut trace, failure, sandbox, secrets } = finished;
    let redactor =
        Redactor::new(&trace.header.placeholders, &secrets, settings.output.redact && !settings.sandbox.keep);
    let secrets_only = Redactor::new(&[], &secrets, settings.output.redact);
    let mut facts = facts::facts(server, settings, &sandbox, started, clock.elapsed(), &secrets_only);
    facts.interrupted = interrupted;
    if let Some(failure) = &failure {
        console::line(&format!("error: {}: {}", shown(&redactor, &server.name), shown(&redactor, &failure.message)));
        if let Some(hint) = &failure.hint {
            console::line(&format!("hint: {}", shown(&redactor, hint)));
        }
        facts.stderr_file = save_stderr(settings, &server.name, &redactor.apply(&failure.stderr));
    }
    trace.header.report = serde_json::to_value(&facts).unwrap_or_default();
    let surface = Surface::read(&trace);
    let judged = crate::judge::judge(&trace, &surface);
    let result = build::build(&trace, &surface, &judged, facts, &redactor);
    drop(surface);
    if let Some(path) = record {
        write_recording(path, &trace, &secrets);
    }
    result
}

fn shown(redactor: &Redactor, text: &str) -> String {
    crate::text::terminal::line(&redactor.apply(text))
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

/// Lines of a failed server's stderr that are shown.
const SHOWN: usize = 20;
/// Characters of each of them.
const WIDTH: usize = 300;

/// Shows the last lines of a failed server's stderr and saves all that was kept beside the report, where there is one.
fn save_stderr(settings: &Settings, name: &str, stderr: &str) -> Option<String> {
    if stderr.trim().is_empty() {
        return None;
    }
    let mut saved = None;
    let output = &settings.output;
    let base = match (&output.out, &output.out_dir) {
        (Some(out), _) => Some(out.clone()),
        (None, Some(dir)) => Some(dir.join("sealmark-report")),
        (None, None) => None,
    };
    if let Some(base) = base {
        let mut file = base.into_os_string();
        if settings.servers.len() > 1 {
            let plain: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
            file.push(format!(".{plain}"));
        }
        file.push(".stderr.log");
        let file = PathBuf::from(file);
        let written =
            file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, stderr));
        match written {
            Ok(()) => {
                console::line(&format!("the server's stderr is in {}", file.display()));
                saved = Some(file.display().to_string());
            }
            Err(error) => console::line(&format!("warning: {} could not be written: {error}", file.display())),
        }
    }
    let lines: Vec<_> = stderr.lines().collect();
    console::line("the server's last lines on stderr:");
    for line in lines.iter().skip(lines.len().saturating_sub(SHOWN)) {
        let cut: String = line.chars().take(WIDTH).collect();
        console::line(&format!("  | {cut}{}", if cut.len() < line.len() { "…" } else { "" }));
    }
    saved
}
