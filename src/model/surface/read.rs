//! Reads the surface out of the graded session's handshake and listings.

use std::collections::HashMap;

use serde_json::{Value, value::RawValue};

use super::{Greeting, Listing, Surface, Tool, lenient};
use crate::model::{Act, Era, Event, EventKind, EventRef, Outcome, Payload, Role, Trace};

/// Where a modern server names itself (2026-07-28, `server/discover`).
const SERVER_INFO_META: &str = "io.modelcontextprotocol/serverInfo";

/// How much of a server's own words a reason quotes, in characters.
const QUOTE: usize = 200;

/// The acts the surface is read from, with their events, in order.
type Acts<'t> = Vec<(&'t Act, Vec<(EventRef, &'t Event)>)>;

impl Surface {
    /// Reads what the graded session's server offers; empty when no session was graded.
    ///
    /// Whatever a listing got wrong is left out and reading goes on: an entry without a name, a page that never came.
    /// Only a list of which nothing can be read is marked as rejected.
    pub fn read(trace: &Trace) -> Self {
        let acts = acts(trace);
        let mut surface = Self::default();
        surface.read_handshake(trace, &acts);
        // A server that declares no tools and does not know the method has none: that is an answer, not a rejection.
        let declares_tools = surface.capabilities.as_ref().is_none_or(|declared| declared.get("tools").is_some());
        surface.tools = listing(&acts, "tools/list", "tools", !declares_tools, |at, raw| {
            let name = raw.get("name")?.as_str()?.to_owned();
            Some(Tool { name, raw, listed_in: at })
        });
        surface.prompts = listing(&acts, "prompts/list", "prompts", false, whole);
        surface.resources = listing(&acts, "resources/list", "resources", false, whole);
        surface.other_era = Self::read_other_era(trace);
        surface.templates = listing(&acts, "resources/templates/list", "resourceTemplates", false, whole);
        surface
    }

    /// The other era's handshake, in whichever session it was answered first.
    fn read_other_era(trace: &Trace) -> Option<Greeting> {
        let other = match trace.header.revision?.era() {
            Era::Modern => Era::Legacy,
            Era::Legacy => Era::Modern,
        };
        trace.events().find_map(|(at, event)| {
            let EventKind::Received { frame, outcome: Outcome::Result { .. }, .. } = &event.kind else { return None };
            trace.acts.get(event.act?.0 as usize).filter(|act| act.opens(other))?;
            let mut result = frame.json()?.get_mut("result")?.take();
            let info = match result.get_mut("_meta").and_then(|meta| meta.get_mut(SERVER_INFO_META)) {
                Some(info) if other == Era::Modern => Some(info.take()),
                _ => result.get_mut("serverInfo").map(Value::take),
            };
            let instructions = result.get("instructions").and_then(Value::as_str).map(str::to_owned);
            let revision = result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned);
            Some(Greeting { at, instructions, server_info: info, revision })
        })
    }

    fn read_handshake(&mut self, trace: &Trace, acts: &Acts<'_>) {
        let modern = match trace.header.revision {
            Some(revision) => revision.era() == Era::Modern,
            None => acts.iter().any(|(act, events)| act.variant == "discover" && result(events).is_some()),
        };
        let era = if modern { Era::Modern } else { Era::Legacy };
        let reply = acts.iter().filter(|(act, _)| act.opens(era)).find_map(|(_, events)| result(events));
        let Some((at, mut fields)) = reply else { return };
        let mut take = |key: &str| fields.remove(key).and_then(lenient::value);
        self.handshake = Some(at);
        self.instructions = match take("instructions") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        self.capabilities = take("capabilities");
        let chosen = match take("protocolVersion") {
            Some(Value::String(chosen)) => vec![chosen],
            _ => Vec::new(),
        };
        self.revisions = match take("supportedVersions") {
            Some(Value::Array(listed)) => listed.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            _ => chosen,
        };
        self.server_info = match take("_meta") {
            Some(Value::Object(mut meta)) if modern => meta.remove(SERVER_INFO_META),
            _ => None,
        };
        self.server_info = self.server_info.take().or_else(|| take("serverInfo"));
    }
}

fn whole(at: EventRef, raw: Value) -> Option<(EventRef, Value)> {
    raw.is_object().then_some((at, raw))
}

/// The handshake and listing acts of the graded session, each with its events.
fn acts(trace: &Trace) -> Acts<'_> {
    let Some(graded) = trace.header.graded else { return Vec::new() };
    let mut places = HashMap::new();
    let mut acts: Acts<'_> = Vec::new();
    for (id, act) in trace.acts() {
        let reads = match act.probe.as_str() {
            "handshake" => act.role == Role::Handshake,
            "inventory" => act.role == Role::Listing,
            _ => false,
        };
        if reads && act.session == graded {
            places.insert(id, acts.len());
            acts.push((act, Vec::new()));
        }
    }
    for (at, event) in trace.events() {
        if let Some(place) = event.act.and_then(|act| places.get(&act)) {
            acts[*place].1.push((at, event));
        }
    }
    acts
}

/// The members of an object, undecoded.
type Fields<'t> = HashMap<String, &'t RawValue>;

/// The members of the result that answered an act, when a result did and it is an object.
fn result<'t>(events: &[(EventRef, &'t Event)]) -> Option<(EventRef, Fields<'t>)> {
    events.iter().find_map(|(at, event)| match &event.kind {
        EventKind::Received { frame, outcome: Outcome::Result { .. }, .. } => Some((*at, members(frame).ok()?)),
        _ => None,
    })
}

/// The members of `result` in a frame; the error is a reason to quote.
fn members(frame: &Payload) -> Result<Fields<'_>, String> {
    let text = match frame {
        Payload::Text(text) => text,
        Payload::Base64(_) => return Err("the reply is not valid UTF-8".to_owned()),
        Payload::Digest { len, .. } => return Err(format!("the reply of {len} bytes is too large to read")),
    };
    let unreadable = |error: serde_json::Error| format!("the reply is not readable JSON: {error}");
    let mut frame: Fields<'_> = serde_json::from_str(text).map_err(unreadable)?;
    let result = frame.remove("result").ok_or("the reply has no `result`")?;
    serde_json::from_str(result.get()).map_err(|_| format!("`result` is not an object but {}", quote(result.get())))
}

/// Reads every page of one list.
fn listing<T>(
    acts: &Acts<'_>,
    method: &str,
    key: &str,
    may_be_unknown: bool,
    mut entry: impl FnMut(EventRef, Value) -> Option<T>,
) -> Listing<T> {
    let mut listing = Listing::default();
    let mut trouble = None;
    for (act, events) in acts {
        if act.probe != "inventory" || act.variant.split('#').next() != Some(method) {
            continue;
        }
        let sent = events.iter().any(|(_, event)| matches!(event.kind, EventKind::Sent { .. }));
        listing.asked |= sent || !events.iter().any(|(_, event)| matches!(event.kind, EventKind::NotSent { .. }));
        for (_, event) in events {
            if let EventKind::Bound { what, limit } = &event.kind {
                listing.bound.get_or_insert_with(|| bound(what, *limit));
            }
        }
        match page(events, key, may_be_unknown) {
            Ok(Some((at, items))) => {
                let before = listing.entries.len();
                listing.entries.extend(items.iter().filter_map(|raw| entry(at, lenient::value(raw)?)));
                if !items.is_empty() && listing.entries.len() == before {
                    let count = items.len();
                    let one = quote(items[0].get());
                    trouble.get_or_insert_with(|| match count {
                        1 => format!("its only entry has no usable name: {one}"),
                        _ => format!("none of its {count} entries has a usable name, the first is {one}"),
                    });
                }
            }
            Ok(None) => {}
            Err(why) => {
                trouble.get_or_insert(why);
            }
        }
    }
    match listing.entries.is_empty() {
        true if listing.asked => listing.rejected = trouble,
        true => {}
        false => listing.broken_off = trouble,
    }
    listing
}

/// The undecoded entries of one page; `None` when the server says that it has no such list.
fn page<'t>(
    events: &[(EventRef, &'t Event)],
    key: &str,
    may_be_unknown: bool,
) -> Result<Option<(EventRef, Vec<&'t RawValue>)>, String> {
    for (at, event) in events {
        let EventKind::Received { frame, outcome, .. } = &event.kind else { continue };
        return match outcome {
            Outcome::Error { code: Some(-32601), .. } if may_be_unknown => Ok(None),
            Outcome::Error { code, message } => {
                let code = code.map(|code| format!(" {code}")).unwrap_or_default();
                Err(format!("it was answered with error{code}: {}", quote(message)))
            }
            Outcome::Malformed { why } if bounded(events) => Err(format!("the answer was not read: {}", quote(why))),
            Outcome::Malformed { why } => Err(format!("the answer is not JSON-RPC: {}", quote(why))),
            Outcome::Result { .. } => {
                let mut fields = members(frame)?;
                let list = fields.remove(key).ok_or_else(|| format!("the result has no `{key}`"))?;
                let items = serde_json::from_str(list.get());
                items
                    .map(|items| Some((*at, items)))
                    .map_err(|_| format!("`{key}` is not an array but {}", quote(list.get())))
            }
        };
    }
    Err(silence(events))
}

/// Whether a bound of ours cut an act short.
fn bounded(events: &[(EventRef, &Event)]) -> bool {
    events.iter().any(|(_, event)| matches!(event.kind, EventKind::Bound { .. }))
}

/// Why an act has no answer.
fn silence(events: &[(EventRef, &Event)]) -> String {
    let why = events.iter().rev().find_map(|(_, event)| match &event.kind {
        EventKind::NotSent { why } => Some(format!("it could not be asked: {}", quote(why))),
        EventKind::TimedOut { after_ms } => Some(format!("no answer within {} s", after_ms.div_ceil(1000))),
        EventKind::Exited { .. } => Some("the server ended before it answered".to_owned()),
        EventKind::Noise { line, .. } => Some(format!("the answer is not JSON-RPC: {}", quote(line.text()))),
        EventKind::Stray { why, .. } => Some(format!("the answer is not JSON-RPC: {}", quote(why))),
        EventKind::Http { status, .. } if *status >= 400 => Some(format!("it was answered with HTTP {status}")),
        _ => None,
    });
    why.unwrap_or_else(|| "no answer".to_owned())
}

/// A bound of the inventory probe in words.
fn bound(what: &str, limit: u64) -> String {
    match what.rsplit_once(' ').map_or(what, |(head, last)| if head.ends_with("cursor") { "cursor" } else { last }) {
        "pages" => format!("more than {limit} pages"),
        "cursor" => "repeated cursor".to_owned(),
        "tools" => format!("more than {limit} tools"),
        "bytes" => format!("more than {} MiB of listing", limit >> 20),
        _ => format!("{what} (limit {limit})"),
    }
}

/// The first words of what the server said; escaped where it is printed.
fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ActId, Header, Revision, SessionId};

    /// A graded session, written down act by act.
    struct Script(Trace);

    impl Script {
        fn new(revision: Revision) -> Self {
            let (graded, revision) = (Some(SessionId(0)), Some(revision));
            Self(Trace::new(Header { graded, revision, ..Header::default() }))
        }

        fn act(mut self, session: u16, probe: &str, role: Role, variant: &str) -> Self {
            let (session, probe, variant) = (SessionId(session), probe.to_owned(), variant.to_owned());
            self.0.acts.push(Act { session, probe, role, tool: None, variant, era: Era::Legacy, replay: false });
            self.event(EventKind::Sent { id: None, method: None, frame: Payload::Text(String::new()), carries: vec![] })
        }

        fn page(self, variant: &str) -> Self {
            self.act(0, "inventory", Role::Listing, variant)
        }

        fn event(mut self, kind: EventKind) -> Self {
            let act = ActId((self.0.acts.len() - 1) as u32);
            let session = self.0.acts.last().unwrap().session;
            self.0.events.push(Event { session, act: Some(act), kind });
            self
        }

        fn answer(self, frame: &str, outcome: Outcome) -> Self {
            let frame = Payload::Text(frame.to_owned());
            self.event(EventKind::Received { frame, outcome, schema: vec![], sdk: None, hits: vec![], elapsed_ms: 1 })
        }

        fn result(self, result: &str) -> Self {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            self.answer(&frame, Outcome::Result { is_error: None, text: String::new() })
        }

        fn error(self, code: i64) -> Self {
            self.answer("{}", Outcome::Error { code: Some(code), message: "Method not found".to_owned() })
        }

        fn read(self) -> Surface {
            Surface::read(&self.0)
        }
    }

    fn legacy() -> Script {
        Script::new(Revision::V2025_11_25)
    }

    fn names(surface: &Surface) -> Vec<&str> {
        surface.tools.entries.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn a_legacy_handshake_is_read_from_initialize() {
        let surface = legacy()
            .act(0, "handshake", Role::Handshake, "initialize")
            .result(
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x"},
                "instructions":"Be kind."}"#,
            )
            .read();
        assert_eq!(surface.instructions.as_deref(), Some("Be kind."));
        assert_eq!(surface.revisions, ["2025-11-25"]);
        assert_eq!(surface.server_info, Some(serde_json::json!({"name": "x"})));
        assert_eq!(surface.handshake, Some(EventRef(1)));
        assert!(!surface.tools.asked);
    }

    #[test]
    fn a_modern_handshake_is_read_from_discover_even_beside_initialize() {
        let surface = Script::new(Revision::V2026_07_28)
            .act(0, "handshake", Role::Handshake, "initialize")
            .result(r#"{"protocolVersion":"2025-11-25","instructions":"old","serverInfo":{"name":"old"}}"#)
            .act(0, "handshake", Role::Handshake, "discover")
            .result(
                r#"{"supportedVersions":["2026-07-28"],"instructions":"new","capabilities":{},
                "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"}}}"#,
            )
            .read();
        assert_eq!(surface.instructions.as_deref(), Some("new"));
        assert_eq!(surface.revisions, ["2026-07-28"]);
        assert_eq!(surface.server_info, Some(serde_json::json!({"name": "new"})));
    }

    #[test]
    fn the_other_eras_handshake_is_read_from_whichever_session_answered_it() {
        let greeting = |session: u16, variant: &str| {
            let script = Script::new(Revision::V2026_07_28).act(session, "handshake", Role::Handshake, variant);
            script.result(r#"{"instructions":"Hello.","serverInfo":{"name":"s"}}"#).read().other_era.unwrap()
        };
        for (session, variant) in [(0, "initialize"), (1, "initialize-other-era")] {
            let greeting = greeting(session, variant);
            assert_eq!(greeting.instructions.as_deref(), Some("Hello."));
            assert_eq!(greeting.server_info, Some(serde_json::json!({"name": "s"})));
        }
        let own = legacy().act(0, "handshake", Role::Handshake, "initialize").result(r#"{"instructions":"Hello."}"#);
        assert_eq!(own.read().other_era, None);
    }

    #[test]
    fn pages_are_joined_in_order_and_other_sessions_ignored() {
        let surface = legacy()
            .page("tools/list#1")
            .result(r#"{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"x"}"#)
            .act(1, "inventory", Role::Listing, "tools/list#1")
            .result(r#"{"tools":[{"name":"other"}]}"#)
            .act(0, "inventory", Role::Relist, "tools/list#1")
            .result(r#"{"tools":[{"name":"again"}]}"#)
            .page("tools/list#2")
            .result(r#"{"tools":[{"name":"c"}]}"#)
            .event(EventKind::Bound { what: "tools/list pages".to_owned(), limit: 50 })
            .page("prompts/list#1")
            .result(r#"{"prompts":[{"name":"p"},"nonsense"]}"#)
            .read();
        assert_eq!(names(&surface), ["a", "b", "c"]);
        assert_eq!(surface.tools.entries[2].listed_in, EventRef(7));
        assert_eq!(surface.tools.bound.as_deref(), Some("more than 50 pages"));
        assert_eq!(surface.prompts.entries.len(), 1);
        assert!(surface.prompts.asked && !surface.resources.asked);
    }

    #[test]
    fn single_bad_entries_are_left_out_and_the_rest_is_read() {
        let surface = legacy()
            .page("tools/list#1")
            .result(r#"{"tools":[7,{"title":"no name"},{"name":"odd","description":"\ud800"},{"name":"fine"}]}"#)
            .page("tools/list#2")
            .event(EventKind::TimedOut { after_ms: 60_000 })
            .read();
        assert_eq!(names(&surface), ["odd", "fine"]);
        assert_eq!(surface.tools.entries[0].description(), Some("\u{fffd}"));
        assert_eq!(surface.tools.rejected, None);
    }

    #[test]
    fn a_list_of_which_nothing_can_be_read_is_rejected_with_the_reason() {
        let rejected = |script: Script| script.read().tools.rejected.expect("rejected");
        let page = || legacy().page("tools/list#1");
        let late = page().event(EventKind::TimedOut { after_ms: 60_000 });
        assert_eq!(rejected(late), "no answer within 60 s");
        assert_eq!(rejected(page()), "no answer");
        assert_eq!(rejected(page().error(-32603)), "it was answered with error -32603: Method not found");
        assert_eq!(rejected(page().result(r#"{"tools":{"a":1}}"#)), r#"`tools` is not an array but {"a":1}"#);
        assert_eq!(rejected(page().result("{}")), "the result has no `tools`");
        assert_eq!(rejected(page().result("7")), "`result` is not an object but 7");
        let nameless = page().result(r#"{"tools":[{"title":"x"}]}"#);
        assert_eq!(rejected(nameless), r#"its only entry has no usable name: {"title":"x"}"#);
        let malformed = page().answer("{}", Outcome::Malformed { why: "both members".to_owned() });
        assert_eq!(rejected(malformed), "the answer is not JSON-RPC: both members");
    }

    #[test]
    fn an_empty_list_is_no_rejection() {
        let surface = legacy().page("tools/list#1").result(r#"{"tools":[]}"#).read();
        assert_eq!((surface.tools.asked, surface.tools.rejected), (true, None));
    }

    #[test]
    fn method_not_found_is_no_rejection_when_no_tools_are_declared() {
        let handshake = |capabilities: &str| {
            legacy()
                .act(0, "handshake", Role::Handshake, "initialize")
                .result(&format!(r#"{{"capabilities":{capabilities}}}"#))
                .page("tools/list#1")
                .error(-32601)
                .read()
        };
        assert_eq!(handshake(r#"{"prompts":{}}"#).tools.rejected, None);
        assert!(handshake(r#"{"tools":{}}"#).tools.rejected.is_some());
    }

    #[test]
    fn a_run_that_graded_no_session_has_an_empty_surface() {
        assert_eq!(Surface::read(&Trace::new(Header::default())), Surface::default());
    }
}
