//! Starts of small servers written for one trait each.

use std::{ffi::OsString, path::Path, time::Duration};

use serde_json::json;

use super::*;
use crate::{
    model::{EventKind, Header, TokenKind, Trace},
    targets::Spawn,
};

/// What every toy shares: one line in, one line out.
const PRELUDE: &str = r#"
import json, sys, os, time
def say(message):
    sys.stdout.write(json.dumps(message) + "\n"); sys.stdout.flush()
def result(request, value): say({"jsonrpc": "2.0", "id": request["id"], "result": value})
def error(request, code, **more): say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": "refused", **more}})
INIT = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "toy", "version": "1"}}
DISCOVER = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"}
TOOLS = {"tools": [{"name": "t", "description": "a tool of a toy", "inputSchema": {"type": "object"}}]}
def requests():
    for line in sys.stdin:
        try: request = json.loads(line)
        except ValueError: continue
        if "id" in request: yield request
"#;

struct Run {
    opened: Result<Opened, StartFailure>,
    recorder: Recorder,
    tokens: Tokens,
    took: Duration,
    _dir: tempfile::TempDir,
}

impl Run {
    fn trace(&self) -> Trace {
        self.recorder.read(Trace::clone)
    }

    fn reason(&self) -> &str {
        &self.opened.as_ref().unwrap_err().reason
    }
}

fn spawn(dir: &Path, program: &str, args: &[&str]) -> Spawn {
    Spawn {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        cwd: dir.to_owned(),
        env: std::env::var_os("PATH").map(|path| ("PATH".into(), path)).into_iter().collect(),
        low_priority: false,
        marker: dir.display().to_string(),
    }
}

async fn start(body: &str, connect: Duration) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("toy.py");
    std::fs::write(&file, format!("{PRELUDE}{body}")).unwrap();
    let link = Link::Stdio(spawn(dir.path(), "python3", &["-S", "-u", &file.display().to_string()]));
    let (recorder, tokens) = (Recorder::new(Header::default()), Tokens::mint());
    let bounds = Bounds { connect, call: Duration::from_secs(5) };
    let began = Instant::now();
    let opened = open_server(&link, &recorder, &tokens, bounds).await;
    Run { opened, recorder, tokens, took: began.elapsed(), _dir: dir }
}

async fn lists(session: &mut Session, recorder: &Recorder) -> bool {
    let act = act(recorder, session, "tools/list", session.era());
    let answer = session.call(act, "tools/list", Value::Null, Duration::from_secs(20)).await;
    answer.reply().and_then(|reply| reply.value.as_ref()?.pointer("/result/tools/0/name")) == Some(&json!("t"))
}

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(1500);

const LEGACY: &str = r#"
for r in requests():
    if r["method"] == "initialize": result(r, INIT)
    elif r["method"] == "tools/list": result(r, TOOLS)
    elif r["method"] == "ping": result(r, {})
    else: error(r, -32601)
"#;

const MODERN: &str = r#"
for r in requests():
    if "_meta" not in r.get("params", {}): error(r, -32022, data={"supported": ["2026-07-28"], "requested": "x"})
    elif r["method"] == "server/discover": result(r, DISCOVER)
    elif r["method"] == "tools/list": result(r, TOOLS)
    else: error(r, -32601)
"#;

#[tokio::test]
async fn a_legacy_server_is_graded_in_the_first_process_and_the_second_is_dropped() {
    let run = start(LEGACY, LONG).await;
    let trace = run.trace();
    let opened = run.opened.unwrap();
    let mut session = opened.graded;
    assert!(opened.other.is_none());
    assert_eq!((session.id().0, session.era()), (0, Era::Legacy));
    assert_eq!(trace.header.graded, Some(session.id()));
    assert_eq!(trace.header.revision, Some(Revision::V2025_11_25));
    assert_eq!((trace.header.revision_text, trace.header.other_era), (None, None));
    let variants: Vec<&str> = trace.acts.iter().map(|act| act.variant.as_str()).collect();
    assert_eq!(variants, ["discover", "initialize", "initialize-other-era", "initialized"]);
    assert!(lists(&mut session, &run.recorder).await);
    let alive = act(&run.recorder, &session, "alive", Era::Legacy);
    assert!(session.alive(alive).await.reply().is_some());
    assert!(session.open_still());
    session.close().await;
    let trace = run.recorder.take();
    let end = trace.events.iter().rfind(|event| event.session.0 == 0).unwrap();
    assert!(matches!(end.kind, EventKind::Exited { code: Some(0), .. }) && end.act.is_none(), "{end:?}");
}

#[tokio::test]
async fn a_modern_only_server_is_graded_in_the_first_process() {
    let run = start(MODERN, LONG).await;
    let mut opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (0, Era::Modern));
    assert!(lists(&mut opened.graded, &run.recorder).await);
    let alive = act(&run.recorder, &opened.graded, "alive", Era::Modern);
    assert!(opened.graded.alive(alive).await.reply().is_some());
    if let Some(other) = opened.other {
        other.settle().await;
    }
    opened.graded.close().await;
    let header = run.recorder.take().header;
    assert_eq!((header.revision, header.other_era), (Some(Revision::V2026_07_28), None));
}

#[tokio::test]
async fn a_server_that_pins_its_process_to_modern_is_dual_by_the_second_process() {
    let run = start(
        r#"
pinned = None
for r in requests():
    era = "modern" if "_meta" in r.get("params", {}) else "legacy"
    pinned = pinned or era
    if era != pinned: error(r, -32022, data={"supported": ["2026-07-28"]})
    elif r["method"] == "server/discover": result(r, DISCOVER)
    elif r["method"] == "initialize": result(r, INIT)
    else: result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    let mut opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (0, Era::Modern));
    assert!(lists(&mut opened.graded, &run.recorder).await);
    if let Some(other) = opened.other {
        other.settle().await;
    }
    assert_eq!(run.recorder.take().header.other_era, Some((Era::Legacy, "2025-11-25".to_owned())));
}

#[tokio::test]
async fn a_second_process_that_answers_first_is_not_forgotten() {
    let run = start(
        r#"
first = None
for r in requests():
    first = first or r["method"]
    if first == "server/discover":
        time.sleep(0.8); first = "done"
    if first == "done" and r["method"] == "initialize": error(r, -32022, data={"supported": ["2026-07-28"]})
    elif r["method"] == "server/discover": result(r, DISCOVER)
    elif r["method"] == "initialize": result(r, INIT)
    else: result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    let opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (0, Era::Modern));
    if let Some(other) = opened.other {
        other.settle().await;
    }
    assert_eq!(run.recorder.take().header.other_era, Some((Era::Legacy, "2025-11-25".to_owned())));
}

#[tokio::test]
async fn a_server_that_initialize_turns_legacy_is_graded_in_a_fresh_process() {
    let run = start(
        r#"
legacy = False
for r in requests():
    if r["method"] == "initialize": legacy = True; result(r, INIT)
    elif legacy: error(r, -32601)
    elif r["method"] == "server/discover": result(r, DISCOVER)
    else: result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    let mut opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (2, Era::Modern));
    assert!(opened.other.is_none());
    assert!(lists(&mut opened.graded, &run.recorder).await);
    assert_eq!(run.recorder.take().header.other_era, Some((Era::Legacy, "2025-11-25".to_owned())));
}

#[tokio::test]
async fn a_server_that_speaks_both_in_one_process_stays_in_it() {
    let run = start(
        r#"
for r in requests():
    if r["method"] == "initialize": result(r, INIT)
    elif r["method"] == "server/discover": result(r, DISCOVER)
    else: result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    let opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (0, Era::Modern));
    // Which process told it first depends on the machine.
    if let Some(other) = opened.other {
        other.settle().await;
    }
    assert_eq!(run.recorder.take().header.other_era, Some((Era::Legacy, "2025-11-25".to_owned())));
}

#[tokio::test]
async fn a_server_that_dies_of_discover_is_graded_in_the_second_process() {
    let run = start(
        r#"
for r in requests():
    if r["method"] == "initialize": result(r, INIT)
    elif r["method"] == "server/discover": sys.exit(3)
    else: result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    let mut opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (1, Era::Legacy));
    assert!(lists(&mut opened.graded, &run.recorder).await);
    let trace = run.recorder.take();
    assert_eq!(trace.header.graded.map(|id| id.0), Some(1));
    let died = |event: &crate::model::Event| {
        event.session.0 == 0 && matches!(event.kind, EventKind::Exited { code: Some(3), .. })
    };
    assert!(trace.events.iter().any(died));
}

#[tokio::test]
async fn silence_to_discover_is_legacy_without_a_wait() {
    let run = start(
        r#"
for r in requests():
    if r["method"] == "initialize": result(r, INIT)
    elif r["method"] == "tools/list":
        say({"jsonrpc": "2.0", "id": 1, "result": DISCOVER}); result(r, TOOLS)
"#,
        LONG,
    )
    .await;
    assert!(run.took < Duration::from_secs(10), "{:?}", run.took);
    let mut opened = run.opened.unwrap();
    assert_eq!((opened.graded.id().0, opened.graded.era()), (0, Era::Legacy));
    assert!(lists(&mut opened.graded, &run.recorder).await);
    let trace = run.recorder.take();
    assert!(trace.events.iter().any(|event| matches!(event.kind, EventKind::Stray { .. })), "the late discovery");
}

#[tokio::test]
async fn an_unknown_revision_is_graded_and_noted() {
    let run =
        start(&LEGACY.replace("result(r, INIT)", "result(r, dict(INIT, protocolVersion='2099-01-01'))"), LONG).await;
    let header = run.trace().header;
    assert_eq!(run.opened.unwrap().graded.revision(), Revision::V2025_11_25);
    assert_eq!(header.revision_text.as_deref(), Some("2099-01-01"));
}

#[tokio::test]
async fn a_server_that_exits_says_so_with_its_stderr() {
    let run = start("sys.stderr.write('no database\\n'); sys.exit(7)", LONG).await;
    assert!(run.reason().contains("exit code 7"), "{}", run.reason());
    let failure = run.opened.as_ref().unwrap_err();
    assert_eq!(failure.stderr, "no database\n");
    assert_eq!(failure.exit.and_then(|exit| exit.code), Some(7));
    assert!(failure.hint().is_some());
    assert_eq!(run.trace().header.failure.as_deref(), Some(run.reason()));
}

#[tokio::test]
async fn a_server_that_is_killed_names_the_signal() {
    let run = start("os.kill(os.getpid(), 11)", LONG).await;
    assert!(run.reason().contains("signal 11"), "{}", run.reason());
}

#[tokio::test]
async fn a_silent_server_costs_the_bound_and_no_more() {
    let run = start("time.sleep(600)", SHORT).await;
    assert!(run.reason().contains("did not answer"), "{}", run.reason());
    assert!(run.took < Duration::from_secs(10));
}

#[tokio::test]
async fn a_program_that_prints_something_else_is_quoted() {
    let run = start("print('Listening on :3000'); time.sleep(600)", SHORT).await;
    assert!(run.reason().contains("not MCP") && run.reason().contains("Listening on :3000"), "{}", run.reason());
    let run = start("print('usage: toy'); sys.exit(0)", LONG).await;
    assert!(run.reason().contains("exit code 0") && run.reason().contains("usage: toy"), "{}", run.reason());
}

#[tokio::test]
async fn a_program_that_repeats_its_input_is_recognised() {
    let run = start("for line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()", LONG).await;
    assert!(run.reason().contains("repeats its input"), "{}", run.reason());
}

#[tokio::test]
async fn a_banner_before_the_handshake_is_noise_and_no_failure() {
    let run = start(&format!("print('*** toy ***'){LEGACY}"), LONG).await;
    assert!(run.opened.is_ok());
    let noisy = |event: &crate::model::Event| event.session.0 == 0 && matches!(event.kind, EventKind::Noise { .. });
    assert!(run.trace().events.iter().any(noisy));
}

#[tokio::test]
async fn a_closed_stdout_is_named() {
    let run = start("os.close(1); time.sleep(600)", LONG).await;
    assert!(run.reason().contains("closed its stdout"), "{}", run.reason());
}

#[tokio::test]
async fn a_refused_handshake_is_quoted() {
    let run = start("for r in requests(): error(r, -32050)", LONG).await;
    assert!(run.reason().contains("refused `initialize`: error -32050: refused"), "{}", run.reason());
}

#[tokio::test]
async fn a_handshake_without_a_revision_is_none() {
    let run = start("for r in requests(): result(r, {})", LONG).await;
    assert!(run.reason().contains("no `protocolVersion`"), "{}", run.reason());
}

#[tokio::test]
async fn a_reply_without_a_line_end_is_no_handshake() {
    let body = r#"
for r in requests():
    if r["method"] == "initialize":
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": r["id"], "result": INIT})); sys.stdout.flush()
"#;
    let run = start(body, SHORT).await;
    assert!(run.reason().contains("no line end"), "{}", run.reason());
}

#[tokio::test]
async fn only_unknown_modern_revisions_are_named() {
    let body = r#"
for r in requests():
    error(r, -32022, data={"supported": ["2027-05-05"]})
"#;
    let run = start(body, LONG).await;
    assert!(run.reason().contains("2027-05-05"), "{}", run.reason());
}

#[tokio::test]
async fn a_missing_program_is_an_error_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let link = Link::Stdio(spawn(dir.path(), "no-such-program-here", &[]));
    let recorder = Recorder::new(Header::default());
    let bounds = Bounds { connect: LONG, call: LONG };
    let failure = open_server(&link, &recorder, &Tokens::mint(), bounds).await.unwrap_err();
    assert!(failure.reason.contains("no-such-program-here"));
}

#[tokio::test]
async fn a_server_that_stops_reading_is_not_waited_for_without_end() {
    let run = start(&LEGACY.replace("result(r, TOOLS)", "time.sleep(600)"), LONG).await;
    let (recorder, mut session) = (run.recorder, run.opened.unwrap().graded);
    session.set_bounds(Bounds { connect: LONG, call: Duration::from_millis(200) });
    let began = Instant::now();
    let act = act(&recorder, &session, "x", Era::Legacy);
    let mut pending = vec![session.send(act, "tools/list", Value::Null).await];
    for _ in 0..200 {
        pending.push(session.send(act, "tools/call", json!({ "name": "x".repeat(50_000) })).await);
    }
    let mut answers = Vec::new();
    for pending in pending {
        answers.push(session.wait(pending, Duration::from_millis(1)).await);
    }
    assert_eq!(answers[0], Answer::TimedOut);
    assert_eq!(answers.last(), Some(&Answer::NotSent));
    session.kill();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_crash_in_a_call_is_an_exit_of_every_waiting_act() {
    let run = start(&LEGACY.replace("result(r, TOOLS)", "os._exit(9)"), LONG).await;
    let (recorder, mut session) = (run.recorder, run.opened.unwrap().graded);
    let acts = [act(&recorder, &session, "a", Era::Legacy), act(&recorder, &session, "b", Era::Legacy)];
    let one = session.send(acts[0], "tools/list", Value::Null).await;
    let two = session.send(acts[1], "tools/list", Value::Null).await;
    assert_eq!(session.wait(one, LONG).await, Answer::Closed);
    assert_eq!(session.wait(two, LONG).await, Answer::Closed);
    assert!(!session.open_still());
    session.close().await;
    let trace = recorder.take();
    let exits: Vec<_> = trace
        .events
        .iter()
        .filter(|event| event.session.0 == 0 && matches!(event.kind, EventKind::Exited { code: Some(9), .. }))
        .map(|event| event.act)
        .collect();
    assert_eq!(exits, [Some(acts[0]), Some(acts[1])]);
}

#[tokio::test]
async fn an_unread_crash_is_blamed_on_the_last_act() {
    let run = start(&LEGACY.replace("result(r, TOOLS)", "result(r, TOOLS); os._exit(9)"), LONG).await;
    let (recorder, mut session) = (run.recorder, run.opened.unwrap().graded);
    let act = act(&recorder, &session, "a", Era::Legacy);
    assert!(session.call(act, "tools/list", Value::Null, LONG).await.reply().is_some());
    while session.open_still() {
        tokio::task::yield_now().await;
    }
    session.exit().await;
    session.close().await;
    let exited = |event: &&crate::model::Event| matches!(event.kind, EventKind::Exited { code: Some(9), .. });
    assert_eq!(recorder.take().events.iter().find(exited).and_then(|event| event.act), Some(act));
}

#[tokio::test]
async fn a_hang_a_flood_and_an_unfinished_line_are_bounded() {
    let body = LEGACY.replace(
        "result(r, TOOLS)",
        "\n        for n in range(5000): say({'jsonrpc': '2.0', 'method': 'notifications/message'})\n        \
         sys.stdout.write('[' * 5000000 + '\\n'); sys.stdout.write('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}' % r['id']); sys.stdout.flush(); time.sleep(600)",
    );
    let run = start(&body, LONG).await;
    let (recorder, mut session) = (run.recorder, run.opened.unwrap().graded);
    let act = act(&recorder, &session, "a", Era::Legacy);
    let answer = session.call(act, "tools/list", Value::Null, Duration::from_secs(4)).await;
    let reply = answer.reply().expect("what has no line end is recorded");
    assert!(matches!(outcome(&recorder, reply), Outcome::Malformed { why } if why.contains("line end")));
    let hung = session.call(act, "tools/list", Value::Null, Duration::from_millis(50)).await;
    assert_eq!(hung, Answer::TimedOut);
    session.close().await;
    let trace = recorder.take();
    assert!(trace.events.len() < 2_000, "{}", trace.events.len());
    assert!(trace.events.iter().any(|event| matches!(&event.kind, EventKind::Lingered { .. })));
}

#[tokio::test]
async fn stderr_and_replies_are_searched_for_tokens() {
    let body =
        LEGACY.replace("result(r, TOOLS)", "sys.stderr.write(r['params']['say'] + '\\n'); result(r, r['params'])");
    let run = start(&body, LONG).await;
    let (recorder, mut session) = (run.recorder, run.opened.unwrap().graded);
    let act = act(&recorder, &session, "a", Era::Legacy);
    let params = json!({ "say": run.tokens.value(TokenKind::Canary) });
    session.call(act, "tools/list", params, LONG).await;
    session.close().await;
    let trace = recorder.take();
    let sent = trace
        .events
        .iter()
        .any(|event| matches!(&event.kind, EventKind::Sent { carries, .. } if carries == &[TokenKind::Canary]));
    let received =
        trace.events.iter().any(|event| matches!(&event.kind, EventKind::Received { hits, .. } if hits.len() == 1));
    let noted =
        trace.events.iter().any(|event| matches!(&event.kind, EventKind::Stderr { hits, .. } if hits.len() == 1));
    assert!(sent && received && noted);
}
