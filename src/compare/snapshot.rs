//! `sealmark.surface/1`: what servers offer, written to be committed and reviewed.
//!
//! Sorted and stable: a change of the server is a change of the lines that say so. Texts of several lines are lists of
//! lines, and characters that nobody sees are escapes.

use std::{collections::BTreeMap, fmt::Write as _, io::Read, path::Path};

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::{Drift, Offer, ServerSurface, TextChange, drift};
use crate::{files, text::is_hidden};

/// The format's name, the first member of a snapshot.
pub const SNAPSHOT: &str = "sealmark.surface/1";

/// Largest snapshot that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The surfaces of servers by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Server → what it offers.
    pub servers: BTreeMap<String, ServerSurface>,
}

/// Why a snapshot cannot be read.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The file.
    #[error("the snapshot {path} could not be read: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// Its content.
    #[error("{path} is not a snapshot of surfaces: {why}")]
    Wrong {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
}

impl SnapshotError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "`sealmark surface --out FILE` writes a snapshot"
    }
}

impl Snapshot {
    /// The snapshot as a file: the same surfaces give the same bytes, whatever order they were listed in.
    pub fn render(&self) -> String {
        let servers: Map<String, Value> =
            self.servers.iter().map(|(name, surface)| (name.clone(), write(surface))).collect();
        let document = json!({ "schema": SNAPSHOT, "servers": servers });
        let text = format!("{document:#}\n");
        let mut visible = String::with_capacity(text.len());
        for c in text.chars() {
            if c == '\n' || !is_hidden(c) {
                visible.push(c);
            } else {
                // Only strings hold such characters: the layout is spaces and line feeds.
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(visible, "\\u{unit:04x}"); // writing to a String cannot fail
                }
            }
        }
        visible
    }

    /// Reads a file, at most 64 MiB of it.
    ///
    /// # Errors
    /// It cannot be read, is too large, no JSON, or no snapshot of this version.
    pub fn read_file(path: &Path) -> Result<Self, SnapshotError> {
        let name = path.display().to_string();
        let unreadable = |error| SnapshotError::Unreadable { path: name.clone(), error };
        let mut bytes = Vec::new();
        let file = files::open(path).map_err(unreadable)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::parse(&bytes).map_err(|why| SnapshotError::Wrong { path: name, why })
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// What is wrong with it, as a fragment.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("it is larger than {} MiB", MAX_BYTES >> 20));
        }
        let document: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        match document.get("schema") {
            Some(Value::String(schema)) if schema == SNAPSHOT => {}
            Some(Value::String(other)) => {
                let other: String = other.chars().take(40).collect();
                return Err(format!("its schema is {other:?}; this version reads {SNAPSHOT}"));
            }
            _ => return Err("it has no `schema`".to_owned()),
        }
        let servers = document.get("servers").and_then(Value::as_object).ok_or("it has no `servers`")?;
        let read = |(name, surface): (&String, &Value)| match self::read(surface) {
            Ok(surface) => Ok((name.clone(), surface)),
            Err(why) => Err(format!("server {:?}: {why}", name.chars().take(60).collect::<String>())),
        };
        servers.iter().map(read).collect::<Result<_, _>>().map(|servers| Self { servers })
    }
}

/// The members of a listed entry that stand first, in this order; the rest follows by name.
const FIRST: [&str; 6] = ["name", "uri", "uriTemplate", "title", "description", "mimeType"];

fn write(surface: &ServerSurface) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.insert(name.to_owned(), value);
        }
    };
    put("serverInfo", surface.info.clone().map(sorted));
    put("revisions", (!surface.revisions.is_empty()).then(|| json!(surface.revisions)));
    put("capabilities", surface.capabilities.clone().map(sorted));
    put("instructions", surface.instructions.as_deref().map(lines));
    put("otherInstructions", surface.other_instructions.as_deref().map(lines));
    put("unread", (!surface.unread.is_empty()).then(|| json!(surface.unread)));
    for (name, key, entries) in [
        ("tools", "name", &surface.tools),
        ("prompts", "name", &surface.prompts),
        ("resources", "uri", &surface.resources),
        ("resourceTemplates", "uriTemplate", &surface.templates),
    ] {
        let mut entries: Vec<Value> = entries.iter().map(write_entry).collect();
        // The whole entry decides between several of one name, so that their order does not depend on the listing.
        entries.sort_by_cached_key(|entry| {
            let name = entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            (name, entry.to_string())
        });
        put(name, (!entries.is_empty()).then_some(Value::Array(entries)));
    }
    Value::Object(out)
}

fn write_entry(entry: &Value) -> Value {
    let Value::Object(mut members) = sorted(entry.clone()) else { return entry.clone() };
    let mut out = Map::new();
    for name in FIRST {
        if let Some(value) = members.shift_remove(name) {
            out.insert(name.to_owned(), if name == "description" { write_text(value) } else { value });
        }
    }
    if let Some(Value::Array(arguments)) = members.get_mut("arguments") {
        for argument in arguments.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(text) = argument.get_mut("description") {
                *text = write_text(text.take());
            }
        }
    }
    out.extend(members);
    Value::Object(out)
}

fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}

/// A text of several lines as a list of them.
fn lines(text: &str) -> Value {
    if text.contains('\n') { text.split('\n').collect() } else { Value::from(text) }
}

/// What stands where a text belongs; what is none is wrapped, so that it is not taken for lines.
fn write_text(value: Value) -> Value {
    match value {
        Value::String(text) => lines(&text),
        other => json!({ "value": other }),
    }
}

fn read_text(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(Value::from(text.as_str())),
        Value::Array(lines) => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
            Some(Value::from(lines?.join("\n")))
        }
        Value::Object(wrapped) => wrapped.get("value").cloned(),
        _ => None,
    }
}

fn read(surface: &Value) -> Result<ServerSurface, String> {
    let members = surface.as_object().ok_or("it is not an object")?;
    let text = |name: &str| match members.get(name) {
        None => Ok(None),
        Some(value) => match read_text(value) {
            Some(Value::String(text)) => Ok(Some(text)),
            _ => Err(format!("`{name}` is neither a text nor a list of lines")),
        },
    };
    let entries = |name: &str, key: &str| match members.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(entries)) => entries.iter().map(|entry| read_entry(entry, name, key)).collect(),
        Some(_) => Err(format!("`{name}` is not a list")),
    };
    let revisions = match members.get("revisions") {
        None => Vec::new(),
        Some(value) => serde_json::from_value(value.clone()).map_err(|_| "`revisions` is not a list of texts")?,
    };
    let unread = match members.get("unread") {
        None => BTreeMap::new(),
        Some(value) => serde_json::from_value(value.clone()).map_err(|_| "`unread` does not map names to texts")?,
    };
    Ok(ServerSurface {
        info: members.get("serverInfo").cloned(),
        instructions: text("instructions")?,
        other_instructions: text("otherInstructions")?,
        capabilities: members.get("capabilities").cloned(),
        revisions,
        tools: entries("tools", "name")?,
        prompts: entries("prompts", "name")?,
        resources: entries("resources", "uri")?,
        templates: entries("resourceTemplates", "uriTemplate")?,
        unread,
    })
}

fn read_entry(entry: &Value, list: &str, key: &str) -> Result<Value, String> {
    let mut entry = entry.clone();
    let members = entry.as_object_mut().ok_or_else(|| format!("an entry of `{list}` is not an object"))?;
    if !members.get(key).is_some_and(Value::is_string) {
        return Err(format!("an entry of `{list}` has no `{key}`"));
    }
    let wrong = || format!("a `description` in `{list}` is neither a text nor a list of lines");
    if let Some(text) = members.get_mut("description") {
        *text = read_text(text).ok_or_else(wrong)?;
    }
    if let Some(Value::Array(arguments)) = members.get_mut("arguments") {
        for argument in arguments.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(text) = argument.get_mut("description") {
                *text = read_text(text).ok_or_else(wrong)?;
            }
        }
    }
    Ok(entry)
}

/// Every change between two surfaces that kept their texts, with the texts.
pub fn surface_drift(before: &ServerSurface, after: &ServerSurface) -> Vec<Drift> {
    let mut found = drift(&before.server_facts(), &after.server_facts());
    for drift in found.iter_mut().filter(|drift| drift.text.is_none()) {
        let text = |side: &ServerSurface| text_of(side, drift);
        if let (Some(before), Some(after)) = (text(before), text(after)) {
            drift.text = Some(TextChange { before, after });
        }
    }
    found
}

/// The text that a change is about; empty where there is none, nothing where it cannot be told which it is.
fn text_of(side: &ServerSurface, drift: &Drift) -> Option<String> {
    let own = |text: &Option<String>| Some(text.clone().unwrap_or_default());
    let member = match (drift.offer, drift.kind) {
        (Offer::Server, "instructions-changed") if drift.detail.contains("other era") => {
            return own(&side.other_instructions);
        }
        (Offer::Server, "instructions-changed") => return own(&side.instructions),
        (Offer::Server, "title-changed") => {
            let title = side.info.as_ref().and_then(|info| info.get("title")).and_then(Value::as_str);
            return Some(title.unwrap_or_default().to_owned());
        }
        (_, "description-changed") => "description",
        (_, "title-changed") => "title",
        _ => return None,
    };
    let (entries, key) = match drift.offer {
        Offer::Server => return None,
        Offer::Tool => (&side.tools, "name"),
        Offer::Prompt => (&side.prompts, "name"),
        Offer::Resource => (&side.resources, "uri"),
        Offer::ResourceTemplate => (&side.templates, "uriTemplate"),
    };
    let mut named = entries.iter().filter(|entry| entry.get(key).and_then(Value::as_str) == Some(&drift.name));
    let entry = named.next().filter(|_| named.next().is_none())?;
    Some(entry.get(member).and_then(Value::as_str).unwrap_or_default().to_owned())
}
