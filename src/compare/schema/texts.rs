//! What a schema says in words to whoever reads it: descriptions, titles, defaults, examples, and every keyword that
//! does not decide what is accepted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Budget, Path, Segment, shape::Shaper, words::is_silent};
use crate::report::canonical;

/// Schemas inside each other that are read.
const DEPTH: usize = 24;

/// The words of one place that changed.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct TextFinding {
    pub(in super::super) path: Path,
    /// The keyword (`description`).
    pub(in super::super) word: String,
    /// Its values before, put together.
    pub(in super::super) old: Option<String>,
    /// Its values after.
    pub(in super::super) new: Option<String>,
}

/// Keyword and value, as often as they stand at one place, in whatever combinator.
type Words = BTreeMap<String, Vec<String>>;

/// The words that changed, or `None` when the schemas are too large to tell.
///
/// What stands at a place is put together from all its combinators and references, so that moving a text is no change.
/// Members that only one side lists are left out: they are told as such.
pub(in super::super) fn texts(old: &Value, new: &Value, budget: &mut Budget) -> Option<Vec<TextFinding>> {
    let (olds, news) = (read(old, budget)?, read(new, budget)?);
    let places: BTreeSet<&Path> = olds.keys().chain(news.keys()).collect();
    let nothing = Words::new();
    let mut found = Vec::new();
    for path in places {
        let told = |side: &BTreeMap<Path, Words>| {
            path.beginnings().find(|(start, _)| !side.contains_key(start)).is_some_and(|(_, member)| member)
        };
        if told(&olds) || told(&news) {
            continue;
        }
        let (before, after) = (olds.get(path).unwrap_or(&nothing), news.get(path).unwrap_or(&nothing));
        let words: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for word in words {
            let (old, new) = (before.get(word), after.get(word));
            if old != new {
                let joined = |values: Option<&Vec<String>>| values.map(|values| values.join("\n"));
                let (old, new) = (joined(old), joined(new));
                found.push(TextFinding { path: path.clone(), word: word.clone(), old, new });
            }
        }
    }
    Some(found)
}

/// The words of every place of a document.
fn read(root: &Value, budget: &mut Budget) -> Option<BTreeMap<Path, Words>> {
    let mut reader = Reader {
        shaper: Shaper::new(root),
        path: Path::default(),
        open: Vec::new(),
        seen: BTreeSet::new(),
        places: BTreeMap::new(),
        budget,
    };
    reader.schema(root)?;
    for name in ["$defs", "definitions"] {
        for (name, schema) in root.get(name).and_then(Value::as_object).into_iter().flatten() {
            let address: *const Value = schema;
            if !reader.seen.contains(&address) {
                reader.at(Segment::Definition(name.clone()), schema)?;
            }
        }
    }
    for words in reader.places.values_mut() {
        words.values_mut().for_each(|values| {
            values.sort();
            values.dedup();
        });
    }
    Some(reader.places)
}

struct Reader<'s, 'b> {
    shaper: Shaper<'s>,
    path: Path,
    /// What is being read: a recursive schema ends there.
    open: Vec<*const Value>,
    /// What was referred to.
    seen: BTreeSet<*const Value>,
    places: BTreeMap<Path, Words>,
    budget: &'b mut Budget,
}

impl<'s> Reader<'s, '_> {
    fn at(&mut self, segment: Segment, schema: &'s Value) -> Option<()> {
        self.path.push(segment);
        let read = self.schema(schema);
        self.path.pop();
        read
    }

    fn schema(&mut self, schema: &'s Value) -> Option<()> {
        let Some(map) = schema.as_object() else {
            self.places.entry(self.path.clone()).or_default();
            return Some(());
        };
        let address: *const Value = schema;
        if self.open.contains(&address) {
            return Some(());
        }
        if self.open.len() >= DEPTH || self.path.len() >= DEPTH || !self.budget.take(2 + map.len() as u32) {
            return None;
        }
        self.open.push(address);
        let read = self.members(map);
        self.open.pop();
        read
    }

    fn members(&mut self, map: &'s Map<String, Value>) -> Option<()> {
        let numeric = matches!(map.get("type").and_then(Value::as_str), Some("integer" | "number"));
        let place = self.places.entry(self.path.clone()).or_default();
        for (word, value) in map {
            // `$schema` and `$id` name the document, `$defs` is read where it is used; a number's format binds nobody.
            let named = matches!(word.as_str(), "$defs" | "definitions" | "$id" | "$schema" | "id");
            if (is_silent(word) && !named) || (word == "format" && numeric) {
                let text = value.as_str().map_or_else(|| canonical(value), str::to_owned);
                place.entry(word.clone()).or_default().push(text);
            }
        }
        for (word, value) in map {
            match word.as_str() {
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        self.at(Segment::Member(name.clone()), schema)?;
                    }
                }
                "patternProperties" | "dependentSchemas" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        self.at(Segment::Matching(name.clone()), schema)?;
                    }
                }
                "additionalProperties" | "unevaluatedProperties" => self.at(Segment::Others, value)?,
                "propertyNames" => self.at(Segment::Names, value)?,
                "items" | "prefixItems" if value.is_array() => {
                    for (at, schema) in value.as_array().into_iter().flatten().enumerate() {
                        self.at(Segment::Item(Some(at)), schema)?;
                    }
                }
                "items" | "additionalItems" | "contains" | "unevaluatedItems" => {
                    self.at(Segment::Item(None), value)?;
                }
                "allOf" | "anyOf" | "oneOf" => {
                    for schema in value.as_array().into_iter().flatten() {
                        self.schema(schema)?;
                    }
                }
                "not" | "if" | "then" | "else" => self.schema(value)?,
                "$ref" => {
                    if let Some(target) = value.as_str().and_then(|reference| self.shaper.resolve(reference)) {
                        self.seen.insert(target);
                        self.schema(target)?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }
}
