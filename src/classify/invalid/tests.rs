use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::{classify::admits, model::EventRef};

fn tool(raw: Value) -> Tool {
    Tool { name: raw["name"].as_str().unwrap_or("t").to_owned(), raw, listed_in: EventRef(0) }
}

fn variants(tool: &Tool) -> Vec<String> {
    invalid_calls(tool).into_iter().map(|call| call.variant).collect()
}

#[test]
fn each_fault_has_its_call() {
    let tool = tool(json!({"name": "read_x", "inputSchema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 10},
            "mode": {"enum": ["a", "b"], "type": "string"},
            "depth": {"type": "integer", "minimum": 1, "maximum": 5},
            "deep": {"type": "boolean"}
        },
        "required": ["path"],
        "additionalProperties": false
    }}));
    let calls = invalid_calls(&tool);
    let shown: Vec<String> = calls.iter().map(|call| format!("{} {}", call.variant, call.arguments)).collect();
    assert_eq!(
        shown,
        [
            r#"missing:path {}"#,
            r#"wrong-type:path {"path":4242}"#,
            r#"wrong-type:mode {"path":"sealmark-p","mode":4242}"#,
            r#"wrong-type:depth {"path":"sealmark-p","depth":"sealmark-probe"}"#,
            r#"wrong-type:deep {"path":"sealmark-p","deep":"sealmark-probe"}"#,
            r#"null:path {"path":null}"#,
            r#"null:mode {"path":"sealmark-p","mode":null}"#,
            r#"null:depth {"path":"sealmark-p","depth":null}"#,
            r#"null:deep {"path":"sealmark-p","deep":null}"#,
            r#"unknown-key {"path":"sealmark-p","sealmark_probe":"sealmark-probe"}"#,
            r#"out-of-range:depth {"path":"sealmark-p","depth":0}"#,
            r#"not-in-enum:mode {"path":"sealmark-p","mode":"sealmark-probe"}"#,
            r#"too-short:path {"path":""}"#,
            r#"too-long:path {"path":"sssssssssss"}"#,
            r#"arguments-array ["sealmark-probe"]"#,
            r#"arguments-string "sealmark-probe""#,
        ]
    );
}

#[test]
fn what_the_schema_accepts_is_not_sent() {
    let open = tool(json!({"inputSchema": {"type": "object"}}));
    assert_eq!(variants(&open), ["arguments-array", "arguments-string"]);
    let loose = tool(
        json!({"inputSchema": {"type": "object", "properties": {"a": {}, "b": {"type": ["string", "number", "boolean", "null", "array", "object"]}, "c": {"type": ["string", "null"]}}}}),
    );
    assert_eq!(variants(&loose), ["wrong-type:c", "arguments-array", "arguments-string"]);
    assert_eq!(variants(&tool(json!({}))), ["arguments-array", "arguments-string"]);
}

#[test]
fn one_level_inside_an_object_parameter_is_tried_too() {
    let nested = tool(
        json!({"inputSchema": {"type": "object", "required": ["params"], "properties": {"params": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "object", "required": ["path"], "additionalProperties": false, "properties": {"path": {"type": "string"}}}}}}),
    );
    let calls = invalid_calls(&nested);
    let missing = calls.iter().find(|call| call.variant == "missing:params.path").unwrap();
    assert_eq!(missing.arguments, json!({"params": {}}));
    let extra = calls.iter().find(|call| call.variant == "unknown-key:params.sealmark_probe").unwrap();
    assert_eq!(extra.arguments, json!({"params": {"path": "sealmark-probe", "sealmark_probe": "sealmark-probe"}}));
    assert!(calls.iter().any(|call| call.variant == "missing:params"));
}

#[test]
fn a_tool_that_acts_on_the_world_gets_no_call_that_is_complete_but_for_its_fault() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}, "labels": {"type": "array"}}, "required": ["title"], "additionalProperties": false});
    let world = tool(json!({"annotations": {"openWorldHint": true}, "inputSchema": schema}));
    assert_eq!(
        variants(&world),
        ["missing:title", "wrong-type:title", "null:title", "arguments-array", "arguments-string"]
    );
    let reader = tool(json!({"annotations": {"openWorldHint": true, "readOnlyHint": true}, "inputSchema": schema}));
    assert!(variants(&reader).contains(&"unknown-key".to_owned()));
    let nothing_asked = tool(
        json!({"annotations": {"openWorldHint": true}, "inputSchema": {"type": "object", "additionalProperties": false}}),
    );
    assert_eq!(variants(&nothing_asked), Vec::<String>::new());
}

#[test]
fn an_empty_text_is_not_sent_to_a_tool_that_may_write() {
    let schema =
        json!({"type": "object", "properties": {"dir": {"type": "string", "minLength": 1}}, "required": ["dir"]});
    assert!(
        !variants(&tool(json!({"name": "delete_dir", "inputSchema": schema}))).contains(&"too-short:dir".to_owned())
    );
    assert!(variants(&tool(json!({"name": "list_dir", "inputSchema": schema}))).contains(&"too-short:dir".to_owned()));
}

#[test]
fn every_call_to_a_pinned_tool_is_surely_refused_and_the_list_is_bounded_and_stable() {
    for tool in super::super::listed::tools() {
        let calls = invalid_calls(&tool);
        assert!(!calls.is_empty() || tool.hint("openWorldHint") == Some(true), "{}", tool.name);
        assert!(calls.len() <= MAX_CALLS);
        assert_eq!(calls, invalid_calls(&tool));
        for call in &calls {
            if call.arguments.is_object() {
                assert_eq!(
                    admits(tool.input_schema().unwrap(), &call.arguments),
                    Admits::No,
                    "{} {}",
                    tool.name,
                    call.variant
                );
            }
        }
    }
}

#[test]
fn a_tool_with_a_thousand_parameters_is_cut_with_every_kind_left() {
    let properties: Map<String, Value> =
        (0..1000).map(|at| (format!("p{at}"), json!({"type": "integer", "minimum": 1}))).collect();
    let names: Vec<&String> = properties.keys().collect();
    let big = tool(
        json!({"inputSchema": {"type": "object", "properties": properties, "required": names, "additionalProperties": false}}),
    );
    let started = Instant::now();
    let variants = variants(&big);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(variants.len(), MAX_CALLS);
    for kind in ["missing", "wrong-type", "null", "arguments-array"] {
        assert!(variants.iter().any(|variant| variant.starts_with(kind)), "{kind}");
    }
}
