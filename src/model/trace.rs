//! The trace: everything one run saw, as a log of events that judges read and `--record` writes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    revision::{Era, Revision},
    token::{Hit, TokenKind},
};

/// The trace format's name, the first member of a recording.
pub const SCHEMA: &str = "sealmark.trace/1";

/// What a session was started for when all it is asked is the other era's handshake.
pub const OTHER_ERA: &str = "other era";

/// The variant of the act that says that the process of its session ends by itself, whatever it is sent.
pub const ENDED_BY_ITSELF: &str = "ended-by-itself";

/// Index of an event in [`Trace::events`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventRef(pub u32);

/// Index of an act in [`Trace::acts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActId(pub u32);

/// Number of a session (one process or one connection) within a run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub u16);

/// One recorded run against one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What a judge needs besides the events.
    pub header: Header,
    /// What the harness did, in order; replies point here.
    pub acts: Vec<Act>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
}

/// What was configured and found out, so that a recording can be judged alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Header {
    /// The version of sealmark that recorded it.
    pub sealmark: String,
    /// The methodology of that build.
    pub methodology: String,
    /// The server's display name.
    pub name: String,
    /// The server's version, as configured.
    pub version: Option<String>,
    /// How it was reached.
    pub transport: Transport,
    /// The command line or URL as written in the configuration, placeholders unexpanded.
    pub target: String,
    /// Whether the server ran in a sandbox of ours.
    pub sandboxed: bool,
    /// Whether our canaries were in its environment (every server we start).
    pub canaries: bool,
    /// Packs of this run, in registry order.
    pub packs: Vec<String>,
    /// Tools left out by `tools.exclude`.
    pub excluded: Vec<String>,
    /// `tools.overrides` by tool.
    pub overrides: BTreeMap<String, Override>,
    /// Effective settings of every check: check id → key → value (`enabled`, `severity`, knobs).
    pub settings: BTreeMap<String, BTreeMap<String, Value>>,
    /// What a report rewrites: random values and paths of this run → placeholder, longest first.
    pub placeholders: Vec<(String, String)>,
    /// The session whose records are graded, once known.
    pub graded: Option<SessionId>,
    /// The revision graded in.
    pub revision: Option<Revision>,
    /// The wire's own word for the revision, when it is none this build knows.
    pub revision_text: Option<String>,
    /// The handshake of the other era, when the server speaks both: its revision's word.
    pub other_era: Option<(Era, String)>,
    /// Why the run could not start or go on, when it could not.
    pub failure: Option<String>,
    /// What a report repeats and no judge reads (configuration, command, sandbox, start and duration).
    #[serde(default)]
    pub report: Value,
}

/// What the configuration says a tool takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Override {
    /// The class' word (`path`).
    pub class: String,
    /// Class word → parameter name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// How the server was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A child process on pipes.
    #[default]
    Stdio,
    /// Streamable HTTP, a server started by us.
    HttpLaunched,
    /// Streamable HTTP, a server that was already running.
    Http,
}

/// Why an act was made: decides how a judge reads its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// `server/discover`, `initialize`, `notifications/initialized`.
    Handshake,
    /// A page of one of the lists.
    Listing,
    /// An honest call that should work.
    Control,
    /// An input that must be refused.
    Graded,
    /// An input after which only survival counts.
    Stress,
    /// `ping` or `server/discover`: is it still there?
    Alive,
    /// A listing again, after a batch.
    Relist,
}

/// One thing the harness did: replies belong to it by id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// The session it was done in.
    pub session: SessionId,
    /// The id of the probe that did it (`invalid-calls`).
    pub probe: String,
    /// Why.
    pub role: Role,
    /// The tool it aimed at, as the server spells it.
    pub tool: Option<String>,
    /// Which variant of the probe (`missing:path`, `wrong-type:limit`, `prompts/list#2`).
    pub variant: String,
    /// The era the session spoke.
    pub era: Era,
    /// Whether it was repeated alone in a process of its own to name a culprit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay: bool,
}

impl Act {
    /// Whether it asks for that era's handshake. A second process that became the graded one was asked as the other era's.
    pub fn opens(&self, era: Era) -> bool {
        let variants = match era {
            Era::Modern => ["discover", "discover-again"],
            Era::Legacy => ["initialize", "initialize-other-era"],
        };
        self.probe == "handshake" && variants.contains(&self.variant.as_str())
    }
}

/// Bytes as they came, or what is left of bytes too large to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// All of it, valid UTF-8.
    Text(String),
    /// All of it, not UTF-8, in base64.
    Base64(String),
    /// Too large to keep: length in bytes, SHA-256, and both ends (4 KiB each, lossy).
    Digest {
        /// Length in bytes.
        len: u64,
        /// SHA-256 of all bytes that were read, in hex.
        sha256: String,
        /// The first bytes.
        head: String,
        /// The last bytes.
        tail: String,
    },
}

impl Payload {
    /// The kept text, or the head of a digest.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Base64(text) => text,
            Self::Digest { head, .. } => head,
        }
    }

    /// Parses a payload that was kept whole.
    pub fn json(&self) -> Option<Value> {
        match self {
            Self::Text(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}

/// What a reply amounts to, read once when it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A JSON-RPC result.
    Result {
        /// `isError` where the result has one.
        #[serde(rename = "isError", skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        /// Every text a reader would see (text blocks, embedded text resources, `structuredContent` as JSON), joined by line feeds, at most 64 KiB.
        text: String,
    },
    /// A JSON-RPC error.
    Error {
        /// Its code, when it is an integer.
        code: Option<i64>,
        /// Its message and `data`, at most 64 KiB.
        message: String,
    },
    /// JSON that answers our id and is not a valid JSON-RPC response (both members, neither, wrong `jsonrpc`).
    Malformed {
        /// What is wrong with it.
        why: String,
    },
}

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The session it belongs to.
    pub session: SessionId,
    /// The act it belongs to, when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<ActId>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// A process was started or a connection opened.
    Started {
        /// What for (`graded`, `other era`, `replay`).
        purpose: String,
    },
    /// Bytes went to the server.
    Sent {
        /// The request's id; none for notifications and malformed frames.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Value>,
        /// The method, when the frame has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        method: Option<String>,
        /// The frame.
        frame: Payload,
        /// Tokens our own bytes carried: they prove nothing when they come back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        carries: Vec<TokenKind>,
    },
    /// An act could not be carried out: how absence gets into the record.
    NotSent {
        /// Why not.
        why: String,
    },
    /// A response to a request of ours.
    Received {
        /// The frame as it came.
        frame: Payload,
        /// What it amounts to.
        outcome: Outcome,
        /// What the negotiated revision's schema says is wrong, empty when nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        schema: Vec<String>,
        /// What the SDK's types say (`serde`'s own message), none when they accept it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sdk: Option<String>,
        /// Tokens found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hits: Vec<Hit>,
        /// Milliseconds since the request went out; left out of human reports.
        #[serde(rename = "elapsedMs")]
        elapsed_ms: u64,
    },
    /// A message that answers nothing we asked: unknown or repeated id, or no id.
    Stray {
        /// The frame.
        frame: Payload,
        /// What is odd about it.
        why: String,
        /// Tokens found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hits: Vec<Hit>,
    },
    /// A line on stdout that is not a JSON-RPC message.
    Noise {
        /// The line.
        line: Payload,
        /// Tokens found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hits: Vec<Hit>,
    },
    /// A piece of stderr (whole lines, at most 8 KiB an event).
    Stderr {
        /// The text.
        text: Payload,
        /// Tokens found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hits: Vec<Hit>,
    },
    /// A notification from the server.
    Notification {
        /// Its method.
        method: String,
        /// The frame.
        frame: Payload,
        /// Tokens found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hits: Vec<Hit>,
    },
    /// A request from the server to the client (we declare no capability, so we answer -32601; `ping` is answered).
    ServerRequest {
        /// Its method.
        method: String,
        /// The frame.
        frame: Payload,
    },
    /// The status and headers of an HTTP response.
    Http {
        /// The status code.
        status: u16,
        /// Header names in lower case with their values; values of `set-cookie` and `authorization`-like headers left out.
        headers: Vec<(String, String)>,
    },
    /// A file the sandbox owns came, went or changed.
    FileChanged {
        /// The path, placeholders instead of the sandbox's own.
        path: String,
        /// `created`, `changed` or `removed`.
        change: String,
    },
    /// The process ended, or the connection closed, by itself.
    Exited {
        /// The exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// No reply came within the bound.
    TimedOut {
        /// The bound, in milliseconds.
        #[serde(rename = "afterMs")]
        after_ms: u64,
    },
    /// The harness stopped reading or keeping at a bound of its own.
    Bound {
        /// What was bounded (`listing bytes`, `notifications kept`).
        what: String,
        /// The bound.
        limit: u64,
    },
    /// Still running some time after stdin was closed, so a signal ended it.
    Lingered {
        /// `SIGTERM` or `SIGKILL`.
        signal: String,
    },
}

impl Trace {
    /// An empty trace with that header.
    pub fn new(header: Header) -> Self {
        Self { schema: SCHEMA.to_owned(), header, acts: Vec::new(), events: Vec::new() }
    }

    /// The event at `at`.
    pub fn event(&self, at: EventRef) -> Option<&Event> {
        self.events.get(at.0 as usize)
    }

    /// All events with their references.
    pub fn events(&self) -> impl Iterator<Item = (EventRef, &Event)> {
        self.events.iter().enumerate().map(|(at, event)| (EventRef(at as u32), event))
    }

    /// Sessions that only asked for the other era, and may have been ended before they had answered.
    pub fn other_era_sessions(&self) -> BTreeSet<SessionId> {
        let asks = |event: &&Event| matches!(&event.kind, EventKind::Started { purpose } if purpose == OTHER_ERA);
        let sessions = self.events.iter().filter(asks).map(|event| event.session);
        sessions.filter(|session| self.header.graded != Some(*session)).collect()
    }

    /// All acts with their ids.
    pub fn acts(&self) -> impl Iterator<Item = (ActId, &Act)> {
        self.acts.iter().enumerate().map(|(at, act)| (ActId(at as u32), act))
    }
}
