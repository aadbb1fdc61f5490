//! Literal traces for the tests of the checks that read refusals.

use serde_json::{Value, json};

use crate::{
    check::{Check, Index, View},
    model::{
        Act, ActId, Era, Event, EventKind, EventRef, Header, Judgement, Outcome, Payload, Role, SessionId, Surface,
        Tool, Trace,
    },
};

/// A trace in the making.
pub(in super::super) struct Script {
    pub(in super::super) trace: Trace,
    pub(in super::super) surface: Surface,
}

impl Script {
    /// A listed server with these tools.
    pub(in super::super) fn new(tools: &[&str]) -> Self {
        let mut surface = Surface::default();
        surface.tools.asked = true;
        surface.tools.entries = tools
            .iter()
            .map(|name| Tool { name: (*name).to_owned(), raw: json!({"name": name}), listed_in: EventRef(0) })
            .collect();
        Self { trace: Trace::new(Header::default()), surface }
    }

    fn act(&mut self, session: u16, probe: &str, role: Role, tool: Option<&str>, variant: &str, replay: bool) -> ActId {
        let act = Act {
            session: SessionId(session),
            probe: probe.to_owned(),
            role,
            tool: tool.map(str::to_owned),
            variant: variant.to_owned(),
            era: Era::Legacy,
            replay,
        };
        self.trace.acts.push(act);
        ActId(self.trace.acts.len() as u32 - 1)
    }

    fn event(&mut self, act: ActId, kind: EventKind) {
        let session = self.trace.acts[act.0 as usize].session;
        self.trace.events.push(Event { session, act: Some(act), kind });
    }

    fn sent(&mut self, act: ActId, frame: Value) {
        let frame = Payload::Text(frame.to_string());
        self.event(
            act,
            EventKind::Sent { id: Some(json!(1)), method: Some("tools/call".to_owned()), frame, carries: Vec::new() },
        );
    }

    fn received(&mut self, act: ActId, frame: Value, outcome: Outcome) {
        let frame = Payload::Text(frame.to_string());
        self.event(
            act,
            EventKind::Received { frame, outcome, schema: Vec::new(), sdk: None, hits: Vec::new(), elapsed_ms: 1 },
        );
    }

    /// A graded call with its arguments, answered so.
    pub(in super::super) fn call(&mut self, tool: &str, variant: &str, arguments: Value, outcome: Outcome) -> ActId {
        let act = self.act(0, "invalid-calls", Role::Graded, Some(tool), variant, false);
        self.sent(act, json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}}));
        self.received(act, json!({}), outcome);
        act
    }

    /// A graded call answered by `isError: true` with that text.
    pub(in super::super) fn refused(&mut self, tool: &str, variant: &str, text: &str) -> ActId {
        self.call(tool, variant, json!({}), Outcome::Result { is_error: Some(true), text: text.to_owned() })
    }

    /// A graded call answered by a success with that text.
    pub(in super::super) fn accepted(&mut self, tool: &str, variant: &str, text: &str) -> ActId {
        self.call(tool, variant, json!({}), Outcome::Result { is_error: None, text: text.to_owned() })
    }

    /// An act of any role that is sent, with the events that follow it.
    pub(in super::super) fn then(
        &mut self,
        session: u16,
        probe: &str,
        role: Role,
        tool: Option<&str>,
        variant: &str,
        events: Vec<EventKind>,
    ) -> ActId {
        let act = self.act(session, probe, role, tool, variant, false);
        self.sent(act, json!({"method": "x"}));
        for kind in events {
            self.event(act, kind);
        }
        act
    }

    /// The same, repeated alone.
    pub(in super::super) fn again(
        &mut self,
        session: u16,
        probe: &str,
        role: Role,
        tool: Option<&str>,
        variant: &str,
        events: Vec<EventKind>,
    ) -> ActId {
        let act = self.then(session, probe, role, tool, variant, events);
        self.trace.acts[act.0 as usize].replay = true;
        act
    }

    /// A graded call that was not sent.
    pub(in super::super) fn not_sent(&mut self, tool: Option<&str>, variant: &str, why: &str) {
        let act = self.act(0, "invalid-calls", Role::Graded, tool, variant, false);
        self.event(act, EventKind::NotSent { why: why.to_owned() });
    }

    /// An event of an act.
    pub(in super::super) fn happened(&mut self, act: ActId, kind: EventKind) {
        self.event(act, kind);
    }

    /// The check's judgement.
    pub(in super::super) fn judge(&self, check: &'static Check) -> Judgement {
        let index = Index::of(&self.trace);
        (check.judge)(&View { trace: &self.trace, surface: &self.surface, check, index: &index })
    }
}

/// A reply with that result.
pub(in super::super) fn reply(result: Value) -> EventKind {
    let frame = Payload::Text(json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string());
    let outcome = Outcome::Result { is_error: None, text: String::new() };
    EventKind::Received { frame, outcome, schema: Vec::new(), sdk: None, hits: Vec::new(), elapsed_ms: 1 }
}

/// A JSON-RPC error.
pub(in super::super) fn error(message: &str) -> Outcome {
    Outcome::Error { code: Some(-32602), message: message.to_owned() }
}

/// No reply within a bound.
pub(in super::super) fn silence() -> EventKind {
    EventKind::TimedOut { after_ms: 5_000 }
}

/// The process ended.
pub(in super::super) fn exit(code: i32) -> EventKind {
    EventKind::Exited { code: Some(code), signal: None }
}
