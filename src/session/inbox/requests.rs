//! Requests under way: which reply belongs to which, and why none will come.

use std::time::Instant;

use serde_json::Value;
use tokio::sync::oneshot;

use super::Inbox;
use crate::{model::ActId, session::answer::Reply};

/// Why nothing more will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Ended {
    /// The server closed its side.
    Eof,
    /// We stopped reading a line at that many bytes.
    Runaway(u64),
}

/// Why one request will not be answered, when its connection is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum Fault {
    /// It never reached the server.
    NotSent(String),
    /// The connection broke before the reply.
    Broken(String),
}

/// One request.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) act: ActId,
    pub(super) method: Option<String>,
    pub(super) sent: Instant,
    pub(super) reply: Option<oneshot::Sender<Reply>>,
    pub(super) standing: Standing,
    fault: Option<Fault>,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waiting,
    Answered,
    /// Taken as unsupported: a result that comes after all is a stray one.
    Abandoned,
}

/// What a reply's id leads to.
pub(super) enum Found {
    Waiting { key: String, complaint: Option<String> },
    Repeated,
    Abandoned { key: String },
    Unknown,
}

/// How an id is written in the table of requests.
pub(in crate::session) fn key(id: &Value) -> String {
    id.to_string()
}

impl Inbox {
    /// Registers a request; its reply comes through the receiver, which closes when none can come any more.
    pub(in crate::session) fn expect(
        &self,
        key: String,
        act: ActId,
        method: Option<String>,
    ) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        let reply = if state.ended.is_some() { None } else { Some(sender) };
        let entry = Entry { act, method, sent: Instant::now(), reply, standing: Standing::Waiting, fault: None };
        state.requests.insert(key, entry);
        receiver
    }

    /// Stops waiting for a reply: a result that comes later is a stray message.
    pub(in crate::session) fn abandon(&self, key: &str) {
        if let Some(entry) = self.lock().requests.get_mut(key)
            && entry.standing == Standing::Waiting
        {
            entry.standing = Standing::Abandoned;
            entry.reply = None;
        }
    }

    /// Notes that a request's own connection failed.
    pub(in crate::session) fn fail(&self, key: &str, fault: Fault) {
        if let Some(entry) = self.lock().requests.get_mut(key)
            && entry.standing == Standing::Waiting
        {
            entry.fault = Some(fault);
            entry.reply = None;
        }
    }

    /// Why that request's own connection failed, if it did.
    pub(in crate::session) fn fault(&self, key: &str) -> Option<Fault> {
        self.lock().requests.get(key)?.fault.clone()
    }

    /// The act that a request belongs to.
    pub(super) fn act_of(&self, key: &str) -> Option<ActId> {
        self.lock().requests.get(key).map(|entry| entry.act)
    }

    /// Whether that request still waits for its reply.
    pub(in crate::session) fn waits(&self, key: &str) -> bool {
        self.lock().requests.get(key).is_some_and(|entry| entry.standing == Standing::Waiting)
    }

    /// Ends waiting for a message that was not to be answered.
    pub(in crate::session) fn settle(&self, key: &str) {
        if let Some(entry) = self.lock().requests.get_mut(key) {
            entry.standing = Standing::Answered;
            entry.reply = None;
        }
    }

    /// Ends all waiting: nothing more will come.
    pub(in crate::session) fn close(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        for entry in state.requests.values_mut() {
            entry.reply = None;
        }
    }

    /// Why nothing more will come, when that is so.
    pub(in crate::session) fn ended(&self) -> Option<Ended> {
        self.lock().ended
    }

    pub(super) fn find(&self, id: &Value) -> Found {
        let state = self.lock();
        let standing = |key: &str| state.requests.get(key).map(|entry| entry.standing);
        let exact = key(id);
        let (key, complaint) = match (standing(&exact), id) {
            (Some(_), _) => (exact, None),
            (None, Value::String(text)) if text.len() <= 20 && standing(text).is_some() => {
                (text.clone(), Some(format!("the id {text} comes back as a text")))
            }
            (None, Value::Number(number)) => {
                match number.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 1e15) {
                    Some(whole) => ((whole as u64).to_string(), Some(format!("the id comes back as {number}"))),
                    None => return Found::Unknown,
                }
            }
            _ => return Found::Unknown,
        };
        match standing(&key) {
            Some(Standing::Waiting) => Found::Waiting { key, complaint },
            Some(Standing::Answered) => Found::Repeated,
            Some(Standing::Abandoned) => Found::Abandoned { key },
            None => Found::Unknown,
        }
    }

    pub(super) fn act(&self, key: &str) -> Option<ActId> {
        self.lock().requests.get(key).map(|entry| entry.act)
    }
}
