//! Arguments made from a schema: the least that it accepts.

use serde_json::{Map, Number, Value};

use super::{
    names::words,
    schema::{Admits, Evaluator, STEPS, Texts},
};
use crate::model::Tool;

/// The text put where a schema asks for one.
pub(super) const TEXT: &str = "sealmark-probe";
/// A number no schema of ours means anything by; also no process has it.
pub(super) const NO_PROCESS: i64 = 999_999_999;
pub(super) const EMAIL: &str = "probe@sealmark-probe.invalid";
pub(super) const UUID: &str = "00000000-0000-4000-8000-000000000000";
pub(super) const HOST: &str = "sealmark-probe.invalid";

/// Nested schemas that are filled before giving up.
const MAX_DEPTH: u32 = 12;
/// Values that are tried for one schema.
const MAX_OPTIONS: usize = 6;
/// Items or characters a minimum may ask for.
const MAX_SIZE: u64 = 4096;

/// Texts tried, in order, where a pattern refuses the usual one.
const SHAPES: &[&str] = &[
    "a",
    "A",
    "1",
    "0",
    "ab",
    "abc",
    "ABC",
    "a1",
    "A1",
    "a-b",
    "a_b",
    "a.b",
    "a/b",
    "/a",
    "#a",
    "@a",
    "12",
    "123",
    "1234",
    "2026-01-01",
    "12:00",
    "1.0.0",
    "v1.0.0",
    "#ffffff",
    "en",
    "en-US",
    "0x0",
    "a@b.c",
    "https://sealmark-probe.invalid/",
];

/// The least arguments that the tool's declared schema accepts, checked against it.
///
/// # Errors
/// Says which parameter cannot be filled, or that the tool declares no schema.
pub fn valid_arguments(tool: &Tool) -> Result<Value, String> {
    let Some(schema) = tool.input_schema() else { return Err("the tool declares no input schema".to_owned()) };
    let mut filler = Filler::new(schema);
    let found = filler.objects(&[schema], 0).into_iter().next();
    match found {
        Some(arguments) => Ok(arguments),
        None => Err(filler.missing.map_or_else(
            || "no arguments were found that the whole schema accepts".to_owned(),
            |name| format!("parameter `{name}` cannot be filled from its schema"),
        )),
    }
}

/// The required parameters as far as each can be filled by itself, whether or not the whole is accepted.
pub(super) fn best_effort(schema: &Value) -> Map<String, Value> {
    let mut filler = Filler::new(schema);
    if let Some(Value::Object(map)) = filler.objects(&[schema], 0).into_iter().next() {
        return map;
    }
    let mut map = Map::new();
    let mut filler = Filler::new(schema);
    let parts = filler.evaluator.parts(&[schema], 64);
    for name in required(&parts) {
        if let Some(value) = filler.property(&parts, &name, 0).into_iter().next() {
            map.insert(name, value);
        }
    }
    map
}

/// Fills schemas that belong to one root.
struct Filler<'s> {
    evaluator: Evaluator<'s>,
    steps: u32,
    /// The first required parameter nothing was found for.
    missing: Option<String>,
}

impl<'s> Filler<'s> {
    fn new(root: &'s Value) -> Self {
        Self { evaluator: Evaluator::new(root, Texts::Trusted, STEPS), steps: 2_000, missing: None }
    }

    /// Values for a property or item, best first; each is accepted by `schema` (patterns and formats trusted).
    fn options(&mut self, schema: &'s Value, name: &str, depth: u32) -> Vec<Value> {
        if self.steps == 0 || depth > MAX_DEPTH {
            return Vec::new();
        }
        self.steps -= 1;
        let parts = self.evaluator.parts(&[schema], 64);
        let mut found = Vec::new();
        for part in &parts {
            found.extend(part.get("const").cloned());
            found.extend(part.get("default").filter(|value| !value.is_null()).cloned());
            for list in ["enum", "examples"].iter().filter_map(|key| part.get(*key)).filter_map(Value::as_array) {
                found.extend(list.iter().filter(|value| !value.is_null()).take(MAX_OPTIONS).cloned());
            }
        }
        if found.is_empty() {
            found = self.made(&parts, name, depth);
        }
        let mut accepted = self.accepted(schema, found);
        if accepted.is_empty() {
            for branch in branches(&parts) {
                let more = self.options(branch, name, depth + 1);
                accepted.extend(self.accepted(schema, more));
                if accepted.len() >= MAX_OPTIONS {
                    break;
                }
            }
        }
        if accepted.is_empty() {
            // What a branch, an `enum` beside other limits, or a nullable schema leaves.
            let mut last = self.made(&parts, name, depth);
            last.push(Value::Null);
            accepted = self.accepted(schema, last);
        }
        accepted.truncate(MAX_OPTIONS);
        accepted
    }

    fn accepted(&mut self, schema: &Value, values: Vec<Value>) -> Vec<Value> {
        values.into_iter().filter(|value| self.evaluator.admits(schema, value) == Admits::Yes).collect()
    }

    fn made(&mut self, parts: &[&'s Map<String, Value>], name: &str, depth: u32) -> Vec<Value> {
        match kind(parts) {
            "object" => self.objects_of(parts, depth),
            "array" => self.array(parts, name, depth).into_iter().collect(),
            "number" | "integer" => numbers(parts, name),
            "boolean" => vec![Value::Bool(false), Value::Bool(true)],
            "null" => vec![Value::Null],
            _ => texts(parts),
        }
    }

    /// Objects that the schemas together accept, best first.
    fn objects(&mut self, schemas: &[&'s Value], depth: u32) -> Vec<Value> {
        let parts = self.evaluator.parts(schemas, 64);
        let mut found = self.objects_of(&parts, depth);
        let all: Vec<&Value> = schemas.to_vec();
        let holds = |this: &mut Self, value: &Value| {
            all.iter().all(|schema| this.evaluator.admits(schema, value) == Admits::Yes)
        };
        found.retain(|value| holds(self, value));
        if found.is_empty() && depth < 3 {
            for branch in branches(&parts) {
                let mut wider = schemas.to_vec();
                wider.push(branch);
                found = self.objects(&wider, depth + 1);
                if !found.is_empty() {
                    break;
                }
            }
        }
        found
    }

    fn objects_of(&mut self, parts: &[&'s Map<String, Value>], depth: u32) -> Vec<Value> {
        let mut object = Map::new();
        let mut wanted = required(parts);
        let mut at = 0;
        while let Some(name) = wanted.get(at).cloned() {
            at += 1;
            if at > 256 || self.steps == 0 {
                return Vec::new();
            }
            if object.contains_key(&name) {
                continue;
            }
            let Some(value) = self.property(parts, &name, depth).into_iter().next() else {
                self.missing.get_or_insert(name);
                return Vec::new();
            };
            object.insert(name.clone(), value);
            for rule in ["dependentRequired", "dependencies"]
                .iter()
                .flat_map(|key| parts.iter().filter_map(|part| part.get(*key)))
            {
                let names = rule.get(&name).and_then(Value::as_array).into_iter().flatten();
                wanted.extend(names.filter_map(Value::as_str).map(str::to_owned));
            }
        }
        let least = largest(parts, "minProperties").unwrap_or(0);
        for name in property_names(parts) {
            if object.len() as u64 >= least {
                break;
            }
            if !object.contains_key(&name)
                && let Some(value) = self.property(parts, &name, depth).into_iter().next()
            {
                object.insert(name, value);
            }
        }
        let mut extra = 0_u64;
        while (object.len() as u64) < least && extra < 16 {
            extra += 1;
            object.insert(format!("sealmark_{extra}"), Value::from(TEXT));
        }
        vec![Value::Object(object)]
    }

    fn property(&mut self, parts: &[&'s Map<String, Value>], name: &str, depth: u32) -> Vec<Value> {
        let schema = parts.iter().find_map(|part| part.get("properties")?.get(name)).or_else(|| {
            parts.iter().find_map(|part| part.get("additionalProperties").filter(|schema| schema.is_object()))
        });
        match schema {
            Some(schema) => self.options(schema, name, depth + 1),
            None => vec![Value::from(TEXT)],
        }
    }

    fn array(&mut self, parts: &[&'s Map<String, Value>], name: &str, depth: u32) -> Option<Value> {
        let least = largest(parts, "minItems").unwrap_or(0);
        if least > MAX_SIZE {
            return None;
        }
        let mut items: Vec<Value> = Vec::new();
        let tuple = parts.iter().find_map(|part| part.get("prefixItems").or_else(|| part.get("items"))?.as_array());
        let rest = parts.iter().find_map(|part| part.get("items").filter(|items| !items.is_array()));
        let contains = parts.iter().find_map(|part| part.get("contains"));
        if let Some(schema) = contains {
            items.extend(self.options(schema, name, depth + 1).into_iter().next());
        }
        let unique = parts.iter().any(|part| part.get("uniqueItems") == Some(&Value::Bool(true)));
        while (items.len() as u64) < least {
            let schema = tuple.and_then(|tuple| tuple.get(items.len())).or(rest);
            let options = match schema {
                Some(schema) => self.options(schema, name, depth + 1),
                None => vec![Value::from(TEXT)],
            };
            let item = match options.iter().find(|option| !items.contains(option)) {
                Some(fresh) => fresh.clone(),
                None if unique => another(options.first()?, items.len()),
                None => options.first()?.clone(),
            };
            items.push(if unique { item } else { options.into_iter().next()? });
        }
        Some(Value::Array(items))
    }
}

/// A value like `value` that differs with `at`.
fn another(value: &Value, at: usize) -> Value {
    match value {
        Value::String(text) => Value::from(format!("{text}-{at}")),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| value.clone(), |number| Value::from(number.saturating_add(at as i64)))
        }
        other => other.clone(),
    }
}

fn branches<'s>(parts: &[&'s Map<String, Value>]) -> Vec<&'s Value> {
    let lists = parts.iter().flat_map(|part| ["oneOf", "anyOf"].iter().filter_map(|key| part.get(*key)));
    lists.filter_map(Value::as_array).flatten().take(8).collect()
}

/// Every name the `required` lists hold, in order, once.
pub(super) fn required(parts: &[&Map<String, Value>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let lists = parts.iter().filter_map(|part| part.get("required")).filter_map(Value::as_array);
    for name in lists.flatten().filter_map(Value::as_str) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn property_names(parts: &[&Map<String, Value>]) -> Vec<String> {
    parts
        .iter()
        .filter_map(|part| part.get("properties")?.as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect()
}

fn kind<'s>(parts: &[&'s Map<String, Value>]) -> &'s str {
    for part in parts {
        match part.get("type") {
            Some(Value::String(name)) => return name,
            Some(Value::Array(names)) => {
                if let Some(name) = names.iter().filter_map(Value::as_str).find(|name| *name != "null") {
                    return name;
                }
                return "null";
            }
            _ => {}
        }
    }
    let any = |keys: &[&str]| parts.iter().any(|part| keys.iter().any(|key| part.contains_key(*key)));
    if any(&["properties", "required", "minProperties", "additionalProperties"]) {
        "object"
    } else if any(&["items", "prefixItems", "minItems"]) {
        "array"
    } else if any(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        "string"
    }
}

fn largest(parts: &[&Map<String, Value>], key: &str) -> Option<u64> {
    parts.iter().filter_map(|part| part.get(key)?.as_u64()).max()
}

fn numbers(parts: &[&Map<String, Value>], name: &str) -> Vec<Value> {
    let of = |key: &str| parts.iter().find_map(|part| part.get(key)?.as_number());
    let mut found: Vec<Value> = Vec::new();
    if words(name).iter().any(|word| matches!(word.as_str(), "pid" | "ppid" | "pgid")) {
        found.push(Value::from(NO_PROCESS));
    }
    let shifted = |number: &Number, by: i64| match number.as_i64() {
        Some(value) => Value::from(value.saturating_add(by)),
        None => number.as_f64().map_or(Value::Null, |value| Value::from(value + by as f64)),
    };
    let up = |number: &Number| {
        number.as_f64().filter(|value| value.abs() < 9e15).map(|value| Value::from(value.ceil() as i64))
    };
    found.extend(of("minimum").and_then(up));
    found.extend(of("minimum").map(|number| Value::Number(number.clone())));
    found.extend(of("exclusiveMinimum").map(|number| shifted(number, 1)));
    found.push(Value::from(1));
    found.push(Value::from(0));
    found.extend(of("multipleOf").map(|number| Value::Number(number.clone())));
    found.extend(of("maximum").map(|number| Value::Number(number.clone())));
    found.extend(of("exclusiveMaximum").map(|number| shifted(number, -1)));
    if let (Some(low), Some(step)) = (of("minimum").and_then(Number::as_i64), of("multipleOf").and_then(Number::as_i64))
        && step > 0
    {
        found.extend(next_multiple(low, step).map(Value::from));
    }
    if let (Some(low), Some(high)) =
        (of("exclusiveMinimum").and_then(Number::as_f64), of("exclusiveMaximum").and_then(Number::as_f64))
    {
        found.push(Value::from(low + (high - low) / 2.0));
    }
    found
}

/// The least multiple of a positive step that is not below a number.
fn next_multiple(low: i64, step: i64) -> Option<i64> {
    let over = low.rem_euclid(step);
    if over == 0 { Some(low) } else { low.checked_add(step - over) }
}

fn texts(parts: &[&Map<String, Value>]) -> Vec<Value> {
    let format = parts.iter().find_map(|part| part.get("format")?.as_str());
    let sample = match format {
        Some("uri" | "url" | "iri" | "uri-reference" | "iri-reference") => "https://sealmark-probe.invalid/",
        Some("email" | "idn-email") => EMAIL,
        Some("uuid") => UUID,
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "12:00:00Z",
        Some("duration") => "P1D",
        Some("hostname" | "idn-hostname") => HOST,
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("json-pointer") => "/sealmark-probe",
        Some("byte" | "base64") => "c2VhbG1hcms=",
        _ => TEXT,
    };
    let least = largest(parts, "minLength").unwrap_or(0);
    let most = parts.iter().filter_map(|part| part.get("maxLength")?.as_u64()).min();
    if least > MAX_SIZE {
        return Vec::new();
    }
    let mut found: Vec<String> = vec![sample.to_owned()];
    let length = sample.chars().count() as u64;
    if length < least {
        found.insert(0, sample.chars().cycle().take(least as usize).collect());
    }
    if let Some(most) = most.filter(|most| *most < length) {
        found.insert(0, sample.chars().take(most as usize).collect());
    }
    if parts.iter().any(|part| part.contains_key("pattern")) {
        found.extend(SHAPES.iter().map(|shape| (*shape).to_owned()));
        if least > 1 {
            found.extend(["a", "A", "1"].iter().map(|unit| unit.repeat(least as usize)));
        }
    }
    found.into_iter().map(Value::from).collect()
}

#[cfg(test)]
mod tests;
