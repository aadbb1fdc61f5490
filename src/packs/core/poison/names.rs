//! Names: what the server itself offers, and names read as words.

use std::collections::HashSet;

use serde_json::Value;

use super::lexicon::Lexicon;
use crate::model::Surface;

/// What the server offers, in lower case, so that orders about other tools can be told from orders about its own.
#[derive(Debug, Default)]
pub struct Offered {
    tools: HashSet<String>,
    /// Parameters, prompts, resources: names that are no tools and yet this server's own.
    others: HashSet<String>,
    /// Words of the server's name: `any other GitHub tool` is its own.
    server: HashSet<String>,
}

impl Offered {
    /// Collects the names of a surface.
    pub fn of(surface: &Surface) -> Self {
        let mut offered = Self::default();
        for tool in &surface.tools.entries {
            let name = tool.name.to_lowercase();
            // Clients and texts shorten `github.create_issue` to its last parts.
            let cuts = name.char_indices().filter(|(_, c)| !c.is_alphanumeric()).map(|(at, c)| at + c.len_utf8());
            offered.tools.extend(cuts.map(|at| name[at..].to_owned()).filter(|part| part.contains('_')));
            offered.tools.insert(name);
            for schema in ["inputSchema", "outputSchema"] {
                collect(tool.raw.get(schema), &mut offered.others, 0);
            }
        }
        let prompts = surface.prompts.entries.iter().map(|(_, entry)| entry);
        let resources = surface.resources.entries.iter().chain(&surface.templates.entries).map(|(_, entry)| entry);
        for entry in prompts.chain(resources) {
            if let Some(name) = entry.get("name").and_then(Value::as_str) {
                offered.others.insert(name.to_lowercase());
            }
            for argument in entry.get("arguments").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = argument.get("name").and_then(Value::as_str) {
                    offered.others.insert(name.to_lowercase());
                }
            }
        }
        let info = surface.server_info.as_ref();
        for name in ["name", "title"].iter().filter_map(|key| info?.get(key)?.as_str()) {
            let words = spaced(name).to_lowercase();
            offered.server.extend(
                words.split_whitespace().filter(|word| word.len() > 2 && !GENERIC.holds(word)).map(str::to_owned),
            );
        }
        offered
    }

    /// Whether the server offers a tool of that name, whatever its case.
    pub fn tool(&self, name: &str) -> bool {
        self.tools.contains(&name.to_lowercase())
    }

    /// Whether it is another name of the server's own: a parameter, a prompt, a resource.
    pub fn other(&self, name: &str) -> bool {
        self.others.contains(&name.to_lowercase())
    }

    /// Whether the word belongs to the server's own name.
    pub fn server(&self, word: &str) -> bool {
        self.server.contains(word)
    }
}

/// Words that are no name: `mcp-server-git` is called `git`.
static GENERIC: Lexicon = Lexicon::new("mcp server servers the official tool tools and for any other available");

fn collect(schema: Option<&Value>, into: &mut HashSet<String>, depth: usize) {
    match schema {
        Some(Value::Object(members)) if depth < 100 => {
            for (key, value) in members {
                if let ("properties", Value::Object(properties)) = (key.as_str(), value) {
                    into.extend(properties.keys().map(|name| name.to_lowercase()));
                }
                if let ("enum", Value::Array(values)) = (key.as_str(), value) {
                    into.extend(
                        values.iter().filter_map(Value::as_str).filter(|value| value.len() < 80).map(str::to_lowercase),
                    );
                }
                collect(Some(value), into, depth + 1);
            }
        }
        Some(Value::Array(items)) if depth < 100 => items.iter().for_each(|item| collect(Some(item), into, depth + 1)),
        _ => {}
    }
}

/// A name as words: cut at `_`, `-`, `.` and before a capital. As many bytes as before or a few more.
pub fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut lower = false;
    for c in name.chars() {
        match c {
            '_' | '-' | '.' => out.push(' '),
            c if c.is_uppercase() && lower => out.extend([' ', c]),
            c => out.push(c),
        }
        lower = c.is_lowercase();
    }
    out
}

/// Whether a word is spelled like the name of a tool: parts joined by `_`, or by `-` where it is marked as code.
pub fn like_a_tool(word: &str, code: bool) -> bool {
    let parts = |by: char| {
        let mut parts = word.split(by);
        parts.clone().count() > 1
            && parts
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    };
    word.len() > 3 && word.starts_with(|c: char| c.is_ascii_alphabetic()) && (parts('_') || (code && parts('-')))
}
