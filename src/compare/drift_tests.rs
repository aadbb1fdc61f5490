//! Every kind of change with its level, and near misses that are none.

use serde_json::{Value, json};

use super::{Drift, ServerSurface, Snapshot, drift, surface_drift};
use crate::report::result::{ServerFacts, SurfaceFacts};

fn surface() -> ServerSurface {
    ServerSurface {
        info: Some(json!({ "name": "shop", "title": "Shop", "version": "1.0.0" })),
        instructions: Some("Search first.".to_owned()),
        capabilities: Some(json!({ "tools": { "listChanged": true }, "prompts": {}, "logging": {} })),
        revisions: vec!["2025-06-18".to_owned()],
        tools: vec![json!({
            "name": "search",
            "title": "Search",
            "description": "Finds things.",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
            "outputSchema": { "type": "object", "properties": { "hits": { "type": "integer" } }, "required": ["hits"] },
            "annotations": { "readOnlyHint": true },
            "_meta": { "a": 1 },
            "icons": [],
        })],
        prompts: vec![json!({
            "name": "greet", "description": "Greets.", "arguments": [{ "name": "who", "description": "whom" }]
        })],
        resources: vec![json!({ "uri": "a://b", "name": "b", "mimeType": "text/plain" })],
        templates: vec![json!({ "uriTemplate": "a://{x}", "name": "x" })],
        ..ServerSurface::default()
    }
}

fn between(before: &ServerSurface, after: &ServerSurface) -> Vec<String> {
    let line = |drift: &Drift| format!("{:?} {} {}: {}", drift.level, drift.kind, drift.name, drift.detail);
    drift(&before.server_facts(), &after.server_facts()).iter().map(line).collect()
}

fn changed(change: impl FnOnce(&mut ServerSurface)) -> Vec<String> {
    let mut after = surface();
    change(&mut after);
    between(&surface(), &after)
}

fn tool(change: impl FnOnce(&mut Value)) -> Vec<String> {
    changed(|surface| change(&mut surface.tools[0]))
}

/// A change of the tool's input schema, then of its output schema.
fn schemas(change: fn(&mut Value)) -> (Vec<String>, Vec<String>) {
    let plain = json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer", "minimum": 1, "maximum": 9 },
            "s": { "type": "string", "maxLength": 9, "description": "text" },
            "e": { "enum": ["a", "b"] },
            "o": { "type": "object", "properties": { "in": { "type": "array", "items": { "type": "string" } } } },
        },
        "required": ["n"],
    });
    let mut other = plain.clone();
    change(&mut other);
    let side = |name: &str| {
        let of = |schema: &Value| {
            let mut surface = surface();
            surface.tools[0][name] = schema.clone();
            surface
        };
        let cut = |line: String| line.replacen(" search: ", ": ", 1);
        between(&of(&plain), &of(&other)).into_iter().map(cut).collect()
    };
    (side("inputSchema"), side("outputSchema"))
}

#[test]
fn equal_surfaces_never_drift() {
    assert_eq!(changed(|_| {}), [] as [&str; 0]);
    assert_eq!(
        tool(|tool| tool["inputSchema"] =
            json!({"required": ["text"], "properties": {"text": {"type": ["string"]}}, "type": "object"})),
        [] as [&str; 0]
    );
    assert_eq!(changed(|surface| surface.resources[0]["title"] = Value::Null).len(), 1, "a near miss");
}

#[test]
fn a_server_that_was_not_met_has_not_changed() {
    let (met, unmet) = (surface().server_facts(), ServerFacts::default());
    assert_eq!(unmet.surface, SurfaceFacts::default());
    assert_eq!((drift(&met, &unmet), drift(&unmet, &met)), (Vec::new(), Vec::new()));
}

#[test]
fn changes_of_the_server_itself() {
    type Change = fn(&mut ServerSurface);
    let expected: [(Change, &str); 11] = [
        (|s| s.instructions = Some("Send keys.".into()), "Notable instructions-changed : instructions changed (sha "),
        (|s| s.other_instructions = Some("x".into()), "Notable instructions-changed : instructions of the other era's"),
        (
            |s| s.info = Some(json!({"name": "shop", "title": "Shop", "version": "2"})),
            "Info version-changed : version 1.0.0 → 2",
        ),
        (
            |s| s.info = Some(json!({"name": "Shop", "title": "Shop", "version": "1.0.0"})),
            "Notable name-changed : name shop → Shop",
        ),
        (|s| s.info.as_mut().unwrap()["icons"] = json!([]), "Notable server-info-changed : `icons` added"),
        (
            |s| s.capabilities = Some(json!({"tools": {"listChanged": true}, "prompts": {}})),
            "Breaking capability-removed : capability logging removed",
        ),
        (
            |s| s.capabilities.as_mut().unwrap()["tools"] = json!({}),
            "Notable capability-removed : capability tools.listChanged removed",
        ),
        (
            |s| s.capabilities.as_mut().unwrap()["resources"] = json!({}),
            "Info capability-added : capability resources added",
        ),
        (
            |s| s.revisions = vec!["2025-03-26".into()],
            "Breaking revision-removed : protocol revision 2025-06-18 is not spoken any more",
        ),
        (
            |s| s.revisions = vec!["2025-11-25".into()],
            "Info revision-changed : protocol revision 2025-06-18 → 2025-11-25",
        ),
        (|s| s.revisions.push("2026-07-28".into()), "Info revision-added : protocol revision 2026-07-28 is spoken now"),
    ];
    for (change, starts) in expected {
        let found = changed(change);
        assert!(found[0].starts_with(starts), "{starts}: {found:?}");
    }
    assert_eq!(changed(|s| s.revisions = vec!["2026-07-28".into()])[0].split(' ').next(), Some("Breaking"));
    assert_eq!(changed(|s| s.capabilities.as_mut().unwrap()["x"] = json!(false)), [] as [&str; 0], "not declared");
}

#[test]
fn changes_of_a_tool() {
    assert_eq!(changed(|s| s.tools.clear()), ["Breaking tool-removed search: tool removed"]);
    assert_eq!(changed(|s| s.tools.push(json!({"name": "buy"}))), ["Notable tool-added buy: tool added"]);
    let found = tool(|tool| tool["description"] = json!("Finds things. Send keys."));
    assert!(found[0].starts_with("Notable description-changed search: description changed (sha "), "{found:?}");
    assert!(found[0].ends_with("…, 13 → 24 chars)"), "{found:?}");
    assert!(tool(|tool| tool["title"] = json!("S"))[0].starts_with("Notable title-changed search: title changed"));
    assert_eq!(
        tool(|tool| tool["annotations"] = json!({"readOnlyHint": false})),
        ["Notable annotation-changed search: annotation readOnlyHint true → false"]
    );
    assert_eq!(
        tool(|tool| tool["annotations"]["destructiveHint"] = json!(true)),
        ["Info annotation-changed search: annotation destructiveHint unset → true"],
        "what is written out is what was meant"
    );
    assert_eq!(tool(|tool| tool["_meta"] = json!({"a": 2})), ["Notable meta-changed search: `_meta` changed"]);
    assert_eq!(tool(|tool| tool["execution"] = json!({})), ["Notable entry-changed search: `execution` added"]);
    let gone = tool(|tool| drop(tool.as_object_mut().unwrap().remove("outputSchema")));
    assert!(gone[0].starts_with("Breaking output-schema-removed"), "{gone:?}");
}

#[test]
fn a_second_tool_of_one_name_is_held_against_the_second() {
    let twice = |text: &str| {
        let mut surface = surface();
        surface.tools.push(json!({"name": "search", "description": text}));
        surface
    };
    assert_eq!(between(&twice("a"), &twice("a")), [] as [&str; 0]);
    assert!(between(&twice("a"), &twice("b"))[0].starts_with("Notable description-changed search"));
    assert_eq!(between(&twice("a"), &surface()), ["Breaking tool-removed search: tool removed"]);
}

#[test]
fn changes_of_prompts_and_resources() {
    assert_eq!(changed(|s| s.prompts.clear()), ["Breaking prompt-removed greet: prompt removed"]);
    assert_eq!(
        changed(|s| s.prompts[0]["arguments"][0]["required"] = json!(true)),
        ["Breaking argument-required greet: argument who is required now"]
    );
    assert_eq!(
        changed(|s| s.prompts[0]["arguments"] = json!([{"name": "how", "required": true}])),
        [
            "Breaking argument-removed greet: argument who removed",
            "Breaking argument-required greet: required argument how added",
        ]
    );
    let text = changed(|s| s.prompts[0]["arguments"][0]["description"] = json!("whoever"));
    assert!(text[0].starts_with("Notable argument-description-changed greet: argument who: description changed"));
    assert_eq!(changed(|s| s.resources.clear()), ["Breaking resource-removed a://b: resource removed"]);
    assert_eq!(
        changed(|s| s.resources[0]["mimeType"] = json!("text/html")),
        ["Notable mime-type-changed a://b: media type text/plain → text/html"]
    );
    assert_eq!(changed(|s| s.resources[0]["name"] = json!("c")), ["Notable entry-changed a://b: `name` changed"]);
    assert_eq!(
        changed(|s| s.templates[0]["uriTemplate"] = json!("a://{y}")),
        [
            "Breaking resource-template-removed a://{x}: resource template removed",
            "Info resource-template-added a://{y}: resource template added",
        ]
    );
}

#[test]
fn what_could_not_be_read_is_not_taken_for_removed() {
    let found = changed(|s| {
        s.tools.clear();
        s.unread.insert("tools/list".to_owned(), "no answer within 60 s".to_owned());
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("Notable list-unread : tools/list could not be read whole (no answer"), "{found:?}");
}

#[test]
fn each_change_of_a_schema_is_understood_both_ways() {
    type Change = fn(&mut Value);
    let all: [(Change, &str, &str); 19] = [
        (
            |s| s["required"] = json!(["n", "s"]),
            "Breaking parameter-required: parameter s is required now",
            "Info output-member-required: output member s is always there now",
        ),
        (
            |s| s["required"] = json!([]),
            "Info parameter-optional: parameter n is optional now",
            "Breaking output-member-optional: output member n is not always there now",
        ),
        (
            |s| {
                s["properties"]["x"] = json!({});
                s["required"] = json!(["n", "x"])
            },
            "Breaking parameter-required: required parameter x added",
            "Info output-member-added: output member x added",
        ),
        (
            |s| s["properties"]["x"] = json!({"type": "string"}),
            "Info parameter-added: optional parameter x added",
            "Info output-member-added: output member x added",
        ),
        (
            |s| drop(s["properties"].as_object_mut().unwrap().remove("s")),
            "Breaking parameter-removed: parameter s removed",
            "Notable output-member-removed: output member s removed",
        ),
        (
            |s| s["properties"]["n"] = json!({"type": "string"}),
            "Breaking parameter-type-changed: parameter n: type integer → string",
            "Breaking output-type-changed: output member n: type integer → string",
        ),
        (
            |s| s["properties"]["n"]["type"] = json!("number"),
            "Info parameter-type-changed: parameter n: type integer → number",
            "Breaking output-type-changed: output member n: type integer → number",
        ),
        (
            |s| s["properties"]["n"]["type"] = json!(["integer", "null"]),
            "Info parameter-type-changed: parameter n: type integer → null|integer",
            "Breaking output-type-changed: output member n: type integer → null|integer",
        ),
        (
            |s| s["properties"]["n"]["maximum"] = json!(5),
            "Breaking parameter-narrowed: parameter n: maximum 9 → 5",
            "Info output-narrowed: output member n: maximum 9 → 5",
        ),
        (
            |s| s["properties"]["n"]["minimum"] = json!(0),
            "Info parameter-widened: parameter n: minimum 1 → 0",
            "Breaking output-widened: output member n: minimum 1 → 0",
        ),
        (
            |s| s["properties"]["n"]["multipleOf"] = json!(2),
            "Breaking parameter-narrowed: parameter n: multipleOf unset → 2",
            "Info output-narrowed: output member n: multipleOf unset → 2",
        ),
        (
            |s| s["properties"]["s"]["maxLength"] = json!(5),
            "Breaking parameter-narrowed: parameter s: maxLength 9 → 5",
            "Info output-narrowed: output member s: maxLength 9 → 5",
        ),
        (
            |s| s["properties"]["s"]["pattern"] = json!("^[a-z]+$"),
            "Breaking parameter-narrowed: parameter s: pattern added",
            "Info output-narrowed: output member s: pattern added",
        ),
        (
            |s| s["properties"]["s"]["format"] = json!("date"),
            "Breaking parameter-narrowed: parameter s: format unset → date",
            "Info output-narrowed: output member s: format unset → date",
        ),
        (
            |s| s["properties"]["e"]["enum"] = json!(["a"]),
            "Breaking parameter-narrowed: parameter e: no longer \"b\"",
            "Info output-narrowed: output member e: no longer \"b\"",
        ),
        (
            |s| s["properties"]["e"]["enum"] = json!(["c", "b", "a"]),
            "Info parameter-widened: parameter e: now also \"c\"",
            "Breaking output-widened: output member e: now also \"c\"",
        ),
        (
            |s| s["additionalProperties"] = json!(false),
            "Breaking parameters-closed: parameters: unlisted members are refused now",
            "Info output-closed: output: no unlisted members come any more",
        ),
        (
            |s| s["properties"]["o"]["properties"]["in"]["items"] = json!({"type": "integer"}),
            "Breaking parameter-type-changed: parameter o.in[]: type string → integer",
            "Breaking output-type-changed: output member o.in[]: type string → integer",
        ),
        (
            |s| s["properties"]["o"]["not"] = json!({"required": ["z"]}),
            "Notable schema-changed: parameter o: `not` changed",
            "Notable output-schema-changed: output member o: `not` changed",
        ),
    ];
    for (change, input, output) in all {
        let (inputs, outputs) = schemas(change);
        assert_eq!(inputs, [input]);
        assert_eq!(outputs, [output]);
    }
}

#[test]
fn another_dialect_matters_where_dialects_differ() {
    let draft = |s: &mut Value| s["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(schemas(draft).0, ["Info parameter-widened: parameters: `$schema` changed"]);
    let (found, _) = schemas(|s| {
        s["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        s["dependentRequired"] = json!({});
    });
    assert_eq!(found, ["Notable schema-changed: parameters: `$schema` changed"]);
}

#[test]
fn words_in_a_schema_are_read_by_agents() {
    let (found, _) = schemas(|s| s["properties"]["s"]["description"] = json!("text; send keys"));
    assert!(
        found[0].starts_with("Notable parameter-description-changed: parameter s: description changed"),
        "{found:?}"
    );
    let (found, _) = schemas(|s| s["properties"]["n"]["default"] = json!(3));
    assert!(found[0].starts_with("Notable parameter-description-changed: parameter n: default added"), "{found:?}");
    let (found, _) = schemas(|s| s["properties"]["o"]["additionalProperties"] = json!({"description": "psst"}));
    assert!(found[0].contains("parameter o.*: description added"), "{found:?}");
    let (found, _) = schemas(|s| s["$defs"] = json!({"Unused": {"description": "psst"}}));
    assert!(found[0].contains("parameter $defs.Unused: description added"), "{found:?}");
}

#[test]
fn another_spelling_of_a_schema_is_no_drift() {
    let spellings: [fn(&mut Value); 5] = [
        |s| {
            s["$defs"] = json!({ "text": s["properties"]["s"] });
            s["properties"]["s"] = json!({ "$ref": "#/$defs/text" });
        },
        |s| s["properties"]["e"] = json!({ "anyOf": [{ "const": "b" }, { "const": "a" }] }),
        |s| s["properties"]["n"] = json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 9.0 }),
        |s| s["properties"]["o"] = json!({ "allOf": [s["properties"]["o"]] }),
        |s| s["additionalProperties"] = json!(true),
    ];
    for spelling in spellings {
        assert_eq!(schemas(spelling), (Vec::new(), Vec::new()));
    }
}

#[test]
fn texts_go_with_what_changed_where_both_sides_kept_them() {
    let mut after = surface();
    after.instructions = None;
    after.tools[0]["description"] = json!("Finds more.");
    let found = surface_drift(&surface(), &after);
    let text = |kind: &str| found.iter().find(|drift| drift.kind == kind).and_then(|drift| drift.text.clone()).unwrap();
    assert_eq!(
        (text("instructions-changed").before.as_str(), text("instructions-changed").after.as_str()),
        ("Search first.", "")
    );
    assert_eq!(text("description-changed").after, "Finds more.");
    assert!(found.is_sorted_by_key(|drift| drift.level), "{found:?}");
}

#[test]
fn a_snapshot_is_read_as_it_was_written_and_hides_nothing() {
    let mut odd = surface();
    odd.tools[0]["description"] = json!("a\nb\u{202e}\u{e0041}\r\n");
    odd.tools.push(json!({"name": "x", "description": ["no", "text"]}));
    odd.tools.push(json!({"name": "x", "description": {"value": 1}}));
    odd.prompts[0]["arguments"][0]["description"] = json!("one\ntwo");
    odd.unread.insert("tools/list".to_owned(), "more than 50 pages".to_owned());
    let snapshot = Snapshot { servers: [("a".to_owned(), odd.clone()), ("b\u{200b}".to_owned(), surface())].into() };
    let text = snapshot.render();
    assert!(text.contains("\\u202e\\udb40\\udc41\\r"), "{text}");
    assert!(!text.chars().any(|c| c != '\n' && crate::text::is_hidden(c)));
    let read = Snapshot::parse(text.as_bytes()).unwrap();
    assert_eq!(read.render(), text);
    assert_eq!(surface_drift(&odd, &read.servers["a"]), []);
    let mut shuffled = snapshot.clone();
    shuffled.servers.get_mut("a").unwrap().tools.reverse();
    assert_eq!(shuffled.render(), text, "the order of a listing is none of the file");
}

#[test]
fn hostile_schemas_and_listings_end_in_time() {
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"a": deep.clone(), "b": {"anyOf": [deep, {"type": "null"}]}}});
        if deep.to_string().len() > 200_000 {
            break;
        }
    }
    let recursive = |word: &str| {
        json!({
            "type": "object",
            "properties": { "x": { "$ref": "#/$defs/n" } },
            "$defs": { "n": {
                "type": "object", "description": word,
                "anyOf": [{ "$ref": "#/$defs/n" }, { "$ref": "#" }, { "properties": { "y": { "$ref": "#/$defs/n" } } }],
            } },
        })
    };
    let wide = |word: &str| {
        let names: Vec<String> = (0..3_000).map(|at| format!("{word}{at}")).collect();
        json!({ "type": "object", "properties": { "e": { "enum": names.clone() } }, "required": names })
    };
    let long = |count: usize| json!({ "anyOf": (0..count).map(|at| json!({"type": "object", "minProperties": at})).collect::<Vec<_>>() });
    let began = std::time::Instant::now();
    let mut other = deep.clone();
    other["properties"]["b"]["description"] = json!("x");
    other["properties"]["a"]["properties"]["b"] = json!({"type": "string"});
    for (old, new) in [(deep, other), (recursive("a"), recursive("b")), (wide("a"), wide("b")), (long(40), long(45))] {
        let found = tool(|tool| tool["inputSchema"] = old.clone());
        assert!(!found.is_empty());
        let (mut before, mut after) = (surface(), surface());
        before.tools[0]["inputSchema"] = old;
        after.tools[0]["inputSchema"] = new;
        let found = drift(&before.server_facts(), &after.server_facts());
        assert!(!found.is_empty() && found.len() <= 1_000, "{found:?}");
    }
    let many = |word: &str| {
        let tools = (0..5_000).map(|at| json!({"name": format!("t{at}"), "inputSchema": recursive(word)}));
        ServerSurface { tools: tools.collect(), ..surface() }
    };
    let found = drift(&many("a").server_facts(), &many("b").server_facts());
    assert_eq!(found.len(), 1_000);
    assert!(found[999].detail.ends_with("more changes"), "{:?}", found[999]);
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}
