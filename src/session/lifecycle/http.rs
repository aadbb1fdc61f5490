//! The plan for an endpoint: `server/discover` first, `initialize` when that is not the server's era.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    Discovery, Initialization, Opened, OtherEra, discover, discovered,
    failure::{self, Instead},
    initialize, initialized, modern, outcome, patience, replies,
};
use crate::model::trace::OTHER_ERA;
use crate::session::{Bounds, HttpTarget, Link, Recorder, Session, StartFailure, Tokens, answer::Answer, inbox::Fault};

/// How long `server/discover` alone may take, at most.
const DISCOVERY: Duration = Duration::from_secs(10);

/// Opens the endpoint.
pub(super) async fn open(
    target: &HttpTarget,
    recorder: &Recorder,
    tokens: &Tokens,
    bounds: Bounds,
) -> Result<Opened, StartFailure> {
    let began = Instant::now();
    let link = Link::Http(target.clone());
    let mut session = Session::open(&link, "graded", recorder, tokens, bounds).await?;
    let pending = discover(recorder, &mut session, "discover").await;
    let (act, key) = (pending.act(), pending.key());
    let answer = session.wait(pending, DISCOVERY.min(bounds.connect / 2)).await;
    let status = failure::response(recorder, act).map_or(0, |(status, _)| status);
    let fault = key.as_deref().and_then(|key| session.fault_of(key));
    if matches!(fault, Some(Fault::NotSent(_))) || matches!(status, 401 | 403 | 300..=399) {
        session.kill();
        let instead = fault.map_or(Instead::Silent, Instead::Fault);
        return Err(failure::of_endpoint(recorder, act, &target.url, instead, began.elapsed()));
    }
    if let Answer::Reply(reply) = &answer
        && let Discovery::Modern(revision) = discovered(recorder, reply)
    {
        modern(recorder, &mut session, revision);
        let until = patience(began, began.elapsed(), bounds);
        // What cannot be opened a second time has no other era to report.
        let other = match Session::open(&link, OTHER_ERA, recorder, tokens, bounds).await {
            Ok(mut session) => {
                let pending = initialize(recorder, &mut session, "initialize-other-era").await;
                Some(OtherEra { session, pending, until, recorder: recorder.clone() })
            }
            Err(_) => None,
        };
        return Ok(Opened { graded: session, other });
    }
    let unknown = match &answer {
        Answer::Reply(reply) => match discovered(recorder, reply) {
            Discovery::Unknown(words) if !words.is_empty() => {
                Some(format!("the server speaks only revisions this build does not know: {}", words.join(", ")))
            }
            _ => None,
        },
        _ => None,
    };
    let pending = initialize(recorder, &mut session, "initialize").await;
    let (act, key) = (pending.act(), pending.key());
    let within = bounds.connect.saturating_sub(began.elapsed());
    let instead = match session.wait(pending, within).await {
        Answer::Reply(reply) => match replies::initialization(&reply, &outcome(recorder, &reply)) {
            Initialization::Done { revision, word } => {
                initialized(recorder, &mut session, revision, word).await;
                return Ok(Opened { graded: session, other: None });
            }
            Initialization::Refused(why) => Instead::Refused(why),
            Initialization::Unreadable(why) => Instead::Unreadable(why),
        },
        _ => Instead::Silent,
    };
    let fault = key.as_deref().and_then(|key| session.fault_of(key));
    let instead = match (fault, unknown) {
        (Some(fault), _) => Instead::Fault(fault),
        (None, Some(unknown)) => Instead::Refused(unknown),
        (None, None) => instead,
    };
    session.kill();
    Err(failure::of_endpoint(recorder, act, &target.url, instead, began.elapsed()))
}
