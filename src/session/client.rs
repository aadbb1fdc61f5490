//! A session: one process or one connection, spoken to in one era.

use std::{future::pending as never, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use super::{
    answer::{Answer, Pending, Reply},
    error::SessionError,
    http::{Http, Post},
    inbox::{self, Ended, Fault, Inbox, Keep},
    link::{Bounds, Link},
    recorder::Recorder,
    request::{framed, modern},
    stdio::Stdio,
    tokens::Tokens,
};
use crate::model::{ActId, Era, EventKind, Revision, SessionId};

/// How long a crashed server's output may still be read when something else holds its stdout open.
const AFTERMATH: Duration = Duration::from_secs(2);
/// How long a sign of life may take before it is asked for once more.
const NUDGE: Duration = Duration::from_secs(1);

/// One process or one connection, and the era it is spoken to in.
#[derive(Debug)]
pub struct Session {
    inbox: Inbox,
    wire: Wire,
    bounds: Bounds,
    era: Era,
    revision: Revision,
    next: u64,
    posts: u64,
    /// The revision as the server spelled it, when it is none we know.
    word: Option<String>,
    last: Option<ActId>,
    reported: bool,
    /// Until when the output of a crashed server is read.
    aftermath: Option<Instant>,
}

#[derive(Debug)]
enum Wire {
    Stdio(Box<Stdio>),
    Http(Box<Http>),
}

impl Session {
    /// Starts the process or prepares the connection; nothing is sent yet. `purpose` stands in the record.
    ///
    /// # Errors
    /// When the program cannot be started, or the address or a header cannot be used.
    pub async fn open(
        link: &Link,
        purpose: &str,
        recorder: &Recorder,
        tokens: &Tokens,
        bounds: Bounds,
    ) -> Result<Self, SessionError> {
        let inbox = Inbox::new(recorder.session(), recorder.clone(), tokens.clone());
        let wire = match link {
            Link::Stdio(spawn) => Wire::Stdio(Box::new(Stdio::open(spawn, &inbox)?)),
            Link::Http(target) => Wire::Http(Box::new(Http::open(target, &inbox, bounds.connect)?)),
        };
        inbox.push(None, EventKind::Started { purpose: purpose.to_owned() });
        let revision = Revision::NEWEST_LEGACY;
        Ok(Self {
            inbox,
            wire,
            bounds,
            era: revision.era(),
            revision,
            next: 1,
            posts: 0,
            word: None,
            last: None,
            reported: false,
            aftermath: None,
        })
    }

    /// Its number in the record.
    pub fn id(&self) -> SessionId {
        self.inbox.session
    }

    /// Sets the era and the revision: requests are framed and replies are examined accordingly.
    pub fn set_era(&mut self, era: Era, revision: Revision) {
        self.era = era;
        self.revision = revision;
        self.inbox.set_revision(revision);
    }

    /// The era it is spoken to in.
    pub fn era(&self) -> Era {
        self.era
    }

    /// The revision it is spoken to in.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The last 64 KiB that the process wrote to stderr, lossy.
    pub fn stderr(&self) -> String {
        match &self.wire {
            Wire::Stdio(stdio) => stdio.stderr(),
            Wire::Http(_) => String::new(),
        }
    }

    /// Takes the next free id, for a frame that is written by hand.
    pub fn next_id(&mut self) -> u64 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// Numbers what is sent from now on from `id`, as far as it is not past it: so that a request carries the same id
    /// whatever was sent before it, also in another process.
    pub fn number_from(&mut self, id: u64) {
        self.next = self.next.max(id);
    }

    /// Sends a request; its reply is awaited with [`Session::wait`]. `params` of `null` are left out;
    /// in the modern era `_meta` is filled in where it is missing.
    pub async fn send(&mut self, act: ActId, method: &str, params: Value) -> Pending {
        let id = self.next_id();
        let frame = framed(Some(id), method, self.dressed(params));
        self.transmit(act, frame, Some(Value::from(id)), Some(method), true).await
    }

    /// Sends a notification.
    pub async fn notify(&mut self, act: ActId, method: &str, params: Value) {
        let frame = framed(None, method, self.dressed(params));
        let pending = self.transmit(act, frame, None, Some(method), false).await;
        if let Some(Fault::NotSent(why) | Fault::Broken(why)) = pending.key.and_then(|key| self.inbox.fault(&key)) {
            self.inbox.push(Some(act), EventKind::NotSent { why });
        }
    }

    /// Sends exact bytes (the line end is added). `id` is what a reply to them would carry, none when no reply
    /// can be told from others: then [`Session::wait`] returns `TimedOut` at once on stdio.
    pub async fn raw(&mut self, act: ActId, frame: &[u8], id: Option<Value>) -> Pending {
        let method = serde_json::from_slice::<Value>(frame)
            .ok()
            .and_then(|frame| frame.get("method").and_then(Value::as_str).map(str::to_owned));
        self.transmit(act, frame.to_vec(), id, method.as_deref(), true).await
    }

    /// Waits for a reply, at most `within` from now. Why none came is recorded as an event of the act.
    pub async fn wait(&mut self, mut pending: Pending, within: Duration) -> Answer {
        if !pending.sent {
            return Answer::NotSent;
        }
        if pending.reply.is_none() {
            return Answer::TimedOut;
        }
        match self.watch(&mut pending, within).await {
            Some(Some(reply)) => Answer::Reply(reply),
            Some(None) => self.lost(&pending).await,
            None => self.late(pending, within).await,
        }
    }

    /// What comes within `within`: the reply, or that none can come. None when the bound has passed or the process has crashed.
    async fn watch(&mut self, pending: &mut Pending, within: Duration) -> Option<Option<Reply>> {
        let arrived = pending.arrived();
        let gone = self.wire.crashed();
        tokio::select! {
            biased;
            arrived = arrived => Some(arrived),
            () = gone => None,
            () = tokio::time::sleep(within) => None,
        }
    }

    /// Sends a request and waits for its reply, at most `within`.
    pub async fn call(&mut self, act: ActId, method: &str, params: Value, within: Duration) -> Answer {
        let pending = self.send(act, method, params).await;
        self.wait(pending, within).await
    }

    /// Asks whether the server is still there (`ping`, in the modern era `server/discover`): any reply says so.
    ///
    /// A process that has fallen inside may sit in a read of its stdin until one more line comes: so it is asked again
    /// every second, and the end it comes to does not depend on how fast it read the first question.
    pub async fn alive(&mut self, act: ActId) -> Answer {
        let bound = self.bounds.call;
        let began = tokio::time::Instant::now();
        let mut pending = self.send_alive(act).await;
        if !pending.sent || pending.reply.is_none() {
            return self.wait(pending, bound).await;
        }
        loop {
            let left = bound.saturating_sub(began.elapsed());
            match self.watch(&mut pending, NUDGE.min(left)).await {
                Some(Some(reply)) => return Answer::Reply(reply),
                Some(None) => return self.lost(&pending).await,
                None if left <= NUDGE || self.wire.has_crashed() => return self.late(pending, bound).await,
                None => self.nudge(act).await,
            }
        }
    }

    /// Asks once more, as far as the process reads; nobody waits for the answer.
    async fn nudge(&mut self, act: ActId) {
        if let Wire::Stdio(stdio) = &mut self.wire
            && stdio.reserve(Duration::ZERO).await.is_ok()
        {
            self.send_alive(act).await;
        }
    }

    /// Leaves the server alone for `within`. True when it ended meanwhile, which is recorded as an event of the act.
    pub async fn idle(&mut self, act: ActId, within: Duration) -> bool {
        let exit = match &mut self.wire {
            Wire::Stdio(stdio) => tokio::time::timeout(within, stdio.ended()).await.ok(),
            Wire::Http(_) => None,
        };
        if let Some(exit) = exit {
            self.reported = true;
            self.inbox.push(Some(act), EventKind::Exited { code: exit.code, signal: exit.signal });
        }
        exit.is_some()
    }

    /// Sends the question of [`Session::alive`] without waiting for its answer.
    pub async fn send_alive(&mut self, act: ActId) -> Pending {
        let method = match self.era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.send(act, method, Value::Null).await
    }

    /// The `_meta` that every request of the modern era carries; none in the legacy ones.
    pub fn meta(&self) -> Option<Value> {
        self.dressed(Value::Null).get("_meta").cloned()
    }

    /// Whether the process lives and its stdout is open, or the endpoint can still be reached.
    pub fn open_still(&mut self) -> bool {
        self.inbox.ended().is_none()
            && match &mut self.wire {
                Wire::Stdio(stdio) => stdio.running(),
                Wire::Http(http) => http.reachable(),
            }
    }

    /// Ends the process, or the HTTP session. An end that came earlier by itself is recorded as an `Exited` of the
    /// last act, one that answers our closing of stdin as an `Exited` of no act, one by a signal of ours as `Lingered`.
    pub async fn close(self) {
        match self.wire {
            Wire::Stdio(mut stdio) => {
                if let (Some(exit), false) = (stdio.exit(), self.reported) {
                    let kind = EventKind::Exited { code: exit.code, signal: exit.signal };
                    self.inbox.push(self.last, kind);
                    stdio.discard().await;
                } else if self.reported && stdio.exit().is_some() {
                    stdio.discard().await;
                } else {
                    let (exit, signal) = stdio.end().await;
                    let kind = match signal {
                        Some(signal) => EventKind::Lingered { signal: signal.to_owned() },
                        None => EventKind::Exited { code: exit.code, signal: exit.signal },
                    };
                    self.inbox.push(None, kind);
                }
            }
            Wire::Http(http) => http.close().await,
        }
        self.inbox.finish();
    }

    /// Ends it without ceremony and without a record of its end.
    pub fn kill(self) {
        match self.wire {
            Wire::Stdio(stdio) => drop(stdio),
            Wire::Http(http) => http.abort(),
        }
    }

    /// Sets how long it waits.
    #[cfg(test)]
    pub(super) fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// Sets the revision as the server spelled it, which HTTP requests repeat.
    pub(super) fn set_word(&mut self, word: String) {
        self.word = Some(word);
    }

    /// Stops waiting for a reply; a result that comes later is recorded as stray.
    pub(super) fn abandon(&self, pending: &Pending) {
        if let Some(key) = &pending.key {
            self.inbox.abandon(key);
        }
    }

    /// Records why a request has no reply after `waited`, without waiting any longer.
    pub(super) async fn give_up(&mut self, pending: Pending, waited: Duration) -> Answer {
        match (pending.sent, &pending.reply) {
            (false, _) => Answer::NotSent,
            (true, None) => self.lost(&pending).await,
            (true, Some(_)) => self.late(pending, waited).await,
        }
    }

    /// Why a request's own connection failed, when it has one.
    pub(super) fn fault_of(&self, key: &str) -> Option<Fault> {
        self.inbox.fault(key)
    }

    /// Waits a moment for the rest of the stderr of a process that has ended.
    pub(super) async fn last_words(&mut self) {
        if let Wire::Stdio(stdio) = &mut self.wire {
            stdio.last_words().await;
        }
    }

    /// Ends a session that was only opened for its handshake.
    pub(super) async fn dismiss(self) {
        match self.wire {
            Wire::Stdio(stdio) => drop(stdio),
            Wire::Http(http) => http.close().await,
        }
    }

    /// How the process ended by itself, if it did; waits a moment for the status of one that closed its stdout.
    pub(super) async fn exit(&mut self) -> Option<crate::targets::Exit> {
        match &mut self.wire {
            Wire::Stdio(stdio) => stdio.settle().await,
            Wire::Http(_) => None,
        }
    }

    /// Records and sends one frame; `request` says whether something is to come back.
    async fn transmit(
        &mut self,
        act: ActId,
        frame: Vec<u8>,
        id: Option<Value>,
        method: Option<&str>,
        request: bool,
    ) -> Pending {
        self.last = Some(act);
        let carries = self.inbox.tokens.carried(&frame);
        if let Wire::Stdio(stdio) = &mut self.wire
            && let Err(why) = stdio.reserve(self.bounds.call).await
        {
            self.inbox.push(Some(act), EventKind::NotSent { why });
            return Pending { act, key: None, reply: None, sent: false };
        }
        let key = match (&id, &self.wire) {
            (Some(id), _) => Some(inbox::key(id)),
            (None, Wire::Stdio(_)) => None,
            // Every POST has a response of its own: it needs no id to be told from others.
            (None, Wire::Http(_)) => {
                self.posts += 1;
                Some(format!("post {}", self.posts))
            }
        };
        let reply = key.clone().map(|key| self.inbox.expect(key, act, method.map(str::to_owned)));
        let kept = self.inbox.payload(frame.clone(), Keep::Ours);
        self.inbox.push(Some(act), EventKind::Sent { id, method: method.map(str::to_owned), frame: kept, carries });
        match (&mut self.wire, &key) {
            (Wire::Stdio(stdio), _) => stdio.send(frame),
            (Wire::Http(http), Some(key)) => {
                let (era, revision, word) = (self.era, self.revision, self.word.clone());
                let post = Post { act, key: key.clone(), frame, era, revision, word, request };
                if request {
                    http.post(post);
                } else {
                    http.deliver(post, self.bounds.call).await;
                }
            }
            (Wire::Http(_), None) => {}
        }
        Pending { act, key, reply, sent: true }
    }

    /// Nothing can come any more: records why.
    async fn lost(&mut self, pending: &Pending) -> Answer {
        if let Some(fault) = pending.key.as_deref().and_then(|key| self.inbox.fault(key)) {
            let (kind, answer) = match fault {
                Fault::NotSent(why) => (EventKind::NotSent { why }, Answer::NotSent),
                Fault::Broken(_) => (EventKind::Exited { code: None, signal: None }, Answer::Closed),
            };
            self.inbox.push(Some(pending.act), kind);
            return answer;
        }
        let kind = match self.inbox.ended() {
            Some(Ended::Runaway(limit)) => EventKind::Bound { what: "bytes of one line".to_owned(), limit },
            _ => {
                let exit = self.exit().await;
                self.reported = true;
                EventKind::Exited { code: exit.and_then(|exit| exit.code), signal: exit.and_then(|exit| exit.signal) }
            }
        };
        self.inbox.push(Some(pending.act), kind);
        Answer::Closed
    }

    /// The bound has passed, or the process is gone while something else holds its stdout.
    async fn late(&mut self, mut pending: Pending, within: Duration) -> Answer {
        let crashed = match &mut self.wire {
            Wire::Stdio(stdio) => {
                stdio.unterminated();
                stdio.has_crashed()
            }
            Wire::Http(http) => {
                pending.key.as_deref().inspect(|key| http.cancel(key));
                false
            }
        };
        // One moment for all that waits: a crash with many open calls must not cost it many times.
        let until =
            if crashed { *self.aftermath.get_or_insert_with(|| Instant::now() + AFTERMATH) } else { Instant::now() };
        let last = tokio::time::timeout_at(until, pending.arrived()).await;
        match last {
            Ok(Some(reply)) => Answer::Reply(reply),
            Ok(None) => self.lost(&pending).await,
            Err(_) if crashed => self.lost(&pending).await,
            Err(_) => {
                let after_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
                self.inbox.push(Some(pending.act), EventKind::TimedOut { after_ms });
                Answer::TimedOut
            }
        }
    }

    /// Parameters with what the era demands of every request.
    fn dressed(&self, params: Value) -> Value {
        if self.era == Era::Legacy { params } else { modern(params, self.revision) }
    }
}

impl Wire {
    /// Whether the process has ended in a way that says it crashed.
    fn has_crashed(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.has_crashed(),
            Self::Http(_) => false,
        }
    }

    /// Returns once the process has ended in a way that says it crashed.
    async fn crashed(&mut self) {
        match self {
            Self::Stdio(stdio) => stdio.crashed().await,
            Self::Http(_) => never().await,
        }
    }
}
