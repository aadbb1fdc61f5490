//! What every probe works with: the graded session, and how to get another one when a server dies of a probe.

use std::{path::PathBuf, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    model::{Act, ActId, ENDED_BY_ITSELF, EventKind, Role, Surface, Tool},
    session::{Bounds, Link, Recorder, Session, Tokens, lifecycle},
    targets::Snapshot,
};

/// Fresh processes one run may start after the server died of probes: enough to name several culprits, few enough to end.
const MAX_RESTARTS: u8 = 12;
/// A process that ended sooner after its handshake did so because of what it was sent.
const SUDDEN: Duration = Duration::from_secs(1);
/// How long a control process is left alone, at most.
const MAX_IDLE: Duration = Duration::from_secs(15);

/// What may be sent to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// It runs in a sandbox of ours: whatever a lenient server does stays there.
    pub sandboxed: bool,
    /// It was running before us: nothing that a lenient server could carry out is sent to a tool that may write.
    pub foreign: bool,
}

/// The state of one run against one server.
pub struct Drive {
    /// The graded session; replaced after a crash. `None` once the server cannot be started any more.
    pub session: Option<Session>,
    /// How to reach the server again.
    pub link: Link,
    /// Where everything goes.
    pub recorder: Recorder,
    /// This run's tokens.
    pub tokens: Tokens,
    /// How long things may take.
    pub bounds: Bounds,
    /// What may be sent.
    pub rights: Rights,
    /// What the server offers; filled by the inventory.
    pub surface: Surface,
    /// Names of tools that `tools.exclude` leaves alone.
    pub excluded: Vec<String>,
    /// The server's working directory when we own it.
    pub work: Option<PathBuf>,
    /// Tells the user what is going on.
    pub progress: Box<dyn Fn(&str)>,
    restarts_left: u8,
    opened: Instant,
    /// Whether the control was made, and after what time the process ended that was left alone.
    control: Option<Option<Duration>>,
}

impl Drive {
    /// Starts with an opened session.
    #[expect(clippy::too_many_arguments, reason = "one constructor that names every part beats a builder used once")]
    pub fn new(
        session: Session,
        link: Link,
        recorder: Recorder,
        tokens: Tokens,
        bounds: Bounds,
        rights: Rights,
        work: Option<PathBuf>,
        progress: Box<dyn Fn(&str)>,
    ) -> Self {
        Self {
            session: Some(session),
            link,
            recorder,
            tokens,
            bounds,
            rights,
            surface: Surface::default(),
            excluded: Vec::new(),
            work,
            progress,
            restarts_left: MAX_RESTARTS,
            opened: Instant::now(),
            control: None,
        }
    }

    /// Allows a probe that many fresh processes from now on.
    pub fn grant_restarts(&mut self, most: u8) {
        self.restarts_left = most;
    }

    /// The tools that may be called, in listing order: entries with a duplicate name count once.
    pub fn callable(&self) -> Vec<Tool> {
        let mut seen = std::collections::HashSet::new();
        let tools = self.surface.tools.entries.iter();
        tools.filter(|tool| !self.excluded.contains(&tool.name) && seen.insert(tool.name.as_str())).cloned().collect()
    }

    /// Notes an act of the current session (or of the last one, when there is none any more).
    pub fn act(&self, probe: &str, role: Role, tool: Option<&str>, variant: &str, replay: bool) -> Option<ActId> {
        let session = self.session.as_ref()?;
        Some(self.recorder.act(Act {
            session: session.id(),
            probe: probe.to_owned(),
            role,
            tool: tool.map(str::to_owned),
            variant: variant.to_owned(),
            era: session.era(),
            replay,
        }))
    }

    /// Records that something was not sent and why: how absence gets into the record.
    pub fn not_sent(&self, probe: &str, role: Role, tool: Option<&str>, variant: &str, why: &str) {
        let (session, era) = match &self.session {
            Some(session) => (session.id(), session.era()),
            None => self.recorder.read(|trace| {
                let era = trace.header.revision.map_or(crate::model::Era::Legacy, |revision| revision.era());
                (trace.header.graded.unwrap_or(crate::model::SessionId(0)), era)
            }),
        };
        let act = Act {
            session,
            probe: probe.to_owned(),
            role,
            tool: tool.map(str::to_owned),
            variant: variant.to_owned(),
            era,
            replay: false,
        };
        let act = self.recorder.act(act);
        self.recorder.push(session, Some(act), EventKind::NotSent { why: why.to_owned() });
    }

    /// Whether the current session can still be used.
    pub fn usable(&mut self) -> bool {
        self.session.as_mut().is_some_and(Session::open_still)
    }

    /// Ends the current session and opens another one in the same era, for a replay or to go on after a crash.
    /// False when the server cannot be started any more or was started too often.
    pub async fn restart(&mut self, purpose: &str) -> bool {
        let Some(old) = self.session.take() else { return false };
        let (era, revision) = (old.era(), old.revision());
        old.close().await;
        let Some(left) = self.restarts_left.checked_sub(1) else { return false };
        self.restarts_left = left;
        self.session =
            lifecycle::reopen(&self.link, purpose, (era, revision), &self.recorder, &self.tokens, self.bounds)
                .await
                .ok();
        self.opened = Instant::now();
        self.session.is_some()
    }

    /// Whether the process that has just ended does so whatever it is sent: a control process is left alone for as long
    /// as this one lived, once per run, and then asked for a sign of life. What ends by itself is noted on its session.
    pub async fn ended_by_itself(&mut self, probe: &str) -> bool {
        let lived = self.opened.elapsed();
        let Some(session) = &self.session else { return false };
        if lived < SUDDEN || !matches!(self.link, Link::Stdio(_)) {
            return false;
        }
        let (ended, era) = (session.id(), session.era());
        if self.control.is_none() {
            self.control = Some(self.left_alone(probe, lived).await);
        }
        // Its clock may have started with the process, ours starts with the handshake.
        let alone = self.control.flatten().is_some_and(|after| lived >= after * 4 / 5);
        if alone {
            let act = Act {
                session: ended,
                probe: probe.to_owned(),
                role: Role::Control,
                tool: None,
                variant: ENDED_BY_ITSELF.to_owned(),
                era,
                replay: false,
            };
            self.recorder.act(act);
        }
        alone
    }

    /// Starts a process, sends it nothing, and says after what time it had ended.
    async fn left_alone(&mut self, probe: &str, lived: Duration) -> Option<Duration> {
        if !self.restart("control").await {
            return None;
        }
        (self.progress)("leaving the server alone to see whether it ends by itself");
        let act = self.act(probe, Role::Control, None, "left-alone", false)?;
        let session = self.session.as_mut()?;
        let ended = session.idle(act, (lived * 5 / 4 + SUDDEN / 2).min(MAX_IDLE)).await
            || session.alive(act).await.reply().is_none();
        ended.then(|| self.opened.elapsed().min(lived))
    }

    /// The sandbox's content now, when it is ours.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.work.as_ref().map(|work| Snapshot::take(&[(work.as_path(), "{sandbox}")]))
    }

    /// Records what changed in the sandbox since `before`, on that act; returns what is there now.
    pub fn record_changes(&self, before: Option<Snapshot>, act: ActId) -> Option<Snapshot> {
        let after = self.snapshot()?;
        if let (Some(before), Some(session)) = (before, &self.session) {
            for change in after.changes_since(&before) {
                let kind = EventKind::FileChanged { path: change.path, change: change.change.to_owned() };
                self.recorder.push(session.id(), Some(act), kind);
            }
        }
        Some(after)
    }

    /// How long one call may take.
    pub fn call_bound(&self) -> Duration {
        self.bounds.call
    }
}

/// The parameters of a `tools/call`.
pub fn call_params(tool: &str, arguments: Value) -> Value {
    serde_json::json!({ "name": tool, "arguments": arguments })
}
