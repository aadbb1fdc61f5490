//! Literal traces for `protocol`: for each rule one that must fail or part and a near miss that must pass.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{CHECK, judge};
use crate::{
    check::{Index, View},
    model::{
        Act, ActId, Era, Event, EventKind, EventRef, Header, Judgement, Outcome, Payload, Revision, Role, SessionId,
        Surface, Tool, Trace, Verdict, trace::Transport,
    },
    session::schema::{complaints, error_complaints, sdk_complaint},
};

/// A run written down act by act, and what is read from it.
struct Run {
    trace: Trace,
    surface: Surface,
    revision: Revision,
}

impl Run {
    /// A session with a handshake that went well.
    fn new(revision: Revision) -> Self {
        Self::shaken(revision, json!({"tools": {}}))
    }

    fn shaken(revision: Revision, capabilities: Value) -> Self {
        let run = Self::silent(revision);
        match revision.era() {
            Era::Legacy => run.handshake(json!({"protocolVersion": revision.as_str(), "capabilities": capabilities,
                "serverInfo": {"name": "toy", "version": "1"}})),
            Era::Modern => run.handshake(json!({"supportedVersions": [revision.as_str()], "resultType": "complete",
                "ttlMs": 0, "cacheScope": "public", "capabilities": capabilities})),
        }
    }

    fn silent(revision: Revision) -> Self {
        let header = Header { graded: Some(SessionId(0)), revision: Some(revision), ..Header::default() };
        Self { trace: Trace::new(header), surface: Surface::default(), revision }
    }

    fn handshake(mut self, result: Value) -> Self {
        self.surface.capabilities = result.get("capabilities").cloned();
        self.surface.server_info = result.get("serverInfo").cloned();
        let (variant, method) = match self.revision.era() {
            Era::Legacy => ("initialize", "initialize"),
            Era::Modern => ("discover", "server/discover"),
        };
        let mut run = self.act(0, "handshake", Role::Handshake, variant, method).result(result);
        run.surface.handshake = Some(run.last());
        run
    }

    fn act(mut self, session: u16, probe: &str, role: Role, variant: &str, method: &str) -> Self {
        let tool = (method == "tools/call").then(|| "echo".to_owned());
        let (session, probe, variant) = (SessionId(session), probe.to_owned(), variant.to_owned());
        let era = self.revision.era();
        self.trace.acts.push(Act { session, probe, role, tool, variant, era, replay: false });
        let (id, method) = (Some(self.id()), Some(method.to_owned()).filter(|method| !method.is_empty()));
        self.event(EventKind::Sent { id, method, frame: Payload::Text(String::new()), carries: vec![] })
    }

    fn call(self, variant: &str) -> Self {
        self.act(0, "invalid-calls", Role::Graded, variant, "tools/call")
    }

    /// The id of the last act's request.
    fn id(&self) -> Value {
        json!(self.trace.acts.len())
    }

    fn event(mut self, kind: EventKind) -> Self {
        let act = ActId((self.trace.acts.len() - 1) as u32);
        let session = self.trace.acts.last().unwrap().session;
        self.trace.events.push(Event { session, act: Some(act), kind });
        self
    }

    /// Something of the session that belongs to no act.
    fn aside(mut self, session: u16, kind: EventKind) -> Self {
        self.trace.events.push(Event { session: SessionId(session), act: None, kind });
        self
    }

    fn noise(self, line: &str) -> Self {
        self.aside(0, EventKind::Noise { line: Payload::Text(line.to_owned()), hits: vec![] })
    }

    fn stray(self, frame: &str) -> Self {
        let frame = Payload::Text(frame.to_owned());
        self.aside(0, EventKind::Stray { frame, why: "answers no request".to_owned(), hits: vec![] })
    }

    fn received(self, frame: Value, outcome: Outcome, schema: Vec<String>, sdk: Option<String>) -> Self {
        let frame = Payload::Text(frame.to_string());
        self.event(EventKind::Received { frame, outcome, schema, sdk, hits: vec![], elapsed_ms: 1 })
    }

    /// A result, with what our schema and the SDK say about it.
    fn result(self, result: Value) -> Self {
        let method = self.trace.events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Sent { method, .. } => method.clone(),
            _ => None,
        });
        let method = method.unwrap();
        let (schema, sdk) = (complaints(self.revision, &method, &result), sdk_complaint(&method, &result));
        let frame = json!({"jsonrpc": "2.0", "id": self.id(), "result": result});
        self.received(frame, Outcome::Result { is_error: None, text: String::new() }, schema, sdk)
    }

    fn error(self, error: Value) -> Self {
        let schema = error_complaints(self.revision, &error);
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        let outcome = Outcome::Error { code: error["code"].as_i64(), message };
        let frame = json!({"jsonrpc": "2.0", "id": self.id(), "error": error});
        self.received(frame, outcome, schema, None)
    }

    fn last(&self) -> EventRef {
        EventRef((self.trace.events.len() - 1) as u32)
    }

    fn page(self, number: usize) -> Self {
        self.act(0, "inventory", Role::Listing, &format!("tools/list#{number}"), "tools/list")
    }

    /// A page of tools; its entries with a name enter the surface.
    fn tools(self, tools: Value) -> Self {
        let mut run =
            self.page(1).result(json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}));
        let listed_in = run.last();
        run.surface.tools.asked = true;
        for raw in tools.as_array().unwrap() {
            let Some(name) = raw["name"].as_str() else { continue };
            run.surface.tools.entries.push(Tool { name: name.to_owned(), raw: raw.clone(), listed_in });
        }
        run
    }

    fn surface(mut self, change: impl FnOnce(&mut Surface)) -> Self {
        change(&mut self.surface);
        self
    }

    fn header(mut self, change: impl FnOnce(&mut Header)) -> Self {
        change(&mut self.trace.header);
        self
    }

    fn judge(&self) -> Judgement {
        let index = Index::of(&self.trace);
        judge(&View { trace: &self.trace, surface: &self.surface, check: &CHECK, index: &index })
    }

    /// The summary, after checking the verdict and that exactly these rules stand in the lines that are no pass.
    #[track_caller]
    fn ruled(&self, verdict: Verdict, rules: &[&str]) -> String {
        let judgement = self.judge();
        let deciding = judgement.evidence.iter().filter(|line| line.verdict != Verdict::Pass);
        let found: BTreeSet<_> = deciding.map(|line| line.rule).collect();
        assert_eq!(found, rules.iter().copied().collect(), "{judgement:#?}");
        assert_eq!(judgement.verdict, verdict, "{judgement:#?}");
        for line in &judgement.evidence {
            assert!(CHECK.explain.rules.iter().any(|(rule, _)| *rule == line.rule), "{} is not explained", line.rule);
            assert!(CHECK.explain.probes.iter().any(|(probe, _)| *probe == line.probe), "{}", line.probe);
        }
        judgement.summary
    }

    #[track_caller]
    fn passes(&self) -> String {
        self.ruled(Verdict::Pass, &[])
    }
}

fn legacy() -> Run {
    Run::new(Revision::V2025_11_25)
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Says it again.", "inputSchema": {"type": "object"}})
}

/// A good server so far.
fn good() -> Run {
    legacy().tools(json!([tool("a")]))
}

fn described(description: &str) -> Run {
    let mut tool = tool("echo");
    tool["description"] = json!(description);
    legacy().tools(json!([tool]))
}

fn refusal() -> Value {
    json!({"content": [{"type": "text", "text": "no"}], "isError": true})
}

#[test]
fn a_clean_server_passes_in_either_era() {
    let run = legacy().tools(json!([tool("echo"), tool("add")])).call("missing:a").result(refusal());
    assert_eq!(run.passes(), "handshake ok (2025-11-25), 2 well-formed tools");
    let evidence = run.judge().evidence;
    assert_eq!(evidence[0].observed, r#"answered with 2025-11-25 by "toy" "1""#);
    assert_eq!(evidence[1].observed, "2 tools on 1 page");
    let modern = Run::new(Revision::V2026_07_28).tools(json!([tool("echo")]));
    assert_eq!(modern.passes(), "handshake ok (2026-07-28), 1 well-formed tool");
}

#[test]
fn a_name_of_129_characters_fails_and_one_of_128_passes() {
    legacy().tools(json!([tool(&"a".repeat(128))])).passes();
    let summary = legacy().tools(json!([tool(&"a".repeat(129))])).ruled(Verdict::Fail, &["protocol.tool-name"]);
    assert_eq!(summary, "1 tool name outside the name pattern");
}

#[test]
fn names_hold_the_allowed_characters_only() {
    legacy().tools(json!([tool("aZ0_.-")])).passes();
    for odd in ["", "a b", "a/b", "é", "a\n", "ns:tool"] {
        legacy().tools(json!([tool(odd)])).ruled(Verdict::Fail, &["protocol.tool-name"]);
    }
}

#[test]
fn a_name_listed_twice_fails_and_one_in_another_case_passes() {
    legacy().tools(json!([tool("a"), tool("A")])).passes();
    let run = legacy().tools(json!([tool("a"), tool("b"), tool("a")]));
    assert_eq!(run.ruled(Verdict::Fail, &["protocol.duplicate-name"]), "1 tool name listed more than once");
    assert_eq!(run.judge().evidence[0].observed, "listed 2 times");
}

#[test]
fn a_description_of_9_characters_is_part_and_one_of_10_passes() {
    described("ten chars!").passes();
    described("ähnlich wö").passes();
    let part = |run: Run| run.ruled(Verdict::Part, &["protocol.description"]);
    assert_eq!(part(described("nine char")), "1 of 1 tool without a description of 10 characters");
    part(described("   nine char   \n"));
    part(legacy().tools(json!([{"name": "echo", "inputSchema": {"type": "object"}}])));
}

#[test]
fn an_entry_that_breaks_the_schema_fails_and_names_its_tool() {
    let mut broken = tool("b");
    broken["inputSchema"] = json!({"$schema": "http://json-schema.org/draft-07/schema#"});
    let nameless = json!({"description": "Who knows what.", "inputSchema": {"type": "object"}});
    let run = Run::new(Revision::V2024_11_05).tools(json!([tool("a"), broken, nameless]));
    let summary = run.ruled(Verdict::Fail, &["protocol.schema"]);
    assert_eq!(summary, "2 of 3 tools against the schema of 2024-11-05");
    let line = &run.judge().evidence[0];
    assert_eq!(line.tool.as_deref(), Some("b"));
    assert_eq!(line.observed, r#"/tools/1/inputSchema: "type" is missing (must be "object")"#);
}

#[test]
fn an_entry_is_held_to_the_negotiated_revision_only() {
    let mut odd = tool("a");
    odd["outputSchema"] = json!({"type": "array"});
    let listing = json!([odd]);
    Run::new(Revision::V2025_03_26).tools(listing.clone()).passes();
    Run::new(Revision::V2026_07_28).tools(listing.clone()).passes();
    legacy().tools(listing).ruled(Verdict::Fail, &["protocol.schema"]);
}

#[test]
fn more_broken_entries_than_are_spelled_out_are_counted() {
    let broken: Vec<_> = (0..60).map(|at| json!({"name": format!("t{at}"), "description": "Does a thing."})).collect();
    let run = legacy().tools(Value::from(broken));
    let summary = run.ruled(Verdict::Fail, &["protocol.schema"]);
    assert_eq!(summary, "at least 20 of 60 tools against the schema of 2025-11-25");
    let evidence = run.judge().evidence;
    let lines: Vec<_> = evidence.iter().filter(|line| line.rule == "protocol.schema").collect();
    assert_eq!((lines.len(), lines[10].observed.as_str()), (11, "and 50 more"));
    // The SDK refuses them too: named, beside the schema.
    assert!(evidence.iter().any(|line| line.rule == "protocol.sdk" && line.observed.contains("59 more of 60")));
}

#[test]
fn what_only_the_sdk_refuses_is_named_and_decides_nothing() {
    let page = json!({"tools": [tool("a")], "resultType": "complete", "ttlMs": 1e3, "cacheScope": "public"});
    let run = Run::new(Revision::V2026_07_28).tools(json!([tool("a")])).page(2).result(page);
    run.passes();
    assert!(run.judge().evidence.iter().any(|line| line.rule == "protocol.sdk"));
}

#[test]
fn a_modern_page_without_its_cache_members_fails() {
    let run = Run::new(Revision::V2026_07_28).tools(json!([tool("a")])).page(2);
    let run = run.result(json!({"tools": [], "resultType": "complete", "ttlMs": 1}));
    let summary = run.ruled(Verdict::Fail, &["protocol.schema"]);
    assert_eq!(summary, "the tools/list result breaks the schema of 2026-07-28");
}

#[test]
fn a_handshake_against_its_schema_fails_and_an_empty_version_passes() {
    let shaken = |info: Value| {
        Run::silent(Revision::V2025_11_25)
            .handshake(json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}))
            .tools(json!([tool("a")]))
    };
    shaken(json!({"name": "fsguard-mcp", "version": ""})).passes();
    let run = shaken(json!({"name": "x"}));
    let summary = run.ruled(Verdict::Fail, &["protocol.handshake"]);
    assert_eq!(summary, "the handshake breaks the schema of 2025-11-25");
    assert!(run.judge().evidence.iter().any(|line| line.rule == "protocol.sdk"));
}

#[test]
fn odd_capabilities_that_the_open_schema_allows_pass() {
    let definitions = json!({"tools": {"curl": {"description": "Make a request", "inputSchema": {}}}, "sampling": {}});
    Run::shaken(Revision::V2024_11_05, definitions).tools(json!([tool("curl")])).passes();
    let flag = Run::shaken(Revision::V2024_11_05, json!({"tools": true})).tools(json!([tool("curl")]));
    flag.ruled(Verdict::Fail, &["protocol.handshake"]);
}

#[test]
fn a_revision_that_does_not_exist_is_part() {
    let run = good().header(|header| {
        header.revision = None;
        header.revision_text = Some("1999-01-01".to_owned());
    });
    let summary = run.ruled(Verdict::Part, &["protocol.revision"]);
    assert_eq!(summary, r#"the handshake names "1999-01-01", which is no revision of the protocol"#);
}

#[test]
fn a_rejected_listing_fails_with_its_reason_alone() {
    let run = legacy().page(1).result(json!({"tools": {"a": 1}})).surface(|surface| {
        surface.tools.asked = true;
        surface.tools.rejected = Some("`tools` is not an array".to_owned());
    });
    let summary = run.ruled(Verdict::Fail, &["protocol.rejected", "protocol.schema"]);
    assert_eq!(summary, "tools/list was rejected: `tools` is not an array");
}

#[test]
fn a_page_that_never_came_fails_and_a_second_page_passes() {
    let first = || good().page(2);
    first().result(json!({"tools": [tool("b")]})).passes();
    let summary = first().event(EventKind::TimedOut { after_ms: 1 }).ruled(Verdict::Fail, &["protocol.rejected"]);
    assert_eq!(summary, "a page of tools/list is missing");
    let run = first().error(json!({"code": -32602, "message": "bad cursor"}));
    run.ruled(Verdict::Fail, &["protocol.rejected"]);
    assert_eq!(run.judge().evidence[0].observed, r#"page 2 was answered with error -32602: "bad cursor""#);
}

#[test]
fn a_bound_fails_and_is_named() {
    let run = good().surface(|surface| surface.tools.bound = Some("more than 50 pages".to_owned()));
    assert_eq!(run.ruled(Verdict::Fail, &["protocol.bound"]), "the listing passes a bound: more than 50 pages");
}

#[test]
fn no_tools_are_part_whether_declared_or_not() {
    let empty = legacy().tools(json!([]));
    assert_eq!(empty.ruled(Verdict::Part, &["protocol.no-tools"]), "no tools declared");
    let undeclared = || Run::shaken(Revision::V2025_11_25, json!({"prompts": {}}));
    let unknown = undeclared()
        .page(1)
        .error(json!({"code": -32601, "message": "Method not found"}))
        .surface(|surface| surface.tools.asked = true);
    assert_eq!(unknown.ruled(Verdict::Part, &["protocol.no-tools"]), "no tools declared");
    undeclared().ruled(Verdict::Part, &["protocol.no-tools"]);
}

#[test]
fn a_listing_nobody_could_ask_for_is_inconclusive_unless_the_server_ended() {
    legacy().ruled(Verdict::Inconclusive, &["protocol.rejected"]);
    legacy().aside(0, EventKind::Exited { code: Some(1), signal: None }).ruled(Verdict::Fail, &["protocol.rejected"]);
}

#[test]
fn noise_is_part_and_a_notification_is_not() {
    let frame = Payload::Text(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#.to_owned());
    good()
        .aside(0, EventKind::Notification { method: "notifications/message".to_owned(), frame, hits: vec![] })
        .passes();
    let run = legacy().noise("Server running on stdio").tools(json!([tool("a")])).noise("");
    assert_eq!(run.ruled(Verdict::Part, &["protocol.stdout-noise"]), "2 lines on stdout not JSON-RPC");
    let line = &run.judge().evidence[0];
    assert_eq!(line.observed, r#"not a JSON-RPC message: "Server running on stdio""#);
    assert_eq!(line.received, Some(EventRef(2)));
}

#[test]
fn a_flood_of_noise_is_counted_and_quoted_in_part() {
    let run = (0..500).fold(good(), |run, _| run.noise(&"x".repeat(10_000)));
    assert_eq!(run.ruled(Verdict::Part, &["protocol.stdout-noise"]), "500 lines on stdout not JSON-RPC");
    let evidence = run.judge().evidence;
    assert_eq!(evidence[10].observed, "and 490 more");
    assert!(evidence.iter().all(|line| line.observed.len() < 200));
    let run = run.aside(0, EventKind::Bound { what: "noise lines kept (90 more came)".to_owned(), limit: 500 });
    assert_eq!(run.judge().summary, "at least 500 lines on stdout not JSON-RPC");
}

#[test]
fn noise_of_another_session_or_over_http_does_not_count() {
    good().aside(1, EventKind::Noise { line: Payload::Text("hi".to_owned()), hits: vec![] }).passes();
    let launched = legacy().noise("listening on 3000").tools(json!([tool("a")]));
    launched.header(|header| header.transport = Transport::HttpLaunched).passes();
}

#[test]
fn what_only_malformed_frames_provoke_is_noted() {
    let stress = |variant: &str| good().act(0, "stress", Role::Stress, variant, "");
    let run = stress("not-json").noise("Traceback").stray(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#);
    run.passes();
    assert!(run.judge().evidence.iter().any(|line| line.observed.contains("1 line only after malformed input")));
    stress("batch").noise(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#).passes();
    stress("deep-nesting").noise("Traceback").passes();
    stress("long-string").noise("Traceback").ruled(Verdict::Part, &["protocol.stdout-noise"]);
}

#[test]
fn messages_that_answer_nothing_are_part_and_an_unplaced_error_is_not() {
    good().stray(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#).passes();
    good().stray(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}"#).passes();
    let summary = good().stray(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#).ruled(Verdict::Part, &["protocol.message"]);
    assert_eq!(summary, "1 reply not proper JSON-RPC");
}

#[test]
fn a_reply_of_the_wrong_form_is_part() {
    let call = || good().call("missing:a");
    let both = Outcome::Malformed { why: "both result and error".to_owned() };
    call().received(json!({}), both, vec![], None).ruled(Verdict::Part, &["protocol.message"]);
    call().error(json!({"code": "E1", "message": "no"})).ruled(Verdict::Part, &["protocol.message"]);
    call().error(json!({"code": -32602, "message": "no"})).passes();
    let text_id = vec!["the id 3 comes back as a text".to_owned()];
    let run = call().received(json!({}), Outcome::Result { is_error: None, text: String::new() }, text_id, None);
    run.ruled(Verdict::Part, &["protocol.message"]);
    assert_eq!(run.judge().evidence[0].observed, "the id 3 comes back as a text");
}

#[test]
fn a_note_about_the_message_is_no_breach_of_the_schema() {
    let mut run = good();
    for event in &mut run.trace.events {
        if let EventKind::Received { schema, .. } = &mut event.kind {
            schema.push("a byte order mark stands before the message".to_owned());
        }
    }
    assert_eq!(run.ruled(Verdict::Part, &["protocol.message"]), "2 replies not proper JSON-RPC");
}

#[test]
fn a_reply_past_our_own_bound_is_no_fault_of_its_form() {
    let cut = Outcome::Malformed { why: "a message too long to be read".to_owned() };
    let run = good().call("missing:a").event(EventKind::Bound { what: "bytes of one message".to_owned(), limit: 1 });
    run.received(json!({}), cut, vec![], None).passes();
}

#[test]
fn a_late_reply_is_no_stray_and_a_second_one_is() {
    let late = || good().act(0, "handshake", Role::Handshake, "discover", "server/discover");
    let frame = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
    late().event(EventKind::TimedOut { after_ms: 1 }).stray(frame).passes();
    let answered = late().error(json!({"code": -32601, "message": "Method not found"}));
    answered.stray(frame).ruled(Verdict::Part, &["protocol.message"]);
}

#[test]
fn invalid_results_are_part_and_say_who_refuses_them() {
    let call = |result: Value| good().call("missing:a").result(result);
    let both = call(json!({"content": [{"type": "text"}]}));
    assert_eq!(both.ruled(Verdict::Part, &["protocol.invalid-result"]), "1 of 1 tool result not valid MCP");
    let line = both.judge().evidence.remove(0);
    assert!(line.observed.starts_with(r#"breaks the schema of 2025-11-25: /content/0: "text" is missing"#));
    assert!(line.observed.contains("the SDK's types refuse it too: result: "), "{}", line.observed);
    assert_eq!(line.tool.as_deref(), Some("echo"));
    let schema = call(json!({"structuredContent": {}}));
    schema.ruled(Verdict::Part, &["protocol.invalid-result"]);
    assert!(schema.judge().evidence[0].observed.ends_with("the SDK's types accept it"));
    let mut only_sdk = call(refusal());
    if let Some(EventKind::Received { sdk, .. }) = only_sdk.trace.events.last_mut().map(|event| &mut event.kind) {
        *sdk = Some("result: odd".to_owned());
    }
    only_sdk.ruled(Verdict::Part, &["protocol.invalid-result"]);
    assert!(only_sdk.judge().evidence[0].observed.starts_with("valid by 2025-11-25, but"));
    call(refusal()).passes();
}

#[test]
fn results_of_a_repeated_call_count_and_replies_to_malformed_frames_do_not() {
    let repeated = good().act(2, "invalid-calls", Role::Graded, "missing:a", "tools/call").result(json!({}));
    repeated.ruled(Verdict::Part, &["protocol.invalid-result"]);
    good().act(0, "stress", Role::Stress, "lone-surrogate", "tools/call").result(json!({})).passes();
}

#[test]
fn pings_prompts_and_missing_capabilities_are_notes() {
    let run = Run::shaken(Revision::V2025_11_25, json!({}))
        .tools(json!([tool("a")]))
        .act(0, "inventory", Role::Listing, "prompts/list#1", "prompts/list")
        .result(json!({"prompts": [{}]}))
        .act(0, "invalid-calls", Role::Alive, "ping", "ping")
        .result(Value::Null);
    run.passes();
    let notes: Vec<_> = run.judge().evidence.into_iter().filter(|line| line.rule == "protocol.note").collect();
    assert_eq!(notes.len(), 3, "{notes:#?}");
    assert_eq!(notes[2].observed, "1 reply to ping: result: must be an object, is null");
}

#[test]
fn the_other_eras_handshake_is_reported() {
    let run = Run::new(Revision::V2026_07_28)
        .tools(json!([tool("a")]))
        .header(|header| header.other_era = Some((Era::Legacy, "2025-11-25".to_owned())));
    run.passes();
    let said = |run: &Run| {
        let evidence = run.judge().evidence;
        evidence.into_iter().find(|line| line.rule == "protocol.other-era").unwrap().observed
    };
    assert_eq!(said(&run), "also speaks 2025-11-25 (legacy handshake ok)");
    let mut run = run.act(1, "handshake", Role::Handshake, "initialize", "initialize");
    run.revision = Revision::V2025_11_25;
    let run = run.result(json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}));
    run.passes();
    assert!(said(&run).contains("legacy handshake breaks the schema: /serverInfo"), "{}", said(&run));
}

#[test]
fn a_run_without_a_handshake_is_inconclusive() {
    let silent = Run::silent(Revision::V2025_11_25).tools(json!([tool("a")]));
    silent.ruled(Verdict::Inconclusive, &["protocol.handshake"]);
    let run = legacy().header(|header| header.graded = None);
    assert_eq!(run.judge(), Judgement::bare(Verdict::Inconclusive, "no session was graded"));
}
