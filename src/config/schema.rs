//! JSON Schema of `sealmark.yaml`, for editors.

use serde_json::{Map, Value, json};

use super::{
    catalog::{Branch, Catalog, Key},
    keys::Kind,
    registry::Registry,
    value::FORMATS,
};

/// JSON Schema (draft 2020-12) of `sealmark.yaml`, from the key table and the registry.
pub fn schema() -> Value {
    of(&Catalog::of(Registry::built_in()))
}

pub(crate) fn of(catalog: &Catalog) -> Value {
    let mut root = branch(&catalog.root, catalog);
    let mut profile = branch(&catalog.profile, catalog);
    profile["properties"]["extends"] =
        json!({ "type": "string", "description": "The profile that lies below this one." });
    root["properties"]["profiles"] = json!({
        "type": ["object", "null"],
        "description": "Profiles of your own: how to grade, not what.",
        "additionalProperties": profile,
    });
    root["type"] = json!("object");
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("sealmark.yaml"));
    schema.insert("description".to_owned(), json!("What sealmark grades, and how."));
    if let Value::Object(members) = root {
        schema.extend(members);
    }
    // Both may be absent: flags can name the server.
    schema.insert("not".to_owned(), json!({ "required": ["server", "servers"] }));
    Value::Object(schema)
}

fn branch(at: &Branch, catalog: &Catalog) -> Value {
    match at {
        Branch::Leaf(index) => leaf(&catalog.keys[*index], &catalog.registry),
        Branch::Named(_, below) => {
            json!({ "type": ["object", "null"], "additionalProperties": branch(below, catalog) })
        }
        Branch::Section(known) => {
            let mut properties = Map::new();
            for (name, below) in known {
                let schema = branch(below, catalog);
                if let Branch::Leaf(index) = below
                    && let Some(alias) = catalog.keys[*index].alias
                {
                    properties.insert(alias.to_owned(), schema.clone());
                }
                properties.insert(name.clone(), schema);
            }
            json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false })
        }
    }
}

fn leaf(key: &Key, registry: &Registry) -> Value {
    let words = |words: &[&str]| Value::Array(words.iter().map(|word| json!(word)).chain([Value::Null]).collect());
    // One item may stand for a list of one.
    let list = |items: Value| json!({ "anyOf": [items, { "type": "array", "items": items }, { "type": "null" }] });
    let mut schema = match key.kind {
        Kind::Text => json!({ "type": ["string", "number", "boolean", "null"] }),
        Kind::Path => json!({ "type": ["string", "null"], "minLength": 1 }),
        Kind::Bool => json!({ "type": ["boolean", "null"] }),
        Kind::Integer { min, max: i64::MAX, .. } => json!({ "type": ["integer", "null"], "minimum": min }),
        Kind::Integer { min, max, .. } => json!({ "type": ["integer", "null"], "minimum": min, "maximum": max }),
        Kind::Choice(choices) => json!({ "enum": words(choices) }),
        Kind::Letter => json!({ "enum": words(&["A", "B", "C", "D", "F", "none", "a", "b", "c", "d", "f"]) }),
        Kind::Texts => list(json!({ "type": ["string", "number", "boolean"] })),
        Kind::Patterns => list(json!({ "type": "string", "minLength": 1 })),
        Kind::Choices(choices) => list(json!({ "enum": choices })),
        Kind::Formats => list(json!({ "enum": FORMATS })),
        Kind::Packs => {
            let mut schema = list(json!({ "enum": registry.pack_ids() }));
            schema["anyOf"][1]["minItems"] = json!(1);
            schema
        }
        Kind::Files => json!({
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string", "pattern": "^\\{(sandbox|dir|sandbox_home)\\}[/\\\\]" },
                    "content": { "type": ["string", "number", "boolean"] },
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            },
        }),
    };
    let mut description = format!("{}.", key.help);
    if key.locked {
        description.push_str(" Changing it makes the run CUSTOM.");
    }
    if key.append {
        description.push_str(" Layers append to it.");
    }
    schema["description"] = json!(description);
    if let Some(default) = &key.default {
        schema["default"] = default.clone();
    }
    schema
}
