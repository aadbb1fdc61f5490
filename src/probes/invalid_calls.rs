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

/// Ids that one tool's calls may use, and one call with its sign of life: a call has the same id in whatever process it is
/// made, so that a report does not tell how fast a server fell.
const IDS: (u64, u64) = (1_000, 10);

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
        hangs += usize::from(batch(drive, (tool, at), calls, relist, &mut files).await);
    }
    if drive.usable() || drive.restart("after a crash").await {
        let call =
            InvalidCall { variant: "unknown-tool".to_owned(), arguments: json!({}), why: "no such tool".to_owned() };
        let tool = Tool { name: UNKNOWN_TOOL.to_owned(), raw: Value::Null, listed_in: crate::model::EventRef(0) };
        batch(drive, (&tool, tools.len()), &[call], true, &mut files).await;
    } else {
        drive.not_sent(ID, Role::Graded, Some(UNKNOWN_TOOL), "unknown-tool", "the server could not be started again");
    }
}

/// Sends one tool's calls back to back and waits for all of them. True when one hung.
async fn batch(
    drive: &mut Drive,
    (tool, place): (&Tool, usize),
    calls: &[InvalidCall],
    relist: bool,
    files: &mut Option<Snapshot>,
) -> bool {
    let mut pending = Vec::new();
    let mut first = None;
    for (at, call) in calls.iter().enumerate() {
        let Some(act) = drive.act(ID, Role::Graded, Some(&tool.name), &call.variant, false) else { return false };
        first = first.or(Some(act));
        let Some(session) = drive.session.as_mut() else { return false };
        let id = (place as u64 + 1) * IDS.0 + at as u64 * IDS.1;
        session.number_from(id);
        pending
            .push(((call, id), session.send(act, "tools/call", call_params(&tool.name, call.arguments.clone())).await));
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
    let gone = !drive.usable();
    if gone {
        drive.ended_by_itself(ID).await;
    }
    if !unanswered.is_empty() && (gone || hung) {
        replay(drive, tool, &unanswered).await;
        // What the repetition did again must not be laid at the next tool's door.
        *files = drive.snapshot();
    }
    hung
}

/// Sends the unanswered calls one by one in fresh processes, so that the culprit has a name.
async fn replay(drive: &mut Drive, tool: &Tool, calls: &[(&InvalidCall, u64)]) {
    let mut sound = false;
    for (call, id) in calls {
        let mut again = true;
        loop {
            let reused = sound && drive.usable();
            if !reused && !drive.restart("replay").await {
                return;
            }
            sound = true;
            let Some(act) = drive.act(ID, Role::Graded, Some(&tool.name), &call.variant, true) else { return };
            let within = drive.call_bound();
            let Some(session) = drive.session.as_mut() else { return };
            session.number_from(*id);
            let answer = session.call(act, "tools/call", call_params(&tool.name, call.arguments.clone()), within).await;
            let Some(alive) = drive.act(ID, Role::Alive, Some(&tool.name), &call.variant, true) else { return };
            let Some(session) = drive.session.as_mut() else { return };
            session.alive(alive).await;
            if matches!(answer, Answer::TimedOut) {
                // One hang alone is named; replaying the others would cost the full bound each.
                return;
            }
            // What ended may have ended of an earlier call or by itself: the last word has a process of its own.
            let own = !drive.usable() && drive.ended_by_itself(ID).await;
            let blamed = !reused && !own;
            if drive.usable() || blamed || !std::mem::take(&mut again) {
                break;
            }
        }
    }
}
