//! Everything a server says arrives here: it is recorded, matched with the request it answers, and handed on.

mod keeping;
mod requests;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

pub(super) use self::{
    keeping::Keep,
    requests::{Ended, Fault, key},
};
use self::{
    keeping::{Raw, SPARE},
    requests::{Entry, Found, Standing},
};
use super::{
    acceptance::{self, Acceptance},
    answer::Reply,
    attribution,
    frame::Frame,
    message::{self, Body, Message},
    parse, reading,
    recorder::Recorder,
    tokens::Tokens,
    weight,
};
use crate::model::{ActId, EventKind, EventRef, Hit, Outcome, Revision, SessionId};

/// Noise, stray messages, notifications and requests kept of each kind in one session.
const KEPT: u64 = 1_000;

/// The inbox of one session. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Inbox {
    pub(super) session: SessionId,
    pub(super) recorder: Recorder,
    pub(super) tokens: Tokens,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    requests: HashMap<String, Entry>,
    revision: Revision,
    /// How many of each kind came.
    seen: [u64; 4],
    ended: Option<Ended>,
}

/// What is known about a frame besides its bytes.
#[derive(Debug, Default)]
pub(super) struct Source<'s> {
    /// The request whose own stream it came on (HTTP).
    pub(super) paired: Option<&'s str>,
    /// Said when the frame is no response (`HTTP 404 with content type text/html`).
    pub(super) place: Option<String>,
    /// A complaint about the way a reply came.
    pub(super) note: Option<String>,
    /// What is missing behind it (`line end`), when it was never finished.
    pub(super) unfinished: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Kind {
    Noise,
    Stray,
    Notification,
    Request,
}

impl Kind {
    const WORDS: [&'static str; 4] = ["noise lines", "stray messages", "notifications", "requests from the server"];
}

/// A message with what is recorded beside it.
struct Arrived {
    frame: Raw,
    hits: Vec<Hit>,
    notes: Vec<String>,
    refused: Option<String>,
}

/// What to do with a message.
enum Step {
    Answer(String),
    Stray(String),
    Serve { method: String, answer: Value },
    Notice(String),
    Noise,
}

impl Inbox {
    pub(super) fn new(session: SessionId, recorder: Recorder, tokens: Tokens) -> Self {
        let state = State { requests: HashMap::new(), revision: Revision::NEWEST_LEGACY, seen: [0; 4], ended: None };
        Self { session, recorder, tokens, state: Arc::new(Mutex::new(state)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the revision whose schema replies are held against.
    pub(super) fn set_revision(&self, revision: Revision) {
        self.lock().revision = revision;
    }

    /// Records how much was dropped at the bounds.
    pub(super) fn finish(&self) {
        let seen = std::mem::take(&mut self.lock().seen);
        for (words, seen) in Kind::WORDS.iter().zip(seen) {
            if seen > KEPT {
                let what = format!("{words} kept ({} more came)", seen - KEPT);
                self.push(None, EventKind::Bound { what, limit: KEPT });
            }
        }
    }

    /// Records an answer of ours to a request of the server.
    pub(super) fn answered(&self, frame: &[u8]) {
        let carries = self.tokens.carried(frame);
        let frame = self.payload(frame.to_vec(), Keep::Aside);
        self.push(None, EventKind::Sent { id: None, method: None, frame, carries });
    }

    /// Records an event of this session.
    pub(super) fn push(&self, act: Option<ActId>, kind: EventKind) -> EventRef {
        self.recorder.push(self.session, act, kind)
    }

    /// Takes in one frame; what is returned is to be written to the server.
    pub(super) fn accept(&self, frame: Frame, source: &Source<'_>) -> Vec<Vec<u8>> {
        match frame {
            Frame::Whole(bytes) => self.whole(bytes, source),
            Frame::Digested(mut digested) => {
                let why = format!("{} bytes in one message, past the bound of 32 MiB", digested.len);
                let hits = std::mem::take(&mut digested.hits);
                let limit = super::frame::KEPT as u64;
                let arrived =
                    Arrived { frame: Raw::Digest(digested.payload()), hits, notes: Vec::new(), refused: None };
                let target = self.meant(&digested.head, &digested.tail, source);
                let act = target.as_ref().and_then(|key| self.act(key));
                self.push(act, EventKind::Bound { what: "bytes of one message".to_owned(), limit });
                self.unreadable(arrived, target, why);
                Vec::new()
            }
        }
    }

    /// Records that a request's own stream ended without a reply to it.
    pub(super) fn unanswered(&self, key: &str, why: String) {
        if self.waits(key) {
            let frame = Raw::Bytes(Vec::new());
            let arrived = Arrived { frame, hits: Vec::new(), notes: Vec::new(), refused: None };
            self.received(key, arrived, Outcome::Malformed { why }, None);
        }
    }

    fn whole(&self, bytes: Vec<u8>, source: &Source<'_>) -> Vec<Vec<u8>> {
        let hits = self.tokens.scan(&bytes);
        let parsed = match weight::excess(&bytes) {
            None => parse::parse(&bytes),
            Some((what, limit)) => {
                let act = self.meant(&bytes, &bytes, source).and_then(|key| self.act(&key));
                self.push(act, EventKind::Bound { what: what.to_owned(), limit });
                Err(format!("too many {what} (the bound is {limit})"))
            }
        };
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(why) => {
                let target = self.meant(&bytes, &bytes, source);
                let arrived = Arrived { frame: Raw::Bytes(bytes), hits, notes: Vec::new(), refused: None };
                let why = source.place.clone().unwrap_or(format!("not valid JSON: {why}"));
                self.unreadable(arrived, target, why);
                return Vec::new();
            }
        };
        match parsed.value {
            Value::Array(elements) if elements.iter().any(|element| message::read(element) != Message::Foreign) => {
                drop(bytes);
                let mut answers = Vec::new();
                for element in elements {
                    let text = element.to_string().into_bytes();
                    let hits = self.tokens.scan(&text);
                    let mut notes = parsed.notes.clone();
                    if self.lock().revision != Revision::V2025_03_26 {
                        notes.push("it stands in a batch array, which only revision 2025-03-26 knows".to_owned());
                    }
                    let arrived = Arrived { frame: Raw::Bytes(text), hits, notes, refused: parsed.refused.clone() };
                    answers.extend(self.message(element, arrived, source));
                }
                answers
            }
            value => {
                let arrived = Arrived { frame: Raw::Bytes(bytes), hits, notes: parsed.notes, refused: parsed.refused };
                self.message(value, arrived, source).into_iter().collect()
            }
        }
    }

    /// Handles one JSON value of the wire; what is returned is to be written to the server.
    fn message(&self, value: Value, mut arrived: Arrived, source: &Source<'_>) -> Option<Vec<u8>> {
        let step = match message::read(&value) {
            Message::Response { id, body } => match (self.find(id), body) {
                (Found::Waiting { key, complaint }, _) => {
                    arrived.notes.extend(complaint);
                    Step::Answer(key)
                }
                (_, Body::Malformed(_)) if value.get("jsonrpc").is_none() => Step::Noise,
                (Found::Abandoned { key }, Body::Error(_)) => Step::Answer(key),
                (Found::Abandoned { .. }, _) => Step::Stray("a reply that came too late to be used".to_owned()),
                (Found::Repeated, _) => Step::Stray(format!("a second reply to request {}", brief(id))),
                (Found::Unknown, _) => Step::Stray(format!("its id {} is none of ours", brief(id))),
            },
            Message::Anonymous { why, error } => match source.paired.filter(|key| error && self.waits(key)) {
                Some(key) => Step::Answer(key.to_owned()),
                None => Step::Stray(why.to_owned()),
            },
            Message::Request { id, method } => Step::Serve { method: brief_text(method), answer: served(id, method) },
            Message::Notification { method } => Step::Notice(brief_text(method)),
            Message::Strange { why } => Step::Stray(why),
            Message::Foreign => Step::Noise,
        };
        match step {
            Step::Answer(key) => self.answer(&key, value, arrived, source),
            Step::Stray(why) => {
                if self.room(Kind::Stray) {
                    let frame = self.kept(arrived.frame, Keep::Aside);
                    let act = source.paired.and_then(|key| self.act_of(key));
                    self.push(act, EventKind::Stray { frame, why, hits: arrived.hits });
                }
            }
            Step::Serve { method, answer } => {
                if self.room(Kind::Request) {
                    let frame = self.kept(arrived.frame, Keep::Aside);
                    self.push(None, EventKind::ServerRequest { method, frame });
                    return Some(answer.to_string().into_bytes());
                }
            }
            Step::Notice(method) => {
                if self.room(Kind::Notification) {
                    let frame = self.kept(arrived.frame, Keep::Aside);
                    self.push(None, EventKind::Notification { method, frame, hits: arrived.hits });
                }
            }
            Step::Noise => self.noise(arrived, source),
        }
        None
    }

    /// Records the response to a request and hands it on.
    fn answer(&self, key: &str, value: Value, mut arrived: Arrived, source: &Source<'_>) {
        let (method, revision) = {
            let state = self.lock();
            (state.requests.get(key).and_then(|entry| entry.method.clone()), state.revision)
        };
        let (mut outcome, verdicts) = match message::read(&value) {
            Message::Response { body: Body::Result(result), .. } => {
                let verdicts = match method.as_deref() {
                    Some(method) => acceptance::result(spoken(method, result, revision), method, result),
                    None => Acceptance::default(),
                };
                (reading::result(result), verdicts)
            }
            Message::Response { body: Body::Malformed(why), .. } => (Outcome::Malformed { why }, Acceptance::default()),
            _ => match value.get("error") {
                Some(error) => (reading::error(error), acceptance::error(revision, error)),
                None => (Outcome::Malformed { why: "no result".to_owned() }, Acceptance::default()),
            },
        };
        if let Some(missing) = source.unfinished {
            outcome =
                Outcome::Malformed { why: format!("no {missing} follows the reply: clients wait for it for ever") };
        }
        arrived.notes.extend(source.note.clone());
        arrived.notes.extend(verdicts.schema);
        arrived.refused = arrived.refused.or(verdicts.sdk);
        self.received(key, arrived, outcome, Some(value));
    }

    fn received(&self, key: &str, arrived: Arrived, mut outcome: Outcome, value: Option<Value>) {
        let size = match &outcome {
            Outcome::Result { text, .. } => text.len(),
            Outcome::Error { message, .. } => message.len(),
            Outcome::Malformed { why } => why.len(),
        };
        if size > SPARE && !self.recorder.afford(self.session, size) {
            reading::cut(&mut outcome, SPARE);
        }
        let listing = self.listing(key);
        let (act, elapsed_ms, reply) = {
            let mut state = self.lock();
            let Some(entry) = state.requests.get_mut(key) else { return };
            entry.standing = Standing::Answered;
            let elapsed = u64::try_from(entry.sent.elapsed().as_millis()).unwrap_or(u64::MAX);
            (entry.act, elapsed, entry.reply.take())
        };
        let Arrived { frame, hits, notes, refused } = arrived;
        let frame = self.kept(frame, if listing { Keep::Listing } else { Keep::Exchange });
        let kind = EventKind::Received { frame, outcome, schema: notes, sdk: refused, hits, elapsed_ms };
        let at = self.push(Some(act), kind);
        if let Some(reply) = reply {
            // Nobody waits any more: the record is what counts.
            let _ = reply.send(Reply { at, value });
        }
    }

    /// Records a frame that could not be read: as the reply it was meant to be, or as noise.
    fn unreadable(&self, arrived: Arrived, target: Option<String>, why: String) {
        match target {
            Some(key) => self.received(&key, arrived, Outcome::Malformed { why }, None),
            None => self.noise(arrived, &Source::default()),
        }
    }

    fn noise(&self, arrived: Arrived, source: &Source<'_>) {
        if let (Some(key), Some(place)) = (source.paired.filter(|key| self.waits(key)), &source.place) {
            self.received(key, arrived, Outcome::Malformed { why: place.clone() }, None);
        } else if self.room(Kind::Noise) {
            let line = self.kept(arrived.frame, Keep::Aside);
            self.push(None, EventKind::Noise { line, hits: arrived.hits });
        }
    }

    /// Whether one more of that kind is kept.
    fn room(&self, kind: Kind) -> bool {
        let mut state = self.lock();
        let seen = &mut state.seen[kind as usize];
        *seen += 1;
        *seen <= KEPT
    }

    /// The waiting request that an unreadable frame was meant to answer.
    fn meant(&self, head: &[u8], tail: &[u8], source: &Source<'_>) -> Option<String> {
        if let Some(id) = attribution::answered(head, tail)
            && let Found::Waiting { key, .. } = self.find(&id)
        {
            return Some(key);
        }
        source.paired.filter(|key| self.waits(key)).map(str::to_owned)
    }
}

/// The revision a handshake's result speaks, the session's for everything else.
fn spoken(method: &str, result: &Value, revision: Revision) -> Revision {
    match method {
        "initialize" => result
            .get("protocolVersion")
            .and_then(Value::as_str)
            .and_then(Revision::parse)
            .filter(|revision| *revision <= Revision::NEWEST_LEGACY)
            .unwrap_or(Revision::NEWEST_LEGACY),
        "server/discover" => Revision::NEWEST_MODERN,
        _ => revision,
    }
}

/// What a request from the server gets: we declare no capability, so only `ping` works.
fn served(id: &Value, method: &str) -> Value {
    if method == "ping" {
        json!({ "jsonrpc": "2.0", "id": id, "result": {} })
    } else {
        let error = json!({ "code": -32601, "message": "the client declares no capabilities" });
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

fn brief(value: &Value) -> String {
    brief_text(&value.to_string())
}

fn brief_text(text: &str) -> String {
    text.chars().take(200).collect()
}
