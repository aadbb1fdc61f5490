//! `stress`: input after which only survival counts. Sent back to back, each followed by a sign of life, last in its
//! process; one by one when the server falls.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Drive;
use crate::{
    model::{ActId, Role, Tool},
    session::{Answer, Session},
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

/// Fresh processes that naming the culprits may take: two for each input.
const RESTARTS: u8 = 20;
/// Inputs that may silence the server before the rest is left alone: the verdict is decided by then.
const MAX_SILENT: usize = 3;
/// How long the inputs may take one by one.
const MAX_ALONE: Duration = Duration::from_secs(240);

pub(super) async fn drive(drive: &mut Drive) {
    let tool = target(drive);
    if drive.surface.tools.entries.is_empty() {
        return;
    }
    if drive.rights.foreign && tool.is_none() {
        drive.not_sent(ID, Role::Stress, None, "long-string", "no tool of this server is declared read-only");
    }
    let meta = drive.session.as_ref().and_then(Session::meta);
    let inputs = inputs(tool.as_ref(), meta.as_ref());
    drive.grant_restarts(RESTARTS);
    if !drive.usable() && !drive.restart("after a crash").await {
        for input in &inputs {
            drive.not_sent(ID, Role::Stress, None, input.variant, "the server could not be started again");
        }
        return;
    }
    (drive.progress)("stress input");
    if !row(drive, &inputs).await {
        if !drive.usable() {
            drive.ended_by_itself(ID).await;
        }
        one_by_one(drive, &inputs).await;
    }
}

/// Sends the inputs back to back with a sign of life after each; whether all of those were answered. (Which of them were
/// is a matter of speed when the server falls: the culprits are named one by one.)
async fn row(drive: &mut Drive, inputs: &[Input]) -> bool {
    let mut signs = Vec::new();
    for input in inputs {
        let Some(alive) = send(drive, input, false).await else { return false };
        let Some(session) = drive.session.as_mut() else { return false };
        signs.push(session.send_alive(alive).await);
    }
    let deadline = Instant::now() + drive.call_bound();
    for sign in signs {
        let Some(session) = drive.session.as_mut() else { return false };
        let left = deadline.saturating_duration_since(Instant::now());
        if !matches!(session.wait(sign, left).await, Answer::Reply(_)) {
            return false;
        }
    }
    drive.usable()
}

/// Sends every input alone: in a process that survived those before it, and again in one of its own when it falls there.
async fn one_by_one(drive: &mut Drive, inputs: &[Input]) {
    let deadline = Instant::now() + MAX_ALONE;
    let (mut sound, mut silent) = (false, 0);
    for input in inputs {
        let refused = if silent >= MAX_SILENT {
            Some("three inputs silenced the server before this one")
        } else if Instant::now() >= deadline {
            Some("the bound of 240 s for inputs one by one was reached")
        } else {
            None
        };
        if let Some(why) = refused {
            drive.not_sent(ID, Role::Stress, None, input.variant, why);
            continue;
        }
        for last in [false, false, true] {
            let reused = sound && drive.usable();
            if !reused && !drive.restart("replay").await {
                drive.not_sent(ID, Role::Stress, None, input.variant, "the server could not be started again");
                break;
            }
            let Some(alive) = send(drive, input, true).await else { return };
            let Some(session) = drive.session.as_mut() else { return };
            let answer = session.alive(alive).await;
            sound = matches!(answer, Answer::Reply(_));
            let own = !sound && !drive.usable() && drive.ended_by_itself(ID).await;
            if sound || last || !(reused || own) {
                silent += usize::from(answer == Answer::TimedOut);
                break;
            }
        }
    }
}

/// Sends one input; the act that its sign of life belongs to.
async fn send(drive: &mut Drive, input: &Input, replay: bool) -> Option<ActId> {
    let act = drive.act(ID, Role::Stress, None, input.variant, replay)?;
    let alive = drive.act(ID, Role::Alive, None, input.variant, replay)?;
    drive.session.as_mut()?.raw(act, &input.frame, input.id.clone()).await;
    Some(alive)
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
