//! What the demo server offers: tools, prompts, notes. Fixed, so that two runs are alike.

use serde_json::{Value, json};

use super::{Mode, broken};

/// What the server says about itself to a model.
pub(super) const INSTRUCTIONS: &str = "A small demonstration server: arithmetic, counting words, converting units and a fixed set of notes. \
    Call list_notes or search_notes to find a note, and list_units to see what convert_units accepts.";

/// A note that cannot change.
pub(super) struct Note {
    /// The last part of its URI.
    pub(super) slug: &'static str,
    /// Its title.
    pub(super) title: &'static str,
    /// Its text.
    pub(super) text: &'static str,
}

/// All notes.
pub(super) const NOTES: [Note; 4] = [
    Note { slug: "garden", title: "Garden", text: "Water the tomatoes every second day and the herbs on Sundays." },
    Note { slug: "bread", title: "Bread", text: "500 g flour, 350 g water, 10 g salt. Let the dough rest overnight." },
    Note { slug: "bicycle", title: "Bicycle", text: "Tyres take 4 bar. Oil the chain after riding in the rain." },
    Note { slug: "reading", title: "Reading list", text: "A history of maps; two novels; the manual of the bicycle." },
];

/// A unit: name, what it measures, and how many of the base unit it is.
pub(super) const UNITS: [(&str, &str, f64); 8] = [
    ("metre", "length", 1.0),
    ("kilometre", "length", 1000.0),
    ("mile", "length", 1609.344),
    ("gram", "mass", 1.0),
    ("kilogram", "mass", 1000.0),
    ("pound", "mass", 453.59237),
    ("second", "time", 1.0),
    ("hour", "time", 3600.0),
];

/// The implementation block of both eras.
pub(super) fn server_info() -> Value {
    json!({ "name": "sealmark-demo", "title": "Sealmark demo server", "version": env!("CARGO_PKG_VERSION") })
}

/// The note with that URI.
pub(super) fn note(uri: &str) -> Option<&'static Note> {
    NOTES.iter().find(|note| uri.strip_prefix("note:///") == Some(note.slug))
}

/// The tools in listing order.
pub(super) fn tools(mode: Mode) -> Vec<Value> {
    let honest = vec![add(), word_count(), list_notes(), search_notes(), convert_units(), list_units()];
    match mode {
        Mode::Honest => honest,
        Mode::Broken => broken::spoil(honest),
    }
}

/// A tool that only reads what is inside the server.
pub(super) fn tool(name: &str, title: &str, description: &str, input: Value, output: Value) -> Value {
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": input,
        "outputSchema": output,
        "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
    })
}

/// A closed object schema in which everything but `optional` is required.
pub(super) fn object(properties: Value, optional: &[&str]) -> Value {
    let names = properties.as_object().into_iter().flat_map(|properties| properties.keys());
    let required: Vec<&String> = names.filter(|name| !optional.contains(&name.as_str())).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn add() -> Value {
    let number = |what: &str| json!({ "type": "number", "description": what, "minimum": -1e15, "maximum": 1e15 });
    tool(
        "add",
        "Add two numbers",
        "Adds two numbers and returns their sum.",
        object(json!({ "a": number("The first number."), "b": number("The second number.") }), &[]),
        object(json!({ "sum": { "type": "number" } }), &[]),
    )
}

fn word_count() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    tool(
        "word_count",
        "Count words",
        "Counts the words, lines and characters of a text.",
        object(
            json!({ "text": { "type": "string", "description": "The text, at most 10000 characters.", "maxLength": 10000 } }),
            &[],
        ),
        object(json!({ "words": count, "lines": count, "characters": count }), &[]),
    )
}

fn list_notes() -> Value {
    let notes = json!({ "type": "array", "items": { "type": "string" } });
    tool(
        "list_notes",
        "List notes",
        "Lists the titles of all notes.",
        object(json!({}), &[]),
        object(json!({ "titles": notes }), &[]),
    )
}

fn search_notes() -> Value {
    let query = json!({ "type": "string", "description": "A word or part of one; upper and lower case are alike.", "minLength": 1, "maxLength": 200 });
    let limit = json!({ "type": "integer", "description": "How many notes to return at most.", "minimum": 1, "maximum": 20, "default": 5 });
    let note = object(json!({ "title": { "type": "string" }, "text": { "type": "string" } }), &[]);
    tool(
        "search_notes",
        "Search notes",
        "Returns the notes whose title or text contains a word.",
        object(json!({ "query": query, "limit": limit }), &["limit"]),
        object(json!({ "notes": { "type": "array", "items": note } }), &[]),
    )
}

fn convert_units() -> Value {
    let names: Vec<&str> = UNITS.iter().map(|(name, ..)| *name).collect();
    let unit = |what: &str| json!({ "type": "string", "description": what, "enum": names });
    let value = json!({ "type": "number", "description": "The amount to convert.", "minimum": -1e12, "maximum": 1e12 });
    tool(
        "convert_units",
        "Convert units",
        "Converts an amount from one unit to another of the same kind (length, mass or time).",
        object(
            json!({ "value": value, "from": unit("The unit of the amount."), "to": unit("The unit to convert to.") }),
            &[],
        ),
        object(json!({ "value": { "type": "number" }, "unit": { "type": "string" } }), &[]),
    )
}

fn list_units() -> Value {
    let unit = object(json!({ "name": { "type": "string" }, "kind": { "type": "string" } }), &[]);
    tool(
        "list_units",
        "List units",
        "Lists the units that convert_units accepts, with what each measures.",
        object(json!({}), &[]),
        object(json!({ "units": { "type": "array", "items": unit } }), &[]),
    )
}

/// The prompts.
pub(super) fn prompts() -> Vec<Value> {
    vec![json!({
        "name": "summarize_notes",
        "title": "Summarize notes",
        "description": "Asks for a short summary of the notes on a topic.",
        "arguments": [{ "name": "topic", "description": "The word the notes should contain.", "required": true }],
    })]
}

/// The resources: one for each note.
pub(super) fn resources() -> Vec<Value> {
    let entry = |note: &Note| {
        let uri = format!("note:///{}", note.slug);
        json!({ "uri": uri, "name": note.slug, "title": note.title, "description": "A note as plain text.", "mimeType": "text/plain" })
    };
    NOTES.iter().map(entry).collect()
}

/// The resource templates.
pub(super) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "note:///{slug}",
        "name": "note",
        "title": "Note",
        "description": "The note with that slug, as plain text.",
        "mimeType": "text/plain",
    })]
}
