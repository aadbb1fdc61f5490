//! `invalid-calls`: what the declared schema refuses, sent as a pipeline per tool; a crash is replayed call by call.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Drive, drive::call_params};
use crate::{
    classify::{InvalidCall, invalid_calls},
    model::{Role, Tool},
    session::Answer,
    targets::Snapshot,
};

pub(super) const ID: &str = "invalid-calls";

/// Invalid calls of one run, shared out among the tools.
const MAX_CALLS: usize = 1_500;
/// Relisting after each tool is asked for as long as the listing stays small; else after the last one only.
const RELIST_TOOLS: usize = 100;
/// Tools that may hang before the rest is left alone: the verdict is decided by then.
const MAX_HANGS: usize = 3;

/// The name no server offers.
const UNKNOWN_TOOL: &str = "sealmark_no_such_tool";

pub(super) async fn drive(drive: &mut Drive) {
    let tools = drive.callable();
    if tools.is_empty() {
        return;
    }
    let share = (MAX_CALLS / tools.len()).max(1);
    let mut left = MAX_CALLS;
    let mut hangs = 0;
    let mut files = drive.snapshot();
    for (at, tool) in tools.iter().enumerate() {
        (drive.progress)(&format!("invalid calls, tool {} of {}", at + 1, tools.len()));
        let calls = invalid_calls(tool);
        let refused = if drive.rights.foreign && tool.hint("readOnlyHint") != Some(true) {
            Some("the server was not started by us and the tool is not declared read-only")
        } else if hangs >= MAX_HANGS {
            Some("three tools hung before this one")
        } else if left == 0 {
            Some("the bound of 1500 invalid calls was reached")
        } else if !drive.usable() && !drive.restart("after a crash").await {
            Some("the server could not be started again")
        } else {
            None
        };
        if let Some(why) = refused {
            for call in &calls {
                drive.not_sent(ID, Role::Graded, Some(&tool.name), &call.variant, why);
            }
            continue;
        }
        let calls = &calls[..calls.len().min(share).min(left)];
        left -= calls.len();
        let relist = tools.len() <= RELIST_TOOLS || at + 1 == tools.len();
        hangs += usize::from(batch(drive, tool, calls, relist, &mut files).await);
    }
    if drive.usable() || drive.restart("after a crash").await {
        let call =
            InvalidCall { variant: "unknown-tool".to_owned(), arguments: json!({}), why: "no such tool".to_owned() };
        let tool = Tool { name: UNKNOWN_TOOL.to_owned(), raw: Value::Null, listed_in: crate::model::EventRef(0) };
        batch(drive, &tool, &[call], true, &mut files).await;
    } else {
        drive.not_sent(ID, Role::Graded, Some(UNKNOWN_TOOL), "unknown-tool", "the server could not be started again");
    }
}

/// Sends one tool's calls back to back and waits for all of them. True when one hung.
async fn batch(
    drive: &mut Drive,
    tool: &Tool,
    calls: &[InvalidCall],
    relist: bool,
    files: &mut Option<Snapshot>,
) -> bool {
    let mut pending = Vec::new();
    let mut first = None;
    for call in calls {
        let Some(act) = drive.act(ID, Role::Graded, Some(&tool.name), &call.variant, false) else { return false };
        first = first.or(Some(act));
        let Some(session) = drive.session.as_mut() else { return false };
        pending.push((call, session.send(act, "tools/call", call_params(&tool.name, call.arguments.clone())).await));
    }
    let relisting = match (relist, drive.act(ID, Role::Relist, None, "tools/list", false), drive.session.as_mut()) {
        (true, Some(act), Some(session)) => Some(session.send(act, "tools/list", json!({})).await),
        _ => None,
    };
    let deadline = Instant::now() + drive.call_bound();
    let mut unanswered = Vec::new();
    let mut hung = false;
    for (call, waiting) in pending {
        let Some(session) = drive.session.as_mut() else { return hung };
        match session.wait(waiting, deadline.saturating_duration_since(Instant::now())).await {
            Answer::Reply(_) => {}
            Answer::TimedOut => {
                hung = true;
                unanswered.push(call);
            }
            Answer::Closed | Answer::NotSent => unanswered.push(call),
        }
    }
    if let (Some(relisting), Some(session)) = (relisting, drive.session.as_mut()) {
        // One second beyond the calls' own bound: a server that answers in order is late only because of them.
        let within = deadline.saturating_duration_since(Instant::now()).max(std::time::Duration::from_secs(1));
        session.wait(relisting, within).await;
    }
    if let Some(first) = first {
        *files = drive.record_changes(files.take(), first);
    }
    if !unanswered.is_empty() && (!drive.usable() || hung) {
        replay(drive, tool, &unanswered).await;
        // What the repetition did again must not be laid at the next tool's door.
        *files = drive.snapshot();
    }
    hung
}

/// Sends the unanswered calls one by one in fresh processes, so that the culprit has a name.
async fn replay(drive: &mut Drive, tool: &Tool, calls: &[&InvalidCall]) {
    let mut fresh = false;
    for call in calls {
        let reused = fresh && drive.usable();
        if !reused && !drive.restart("replay").await {
            return;
        }
        fresh = true;
        let Some(act) = drive.act(ID, Role::Graded, Some(&tool.name), &call.variant, true) else { return };
        let within = drive.call_bound();
        let Some(session) = drive.session.as_mut() else { return };
        let answer = session.call(act, "tools/call", call_params(&tool.name, call.arguments.clone()), within).await;
        let Some(alive) = drive.act(ID, Role::Alive, Some(&tool.name), &call.variant, true) else { return };
        let Some(session) = drive.session.as_mut() else { return };
        session.alive(alive).await;
        if matches!(answer, Answer::TimedOut) {
            // One hang alone is named; replaying the others would cost the full bound each.
            return;
        }
    }
}
