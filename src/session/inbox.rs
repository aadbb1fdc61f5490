//! Everything a server says arrives here: it is recorded, matched with the request it answers, and handed on.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use base64::Engine as _;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    acceptance::{self, Acceptance},
    attribution,
    client::Reply,
    frame::{Digested, END, Frame},
    message::{self, Body, Message},
    parse, reading,
    recorder::Recorder,
    tokens::Tokens,
    weight,
};
use crate::model::{ActId, EventKind, EventRef, Hit, Outcome, Payload, Revision, Role, SessionId};

/// Bytes of a frame kept whole, listings and handshakes apart.
const WHOLE: usize = 256 * 1024;
/// Noise, stray messages, notifications and requests kept of each kind in one session.
const KEPT: u64 = 1_000;
/// Bytes of either end, and of readable text, once the record's budget is spent.
const SPARE: usize = 512;

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

/// Why nothing more will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The server closed its side.
    Eof,
    /// We stopped reading a line at that many bytes.
    Runaway(u64),
}

/// Why one request will not be answered, when its connection is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It never reached the server.
    NotSent(String),
    /// The connection broke before the reply.
    Broken(String),
}

#[derive(Debug)]
struct Entry {
    act: ActId,
    method: Option<String>,
    sent: Instant,
    reply: Option<oneshot::Sender<Reply>>,
    standing: Standing,
    fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting,
    Answered,
    /// Taken as unsupported: a result that comes after all is a stray one.
    Abandoned,
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
    frame: Payload,
    hits: Vec<Hit>,
    notes: Vec<String>,
    refused: Option<String>,
}

enum Found {
    Waiting { key: String, complaint: Option<String> },
    Repeated,
    Abandoned { key: String },
    Unknown,
}

/// What to do with a message.
enum Step {
    Answer(String),
    Stray(String),
    Serve { method: String, answer: Value },
    Notice(String),
    Noise,
}

/// How an id is written in the table of requests.
pub(super) fn key(id: &Value) -> String {
    id.to_string()
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

    /// Registers a request; its reply comes through the receiver, which closes when none can come any more.
    pub(super) fn expect(&self, key: String, act: ActId, method: Option<String>) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        let reply = if state.ended.is_some() { None } else { Some(sender) };
        let entry = Entry { act, method, sent: Instant::now(), reply, standing: Standing::Waiting, fault: None };
        state.requests.insert(key, entry);
        receiver
    }

    /// Stops waiting for a reply: a result that comes later is a stray message.
    pub(super) fn abandon(&self, key: &str) {
        if let Some(entry) = self.lock().requests.get_mut(key)
            && entry.standing == Standing::Waiting
        {
            entry.standing = Standing::Abandoned;
            entry.reply = None;
        }
    }

    /// Notes that a request's own connection failed.
    pub(super) fn fail(&self, key: &str, fault: Fault) {
        if let Some(entry) = self.lock().requests.get_mut(key)
            && entry.standing == Standing::Waiting
        {
            entry.fault = Some(fault);
            entry.reply = None;
        }
    }

    /// Why that request's own connection failed, if it did.
    pub(super) fn fault(&self, key: &str) -> Option<Fault> {
        self.lock().requests.get(key)?.fault.clone()
    }

    /// Whether that request still waits for its reply.
    pub(super) fn waits(&self, key: &str) -> bool {
        self.lock().requests.get(key).is_some_and(|entry| entry.standing == Standing::Waiting)
    }

    /// The act that a request belongs to.
    fn act_of(&self, key: &str) -> Option<ActId> {
        self.lock().requests.get(key).map(|entry| entry.act)
    }

    /// Ends waiting for a message that was not to be answered.
    pub(super) fn settle(&self, key: &str) {
        if let Some(entry) = self.lock().requests.get_mut(key) {
            entry.standing = Standing::Answered;
            entry.reply = None;
        }
    }

    /// Records an answer of ours to a request of the server.
    pub(super) fn answered(&self, frame: &[u8]) {
        let carries = self.tokens.carried(frame);
        let frame = self.payload(frame.to_vec(), false);
        self.push(None, EventKind::Sent { id: None, method: None, frame, carries });
    }

    /// Ends all waiting: nothing more will come.
    pub(super) fn close(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        for entry in state.requests.values_mut() {
            entry.reply = None;
        }
    }

    /// Why nothing more will come, when that is so.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.lock().ended
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

    /// Records an event of this session.
    pub(super) fn push(&self, act: Option<ActId>, kind: EventKind) -> EventRef {
        self.recorder.push(self.session, act, kind)
    }

    /// Takes in one frame; what is returned is to be written to the server.
    pub(super) fn accept(&self, frame: Frame, source: &Source<'_>) -> Vec<Vec<u8>> {
        match frame {
            Frame::Whole(bytes) => self.whole(bytes, source),
            Frame::Digested(mut digested) => {
                let why = format!("{} bytes in one message, of which {} are read", digested.len, super::frame::KEPT);
                let hits = std::mem::take(&mut digested.hits);
                let limit = super::frame::KEPT as u64;
                let arrived = Arrived { frame: digested.payload(), hits, notes: Vec::new(), refused: None };
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
            let frame = Payload::Text(String::new());
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
                let arrived = Arrived { frame: self.payload(bytes, false), hits, notes: Vec::new(), refused: None };
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
                    let arrived =
                        Arrived { frame: self.payload(text, false), hits, notes, refused: parsed.refused.clone() };
                    answers.extend(self.message(element, arrived, source));
                }
                answers
            }
            value => {
                let listing = self.listing(&value);
                let frame = self.payload(bytes, listing);
                let arrived = Arrived { frame, hits, notes: parsed.notes, refused: parsed.refused };
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
                    let act = source.paired.and_then(|key| self.act_of(key));
                    self.push(act, EventKind::Stray { frame: arrived.frame, why, hits: arrived.hits });
                }
            }
            Step::Serve { method, answer } => {
                if self.room(Kind::Request) {
                    self.push(None, EventKind::ServerRequest { method, frame: arrived.frame });
                    return Some(answer.to_string().into_bytes());
                }
            }
            Step::Notice(method) => {
                if self.room(Kind::Notification) {
                    let Arrived { frame, hits, .. } = arrived;
                    self.push(None, EventKind::Notification { method, frame, hits });
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
        let (act, elapsed_ms, reply) = {
            let mut state = self.lock();
            let Some(entry) = state.requests.get_mut(key) else { return };
            entry.standing = Standing::Answered;
            let elapsed = u64::try_from(entry.sent.elapsed().as_millis()).unwrap_or(u64::MAX);
            (entry.act, elapsed, entry.reply.take())
        };
        let Arrived { frame, hits, notes, refused } = arrived;
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
            self.push(None, EventKind::Noise { line: arrived.frame, hits: arrived.hits });
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

    fn find(&self, id: &Value) -> Found {
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

    fn act(&self, key: &str) -> Option<ActId> {
        self.lock().requests.get(key).map(|entry| entry.act)
    }

    /// Whether a frame answers a request whose reply is kept whole at any size.
    fn listing(&self, value: &Value) -> bool {
        let Some(Found::Waiting { key, .. }) = value.get("id").map(|id| self.find(id)) else { return false };
        let (act, kept) = {
            let state = self.lock();
            let Some(entry) = state.requests.get(&key) else { return false };
            let kept = entry
                .method
                .as_deref()
                .is_some_and(|method| matches!(method, "initialize" | "server/discover") || method.ends_with("/list"));
            (entry.act, kept)
        };
        let role = self.recorder.read(|trace| trace.acts.get(act.0 as usize).map(|act| act.role));
        kept && matches!(role, Some(Role::Handshake | Role::Listing))
    }

    /// The payload of a frame at hand: whole when it is small, a listing, and affordable.
    pub(super) fn payload(&self, bytes: Vec<u8>, listing: bool) -> Payload {
        let whole = if bytes.len() <= WHOLE {
            bytes.len() <= SPARE * 2 || self.recorder.afford(self.session, bytes.len())
        } else {
            listing && self.recorder.afford_listing(bytes.len())
        };
        if whole {
            return match String::from_utf8(bytes) {
                Ok(text) => Payload::Text(text),
                Err(error) => Payload::Base64(base64::engine::general_purpose::STANDARD.encode(error.as_bytes())),
            };
        }
        let end = if bytes.len() > WHOLE && self.recorder.afford(self.session, 2 * END) { END } else { SPARE };
        Digested::of(&bytes, end).payload()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Act, Era, Header, TokenKind, Trace};

    struct Bench {
        inbox: Inbox,
        recorder: Recorder,
        act: ActId,
    }

    impl Bench {
        fn new() -> Self {
            Self::of(Role::Graded)
        }

        fn of(role: Role) -> Self {
            let recorder = Recorder::new(Header::default());
            let inbox = Inbox::new(recorder.session(), recorder.clone(), Tokens::mint());
            let act = recorder.act(Act {
                session: inbox.session,
                probe: "x".to_owned(),
                role,
                tool: None,
                variant: String::new(),
                era: Era::Legacy,
                replay: false,
            });
            Self { inbox, recorder, act }
        }

        fn expect(&self, id: u64) -> oneshot::Receiver<Reply> {
            self.expect_method(id, "tools/call")
        }

        fn expect_method(&self, id: u64, method: &str) -> oneshot::Receiver<Reply> {
            self.inbox.expect(id.to_string(), self.act, Some(method.to_owned()))
        }

        fn line(&self, line: impl Into<Vec<u8>>) -> Vec<Vec<u8>> {
            self.inbox.accept(Frame::Whole(line.into()), &Source::default())
        }

        fn trace(&self) -> Trace {
            self.recorder.read(Trace::clone)
        }

        /// The one event recorded so far.
        fn only(&self) -> EventKind {
            let events = self.trace().events;
            assert_eq!(events.len(), 1, "{events:?}");
            events[0].kind.clone()
        }

        fn outcome(&self) -> Outcome {
            match self.only() {
                EventKind::Received { outcome, .. } => outcome,
                other => panic!("{other:?}"),
            }
        }

        fn why(&self) -> String {
            match self.outcome() {
                Outcome::Malformed { why } => why,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_reply_finds_its_act_and_its_waiter() {
        let bench = Bench::new();
        let mut reply = bench.expect(3);
        bench.line(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}],"isError":true}}"#);
        assert_eq!(bench.outcome(), Outcome::Result { is_error: Some(true), text: "hi".to_owned() });
        assert_eq!(bench.trace().events[0].act, Some(bench.act));
        assert_eq!(reply.try_recv().unwrap().value.unwrap()["id"], 3);
    }

    #[test]
    fn a_late_reply_still_finds_its_act() {
        let bench = Bench::new();
        drop(bench.expect(1));
        bench.line(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#);
        assert_eq!(bench.outcome(), Outcome::Error { code: Some(-1), message: "m".to_owned() });
    }

    #[test]
    fn second_unknown_and_nameless_replies_are_stray() {
        let bench = Bench::new();
        let _reply = bench.expect(1);
        bench.line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        bench.line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        bench.line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        bench.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}"#);
        bench.line(r#"{"jsonrpc":"2.0","result":{}}"#);
        let events = bench.trace().events;
        assert!(matches!(events[0].kind, EventKind::Received { .. }));
        assert!(events[1..].iter().all(|event| matches!(event.kind, EventKind::Stray { .. })), "{events:?}");
        assert_eq!(events.len(), 5);
    }

    #[test]
    fn an_id_of_another_type_matches_with_a_complaint() {
        for id in ["\"2\"", "2.0"] {
            let bench = Bench::new();
            let mut reply = bench.expect(2);
            bench.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            assert!(reply.try_recv().is_ok(), "{id}");
            let EventKind::Received { schema, .. } = bench.only() else { panic!() };
            assert_eq!(schema.len(), 1);
        }
        let bench = Bench::new();
        let mut reply = bench.expect(2);
        bench.line(r#"{"jsonrpc":"2.0","id":"02","result":{}}"#);
        assert!(reply.try_recv().is_err());
    }

    #[test]
    fn responses_that_are_none_are_malformed_and_end_the_waiting() {
        for (line, part) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "neither"),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "jsonrpc"),
            (r#"{"id":1,"result":{}}"#, "missing"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"#, "not valid JSON"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"b}"#, "not valid JSON"),
        ] {
            let bench = Bench::new();
            let mut reply = bench.expect(1);
            bench.line(line);
            assert!(bench.why().contains(part), "{line}: {}", bench.why());
            assert!(reply.try_recv().is_ok(), "{line}");
        }
    }

    #[test]
    fn unreadable_frames_are_attributed_by_their_id() {
        let bench = Bench::new();
        let _reply = bench.expect(1);
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        bench.line(deep);
        assert!(bench.why().contains("recursion limit"));

        let bench = Bench::new();
        let _reply = bench.expect(1);
        bench.line(&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}"[..]);
        assert!(matches!(bench.only(), EventKind::Received { frame: Payload::Base64(_), .. }));

        let bench = Bench::new();
        let _reply = bench.expect(1);
        bench.line(format!(r#"{{"jsonrpc":"2.0","id":1,"result":[{}0]}}"#, "0,".repeat(2_000_001)));
        let kinds: Vec<_> = bench.trace().events.into_iter().map(|event| (event.act, event.kind)).collect();
        assert!(matches!(&kinds[0], (Some(_), EventKind::Bound { limit: 2_000_000, .. })));
        assert!(matches!(&kinds[1].1, EventKind::Received { outcome: Outcome::Malformed { .. }, .. }));
    }

    #[test]
    fn a_digested_frame_ends_the_waiting_too() {
        let bench = Bench::new();
        let mut reply = bench.expect(1);
        let mut digested = Digested::of(br#"{"jsonrpc":"2.0","id":1,"result":"#, END);
        digested.len = 1 << 30;
        bench.inbox.accept(Frame::Digested(digested), &Source::default());
        assert_eq!(reply.try_recv().unwrap().value, None);
        assert!(matches!(bench.trace().events[0].kind, EventKind::Bound { .. }));
    }

    #[test]
    fn what_is_no_message_is_noise() {
        let bench = Bench::new();
        let _reply = bench.expect(1);
        for line in ["hello", "[1,2]", "{}", r#"{"level":"info","id":1}"#, "42", "null", "[]"] {
            bench.line(line);
        }
        bench.line(&b"\xff\xfe"[..]);
        let events = bench.trace().events;
        assert_eq!(events.len(), 8);
        assert!(events.iter().all(|event| matches!(event.kind, EventKind::Noise { .. })), "{events:?}");
        assert!(matches!(&events[7].kind, EventKind::Noise { line: Payload::Base64(_), .. }));
        assert!(bench.inbox.waits("1"));
    }

    #[test]
    fn requests_are_answered_and_malformed_ones_are_not() {
        let bench = Bench::new();
        let ping = bench.line(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
        assert_eq!(ping, [br#"{"jsonrpc":"2.0","id":"a","result":{}}"#.to_vec()]);
        let roots = bench.line(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
        assert!(String::from_utf8_lossy(&roots[0]).contains("-32601"));
        assert!(bench.line(r#"{"jsonrpc":"2.0","id":null,"method":"roots/list"}"#).is_empty());
        assert!(bench.line(r#"{"jsonrpc":"1.0","id":1,"method":"roots/list"}"#).is_empty());
    }

    #[test]
    fn batches_are_read_and_complained_about_outside_their_revision() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"},7]"#;
        for (revision, complaints) in [(Revision::V2025_03_26, 0), (Revision::V2025_06_18, 1)] {
            let bench = Bench::new();
            bench.inbox.set_revision(revision);
            let mut reply = bench.expect(1);
            bench.line(batch);
            assert!(reply.try_recv().is_ok());
            let events = bench.trace().events;
            assert!(matches!(&events[0].kind, EventKind::Received { schema, .. } if schema.len() == complaints));
            assert!(matches!(&events[1].kind, EventKind::Notification { .. }));
            assert!(matches!(&events[2].kind, EventKind::Noise { .. }));
        }
    }

    #[test]
    fn what_strict_parsers_refuse_is_read_with_their_message() {
        let bench = Bench::new();
        let _reply = bench.expect(1);
        bench.line(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud800"}]}}"#);
        let EventKind::Received { outcome, sdk, .. } = bench.only() else { panic!() };
        assert_eq!(outcome, Outcome::Result { is_error: None, text: "\u{fffd}".to_owned() });
        assert!(sdk.is_some());
    }

    #[test]
    fn floods_are_bounded_and_counted() {
        let bench = Bench::new();
        for _ in 0..KEPT + 500 {
            bench.line("spam");
            bench.line(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
        }
        bench.inbox.finish();
        let events = bench.trace().events;
        assert_eq!(events.len() as u64, 2 * KEPT + 2);
        assert!(matches!(&events[2 * KEPT as usize].kind, EventKind::Bound { what, .. } if what.contains("500 more")));
    }

    #[test]
    fn large_replies_are_digested_and_first_listings_kept() {
        let reply = |method: &str, role| {
            let bench = Bench::of(role);
            let _reply = bench.expect_method(1, method);
            let text = "x".repeat(WHOLE);
            bench.line(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"text":"{text}"}}]}}}}"#));
            match bench.only() {
                EventKind::Received { frame, outcome: Outcome::Result { text, .. }, .. } => (frame, text.len()),
                other => panic!("{other:?}"),
            }
        };
        assert!(matches!(reply("tools/call", Role::Graded), (Payload::Digest { .. }, reading::TEXT)));
        assert!(matches!(reply("tools/list", Role::Listing), (Payload::Text(_), _)));
        assert!(matches!(reply("tools/list", Role::Relist), (Payload::Digest { .. }, _)));
    }

    #[test]
    fn the_record_stays_within_its_budget() {
        let bench = Bench::new();
        let text = "x".repeat(200_000);
        for id in 0..600 {
            let _reply = bench.expect(id);
            bench.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"text":"{text}"}}]}}}}"#));
        }
        let size: usize = bench
            .trace()
            .events
            .iter()
            .map(|event| match &event.kind {
                EventKind::Received {
                    frame: Payload::Digest { head, tail, .. },
                    outcome: Outcome::Result { text, .. },
                    ..
                } => head.len() + tail.len() + text.len(),
                EventKind::Received { frame, outcome: Outcome::Result { text, .. }, .. } => {
                    frame.text().len() + text.len()
                }
                _ => 0,
            })
            .sum();
        assert!(size < 52 * 1024 * 1024, "{size}");
        assert!(bench.trace().events.iter().any(|event| matches!(event.kind, EventKind::Bound { .. })));
    }

    #[test]
    fn tokens_are_seen_wherever_they_stand() {
        let bench = Bench::new();
        let _reply = bench.expect(1);
        let canary = bench.inbox.tokens.value(TokenKind::Canary).to_owned();
        for line in [
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{canary}"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"{canary}"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":77,"result":"{canary}"}}"#),
            canary,
        ] {
            bench.line(line);
        }
        for event in bench.trace().events {
            let (EventKind::Received { hits, .. }
            | EventKind::Notification { hits, .. }
            | EventKind::Stray { hits, .. }
            | EventKind::Noise { hits, .. }) = event.kind
            else {
                panic!()
            };
            assert_eq!(hits.len(), 1);
        }
    }

    #[test]
    fn an_abandoned_request_takes_a_late_refusal_and_no_late_result() {
        let bench = Bench::new();
        let _one = bench.expect(1);
        let _two = bench.expect(2);
        bench.inbox.abandon("1");
        bench.inbox.abandon("2");
        bench.line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        bench.line(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m"}}"#);
        let events = bench.trace().events;
        assert!(matches!(events[0].kind, EventKind::Stray { .. }));
        assert!(matches!(events[1].kind, EventKind::Received { .. }));
    }
}
