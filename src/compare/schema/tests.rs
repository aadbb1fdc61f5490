//! What is called breaking has a call that proves it, what is called info refuses nothing: schemas and instances at
//! random, with `jsonschema` as the judge.
//!
//! Stated exceptions. A removed parameter is breaking although an open schema still accepts it: what it asked for is not
//! done. A new optional parameter is info although a call may have used its name unlisted with another type: calls are
//! made from what is listed. Required members are taken to be possible: a format, a pattern and a length that contradict
//! each other are not found out. A pattern that cannot be read here and a format where there was none are taken to refuse
//! something.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::equal::same;
use crate::{
    compare::{Drift, DriftLevel, drift},
    report::{ServerSurface, result::ServerFacts},
};

/// Instances that are tried where none is expected.
const TRIES: usize = 1_500;
/// Instances that are tried where one is expected.
const HARD_TRIES: usize = 20_000;

/// Decisions of a generator: numbers that proptest shrinks, then zeros.
struct Tape<'t>(std::slice::Iter<'t, u16>);

impl Tape<'_> {
    fn below(&mut self, count: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// Decisions of the sampler.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const PATTERNS: [&str; 5] = ["^[a-z]+$", "^[a-z0-9]*$", "^a", "[0-9]", "^.{2,4}$"];
const FORMATS: [&str; 4] = ["date", "email", "ipv4", "uuid"];

/// A keyword for a type, with a value.
fn keyword(tape: &mut Tape<'_>, kind: &str, depth: usize) -> (&'static str, Value) {
    let small = tape.below(6);
    match kind {
        "string" => match tape.below(5) {
            0 => ("minLength", json!(small)),
            1 => ("maxLength", json!(small + 2)),
            2 => ("pattern", json!(tape.pick(&PATTERNS))),
            3 => ("format", json!(tape.pick(&FORMATS))),
            _ => ("enum", [json!("a"), json!("b"), json!("ab"), json!("a0")].into_iter().take(1 + small).collect()),
        },
        "integer" | "number" => match tape.below(6) {
            0 => ("minimum", json!(small)),
            1 => ("maximum", json!(small + 6)),
            2 => ("exclusiveMinimum", json!(small)),
            3 => ("exclusiveMaximum", json!(small + 8)),
            4 => ("multipleOf", json!(tape.pick(&[1, 2, 3, 4]))),
            _ => ("enum", [json!(1), json!(2), json!(7), json!(0)].into_iter().take(1 + small).collect()),
        },
        "array" => match tape.below(6) {
            0 => ("minItems", json!(small)),
            1 => ("maxItems", json!(small)),
            2 => ("uniqueItems", json!(tape.one_in(2))),
            3 => ("prefixItems", json!([schema(tape, depth + 1), schema(tape, depth + 1)])),
            4 => ("contains", schema(tape, depth + 2)),
            _ => ("items", schema(tape, depth + 1)),
        },
        _ => match tape.below(9) {
            0 => ("required", names(tape)),
            1 => ("additionalProperties", if tape.one_in(2) { schema(tape, depth + 1) } else { json!(false) }),
            2 => ("minProperties", json!(small.min(3))),
            3 => ("maxProperties", json!(small + 1)),
            4 => ("dependentRequired", json!({ tape.pick(&NAMES): [tape.pick(&NAMES)] })),
            5 => ("propertyNames", json!({ "pattern": tape.pick(&["^[a-c]", "^[a-z0-9]+$"]) })),
            6 => ("patternProperties", json!({ tape.pick(&["^a", "^[b-c]$"]): schema(tape, depth + 1) })),
            7 => ("properties", json!({ tape.pick(&NAMES): schema(tape, depth + 1) })),
            _ => ("not", json!({ "required": [tape.pick(&NAMES)] })),
        },
    }
}

fn names(tape: &mut Tape<'_>) -> Value {
    NAMES.iter().filter(|_| tape.one_in(2)).copied().collect()
}

fn object(tape: &mut Tape<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    for name in NAMES {
        if tape.one_in(2) {
            properties.insert(name.to_owned(), schema(tape, depth + 1));
        }
    }
    let mut object = json!({ "type": "object", "properties": properties });
    for _ in 0..tape.below(3) {
        let (word, value) = keyword(tape, "object", depth);
        object[word] = value;
    }
    object
}

fn schema(tape: &mut Tape<'_>, depth: usize) -> Value {
    let kinds = if depth > 2 { 7 } else { 14 };
    let kind = match tape.below(kinds) {
        0 | 1 => "string",
        2 => "integer",
        3 => "number",
        4 => return json!({ "type": "boolean" }),
        5 => return json!({ "type": ["string", "null"], "maxLength": 5 }),
        6 => {
            return tape.pick(&[
                json!({}),
                json!({ "const": 1 }),
                json!({ "enum": ["a", 1, null] }),
                json!({ "type": "null" }),
            ]);
        }
        7 => "array",
        8 => return json!({ "anyOf": [schema(tape, depth + 1), schema(tape, depth + 1)] }),
        9 => return json!({ "oneOf": [schema(tape, depth + 1), schema(tape, depth + 1)] }),
        10 => return json!({ "allOf": [schema(tape, depth + 1)] }),
        11 => return json!({ "$ref": "#/$defs/part" }),
        12 => {
            let branch = |word: &str, inner: Value| json!({ "type": "object", "properties": { "a": { "const": word }, "b": inner }, "required": ["a"] });
            return json!({ "oneOf": [branch("x", schema(tape, depth + 2)), branch("y", schema(tape, depth + 2))] });
        }
        _ => return object(tape, depth),
    };
    let mut made = json!({ "type": kind });
    for _ in 0..tape.below(3) {
        let (word, value) = keyword(tape, kind, depth);
        made[word] = value;
    }
    made
}

fn document(tape: &mut Tape<'_>) -> Value {
    let mut root = object(tape, 0);
    root["$defs"] = json!({ "part": schema(tape, 2) });
    root
}

/// The places of schemas in a document.
fn places(schema: &Value, at: String, found: &mut Vec<String>) {
    found.push(at.clone());
    for (word, value) in schema.as_object().into_iter().flatten() {
        match word.as_str() {
            "properties" | "$defs" | "patternProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    places(inner, format!("{at}/{word}/{name}"), found);
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (number, inner) in value.as_array().into_iter().flatten().enumerate() {
                    places(inner, format!("{at}/{word}/{number}"), found);
                }
            }
            "items" | "additionalProperties" => places(value, format!("{at}/{word}"), found),
            _ => {}
        }
    }
}

/// Without a format beside keywords that it may contradict: whether the two have a text in common cannot be told.
fn consistent(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("format").is_some_and(Value::is_string) {
                for word in ["pattern", "minLength", "maxLength", "enum"] {
                    members.shift_remove(word);
                }
            }
            if members.get("pattern").is_some_and(Value::is_string) {
                members.shift_remove("minLength");
            }
            members.values_mut().for_each(consistent);
        }
        Value::Array(items) => items.iter_mut().for_each(consistent),
        _ => {}
    }
}

/// The document with one change somewhere.
fn mutated(tape: &mut Tape<'_>, old: &Value) -> Value {
    let mut new = old.clone();
    let mut all = Vec::new();
    places(old, String::new(), &mut all);
    let at = tape.pick(&all);
    let target = new.pointer_mut(&at).unwrap();
    let Some(map) = target.as_object_mut() else {
        *target = schema(tape, 2);
        return new;
    };
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("object").to_owned();
    match tape.below(4) {
        0 if !at.is_empty() => *target = schema(tape, 2),
        1 if !map.is_empty() => {
            let words: Vec<String> = map.keys().filter(|word| *word != "$defs").cloned().collect();
            if let Some(word) = words.get(tape.below(words.len().max(1))) {
                map.remove(word);
            }
        }
        2 if map.get("properties").is_some_and(Value::is_object) => {
            let name = tape.pick(&NAMES);
            let inner = schema(tape, 2);
            let properties = map["properties"].as_object_mut().unwrap();
            if properties.remove(name).is_none() {
                properties.insert(name.to_owned(), inner);
            }
        }
        _ => {
            let (word, value) = keyword(tape, &kind, 1);
            map.insert(word.to_owned(), value);
        }
    }
    new
}

/// Every number that two documents name.
fn numbers(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Number(number) => found.extend(number.as_i64()),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        Value::Object(members) => members.values().for_each(|member| numbers(member, found)),
        _ => {}
    }
}

struct Sampler<'s> {
    dice: Dice,
    root: &'s Value,
    numbers: Vec<i64>,
}

impl Sampler<'_> {
    fn number(&mut self) -> i64 {
        let base = if self.dice.below(3) == 0 { self.dice.below(5) as i64 } else { self.dice.pick(&self.numbers) };
        base + self.dice.below(3) as i64 - 1
    }

    fn text(&mut self) -> Value {
        if self.dice.below(4) == 0 {
            let known =
                ["2024-01-02", "a@b.example", "1.2.3.4", "12345678-1234-4234-8234-123456789abc", "a0", "ab", "x", "y"];
            return json!(self.dice.pick(&known));
        }
        let length = self.number().clamp(0, 20) as usize;
        let letter = self.dice.pick(&["a", "0", "A", " ", "z"]);
        json!(letter.repeat(length))
    }

    fn any(&mut self) -> Value {
        match self.dice.below(10) {
            8 if self.dice.below(2) == 0 => (0..8).map(|at| (format!("zz9{at}"), json!(1))).collect(),
            8 => json!({ "zz90": 1 }),
            9 => json!([1, 1]),
            0 => json!(null),
            1 => json!(true),
            2 | 3 => json!(self.number()),
            4 => json!(self.number() as f64 + 0.5),
            5 => json!([]),
            6 => json!({}),
            _ => self.text(),
        }
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(map) = schema.as_object().filter(|_| depth < 8) else { return self.any() };
        if self.dice.below(24) == 0 {
            return self.any();
        }
        if let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(|at| self.root.pointer(&at[1..])) {
            return self.value(target, depth + 1);
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            if let Some(branches) = map.get(word).and_then(Value::as_array).filter(|all| !all.is_empty())
                && (!map.contains_key("type") || self.dice.below(2) == 0)
            {
                let branch = self.dice.pick(branches);
                return self.value(&branch, depth + 1);
            }
        }
        if self.dice.below(5) > 0 {
            if let Some(value) = map.get("const") {
                return value.clone();
            }
            if let Some(values) = map.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty()) {
                return self.dice.pick(values);
            }
        }
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => self.dice.pick(kinds).as_str().unwrap_or("null").to_owned(),
            _ if map.contains_key("properties") => "object".to_owned(),
            _ if map.contains_key("items") => "array".to_owned(),
            _ => return self.any(),
        };
        match kind.as_str() {
            "null" => json!(null),
            "boolean" => json!(self.dice.below(2) == 0),
            "integer" => json!(self.number()),
            "number" => {
                if self.dice.below(2) == 0 {
                    json!(self.number())
                } else {
                    json!(self.number() as f64 + 0.5)
                }
            }
            "string" => self.text(),
            "array" => self.array(map, depth),
            _ => self.object(map, depth),
        }
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let length = self.number().clamp(0, 8) as usize;
        let first = map.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let rest = map.get("items").cloned().unwrap_or(json!(true));
        let mut items: Vec<Value> = Vec::new();
        for at in 0..length {
            let again = at > 0 && self.dice.below(4) == 0;
            items.push(if again {
                items[at - 1].clone()
            } else {
                self.value(first.get(at).unwrap_or(&rest), depth + 1)
            });
        }
        Value::Array(items)
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let listed = map.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let required: Vec<&str> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let other = map.get("additionalProperties").cloned().unwrap_or(json!(true));
        let mut made = Map::new();
        let density = 1 + self.dice.below(4);
        for (name, schema) in &listed {
            if required.contains(&name.as_str()) || self.dice.below(4) < density {
                made.insert(name.clone(), self.value(schema, depth + 1));
            }
        }
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.to_owned(), self.value(&other, depth + 1));
            }
        }
        for (name, others) in map.get("dependentRequired").and_then(Value::as_object).into_iter().flatten() {
            if made.contains_key(name) && self.dice.below(3) > 0 {
                for other in others.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !made.contains_key(other) {
                        made.insert(
                            other.to_owned(),
                            self.value(listed.get(other).unwrap_or(&other_of(map)), depth + 1),
                        );
                    }
                }
            }
        }
        let extras = if self.dice.below(3) == 0 { self.number().clamp(0, 8) as usize } else { 0 };
        for at in 0..extras {
            // Names that no schema lists: the exception of optional additions is about names that one lists.
            made.insert(format!("{}9{at}", self.dice.pick(&["zz", "Z"])), self.value(&other, depth + 1));
        }
        if self.dice.below(30) == 0 {
            made.shift_remove(self.dice.pick(&NAMES));
        }
        Value::Object(made)
    }
}

/// What sampling found.
#[derive(Debug, PartialEq)]
enum Sampled {
    /// An instance that one schema accepts and the other refuses.
    Witness(Value),
    /// What the one accepts, the other accepts.
    Agree,
    /// The schema contradicts itself, as far as can be seen: it accepts nothing.
    Empty,
}

fn sample(accepting: &Value, refusing: &Value, seed: u64, tries: usize) -> Sampled {
    let validator =
        |schema: &Value| jsonschema::options().should_validate_formats(true).build(schema).expect("a schema");
    let (yes, no) = (validator(accepting), validator(refusing));
    let mut found = vec![1, 2, 5];
    numbers(accepting, &mut found);
    numbers(refusing, &mut found);
    let mut sampler = Sampler { dice: Dice(seed | 1), root: accepting, numbers: found };
    let mut sampled = Sampled::Empty;
    for _ in 0..tries {
        let one = sampler.value(accepting, 0);
        if one.is_object() && yes.is_valid(&one) {
            if !no.is_valid(&one) {
                return Sampled::Witness(one);
            }
            sampled = Sampled::Agree;
        }
    }
    sampled
}

fn witness(accepting: &Value, refusing: &Value, seed: u64) -> Option<Value> {
    match sample(accepting, refusing, seed, TRIES) {
        Sampled::Witness(one) => Some(one),
        Sampled::Agree | Sampled::Empty => None,
    }
}

/// What is said of members that are not listed.
fn other_of(map: &Map<String, Value>) -> Value {
    map.get("additionalProperties").cloned().unwrap_or(json!(true))
}

fn facts(schema: &Value, side: &str) -> ServerFacts {
    let mut tool = json!({ "name": "t", "inputSchema": {} });
    tool[side] = schema.clone();
    ServerSurface { tools: vec![tool], revisions: vec!["2025-11-25".to_owned()], ..ServerSurface::default() }
        .server_facts()
}

fn drifts(old: &Value, new: &Value, side: &str) -> Vec<Drift> {
    drift(&facts(old, side), &facts(new, side))
}

fn pairs() -> impl Strategy<Value = (Value, Value, u64)> {
    (proptest::collection::vec(any::<u16>(), 0..80), proptest::collection::vec(any::<u16>(), 0..30), any::<u64>())
        .prop_map(|(first, second, seed)| {
            let mut old = document(&mut Tape(first.iter()));
            let mut new = mutated(&mut Tape(second.iter()), &old);
            consistent(&mut old);
            consistent(&mut new);
            (old, new, seed)
        })
}

/// The schema written in another order, with other spellings of the same.
fn respelled(value: &Value, key: &str, dice: &mut Dice) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.iter().map(|(name, value)| (name.clone(), respelled(value, name, dice))).collect();
            for at in (1..members.len()).rev() {
                members.swap(at, dice.below(at + 1));
            }
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| respelled(item, "", dice)).collect();
            if ["required", "enum", "type", "anyOf"].contains(&key) {
                items.reverse();
            }
            Value::Array(items)
        }
        Value::String(word) if key == "type" && dice.below(2) == 0 => json!([word]),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 2, ..ProptestConfig::default() })]

    #[test]
    fn identical_schemas_never_drift((old, _, seed) in pairs()) {
        for side in ["inputSchema", "outputSchema"] {
            prop_assert_eq!(drifts(&old, &old, side), []);
            prop_assert_eq!(drifts(&old, &respelled(&old, "", &mut Dice(seed | 1)), side), []);
        }
    }

    #[test]
    fn what_is_breaking_has_a_call_that_proves_it((old, new, seed) in pairs()) {
        let found = drifts(&old, &new, "inputSchema");
        let proved = found.iter().filter(|drift| drift.level == DriftLevel::Breaking && drift.kind != "parameter-removed");
        let proved: Vec<_> = proved.collect();
        if !proved.is_empty() && sample(&old, &new, seed, HARD_TRIES) == Sampled::Agree {
            prop_assert!(false, "no call proves {proved:#?}\nold {old}\nnew {new}");
        }
    }

    #[test]
    fn what_is_only_info_refuses_no_call((old, new, seed) in pairs()) {
        let found = drifts(&old, &new, "inputSchema");
        if found.iter().all(|drift| drift.level == DriftLevel::Info)
            && let Some(call) = witness(&old, &new, seed)
        {
            prop_assert!(false, "{call} is refused now\nold {old}\nnew {new}\n{found:#?}");
        }
    }

    #[test]
    fn for_replies_the_direction_is_reversed((old, new, seed) in pairs()) {
        let found = drifts(&old, &new, "outputSchema");
        let breaking = found.iter().any(|drift| drift.level == DriftLevel::Breaking);
        let unpromised = sample(&new, &old, seed, if breaking { HARD_TRIES } else { TRIES });
        if found.iter().all(|drift| drift.level == DriftLevel::Info) {
            prop_assert!(!matches!(unpromised, Sampled::Witness(_)), "{unpromised:?} was not promised\nold {old}\nnew {new}\n{found:#?}");
        }
        if breaking {
            prop_assert!(unpromised != Sampled::Agree, "no reply proves {found:#?}\nold {old}\nnew {new}");
        }
    }

    #[test]
    fn no_difference_means_no_difference((old, new, seed) in pairs()) {
        if drifts(&old, &new, "inputSchema").is_empty() {
            prop_assert_eq!(witness(&old, &new, seed), None, "old {} new {}", old, new);
            prop_assert_eq!(witness(&new, &old, seed), None, "old {} new {}", old, new);
        }
    }
}

#[test]
fn equal_values_are_equal_in_every_spelling() {
    assert!(same(&json!({"a": [1, 2.0], "b": null}), &json!({"b": null, "a": [1.0, 2]})));
    assert!(!same(&json!([1, 2]), &json!([2, 1])));
    assert!(!same(&json!("1"), &json!(1)));
    assert!(!same(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992_i64)));
}
