//! SARIF uploads: to which commit, in how many pieces, and what code scanning says of them.

use sealmark::ci::Event;
use serde_json::json;

use crate::world::{HEAD, World, report};

const POST: &str = "POST code-scanning/sarifs";
const POLL: &str = "GET code-scanning/sarifs/upload-1";

async fn world(name: &'static str, given: serde_json::Value) -> World {
    let mut world = World::new(name, given).await;
    world.options.upload_sarif = true;
    world
}

#[tokio::test]
async fn an_upload_is_followed_until_it_is_read() {
    let world = world("scan", json!({ "polls": ["pending", "pending", "complete"] })).await;
    let (line, calls) = world.line().await;
    assert_eq!(line, "SARIF uploaded: https://github.com/acme/scan/security/code-scanning");
    assert_eq!(calls, [POST, POLL, POLL, POLL]);
    let uploads = world.state().await["uploads"].clone();
    let sha = "b".repeat(40);
    assert_eq!(uploads, json!([{ "sha": sha, "ref": "refs/pull/7/merge", "runs": 1, "version": "2.1.0" }]));
}

#[tokio::test]
async fn one_that_is_never_read_is_no_failure() {
    let world = world("pending", json!({ "polls": ["pending"] })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("SARIF uploaded, code scanning is still reading it"), "{line}");
    assert_eq!(calls.len(), 6, "asked five times");
}

#[tokio::test]
async fn what_code_scanning_finds_wrong_is_told() {
    let errors = json!(["rejecting SARIF, as there are more runs than allowed\n::error::x", "second"]);
    let world = world("refused", json!({ "polls": ["failed"], "errors": errors })).await;
    let (line, _) = world.line().await;
    assert!(
        line.starts_with("warning: SARIF was not uploaded: code scanning could not use it: rejecting SARIF"),
        "{line}"
    );
    assert!(line.contains("; second") && !line.contains('\n'), "{line}");
}

#[tokio::test]
async fn documented_refusals_have_their_remedies() {
    let world = world("scan-403", json!({})).await;
    for (status, message, expected) in [
        (403, "Code Security must be enabled for this repository to use code scanning.", "switch on code scanning"),
        (403, "Resource not accessible by integration", "the permission `security-events: write`"),
        (404, "Not Found", "the token may see it"),
        (413, "Payload too large", "fewer servers at a time"),
        (503, "Service unavailable", "the fault is on GitHub's side"),
    ] {
        let body = json!({ "message": message, "documentation_url": "x", "code": "x", "status": status.to_string() });
        let rule = json!({ "method": "POST", "path": "sarifs", "status": status, "body": body });
        world.set(json!({ "rules": [rule] })).await;
        let (line, calls) = world.line().await;
        assert!(line.starts_with("warning: SARIF was not uploaded") && line.contains(expected), "{line}");
        assert_eq!(calls, [POST], "a write is sent once");
    }
}

#[tokio::test]
async fn results_belong_to_the_commit_that_was_graded() {
    let mut world = world("place", json!({})).await;
    world.context.sha = Some(HEAD.to_owned());
    world.publish().await;
    world.context.event = Event::DefaultBranch;
    world.context.pull_request = None;
    world.context.git_ref = Some("refs/heads/main".to_owned());
    world.publish().await;
    let uploads = world.state().await["uploads"].clone();
    assert_eq!((&uploads[0]["ref"], &uploads[0]["sha"]), (&json!("refs/pull/7/head"), &json!(HEAD)));
    assert_eq!(uploads[1]["ref"], "refs/heads/main");
}

#[tokio::test]
async fn another_rights_run_never_files_a_request_under_the_default_branch() {
    let mut world = world("elsewhere", json!({})).await;
    world.context.git_ref = Some("refs/heads/main".to_owned());
    world.context.event = Event::PullRequestTarget;
    world.publish().await;
    assert_eq!(world.state().await["uploads"][0]["ref"], "refs/pull/7/head");
    for event in [Event::WorkflowRun, Event::PullRequestTarget] {
        world.context.event = event;
        world.context.pull_request = None;
        let (line, calls) = world.line().await;
        assert!(line.starts_with("note: no SARIF upload"), "{line}");
        assert!(calls.is_empty());
    }
    world.context.event = Event::MergeQueue;
    let (published, calls) = world.publish().await;
    assert_eq!(published.notices, [], "a merge queue's commits are temporary");
    assert!(calls.is_empty());
}

#[tokio::test]
async fn more_runs_than_one_document_takes_are_several_documents() {
    let mut world = world("many", json!({})).await;
    let named = |n: usize| sealmark::report::RunResult { name: format!("server-{n}"), ..report() };
    world.runs = (0..45).map(named).collect();
    let (line, _) = world.line().await;
    assert!(line.starts_with("SARIF uploaded"), "{line}");
    let state = world.state().await;
    let sizes: Vec<_> =
        state["uploads"].as_array().unwrap().iter().map(|upload| upload["runs"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [20, 20, 5]);
}
