//! Frames of every kind, and what becomes of them.

use tokio::sync::oneshot;

use super::{keeping::WHOLE, *};
use crate::{
    model::{Act, Era, Header, Payload, Role, TokenKind, Trace},
    session::frame::{Digested, END},
};

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
        let mut reply = bench.expect_method(2, "ping");
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
        let mut reply = bench.expect_method(1, "ping");
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
            EventKind::Received { frame, outcome: Outcome::Result { text, .. }, .. } => frame.text().len() + text.len(),
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
