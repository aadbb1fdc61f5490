//! Refusals, silence and nonsense: one line each, a write is sent once, and everything ends in time.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::{Duration, Instant},
};

use sealmark::ci::{Capability, When, github};
use serde_json::{Value, json};

use crate::world::{TOKEN, World};

const LIST: &str = "GET issues/7/comments";
const CREATE: &str = "POST issues/7/comments";

fn rule(method: &str, status: u16, message: &str) -> Value {
    let body = json!({ "message": message, "documentation_url": "x", "status": status.to_string() });
    json!({ "method": method, "path": "comments", "status": status, "times": -1, "body": body })
}

#[tokio::test]
async fn each_refusal_has_its_remedy_and_a_write_is_sent_once() {
    let world = World::commenting("refusals", json!({})).await;
    for (status, message, expected) in [
        (403, "Resource not accessible by integration", "the permission `pull-requests: write`"),
        (403, "Unable to create comment because issue is locked.", "unlock the conversation"),
        (410, "Issues are disabled for this repo", "unlock the conversation"),
        (401, "Bad credentials", "has not expired"),
        (404, "Not Found", "the token may see it"),
        (422, "Body is too long (maximum is 65536 characters)", "publish fewer servers"),
        (429, "You have exceeded a secondary rate limit.", "run the job again later"),
        (403, "API rate limit exceeded for installation.", "run the job again later"),
        (500, "Server Error", "the fault is on GitHub's side"),
    ] {
        // The description knows only some of these for this call.
        let direct = !matches!(status, 403 | 404 | 410 | 422);
        world.set(json!({ "direct": direct, "rules": [rule("POST", status, message)] })).await;
        let (line, calls) = world.line().await;
        assert!(line.starts_with("warning: the comment was not written: GitHub answered "), "{line}");
        assert!(line.contains(expected), "{line}");
        assert_eq!(calls, [LIST, CREATE]);
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_said_to_be() {
    let mut world = World::commenting("long", json!({})).await;
    world.body = "x".repeat(70_000);
    let (line, _) = world.line().await;
    assert!(line.contains("Body is too long (maximum is 65536 characters)"), "{line}");
}

#[tokio::test]
async fn a_read_is_sent_again_twice() {
    let mut failing = rule("GET", 502, "Bad gateway");
    failing["times"] = json!(2);
    let world = World::commenting("twice", json!({ "direct": true, "rules": [failing.clone()] })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, [LIST, LIST, LIST, CREATE, LIST]);
    failing["times"] = json!(3);
    world.set(json!({ "direct": true, "rules": [failing] })).await;
    let (line, calls) = world.line().await;
    assert!(line.contains("GitHub answered 502: Bad gateway"), "{line}");
    assert_eq!(calls, [LIST, LIST, LIST]);
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_when_that_is_short() {
    let mut limited = rule("GET", 429, "You have exceeded a secondary rate limit.");
    limited["times"] = json!(1);
    limited["headers"] = json!({ "retry-after": "1" });
    let world = World::commenting("limit", json!({ "direct": true, "rules": [limited.clone()] })).await;
    let start = Instant::now();
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(calls.len(), 4);
    limited["headers"] = json!({ "retry-after": "300" });
    world.set(json!({ "direct": true, "rules": [limited] })).await;
    let (line, calls) = world.line().await;
    assert!(line.contains("run the job again in 300 seconds"), "{line}");
    assert_eq!(calls, [LIST]);
}

#[tokio::test]
async fn a_lost_answer_makes_no_second_comment() {
    let lost = json!({ "method": "POST", "path": "comments", "cut": true });
    let world = World::commenting("lost", json!({ "direct": true, "rules": [lost] })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("warning: the comment was not written"), "{line}");
    assert_eq!(calls, [LIST, CREATE]);
    let (line, _) = world.line().await;
    assert!(line.starts_with("comment unchanged"), "{line}");
    assert_eq!(world.comments().await.len(), 1);
}

#[tokio::test]
async fn a_slow_api_is_given_up() {
    let slow = json!({ "method": "GET", "path": "comments", "delay": 5, "times": -1 });
    let mut world = World::commenting("slow", json!({ "direct": true, "rules": [slow] })).await;
    world.limits.request = Duration::from_secs(1);
    let start = Instant::now();
    let (line, _) = world.line().await;
    assert!(line.contains("did not answer within 1 seconds"), "{line}");
    assert!(start.elapsed() < Duration::from_secs(3), "a time-out is not tried again");
}

#[tokio::test]
async fn everything_together_ends_in_time() {
    let mut failing = rule("GET", 503, "Unavailable");
    failing["headers"] = json!({ "retry-after": "2" });
    let mut world = World::commenting("deadline", json!({ "direct": true, "rules": [failing] })).await;
    world.limits.total = Duration::from_secs(3);
    let start = Instant::now();
    let (line, _) = world.line().await;
    assert!(line.contains("GitHub answered 503"), "{line}");
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn nonsense_is_no_answer() {
    let world = World::commenting("nonsense", json!({})).await;
    for body in [json!("<html>login</html>"), json!({ "message": "ok" }), json!("[{\"id\": \"one\"}]"), json!("[[[[")] {
        let rule = json!({ "method": "GET", "path": "comments", "status": 200, "body": body });
        world.set(json!({ "direct": true, "rules": [rule] })).await;
        let (line, calls) = world.line().await;
        assert!(line.contains("the answer is not what GitHub's API describes"), "{line}");
        assert_eq!(calls, [LIST]);
    }
    let fields = json!([{ "id": 1 }, { "body": "<!-- sealmark:sealmark -->" }, { "user": null, "body": null }, {}]);
    let rule = json!({ "method": "GET", "path": "comments", "status": 200, "body": fields });
    world.set(json!({ "direct": true, "rules": [rule] })).await;
    assert!(world.line().await.0.starts_with("comment written"), "missing members are none of our business");
}

#[tokio::test]
async fn redirects_are_followed_at_home_alone_and_not_for_ever() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let foreign = format!("http://{}/x", elsewhere.local_addr().unwrap());
    let world = World::commenting("redirects", json!({})).await;
    let home = world.context.api_url.clone().unwrap();
    let rule = |to: &str, times: i64| json!({ "method": "GET", "path": "^issues/7", "status": 301, "times": times, "headers": { "Location": to } });
    let there = format!("{home}/repos/acme/redirects/issues/7/comments");

    world.set(json!({ "direct": true, "rules": [rule(&there, 1)] })).await;
    assert!(world.line().await.0.starts_with("comment written"), "a renamed repository redirects");
    world.set(json!({ "direct": true, "rules": [rule(&there, -1)] })).await;
    let (line, calls) = world.line().await;
    assert!(line.contains("the API redirects more than 3 times"), "{line}");
    assert_eq!(calls.len(), 4);
    world.set(json!({ "direct": true, "rules": [rule(&foreign, -1)] })).await;
    let (line, _) = world.line().await;
    assert!(line.contains("the API redirects to another place"), "{line}");
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "the token goes nowhere else");
}

#[tokio::test]
async fn an_api_that_is_not_there_is_told() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut world = World::commenting("down", json!({})).await;
    world.context.api_url = Some(format!("http://{closed}"));
    assert!(world.line().await.0.contains("cannot be reached"));
    world.context.api_url = Some("http://no-such-host.invalid".to_owned());
    let (line, _) = world.line().await;
    assert!(line.contains("http://no-such-host.invalid"), "{line}");
    world.context.api_url = Some("ftp://x".to_owned());
    assert!(world.line().await.0.contains("GITHUB_API_URL"));
}

#[tokio::test]
async fn what_cannot_be_a_token_or_a_repository_is_not_tried() {
    let mut world = World::commenting("unusable", json!({})).await;
    for token in ["", "ghs_a\nb", "ghs_ä"] {
        world.token = token.to_owned();
        let (published, calls) = match token {
            // An empty text is in every line.
            "" => continue,
            _ => world.publish().await,
        };
        assert!(published.notices[0].line().contains("no token has"), "{published:?}");
        assert!(calls.is_empty());
    }
    world.token = TOKEN.to_owned();
    for repository in ["acme", "acme/x/y", "../x", "acme/..", "a b/c"] {
        world.context.repository = Some(repository.to_owned());
        assert!(world.line().await.0.contains("GITHUB_REPOSITORY"), "{repository}");
    }
}

#[tokio::test]
async fn what_is_not_allowed_is_a_note_and_a_warning_when_it_was_demanded() {
    let mut world = World::commenting("not-allowed", json!({})).await;
    world.context.capabilities.comment = Capability::no("a pull request of a fork", "publish from workflow_run");
    let (line, calls) = world.line().await;
    assert_eq!(line, "note: no comment: a pull request of a fork (publish from workflow_run)");
    assert!(calls.is_empty());
    world.options.comment = When::Always;
    let (line, _) = world.line().await;
    assert!(line.starts_with("warning: the comment was not written: a pull request of a fork"), "{line}");
    world.options.comment = When::Off;
    assert!(world.publish().await.0.notices.is_empty());
}

/// In a process of its own, as its environment is another.
#[test]
fn the_proxy_of_the_environment_is_used() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faults::through_the_proxy", "--ignored"])
        .env("HTTP_PROXY", &address)
        .env("http_proxy", &address)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut asked = [0u8; 200];
    let (mut stream, _) = proxy.accept().unwrap();
    let length = stream.read(&mut asked).unwrap();
    let body = "{\"total_count\": 0, \"artifacts\": []}";
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
    assert!(asked.starts_with("GET http://github.invalid/api/v3/repos/acme/proxied/actions/artifacts?"), "{asked}");
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
#[ignore = "started by the_proxy_of_the_environment_is_used"]
async fn through_the_proxy() {
    let context = sealmark::ci::Context {
        repository: Some("acme/proxied".to_owned()),
        default_branch: Some("main".to_owned()),
        api_url: Some("http://github.invalid/api/v3".to_owned()),
        capabilities: sealmark::ci::Capabilities { baseline: Capability::Yes, ..Default::default() },
        ..Default::default()
    };
    let found = github::baseline(&context, TOKEN, "sealmark-report", github::Limits::default()).await;
    assert!(found.unwrap_err().line().contains("branch main has no artifact"));
}
