//! `stress`: input after which only survival counts. Sent back to back, each followed by a sign of life; last in its process.

use serde_json::Value;
use tokio::time::Instant;

use super::Drive;
use crate::{
    model::{Role, Tool},
    session::{Answer, Pending, Session},
};

pub(super) const ID: &str = "stress";

/// Length of the long string: what a careless log line or regular expression chokes on.
const LONG: usize = 1 << 20;
/// Levels of nesting: past the recursion limit of most parsers.
const DEEP: usize = 20_000;

/// One input: its variant, its frame without the line's end, and whether a reply may come for the id in it.
struct Input {
    variant: &'static str,
    frame: Vec<u8>,
    id: Option<Value>,
}

pub(super) async fn drive(drive: &mut Drive) {
    let tool = target(drive);
    if drive.surface.tools.entries.is_empty() {
        return;
    }
    if drive.rights.foreign && tool.is_none() {
        drive.not_sent(ID, Role::Stress, None, "long-string", "no tool of this server is declared read-only");
    }
    let meta = drive.session.as_ref().and_then(Session::meta);
    let mut inputs = inputs(tool.as_ref(), meta.as_ref());
    while !inputs.is_empty() {
        if !drive.usable() && !drive.restart("after stress input").await {
            for input in &inputs {
                drive.not_sent(ID, Role::Stress, None, input.variant, "the server could not be started again");
            }
            return;
        }
        (drive.progress)("stress input");
        let survived = pipeline(drive, &inputs, false).await;
        if survived == inputs.len() {
            return;
        }
        // The first input without a sign of life is the suspect: alone, in a fresh process, it is the culprit or not.
        let rest = inputs.split_off(survived);
        let (suspect, later) = rest.split_at(1);
        if !drive.restart("replay").await {
            return;
        }
        pipeline(drive, suspect, true).await;
        inputs = later
            .iter()
            .map(|input| Input { variant: input.variant, frame: input.frame.clone(), id: input.id.clone() })
            .collect();
    }
}

/// Sends the inputs with a sign of life after each; how many of those were answered in a row.
async fn pipeline(drive: &mut Drive, inputs: &[Input], replay: bool) -> usize {
    let within = drive.call_bound();
    let mut waiting: Vec<(Option<Pending>, Option<Pending>)> = Vec::new();
    for input in inputs {
        let Some(act) = drive.act(ID, Role::Stress, None, input.variant, replay) else { return 0 };
        let Some(alive) = drive.act(ID, Role::Alive, None, input.variant, replay) else { return 0 };
        let Some(session) = drive.session.as_mut() else { return 0 };
        let sent = session.raw(act, &input.frame, input.id.clone()).await;
        waiting.push((Some(sent), Some(session.send_alive(alive).await)));
    }
    let deadline = Instant::now() + within;
    let mut survived = 0;
    for (_, alive) in &mut waiting {
        let (Some(alive), Some(session)) = (alive.take(), drive.session.as_mut()) else { break };
        let left = deadline.saturating_duration_since(Instant::now());
        if !matches!(session.wait(alive, left).await, Answer::Reply(_)) {
            break;
        }
        survived += 1;
    }
    survived
}

/// A read-only tool with a text parameter takes the long string; in a sandbox any tool will do.
fn target(drive: &Drive) -> Option<Tool> {
    let tools = drive.callable();
    let quiet = tools.iter().find(|tool| tool.hint("readOnlyHint") == Some(true));
    quiet.or_else(|| tools.first().filter(|_| !drive.rights.foreign)).cloned()
}

/// The frames. Their ids are texts, so that a late reply to one never answers a request of ours.
fn inputs(tool: Option<&Tool>, meta: Option<&Value>) -> Vec<Input> {
    let name = tool.map_or("sealmark_no_such_tool", |tool| tool.name.as_str());
    let escaped = serde_json::to_string(name).unwrap_or_default();
    let meta = meta.map(|meta| format!(r#","_meta":{meta}"#)).unwrap_or_default();
    let call = |variant: &'static str, value: &str| {
        let id = format!("sealmark-{variant}");
        let params = format!(r#"{{"name":{escaped},"arguments":{{"sealmark_text":{value}}}{meta}}}"#);
        let frame = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{params}}}"#);
        Input { variant, frame: frame.into_bytes(), id: Some(Value::from(id)) }
    };
    let frame = |variant: &'static str, frame: &[u8]| {
        let id = Some(Value::from(format!("sealmark-{variant}")));
        Input { variant, frame: frame.to_vec(), id }
    };
    vec![
        call("long-string", &format!("\"{}\"", "a".repeat(LONG))),
        call("deep-nesting", &format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP))),
        call("lone-surrogate", r#""\ud800""#),
        frame("truncated-json", br#"{"jsonrpc":"2.0","id":"sealmark-truncated-json","method":"tools/li"#),
        frame("not-json", b"sealmark: this line is not JSON"),
        frame("id-null", br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
        frame("batch", br#"[{"jsonrpc":"2.0","id":"sealmark-batch","method":"ping"}]"#),
        // Node reads the bad byte as U+FFFD and answers; that reply is ours.
        Input {
            id: Some(Value::from("sealmark-\u{fffd}")),
            ..frame("invalid-utf8", b"{\"jsonrpc\":\"2.0\",\"id\":\"sealmark-\xff\",\"method\":\"ping\"}")
        },
        frame("blank-lines", b"\n"),
    ]
}
