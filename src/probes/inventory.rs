//! `inventory`: what the server offers, page by page, within the bounds that `protocol` names.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Drive;
use crate::{
    model::{ActId, EventKind, Payload, Role, Surface},
    session::{Answer, Pending},
};

pub(super) const ID: &str = "inventory";

/// Pages of one list that are read.
const MAX_PAGES: usize = 50;
/// Tools that are read.
const MAX_TOOLS: usize = 5_000;
/// Bytes of one list that are read.
const MAX_BYTES: usize = 32 << 20;

/// A list, the member its entries stand in, and the capability that promises it (tools are always asked for).
struct List {
    method: &'static str,
    member: &'static str,
    capability: Option<&'static str>,
}

const LISTS: [List; 4] = [
    List { method: "tools/list", member: "tools", capability: None },
    List { method: "prompts/list", member: "prompts", capability: Some("prompts") },
    List { method: "resources/list", member: "resources", capability: Some("resources") },
    List { method: "resources/templates/list", member: "resourceTemplates", capability: Some("resources") },
];

pub(super) async fn drive(drive: &mut Drive) {
    (drive.progress)("listing what the server offers");
    let capabilities = drive.recorder.read(Surface::read).capabilities.unwrap_or(Value::Null);
    let mut first = Vec::new();
    // The first pages go out together; nearly every server has no second one.
    for list in &LISTS {
        if list.capability.is_none_or(|name| capabilities.get(name).is_some_and(|value| !value.is_null())) {
            let Some(request) = ask(drive, list, 1, None).await else { return };
            first.push((list, request));
        }
    }
    for (list, request) in first {
        page_through(drive, list, request).await;
    }
    drive.surface = drive.recorder.read(Surface::read);
}

async fn ask(drive: &mut Drive, list: &List, page: usize, cursor: Option<&str>) -> Option<(ActId, Pending)> {
    let act = drive.act(ID, Role::Listing, None, &format!("{}#{page}", list.method), false)?;
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
    let pending = drive.session.as_mut()?.send(act, list.method, params).await;
    Some((act, pending))
}

async fn page_through(drive: &mut Drive, list: &List, first: (ActId, Pending)) {
    let (mut act, mut pending) = first;
    let (mut page, mut entries, mut bytes) = (1, 0, 0);
    let mut cursors = HashSet::new();
    loop {
        let within = drive.bounds.connect;
        let Some(session) = drive.session.as_mut() else { return };
        let Answer::Reply(reply) = session.wait(pending, within).await else { return };
        bytes += drive.recorder.read(|trace| trace.event(reply.at).map_or(0, |event| frame_len(&event.kind)));
        let Some(result) = reply.value.as_ref().and_then(|frame| frame.get("result")) else { return };
        entries += result.get(list.member).and_then(Value::as_array).map_or(0, Vec::len);
        let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        drop(reply);
        let bound = if bytes > MAX_BYTES {
            Some(("bytes", MAX_BYTES))
        } else if list.member == "tools" && entries > MAX_TOOLS {
            Some(("tools", MAX_TOOLS))
        } else {
            match &next {
                // An empty cursor is a cursor; only its absence ends the list.
                Some(cursor) if !cursors.insert(cursor.clone()) => Some(("cursor repeated", page)),
                Some(_) if page >= MAX_PAGES => Some(("pages", MAX_PAGES)),
                _ => None,
            }
        };
        if let Some((what, limit)) = bound {
            let what = format!("{} {what}", list.method);
            let Some(session) = &drive.session else { return };
            drive.recorder.push(session.id(), Some(act), EventKind::Bound { what, limit: limit as u64 });
            return;
        }
        let Some(cursor) = next else { return };
        page += 1;
        let Some(request) = ask(drive, list, page, Some(&cursor)).await else { return };
        (act, pending) = request;
    }
}

/// Bytes of a recorded reply.
fn frame_len(kind: &EventKind) -> usize {
    match kind {
        EventKind::Received { frame: Payload::Digest { len, .. }, .. } => usize::try_from(*len).unwrap_or(usize::MAX),
        EventKind::Received { frame, .. } => frame.text().len(),
        _ => 0,
    }
}
