//! What became of an act: answered, not sent, hung, or lost with its process.

use std::collections::{HashMap, HashSet};

use crate::{
    check::ActView,
    model::{ENDED_BY_ITSELF, EventKind, EventRef, Role, SessionId, Trace},
};

/// What became of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Fate {
    /// A response came.
    Answered,
    /// An HTTP status refused it without a JSON-RPC response.
    Status(u16),
    /// It was not sent.
    NotSent(String),
    /// No reply within the bound.
    Hung(u64),
    /// The process ended, or the connection closed, before a reply.
    Lost(String),
    /// Sent, and nothing is known: the run ended first.
    Open,
}

/// When each session ended by itself, and until when it still answered.
#[derive(Debug, Default)]
pub(in super::super) struct Sessions {
    exits: HashMap<SessionId, (EventRef, String)>,
    last_reply: HashMap<SessionId, EventRef>,
    /// The last event that belongs to an act of a probe.
    last_of_probe: HashMap<String, EventRef>,
    /// Sessions that ended as one did that was left alone.
    by_themselves: HashSet<SessionId>,
}

impl Sessions {
    /// Reads the trace once.
    pub(in super::super) fn of(trace: &Trace) -> Self {
        let mut sessions = Self::default();
        let by_itself = |act: &&crate::model::Act| act.role == Role::Control && act.variant == ENDED_BY_ITSELF;
        sessions.by_themselves.extend(trace.acts.iter().filter(by_itself).map(|act| act.session));
        for (at, event) in trace.events() {
            if let Some(act) = event.act.and_then(|act| trace.acts.get(act.0 as usize)) {
                match sessions.last_of_probe.get_mut(&act.probe) {
                    Some(last) => *last = at,
                    None => _ = sessions.last_of_probe.insert(act.probe.clone(), at),
                }
            }
            match &event.kind {
                EventKind::Exited { code, signal } => {
                    sessions.exits.entry(event.session).or_insert_with(|| (at, ended(*code, *signal)));
                }
                EventKind::Received { .. } => {
                    sessions.last_reply.insert(event.session, at);
                }
                _ => {}
            }
        }
        sessions
    }

    /// What became of an act.
    pub(in super::super) fn fate(&self, act: &ActView<'_>) -> Fate {
        let (mut sent, mut hung, mut lost, mut status) = (None, None, None, None);
        for (at, event) in act.events() {
            match &event.kind {
                EventKind::Received { .. } => return Fate::Answered,
                EventKind::NotSent { why } => return Fate::NotSent(why.clone()),
                EventKind::Sent { .. } => sent = Some(at),
                EventKind::TimedOut { after_ms } => hung = Some(*after_ms),
                EventKind::Exited { code, signal } => lost = Some(ended(*code, *signal)),
                EventKind::Http { status: code, .. } => status = Some(*code),
                _ => {}
            }
        }
        if let Some(status) = status.filter(|status| *status >= 400) {
            return Fate::Status(status);
        }
        // An exit that came after it, before any reply to it. A probe that was given up ends its process too: only one that went on tells.
        let went_on = |exit: EventRef| self.last_of_probe.get(&act.act.probe).is_some_and(|last| *last > exit);
        let later =
            self.exits.get(&act.act.session).filter(|(at, _)| sent.is_none_or(|sent| *at > sent) && went_on(*at));
        match (lost, later, hung) {
            (Some(how), _, _) => Fate::Lost(how),
            (None, Some((_, how)), None) if sent.is_some() => Fate::Lost(how.clone()),
            (None, _, Some(after_ms)) => Fate::Hung(after_ms),
            _ => Fate::Open,
        }
    }

    /// Whether a session ended as one did that was sent nothing.
    pub(in super::super) fn ended_by_itself(&self, session: SessionId) -> bool {
        self.by_themselves.contains(&session)
    }

    /// Sessions that ended as one did that was sent nothing, and how.
    pub(in super::super) fn ends_by_themselves(&self) -> impl Iterator<Item = (SessionId, Option<&str>)> {
        let how = |session: &SessionId| self.exits.get(session).map(|(_, how)| how.as_str());
        self.by_themselves.iter().map(move |session| (*session, how(session)))
    }

    /// Whether the act's session answered anything after the act was given up.
    pub(in super::super) fn answered_after(&self, act: &ActView<'_>) -> bool {
        let given_up =
            act.events().find(|(_, event)| matches!(event.kind, EventKind::TimedOut { .. })).map(|(at, _)| at);
        given_up.is_some_and(|given_up| self.last_reply.get(&act.act.session).is_some_and(|last| *last > given_up))
    }
}

fn ended(code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        (_, Some(signal)) => format!("ended by signal {signal}"),
        (Some(code), None) => format!("exit code {code}"),
        (None, None) => "connection closed".to_owned(),
    }
}
