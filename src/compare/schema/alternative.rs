//! What a schema accepts of one JSON type.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Budget, bag::Bag, equal::same, scalar, words::MOST_VALUES};
use crate::classify::{Admits, admits};

/// The schema that accepts everything.
pub(super) static ANYTHING: Value = Value::Bool(true);
/// The schema that accepts nothing.
pub(super) static NOTHING: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);
static FALSE: Value = Value::Bool(false);
static NULL: Value = Value::Null;
/// Required members that are tried to tell two alternatives apart.
const TAGS: usize = 48;

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

    pub(super) fn of_word(word: &str) -> Option<Self> {
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
    one.required.intersection(&two.required).take(TAGS).any(|name| match (tag(one, name), tag(two, name)) {
        (Some(one), Some(two)) => !one.iter().any(|value| two.iter().any(|other| same(value, other))),
        _ => false,
    })
}

/// The alternatives that bags are: one for each type, listed values of a type together.
pub(super) fn split<'s>(bags: Vec<Bag<'s>>, budget: &mut Budget) -> Vec<Alternative<'s>> {
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
    let scalar = scalar::schema(&one).filter(|_| one.whole || !one.words.is_empty());
    let mut doubted = false;
    values.retain(|value| match (&scalar, value) {
        (Some(schema), _) if budget.take(scalar::cost(&one.words)) => match admits(schema, value) {
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
