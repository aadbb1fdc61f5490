//! Every text of a surface that a model may read, with the words that say where it stands.

use serde_json::Value;

use super::Kind;
use crate::model::{EventRef, Surface};

/// One text.
#[derive(Debug, Clone, Copy)]
pub struct Text<'s> {
    /// What it is part of (`tool`, `prompt`, `server instructions`).
    pub part: &'static str,
    /// Where it stands in that, from the entry's member on.
    pub path: &'s [&'s str],
    /// The tool it belongs to.
    pub tool: Option<&'s str>,
    /// The reply it stands in.
    pub at: Option<EventRef>,
    /// Whether it is a name.
    pub kind: Kind,
    /// The text.
    pub text: &'s str,
}

impl Text<'_> {
    /// Where it stands, for a person: `tool description`, `input schema /properties/path/description`.
    pub fn place(&self) -> String {
        match (self.part, self.path) {
            (part, []) => part.to_owned(),
            ("tool", ["inputSchema", path @ ..]) => pointer("input schema", path),
            ("tool", ["outputSchema", path @ ..]) => pointer("output schema", path),
            (
                part,
                [member @ ("name" | "title" | "description" | "uri" | "uriTemplate" | "version" | "websiteUrl")],
            ) => {
                format!("{part} {member}")
            }
            (part, path) => pointer(part, path),
        }
    }
}

/// A JSON pointer after the words it starts from.
fn pointer(part: &str, path: &[&str]) -> String {
    let mut out = part.to_owned();
    for (i, step) in path.iter().enumerate() {
        out.push_str(if i == 0 { " /" } else { "/" });
        out.push_str(&step.replace('~', "~0").replace('/', "~1"));
    }
    out
}

/// Visits every text of the surface in the order of the listings.
pub fn visit(surface: &Surface, mut visit: impl FnMut(Text<'_>)) {
    let visit = &mut visit as &mut dyn FnMut(Text<'_>);
    let handshake = surface.handshake;
    if let Some(text) = &surface.instructions {
        let part = "server instructions";
        visit(Text { part, path: &[], tool: None, at: handshake, kind: Kind::Prose, text });
    }
    if let Some(info) = &surface.server_info {
        entry("serverInfo", info, None, handshake, visit);
    }
    // A client of the other era reads these; most servers say the same in both, and that was visited.
    if let Some(greeting) = &surface.other_era {
        if let Some(text) =
            greeting.instructions.as_deref().filter(|text| surface.instructions.as_deref() != Some(text))
        {
            let part = "server instructions of the other era";
            visit(Text { part, path: &[], tool: None, at: Some(greeting.at), kind: Kind::Prose, text });
        }
        if let Some(info) = greeting.server_info.as_ref().filter(|info| surface.server_info.as_ref() != Some(info)) {
            entry("serverInfo of the other era", info, None, Some(greeting.at), visit);
        }
    }
    for tool in &surface.tools.entries {
        entry("tool", &tool.raw, Some(&tool.name), Some(tool.listed_in), visit);
    }
    let lists =
        [("prompt", &surface.prompts), ("resource", &surface.resources), ("resource template", &surface.templates)];
    for (part, list) in lists {
        for (at, raw) in &list.entries {
            entry(part, raw, None, Some(*at), visit);
        }
    }
}

fn entry(part: &'static str, raw: &Value, tool: Option<&str>, at: Option<EventRef>, visit: &mut dyn FnMut(Text<'_>)) {
    Walk { part, tool, at, visit }.value(raw, &mut Vec::new());
}

struct Walk<'w> {
    part: &'static str,
    tool: Option<&'w str>,
    at: Option<EventRef>,
    visit: &'w mut dyn FnMut(Text<'_>),
}

impl Walk<'_> {
    /// Every text leaf and every name that the server made up.
    fn value<'s>(&mut self, value: &'s Value, path: &mut Vec<&'s str>) {
        match value {
            Value::String(text) => {
                let name = path.last() == Some(&"name")
                    && path.iter().all(|step| !matches!(*step, "inputSchema" | "outputSchema"));
                // A value such as `ignore_all_previous_instructions` is read like a name.
                let identifier = text.contains(['_', '-'])
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
                self.text(text, if name || identifier { Kind::Name } else { Kind::Prose }, path);
            }
            Value::Array(items) => items.iter().for_each(|item| self.value(item, path)),
            Value::Object(members) => {
                for (key, member) in members {
                    path.push(key);
                    // The members of an entry itself are the specification's words.
                    if path.len() > 1 {
                        self.text(key, Kind::Name, path);
                    }
                    self.value(member, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, kind: Kind, path: &[&str]) {
        (self.visit)(Text { part: self.part, path, tool: self.tool, at: self.at, kind, text });
    }
}
