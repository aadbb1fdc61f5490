//! `run`: settings → servers → reports → exit code.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures_util::StreamExt;

use super::{Exit, conclude, config_cmd, console, facts, progress::Progress, signals};
use crate::{
    cli::{ColorWhen, RunArgs},
    config::{self, Settings},
    model::{Surface, Trace},
    plan,
    report::{RunResult, build},
    run::{self, Finished, Outside},
    session::Recorder,
    targets,
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
    targets::cleanup::install_panic_cleanup();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console::line(&format!("error: the runtime could not be started: {error}"));
            return Exit::Failure;
        }
    };
    let (runs, stopped) = runtime.block_on(all(&Arc::new(settings.clone()), record));
    // Nothing of the runtime is needed any more, and a blocked task of it must not hold the exit.
    runtime.shutdown_background();
    let mut exit = conclude::conclude(&runs, settings, color);
    if runs.len() < settings.servers.len() {
        console::line("error: a report could not be made: a defect of sealmark, please report it");
        exit = exit.worst(Exit::Failure);
    }
    let Some(stopped) = stopped else { return exit };
    if settings.sandbox.keep {
        for path in runs.iter().filter_map(|run| run.sandbox.dir.as_deref()).filter(|dir| !dir.starts_with('{')) {
            console::line(&format!("kept sandbox: {path}"));
        }
    }
    console::line(&signals::last_line(stopped));
    stopped
}

/// One server's way from start to report, kept outside the futures so that a signal loses nothing recorded.
struct Slot {
    recorder: Recorder,
    started: SystemTime,
    clock: Instant,
}

async fn all(settings: &Arc<Settings>, record: Option<&Path>) -> (Vec<RunResult>, Option<Exit>) {
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
        })
        .collect();
    let mut results: Vec<Option<RunResult>> = settings.servers.iter().map(|_| None).collect();
    let stopped = {
        let work = futures_util::stream::iter(settings.servers.iter().zip(&slots).enumerate())
            .map(|(at, (server, slot))| {
                let outside = Outside { env: env.clone(), progress: progress.reporter(&server.name) };
                let (plan, progress) = (&plan, &progress);
                async move {
                    let clock = (SystemTime::now(), Instant::now());
                    let finished = run::run(server, settings, plan, &outside, &slot.recorder).await;
                    (outside.progress)("judging");
                    let (settings, record) = (Arc::clone(settings), record.map(Path::to_owned));
                    // In a task of its own: judging takes time that other servers need, and a defect in it must not end them.
                    let result = tokio::task::spawn_blocking(move || {
                        report(&settings, at, finished, clock, false, record.as_deref())
                    });
                    let result = result.await.ok();
                    progress.done(&server.name);
                    (at, result)
                }
            })
            .buffer_unordered(settings.jobs.max(1));
        tokio::pin!(work);
        let mut stopped = None;
        let mut signal = std::pin::pin!(signals::stopped());
        let mut show = std::pin::pin!(progress.show());
        while stopped.is_none() {
            tokio::select! {
                next = work.next() => match next {
                    Some((at, result)) => results[at] = result,
                    None => break,
                },
                exit = &mut signal => stopped = Some(exit),
                never = &mut show => match never {},
            }
        }
        stopped
    };
    if stopped.is_some() {
        let left = tokio::task::spawn_blocking(|| targets::cleanup::emergency(CLEANUP)).await.unwrap_or_default();
        for path in left {
            console::line(&format!("cleanup did not finish: {} (remove it by hand)", path.display()));
        }
        for (at, (slot, result)) in slots.into_iter().zip(&mut results).enumerate() {
            if result.is_none() {
                *result = Some(interrupted(settings, at, slot));
            }
        }
    } else {
        targets::sweep(None);
    }
    (results.into_iter().flatten().collect(), stopped)
}

fn interrupted(settings: &Settings, at: usize, slot: Slot) -> RunResult {
    let mut trace = slot.recorder.take();
    trace.header.failure = Some("the run was interrupted".to_owned());
    if trace.header.name.is_empty() {
        trace.header.name.clone_from(&settings.servers[at].name);
    }
    let finished =
        Finished { trace, failure: None, sandbox: run::SandboxReport::default(), secrets: settings.secrets.clone() };
    let mut result = report(settings, at, finished, (slot.started, slot.clock), true, None);
    result.error = None;
    result.warnings.push("the run was interrupted; the report may be incomplete".to_owned());
    result
}

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
        .and_then(|text| std::fs::write(path, redactor.apply(&text)));
    if let Err(error) = written {
        console::line(&format!("warning: the recording could not be written to {}: {error}", path.display()));
    }
}

/// Lines of a failed server's stderr that are shown.
const SHOWN: usize = 20;

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
        console::line(&format!("  | {}", crate::text::terminal::line(line)));
    }
    saved
}
