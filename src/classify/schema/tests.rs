use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

#[test]
fn each_keyword_decides_what_is_certain() {
    use Admits::{No, Unsure, Yes};
    for (schema, instance, expected) in [
        (json!(true), json!(1), Yes),
        (json!(false), json!(1), No),
        (json!({}), json!({"a": 1}), Yes),
        (json!({"type": "string"}), json!(4242), No),
        (json!({"type": ["string", "null"]}), json!(null), Yes),
        (json!({"type": "integer"}), json!(1.0), Yes),
        (json!({"type": "integer"}), json!(1.5), No),
        (json!({"type": "thing"}), json!(1), Unsure),
        (json!({"type": "string", "nullable": true}), json!(null), Unsure),
        (json!({"enum": ["a", 1]}), json!("b"), No),
        (json!({"const": 1}), json!(1.0), Yes),
        (json!({"required": ["a"]}), json!({}), No),
        (json!({"required": ["a"]}), json!([]), Yes),
        (json!({"properties": {"a": {"type": "string"}}}), json!({"a": 1}), No),
        (json!({"properties": {"a": {}}, "additionalProperties": false}), json!({"b": 1}), No),
        (
            json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}),
            json!({"x-a": "s"}),
            Yes,
        ),
        (json!({"patternProperties": {"^x-": {"type": "string"}}}), json!({"x-a": 1}), No),
        (json!({"patternProperties": {"(?<n>x)": {}}, "additionalProperties": false}), json!({"y": 1}), Unsure),
        (json!({"unevaluatedProperties": false, "properties": {"a": {}}}), json!({"b": 1}), No),
        (json!({"unevaluatedProperties": false, "anyOf": [{"properties": {"a": {}}}]}), json!({"a": 1}), Unsure),
        (json!({"$schema": DRAFT_07, "unevaluatedProperties": false}), json!({"b": 1}), Unsure),
        (json!({"propertyNames": {"maxLength": 1}}), json!({"ab": 1}), No),
        (json!({"minProperties": 1}), json!({}), No),
        (json!({"maxProperties": 0}), json!({"a": 1}), No),
        (json!({"items": {"type": "string"}}), json!(["a", 1]), No),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["a", 1]), No),
        (json!({"$schema": DRAFT_07, "items": [{"type": "string"}], "additionalItems": false}), json!(["a", 1]), No),
        (json!({"items": [{"type": "string"}]}), json!([1]), Unsure),
        (json!({"contains": {"type": "string"}}), json!([1]), No),
        (json!({"contains": {"type": "string"}, "minContains": 0}), json!([1]), Yes),
        (json!({"uniqueItems": true}), json!([1, 1.0]), No),
        (json!({"minItems": 2}), json!([1]), No),
        (json!({"minimum": 1}), json!(0), No),
        (json!({"maximum": 1}), json!(1), Yes),
        (json!({"exclusiveMinimum": 1}), json!(1), No),
        (json!({"exclusiveMaximum": true, "maximum": 3}), json!(3), Unsure),
        (json!({"multipleOf": 2}), json!(3), No),
        (json!({"multipleOf": 0.1}), json!(0.3), Unsure),
        (json!({"maxLength": 2}), json!("äöü"), No),
        (json!({"maxLength": 3}), json!("äöü"), Yes),
        (json!({"pattern": "^[a-z]+$"}), json!("A"), No),
        (json!({"pattern": "^(?=a)a$"}), json!("a"), Unsure),
        (json!({"pattern": "^.$"}), json!("\u{2028}"), Unsure),
        (json!({"format": "uri"}), json!("nonsense"), Unsure),
        (json!({"format": "uri"}), json!("https://a.invalid/"), Yes),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), json!(""), No),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!(1), No),
        (json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}), json!("a"), No),
        (json!({"oneOf": [{"type": "string"}, {"format": "x"}]}), json!("a"), Unsure),
        (json!({"not": {"type": "string"}}), json!("a"), No),
        (json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": false}), json!(1), No),
        (json!({"if": {"format": "x"}, "then": {"minLength": 1}}), json!("a"), Yes),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), No),
        (json!({"$schema": DRAFT_07, "dependencies": {"a": ["b"]}}), json!({"a": 1}), No),
        (json!({"dependencies": {"a": ["b"]}}), json!({"a": 1}), Unsure),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), json!({"a": 1}), No),
        (json!({"$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}), json!(1), No),
        (json!({"$ref": "#/definitions/s", "definitions": {"s": {"type": "string"}}}), json!("a"), Yes),
        (json!({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}), json!({"a": {}}), No),
        (json!({"$ref": "https://elsewhere.invalid/s"}), json!(1), Unsure),
        (json!({"$ref": "#here", "$defs": {"s": {"$anchor": "here", "type": "string"}}}), json!(1), Unsure),
        (json!({"$dynamicRef": "#x"}), json!(1), Unsure),
        (
            json!({"$schema": DRAFT_07, "$ref": "#/definitions/s", "type": "null", "definitions": {"s": {"type": "string"}}}),
            json!("a"),
            Unsure,
        ),
        (json!({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}), json!(2), Unsure),
        (json!({"type": 5}), json!(1), Unsure),
        (json!({"required": true, "type": "string"}), json!(1), No),
        (json!("string"), json!(1), Unsure),
    ] {
        assert_eq!(admits(&schema, &instance), expected, "{schema} on {instance}");
    }
}

#[test]
fn hostile_schemas_end_at_once_and_unsure() {
    let doubling = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let mut wide = json!({"type": "string"});
    for _ in 0..60 {
        wide = json!({"anyOf": [wide, {"format": "x"}]});
    }
    let mut defs = serde_json::Map::new();
    for at in 0..40 {
        let next = format!("#/$defs/d{}", at + 1);
        defs.insert(format!("d{at}"), json!({"oneOf": [{"$ref": next}, {"$ref": next}]}));
    }
    let chain = json!({"$ref": "#/$defs/d0", "$defs": defs});
    let many: Vec<Value> = (0..3000).map(|at| json!({"a": at})).collect();
    let unique = json!({"uniqueItems": true});
    let started = Instant::now();
    for (schema, instance) in [(&doubling, json!(1)), (&wide, json!("s")), (&chain, json!(1)), (&unique, json!(many))] {
        assert_eq!(admits(schema, &instance), Admits::Unsure);
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

/// The oracle's word, none when it cannot read the schema.
fn oracle(schema: &Value, instance: &Value) -> Option<bool> {
    jsonschema::validator_for(schema).ok().map(|validator| validator.is_valid(instance))
}

fn agrees(schema: &Value, instance: &Value) -> Result<Admits, String> {
    let answer = admits(schema, instance);
    let certain = match answer {
        Admits::Yes => true,
        Admits::No => false,
        Admits::Unsure => return Ok(answer),
    };
    match oracle(schema, instance) {
        Some(valid) if valid != certain => Err(format!("{answer:?} against the oracle: {schema} on {instance}")),
        _ => Ok(answer),
    }
}

fn instances() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3_i64..6).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.0), Just(-2.5), Just(1e20)].prop_map(Value::from),
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("äöü"), Just("x-1"), Just("2026-01-01")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop_oneof![Just("a"), Just("b"), Just("x-c")], inner), 0..4).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let types = prop_oneof![
        Just("null"),
        Just("boolean"),
        Just("integer"),
        Just("number"),
        Just("string"),
        Just("array"),
        Just("object")
    ];
    let leaf = prop_oneof![
        Just(json!({})),
        any::<bool>().prop_map(Value::from),
        types.clone().prop_map(|name| json!({"type": name})),
        prop::collection::vec(types, 1..3).prop_map(|mut names| {
            names.sort();
            names.dedup();
            json!({"type": names})
        }),
        (-2_i64..4).prop_map(|limit| json!({"minimum": limit})),
        (-2_i64..4).prop_map(|limit| json!({"exclusiveMaximum": limit})),
        (1_i64..4).prop_map(|step| json!({"multipleOf": step})),
        (0_u64..3).prop_map(|size| json!({"minLength": size, "maxItems": size})),
        (0_u64..3).prop_map(|size| json!({"maxLength": size, "minItems": size})),
        (0_u64..3).prop_map(|size| json!({"minProperties": size})),
        prop_oneof![Just("^a"), Just("b$"), Just("^[a-z]-\\d$"), Just("^(ab|x)"), Just("\\bx")]
            .prop_map(|text| json!({"pattern": text})),
        prop_oneof![Just("date"), Just("uri"), Just("email"), Just("strange")].prop_map(|text| json!({"format": text})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"$ref": "#/$defs/d"})),
        Just(json!({"$ref": "#"})),
        instances().prop_map(|value| json!({"const": value})),
        prop::collection::vec(instances(), 1..3).prop_map(|values| json!({"enum": values})),
        prop::collection::vec(prop_oneof![Just("a"), Just("b")], 0..3).prop_map(|mut names| {
            names.sort_unstable();
            names.dedup();
            json!({"required": names})
        }),
        Just(json!({"dependentRequired": {"a": ["b"]}})),
        Just(json!({"dependencies": {"a": ["b"]}})),
    ];
    let nested = leaf.prop_recursive(3, 16, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
            two.clone().prop_map(|(a, b)| json!({"properties": {"a": a}, "additionalProperties": b})),
            two.clone().prop_map(|(a, b)| json!({"patternProperties": {"^x": a}, "additionalProperties": b})),
            two.clone().prop_map(|(a, b)| json!({"properties": {"a": a}, "anyOf": [b, {"properties": {"b": {}}}], "unevaluatedProperties": false})),
            inner.clone().prop_map(|a| json!({"propertyNames": a})),
            inner.clone().prop_map(|a| json!({"items": a})),
            two.clone().prop_map(|(a, b)| json!({"prefixItems": [a], "items": b})),
            two.clone().prop_map(|(a, b)| json!({"items": [a], "additionalItems": b})),
            inner.clone().prop_map(|a| json!({"contains": a, "maxContains": 1})),
            inner.clone().prop_map(|a| json!({"contains": a})),
            two.clone().prop_map(|(a, b)| json!({"allOf": [a, b]})),
            two.clone().prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            two.clone().prop_map(|(a, b)| json!({"oneOf": [a, b]})),
            inner.clone().prop_map(|a| json!({"not": a})),
            two.clone().prop_map(|(a, b)| json!({"if": a, "then": b})),
            two.clone().prop_map(|(a, b)| json!({"if": a, "else": b})),
            inner.clone().prop_map(|a| json!({"dependentSchemas": {"b": a}})),
            two.prop_map(|(a, b)| {
                let mut merged = a.as_object().cloned().unwrap_or_default();
                merged.extend(b.as_object().cloned().unwrap_or_default());
                Value::Object(merged)
            }),
        ]
    });
    let dialect = prop_oneof![
        Just(None),
        Just(Some(DRAFT_07)),
        Just(Some("https://json-schema.org/draft/2020-12/schema")),
        Just(Some("http://json-schema.org/draft-04/schema#"))
    ];
    (nested.clone(), nested, dialect).prop_map(|(schema, definition, dialect)| {
        let mut schema = match schema {
            Value::Object(map) => map,
            other => return other,
        };
        schema.insert("$defs".to_owned(), json!({"d": definition}));
        schema.extend(dialect.map(|dialect| ("$schema".to_owned(), Value::from(dialect))));
        Value::Object(schema)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_certain_is_what_the_oracle_says(schema in schemas(), instance in instances()) {
        // A reference that only leads back to itself makes the oracle recurse for ever.
        prop_assume!(!schema.to_string().contains("\"$ref\":\"#\"") || schema.get("$ref").is_none());
        prop_assert!(agrees(&schema, &instance).is_ok(), "{}", agrees(&schema, &instance).unwrap_err());
    }
}

#[test]
fn real_schemas_are_decided_as_the_oracle_decides() {
    let mut decided = 0;
    for tool in super::super::listed::tools() {
        let Some(schema) = tool.input_schema() else { continue };
        let mut instances = vec![json!({}), json!([]), json!("x"), json!({"sealmark_probe": 1})];
        instances.extend(super::super::valid_arguments(&tool).ok());
        instances.extend(super::super::invalid_calls(&tool).into_iter().map(|call| call.arguments));
        for instance in instances {
            let answer = agrees(schema, &instance).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
            decided += u32::from(answer != Admits::Unsure);
        }
    }
    assert!(decided > 2000, "{decided}");
}
