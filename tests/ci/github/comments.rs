//! The sticky comment: how often it is written, whose it is, and which pull request it belongs to.

use sealmark::{
    ci::{Event, PullRequest, When},
    compare::{Change, Comparison, ServerComparison},
};
use serde_json::json;

use crate::world::{HEAD, World, own};

const MARKER: &str = "<!-- sealmark:sealmark -->";
const LIST: &str = "GET issues/7/comments";
const CREATE: &str = "POST issues/7/comments";

#[tokio::test]
async fn it_is_written_then_updated_then_left_alone() {
    let mut world = World::commenting("sticky", json!({})).await;
    let (published, calls) = world.publish().await;
    assert_eq!(calls, [LIST, CREATE, LIST], "the second list looks for a race, once per pull request");
    let url = "https://github.com/acme/sticky/pull/7#issuecomment-1000";
    assert_eq!(published.comment_url.as_deref(), Some(url));
    assert_eq!(published.notices[0].line(), format!("comment written: {url}"));

    world.body = "## Sealmark\n\nsecond".to_owned();
    let (published, calls) = world.publish().await;
    assert_eq!(calls, [LIST, "PATCH issues/comments/1000"]);
    assert_eq!(published.notices[0].line(), format!("comment updated: {url}"));
    assert_eq!(published.comment_url.as_deref(), Some(url));

    let (published, calls) = world.publish().await;
    assert_eq!(calls, [LIST]);
    assert_eq!(published.notices[0].line(), format!("comment unchanged: {url}"));
    assert_eq!(world.comments().await, [format!("{MARKER}\n## Sealmark\n\nsecond")]);
}

#[tokio::test]
async fn keys_tell_comments_apart() {
    let mut world = World::commenting("keys", json!({ "comments": { "7": [own(1, MARKER)] } })).await;
    world.options.comment_key = "sealmark-2".to_owned();
    let (line, _) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(world.comments().await.len(), 2);
}

#[tokio::test]
async fn a_marker_of_somebody_else_is_not_ours() {
    let planted = format!("{MARKER}\nplanted");
    let others = json!([
        { "id": 1, "body": planted, "login": "mallory", "kind": "User" },
        { "id": 2, "body": planted, "login": null },
        own(3, &format!("> quoted\n{MARKER}")),
        { "id": 4, "body": planted, "login": "github-actions[bot]", "kind": "User" },
    ]);
    let world = World::commenting("planted", json!({ "comments": { "7": others } })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, [LIST, CREATE, LIST]);
    assert_eq!(world.comments().await[0], planted);
}

#[tokio::test]
async fn the_jobs_own_bot_comes_before_another_one() {
    let comments = json!([
        { "id": 1, "body": format!("{MARKER}\nby an app"), "login": "other[bot]", "kind": "Bot" },
        own(2, &format!("{MARKER}\nby the job")),
    ]);
    let world = World::commenting("bots", json!({ "comments": { "7": comments } })).await;
    let (_, calls) = world.line().await;
    assert_eq!(calls, [LIST, "PATCH issues/comments/2"]);
}

#[tokio::test]
async fn another_bots_comments_are_neither_rewritten_nor_removed() {
    let planted = format!("{MARKER}\nby an app");
    let comments = json!([
        { "id": 1, "body": planted, "login": "other[bot]", "kind": "Bot" },
        { "id": 2, "body": planted, "login": "other[bot]", "kind": "Bot" },
    ]);
    for token in ["ghs_of_the_job", "ghs_app_grader"] {
        let login = if token.contains("app") { "grader[bot]" } else { "github-actions[bot]" };
        let given = json!({ "comments": { "7": comments }, "login": login });
        let mut world = World::commenting("foreign", given).await;
        world.token = token.to_owned();
        let (line, calls) = world.line().await;
        assert!(line.starts_with("comment written"), "{line}");
        assert_eq!(calls, [LIST, CREATE, LIST]);
        assert_eq!(world.comments().await[..2], [planted.clone(), planted.clone()]);
        world.body = "changed".to_owned();
        let (_, calls) = world.line().await;
        assert_eq!(calls, [LIST, "PATCH issues/comments/1000"]);
    }
}

#[tokio::test]
async fn an_apps_comment_is_found_again() {
    let given = json!({ "login": "grader[bot]" });
    let mut world = World::commenting("app", given).await;
    world.token = "ghs_app_grader".to_owned();
    world.publish().await;
    world.body = "changed".to_owned();
    let (_, calls) = world.line().await;
    assert_eq!(calls, [LIST, "PATCH issues/comments/1000"]);
}

#[tokio::test]
async fn a_persons_token_asks_whose_it_is_before_it_changes_anything() {
    let comments = json!([
        { "id": 1, "body": format!("{MARKER}\nby bob"), "login": "bob", "kind": "User" },
        own(2, &format!("{MARKER}\nby the job")),
    ]);
    let mut world =
        World::commenting("person", json!({ "login": "alice", "kind": "User", "comments": { "7": comments } })).await;
    world.token = "ghp_alice".to_owned();
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, [LIST, CREATE, LIST]);
    world.body = "changed".to_owned();
    let (_, calls) = world.line().await;
    assert_eq!(calls, [LIST, "PATCH issues/comments/1000"]);
    assert_eq!(world.comments().await[..2], [format!("{MARKER}\nby bob"), format!("{MARKER}\nby the job")]);
}

#[tokio::test]
async fn it_is_found_behind_hundreds_of_others() {
    let mut comments: Vec<_> = (1..=250).map(|id| json!({ "id": id, "body": "hello", "login": "someone" })).collect();
    comments[229] = own(230, &format!("{MARKER}\nold"));
    let world = World::commenting("pages", json!({ "comments": { "7": comments } })).await;
    let (_, calls) = world.line().await;
    assert_eq!(calls, [LIST, LIST, LIST, "PATCH issues/comments/230"]);
    let full: Vec<_> = (1..=100).map(|id| json!({ "id": id, "body": "hello", "login": "someone" })).collect();
    world.set(json!({ "comments": { "7": full } })).await;
    let (line, _) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
}

#[tokio::test]
async fn of_two_that_were_written_at_once_the_older_stays_with_the_newer_text() {
    let other = format!("{MARKER}\nby the other run");
    let world = World::commenting("race", json!({ "race": other })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment updated"), "{line}");
    assert_eq!(calls, [LIST, CREATE, LIST, "DELETE issues/comments/1001", "PATCH issues/comments/1000"]);
    assert_eq!(world.comments().await, [format!("{MARKER}\n## Sealmark\n\nfirst")]);

    let world = World::commenting("late-race", json!({ "late_race": other })).await;
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, [LIST, CREATE, LIST, "DELETE issues/comments/1001"]);
    assert_eq!(world.comments().await, [format!("{MARKER}\n## Sealmark\n\nfirst")]);
}

#[tokio::test]
async fn duplicates_of_earlier_runs_are_removed() {
    let comments = json!([own(1, &format!("{MARKER}\na")), own(2, "other"), own(3, &format!("{MARKER}\nb"))]);
    let world = World::commenting("duplicates", json!({ "comments": { "7": comments } })).await;
    let (_, calls) = world.line().await;
    assert_eq!(calls, [LIST, "DELETE issues/comments/3", "PATCH issues/comments/1"]);
}

#[tokio::test]
async fn one_that_is_removed_meanwhile_is_written_anew() {
    let body = json!({ "message": "Not Found" });
    let gone = json!({ "method": "PATCH", "path": "comments/1$", "status": 404, "body": body, "undescribed": true });
    let given = json!({ "comments": { "7": [own(1, MARKER)] }, "rules": [gone] });
    let world = World::commenting("removed", given).await;
    let (_, calls) = world.line().await;
    assert_eq!(calls[..3], [LIST, "PATCH issues/comments/1", CREATE]);
}

#[tokio::test]
async fn on_change_writes_only_what_is_new() {
    let mut world = World::commenting("on-change", json!({})).await;
    world.options.comment = When::OnChange;
    world.comparison = Some(Comparison::default());
    let (line, calls) = world.line().await;
    assert_eq!(line, "no comment is needed: nothing is worse or different");
    assert_eq!(calls, [LIST]);

    let change = Change { pack: "core".to_owned(), check: None, before: "A".to_owned(), after: "B".to_owned() };
    let server = ServerComparison { regressions: vec![change], ..ServerComparison::default() };
    world.comparison = Some(Comparison { servers: vec![server], ..Comparison::default() });
    assert!(world.line().await.0.starts_with("comment written"));

    world.comparison = Some(Comparison::default());
    world.body = "all is well again".to_owned();
    assert!(world.line().await.0.starts_with("comment updated"), "one that is there does not grow old");
}

fn workflow_run(world: &mut World, owner: &str, number: Option<u64>) {
    world.context.event = Event::WorkflowRun;
    world.context.pull_request = Some(PullRequest {
        number,
        head: Some((owner.to_owned(), "topic".to_owned())),
        head_sha: Some(HEAD.to_owned()),
        base_branch: None,
        project: None,
    });
}

#[tokio::test]
async fn a_forks_pull_request_is_looked_up_by_its_head() {
    let pulls = json!([
        { "number": 3, "head": "mallory:topic", "sha": HEAD, "base": "mallory/fork" },
        { "number": 5, "head": "mallory:topic", "sha": HEAD, "into": "release" },
        { "number": 7, "head": "mallory:topic", "sha": HEAD },
        { "number": 8, "head": "other:topic", "sha": HEAD },
    ]);
    let mut world = World::commenting("fork", json!({ "pulls": pulls })).await;
    workflow_run(&mut world, "mallory", None);
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, ["GET pulls", LIST, CREATE, LIST]);
}

#[tokio::test]
async fn a_pull_request_with_newer_commits_is_left_to_their_own_run() {
    let sha = "c".repeat(40);
    let pulls = json!([{ "number": 7, "head": "mallory:topic", "sha": sha }]);
    let mut world = World::commenting("newer", json!({ "pulls": pulls })).await;
    for number in [None, Some(7)] {
        workflow_run(&mut world, "mallory", number);
        let (line, calls) = world.line().await;
        assert!(line.starts_with("note: no comment: the pull request has other commits by now"), "{line}");
        assert_eq!(calls.len(), 1);
    }
    let closed = json!([{ "number": 7, "head": "mallory:topic", "sha": HEAD, "state": "closed" }]);
    world.set(json!({ "pulls": closed })).await;
    workflow_run(&mut world, "mallory", Some(7));
    let (line, calls) = world.line().await;
    assert!(line.contains("no open pull request"), "{line}");
    assert_eq!(calls, ["GET pulls/7"]);
    let others = json!([{ "number": 7, "head": "victim:topic", "sha": HEAD }]);
    world.set(json!({ "pulls": others })).await;
    assert!(world.line().await.0.contains("no open pull request"), "the commit is somebody else's");
    workflow_run(&mut world, "nobody", None);
    let (line, _) = world.line().await;
    assert!(line.contains("no open pull request of this repository has that head branch"), "{line}");
}

#[tokio::test]
async fn a_number_that_github_gave_is_checked_too() {
    let pulls = json!([{ "number": 7, "head": "acme:topic", "sha": HEAD }]);
    let mut world = World::commenting("same", json!({ "pulls": pulls })).await;
    workflow_run(&mut world, "acme", Some(7));
    let (line, calls) = world.line().await;
    assert!(line.starts_with("comment written"), "{line}");
    assert_eq!(calls, ["GET pulls/7", LIST, CREATE, LIST]);
}
