//! `no-argument-calls`: tools that take nothing and say or look like they only read are called once, in our sandbox alone.

use serde_json::json;

use super::{Drive, drive::call_params};
use crate::{
    classify::{reads_by_name, takes_nothing},
    model::{Role, Tool},
};

pub(super) const ID: &str = "no-argument-calls";

/// Calls of one run; a server with more such tools is read no further.
const MAX_CALLS: usize = 200;

pub(super) async fn drive(drive: &mut Drive) {
    let tools: Vec<Tool> =
        drive.callable().into_iter().filter(|tool| takes_nothing(tool) && only_reads(tool)).collect();
    (drive.progress)("calling tools that take no arguments");
    let mut pending = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let why = if !drive.rights.sandboxed {
            Some("the server does not run in a sandbox of ours")
        } else if at >= MAX_CALLS {
            Some("the bound of 200 such calls was reached")
        } else {
            None
        };
        if let Some(why) = why {
            drive.not_sent(ID, Role::Control, Some(&tool.name), "call", why);
            continue;
        }
        let Some(act) = drive.act(ID, Role::Control, Some(&tool.name), "call", false) else { return };
        let Some(session) = drive.session.as_mut() else { return };
        pending.push(session.send(act, "tools/call", call_params(&tool.name, json!({}))).await);
    }
    let within = drive.call_bound();
    let deadline = tokio::time::Instant::now() + within;
    for call in pending {
        let Some(session) = drive.session.as_mut() else { return };
        session.wait(call, deadline.saturating_duration_since(tokio::time::Instant::now())).await;
    }
    if !drive.usable() {
        drive.restart("after a call ended the server").await;
    }
}

/// A declared hint wins over the name: a tool that says it writes is not called.
fn only_reads(tool: &Tool) -> bool {
    tool.hint("readOnlyHint").unwrap_or_else(|| reads_by_name(&tool.name))
}
