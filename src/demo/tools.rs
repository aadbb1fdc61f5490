//! Carries out the demo server's tools. Arguments are held against the listed schema first, and a refusal says what to send instead.

use serde_json::{Map, Value, json};

use super::{
    Mode, broken,
    catalog::{self, NOTES, UNITS},
};

/// What a tool came to: structured content, or a text that refuses.
pub(super) type Outcome = Result<Value, String>;

/// Calls the tool. `None`: there is no such tool.
pub(super) fn call(mode: Mode, secret: Option<&str>, name: &str, arguments: &Map<String, Value>) -> Option<Outcome> {
    let tool = catalog::tools(mode).into_iter().find(|tool| tool["name"] == name)?;
    if mode == Mode::Broken
        && let Some(outcome) = broken::call(secret, name, arguments)
    {
        return Some(outcome);
    }
    if let Some(complaint) = complaint(&tool["inputSchema"], arguments) {
        return Some(Err(match mode {
            Mode::Honest => format!("{complaint} {}", usage(name)),
            Mode::Broken => broken::REFUSAL.to_owned(),
        }));
    }
    Some(carry_out(name, arguments))
}

fn carry_out(name: &str, arguments: &Map<String, Value>) -> Outcome {
    let number = |key: &str| arguments.get(key).and_then(Value::as_f64).unwrap_or_default();
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    match name {
        "add" => Ok(json!({ "sum": number("a") + number("b") })),
        "word_count" => {
            let text = text("text");
            let words = text.split_whitespace().count();
            Ok(json!({ "words": words, "lines": text.lines().count(), "characters": text.chars().count() }))
        }
        "list_notes" => Ok(json!({ "titles": NOTES.iter().map(|note| note.title).collect::<Vec<_>>() })),
        "search_notes" => {
            let (query, limit) =
                (text("query").to_lowercase(), arguments.get("limit").and_then(Value::as_f64).unwrap_or(5.0));
            let found =
                NOTES.iter().filter(|note| format!("{} {}", note.title, note.text).to_lowercase().contains(&query));
            let notes: Vec<Value> =
                found.take(limit as usize).map(|note| json!({ "title": note.title, "text": note.text })).collect();
            Ok(json!({ "notes": notes }))
        }
        "convert_units" => convert(number("value"), text("from"), text("to")),
        _ => {
            let units = UNITS.iter().map(|(name, kind, _)| json!({ "name": name, "kind": kind }));
            Ok(json!({ "units": units.collect::<Vec<_>>() }))
        }
    }
}

fn convert(value: f64, from: &str, to: &str) -> Outcome {
    let find = |name: &str| UNITS.iter().find(|(unit, ..)| *unit == name);
    match (find(from), find(to)) {
        (Some((_, kind, size)), Some((unit, other, base))) if kind == other => {
            Ok(json!({ "value": value * size / base, "unit": unit }))
        }
        (Some((_, kind, _)), _) => {
            let same: Vec<&str> = UNITS.iter().filter(|(_, other, _)| other == kind).map(|(name, ..)| *name).collect();
            Err(format!(
                "`{from}` measures {kind} and `{to}` does not. Use one of these for `to` instead: {}.",
                same.join(", ")
            ))
        }
        _ => Err("Call list_units to see the units that can be used.".to_owned()),
    }
}

/// An example of a valid call.
fn usage(name: &str) -> String {
    let example = match name {
        "add" => r#"{"a": 2, "b": 3}"#,
        "word_count" => r#"{"text": "some words"}"#,
        "search_notes" => r#"{"query": "bread"}"#,
        "convert_units" => r#"{"value": 5, "from": "mile", "to": "kilometre"}"#,
        _ => "{}",
    };
    format!("Call {name} with arguments such as {example} instead.")
}

/// What is wrong with the arguments by the schema, if anything. Knows the keywords that [`catalog`] uses.
fn complaint(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = missing.into_iter().find(|name| !arguments.contains_key(*name)) {
        return Some(format!("`{name}` is missing: it is required."));
    }
    if let Some(name) = arguments.keys().find(|name| !properties.contains_key(*name)) {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let known =
            if known.is_empty() { "it takes none".to_owned() } else { format!("allowed: {}", known.join(", ")) };
        return Some(format!("`{}` is not an argument of this tool ({known}).", brief(name)));
    }
    arguments.iter().find_map(|(name, value)| {
        let wrong = wrong_value(properties.get(name)?, value)?;
        Some(format!("`{name}` {wrong}."))
    })
}

fn wrong_value(schema: &Value, value: &Value) -> Option<String> {
    let kind = schema["type"].as_str()?;
    let matches = match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    };
    if !matches {
        let article = if kind == "integer" { "an" } else { "a" };
        return Some(format!("must be {article} {kind}, not {}", kind_of(value)));
    }
    if let Some(number) = value.as_f64() {
        let (low, high) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
        if low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high) {
            return Some(format!("must be between {} and {}", schema["minimum"], schema["maximum"]));
        }
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as u64;
        if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
            return Some(format!("must be at most {most} characters long, not {length}"));
        }
        if schema["minLength"].as_u64().is_some_and(|least| length < least) {
            return Some("must not be empty".to_owned());
        }
        if let Some(allowed) = schema["enum"].as_array().filter(|allowed| !allowed.contains(value)) {
            let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
            return Some(format!("must be one of {}", allowed.join(", ")));
        }
    }
    None
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A name of the caller's, short and printable.
pub(super) fn brief(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(60).collect()
}
