//! Exchanges with endpoints scripted for one trait each.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{
    model::{Act, ActId, Era, EventKind, Header, Outcome, Revision, Role, Trace},
    session::{Answer, Bounds, HttpTarget, Link, Opened, Recorder, Session, StartFailure, Tokens, open_server},
};

/// One request as the endpoint saw it.
#[derive(Debug, Clone)]
struct Request {
    verb: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn result(&self, result: &Value) -> String {
        json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result }).to_string()
    }

    fn error(&self, code: i64) -> String {
        json!({ "jsonrpc": "2.0", "id": self.body["id"], "error": { "code": code, "message": "refused" } }).to_string()
    }
}

type Script = dyn Fn(&Request) -> Vec<u8> + Send + Sync;
type Seen = Arc<std::sync::Mutex<Vec<Request>>>;

fn response(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn json_response(status: u16, body: &str) -> Vec<u8> {
    response(status, "content-type: application/json\r\n", body)
}

fn events(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

async fn serve(stream: TcpStream, script: Arc<Script>, seen: Seen) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let verb = line.split(' ').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let request = Request { verb, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
    let answer = script(&request);
    seen.lock().unwrap().push(request);
    // Small pieces, so that boundaries fall anywhere.
    for piece in answer.chunks(7) {
        stream.write_all(piece).await.ok()?;
        stream.flush().await.ok()?;
    }
    stream.shutdown().await.ok()
}

async fn endpoint(script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> (HttpTarget, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (script, seen): (Arc<Script>, Seen) = (Arc::new(script), Seen::default());
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&log)));
        }
    });
    (HttpTarget { url, headers: vec![("Authorization".to_owned(), "Bearer x".to_owned())] }, seen)
}

const BOUNDS: Bounds = Bounds { connect: Duration::from_secs(20), call: Duration::from_secs(10) };

async fn open(target: HttpTarget) -> (Result<Opened, StartFailure>, Recorder) {
    let recorder = Recorder::new(Header::default());
    (open_server(&Link::Http(target), &recorder, &Tokens::mint(), BOUNDS).await, recorder)
}

async fn failure(script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> StartFailure {
    open(endpoint(script).await.0).await.0.unwrap_err()
}

fn act(recorder: &Recorder, session: &Session) -> ActId {
    let (probe, variant) = ("x".to_owned(), "x".to_owned());
    let (session, role, tool, era) = (session.id(), Role::Control, None, session.era());
    recorder.act(Act { session, probe, role, tool, variant, era, replay: false })
}

fn outcome_of(trace: &Trace, act: ActId) -> Outcome {
    let received = trace.events.iter().filter(|event| event.act == Some(act)).find_map(|event| match &event.kind {
        EventKind::Received { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    received.unwrap()
}

fn init() -> Value {
    json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "t", "version": "1" } })
}

fn discovery() -> Value {
    json!({ "supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete", "ttlMs": 0, "cacheScope": "public" })
}

/// A legacy server with sessions; everything but the handshake goes to `more`.
fn legacy(more: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> impl Fn(&Request) -> Vec<u8> + Send + Sync {
    move |request| match (request.verb.as_str(), request.method()) {
        ("DELETE", _) => response(200, "", ""),
        (_, "server/discover") => {
            json_response(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not initialized"}}"#)
        }
        (_, "initialize") => {
            response(200, "content-type: application/json\r\nMcp-Session-Id: s-1\r\n", &request.result(&init()))
        }
        (_, "notifications/initialized") => response(202, "", ""),
        _ => more(request),
    }
}

#[tokio::test]
async fn a_legacy_session_carries_its_headers_and_is_deleted() {
    let (target, seen) = endpoint(legacy(|request| json_response(200, &request.result(&json!({ "tools": [] }))))).await;
    let (opened, recorder) = open(target).await;
    let mut session = opened.unwrap().graded;
    assert_eq!(session.revision(), Revision::V2025_06_18);
    let listing = act(&recorder, &session);
    assert!(session.call(listing, "tools/list", Value::Null, BOUNDS.call).await.reply().is_some());
    session.close().await;
    let seen = seen.lock().unwrap().clone();
    let order: Vec<(&str, &str)> = seen.iter().map(|request| (request.verb.as_str(), request.method())).collect();
    assert_eq!(
        order,
        [
            ("POST", "server/discover"),
            ("POST", "initialize"),
            ("POST", "notifications/initialized"),
            ("POST", "tools/list"),
            ("DELETE", "")
        ]
    );
    assert_eq!(seen[0].header("mcp-method"), Some("server/discover"));
    assert_eq!(seen[0].header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(seen[1].header("mcp-protocol-version"), None);
    assert_eq!(seen[1].header("mcp-session-id"), None);
    for later in &seen[2..4] {
        assert_eq!(later.header("mcp-session-id"), Some("s-1"));
        assert_eq!(later.header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(later.header("accept"), Some("application/json, text/event-stream"));
    }
    assert_eq!(seen[4].header("mcp-session-id"), Some("s-1"));
    assert!(seen.iter().all(|request| request.header("authorization") == Some("Bearer x")));
    let trace = recorder.take();
    assert_eq!(trace.events.iter().filter(|event| matches!(event.kind, EventKind::Http { .. })).count(), 5);
    assert!(!trace.events.iter().any(|event| matches!(event.kind, EventKind::Stray { .. })));
}

#[tokio::test]
async fn a_stream_is_read_to_the_reply_and_what_else_it_says_is_recorded() {
    let (target, seen) = endpoint(legacy(|request| match request.method() {
        "tools/list" => {
            let reply = request.result(&json!({ "tools": [] })).replace(",\"id\"", ",\r\ndata: \"id\"");
            events(&format!(
                ": hi\r\nid: 1\r\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"n\"}}\r\n\r\ndata: {{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}}\r\n\r\ndata: {reply}\r\n\r\n"
            ))
        }
        _ => response(202, "", ""),
    }))
    .await;
    let (opened, recorder) = open(target).await;
    let mut session = opened.unwrap().graded;
    let listing = act(&recorder, &session);
    let answer = session.call(listing, "tools/list", Value::Null, BOUNDS.call).await;
    assert_eq!(answer.reply().unwrap().value.as_ref().unwrap()["result"], json!({ "tools": [] }));
    let trace = recorder.read(Trace::clone);
    assert!(
        trace.events.iter().any(|event| matches!(&event.kind, EventKind::Notification { method, .. } if method == "n"))
    );
    assert!(trace.events.iter().any(|event| matches!(&event.kind, EventKind::ServerRequest { .. })));
    let answered = async {
        while !seen.lock().unwrap().iter().any(|request| request.body["error"]["code"] == -32601) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), answered).await.expect("the request of the server is answered");
}

#[tokio::test]
async fn a_stream_that_ends_early_is_resumed_where_it_ended() {
    let (target, seen) = endpoint(legacy(|request| match request.verb.as_str() {
        "GET" => events("data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[]}}\n\n"),
        _ => events("id: cursor-9\nretry: 1\ndata:\n\n"),
    }))
    .await;
    let (opened, recorder) = open(target).await;
    let mut session = opened.unwrap().graded;
    let listing = act(&recorder, &session);
    let answer = session.call(listing, "tools/list", Value::Null, BOUNDS.call).await;
    assert!(answer.reply().is_some_and(|reply| reply.value.is_some()), "{answer:?}");
    let seen = seen.lock().unwrap();
    let resumed = seen.iter().find(|request| request.verb == "GET").unwrap();
    assert_eq!(resumed.header("last-event-id"), Some("cursor-9"));
    assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
}

#[tokio::test]
async fn responses_that_hold_no_reply_are_malformed() {
    for (answer, part) in [
        (events("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"), "ended before the reply"),
        (events("data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"), "no blank line"),
        (response(202, "", ""), "HTTP 202 without a body"),
        (response(500, "content-type: text/plain\r\n", "oops"), "HTTP 500 with text/plain"),
        (json_response(200, "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}"), "HTTP 200 with application/json"),
        (json_response(200, "{\"jsonrpc\":"), "HTTP 200 with application/json"),
    ] {
        let (target, _) = endpoint(legacy(move |_| answer.clone())).await;
        let (opened, recorder) = open(target).await;
        let mut session = opened.unwrap().graded;
        let call = act(&recorder, &session);
        assert!(session.call(call, "tools/list", Value::Null, BOUNDS.call).await.reply().is_some());
        let outcome = outcome_of(&recorder.take(), call);
        assert!(matches!(&outcome, Outcome::Malformed { why } if why.contains(part)), "{outcome:?}");
    }
}

#[tokio::test]
async fn an_error_status_with_a_json_rpc_error_is_a_reply() {
    for body in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32700,"message":"no"}}"#,
    ] {
        let (target, _) = endpoint(legacy(move |_| json_response(400, body))).await;
        let (opened, recorder) = open(target).await;
        let mut session = opened.unwrap().graded;
        let call = act(&recorder, &session);
        assert!(session.call(call, "tools/list", Value::Null, BOUNDS.call).await.reply().is_some());
        assert!(matches!(outcome_of(&recorder.read(Trace::clone), call), Outcome::Error { code: Some(-32700), .. }));
        // The same for bytes whose reply has no id to be known by.
        let raw = act(&recorder, &session);
        let pending = session.raw(raw, b"{\"jsonrpc\":", None).await;
        session.wait(pending, BOUNDS.call).await;
        let error = matches!(outcome_of(&recorder.take(), raw), Outcome::Error { .. });
        assert_eq!(error, body.contains("null"));
    }
}

#[tokio::test]
async fn a_modern_endpoint_is_recognised_and_its_other_era_reported() {
    for (dual, expected) in [(true, Some((Era::Legacy, "2025-06-18".to_owned()))), (false, None)] {
        let (target, seen) = endpoint(move |request| match (request.verb.as_str(), request.method()) {
            ("DELETE", _) => response(200, "", ""),
            (_, "server/discover") => json_response(200, &request.result(&discovery())),
            (_, "initialize") if dual => {
                response(200, "content-type: application/json\r\nmcp-session-id: s-2\r\n", &request.result(&init()))
            }
            (_, "initialize") => json_response(400, &request.error(-32022)),
            _ => json_response(200, &request.result(&json!({}))),
        })
        .await;
        let (opened, recorder) = open(target).await;
        let Opened { graded: mut session, other } = opened.unwrap();
        assert_eq!(session.era(), Era::Modern);
        let call = act(&recorder, &session);
        session.call(call, "tools/call", json!({ "name": "n" }), BOUNDS.call).await;
        other.unwrap().settle().await;
        session.close().await;
        assert_eq!(recorder.take().header.other_era, expected);
        let seen = seen.lock().unwrap().clone();
        let called = seen.iter().find(|request| request.method() == "tools/call").unwrap();
        assert_eq!(called.header("mcp-name"), Some("n"));
        assert_eq!(
            called.body.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion"),
            Some(&json!("2026-07-28"))
        );
        assert_eq!(seen.iter().any(|request| request.verb == "DELETE"), dual);
    }
}

#[tokio::test]
async fn failures_name_their_cause_and_the_next_step() {
    for (status, reason, hint) in [
        (401, "credentials", "--bearer"),
        (403, "credentials", "--header"),
        (404, "HTTP 404", "path"),
        (405, "POST", "HTTP+SSE"),
        (503, "HTTP 503", "log"),
    ] {
        let failure = failure(move |_| response(status, "", "")).await;
        assert!(failure.reason.contains(reason), "{}", failure.reason);
        assert!(failure.hint().unwrap().contains(hint), "{failure:?}");
    }
    let moved = failure(|_| response(307, "location: http://other.example/mcp\r\n", "")).await;
    assert!(moved.reason.contains("redirects to http://other.example/mcp"), "{}", moved.reason);
    let page = failure(|_| response(200, "content-type: text/html\r\n", "<html>")).await;
    assert!(page.reason.contains("web page"), "{}", page.reason);
    let refused = failure(|request| json_response(400, &request.error(-32000))).await;
    assert!(refused.reason.contains("-32000") && refused.reason.contains("HTTP 400"), "{}", refused.reason);
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_fails_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let (opened, recorder) = open(HttpTarget { url: url.clone(), headers: Vec::new() }).await;
    let failure = opened.unwrap_err();
    assert!(failure.reason.contains("cannot be reached") && failure.reason.contains("refused"), "{}", failure.reason);
    assert!(failure.hint().unwrap().contains("--start"));
    assert!(recorder.take().events.iter().any(|event| matches!(event.kind, EventKind::NotSent { .. })));

    let (target, _) = endpoint(|_| b"garbage".to_vec()).await;
    let failure = open(HttpTarget { url: target.url.replace("http", "https"), ..target }).await.0.unwrap_err();
    assert!(failure.hint().unwrap().contains("TLS"), "{failure:?}");
    for url in ["nonsense", "ftp://localhost/"] {
        let failure = open(HttpTarget { url: url.to_owned(), headers: Vec::new() }).await.0.unwrap_err();
        assert!(failure.reason.contains(url), "{}", failure.reason);
    }
}

#[tokio::test]
async fn a_broken_connection_closes_the_call_and_not_the_session() {
    let (target, _) = endpoint(legacy(|request| match request.method() {
        "ping" => json_response(200, &request.result(&json!({}))),
        _ => b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{".to_vec(),
    }))
    .await;
    let (opened, recorder) = open(target).await;
    let mut session = opened.unwrap().graded;
    let call = act(&recorder, &session);
    assert_eq!(session.call(call, "tools/list", Value::Null, BOUNDS.call).await, Answer::Closed);
    let alive = act(&recorder, &session);
    assert!(session.alive(alive).await.reply().is_some());
    assert!(session.open_still());
}
