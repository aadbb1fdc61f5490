//! Calls that a tool's declared schema surely refuses.

use serde_json::{Map, Number, Value};

use super::{
    fill::{TEXT, best_effort, required},
    names::reads_by_name,
    schema::{Admits, Evaluator, Texts},
};
use crate::model::Tool;

/// Calls made for one tool at most.
pub const MAX_CALLS: usize = 24;
/// Evaluation steps one tool may cost in all.
const STEPS: u32 = 60_000;
/// Parameters looked at per object.
const MAX_PARAMETERS: usize = 64;
/// Longest text or array made to exceed a limit.
const MAX_LENGTH: u64 = 4096;
/// The number sent where another type is asked for: no small count, no port, no flag.
pub const NUMBER: i64 = 4242;
/// The key sent where extra keys are closed.
pub const EXTRA_KEY: &str = "sealmark_probe";

/// One call that must be refused.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidCall {
    /// Which kind and, where it concerns one, which parameter (`missing:path`, `wrong-type:options.depth`).
    pub variant: String,
    /// The `arguments` member as sent; not an object for `arguments-array` and `arguments-string`.
    pub arguments: Value,
    /// What is wrong with it, in a sentence fragment.
    pub why: String,
}

/// The kinds in the order they are sent.
const KINDS: [&str; 10] = [
    "missing",
    "wrong-type",
    "null",
    "unknown-key",
    "out-of-range",
    "not-in-enum",
    "too-short",
    "too-long",
    "arguments-array",
    "arguments-string",
];

/// Calls that the tool's schema surely refuses, at most [`MAX_CALLS`], every kind that applies among them, always in the same order.
///
/// A lenient server may carry an invalid call out, so the values are chosen to mean nothing anywhere, and a tool that is declared
/// to act on the outside world (`openWorldHint: true`, not read-only) gets no call that would be complete without its fault.
/// A tool whose schema accepts anything gets the two calls whose `arguments` are no object.
pub fn invalid_calls(tool: &Tool) -> Vec<InvalidCall> {
    let mut maker = Maker::new(tool);
    if let Some(schema) = tool.input_schema() {
        let base = best_effort(schema);
        maker.closed_over(schema, schema, &base, &Place { base: &base, prefix: String::new(), path: Vec::new() }, true);
    }
    if !maker.spare_complete || maker.asks_for_something {
        maker.push("arguments-array", None, Value::Array(vec![Value::from(TEXT)]), "`arguments` is an array");
        maker.push("arguments-string", None, Value::from(TEXT), "`arguments` is a string");
    }
    maker.chosen()
}

/// Where in the arguments a parameter stands.
struct Place<'b> {
    /// The object the parameter belongs to.
    base: &'b Map<String, Value>,
    /// `params.` for a nested object.
    prefix: String,
    /// Keys from the top to that object.
    path: Vec<String>,
}

struct Maker<'s> {
    evaluator: Option<Evaluator<'s>>,
    found: Vec<(usize, InvalidCall)>,
    /// Leave out calls that a lenient server would take for a complete, honest one.
    spare_complete: bool,
    asks_for_something: bool,
    /// Read-only by annotation, or by name: an empty text cannot make it remove a directory.
    reads: bool,
}

impl<'s> Maker<'s> {
    fn new(tool: &'s Tool) -> Self {
        let evaluator = tool.input_schema().map(|schema| Evaluator::new(schema, Texts::Doubted, STEPS));
        let spare_complete = tool.hint("openWorldHint") == Some(true) && tool.hint("readOnlyHint") != Some(true);
        let reads = tool.hint("readOnlyHint").unwrap_or_else(|| reads_by_name(&tool.name));
        Self { evaluator, found: Vec::new(), spare_complete, asks_for_something: false, reads }
    }

    fn push(&mut self, kind: &'static str, parameter: Option<&str>, arguments: Value, why: impl Into<String>) {
        let Some(order) = KINDS.iter().position(|known| *known == kind) else { return };
        let variant = parameter.map_or_else(|| kind.to_owned(), |parameter| format!("{kind}:{parameter}"));
        self.found.push((order, InvalidCall { variant, arguments, why: why.into() }));
    }

    /// Everything about the parameters of one object. `top` is the whole input schema, `schema` this object's.
    fn closed_over(
        &mut self,
        top: &'s Value,
        schema: &'s Value,
        whole: &Map<String, Value>,
        place: &Place<'_>,
        nest: bool,
    ) {
        let parts = self.parts(schema);
        let required = required(&parts);
        self.asks_for_something |= !required.is_empty();
        for name in required.iter().take(MAX_PARAMETERS) {
            let mut object = place.base.clone();
            object.remove(name);
            self.refused(
                "missing",
                top,
                whole,
                place,
                name,
                object,
                format!("required `{}{name}` left out", place.prefix),
            );
        }
        let properties: Vec<(&String, &'s Value)> = parts
            .iter()
            .filter_map(|part| part.get("properties")?.as_object())
            .flatten()
            .take(MAX_PARAMETERS)
            .collect();
        for (name, property) in properties {
            if self.spare_complete && !required.contains(name) {
                continue;
            }
            let shown = format!("{}{name}", place.prefix);
            let others = [
                Value::from(NUMBER),
                Value::from(TEXT),
                Value::Bool(true),
                Value::Array(Vec::new()),
                Value::Object(Map::new()),
            ];
            // A boolean gets a text first: some validators take numbers for flags.
            let order: [usize; 5] =
                if self.kinds_of(property).contains(&"boolean") { [1, 0, 3, 4, 2] } else { [0, 1, 2, 3, 4] };
            let wrong = order.iter().map(|at| &others[*at]).find(|value| self.other_type(property, value)).cloned();
            if let Some(value) = wrong {
                let why = format!("`{shown}` is {} ({})", word_of(&value), value);
                self.replaced("wrong-type", top, whole, place, name, value, why);
            }
            self.replaced("null", top, whole, place, name, Value::Null, format!("`{shown}` is null"));
            for (kind, value, why) in self.outside(property) {
                self.replaced(kind, top, whole, place, name, value, format!("`{shown}` {why}"));
            }
            if nest && self.kinds_of(property) == ["object"] {
                let target = self.parts(property).into_iter().find(|part| part.contains_key("properties"));
                // An optional object is filled against itself alone; what that makes must still be surely refused by the whole.
                let inner =
                    place.base.get(name).and_then(Value::as_object).cloned().unwrap_or_else(|| best_effort(property));
                if target.is_some() {
                    let mut path = place.path.clone();
                    path.push(name.clone());
                    let deeper = Place { base: &inner, prefix: format!("{}{name}.", place.prefix), path };
                    self.closed_over(top, property, whole, &deeper, false);
                }
            }
        }
        if !self.spare_complete {
            let mut object = place.base.clone();
            object.insert(EXTRA_KEY.to_owned(), Value::from(TEXT));
            let parameter = (!place.prefix.is_empty()).then(|| format!("{}{EXTRA_KEY}", place.prefix));
            let arguments = placed(whole, &place.path, object);
            if self.surely_refused(top, &arguments) {
                let why = format!("`{}{EXTRA_KEY}` is a key the closed schema does not have", place.prefix);
                self.push("unknown-key", parameter.as_deref(), arguments, why);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call is a kind, a place and a value")]
    fn replaced(
        &mut self,
        kind: &'static str,
        top: &'s Value,
        whole: &Map<String, Value>,
        place: &Place<'_>,
        name: &str,
        value: Value,
        why: String,
    ) {
        let mut object = place.base.clone();
        object.insert(name.to_owned(), value);
        self.refused(kind, top, whole, place, name, object, why);
    }

    #[expect(clippy::too_many_arguments, reason = "one call is a kind, a place and a value")]
    fn refused(
        &mut self,
        kind: &'static str,
        top: &'s Value,
        whole: &Map<String, Value>,
        place: &Place<'_>,
        name: &str,
        object: Map<String, Value>,
        why: String,
    ) {
        let arguments = placed(whole, &place.path, object);
        if self.surely_refused(top, &arguments) {
            self.push(kind, Some(&format!("{}{name}", place.prefix)), arguments, why);
        }
    }

    fn surely_refused(&mut self, schema: &Value, arguments: &Value) -> bool {
        self.evaluator.as_mut().is_some_and(|evaluator| evaluator.admits(schema, arguments) == Admits::No)
    }

    /// A schema with what its local references and `allOf` add.
    fn parts(&mut self, schema: &'s Value) -> Vec<&'s Map<String, Value>> {
        self.evaluator.as_mut().map(|evaluator| evaluator.parts(&[schema], 16)).unwrap_or_default()
    }

    /// The types a property declares by itself.
    fn kinds_of(&mut self, property: &'s Value) -> Vec<&'s str> {
        let parts = self.parts(property);
        let Some(declared) = parts.iter().find_map(|part| part.get("type")) else { return Vec::new() };
        match declared {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn other_type(&mut self, property: &'s Value, value: &Value) -> bool {
        let kinds = self.kinds_of(property);
        let own = |kind: &str| match kind {
            "integer" | "number" => value.is_number(),
            kind => word_of(value).ends_with(kind),
        };
        // An enum refuses every value; here only a value of another type counts.
        !kinds.iter().any(|kind| own(kind)) && self.surely_refused(property, value)
    }

    /// Values of the right type outside what the property allows.
    fn outside(&mut self, property: &'s Value) -> Vec<(&'static str, Value, String)> {
        let kinds = self.kinds_of(property);
        let is = |kind: &str| kinds.contains(&kind);
        let parts = self.parts(property);
        let number = |key: &str| parts.iter().find_map(|part| part.get(key)?.as_number());
        let size = |key: &str| parts.iter().find_map(|part| part.get(key)?.as_u64());
        let mut found = Vec::new();
        if is("integer") || is("number") {
            let below = number("minimum")
                .map(|limit| shifted(limit, -1))
                .or_else(|| number("exclusiveMinimum").map(|limit| shifted(limit, 0)));
            let above = number("maximum")
                .map(|limit| shifted(limit, 1))
                .or_else(|| number("exclusiveMaximum").map(|limit| shifted(limit, 0)));
            if let Some(value) = below.flatten() {
                let why = format!("is {value}, below its minimum");
                found.push(("out-of-range", value, why));
            } else if let Some(value) = above.flatten() {
                let why = format!("is {value}, above its maximum");
                found.push(("out-of-range", value, why));
            }
        }
        if let Some(allowed) = parts.iter().find_map(|part| part.get("enum")?.as_array()) {
            let value = match allowed.iter().find(|value| !value.is_null()) {
                Some(Value::Number(_)) => Some(Value::from(NUMBER)),
                Some(Value::String(_)) => Some(Value::from(TEXT)),
                _ => None,
            };
            if let Some(value) = value.filter(|value| !allowed.contains(value)) {
                let why = format!("is {value}, none of its allowed values");
                found.push(("not-in-enum", value, why));
            }
        }
        if is("string") && parts.iter().all(|part| !part.contains_key("enum")) {
            if let Some(least) =
                size("minLength").filter(|least| (if self.reads { 1 } else { 2 }..=MAX_LENGTH).contains(least))
            {
                let value = "s".repeat(least as usize - 1);
                found.push(("too-short", Value::from(value), format!("is shorter than {least} characters")));
            }
            if let Some(most) = size("maxLength").filter(|most| *most < MAX_LENGTH) {
                let value = "s".repeat(most as usize + 1);
                found.push(("too-long", Value::from(value), format!("is longer than {most} characters")));
            }
        }
        if is("array") {
            if let Some(least) = size("minItems").filter(|least| *least == 1) {
                found.push(("too-short", Value::Array(Vec::new()), format!("has fewer than {least} items")));
            }
            if let Some(most) = size("maxItems").filter(|most| *most <= 64) {
                let item = parts.iter().find_map(|part| part.get("items").filter(|items| items.is_object()));
                let item = item.map_or_else(|| Value::from(TEXT), one_item);
                let items = (0..=most).map(|at| numbered(&item, at)).collect();
                found.push(("too-long", Value::Array(items), format!("has more than {most} items")));
            }
        }
        found
    }

    /// At most [`MAX_CALLS`], taking the kinds in turn so that each is represented.
    fn chosen(self) -> Vec<InvalidCall> {
        let mut queues: Vec<std::collections::VecDeque<InvalidCall>> =
            KINDS.iter().map(|_| std::collections::VecDeque::new()).collect();
        for (order, call) in self.found {
            let repeated = queues[order].iter().any(|known| known.variant == call.variant);
            if !repeated {
                queues[order].push_back(call);
            }
        }
        let mut taken = vec![0_usize; queues.len()];
        let mut left = MAX_CALLS;
        while left > 0 {
            let before = left;
            for (order, queue) in queues.iter().enumerate() {
                if left > 0 && taken[order] < queue.len() {
                    taken[order] += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
        queues.into_iter().zip(taken).flat_map(|(queue, count)| queue.into_iter().take(count)).collect()
    }
}

/// The whole arguments with `object` put at `path`.
fn placed(whole: &Map<String, Value>, path: &[String], object: Map<String, Value>) -> Value {
    let Some((first, rest)) = path.split_first() else { return Value::Object(object) };
    let mut outer = whole.clone();
    let inner = outer.get(first).and_then(Value::as_object).cloned().unwrap_or_default();
    outer.insert(first.clone(), placed(&inner, rest, object));
    Value::Object(outer)
}

fn word_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn shifted(limit: &Number, by: i64) -> Option<Value> {
    match limit.as_i64() {
        Some(value) => value.checked_add(by).map(Value::from),
        None => limit.as_f64().filter(|value| value.abs() < 1e15).map(|value| Value::from(value + by as f64)),
    }
}

fn numbered(item: &Value, at: u64) -> Value {
    match item {
        Value::String(text) if at > 0 => Value::from(format!("{text}-{at}")),
        other => other.clone(),
    }
}

/// An item of an array that is to be too long.
fn one_item(item: &Value) -> Value {
    match item.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => Value::from(1),
        Some("object") => Value::Object(best_effort(item)),
        Some("boolean") => Value::Bool(false),
        Some("array") => Value::Array(Vec::new()),
        _ => item
            .get("enum")
            .and_then(Value::as_array)
            .and_then(|values| values.first().cloned())
            .unwrap_or_else(|| Value::from(TEXT)),
    }
}

#[cfg(test)]
mod tests;
