//! What `protocol` reads off the wire beyond the handshake and the listing: noise, replies and tool results.

use serde_json::Value;

use super::{
    CHECK,
    case::{Case, Found, apart, count, method, quoted, spelled_out, verdicts},
};
use crate::{
    check::ActView,
    model::{ActId, Era, Event, EventKind, EventRef, Outcome, Payload, Role, Verdict, trace::Transport},
};

/// Stress variants that are ordinary messages: what they draw counts like any other reply. (A server may echo deep
/// nesting, and then no parser reads its reply.)
const ORDINARY: &[&str] = &["long-string"];

impl Case<'_, '_> {
    /// Lines on stdout that are no messages. What comes after malformed input no honest client would have drawn.
    pub(super) fn noise(&mut self) {
        if self.view.trace.header.transport != Transport::Stdio {
            return;
        }
        let provoked = self.provoked();
        let noise = self.events().filter_map(|(at, event)| match &event.kind {
            EventKind::Noise { line, .. } => Some((at, line)),
            _ => None,
        });
        let (before, after): (Vec<_>, Vec<_>) = noise.partition(|(at, _)| *at < provoked);
        let found: Vec<_> = before
            .iter()
            .take(100)
            .map(|(at, line)| Found::at(*at, format!("not a JSON-RPC message: {}", quoted(line.text()))))
            .collect();
        let hidden = before.len() - found.len();
        if self.add_some(Verdict::Part, "stdout-noise", "protocol.stdout-noise", found, hidden) > 0 {
            let dropped =
                |event: &Event| matches!(&event.kind, EventKind::Bound { what, .. } if what.starts_with("noise"));
            let least = if self.events().any(|(_, event)| dropped(event)) { "at least " } else { "" };
            self.reason(Verdict::Part, format!("{least}{} on stdout not JSON-RPC", count(before.len(), "line")));
        }
        let after: Vec<_> = after.into_iter().filter(|(_, line)| !is_batch_reply(line)).collect();
        if let Some((at, line)) = after.first() {
            let text = format!("{} only after malformed input: {}", count(after.len(), "line"), quoted(line.text()));
            self.note("stdout-noise", "protocol.note", Found::at(*at, text));
        }
    }

    /// Replies that are no proper JSON-RPC, and messages that answer nothing.
    pub(super) fn messages(&mut self) {
        let provoked = self.provoked();
        let mut found = Vec::new();
        for (at, event) in self.events().take_while(|(at, _)| *at < provoked) {
            if let EventKind::Stray { frame, why, .. } = &event.kind
                && !event.act.is_some_and(|act| self.is_aside(act))
                && !frame.json().is_some_and(|frame| is_unplaced_error(&frame) || self.is_late(at, &frame))
            {
                found.push(Found::at(at, why));
            }
        }
        // A listing of which nothing can be read is a finding of its own.
        let rejected = self.view.surface.tools.rejected.is_some();
        for probe in CHECK.needs {
            for act in self.acts(probe).filter(|act| !self.is_aside(act.id)) {
                if let Some(fault) = reply_fault(&act).filter(|_| !(rejected && act.act.role == Role::Listing)) {
                    found.push(Found::of(&act, fault));
                }
            }
        }
        let faults = self.add(Verdict::Part, "message", "protocol.message", found);
        if faults > 0 {
            self.reason(Verdict::Part, format!("{} not proper JSON-RPC", count(faults, "reply")));
        }
    }

    /// Results of tool calls, in every session of the core pack.
    pub(super) fn results(&mut self) {
        let (mut all, mut found) = (0_usize, Vec::new());
        let revision = self.revision();
        for probe in ["invalid-calls", "no-argument-calls", "stress"] {
            for act in self.view.acts(probe).filter(|act| !is_malformed(act.act.role, &act.act.variant)) {
                let Some((schema, sdk)) = verdicts(&act).filter(|_| method(&act) == Some("tools/call")) else {
                    continue;
                };
                all += 1;
                let fault = match (spelled_out(schema), sdk) {
                    (([], _), None) => continue,
                    (([], _), Some(sdk)) => format!("valid by {revision}, but the SDK's types refuse it: {sdk}"),
                    (([first, rest @ ..], hidden), sdk) => {
                        let more = match rest.len() + hidden {
                            0 => String::new(),
                            more => format!(" (and {more} more)"),
                        };
                        let sdk = sdk.map_or("accept it".to_owned(), |sdk| format!("refuse it too: {sdk}"));
                        format!("breaks the schema of {revision}: {first}{more}; the SDK's types {sdk}")
                    }
                };
                found.push(Found::of(&act, fault));
            }
        }
        let invalid = self.add(Verdict::Part, "invalid-result", "protocol.invalid-result", found);
        if invalid > 0 {
            self.reason(Verdict::Part, format!("{invalid} of {} not valid MCP", count(all, "tool result")));
        }
    }

    /// Whether an answer to it says nothing about the revision graded in: stress input (an HTTP stack may refuse a megabyte with
    /// a page of its own), and the question whether a legacy server is a modern one.
    fn is_aside(&self, act: ActId) -> bool {
        let legacy = self.view.trace.header.revision.is_none_or(|revision| revision.era() == Era::Legacy);
        let acts = &self.view.trace.acts;
        acts.get(act.0 as usize).is_some_and(|act| act.role == Role::Stress || (legacy && act.opens(Era::Modern)))
    }

    /// Whether a message is the only reply to a request of ours, come when nobody waited for it any more.
    fn is_late(&self, at: EventRef, frame: &Value) -> bool {
        let before = || self.events().take_while(move |(earlier, _)| *earlier < at);
        let asked = before().find_map(|(_, event)| match &event.kind {
            EventKind::Sent { id: Some(id), .. } if frame.get("id") == Some(id) => event.act,
            _ => None,
        });
        asked.is_some()
            && !before().any(|(_, event)| event.act == asked && matches!(event.kind, EventKind::Received { .. }))
    }

    /// The first malformed frame we sent in the graded session: what comes later may be our own doing.
    fn provoked(&self) -> EventRef {
        let acts = &self.view.trace.acts;
        let malformed = |event: &Event| {
            let act = event.act.and_then(|act| acts.get(act.0 as usize));
            matches!(event.kind, EventKind::Sent { .. }) && act.is_some_and(|act| is_malformed(act.role, &act.variant))
        };
        self.events().find(|(_, event)| malformed(event)).map_or(EventRef(u32::MAX), |(at, _)| at)
    }
}

/// What is wrong with a reply as a JSON-RPC message. One that passed a bound of ours was not read, so nothing is.
fn reply_fault(act: &ActView<'_>) -> Option<String> {
    if act.events().any(|(_, event)| matches!(event.kind, EventKind::Bound { .. })) {
        return None;
    }
    act.events().find_map(|(_, event)| {
        let EventKind::Received { outcome, schema, .. } = &event.kind else { return None };
        let (notes, complaints) = apart(schema);
        match outcome {
            Outcome::Malformed { why } => Some(why.clone()),
            Outcome::Error { .. } if !complaints.is_empty() => {
                Some(format!("the error breaks the schema: {}", complaints[0]))
            }
            _ => notes.first().cloned(),
        }
    })
}

/// An error reply that names no request: JSON-RPC's form for input that could not be tied to one.
fn is_unplaced_error(frame: &Value) -> bool {
    frame.get("error").is_some() && frame.get("result").is_none() && frame.get("id").is_none_or(Value::is_null)
}

/// A JSON-RPC batch of replies: the answer to the batch that the stress probe sends.
fn is_batch_reply(line: &Payload) -> bool {
    matches!(line.json(), Some(Value::Array(replies)) if replies.iter().all(|reply| reply.get("jsonrpc").is_some()))
}

fn is_malformed(role: Role, variant: &str) -> bool {
    role == Role::Stress && !ORDINARY.contains(&variant)
}
