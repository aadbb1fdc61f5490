//! The surface as a report keeps it: hashes and lengths of texts, schemas in full.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::result::{SurfaceFacts, TextFacts, ToolFacts};
use crate::{
    model::{EventRef, Surface, Tool},
    text::Redactor,
};

/// Reads the facts of a surface; what the run made random (paths, tokens) is rewritten first, so that two runs agree.
pub(super) fn surface_facts(surface: &Surface, redactor: &Redactor) -> SurfaceFacts {
    SurfaceFacts {
        tools: surface.tools.entries.iter().map(|tool| tool_facts(tool, redactor)).collect(),
        prompts: named(&surface.prompts.entries, "name", redactor),
        resources: named(&surface.resources.entries, "uri", redactor),
        resource_templates: named(&surface.templates.entries, "uriTemplate", redactor),
        instructions: surface.instructions.as_deref().map(|text| text_facts(text, redactor)),
        capabilities: surface.capabilities.as_ref().map(|value| redactor.apply_value(value)),
    }
}

fn tool_facts(tool: &Tool, redactor: &Redactor) -> ToolFacts {
    let member = |name: &str| tool.raw.get(name).map(|value| redactor.apply_value(value));
    let text = |name: &str| tool.raw.get(name).and_then(Value::as_str).map(|text| text_facts(text, redactor));
    let input_schema = member("inputSchema").unwrap_or(Value::Null);
    let output_schema = member("outputSchema");
    let mut required: Vec<String> = input_schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    required.sort();
    let parameters = input_schema.get("properties").and_then(Value::as_object);
    ToolFacts {
        name: redactor.apply(&tool.name),
        title: text("title"),
        description: text("description"),
        input_schema_sha256: digest(&canonical(&input_schema)),
        required,
        parameters: parameters
            .map(|parameters| parameters.iter().map(|(name, schema)| (name.clone(), type_word(schema))).collect())
            .unwrap_or_default(),
        input_schema,
        output_schema_sha256: output_schema.as_ref().map(|schema| digest(&canonical(schema))),
        output_schema,
        annotations: member("annotations"),
    }
}

/// `string`, `integer|null`, or `any` where the schema does not say.
fn type_word(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}

fn named(entries: &[(EventRef, Value)], key: &str, redactor: &Redactor) -> BTreeMap<String, String> {
    let facts = |entry: &Value| {
        let entry = redactor.apply_value(entry);
        Some((entry.get(key)?.as_str()?.to_owned(), digest(&canonical(&entry))))
    };
    entries.iter().filter_map(|(_, entry)| facts(entry)).collect()
}

fn text_facts(text: &str, redactor: &Redactor) -> TextFacts {
    let text = redactor.apply(text);
    TextFacts { chars: text.chars().count() as u64, sha256: digest(&text) }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON with sorted members and no white space, so that equal values have equal hashes.
fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(name, member)| (name.clone(), sorted(member))).collect();
                members.sort_by(|(left, _), (right, _)| left.cmp(right));
                Value::Object(members.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{canonical, type_word};

    #[test]
    fn member_order_does_not_change_the_hash() {
        assert_eq!(
            canonical(&json!({"b": 1, "a": {"d": 2, "c": 3}})),
            canonical(&json!({"a": {"c": 3, "d": 2}, "b": 1}))
        );
        assert_ne!(canonical(&json!([1, 2])), canonical(&json!([2, 1])));
    }

    #[test]
    fn a_type_is_one_word() {
        assert_eq!(type_word(&json!({"type": ["integer", "null"]})), "integer|null");
        assert_eq!(type_word(&json!({"anyOf": []})), "any");
    }
}
