//! Keywords that hold together, without branches.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    Budget,
    alternative::{ANYTHING, Kind},
    equal::{identical, same},
    words::{fits, is_opaque, is_understood},
};

/// Bags of one schema; more are not told apart.
pub(super) const MOST: usize = 48;

/// A conjunction of keywords without branches.
#[derive(Debug, Clone)]
pub(super) struct Bag<'s> {
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) whole: bool,
    pub(super) values: Option<Vec<&'s Value>>,
    pub(super) required: BTreeSet<&'s str>,
    pub(super) words: BTreeMap<&'s str, &'s Value>,
    pub(super) opaque: BTreeMap<&'s str, &'s Value>,
}

impl<'s> Bag<'s> {
    /// What accepts everything.
    pub(super) fn open() -> Self {
        Self {
            kinds: Kind::ALL.into_iter().collect(),
            whole: false,
            values: None,
            required: BTreeSet::new(),
            words: BTreeMap::new(),
            opaque: BTreeMap::new(),
        }
    }

    /// The keywords of a schema but its branches.
    pub(super) fn of(map: &'s Map<String, Value>) -> Self {
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

/// Each of the one side with each of the other; `None` when that cannot be said in bags.
pub(super) fn product<'s>(left: &[Bag<'s>], right: &[Bag<'s>], budget: &mut Budget) -> Option<Vec<Bag<'s>>> {
    if left.len() * right.len() > MOST {
        return None;
    }
    let mut all = Vec::with_capacity(left.len() * right.len());
    for one in left {
        for two in right {
            // Both are copied.
            budget.take(4).then_some(())?;
            all.push(one.and(two, budget)?);
        }
    }
    Some(all)
}
