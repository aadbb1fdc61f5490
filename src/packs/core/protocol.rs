//! `protocol`: valid mcp handshake and tool schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    check::{ActView, Check, Explain, Scope, View},
    model::{Era, EventKind, Judgement, Outcome, Role, Severity, Verdict},
};

mod case;
#[cfg(test)]
mod tests;
mod wire;

use case::{Case, Found, count, has_result, method, quoted, spelled_out, verdicts};

/// The check.
pub static CHECK: Check = Check {
    id: "protocol",
    title: "Valid MCP handshake and tool schemas",
    severity: Severity::Scored,
    candidate: false,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: Explain {
        what: "Whether the server answers the handshake (`initialize`, or `server/discover` in the modern era) and \
               `tools/list` in a form that every client can use: a result that follows the schema of the negotiated \
               revision, unique tool names that clients and model APIs accept, and a description for each tool. Every \
               page of the listing is read by following `nextCursor`. What went over the wire while the core pack ran is \
               looked at too: lines on stdout that are no protocol messages, tool results and replies that are not valid \
               MCP. What the official Rust SDK's types refuse is named beside what the schema says. This is hygiene, not \
               security, and the only core check that has a verdict for a server without tools.",
        why: "A client reads the handshake and the listing before anything else. What breaks them there, breaks every tool \
              at once, and often only in the stricter half of the clients: the author's own client keeps working while \
              others show no tools, drop a call or wait for ever.",
        verdicts: &[
            (
                "fail",
                "the handshake's result or an entry or page of `tools/list` breaks the schema of the revision; a tool name \
                 is outside the pattern; two tools share a name; no list can be read (no answer, not JSON-RPC, `tools` is \
                 not an array, no entry has a name) or a later page is not answered with a result; or the listing passes a \
                 bound: a cursor that comes again, more than 50 pages, more than 5 000 tools, more than 32 MiB",
            ),
            (
                "part",
                "nothing of that, but a tool has no description or one under 10 characters, the server lists no tools, \
                 stdout carried lines that are not JSON-RPC, a tool result is not valid MCP (by the schema, by the SDK's \
                 types or by both), a reply is not a proper JSON-RPC message, or the handshake names a revision that does \
                 not exist",
            ),
            (
                "inconclusive",
                "`tools/list` could not be asked, and not because the server had ended; or no handshake was recorded",
            ),
            ("pass", "otherwise"),
        ],
        rules: &[
            ("protocol.handshake", "the handshake's result, held against the schema of the revision it names"),
            (
                "protocol.revision",
                "the handshake names a protocol revision that does not exist: strict clients hang up",
            ),
            ("protocol.listing", "how many tools were read from how many pages"),
            ("protocol.rejected", "no list of tools can be read from the answer, or one of its pages is missing"),
            ("protocol.bound", "the listing passes a bound of the harness, which is named"),
            ("protocol.schema", "an entry or page of `tools/list` breaks the schema of the negotiated revision"),
            ("protocol.tool-name", "a tool name is not 1 to 128 characters of `A-Z a-z 0-9 _ . -`"),
            ("protocol.duplicate-name", "a tool name is listed more than once"),
            ("protocol.description", "a tool's description is missing or shorter than 10 characters"),
            ("protocol.no-tools", "the server lists no tools"),
            ("protocol.stdout-noise", "a line on the stdout of a stdio server is not a JSON-RPC message"),
            ("protocol.invalid-result", "a `tools/call` result breaks the schema or is refused by the SDK's types"),
            (
                "protocol.message",
                "a reply is not a proper JSON-RPC message: both or neither of `result` and `error`, an id of another type, \
                 an id nobody asked with, a second reply, or an error without integer code and text message",
            ),
            (
                "protocol.sdk",
                "the SDK's types refuse the handshake or the listing; named, and decides nothing by itself",
            ),
            ("protocol.other-era", "the handshake of the other era, where the server speaks both; decides nothing"),
            ("protocol.note", "something worth knowing that decides nothing"),
        ],
        probes: &[
            ("handshake", "`initialize` or `server/discover`, in the newest era the server speaks"),
            ("listing", "`tools/list`, following `nextCursor` to the end or to a bound"),
            ("schema", "every page and entry of it against the schema of the revision"),
            ("tool-name", "tool names are 1 to 128 characters of `A-Z a-z 0-9 _ . -`"),
            ("unique-names", "no two tools share a name"),
            ("description", "every tool has a description of at least 10 characters, blanks around it not counted"),
            (
                "stdout-noise",
                "lines on stdout that are not JSON-RPC messages, over the handshake, the listings and every call of the \
                 graded session; what only malformed frames provoke is noted and not counted",
            ),
            ("invalid-result", "every `tools/call` result that the core pack receives"),
            ("message", "every reply of the graded session before malformed frames are sent to it"),
            ("sdk", "the same results read with the types of the official Rust SDK"),
        ],
        fix: "Give every tool a unique name of letters, digits, `_`, `-` or `.`, a sentence that says what it does, and an \
              `inputSchema` that is an object with `\"type\": \"object\"`. A listing without types usually comes from two \
              versions of a schema library: pin the one that the SDK expects. Write logs, banners and debug prints to \
              stderr; stdout belongs to the protocol. Return tool results as content blocks that carry every member their \
              type requires (`text` needs `text`, `image` needs `data` and `mimeType`), and answer each request once, with \
              its own id.",
        false_positives: "The name pattern is this harness's rule, close to what clients and model APIs enforce and narrower \
                          than some revisions say. A short description can be all a tool needs; it costs half a point at \
                          most. A lenient client skips noise on stdout, so noise is part and not fail.",
        false_negatives: "Nothing here shows that a tool works or that its description is true. Ten characters are a floor. \
                          Only results that the core pack's calls drew are read, and those calls are mostly invalid on \
                          purpose; prompts and resources are listed but decide nothing here. An HTTP server has no stdout \
                          that could carry noise. A server may list other tools to other callers. Formats such as `uri` are \
                          not checked.",
        references: &[
            "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle",
            "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports",
            "https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
            "https://modelcontextprotocol.io/specification/2025-11-25/schema",
            "https://www.jsonrpc.org/specification",
        ],
    },
    knobs: &[],
    needs: &["handshake", "inventory", "invalid-calls", "no-argument-calls", "stress"],
    judge,
};

/// Longest tool name.
const NAME: usize = 128;
/// Shortest description, in characters.
const DESCRIPTION: usize = 10;

/// The one revision before the first final one; old SDKs still speak it.
const PRE_RELEASE: &str = "2024-10-07";

fn judge(view: &View<'_>) -> Judgement {
    let Some(graded) = view.trace.header.graded else {
        return Judgement::bare(Verdict::Inconclusive, "no session was graded");
    };
    let mut case = Case::new(view, graded);
    case.handshake();
    case.listing();
    case.schema();
    case.names();
    case.descriptions();
    case.noise();
    case.messages();
    case.results();
    case.notes();
    case.close()
}

impl<'t> Case<'_, 't> {
    fn handshake(&mut self) {
        let header = &self.view.trace.header;
        let surface = self.view.surface;
        let read = |act: &ActView<'t>| act.reply().is_some_and(|(at, _)| Some(at) == surface.handshake);
        let answered = self.acts("handshake").find(read);
        let Some((act, (schema, sdk))) = answered.and_then(|act| Some((act, verdicts(&act)?))) else {
            self.add(
                Verdict::Inconclusive,
                "handshake",
                "protocol.handshake",
                vec![Found::words("no result recorded")],
            );
            return self.reason(Verdict::Inconclusive, "no handshake result was recorded");
        };
        let (complaints, hidden) = spelled_out(schema);
        let found = complaints.iter().map(|complaint| Found::of(&act, complaint)).collect();
        if self.add_some(Verdict::Fail, "handshake", "protocol.handshake", found, hidden) > 0 {
            self.reason(Verdict::Fail, format!("the handshake breaks the schema of {}", self.revision()));
        } else {
            let who = surface.server_info.as_ref().map(name_and_version).unwrap_or_default();
            let text = format!("answered with {}{who}", self.revision());
            self.note("handshake", "protocol.handshake", Found::of(&act, text));
        }
        self.sdk(&act, sdk);
        if header.revision_text.as_deref().is_some_and(|word| word != PRE_RELEASE) && act.act.opens(Era::Legacy) {
            let text = format!("names {}, which is no revision of the protocol", self.revision());
            self.add(Verdict::Part, "handshake", "protocol.revision", vec![Found::of(&act, &text)]);
            self.reason(Verdict::Part, format!("the handshake {text}"));
        }
    }

    fn sdk(&mut self, act: &ActView<'t>, complaint: Option<&str>) {
        if let Some(complaint) = complaint {
            let text = format!("the SDK's types refuse it: {complaint}");
            self.note("sdk", "protocol.sdk", Found::of(act, text));
        }
    }

    fn listing(&mut self) {
        let tools = &self.view.surface.tools;
        let pages: Vec<_> = self.pages("tools/list").collect();
        let place = |act: Option<&ActView<'t>>, text: &str| {
            act.map_or_else(|| vec![Found::words(text)], |act| vec![Found::of(act, text)])
        };
        if let Some(why) = &tools.rejected {
            self.add(Verdict::Fail, "listing", "protocol.rejected", place(pages.first(), why));
            return self.reason(Verdict::Fail, format!("tools/list was rejected: {why}"));
        }
        if let Some(bound) = &tools.bound {
            self.add(Verdict::Fail, "listing", "protocol.bound", place(pages.last(), bound));
            self.reason(Verdict::Fail, format!("the listing passes a bound: {bound}"));
        }
        if tools.entries.is_empty() {
            let (verdict, rule, text, summary) = self.nothing_listed();
            self.add(verdict, "listing", rule, place(pages.first(), text));
            return self.reason(verdict, summary);
        }
        let missing: Vec<_> = pages
            .iter()
            .enumerate()
            .filter(|(_, act)| act.sent().is_some() && !has_result(act))
            .map(|(at, act)| Found::of(act, format!("page {} {}", at + 1, unanswered(act))))
            .collect();
        if self.add(Verdict::Fail, "listing", "protocol.rejected", missing) > 0 {
            self.reason(Verdict::Fail, "a page of tools/list is missing");
        }
        let text = format!("{} on {}", count(tools.entries.len(), "tool"), count(pages.len(), "page"));
        let found = pages.last().map_or_else(|| Found::words(&text), |act| Found::of(act, &text));
        self.note("listing", "protocol.listing", found);
    }

    /// No tools: none declared, an empty list, or nobody could ask.
    fn nothing_listed(&self) -> (Verdict, &'static str, &'static str, &'static str) {
        let ended = || self.events().any(|(_, event)| matches!(event.kind, EventKind::Exited { .. }));
        let (late, unasked) = ("the server ended before tools/list could be asked", "tools/list could not be asked");
        let none = "no tools declared";
        match (self.declares_tools(), self.view.surface.tools.asked) {
            (true, false) if ended() => (Verdict::Fail, "protocol.rejected", late, late),
            (true, false) => (Verdict::Inconclusive, "protocol.rejected", unasked, unasked),
            (true, true) => (Verdict::Part, "protocol.no-tools", "the list is empty", none),
            (false, _) => (Verdict::Part, "protocol.no-tools", "no `tools` capability, and nothing is listed", none),
        }
    }

    fn declares_tools(&self) -> bool {
        self.view.surface.capabilities.as_ref().is_some_and(|declared| declared.get("tools").is_some())
    }

    /// What the schema, and beside it the SDK, says about each page of the listing.
    fn schema(&mut self) {
        let (mut found, mut hidden, mut broken, mut page_broken) = (Vec::new(), 0, BTreeSet::new(), false);
        let mut total = 0;
        let pages: Vec<_> = self.pages("tools/list").collect();
        for act in &pages {
            let Some((schema, sdk)) = verdicts(act) else { continue };
            let (complaints, more) = spelled_out(schema);
            let names = if complaints.is_empty() { None } else { listed_names(act) };
            total += names.as_ref().map_or(0, Vec::len);
            hidden += more;
            for complaint in complaints {
                let index = entry_index(complaint);
                page_broken |= index.is_none();
                broken.extend(index.map(|index| (act.id, index)));
                let tool = index.and_then(|index| names.as_ref()?.get(index)?.clone());
                found.push(Found { tool, ..Found::of(act, complaint) });
            }
            self.sdk(act, sdk);
        }
        let tools = &self.view.surface.tools;
        let any = self.add_some(Verdict::Fail, "schema", "protocol.schema", found, hidden) > 0;
        // A listing of which nothing can be read has its reason already.
        if !any || tools.rejected.is_some() {
            return;
        }
        if page_broken {
            self.reason(Verdict::Fail, format!("the tools/list result breaks the schema of {}", self.revision()));
        }
        if !broken.is_empty() {
            let least = if hidden > 0 { "at least " } else { "" };
            let (broken, all) = (broken.len(), count(total.max(tools.entries.len()), "tool"));
            self.reason(Verdict::Fail, format!("{least}{broken} of {all} against the schema of {}", self.revision()));
        }
    }

    fn names(&mut self) {
        let tools = &self.view.surface.tools.entries;
        let odd: Vec<_> = tools.iter().filter_map(|tool| Some(Found::tool(tool, name_fault(&tool.name)?))).collect();
        let odd = self.add(Verdict::Fail, "tool-name", "protocol.tool-name", odd);
        if odd > 0 {
            self.reason(Verdict::Fail, format!("{} outside the name pattern", count(odd, "tool name")));
        }
        let mut listed = BTreeMap::new();
        for tool in tools {
            listed.entry(tool.name.as_str()).or_insert((0_usize, tool)).0 += 1;
        }
        let twice = listed.values().filter(|(times, _)| *times > 1);
        let twice = twice.map(|(times, tool)| Found::tool(tool, format!("listed {times} times"))).collect();
        let twice = self.add(Verdict::Fail, "unique-names", "protocol.duplicate-name", twice);
        if twice > 0 {
            self.reason(Verdict::Fail, format!("{} listed more than once", count(twice, "tool name")));
        }
    }

    fn descriptions(&mut self) {
        let tools = &self.view.surface.tools.entries;
        let short: Vec<_> = tools
            .iter()
            .filter_map(|tool| match tool.description().map(|text| text.trim().chars().count()) {
                Some(length) if length >= DESCRIPTION => None,
                Some(length) => Some(Found::tool(tool, format!("a description of {}", count(length, "character")))),
                None => Some(Found::tool(tool, "no description")),
            })
            .collect();
        let short = self.add(Verdict::Part, "description", "protocol.description", short);
        if short > 0 {
            let all = count(tools.len(), "tool");
            self.reason(Verdict::Part, format!("{short} of {all} without a description of {DESCRIPTION} characters"));
        }
    }

    /// What is worth knowing and decides nothing.
    fn notes(&mut self) {
        self.other_era();
        if !self.view.surface.tools.entries.is_empty() && !self.declares_tools() {
            let text = "tools are listed, but the `tools` capability is not declared: some clients will not ask";
            self.note("listing", "protocol.note", Found::words(text));
        }
        for method in ["prompts/list", "resources/list", "resources/templates/list"] {
            let broken = self.pages(method).find_map(|act| Some((act, verdicts(&act)?.0.first()?)));
            if let Some((act, complaint)) = broken {
                let text = format!("{method} breaks the schema of {}: {complaint}", self.revision());
                self.note("listing", "protocol.note", Found::of(&act, text));
            }
        }
        let alive = CHECK.needs.iter().flat_map(|probe| self.acts(probe)).filter(|act| act.act.role == Role::Alive);
        let odd: Vec<_> = alive.filter_map(|act| Some((act, verdicts(&act)?.0.first()?))).collect();
        if let Some((act, complaint)) = odd.first() {
            let text = format!("{} to {}: {complaint}", count(odd.len(), "reply"), method(act).unwrap_or("ping"));
            self.note("message", "protocol.note", Found::of(act, text));
        }
    }

    fn other_era(&mut self) {
        let Some((era, revision)) = &self.view.trace.header.other_era else { return };
        let asked = *era;
        let era = if asked == Era::Modern { "modern" } else { "legacy" };
        let act = self.view.acts("handshake").filter(|act| act.act.opens(asked)).find(has_result);
        let state = match act.as_ref().and_then(verdicts) {
            Some(([first, ..], _)) => format!("breaks the schema: {first}"),
            _ => "ok".to_owned(),
        };
        let text = format!("also speaks {revision} ({era} handshake {state})");
        let found = act.map_or_else(|| Found::words(&text), |act| Found::of(&act, &text));
        self.note("handshake", "protocol.other-era", found);
    }
}

/// Why a page has no result.
fn unanswered(act: &ActView<'_>) -> String {
    match act.reply() {
        Some((_, Outcome::Error { code, message })) => {
            let code = code.map(|code| format!(" {code}")).unwrap_or_default();
            format!("was answered with error{code}: {}", quoted(message))
        }
        Some((_, Outcome::Malformed { why })) => format!("was answered with what is not JSON-RPC: {why}"),
        _ => "was not answered".to_owned(),
    }
}

/// The index in a complaint's pointer `/tools/<n>/…`.
fn entry_index(complaint: &str) -> Option<usize> {
    let rest = complaint.strip_prefix("/tools/")?;
    rest[..rest.find(['/', ':'])?].parse().ok()
}

/// The names of a page's entries, in order.
fn listed_names(act: &ActView<'_>) -> Option<Vec<Option<String>>> {
    let frame = act.events().find_map(|(_, event)| match &event.kind {
        EventKind::Received { frame, .. } => frame.json(),
        _ => None,
    })?;
    let entries = frame.get("result")?.get("tools")?.as_array()?;
    Some(entries.iter().map(|entry| Some(entry.get("name")?.as_str()?.to_owned())).collect())
}

fn name_fault(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    match (name.chars().count(), name.chars().find(|c| !allowed(*c))) {
        (0, _) => Some("an empty name".to_owned()),
        (length, _) if length > NAME => Some(format!("a name of {length} characters")),
        (_, Some(odd)) => Some(format!("{} in the name", quoted(&odd.to_string()))),
        _ => None,
    }
}

fn name_and_version(info: &Value) -> String {
    let text = |key: &str| info.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (text("name"), text("version")) {
        (Some(name), Some(version)) => format!(" by {} {}", quoted(name), quoted(version)),
        (Some(name), None) => format!(" by {}, no version", quoted(name)),
        (None, _) => String::new(),
    }
}
