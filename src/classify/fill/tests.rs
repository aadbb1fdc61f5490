use serde_json::json;

use super::*;
use crate::{classify::admits, model::EventRef};

fn tool(schema: Value) -> Tool {
    Tool { name: "t".into(), raw: json!({"name": "t", "inputSchema": schema}), listed_in: EventRef(0) }
}

#[test]
fn the_least_that_the_schema_accepts_is_filled_in() {
    let object =
        |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    for (schema, expected) in [
        (json!({"type": "object"}), json!({})),
        (object(json!({"a": {"type": "string"}, "b": {"type": "string"}}), json!(["a"])), json!({"a": TEXT})),
        (object(json!({"a": {"type": "string", "default": "d"}}), json!(["a"])), json!({"a": "d"})),
        (object(json!({"a": {"const": 7}}), json!(["a"])), json!({"a": 7})),
        (object(json!({"a": {"enum": ["x", "y"]}}), json!(["a"])), json!({"a": "x"})),
        (object(json!({"a": {"type": "string", "examples": ["e"]}}), json!(["a"])), json!({"a": "e"})),
        (object(json!({"a": {"type": "integer", "minimum": 5}}), json!(["a"])), json!({"a": 5})),
        (
            object(json!({"a": {"type": "integer", "exclusiveMinimum": 5, "multipleOf": 3}}), json!(["a"])),
            json!({"a": 6}),
        ),
        (object(json!({"a": {"type": "number", "maximum": -2}}), json!(["a"])), json!({"a": -2})),
        (object(json!({"pid": {"type": "number"}}), json!(["pid"])), json!({"pid": NO_PROCESS})),
        (
            object(json!({"a": {"type": "string", "format": "uri"}}), json!(["a"])),
            json!({"a": "https://sealmark-probe.invalid/"}),
        ),
        (object(json!({"a": {"type": "string", "minLength": 16}}), json!(["a"])), json!({"a": "sealmark-probese"})),
        (object(json!({"a": {"type": "string", "maxLength": 4}}), json!(["a"])), json!({"a": "seal"})),
        (object(json!({"a": {"type": "string", "pattern": "^[A-Z]{2}$"}}), json!(["a"])), json!(null)),
        (
            object(json!({"a": {"type": "string", "pattern": "^v\\d+\\.\\d+\\.\\d+$"}}), json!(["a"])),
            json!({"a": "v1.0.0"}),
        ),
        (object(json!({"a": {"type": "array", "items": {"type": "string"}}}), json!(["a"])), json!({"a": []})),
        (
            object(
                json!({"a": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}}),
                json!(["a"]),
            ),
            json!({"a": [TEXT, "sealmark-probe-1"]}),
        ),
        (object(json!({"a": {"type": ["null", "boolean"]}}), json!(["a"])), json!({"a": false})),
        (object(json!({"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}), json!(["a"])), json!({"a": 1})),
        (object(json!({"a": {"oneOf": [{"not": {}}, {"enum": ["y"]}]}}), json!(["a"])), json!({"a": "y"})),
        (
            object(
                json!({"p": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}),
                json!(["p"]),
            ),
            json!({"p": {"path": TEXT}}),
        ),
        (
            json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}}),
            json!({"n": 1}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"a": TEXT}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "dependentRequired": {"a": ["b"]}}),
            json!({"a": TEXT, "b": TEXT}),
        ),
        (json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "boolean"}}}), json!({"a": false})),
    ] {
        let filled = valid_arguments(&tool(schema.clone()));
        match expected {
            Value::Null => assert!(filled.is_err(), "{schema}: {filled:?}"),
            expected => assert_eq!(filled, Ok(expected), "{schema}"),
        }
    }
}

#[test]
fn what_cannot_be_filled_is_named() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "never": {"not": {}}}, "required": ["a", "never"]});
    assert_eq!(valid_arguments(&tool(schema)), Err("parameter `never` cannot be filled from its schema".to_owned()));
    assert!(valid_arguments(&tool(json!(true))).unwrap_err().contains("no input schema"));
    assert!(valid_arguments(&tool(json!({"type": "string"}))).unwrap_err().contains("whole schema"));
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
    assert!(valid_arguments(&tool(schema)).is_err());
    let doubling = json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]}}, "required": ["a"]});
    assert!(valid_arguments(&tool(doubling)).is_err());
}

#[test]
fn every_pinned_tool_can_be_filled() {
    for tool in super::super::listed::tools() {
        let arguments = valid_arguments(&tool).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        assert_ne!(admits(tool.input_schema().unwrap(), &arguments), Admits::No, "{}", tool.name);
    }
}
