//! The parameters of a tool that take free text, wherever its schema puts them.

use serde_json::Value;

use super::{
    names::words,
    schema::{Evaluator, Texts},
};
use crate::model::Tool;

/// Parameters read of one tool.
const MAX_PARAMETERS: usize = 256;
/// Alternatives and items followed below a property.
const MAX_DEPTH: u32 = 6;
/// Schemas looked at in one tool.
const MAX_LOOKS: u32 = 4_000;
/// Characters of a description that are read.
const MAX_DESCRIPTION: usize = 2_000;

/// A parameter that takes free text, or a list of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    /// Its name; `params.path` inside an object parameter.
    pub(super) name: String,
    /// The words of its own name, without the object's.
    pub(super) words: Vec<String>,
    /// Its description in lower case, cut.
    pub(super) description: String,
    /// Its description as written, cut.
    pub(super) written: String,
    /// Its `format`.
    pub(super) format: Option<String>,
    /// A list of texts.
    pub(super) list: bool,
}

/// The text parameters of a tool in schema order: top-level ones and those one level inside an object parameter.
pub(super) fn text_parameters(tool: &Tool) -> Vec<Parameter> {
    let Some(schema) = tool.input_schema() else { return Vec::new() };
    let mut reader =
        Reader { evaluator: Evaluator::new(schema, Texts::Doubted, 20_000), found: Vec::new(), looks: MAX_LOOKS };
    reader.object(schema, "", true);
    reader.found
}

/// The names of the parameters that take text: those that an override can name.
pub fn text_parameters_of(tool: &Tool) -> Vec<String> {
    text_parameters(tool).into_iter().map(|parameter| parameter.name).collect()
}

struct Reader<'s> {
    evaluator: Evaluator<'s>,
    found: Vec<Parameter>,
    /// Schemas that may still be looked at.
    looks: u32,
}

impl<'s> Reader<'s> {
    fn object(&mut self, schema: &'s Value, prefix: &str, nest: bool) {
        for part in self.evaluator.parts(&[schema], 16) {
            let Some(properties) = part.get("properties").and_then(Value::as_object) else { continue };
            for (name, property) in properties {
                if self.found.len() >= MAX_PARAMETERS
                    || self.found.iter().any(|known| known.name == format!("{prefix}{name}"))
                {
                    continue;
                }
                match self.takes(property, 0) {
                    Some(Takes::Text { list }) => self.push(prefix, name, property, list),
                    Some(Takes::Object) if nest => self.object(property, &format!("{prefix}{name}."), false),
                    _ => {}
                }
            }
        }
    }

    fn push(&mut self, prefix: &str, name: &str, property: &'s Value, list: bool) {
        let parts = self.evaluator.parts(&[property], 16);
        let item = parts.iter().find_map(|part| part.get("items"));
        let text = |key: &str| {
            let own = parts.iter().find_map(|part| part.get(key)?.as_str());
            own.or_else(|| item?.get(key)?.as_str())
        };
        let written: String = text("description").unwrap_or_default().chars().take(MAX_DESCRIPTION).collect();
        self.found.push(Parameter {
            name: format!("{prefix}{name}"),
            words: words(name),
            description: written.to_lowercase(),
            written,
            format: text("format").map(str::to_lowercase),
            list,
        });
    }

    /// What a property takes, when that is free text, a list of it, or an object.
    fn takes(&mut self, property: &'s Value, depth: u32) -> Option<Takes> {
        if depth > MAX_DEPTH || self.looks == 0 {
            return None;
        }
        self.looks -= 1;
        let parts = self.evaluator.parts(&[property], 16);
        if parts.iter().any(|part| part.contains_key("enum") || part.contains_key("const")) {
            return None;
        }
        let has = |kind: &str| {
            parts.iter().any(|part| match part.get("type") {
                Some(Value::String(name)) => name == kind,
                Some(Value::Array(names)) => names.iter().any(|name| name == kind),
                _ => false,
            })
        };
        if has("string") {
            return Some(Takes::Text { list: false });
        }
        if has("array") {
            let items = parts.iter().find_map(|part| part.get("items").filter(|items| items.is_object()));
            return match items.and_then(|items| self.takes(items, depth + 1)) {
                Some(Takes::Text { .. }) => Some(Takes::Text { list: true }),
                _ => None,
            };
        }
        let alternatives = parts.iter().flat_map(|part| ["anyOf", "oneOf"].iter().filter_map(|key| part.get(*key)));
        let alternatives: Vec<&'s Value> = alternatives.filter_map(Value::as_array).flatten().take(8).collect();
        let mut answers: Vec<Takes> =
            alternatives.into_iter().filter_map(|alternative| self.takes(alternative, depth + 1)).collect();
        answers.sort();
        answers.into_iter().next().or_else(|| {
            (has("object") || parts.iter().any(|part| part.contains_key("properties"))).then_some(Takes::Object)
        })
    }
}

/// What a property takes, best evidence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Takes {
    Text { list: bool },
    Object,
}
