//! The plan for a server on pipes: both handshakes back to back in one process, the legacy one alone in another beside it.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{
    Discovery, Initialization, Opened, OtherEra, discover, discovered, failure, initialize, initialized, modern,
    outcome, patience, replies,
};
use crate::{
    model::{Era, Revision, trace::OTHER_ERA},
    session::{Bounds, Link, Pending, Recorder, Reply, Session, StartFailure, Tokens, answer::Answer},
    targets::Spawn,
};

/// What one of the three requests has come to.
#[derive(Debug, Clone, PartialEq)]
enum Seen<T> {
    Waiting,
    Got(T, Instant),
    /// The process can answer no more.
    Gone,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Wait(Instant),
    Modern(Revision),
    /// Legacy, in the process that was asked for both.
    First(Revision, String),
    /// Legacy, in the process that was asked for nothing else.
    Second(Revision, String),
    Fail,
}

/// The state of a start, judged as it changes.
#[derive(Debug, Clone)]
struct Start {
    began: Instant,
    deadline: Instant,
    discover: Seen<Discovery>,
    first: Seen<Initialization>,
    second: Seen<Initialization>,
}

/// How long a server may take to refuse `server/discover` once it has answered the `initialize` behind it: half of
/// what it took so far, within these.
const REFUSAL: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));
/// How long the first process may lag behind the second, at least.
const LAG: Duration = Duration::from_secs(1);

impl Start {
    fn step(&self, now: Instant) -> Step {
        if let Seen::Got(Discovery::Modern(revision), _) = &self.discover {
            return Step::Modern(*revision);
        }
        let over = now >= self.deadline;
        let second = match &self.second {
            Seen::Got(Initialization::Done { revision, word }, at) => Some((*revision, word.clone(), *at)),
            _ => None,
        };
        match (&self.first, &self.discover) {
            (Seen::Got(Initialization::Done { revision, word }, at), Seen::Waiting) => {
                let until = *at + ((*at - self.began) / 2).clamp(REFUSAL.0, REFUSAL.1);
                if now >= until.min(self.deadline) { Step::First(*revision, word.clone()) } else { Step::Wait(until) }
            }
            (Seen::Got(Initialization::Done { revision, word }, _), Seen::Got(..)) => {
                Step::First(*revision, word.clone())
            }
            // The first process may still answer; when the second one has, it gets as long again.
            (Seen::Waiting, _) => match second {
                Some((revision, word, at)) => {
                    let until = (at + (at - self.began).max(LAG)).min(self.deadline);
                    if now >= until { Step::Second(revision, word) } else { Step::Wait(until) }
                }
                None if over => Step::Fail,
                None => Step::Wait(self.deadline),
            },
            // The first process is of no use for the legacy eras.
            (Seen::Gone | Seen::Got(..), discover) => match (second, &self.second) {
                (Some((revision, word, _)), _) => Step::Second(revision, word),
                (None, Seen::Waiting) if !over => Step::Wait(self.deadline),
                _ if *discover == Seen::Waiting && !over => Step::Wait(self.deadline),
                _ => Step::Fail,
            },
        }
    }

    /// What the replies say against a start, when they say something.
    fn refusal(&self) -> Option<String> {
        if let Seen::Got(Discovery::Unknown(words), _) = &self.discover
            && !words.is_empty()
        {
            return Some(format!("the server speaks only revisions this build does not know: {}", words.join(", ")));
        }
        [&self.second, &self.first].into_iter().find_map(|seen| match seen {
            Seen::Got(read, _) => read.refusal(),
            _ => None,
        })
    }
}

/// Opens the server.
pub(super) async fn open(
    spawn: &Spawn,
    recorder: &Recorder,
    tokens: &Tokens,
    bounds: Bounds,
) -> Result<Opened, StartFailure> {
    let began = Instant::now();
    let deadline = began + bounds.connect;
    let mut a = Session::open(&Link::Stdio(spawn.clone()), "graded", recorder, tokens, bounds).await?;
    let mut discovering = discover(recorder, &mut a, "discover").await;
    let mut initializing = initialize(recorder, &mut a, "initialize").await;
    let yielding = Link::Stdio(Spawn { low_priority: true, ..spawn.clone() });
    let mut b = Session::open(&yielding, OTHER_ERA, recorder, tokens, bounds).await?;
    let mut alone = initialize(recorder, &mut b, "initialize-other-era").await;

    let mut start = Start { began, deadline, discover: Seen::Waiting, first: Seen::Waiting, second: Seen::Waiting };
    let step = loop {
        let until = match start.step(Instant::now()) {
            Step::Wait(until) => until,
            step => break step,
        };
        tokio::select! {
            biased;
            reply = discovering.arrived(), if start.discover == Seen::Waiting => {
                start.discover = seen(reply, |reply| discovered(recorder, reply));
            }
            reply = initializing.arrived(), if start.first == Seen::Waiting => {
                start.first = seen(reply, |reply| replies::initialization(reply, &outcome(recorder, reply)));
            }
            reply = alone.arrived(), if start.second == Seen::Waiting => {
                start.second = seen(reply, |reply| replies::initialization(reply, &outcome(recorder, reply)));
            }
            () = sleep_until(until) => {}
        }
    };
    match step {
        Step::Wait(_) | Step::Fail => {
            let waited = began.elapsed();
            // A reply that waits for its line end comes out now.
            let unread = [
                unresolved(&mut b, alone, &start.second, waited).await,
                unresolved(&mut a, initializing, &start.first, waited).await,
            ];
            unresolved(&mut a, discovering, &start.discover, waited).await;
            let late = unread
                .into_iter()
                .flatten()
                .find_map(|reply| replies::initialization(&reply, &outcome(recorder, &reply)).refusal());
            let refusal = start.refusal().or(late);
            a.kill();
            Err(failure::of_process(recorder, b, refusal, waited).await)
        }
        Step::First(revision, word) => {
            if start.discover == Seen::Waiting {
                a.abandon(&discovering);
            }
            initialized(recorder, &mut a, revision, word).await;
            b.kill();
            Ok(Opened { graded: a, other: None })
        }
        Step::Second(revision, word) => {
            let waited = began.elapsed();
            unresolved(&mut a, discovering, &start.discover, waited).await;
            unresolved(&mut a, initializing, &start.first, waited).await;
            a.kill();
            initialized(recorder, &mut b, revision, word).await;
            Ok(Opened { graded: b, other: None })
        }
        Step::Modern(revision) => {
            let took = began.elapsed();
            let within = deadline.saturating_duration_since(Instant::now()).min((took * 4).max(LAG));
            // Whether the `initialize` behind it has left the process in the legacy eras, or ended it.
            let again = discover(recorder, &mut a, "discover-again").await;
            let usable = match a.wait(again, within).await {
                Answer::Reply(reply) => matches!(discovered(recorder, &reply), Discovery::Modern(_)),
                _ => false,
            };
            if start.first == Seen::Waiting
                && let Some(reply) = initializing.ready()
            {
                start.first = seen(reply, |reply| replies::initialization(reply, &outcome(recorder, reply)));
            }
            let mut graded = a;
            if !usable {
                graded.kill();
                graded = fresh(spawn, recorder, tokens, bounds, deadline).await?;
            }
            modern(recorder, &mut graded, revision);
            let known = [start.first, start.second.clone()].into_iter().find_map(|seen| match seen {
                Seen::Got(Initialization::Done { word, .. }, _) => Some(word),
                _ => None,
            });
            let other = match known {
                None if start.second == Seen::Waiting => {
                    let until = patience(began, took, bounds);
                    Some(OtherEra { session: b, pending: alone, until, recorder: recorder.clone() })
                }
                known => {
                    b.kill();
                    recorder.header(|header| header.other_era = known.map(|word| (Era::Legacy, word)));
                    None
                }
            };
            Ok(Opened { graded, other })
        }
    }
}

/// A process that is asked for nothing but the modern era.
async fn fresh(
    spawn: &Spawn,
    recorder: &Recorder,
    tokens: &Tokens,
    bounds: Bounds,
    deadline: Instant,
) -> Result<Session, StartFailure> {
    let mut session = Session::open(&Link::Stdio(spawn.clone()), "graded", recorder, tokens, bounds).await?;
    let pending = discover(recorder, &mut session, "discover").await;
    // The first process has used up some of the bound; a start like the first must still fit.
    let within = deadline.saturating_duration_since(Instant::now()).max(bounds.connect / 2);
    match session.wait(pending, within).await {
        Answer::Reply(reply) if matches!(discovered(recorder, &reply), Discovery::Modern(_)) => Ok(session),
        _ => {
            let why = "the server answered `server/discover` once and not in a process of its own".to_owned();
            Err(failure::of_process(recorder, session, Some(why), within).await)
        }
    }
}

fn seen<T>(reply: Option<Reply>, read: impl FnOnce(&Reply) -> T) -> Seen<T> {
    match reply {
        Some(reply) => Seen::Got(read(&reply), Instant::now()),
        None => Seen::Gone,
    }
}

/// Records why a request has no reply, unless it has one.
async fn unresolved<T: PartialEq>(
    session: &mut Session,
    pending: Pending,
    seen: &Seen<T>,
    waited: Duration,
) -> Option<Reply> {
    match seen {
        Seen::Got(..) => None,
        Seen::Waiting | Seen::Gone => session.give_up(pending, waited).await.reply().cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(began: Instant, millis: u64) -> Instant {
        began + Duration::from_millis(millis)
    }

    fn start() -> Start {
        let began = Instant::now();
        let (discover, first, second) = (Seen::Waiting, Seen::Waiting, Seen::Waiting);
        Start { began, deadline: at(began, 60_000), discover, first, second }
    }

    fn done(when: Instant) -> Seen<Initialization> {
        let word = "2025-11-25".to_owned();
        Seen::Got(Initialization::Done { revision: Revision::V2025_11_25, word }, when)
    }

    fn refused(when: Instant) -> Seen<Initialization> {
        Seen::Got(Initialization::Refused("no".to_owned()), when)
    }

    #[test]
    fn a_refused_discovery_beside_a_handshake_is_legacy_at_once() {
        let mut start = start();
        start.discover = Seen::Got(Discovery::Unsupported, start.began);
        assert_eq!(start.step(start.began), Step::Wait(start.deadline));
        start.first = done(start.began);
        assert!(matches!(start.step(start.began), Step::First(..)));
    }

    #[test]
    fn silence_to_discover_costs_a_fraction_of_the_start() {
        let mut start = start();
        let began = start.began;
        start.first = done(at(began, 20));
        assert_eq!(start.step(at(began, 20)), Step::Wait(at(began, 30)));
        assert!(matches!(start.step(at(began, 30)), Step::First(..)));
    }

    #[test]
    fn a_modern_answer_wins_over_every_handshake() {
        let mut start = start();
        start.first = done(start.began);
        start.second = done(start.began);
        start.discover = Seen::Got(Discovery::Modern(Revision::V2026_07_28), start.began);
        assert_eq!(start.step(start.began), Step::Modern(Revision::V2026_07_28));
    }

    #[test]
    fn a_dead_or_silent_first_process_leaves_the_second() {
        let mut start = start();
        let began = start.began;
        start.second = done(at(began, 3_000));
        assert_eq!(start.step(at(began, 3_000)), Step::Wait(at(began, 6_000)), "it may only be slow");
        assert!(matches!(start.step(at(began, 6_000)), Step::Second(..)));
        start.first = Seen::Gone;
        start.discover = Seen::Gone;
        assert!(matches!(start.step(at(began, 3_000)), Step::Second(..)));
        start.first = refused(began);
        start.discover = Seen::Got(Discovery::Unsupported, began);
        assert!(matches!(start.step(at(began, 3_000)), Step::Second(..)));
    }

    #[test]
    fn a_process_that_died_after_its_handshake_is_not_graded() {
        let mut start = start();
        start.first = done(start.began);
        start.discover = Seen::Gone;
        assert_eq!(start.step(start.began), Step::Wait(start.deadline));
        start.second = Seen::Gone;
        assert_eq!(start.step(start.began), Step::Fail);
    }

    #[test]
    fn it_fails_when_nothing_can_come_or_the_bound_is_over() {
        let mut start = start();
        assert_eq!(start.step(start.deadline), Step::Fail);
        start.first = refused(start.began);
        assert_eq!(start.step(start.began), Step::Wait(start.deadline), "discover may still be answered");
        start.second = refused(start.began);
        start.discover = Seen::Got(Discovery::Unsupported, start.began);
        assert_eq!(start.step(start.began), Step::Fail);
        assert_eq!(start.refusal().as_deref(), Some("no"));
    }
}
