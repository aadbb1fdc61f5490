//! A schema as alternatives of one JSON type each, so that two spellings of one meaning look alike.

use serde_json::{Map, Value};

use super::{
    Budget,
    alternative::{Alternative, Kind, NOTHING, disjoint, split},
    bag::{Bag, MOST, product},
    words::fits,
};

/// References and combinators inside each other.
const DEPTH: u32 = 24;
/// Required members inside each other that are asked whether they are possible.
const POSSIBLE: u32 = 4;

/// Reads the schemas of one document.
#[derive(Debug)]
pub(super) struct Shaper<'s> {
    root: &'s Value,
    /// Whether a local pointer surely means what it says: no part renames itself.
    plain: bool,
}

impl<'s> Shaper<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, plain: references_are_plain(root) }
    }

    /// The definitions that references point into.
    pub(super) fn definitions(&self) -> [Option<&'s Value>; 2] {
        ["$defs", "definitions"].map(|name| self.root.get(name))
    }

    /// What a local reference points at.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let pointer = reference.strip_prefix('#')?;
        if !self.plain || pointer.contains('%') {
            return None;
        }
        if pointer.is_empty() { Some(self.root) } else { self.root.pointer(pointer) }
    }

    /// The alternatives of a schema; none when it accepts nothing.
    pub(super) fn alternatives(&self, schema: &'s Value, budget: &mut Budget) -> Vec<Alternative<'s>> {
        self.possible_alternatives(schema, 0, budget)
    }

    fn possible_alternatives(&self, schema: &'s Value, depth: u32, budget: &mut Budget) -> Vec<Alternative<'s>> {
        let mut all = split(self.bags(schema, 0, budget), budget);
        all.retain(|one| self.possible(one, depth, budget));
        all
    }

    /// Whether an alternative may accept something: it does not ask for what it refuses.
    fn possible(&self, one: &Alternative<'s>, depth: u32, budget: &mut Budget) -> bool {
        let number = |word: &str| one.words.get(word).and_then(|value| value.as_f64());
        let in_order = |least: &str, most: &str| match (number(least), number(most)) {
            (Some(least), Some(most)) => least <= most,
            _ => true,
        };
        match one.kind {
            Kind::Number => in_order("minimum", "maximum"),
            Kind::String => in_order("minLength", "maxLength"),
            Kind::Array => {
                let least = number("minItems").unwrap_or(0.0);
                // Items that nothing is accepted for leave the empty array alone.
                let items = one.words.get("items").filter(|_| least > 0.0 && !one.words.contains_key("prefixItems"));
                let fills = items.is_none_or(|items| {
                    depth >= POSSIBLE
                        || items.is_array()
                        || !self.possible_alternatives(items, depth + 1, budget).is_empty()
                });
                in_order("minItems", "maxItems") && fills
            }
            Kind::Object => {
                let closed = one.words.get("additionalProperties").is_some_and(|value| **value == NOTHING);
                let open = !closed || one.words.contains_key("patternProperties");
                let listed = one.words.get("properties").and_then(|value| value.as_object());
                let names = one.required.len() as f64;
                let most = number("maxProperties").unwrap_or(f64::INFINITY);
                let most = if open { most } else { most.min(listed.map_or(0, Map::len) as f64) };
                let least = number("minProperties").unwrap_or(0.0).max(names);
                let member = |name: &&str| match listed.and_then(|listed| listed.get(*name)) {
                    Some(schema) => {
                        depth >= POSSIBLE || !self.possible_alternatives(schema, depth + 1, budget).is_empty()
                    }
                    None => open,
                };
                least <= most && one.required.iter().all(member)
            }
            Kind::Null | Kind::Boolean => true,
        }
    }

    fn bags(&self, schema: &'s Value, depth: u32, budget: &mut Budget) -> Vec<Bag<'s>> {
        let map = match schema {
            Value::Bool(true) => return vec![Bag::open()],
            Value::Bool(false) => return Vec::new(),
            Value::Object(map) => map,
            _ => {
                let mut bag = Bag::open();
                bag.opaque.insert("", schema);
                return vec![bag];
            }
        };
        let values = map.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        budget.take(u32::try_from(values * values / 8).unwrap_or(u32::MAX));
        let mut bags = vec![Bag::of(map)];
        for word in ["$ref", "allOf", "anyOf", "oneOf"] {
            let Some(value) = map.get(word) else { continue };
            let understood = budget.take(1) && depth < DEPTH && fits(word, value);
            let merged = understood.then(|| self.branch(word, value, &bags, depth, budget)).flatten();
            match merged {
                Some(merged) => bags = merged,
                None => bags.iter_mut().for_each(|bag| {
                    bag.opaque.insert(keyword(word), value);
                }),
            }
        }
        bags.retain(|bag| !bag.kinds.is_empty());
        bags
    }

    /// The bags with one combinator taken in; `None` when that cannot be said in bags.
    fn branch(
        &self,
        word: &str,
        value: &'s Value,
        bags: &[Bag<'s>],
        depth: u32,
        budget: &mut Budget,
    ) -> Option<Vec<Bag<'s>>> {
        match word {
            "$ref" => {
                let target = self.resolve(value.as_str()?)?;
                product(bags, &self.bags(target, depth + 1, budget), budget)
            }
            "allOf" => value.as_array()?.iter().try_fold(bags.to_vec(), |bags, member| {
                budget.take(1).then_some(())?;
                product(&bags, &self.bags(member, depth + 1, budget), budget)
            }),
            _ => {
                let mut branches: Vec<Vec<Bag<'s>>> = Vec::new();
                for branch in value.as_array()?.iter() {
                    if branches.len() >= MOST || !budget.take(1) {
                        return None;
                    }
                    branches.push(self.bags(branch, depth + 1, budget));
                }
                if word == "oneOf" && !exclusive(&branches, budget) {
                    return None;
                }
                product(bags, &branches.concat(), budget)
            }
        }
    }
}

/// The keyword as a word that outlives the loop.
fn keyword(word: &str) -> &'static str {
    match word {
        "$ref" => "$ref",
        "allOf" => "allOf",
        "anyOf" => "anyOf",
        _ => "oneOf",
    }
}

/// Whether no value can be in two of the branches.
fn exclusive(branches: &[Vec<Bag<'_>>], budget: &mut Budget) -> bool {
    let split: Vec<_> = branches.iter().map(|bags| split(bags.clone(), budget)).collect();
    split
        .iter()
        .enumerate()
        .all(|(at, one)| split[at + 1..].iter().flatten().all(|two| one.iter().all(|one| disjoint(one, two))))
}

/// Whether no part below the root renames itself.
fn references_are_plain(root: &Value) -> bool {
    let mut pending = vec![(root, true)];
    while let Some((value, top)) = pending.pop() {
        match value {
            Value::Object(map) => {
                let renames = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
                if !top && renames.iter().any(|word| map.get(*word).is_some_and(|it| it.is_string() || it.is_boolean()))
                {
                    return false;
                }
                pending.extend(map.values().map(|value| (value, false)));
            }
            Value::Array(items) => pending.extend(items.iter().map(|value| (value, false))),
            _ => {}
        }
    }
    true
}
