//! Reports in artifacts: whose count, and what is refused.

use std::io::{Cursor, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealmark::ci::{Capability, Event};
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::world::World;

const LIST: &str = "GET actions/artifacts";

fn zip(entries: &[(&str, &[u8])]) -> Value {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    STANDARD.encode(writer.finish().unwrap().into_inner()).into()
}

fn holding(text: &str) -> Value {
    zip(&[("sealmark-report.junit.xml", b"<x/>"), ("sealmark-report.json", text.as_bytes())])
}

#[tokio::test]
async fn the_newest_of_the_default_branch_counts_and_a_forks_does_not() {
    let artifacts = json!([
        { "id": 9, "content": holding("poisoned"), "head_repository": 666 },
        { "id": 8, "content": holding("of a branch"), "branch": "topic" },
        { "id": 7, "content": holding("expired"), "expired": true },
        { "id": 6, "content": holding("of this very run"), "run": 99 },
        { "id": 5, "content": holding("the baseline") },
        { "id": 4, "content": holding("an older one") },
        { "id": 10, "content": holding("another name"), "name": "other" },
    ]);
    let world = World::new("baseline", json!({ "artifacts": artifacts })).await;
    let (found, calls) = world.baseline().await;
    assert_eq!(found, Ok("the baseline".to_owned()));
    assert_eq!(calls, [LIST, "GET actions/artifacts/5/zip"], "one look-up, one download");
}

#[tokio::test]
async fn what_is_missing_is_a_note_that_says_what_did_not_count() {
    let mut world = World::new("missing", json!({})).await;
    let (found, calls) = world.baseline().await;
    let line =
        "note: no baseline: branch main has no artifact named sealmark-report (the next run on main leaves one behind)";
    assert_eq!((found, calls), (Err(line.to_owned()), vec![LIST.to_owned()]));

    let artifacts =
        json!([{ "id": 1, "expired": true }, { "id": 2, "head_repository": 2 }, { "id": 3, "branch": "x" }]);
    world.set(json!({ "artifacts": artifacts })).await;
    let line = world.baseline().await.0.unwrap_err();
    assert!(
        line.contains("no artifact named sealmark-report that has not expired; 2 of other branches or of forks"),
        "{line}"
    );

    world.context.capabilities.baseline = Capability::no("a reason", "a remedy");
    world.set(json!({})).await;
    let (found, calls) = world.baseline().await;
    assert_eq!(found, Err("note: no baseline: a reason (a remedy)".to_owned()));
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_baseline_behind_hundreds_of_requests_is_found() {
    let mut artifacts: Vec<_> = (1000..1150).map(|id| json!({ "id": id, "branch": "topic" })).collect();
    artifacts.push(json!({ "id": 5, "content": holding("old but good") }));
    let world = World::new("crowded", json!({ "artifacts": artifacts })).await;
    let (found, calls) = world.baseline().await;
    assert_eq!(found, Ok("old but good".to_owned()));
    assert_eq!(calls, [LIST, LIST, "GET actions/artifacts/5/zip"]);
}

#[tokio::test]
async fn a_file_without_an_archive_is_read_as_it_is() {
    let artifact = json!({ "id": 1, "content": STANDARD.encode("{\"schema\": 1}"), "type": "application/json" });
    let world = World::new("bare", json!({ "artifacts": [artifact] })).await;
    assert_eq!(world.baseline().await.0, Ok("{\"schema\": 1}".to_owned()));
}

#[tokio::test]
async fn what_is_not_as_it_should_be_is_one_warning() {
    let bomb = zip(&[("sealmark-report.json", &vec![b' '; 64 << 20])]);
    let cases = [
        ("bomb", json!({ "content": bomb }), "unpacks to more than 200 times its size"),
        (
            "traversal",
            json!({ "content": zip(&[("../../x", b"x"), ("sealmark-report.json", b"{}")]) }),
            "no plain path",
        ),
        ("other", json!({ "content": zip(&[("readme", b"x")]) }), "the archive holds no sealmark-report.json"),
        ("digest", json!({ "content": holding("x"), "digest": format!("sha256:{}", "0".repeat(64)) }), "digest"),
        ("gone", json!({ "content": holding("x"), "gone": true }), "the artifact has expired"),
        ("size", json!({ "content": holding("x"), "size": 1u64 << 40 }), "at most 67108864 are read"),
    ];
    let world = World::new("broken-artifact", json!({})).await;
    for (name, mut artifact, expected) in cases {
        artifact["id"] = json!(1);
        world.set(json!({ "artifacts": [artifact] })).await;
        let line = world.baseline().await.0.unwrap_err();
        assert!(line.starts_with("warning: no baseline: ") && line.contains(expected), "{name}: {line}");
    }
}

#[tokio::test]
async fn more_bytes_than_announced_are_not_read() {
    let artifact = json!({ "id": 1, "content": STANDARD.encode(vec![b'x'; 5000]), "size": 10 });
    let mut world = World::new("liar", json!({ "artifacts": [artifact] })).await;
    world.limits.artifact = 1000;
    let line = world.baseline().await.0.unwrap_err();
    assert!(line.contains("sent more than 1000 bytes"), "{line}");
    assert!(!line.contains("sig=secret"), "the address of the storage is a secret for a minute");
}

#[tokio::test]
async fn the_report_of_the_triggering_run_is_found_by_run_and_name() {
    let artifacts = json!([
        { "id": 3, "run": 41, "content": holding("another run") },
        { "id": 2, "run": 40, "content": holding("that run"), "branch": "topic", "head_repository": 666 },
        { "id": 1, "run": 40, "content": holding("an earlier attempt"), "branch": "topic" },
    ]);
    let mut world = World::new("triggering", json!({ "artifacts": artifacts })).await;
    world.context.event = Event::WorkflowRun;
    world.context.triggering_run_id = Some(40);
    let (found, calls) = world.triggering_report().await;
    assert_eq!(found, Ok("that run".to_owned()));
    assert_eq!(calls, ["GET actions/runs/40/artifacts", "GET actions/artifacts/2/zip"]);
    world.context.triggering_run_id = Some(1);
    let line = world.triggering_report().await.0.unwrap_err();
    assert!(
        line.starts_with("warning: nothing was published: the run that triggered this one has no artifact"),
        "{line}"
    );
    world.context.triggering_run_id = None;
    assert!(world.triggering_report().await.0.unwrap_err().contains("no workflow run triggered this one"));
}

#[tokio::test]
async fn a_missing_permission_is_named() {
    let refusal =
        json!({ "message": "Resource not accessible by integration", "documentation_url": "x", "status": "403" });
    let rule = json!({ "method": "GET", "path": "actions", "status": 403, "body": refusal });
    let world = World::new("unread", json!({ "direct": true, "rules": [rule] })).await;
    let line = world.baseline().await.0.unwrap_err();
    assert!(line.contains("the permission `actions: read`"), "{line}");
}
