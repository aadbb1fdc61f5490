//! The official schema files are the oracle of our own structural schema: same verdict for every message and mutant.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use sealmark::{
    model::{Era, Revision, Revision::*},
    session::schema::{complaints, error_complaints},
};
use serde_json::{Value, json};

/// Where the published files say something that we do not repeat: revision, pointer, what stands there, what we hold
/// instead, why. The oracle is amended with these; a test says so when a file no longer needs one.
fn errata() -> Vec<(Revision, &'static str, Value, Value, &'static str)> {
    vec![(
        V2026_07_28,
        "/$defs/JSONValue/anyOf/2",
        json!({"type": ["string", "integer", "boolean"]}),
        json!({"type": ["string", "number", "boolean", "null"]}),
        "generated from `string | number | boolean | null`: null and fractions are JSON values",
    )]
}

// Two more choices, both where the files leave the question open:
// - `format` is an annotation (JSON Schema's default since 2019-09), also for the two draft-07 revisions and 2025-06-18.
// - A modern tools/call result is `anyOf [InputRequiredResult, CallToolResult]`; the first accepts anything with a
//   `resultType`, so `resultType: "input_required"` chooses, as the specification's prose says.

struct Oracle {
    revision: Revision,
    document: Value,
}

impl Oracle {
    fn new(revision: Revision) -> Self {
        let path = format!("{}/tests/data/mcp-schema/{revision}.json", env!("CARGO_MANIFEST_DIR"));
        let mut document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for (of, at, published, ours, why) in errata() {
            if of == revision {
                let place = document.pointer_mut(at).unwrap();
                assert_eq!(*place, published, "no longer in {revision}: {why}");
                *place = ours;
            }
        }
        Self { revision, document }
    }

    fn container(&self) -> &'static str {
        if self.document.get("$defs").is_some() { "$defs" } else { "definitions" }
    }

    fn validator(&self, definition: &str) -> jsonschema::Validator {
        let mut document = self.document.clone();
        document["$ref"] = Value::from(format!("#/{}/{definition}", self.container()));
        jsonschema::options().should_validate_formats(false).build(&document).unwrap()
    }

    /// Every member name the schema knows: the words to surprise ours with.
    fn names(&self) -> BTreeSet<String> {
        fn gather(value: &Value, names: &mut BTreeSet<String>) {
            match value {
                Value::Object(map) => map.iter().for_each(|(key, value)| {
                    if let ("properties", Some(members)) = (key.as_str(), value.as_object()) {
                        names.extend(members.keys().cloned());
                    }
                    gather(value, names);
                }),
                Value::Array(items) => items.iter().for_each(|item| gather(item, names)),
                _ => {}
            }
        }
        let mut names = BTreeSet::new();
        gather(&self.document, &mut names);
        names
    }

    fn definition(&self, method: &str, message: &Value) -> &'static str {
        let modern = self.revision.era() == Era::Modern;
        match method {
            "initialize" if !modern => "InitializeResult",
            "server/discover" if modern => "DiscoverResult",
            "tools/list" => "ListToolsResult",
            "tools/call" if modern && message.get("resultType") == Some(&json!("input_required")) => {
                "InputRequiredResult"
            }
            "tools/call" => "CallToolResult",
            "prompts/list" => "ListPromptsResult",
            "resources/list" => "ListResourcesResult",
            "resources/templates/list" => "ListResourceTemplatesResult",
            _ => "EmptyResult",
        }
    }
}

/// A valid message: its method, the revisions it is valid in, and itself.
struct Sample(&'static str, &'static [Revision], Value);

const LEGACY: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
const MODERN: &[Revision] = &[V2026_07_28];
const NONE: &[Revision] = &[];

/// The members every modern listing and discover result has; older revisions do not mind them.
fn cached(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(60_000);
    result["cacheScope"] = json!("private");
    result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": implementation()});
    result
}

fn implementation() -> Value {
    json!({"name": "n", "version": "", "title": "t", "description": "d", "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}]})
}

fn capabilities() -> Value {
    json!({"tools": {"listChanged": true}, "prompts": {"listChanged": false}, "logging": {}, "completions": {},
        "resources": {"listChanged": true, "subscribe": true}, "experimental": {"x": {"y": 1.5}},
        "extensions": {"io.modelcontextprotocol/tasks": {"z": null}}, "sampling": {},
        "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}})
}

/// Of server-everything, server-time, a server whose schemas lost their type, and one with everything.
fn tools() -> Value {
    json!([
        {"name": "get-structured-content", "title": "Get Structured Content Tool", "description": "Returns content",
         "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"location": {"type": "string", "enum": ["New York"]}}, "required": ["location"]},
         "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
         "execution": {"taskSupport": "forbidden"},
         "outputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"temperature": {"type": "number"}}, "required": ["temperature"], "additionalProperties": false}},
        {"name": "get_current_time", "inputSchema": {"type": "object", "title": "get_current_timeArguments"},
         "annotations": {"title": "Now"}, "_meta": {"fastmcp": {"tags": []}},
         "icons": [{"src": "data:image/png;base64,AA=="}]}
    ])
}

fn blocks() -> Vec<Value> {
    let hints = json!({"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"});
    vec![
        json!({"type": "text", "text": "t", "annotations": hints, "_meta": {}}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": hints, "_meta": {}}),
        json!({"type": "resource", "annotations": hints, "_meta": {},
            "resource": {"uri": "file:///a", "text": "t", "mimeType": "text/plain", "_meta": {}}}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}}),
        json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav", "annotations": hints, "_meta": {}}),
        json!({"type": "resource_link", "uri": "file:///a", "name": "a", "title": "t", "description": "d", "size": 3,
            "mimeType": "text/plain", "annotations": hints, "_meta": {}, "icons": [{"src": "https://example.com"}]}),
    ]
}

fn fields() -> Value {
    json!({
        "s": {"type": "string", "title": "t", "description": "d", "default": "x", "format": "email", "minLength": 1,
            "maxLength": 9},
        "n": {"type": "number", "title": "t", "description": "d", "default": 0.5, "minimum": 0.1, "maximum": 1},
        "i": {"type": "integer"},
        "b": {"type": "boolean", "default": true, "title": "t"},
        "e": {"type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a"},
        "o": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        "m": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2, "default": ["a"]},
        "t": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "title": "t"},
    })
}

fn corpus() -> Vec<Sample> {
    let all = &Revision::ALL;
    let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities(), "instructions": "i",
        "serverInfo": implementation(), "_meta": {"io.modelcontextprotocol/serverInfo": implementation()}});
    let discover = cached(
        json!({"supportedVersions": ["2025-11-25", "2026-07-28"], "capabilities": capabilities(), "instructions": "i"}),
    );
    let resource = json!({"uri": "file:///a", "name": "a", "title": "t", "description": "d", "mimeType": "text/plain",
        "size": 3, "annotations": {"audience": ["user"], "priority": 1, "lastModified": "x"}, "_meta": {},
        "icons": [{"src": "https://example.com"}]});
    let mut template = resource.clone();
    template["uriTemplate"] = json!("file:///{path}");
    let prompt = json!({"name": "p", "title": "t", "description": "d", "_meta": {}, "icons": [{"src": "x"}],
        "arguments": [{"name": "a", "title": "t", "description": "d", "required": true}]});
    let mut samples = vec![
        Sample("initialize", all, cached(initialize)),
        Sample(
            "initialize",
            LEGACY,
            json!({"protocolVersion": "2024-11-05", "capabilities":
            {"tools": {"curl": {"description": "Make a request", "inputSchema": {}}}},
            "serverInfo": {"name": "@mcp-get-community/server-curl", "version": "0.1.0", "author": "MCP Community"}}),
        ),
        Sample("server/discover", all, discover),
        Sample("ping", LEGACY, json!({})),
        Sample("ping", all, json!({"resultType": "complete", "_meta": {}, "more": 1})),
        Sample("tools/list", all, cached(json!({"tools": tools(), "nextCursor": "2"}))),
        Sample("tools/list", LEGACY, json!({"tools": []})),
        Sample(
            "tools/list",
            NONE,
            json!({"tools": [{"name": "read_file", "description": "Read",
            "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}]}),
        ),
        Sample("prompts/list", all, cached(json!({"prompts": [prompt, {"name": "q"}], "nextCursor": ""}))),
        Sample("resources/list", all, cached(json!({"resources": [resource], "nextCursor": "x"}))),
        Sample("resources/templates/list", all, cached(json!({"resourceTemplates": [template], "nextCursor": "x"}))),
        Sample("tools/call", LEGACY, json!({"content": [{"type": "text", "text": "t"}], "isError": true})),
        Sample(
            "tools/call",
            all,
            json!({"content": [], "isError": false, "resultType": "complete",
            "structuredContent": {"a": [1, null]}, "_meta": {}}),
        ),
        Sample("tools/call", MODERN, json!({"content": [], "resultType": "complete", "structuredContent": [1]})),
        Sample("tools/call", MODERN, json!({"resultType": "input_required", "requestState": "s"})),
        Sample(
            "tools/call",
            MODERN,
            json!({"resultType": "input_required", "inputRequests": {
            "a": {"method": "elicitation/create", "params": {"message": "m", "mode": "form", "requestedSchema":
                {"type": "object", "properties": fields(), "required": ["s"], "$schema": "x"}}},
            "b": {"method": "elicitation/create", "params": {"message": "m", "mode": "url", "url": "https://example.com"}},
            "c": {"method": "roots/list", "params": {"_meta": {}}},
            "d": {"method": "roots/list"}}}),
        ),
        Sample(
            "tools/call",
            MODERN,
            json!({"resultType": "input_required", "inputRequests": {
            "a": {"method": "sampling/createMessage", "params": {"maxTokens": 10, "temperature": 0.5, "systemPrompt": "s",
                "includeContext": "none", "metadata": {"a": 1}, "stopSequences": ["x"], "toolChoice": {"mode": "auto"},
                "modelPreferences": {"costPriority": 0, "speedPriority": 1, "intelligencePriority": 0.5,
                    "hints": [{"name": "n"}]},
                "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
                "messages": [
                    {"role": "user", "content": {"type": "text", "text": "t"}},
                    {"role": "assistant", "_meta": {}, "content": [
                        {"type": "tool_use", "id": "1", "name": "t", "input": {}},
                        {"type": "tool_result", "toolUseId": "1", "isError": false, "structuredContent": null,
                            "content": [{"type": "audio", "data": "", "mimeType": "audio/wav"}]}]}]}}}}),
        ),
    ];
    let newer = [all, all, all, all, &all[1..], &all[2..]];
    for (block, revisions) in blocks().into_iter().zip(newer) {
        samples.push(Sample("tools/call", revisions, json!({"content": [block], "resultType": "complete"})));
    }
    samples
}

/// What is put in the place of every value.
fn intruders() -> Vec<Value> {
    let nested = json!({"a": {"b": [{}]}});
    let mut all = vec![json!(null), json!(true), json!(0), json!(-1), json!(2.0), json!(0.5), json!(1e300), nested];
    all.extend(["", "text", "object", "user", "public", "input_required", "resource_link", "audio"].map(Value::from));
    all.extend([json!([]), json!({}), json!(["x"]), json!([1]), json!({"x": 1}), json!({"type": "object"})]);
    all
}

/// Every message that differs from `message` in one place.
fn mutants(message: &Value, names: &BTreeSet<String>, mut each: impl FnMut(String, &Value)) {
    let mut places = Vec::new();
    gather_places(message, String::new(), &mut places);
    for place in &places {
        for intruder in intruders() {
            let mut mutant = message.clone();
            *mutant.pointer_mut(place).unwrap() = intruder.clone();
            each(format!("{place} = {intruder}"), &mutant);
        }
        match message.pointer(place).unwrap() {
            Value::Object(members) => {
                for name in members.keys() {
                    let mut mutant = message.clone();
                    mutant.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(name);
                    each(format!("{place} without {name}"), &mutant);
                }
                for name in names.iter().filter(|name| !members.contains_key(*name)) {
                    for intruder in [json!(null), json!("x"), json!({"x": [0.5]})] {
                        let mut mutant = message.clone();
                        mutant.pointer_mut(place).unwrap()[name] = intruder.clone();
                        each(format!("{place} with {name}: {intruder}"), &mutant);
                    }
                }
            }
            Value::Array(_) => {
                for intruder in intruders() {
                    let mut mutant = message.clone();
                    mutant.pointer_mut(place).unwrap().as_array_mut().unwrap().push(intruder.clone());
                    each(format!("{place} followed by {intruder}"), &mutant);
                }
            }
            _ => {}
        }
    }
}

fn gather_places(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                gather_places(value, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                gather_places(value, format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}

/// Compares ours with the oracle on every sample and mutant of one revision; gives how many were compared.
fn compare(revision: Revision) -> usize {
    let oracle = Oracle::new(revision);
    let names = oracle.names();
    let mut validators = std::collections::HashMap::new();
    let mut compared = 0;
    let mut differences = Vec::new();
    for Sample(method, valid_in, message) in corpus() {
        let mut check = |what: String, message: &Value| {
            let definition = oracle.definition(method, message);
            let validator = validators.entry(definition).or_insert_with(|| oracle.validator(definition));
            let ours = complaints(revision, method, message);
            if validator.is_valid(message) != ours.is_empty() {
                let theirs: Vec<_> = validator.iter_errors(message).map(|error| error.to_string()).collect();
                differences.push(format!("{method} {what}\n  ours {ours:?}\n  theirs {theirs:?}\n  of {message}"));
            }
            compared += 1;
        };
        check("as it is".to_owned(), &message);
        mutants(&message, &names, &mut check);
        if valid_in.contains(&revision) {
            assert_eq!(
                complaints(revision, method, &message),
                Vec::<String>::new(),
                "{method} in {revision}: {message}"
            );
        }
    }
    let shown = differences.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} of {compared} differ in {revision}:\n{shown}", differences.len());
    compared
}

#[test]
fn ours_and_the_schema_of_2024_11_05_agree_on_every_mutant() {
    assert!(compare(V2024_11_05) > 20_000);
}

#[test]
fn ours_and_the_schema_of_2025_03_26_agree_on_every_mutant() {
    assert!(compare(V2025_03_26) > 20_000);
}

#[test]
fn ours_and_the_schema_of_2025_06_18_agree_on_every_mutant() {
    assert!(compare(V2025_06_18) > 20_000);
}

#[test]
fn ours_and_the_schema_of_2025_11_25_agree_on_every_mutant() {
    assert!(compare(V2025_11_25) > 20_000);
}

#[test]
fn ours_and_the_schema_of_2026_07_28_agree_on_every_mutant() {
    assert!(compare(V2026_07_28) > 20_000);
}

#[test]
fn errors_are_judged_as_the_schemas_judge_them() {
    for revision in Revision::ALL {
        let oracle = Oracle::new(revision);
        let definition = if oracle.container() == "$defs" { "JSONRPCErrorResponse" } else { "JSONRPCError" };
        let validator = oracle.validator(definition);
        let error = json!({"code": -32602, "message": "Invalid params", "data": {"a": [1]}});
        let check = |what: String, error: &Value| {
            let frame = json!({"jsonrpc": "2.0", "id": 1, "error": error});
            let ours = error_complaints(revision, error);
            assert_eq!(ours.is_empty(), validator.is_valid(&frame), "{what}: {ours:?}");
        };
        check("as it is".to_owned(), &error);
        mutants(&error, &oracle.names(), check);
    }
}
