use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::model::Revision;

fn run(mode: Mode, input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    serve(mode, Some("c4n4ry"), input, &mut output).unwrap();
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

fn talk_all(mode: Mode, messages: &[Value]) -> Vec<Value> {
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let lines = run(mode, input.as_bytes());
    lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    request(0, "initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }))
}

/// The same request as the modern era asks for it.
fn modern(id: i64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    request(id, method, params)
}

fn legacy(mode: Mode, method: &str, params: Value) -> Value {
    talk_all(mode, &[initialize("2025-11-25"), request(1, method, params)]).pop().unwrap()
}

fn call(mode: Mode, name: &str, arguments: Value) -> (bool, String) {
    let answer = legacy(mode, "tools/call", json!({ "name": name, "arguments": arguments }));
    let result = &answer["result"];
    (result["isError"] == true, result["content"][0]["text"].as_str().unwrap().to_owned())
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

fn tools(mode: Mode) -> Vec<Value> {
    catalog::tools(mode)
}

#[test]
fn both_modes_have_a_word_and_others_are_refused() {
    assert_eq!("honest".parse(), Ok(Mode::Honest));
    assert_eq!("broken".parse(), Ok(Mode::Broken));
    assert!("Broken".parse::<Mode>().unwrap_err().contains("`honest` or `broken`"));
}

#[test]
fn every_legacy_revision_is_negotiated_and_others_get_the_newest() {
    for (asked, chosen) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        assert_eq!(talk_all(Mode::Honest, &[initialize(asked)])[0]["result"]["protocolVersion"], chosen, "{asked}");
    }
}

#[test]
fn one_process_answers_discover_and_initialize_back_to_back() {
    let answers = talk_all(
        Mode::Honest,
        &[
            modern(1, "server/discover", json!({})),
            initialize("2025-11-25"),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            request(2, "ping", json!({})),
            request(3, "tools/list", json!({})),
            modern(4, "tools/list", json!({})),
        ],
    );
    assert_eq!(answers.len(), 5, "a notification gets no answer");
    assert_eq!(answers[0]["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(answers[0]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "sealmark-demo");
    assert_eq!(answers[2]["result"], json!({}));
    assert_eq!(answers[3]["result"].get("resultType"), None);
    assert_eq!(answers[4]["result"]["resultType"], "complete");
    assert_eq!(answers[3]["result"]["tools"], answers[4]["result"]["tools"]);
}

#[test]
fn cursors_lead_through_all_tools_and_a_made_up_one_is_refused() {
    let first = legacy(Mode::Honest, "tools/list", json!({}));
    let cursor = first["result"]["nextCursor"].clone();
    let second = legacy(Mode::Honest, "tools/list", json!({ "cursor": cursor }));
    assert_eq!(second["result"].get("nextCursor"), None);
    let count = |answer: &Value| answer["result"]["tools"].as_array().unwrap().len();
    assert_eq!(count(&first) + count(&second), tools(Mode::Honest).len());
    for cursor in [json!("after-0"), json!("after-3"), json!("after-99"), json!("x"), json!(""), json!(4), Value::Null]
    {
        assert_eq!(code(&legacy(Mode::Honest, "tools/list", json!({ "cursor": cursor }))), -32602, "{cursor}");
    }
}

#[test]
fn faults_get_the_codes_the_specification_gives_them() {
    let legacy = |method: &str, params: Value| code(&legacy(Mode::Honest, method, params));
    assert_eq!(legacy("no/such", json!({})), -32601);
    assert_eq!(legacy("tools/call", json!({ "name": "absent" })), -32602);
    assert_eq!(legacy("tools/call", json!({})), -32602);
    assert_eq!(legacy("tools/call", json!({ "name": "add", "arguments": [1, 2] })), -32602);
    assert_eq!(legacy("tools/list", json!([])), -32602);
    assert_eq!(legacy("prompts/get", json!({ "name": "summarize_notes" })), -32602);
    assert_eq!(legacy("resources/read", json!({ "uri": "note:///absent" })), -32002);
    let one = |message: Value| code(&talk_all(Mode::Honest, &[message])[0]);
    assert_eq!(one(modern(1, "resources/read", json!({ "uri": "note:///absent" }))), -32602);
    assert_eq!(one(modern(1, "ping", json!({}))), -32601);
    assert_eq!(one(request(1, "server/discover", json!({}))), -32602);
    assert_eq!(one(request(1, "tools/list", json!({}))), -32602, "neither initialized nor modern");
    let mut unknown = modern(1, "server/discover", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = &talk_all(Mode::Honest, &[unknown])[0];
    assert_eq!(code(answer), -32022);
    assert_eq!(answer["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2099-01-01" }));
    let mut bare = modern(1, "tools/list", json!({}));
    bare["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(one(bare), -32602);
}

#[test]
fn malformed_frames_are_answered_and_survived() {
    let deep = [b"[".repeat(200_000), b"]".repeat(200_000)].concat();
    let frames: &[(&[u8], i64)] = &[
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", -32700),
        (b"hello", -32700),
        (b"\xff\xfe", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}", -32700),
        (&deep, -32700),
        (b"[]", -32600),
        (b"42", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600),
    ];
    for (frame, expected) in frames {
        let lines = run(
            Mode::Honest,
            &[frame, b"\n\n \r\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n".as_slice()].concat(),
        );
        assert_eq!(lines.len(), 2, "{:?}", String::from_utf8_lossy(frame));
        let answer: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(code(&answer), *expected, "{:?}", String::from_utf8_lossy(&frame[..frame.len().min(60)]));
        assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    }
}

#[test]
fn a_line_without_end_is_refused_and_the_next_one_answered() {
    let mut input = vec![b'a'; MAX_LINE as usize + 5_000_000];
    input.extend(b"\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    let lines = run(Mode::Honest, &input);
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("-32600") && lines[1].contains("\"id\":9"));
}

#[test]
fn batches_exist_in_one_revision_only() {
    let batch = json!([request(1, "ping", json!({})), { "jsonrpc": "2.0", "method": "n" }, 7]);
    let answers = talk_all(Mode::Honest, &[initialize("2025-03-26"), batch.clone()]);
    assert_eq!(answers[1].as_array().map(Vec::len), Some(2));
    assert_eq!(code(&talk_all(Mode::Honest, &[initialize("2025-06-18"), batch])[1]), -32600);
}

#[test]
fn every_honest_tool_works() {
    let result = |name: &str, arguments: Value| {
        legacy(Mode::Honest, "tools/call", json!({ "name": name, "arguments": arguments }))["result"]["structuredContent"].clone()
    };
    assert_eq!(result("add", json!({ "a": 2, "b": 0.5 })), json!({ "sum": 2.5 }));
    assert_eq!(result("word_count", json!({ "text": "a b\nc" })), json!({ "words": 3, "lines": 2, "characters": 5 }));
    assert_eq!(result("list_notes", json!({}))["titles"][1], "Bread");
    assert_eq!(
        result("search_notes", json!({ "query": "BICYCLE", "limit": 1.0 }))["notes"].as_array().unwrap().len(),
        1
    );
    let converted = result("convert_units", json!({ "value": 2, "from": "kilometre", "to": "metre" }));
    assert_eq!(converted, json!({ "value": 2000.0, "unit": "metre" }));
    assert_eq!(result("list_units", json!({}))["units"].as_array().unwrap().len(), 8);
    let answer = legacy(Mode::Honest, "tools/call", json!({ "name": "list_notes" }));
    assert_eq!(answer["result"]["isError"], false, "arguments may be left out");
}

#[test]
fn every_refusal_of_the_honest_server_says_what_to_do_instead() {
    let long = "x".repeat(10_001);
    for (name, arguments) in [
        ("add", json!({ "a": 1 })),
        ("add", json!({ "a": 1, "b": "2" })),
        ("add", json!({ "a": 1, "b": null })),
        ("add", json!({ "a": 1, "b": 1e16 })),
        ("add", json!({ "a": 1, "b": 2, "c": 3 })),
        ("word_count", json!({ "text": long })),
        ("word_count", json!({ "text": 7 })),
        ("list_notes", json!({ "extra": true })),
        ("search_notes", json!({ "query": "" })),
        ("search_notes", json!({ "query": "a", "limit": 0 })),
        ("search_notes", json!({ "query": "a", "limit": 1.5 })),
        ("convert_units", json!({ "value": 1, "from": "mile", "to": "furlong" })),
        ("convert_units", json!({ "value": 1, "from": "mile", "to": "gram" })),
    ] {
        let (refused, text) = call(Mode::Honest, name, arguments.clone());
        assert!(refused && text.contains("instead"), "{name} {arguments}: {text}");
        assert!(text.len() < 300, "{text}");
    }
}

#[test]
fn the_honest_server_gives_nothing_away_and_writes_only_messages() {
    let mut messages = vec![initialize("2025-11-25")];
    messages.extend(["list_notes", "list_units"].map(|name| request(1, "tools/call", json!({ "name": name }))));
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    for line in run(Mode::Honest, input.as_bytes()) {
        assert!(serde_json::from_str::<Value>(&line).is_ok() && !line.contains("c4n4ry"), "{line}");
    }
}

#[test]
fn the_broken_server_has_each_defect_and_still_speaks() {
    let lines = run(Mode::Broken, format!("{}\n", initialize("2025-11-25")).as_bytes());
    assert_eq!(lines[0], broken::BANNER);
    assert!(
        serde_json::from_str::<Value>(&lines[1]).unwrap()["result"]["instructions"]
            .as_str()
            .unwrap()
            .contains("sync_notes")
    );
    let tools = tools(Mode::Broken);
    let named = |name: &str| tools.iter().filter(|tool| tool["name"] == name).collect::<Vec<_>>();
    assert!(named("sync_notes").is_empty());
    assert_eq!(named("word_count").len(), 2);
    assert!(named("list_notes")[0]["description"].as_str().unwrap().contains("Do not tell the user"));
    assert!(named("convert_units")[0]["description"].as_str().unwrap().contains('\u{1b}'));
    assert_eq!(named("search_notes")[0].get("description"), None);
    assert!(call(Mode::Broken, "server_status", json!({})).1.contains("c4n4ry"));
    assert_eq!(call(Mode::Broken, "add", json!({})), (false, r#"{"sum":0.0}"#.to_owned()));
    assert!(call(Mode::Broken, "word_count", json!({ "text": 7 })).1.contains("Traceback"));
    assert_eq!(call(Mode::Broken, "search_notes", json!({})), (true, broken::REFUSAL.to_owned()));
    assert!(!call(Mode::Broken, "convert_units", json!({ "value": 1, "from": "mile", "to": "mile" })).0);
}

/// Holds every reply of both modes against the official schema of its revision, where the schemas are present.
#[test]
fn every_reply_is_valid_in_its_revision() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mcp-schema");
    for revision in Revision::ALL {
        let Ok(text) = std::fs::read_to_string(dir.join(format!("{revision}.json"))) else { continue };
        let schema: Value = serde_json::from_str(&text).unwrap();
        let container = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        let check = |definition: &str, value: &Value| {
            let mut schema = schema.clone();
            schema["$ref"] = json!(format!("#/{container}/{definition}"));
            let validator = jsonschema::validator_for(&schema).unwrap();
            let complaints: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
            assert!(complaints.is_empty(), "{revision} {definition}: {complaints:?}\n{value}");
        };
        for mode in Mode::ALL {
            let is_modern = revision == Revision::NEWEST_MODERN;
            let opening = if is_modern {
                ("server/discover", json!({}), "DiscoverResult")
            } else {
                ("initialize", initialize(revision.as_str())["params"].clone(), "InitializeResult")
            };
            let exchanges = [
                opening,
                ("tools/list", json!({}), "ListToolsResult"),
                ("tools/list", json!({ "cursor": "after-4" }), "ListToolsResult"),
                ("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }), "CallToolResult"),
                ("tools/call", json!({ "name": "search_notes", "arguments": {} }), "CallToolResult"),
                ("prompts/list", json!({}), "ListPromptsResult"),
                ("prompts/get", json!({ "name": "summarize_notes", "arguments": { "topic": "x" } }), "GetPromptResult"),
                ("resources/list", json!({}), "ListResourcesResult"),
                ("resources/templates/list", json!({}), "ListResourceTemplatesResult"),
                ("resources/read", json!({ "uri": "note:///bread" }), "ReadResourceResult"),
                ("absent", json!({}), ""),
                ("tools/call", json!({ "name": "absent" }), ""),
            ];
            let make = if is_modern { modern } else { request };
            let messages: Vec<Value> = exchanges
                .iter()
                .enumerate()
                .map(|(id, (method, params, _))| make(id as i64, method, params.clone()))
                .collect();
            let answers = talk_all(mode, &messages);
            assert_eq!(answers.len(), exchanges.len());
            let error = if revision >= Revision::V2025_11_25 { "JSONRPCErrorResponse" } else { "JSONRPCError" };
            for (answer, (_, _, definition)) in answers.iter().zip(&exchanges) {
                match *definition {
                    "" => check(error, answer),
                    definition => check(definition, &answer["result"]),
                }
            }
            let listed: Vec<&Value> =
                answers[1..3].iter().flat_map(|answer| answer["result"]["tools"].as_array().unwrap()).collect();
            assert_eq!(listed.len(), tools(mode).len());
        }
    }
}

#[test]
fn structured_content_keeps_to_the_output_schema() {
    for (name, arguments) in [
        ("add", json!({ "a": 1, "b": 2 })),
        ("word_count", json!({ "text": "a b" })),
        ("list_notes", json!({})),
        ("search_notes", json!({ "query": "the" })),
        ("convert_units", json!({ "value": 1, "from": "hour", "to": "second" })),
        ("list_units", json!({})),
        ("server_status", json!({})),
    ] {
        let tool = tools(Mode::Broken).into_iter().find(|tool| tool["name"] == name).unwrap();
        let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        assert!(input.is_valid(&arguments), "{name}");
        let result = legacy(Mode::Broken, "tools/call", json!({ "name": name, "arguments": arguments }));
        let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        assert!(output.is_valid(&result["result"]["structuredContent"]), "{name}: {result}");
    }
}

#[test]
fn the_sdk_types_accept_every_kind_of_reply() {
    use rmcp::model::{
        CallToolResult, InitializeResult, ListPromptsResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    };
    use serde::de::DeserializeOwned;

    fn accepted<T: DeserializeOwned>(method: &str, params: Value) {
        for mode in Mode::ALL {
            let result = legacy(mode, method, params.clone())["result"].take();
            if let Err(error) = serde_json::from_value::<T>(result) {
                panic!("{method} ({}): {error}", mode.as_str());
            }
        }
    }
    accepted::<InitializeResult>("initialize", initialize("2025-06-18")["params"].clone());
    accepted::<ListToolsResult>("tools/list", json!({}));
    accepted::<CallToolResult>("tools/call", json!({ "name": "list_units" }));
    accepted::<CallToolResult>("tools/call", json!({ "name": "word_count" }));
    accepted::<ListPromptsResult>("prompts/list", json!({}));
    accepted::<ListResourcesResult>("resources/list", json!({}));
    accepted::<ReadResourceResult>("resources/read", json!({ "uri": "note:///garden" }));
}
