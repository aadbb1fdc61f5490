//! A schema as alternatives of one JSON type each, so that two spellings of one meaning look alike.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    Budget,
    equal::{identical, same},
};
use crate::classify::{Admits, admits};

/// Alternatives of one schema; more are not told apart.
const MOST: usize = 48;
/// References and combinators inside each other.
const DEPTH: u32 = 24;
/// Required members inside each other that are asked whether they are possible.
const POSSIBLE: u32 = 4;
/// Values of one `enum`; a longer one is compared for equality alone.
const MOST_VALUES: usize = 300;

/// The schema that accepts everything.
pub(super) static ANYTHING: Value = Value::Bool(true);
static TRUE: Value = Value::Bool(true);
static FALSE: Value = Value::Bool(false);
static NULL: Value = Value::Null;

/// A JSON type; integers are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "number" | "integer" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// The type whose values a keyword is about.
    fn of_keyword(word: &str) -> Self {
        match word {
            "minLength" | "maxLength" | "pattern" | "format" => Self::String,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Self::Number,
            "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "uniqueItems" => Self::Array,
            _ => Self::Object,
        }
    }
}

/// What values of one type an alternative accepts.
#[derive(Debug, Clone)]
pub(super) struct Alternative<'s> {
    pub(super) kind: Kind,
    /// Numbers: integers alone.
    pub(super) whole: bool,
    /// The only values, when they are listed; no keyword but the opaque ones counts beside them.
    pub(super) values: Option<Vec<&'s Value>>,
    /// Objects: required members.
    pub(super) required: BTreeSet<&'s str>,
    /// Understood keywords about that type, with values of the right kind.
    pub(super) words: BTreeMap<&'s str, &'s Value>,
    /// Keywords that are compared for equality alone.
    pub(super) opaque: BTreeMap<&'s str, &'s Value>,
}

impl Alternative<'_> {
    /// Whether it surely accepts something.
    pub(super) fn is_possible(&self) -> bool {
        let number = |word: &str| self.words.get(word).and_then(|value| value.as_f64());
        let least = number("minLength").unwrap_or(0.0);
        let most = number("maxLength").unwrap_or(f64::INFINITY);
        self.opaque.is_empty()
            && match self.kind {
                // Every format has a text of 8 to 36 characters, and few have others.
                Kind::String if self.words.contains_key("format") => {
                    !self.words.contains_key("pattern") && least <= 8.0 && most >= 36.0
                }
                Kind::String => !self.words.contains_key("pattern") || (least == 0.0 && most == f64::INFINITY),
                Kind::Number => {
                    let bound = |word: &str, other: &str| number(word).or(number(other));
                    let step = number("multipleOf").unwrap_or(0.0).max(if self.whole { 1.0 } else { 0.0 });
                    match (bound("minimum", "exclusiveMinimum"), bound("maximum", "exclusiveMaximum")) {
                        (Some(least), Some(most)) => most - least > step,
                        _ => true,
                    }
                }
                _ => true,
            }
    }
}

/// A conjunction of keywords without branches.
#[derive(Debug, Clone)]
struct Bag<'s> {
    kinds: BTreeSet<Kind>,
    whole: bool,
    values: Option<Vec<&'s Value>>,
    required: BTreeSet<&'s str>,
    words: BTreeMap<&'s str, &'s Value>,
    opaque: BTreeMap<&'s str, &'s Value>,
}

/// Keywords that say nothing of which values are accepted, or are handled as branches.
pub(super) fn is_silent(word: &str) -> bool {
    !is_understood(word) && !is_opaque(word)
}

fn is_understood(word: &str) -> bool {
    matches!(
        word,
        "type"
            | "enum"
            | "const"
            | "required"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "format"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
    )
}

fn is_opaque(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "minContains"
            | "maxContains"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "dependentSchemas"
            | "dependencies"
            | "$dynamicRef"
            | "$recursiveRef"
    )
}

/// Whether a keyword's value is of the kind that the keyword asks for.
fn fits(word: &str, value: &Value) -> bool {
    let names = |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    match word {
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "pattern" | "format" | "$ref" => value.is_string(),
        "uniqueItems" => value.is_boolean(),
        "required" => names(value),
        "dependentRequired" => value.as_object().is_some_and(|all| all.values().all(names)),
        "properties" | "patternProperties" => value.is_object(),
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => value.is_array(),
        "enum" => value.as_array().is_some_and(|values| values.len() <= MOST_VALUES),
        "items" => value.is_object() || value.is_boolean() || value.is_array(),
        "additionalProperties" | "additionalItems" | "propertyNames" => value.is_object() || value.is_boolean(),
        "type" => match value {
            Value::String(word) => Kind::of_word(word).is_some(),
            Value::Array(words) => words.iter().all(|word| word.as_str().and_then(Kind::of_word).is_some()),
            _ => false,
        },
        _ => true,
    }
}

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
                let closed = one.words.get("additionalProperties").is_some_and(|value| **value == FALSE);
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

impl<'s> Bag<'s> {
    fn open() -> Self {
        Self {
            kinds: Kind::ALL.into_iter().collect(),
            whole: false,
            values: None,
            required: BTreeSet::new(),
            words: BTreeMap::new(),
            opaque: BTreeMap::new(),
        }
    }

    fn of(map: &'s Map<String, Value>) -> Self {
        let mut bag = Self::open();
        for (word, value) in map {
            match word.as_str() {
                "$ref" | "allOf" | "anyOf" | "oneOf" => {}
                // Lists in every dependency are `dependentRequired` under its old name.
                "dependencies" if fits("dependentRequired", value) => {
                    bag.words.insert("dependentRequired", value);
                }
                word if is_opaque(word) || (is_understood(word) && !fits(word, value)) => {
                    bag.opaque.insert(word, value);
                }
                "type" => {
                    let words: Vec<&str> = match value {
                        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
                        word => word.as_str().into_iter().collect(),
                    };
                    bag.kinds = words.iter().filter_map(|word| Kind::of_word(word)).collect();
                    bag.whole = words.contains(&"integer") && !words.contains(&"number");
                }
                "const" => bag.narrow_values(&[value]),
                "enum" => bag.narrow_values(&value.as_array().into_iter().flatten().collect::<Vec<_>>()),
                "required" => bag.required.extend(value.as_array().into_iter().flatten().filter_map(Value::as_str)),
                word if is_understood(word) => {
                    bag.words.insert(word, value);
                }
                _ => {}
            }
        }
        bag
    }

    fn narrow_values(&mut self, allowed: &[&'s Value]) {
        let both = match self.values.take() {
            Some(values) => values.into_iter().filter(|value| allowed.iter().any(|one| same(one, value))).collect(),
            None => allowed.to_vec(),
        };
        self.values = Some(both);
    }

    /// Both at once; `None` when two keywords would have to be joined into one that neither says.
    fn and(&self, other: &Self, budget: &mut Budget) -> Option<Self> {
        let mut both = self.clone();
        both.kinds = self.kinds.intersection(&other.kinds).copied().collect();
        both.whole |= other.whole;
        if let Some(values) = &other.values {
            both.narrow_values(values);
        }
        both.required.extend(&other.required);
        for (word, value) in &other.words {
            if both.words.get(word).is_some_and(|own| !identical(own, value, budget)) {
                return None;
            }
            both.words.insert(word, value);
        }
        for (word, value) in &other.opaque {
            if both.opaque.get(word).is_some_and(|own| !identical(own, value, budget)) {
                return None;
            }
            both.opaque.insert(word, value);
        }
        // What is additional depends on what stands beside it.
        for (rest, listed) in [
            ("additionalProperties", &["properties", "patternProperties"][..]),
            ("items", &["prefixItems"]),
            ("additionalItems", &["items"]),
        ] {
            let apart = |one: &Self, two: &Self| {
                let closes = one.words.get(rest).is_some_and(|value| **value != ANYTHING);
                closes && listed.iter().any(|word| two.words.contains_key(word) != one.words.contains_key(word))
            };
            if apart(self, other) || apart(other, self) {
                return None;
            }
        }
        Some(both)
    }
}

fn product<'s>(left: &[Bag<'s>], right: &[Bag<'s>], budget: &mut Budget) -> Option<Vec<Bag<'s>>> {
    if left.len() * right.len() > MOST {
        return None;
    }
    let mut all = Vec::with_capacity(left.len() * right.len());
    for one in left {
        for two in right {
            budget.take(1).then_some(())?;
            all.push(one.and(two, budget)?);
        }
    }
    Some(all)
}

/// Whether no value can be in two of the branches.
fn exclusive(branches: &[Vec<Bag<'_>>], budget: &mut Budget) -> bool {
    let split: Vec<_> = branches.iter().map(|bags| split(bags.clone(), budget)).collect();
    split
        .iter()
        .enumerate()
        .all(|(at, one)| split[at + 1..].iter().flatten().all(|two| one.iter().all(|one| disjoint(one, two))))
}

/// Whether two alternatives surely share no value.
pub(super) fn disjoint(one: &Alternative<'_>, two: &Alternative<'_>) -> bool {
    if one.kind != two.kind {
        return true;
    }
    if let (Some(one), Some(two)) = (&one.values, &two.values) {
        return !one.iter().any(|value| two.iter().any(|other| same(value, other)));
    }
    let tag = |of: &Alternative<'_>, name: &str| -> Option<Vec<Value>> {
        let schema = of.words.get("properties")?.get(name)?;
        match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => Some(vec![value.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            _ => None,
        }
    };
    one.required.intersection(&two.required).take(MOST).any(|name| match (tag(one, name), tag(two, name)) {
        (Some(one), Some(two)) => !one.iter().any(|value| two.iter().any(|other| same(value, other))),
        _ => false,
    })
}

fn split<'s>(bags: Vec<Bag<'s>>, budget: &mut Budget) -> Vec<Alternative<'s>> {
    let mut all: Vec<Alternative<'s>> = Vec::new();
    for bag in bags {
        for kind in &bag.kinds {
            let values = match (kind, &bag.values) {
                (_, Some(values)) => Some(values.iter().copied().filter(|value| Kind::of(value) == *kind).collect()),
                (Kind::Null, None) => Some(vec![&NULL]),
                (Kind::Boolean, None) => Some(vec![&FALSE, &TRUE]),
                _ => None,
            };
            if values.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let about = |(word, _): &(&&str, &&Value)| Kind::of_keyword(word) == *kind;
            let one = Alternative {
                kind: *kind,
                whole: bag.whole && *kind == Kind::Number,
                values,
                required: if *kind == Kind::Object { bag.required.clone() } else { BTreeSet::new() },
                words: bag.words.iter().filter(about).map(|(word, value)| (*word, *value)).collect(),
                opaque: bag.opaque.clone(),
            };
            all.extend(listed(one, budget));
        }
    }
    join(all)
}

/// An alternative of listed values without the values that its other keywords surely refuse.
fn listed<'s>(mut one: Alternative<'s>, budget: &mut Budget) -> Option<Alternative<'s>> {
    let Some(mut values) = one.values.take() else { return Some(one) };
    // A keyword beside the list is rare; without one nothing has to be tried.
    let scalar = super::scalar::schema(&one).filter(|_| one.whole || !one.words.is_empty());
    let mut doubted = false;
    values.retain(|value| match (&scalar, value) {
        (Some(schema), _) if budget.take(super::scalar::cost(&one.words)) => match admits(schema, value) {
            Admits::No => false,
            answer => {
                doubted |= answer == Admits::Unsure;
                true
            }
        },
        (Some(_), _) => {
            doubted = true;
            true
        }
        (None, Value::Object(members)) => one.required.iter().all(|name| members.contains_key(*name)),
        (None, _) => true,
    });
    // What could not be tried on the values stands beside them.
    let words = std::mem::take(&mut one.words);
    if doubted || matches!(one.kind, Kind::Array | Kind::Object) {
        one.opaque.extend(words);
    }
    one.required.clear();
    one.whole = false;
    one.values = Some(values).filter(|values| !values.is_empty());
    one.values.is_some().then_some(one)
}

/// Lists of values of one type are one list.
fn join(all: Vec<Alternative<'_>>) -> Vec<Alternative<'_>> {
    let mut joined: Vec<Alternative<'_>> = Vec::new();
    for one in all {
        let list = joined.iter_mut().find(|other| {
            let lists = other.values.is_some() && one.values.is_some();
            let plain = other.opaque.is_empty() && one.opaque.is_empty();
            let room = other.values.as_ref().map_or(0, Vec::len) <= MOST_VALUES;
            other.kind == one.kind && lists && plain && room
        });
        match list {
            Some(list) => {
                let known = list.values.get_or_insert_default();
                for value in one.values.into_iter().flatten() {
                    if !known.iter().any(|other| same(other, value)) {
                        known.push(value);
                    }
                }
            }
            None => joined.push(one),
        }
    }
    joined
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
