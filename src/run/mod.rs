//! One server from settings to a finished trace: targets up, session opened, probes driven, everything taken down.

mod failure;
mod fit;
mod launch;
mod prepare;
mod publishing;

use std::{collections::BTreeMap, ffi::OsString, path::Path, time::Duration};

pub use failure::Failure;
pub use fit::{Fit, Impossible};

use crate::{
    config::{Settings, settings::ServerSettings},
    model::{Header, Trace, trace::Transport},
    packs,
    plan::Plan,
    probes::{Drive, Rights},
    session::{Bounds, Link, Opened, Recorder, Tokens, open_server},
    targets::Sandbox,
};

/// What one run needs from the outside, so that nothing in here reads the environment or the clock.
#[derive(Clone)]
pub struct Outside {
    /// The user's environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Called with what is going on.
    pub progress: std::rc::Rc<dyn Fn(&str)>,
    /// Called with the directory of a sandbox that is to stay, as soon as it is there.
    pub kept: std::rc::Rc<dyn Fn(&Path)>,
}

/// The facts of the sandbox for the report.
#[derive(Debug, Clone, Default)]
pub struct SandboxReport {
    /// Whether there was one.
    pub used: bool,
    /// Its real path.
    pub dir: Option<String>,
    /// Its real path, when it was kept.
    pub kept: Option<String>,
    /// Names of inherited variables.
    pub inherited: Vec<String>,
    /// What was left out because it holds a login.
    pub withheld: Vec<String>,
    /// Why it could not be removed.
    pub not_removed: Option<String>,
}

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    /// What was recorded; `header.failure` when it did not get far.
    pub trace: Trace,
    /// The failure with its hint and the server's stderr.
    pub failure: Option<Failure>,
    /// The sandbox.
    pub sandbox: SandboxReport,
    /// Values that must not be printed.
    pub secrets: Vec<String>,
    /// What the configuration says of tools, held against those that are listed.
    pub fit: Fit,
}

/// Runs the plan against one server. Ends within the sum of the bounds, whatever the server does.
pub async fn run(
    server: &ServerSettings,
    settings: &Settings,
    plan: &Plan,
    outside: &Outside,
    recorder: &Recorder,
) -> Finished {
    let tokens = Tokens::mint();
    recorder.header(|header| *header = self::header(server, settings, plan, &tokens));
    let launched = server.url.is_some() && !server.command.is_empty();
    let wants_sandbox = settings.sandbox.enabled && !server.command.is_empty();
    let mut report = SandboxReport { used: wants_sandbox && !launched, ..SandboxReport::default() };
    let sandbox = match wants_sandbox.then(|| Sandbox::create(&settings.sandbox)).transpose() {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let failure = Failure::harness(&error).with_hint(error.hint());
            return finish(recorder, Some(failure), report, Vec::new(), Fit::default());
        }
    };
    if let Some(sandbox) = &sandbox {
        if settings.sandbox.keep {
            (outside.kept)(sandbox.dir());
        }
        recorder.header(|header| {
            header.placeholders.extend(sandbox.placeholders());
            header.placeholders.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        });
    }
    let mut secrets = settings.secrets.clone();
    let mut fit = Fit::default();
    let failure = drive(
        server,
        settings,
        plan,
        outside,
        recorder,
        &tokens,
        sandbox.as_ref(),
        &mut report,
        &mut secrets,
        &mut fit,
    )
    .await;
    if let Some(sandbox) = sandbox {
        report.dir = Some(sandbox.dir().display().to_string());
        if settings.sandbox.keep {
            report.kept = Some(sandbox.keep().display().to_string());
        } else {
            (outside.progress)("removing the sandbox");
            // Beside the other servers, and where a signal is still heard.
            let removal = tokio::task::spawn_blocking(move || sandbox.remove());
            report.not_removed = removal.await.unwrap_or_else(|defect| Err(defect.to_string())).err();
        }
    }
    finish(recorder, failure, report, secrets, fit)
}

/// What a server comes to that nobody started: a failed run.
pub fn not_run(server: &ServerSettings, settings: &Settings, plan: &Plan, reason: &str) -> Finished {
    let tokens = Tokens::mint();
    let recorder = Recorder::new(self::header(server, settings, plan, &tokens));
    recorder.header(|header| header.failure = Some(reason.to_owned()));
    Finished {
        trace: recorder.take(),
        failure: None,
        sandbox: SandboxReport::default(),
        secrets: settings.secrets.clone(),
        fit: Fit::default(),
    }
}

fn finish(
    recorder: &Recorder,
    failure: Option<Failure>,
    sandbox: SandboxReport,
    secrets: Vec<String>,
    fit: Fit,
) -> Finished {
    recorder.header(|header| header.failure = failure.as_ref().map(|failure| failure.message.clone()));
    Finished { trace: recorder.take(), failure, sandbox, secrets, fit }
}

fn header(server: &ServerSettings, settings: &Settings, plan: &Plan, tokens: &Tokens) -> Header {
    let transport = match (server.command.is_empty(), server.url.is_some()) {
        (true, _) => Transport::Http,
        (false, true) => Transport::HttpLaunched,
        (false, false) => Transport::Stdio,
    };
    Header {
        sealmark: env!("CARGO_PKG_VERSION").to_owned(),
        methodology: packs::METHODOLOGY.to_owned(),
        name: server.name.clone(),
        version: server.version.clone(),
        transport,
        target: if server.command.is_empty() {
            server.url.clone().unwrap_or_default()
        } else {
            server.command.join(" ")
        },
        sandboxed: settings.sandbox.enabled && transport == Transport::Stdio,
        canaries: transport != Transport::Http,
        packs: plan.packs.iter().map(|pack| pack.id.to_owned()).collect(),
        settings: plan.settings.clone(),
        overrides: fit::overrides(settings),
        placeholders: tokens.placeholders(),
        ..Header::default()
    }
}

#[expect(clippy::too_many_arguments, reason = "the parts of one run, used once")]
async fn drive(
    server: &ServerSettings,
    settings: &Settings,
    plan: &Plan,
    outside: &Outside,
    recorder: &Recorder,
    tokens: &Tokens,
    sandbox: Option<&Sandbox>,
    report: &mut SandboxReport,
    secrets: &mut Vec<String>,
    fit: &mut Fit,
) -> Option<Failure> {
    let prepared = match prepare::prepare(server, outside, tokens, sandbox) {
        Ok(prepared) => prepared,
        Err(failure) => return Some(failure),
    };
    secrets.extend(prepared.secrets);
    (report.inherited, report.withheld) = (prepared.inherited, prepared.withheld);
    let bounds = Bounds { connect: server.connect_timeout, call: settings.timeout_probe };
    (outside.progress)("starting the server");
    let launched = match prepared.launch {
        Some(launch) => match launch::launch(launch, server.start_timeout, recorder, tokens).await {
            Ok(launched) => Some(launched),
            Err(failure) => return Some(failure),
        },
        None => None,
    };
    let failure = match open_server(&prepared.link, recorder, tokens, bounds).await {
        Ok(Opened { graded, other }) => {
            let rights = Rights { sandboxed: prepared.sandboxed, foreign: server.command.is_empty() };
            let progress = std::rc::Rc::clone(&outside.progress);
            let work = sandbox.filter(|_| prepared.sandboxed).map(|sandbox| sandbox.work().to_owned());
            let mut state = Drive::new(
                graded,
                prepared.link,
                recorder.clone(),
                tokens.clone(),
                bounds,
                rights,
                work,
                Box::new(move |what| progress(what)),
            );
            // The other era's process is done long before the probes are; it must not outlive its answer.
            let settle = async {
                if let Some(other) = other {
                    other.settle().await;
                }
            };
            tokio::join!(settle, probe(plan, settings, &mut state, fit));
            // Nobody judges how it ends, and waiting for its own exit costs more than the grading: it is ended at once.
            // An HTTP session is ended as the protocol asks.
            match state.session.take() {
                Some(session) if matches!(state.link, Link::Stdio(_)) => session.kill(),
                Some(session) => session.close().await,
                None => {}
            }
            None
        }
        Err(failure) => Some(Failure::start(failure)),
    };
    match launched {
        Some(mut launched) => {
            let ended = launched.ended();
            let stderr = launched.stop().await;
            failure
                .map(|failure| match ended {
                    Some(how) => failure.of_ended(&how),
                    None => failure,
                })
                .map(|failure| failure.with_stderr(stderr))
        }
        None => failure,
    }
}

async fn probe(plan: &Plan, settings: &Settings, state: &mut Drive, fit: &mut Fit) {
    let deadline = tokio::time::Instant::now() + settings.timeout_pack;
    for probe in &plan.probes {
        let Some(drive) = probe.drive else { continue };
        if tokio::time::timeout_at(deadline, drive(state)).await.is_err() {
            let seconds = settings.timeout_pack.as_secs();
            state.not_sent(
                probe.id,
                crate::model::Role::Graded,
                None,
                "pack-timeout",
                &format!("the pack's bound of {seconds} s was reached"),
            );
            return;
        }
        if probe.id == "inventory" {
            state.excluded = excluded(settings, state);
            let excluded = state.excluded.clone();
            state.recorder.header(|header| header.excluded = excluded);
            *fit = fit::fit(settings, &state.surface.tools.entries);
            if fit.impossible.is_some() {
                return;
            }
        }
    }
}

fn excluded(settings: &Settings, state: &Drive) -> Vec<String> {
    let names = state.surface.tools.entries.iter().map(|tool| &tool.name);
    names
        .filter(|name| settings.tools_exclude.iter().any(|pattern| fit::matches_pattern(pattern, name)))
        .cloned()
        .collect()
}

/// How long a launched server may take to end after its stdin was closed.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);
