//! Badges: which calls are made, what is committed, and what stands in the way.

use sealmark::ci::{BadgePlace, Event};
use serde_json::json;

use crate::world::{World, report};

const TREE: &str = "GET git/trees/badges";

fn conflict(times: i64) -> serde_json::Value {
    let body = json!({ "message": "sealmark.svg does not match 1234", "documentation_url": "x", "status": "409" });
    json!({ "method": "PUT", "path": "contents", "status": 409, "times": times, "body": body, "undescribed": true })
}

#[tokio::test]
async fn a_missing_branch_is_made_without_history_and_then_kept_current() {
    let mut world = World::pushing("badge", json!({})).await;
    let (line, calls) = world.line().await;
    assert_eq!(line, "2 badge files committed");
    assert_eq!(calls, [TREE, "POST git/trees", "POST git/commits", "POST git/refs"], "once per repository");
    let state = world.state().await;
    assert_eq!(state["branches"]["badges"]["orphan"], json!(true));
    assert_eq!(world.files("badges").await.into_iter().collect::<Vec<_>>(), ["sealmark.json", "sealmark.svg"]);

    let (line, calls) = world.line().await;
    assert_eq!(line, "badges unchanged");
    assert_eq!(calls, [TREE], "nothing is committed twice");

    world.runs[0].badge.eligible = false;
    world.runs[0].config.standard = false;
    let (line, calls) = world.line().await;
    assert_eq!(line, "2 badge files committed");
    assert_eq!(calls, [TREE, "PUT contents/sealmark.svg", "PUT contents/sealmark.json"]);
    let state = world.state().await;
    let put = &state["bodies"].as_array().unwrap()[6];
    assert_eq!(put["branch"], "badges");
    assert!(put.get("author").is_none() && put.get("committer").is_none(), "GitHub signs what it authors");
    assert!(put["message"].as_str().unwrap().contains("[skip ci]"));
}

#[tokio::test]
async fn a_conflict_is_tried_again_with_what_is_there_now() {
    let world =
        World::pushing("conflict", json!({ "branches": { "badges": { "files": {} } }, "rules": [conflict(2)] })).await;
    let (line, calls) = world.line().await;
    assert_eq!(line, "2 badge files committed");
    let put = "PUT contents/sealmark.svg";
    assert_eq!(calls, [TREE, put, TREE, put, TREE, put, "PUT contents/sealmark.json"]);
}

#[tokio::test]
async fn a_conflict_that_stays_is_one_warning() {
    let world =
        World::pushing("conflicts", json!({ "branches": { "badges": { "files": {} } }, "rules": [conflict(-1)] }))
            .await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("warning: the badges were not committed: GitHub answered 409"), "{line}");
    assert_eq!(calls.len(), 10);
}

#[tokio::test]
async fn whoever_makes_the_branch_first_is_not_overwritten() {
    let body = json!({ "message": "Reference already exists", "documentation_url": "x", "status": "422" });
    let rule = json!({ "method": "POST", "path": "git/refs", "status": 422, "body": body });
    let world = World::pushing("first", json!({ "rules": [rule] })).await;
    let (line, calls) = world.line().await;
    assert_eq!(line, "2 badge files committed");
    assert_eq!(calls.iter().filter(|call| *call == TREE).count(), 2);
}

#[tokio::test]
async fn a_directory_of_the_default_branch_serves_too() {
    let mut world = World::pushing("directory", json!({})).await;
    world.options.badge = BadgePlace::Directory("docs/badges".to_owned());
    let (line, calls) = world.line().await;
    assert_eq!(line, "2 badge files committed");
    let list = "GET contents/docs%2Fbadges";
    assert_eq!(
        calls,
        [list, "PUT contents/docs%2Fbadges%2Fsealmark.svg", "PUT contents/docs%2Fbadges%2Fsealmark.json"]
    );
    assert!(world.files("main").await.contains("docs/badges/sealmark.svg"));
    let (line, calls) = world.line().await;
    assert_eq!((line.as_str(), calls.as_slice()), ("badges unchanged", [list.to_owned()].as_slice()));
}

#[tokio::test]
async fn a_fleet_is_one_commit() {
    let mut world =
        World::pushing("fleet", json!({ "branches": { "badges": { "files": { "README.md": "kept" } } } })).await;
    world.runs = ["Alpha", "beta/2", "beta 2"]
        .map(|name| sealmark::report::RunResult { name: name.to_owned(), ..report() })
        .into();
    let (line, calls) = world.line().await;
    assert_eq!(line, "6 badge files committed");
    let patch = "PATCH git/refs/heads%2Fbadges";
    assert_eq!(calls, [TREE, "GET commits/badges", "POST git/trees", "POST git/commits", patch]);
    let files: Vec<_> = world.files("badges").await.into_iter().collect();
    assert_eq!(
        files,
        [
            "README.md",
            "sealmark-alpha.json",
            "sealmark-alpha.svg",
            "sealmark-beta-2.2.json",
            "sealmark-beta-2.2.svg",
            "sealmark-beta-2.json",
            "sealmark-beta-2.svg"
        ]
    );
    assert_eq!(world.line().await.1, [TREE]);

    let body = json!({ "message": "Update is not a fast forward", "documentation_url": "x", "status": "422" });
    let rule = json!({ "method": "PATCH", "path": "git/refs", "status": 422, "body": body });
    world.set(json!({ "branches": { "badges": { "files": {} } }, "rules": [rule] })).await;
    let (line, calls) = world.line().await;
    assert_eq!((line.as_str(), calls.len()), ("6 badge files committed", 10));
}

#[tokio::test]
async fn what_forbids_a_commit_is_told_apart() {
    let world = World::pushing("forbidden", json!({})).await;
    for (status, message, expected) in [
        (
            409,
            "Repository rule violations found\n\nCannot update this protected ref.",
            "a branch rule refuses the commit",
        ),
        (403, "Resource not accessible by integration", "the permission `contents: write`"),
        (403, "Repository was archived so is read-only.", "archived repository"),
        (422, "Validation Failed", "please report it"),
    ] {
        let body = json!({ "message": message, "documentation_url": "x", "status": status.to_string() });
        let rule = json!({ "method": "PUT", "path": "contents", "status": status, "body": body, "undescribed": status != 422 });
        let given = json!({ "branches": { "badges": { "files": {} } }, "rules": [rule] });
        world.set(given).await;
        let (line, calls) = world.line().await;
        assert!(line.starts_with("warning: the badges were not committed") && line.contains(expected), "{line}");
        assert_eq!(calls.len(), 2, "it is not tried again");
    }
    world.set(json!({ "empty": true })).await;
    let (line, _) = world.line().await;
    assert!(line.contains("push a first commit"), "{line}");
}

#[tokio::test]
async fn only_a_push_to_the_default_branch_commits() {
    let mut world = World::pushing("events", json!({})).await;
    for event in [Event::PullRequest, Event::Branch, Event::Tag, Event::MergeQueue, Event::Schedule, Event::WorkflowRun]
    {
        world.context.event = event;
        let (published, calls) = world.publish().await;
        assert_eq!(published.notices, [], "{event:?}");
        assert!(calls.is_empty());
    }
}
