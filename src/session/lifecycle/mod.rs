//! Opening a server: which era it speaks, which session is graded, what the other era's handshake says.

mod failure;
mod http;
mod replies;
mod stdio;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use self::replies::{Discovery, Initialization};
use super::{
    Bounds, Link, Pending, Recorder, Reply, Session, StartFailure, Tokens, answer::Answer, request::client_info,
};
use crate::model::{Act, ActId, Era, EventKind, Outcome, Revision, Role};

/// The id of the probe that the acts of a handshake carry.
pub const PROBE: &str = "handshake";

/// A server that was started and has shaken hands.
#[derive(Debug)]
pub struct Opened {
    /// The session to grade in: its era and revision are set.
    pub graded: Session,
    /// The other era's handshake, when it is still under way.
    pub other: Option<OtherEra>,
}

/// The other era's handshake in a process or connection of its own. Dropping it ends it.
#[derive(Debug)]
pub struct OtherEra {
    session: Session,
    pending: Pending,
    until: Instant,
    recorder: Recorder,
}

impl OtherEra {
    /// Waits for the handshake (until its own bound at most), notes in the header whether the server speaks both
    /// eras, and ends the session.
    pub async fn settle(self) {
        let Self { mut session, pending, until, recorder } = self;
        let answer = session.wait(pending, until.saturating_duration_since(Instant::now())).await;
        if let Answer::Reply(reply) = answer
            && let Initialization::Done { word, .. } = replies::initialization(&reply, &outcome(&recorder, &reply))
        {
            recorder.header(|header| header.other_era = Some((Era::Legacy, word)));
        }
        session.dismiss().await;
    }
}

/// Starts a server and finds the era to grade it in. On stdio a second process asks for the other era beside the first.
///
/// The header's `graded`, `revision`, `revision_text`, `other_era` (here or by [`OtherEra::settle`]) and `failure` are set.
///
/// # Errors
/// When the server cannot be started or properly answers neither handshake within `bounds.connect`.
pub async fn open_server(
    link: &Link,
    recorder: &Recorder,
    tokens: &Tokens,
    bounds: Bounds,
) -> Result<Opened, StartFailure> {
    let opened = match link {
        Link::Stdio(spawn) => stdio::open(spawn, recorder, tokens, bounds).await,
        Link::Http(target) => http::open(target, recorder, tokens, bounds).await,
    };
    match &opened {
        Ok(opened) => recorder.header(|header| header.graded = Some(opened.graded.id())),
        Err(failure) => recorder.header(|header| header.failure = Some(failure.reason.clone())),
    }
    opened
}

/// Opens the server once more, in an era it is known to speak: for a replay, or to go on after a crash.
///
/// # Errors
/// When it does not shake hands this time.
pub async fn reopen(
    link: &Link,
    purpose: &str,
    (era, revision): (Era, Revision),
    recorder: &Recorder,
    tokens: &Tokens,
    bounds: Bounds,
) -> Result<Session, StartFailure> {
    let mut session = Session::open(link, purpose, recorder, tokens, bounds).await?;
    session.set_era(era, revision);
    if era == Era::Modern {
        return Ok(session);
    }
    let pending = initialize(recorder, &mut session, "initialize-again").await;
    let answer = session.wait(pending, bounds.connect).await;
    let read = answer.reply().map(|reply| replies::initialization(reply, &outcome(recorder, reply)));
    match read {
        Some(Initialization::Done { revision, word }) => {
            session.set_era(Era::Legacy, revision);
            session.set_word(word);
            let act = act(recorder, &session, "initialized-again", Era::Legacy);
            session.notify(act, "notifications/initialized", Value::Null).await;
            Ok(session)
        }
        other => {
            let why = other.and_then(|read| read.refusal());
            Err(failure::again(session, why.unwrap_or_else(|| "the server did not shake hands again".to_owned())))
        }
    }
}

/// Notes a step of the handshake.
fn act(recorder: &Recorder, session: &Session, variant: &str, era: Era) -> ActId {
    recorder.act(Act {
        session: session.id(),
        probe: PROBE.to_owned(),
        role: Role::Handshake,
        tool: None,
        variant: variant.to_owned(),
        era,
        replay: false,
    })
}

/// Asks for the modern era. The session's era is left modern.
async fn discover(recorder: &Recorder, session: &mut Session, variant: &str) -> Pending {
    session.set_era(Era::Modern, Revision::NEWEST_MODERN);
    let act = act(recorder, session, variant, Era::Modern);
    session.send(act, "server/discover", Value::Null).await
}

/// Asks for the legacy eras. The session's era is left legacy.
async fn initialize(recorder: &Recorder, session: &mut Session, variant: &str) -> Pending {
    session.set_era(Era::Legacy, Revision::NEWEST_LEGACY);
    let act = act(recorder, session, variant, Era::Legacy);
    let params = json!({
        "protocolVersion": Revision::NEWEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": client_info(),
    });
    session.send(act, "initialize", params).await
}

/// Ends a legacy handshake: the session speaks the revision that was agreed on.
async fn initialized(recorder: &Recorder, session: &mut Session, revision: Revision, word: String) {
    session.set_era(Era::Legacy, revision);
    session.set_word(word.clone());
    let act = act(recorder, session, "initialized", Era::Legacy);
    session.notify(act, "notifications/initialized", Value::Null).await;
    recorder.header(|header| {
        header.revision = Some(revision);
        header.revision_text = (word != revision.as_str()).then_some(word);
    });
}

/// Settles a session in the modern era.
fn modern(recorder: &Recorder, session: &mut Session, revision: Revision) {
    session.set_era(Era::Modern, revision);
    recorder.header(|header| header.revision = Some(revision));
}

/// What the record says a reply amounts to.
fn outcome(recorder: &Recorder, reply: &Reply) -> Outcome {
    let read = recorder.read(|trace| match trace.event(reply.at).map(|event| &event.kind) {
        Some(EventKind::Received { outcome, .. }) => Some(outcome.clone()),
        _ => None,
    });
    read.unwrap_or(Outcome::Malformed { why: "it was not recorded".to_owned() })
}

/// What a reply to `server/discover` means.
fn discovered(recorder: &Recorder, reply: &Reply) -> Discovery {
    replies::discovery(reply, &outcome(recorder, reply))
}

/// When the other era's handshake is given up: the graded one took `took`. Its process runs at low priority beside the
/// probes, and what a report says of it must not depend on a busy machine.
fn patience(started: Instant, took: Duration, bounds: Bounds) -> Instant {
    started + bounds.connect.min((took * 8).max(Duration::from_secs(15)))
}
