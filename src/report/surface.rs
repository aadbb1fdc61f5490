//! What a server offers: with its texts, as a snapshot keeps it, and as hashes and schemas, as a report keeps it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::result::{PromptFacts, ResourceFacts, ServerFacts, SurfaceFacts, TextFacts, ToolFacts};
use crate::{
    model::{EventRef, Listing, Surface},
    text::{Redactor, excerpt},
};

/// Longest reason why a list could not be read, in characters.
const REASON: usize = 300;
/// Longest name and version of a server that are kept, in characters.
const SHORT: usize = 100;

/// Everything a server offers, texts and all. What a run made random (paths, tokens) is rewritten, so that two runs of
/// one server agree; what a resource holds at the moment (`size`, `lastModified`) is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerSurface {
    /// `serverInfo`.
    pub info: Option<Value>,
    /// `instructions`.
    pub instructions: Option<String>,
    /// `instructions` of the other era's handshake, where they differ.
    pub other_instructions: Option<String>,
    /// `capabilities`.
    pub capabilities: Option<Value>,
    /// Protocol revisions it is known to speak, sorted.
    pub revisions: Vec<String>,
    /// Tools: whole entries, each with a name, in listing order.
    pub tools: Vec<Value>,
    /// Prompts: whole entries, each with a name.
    pub prompts: Vec<Value>,
    /// Resources: whole entries, each with a URI.
    pub resources: Vec<Value>,
    /// Resource templates: whole entries, each with a URI template.
    pub templates: Vec<Value>,
    /// Lists that could not be read whole (`tools/list`) → why.
    pub unread: BTreeMap<String, String>,
}

impl ServerSurface {
    /// Reads a surface, rewriting what the redactor knows.
    pub fn read(surface: &Surface, redactor: &Redactor) -> Self {
        let value = |value: &Option<Value>| value.as_ref().map(|value| redactor.apply_value(value));
        let text = |text: &Option<String>| text.as_deref().map(|text| redactor.apply(text));
        let entries = |listing: &Listing<(EventRef, Value)>, key: &str| {
            let entries = listing.entries.iter().map(|(_, entry)| steady(redactor.apply_value(entry)));
            entries.filter(|entry| entry.get(key).is_some_and(Value::is_string)).collect()
        };
        let other = surface.other_era.as_ref();
        let mut revisions: Vec<String> = surface.revisions.iter().map(|revision| redactor.apply(revision)).collect();
        revisions.extend(other.and_then(|other| other.revision.as_deref()).map(|revision| redactor.apply(revision)));
        revisions.sort();
        revisions.dedup();
        let other_instructions = other.map(|other| &other.instructions).filter(|text| **text != surface.instructions);
        Self {
            info: value(&surface.server_info),
            instructions: text(&surface.instructions),
            other_instructions: other_instructions.and_then(text),
            capabilities: value(&surface.capabilities),
            revisions,
            tools: surface.tools.entries.iter().map(|tool| redactor.apply_value(&tool.raw)).collect(),
            prompts: entries(&surface.prompts, "name"),
            resources: entries(&surface.resources, "uri"),
            templates: entries(&surface.templates, "uriTemplate"),
            unread: unread(surface, redactor),
        }
    }

    /// What a report keeps of it.
    pub fn facts(&self) -> SurfaceFacts {
        SurfaceFacts {
            tools: self.tools.iter().map(tool_facts).collect(),
            prompts: keyed(&self.prompts, "name", prompt_facts),
            resources: keyed(&self.resources, "uri", |entry| resource_facts(entry, "uri")),
            resource_templates: keyed(&self.templates, "uriTemplate", |entry| resource_facts(entry, "uriTemplate")),
            instructions: self.instructions.as_deref().map(text_facts),
            other_instructions: self.other_instructions.as_deref().map(text_facts),
            capabilities: self.capabilities.clone(),
            revisions: self.revisions.clone(),
            title: self.info.as_ref().and_then(|info| text(info, "title")),
            info: self.info.as_ref().map(|info| rest(info, &["name", "title", "version"])).unwrap_or_default(),
            unread: self.unread.clone(),
        }
    }

    /// The part of a report's server that a surface tells.
    pub fn server_facts(&self) -> ServerFacts {
        let short = |key: &str| Some(excerpt(self.info.as_ref()?.get(key)?.as_str()?, SHORT));
        ServerFacts {
            reported_name: short("name"),
            reported_version: short("version"),
            surface: self.facts(),
            ..ServerFacts::default()
        }
    }
}

/// The entry without what says how things stand instead of what is offered.
fn steady(mut entry: Value) -> Value {
    if let Some(members) = entry.as_object_mut() {
        members.shift_remove("size");
        if let Some(annotations) = members.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.shift_remove("lastModified");
        }
    }
    entry
}

fn unread(surface: &Surface, redactor: &Redactor) -> BTreeMap<String, String> {
    let declares = |name: &str| {
        let declared = surface.capabilities.as_ref().and_then(|all| all.get(name));
        declared.is_some_and(|value| !value.is_null())
    };
    let mut unread = BTreeMap::new();
    let mut note = |method: &str, expected: bool, asked: bool, why: [&Option<String>; 3]| {
        let why = why.into_iter().find_map(Option::as_deref);
        if let Some(why) = why.or((expected && !asked).then_some("it was not asked for")) {
            unread.insert(method.to_owned(), excerpt(&redactor.apply(why), REASON));
        }
    };
    let tools = &surface.tools;
    let shaken = surface.handshake.is_some();
    note("tools/list", shaken, tools.asked, [&tools.rejected, &tools.bound, &tools.broken_off]);
    for (method, list, capability) in [
        ("prompts/list", &surface.prompts, "prompts"),
        ("resources/list", &surface.resources, "resources"),
        ("resources/templates/list", &surface.templates, "resources"),
    ] {
        note(method, declares(capability), list.asked, [&list.rejected, &list.bound, &list.broken_off]);
    }
    unread
}

fn tool_facts(tool: &Value) -> ToolFacts {
    let input_schema = tool.get("inputSchema").cloned().unwrap_or(Value::Null);
    let output_schema = tool.get("outputSchema").cloned();
    let mut required: Vec<String> = input_schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    required.sort();
    let parameters = input_schema.get("properties").and_then(Value::as_object);
    ToolFacts {
        name: tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        title: text(tool, "title"),
        description: text(tool, "description"),
        input_schema_sha256: digest(&canonical(&input_schema)),
        required,
        parameters: parameters
            .map(|parameters| parameters.iter().map(|(name, schema)| (name.clone(), type_word(schema))).collect())
            .unwrap_or_default(),
        input_schema,
        output_schema_sha256: output_schema.as_ref().map(|schema| digest(&canonical(schema))),
        output_schema,
        annotations: tool.get("annotations").cloned(),
        meta: tool.get("_meta").map(|meta| digest(&canonical(meta))),
        other: rest(tool, &["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"]),
    }
}

fn prompt_facts(prompt: &Value) -> PromptFacts {
    let mut facts = PromptFacts {
        title: text(prompt, "title"),
        description: text(prompt, "description"),
        other: rest(prompt, &["name", "title", "description", "arguments"]),
        ..PromptFacts::default()
    };
    for argument in prompt.get("arguments").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
        *facts.arguments.entry(name.to_owned()).or_default() |= required;
        facts.argument_descriptions.extend(text(argument, "description").map(|text| (name.to_owned(), text)));
        for (member, hash) in rest(argument, &["name", "description", "required"]) {
            facts.other.insert(format!("{member} of argument {name}"), hash);
        }
    }
    facts
}

fn resource_facts(resource: &Value, key: &str) -> ResourceFacts {
    ResourceFacts {
        title: text(resource, "title"),
        description: text(resource, "description"),
        mime_type: resource.get("mimeType").and_then(Value::as_str).map(str::to_owned),
        other: rest(resource, &[key, "title", "description", "mimeType"]),
    }
}

/// Facts by name or URI. What is listed twice is one entry whose later copies are hashed.
fn keyed<T: Duplicated>(entries: &[Value], key: &str, facts: impl Fn(&Value) -> T) -> BTreeMap<String, T> {
    let mut all = BTreeMap::<String, T>::new();
    for entry in entries {
        let Some(name) = entry.get(key).and_then(Value::as_str) else { continue };
        match all.get_mut(name) {
            Some(first) => first.listed_again(digest(&canonical(entry))),
            None => {
                all.insert(name.to_owned(), facts(entry));
            }
        }
    }
    all
}

trait Duplicated {
    fn members(&mut self) -> &mut BTreeMap<String, String>;

    fn listed_again(&mut self, hash: String) {
        let hashes = self.members().entry("second entry".to_owned()).or_default();
        *hashes = if hashes.is_empty() { hash } else { digest(&format!("{hashes}{hash}")) };
    }
}

impl Duplicated for PromptFacts {
    fn members(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.other
    }
}

impl Duplicated for ResourceFacts {
    fn members(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.other
    }
}

/// A text member as facts.
fn text(entry: &Value, member: &str) -> Option<TextFacts> {
    entry.get(member).and_then(Value::as_str).map(text_facts)
}

/// Every other member by the hash of its value; a known one too when it is no text where a text belongs.
fn rest(entry: &Value, known: &[&str]) -> BTreeMap<String, String> {
    const TEXTS: [&str; 6] = ["name", "title", "version", "description", "mimeType", "uri"];
    let unknown = |(name, value): &(&String, &Value)| {
        let name = name.as_str();
        !known.contains(&name) || (TEXTS.contains(&name) && !value.is_string())
    };
    let members = entry.as_object().into_iter().flat_map(Map::iter).filter(unknown);
    members.map(|(name, value)| (name.clone(), digest(&canonical(value)))).collect()
}

/// `string`, `integer|null`, or `any` where the schema does not say.
fn type_word(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}

/// A text's hash and length.
pub fn text_facts(text: &str) -> TextFacts {
    TextFacts { chars: text.chars().count() as u64, sha256: digest(text) }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON with sorted members and no white space, so that equal values have equal hashes.
pub fn canonical(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    sorted.to_string()
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
