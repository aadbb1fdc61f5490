//! Strings and numbers: which of two sets of keywords accepts more, with a value that proves it where one is found.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Map, Value, json};

use super::{
    Budget, Class,
    alternative::{Alternative, Kind},
    equal::exact,
};
use crate::classify::{Admits, admits};

/// What trying one value costs.
const TRY: u32 = 4;
/// What trying one value costs where patterns are compiled.
const TRY_PATTERN: u32 = 40;

/// Characters that texts for trial are made of.
const LETTERS: [char; 10] = ['a', 'A', '0', ' ', '-', '_', '.', '/', ':', '~'];
/// Lengths of texts for trial beside those that the schemas name.
const LENGTHS: [usize; 7] = [0, 1, 2, 5, 17, 65, 257];
/// Longest text for trial.
const LONGEST: usize = 4_000;

/// Formats that validators check; adding one of them refuses something.
const FORMATS: [&str; 18] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "regex",
];
/// Formats whose second accepts all that the first accepts.
const WIDER: [(&str, &str); 7] = [
    ("email", "idn-email"),
    ("hostname", "idn-hostname"),
    ("uri", "uri-reference"),
    ("uri", "iri"),
    ("uri", "iri-reference"),
    ("uri-reference", "iri-reference"),
    ("iri", "iri-reference"),
];
/// Formats of addresses, of which there are some of any length.
const ADDRESSES: [&str; 4] = ["uri", "uri-reference", "iri", "iri-reference"];

/// One keyword that differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    pub(super) class: Class,
    /// The keyword.
    pub(super) word: &'static str,
    /// Its earlier value, for a reader.
    pub(super) old: Option<String>,
    /// Its later value.
    pub(super) new: Option<String>,
}

/// What trying one value against such keywords costs.
pub(super) fn cost<V>(words: &BTreeMap<&str, V>) -> u32 {
    if words.contains_key("pattern") { TRY_PATTERN } else { TRY }
}

type Words<'s> = BTreeMap<&'static str, Cow<'s, Value>>;

/// The keywords of a string or number as a schema of their own; none for other types.
pub(super) fn schema(of: &Alternative<'_>) -> Option<Value> {
    matches!(of.kind, Kind::String | Kind::Number).then(|| build(of.kind, &words(of)))
}

fn build(kind: Kind, words: &Words<'_>) -> Value {
    let kind = match (kind, words.contains_key("integer")) {
        (Kind::String, _) => "string",
        (_, true) => "integer",
        _ => "number",
    };
    let mut schema = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    let words = words.iter().filter(|(word, _)| **word != "integer");
    schema.extend(words.map(|(word, value)| ((*word).to_owned(), value.as_ref().clone())));
    Value::Object(schema)
}

/// The keywords that refuse something, bounds of one kind as one.
fn words<'s>(of: &Alternative<'s>) -> Words<'s> {
    let mut words: Words<'s> = BTreeMap::new();
    for (word, value) in &of.words {
        let word = match *word {
            "minLength" if value.as_f64() == Some(0.0) => continue,
            "pattern" if value.as_str().is_some_and(accepts_all) => continue,
            "minLength" => "minLength",
            "maxLength" => "maxLength",
            "pattern" => "pattern",
            "format" => "format",
            "multipleOf" if of.whole && value.as_f64() == Some(1.0) => continue,
            "multipleOf" => "multipleOf",
            _ => continue,
        };
        words.insert(word, Cow::Borrowed(*value));
    }
    if of.whole {
        words.insert("integer", Cow::Owned(Value::Null));
    }
    for (inclusive, exclusive, sign) in [("minimum", "exclusiveMinimum", 1.0), ("maximum", "exclusiveMaximum", -1.0)] {
        let bound = |word: &str| of.words.get(word).copied();
        let tighter = match (bound(inclusive), bound(exclusive)) {
            (Some(value), None) => (inclusive, value),
            (None, Some(value)) => (exclusive, value),
            (Some(one), Some(two)) => {
                if two.as_f64().unwrap_or(0.0) * sign >= one.as_f64().unwrap_or(0.0) * sign {
                    (exclusive, two)
                } else {
                    (inclusive, one)
                }
            }
            (None, None) => continue,
        };
        words.insert(tighter.0, Cow::Borrowed(tighter.1));
        if of.whole
            && let Some(number) = tighter.1.as_number().and_then(exact)
        {
            // Among integers every bound is one that is included.
            let up = if tighter.0 == exclusive { (number * sign).floor() + 1.0 } else { (number * sign).ceil() };
            words.remove(tighter.0);
            words.insert(inclusive, Cow::Owned(json!((up * sign) as i64)));
        }
    }
    words
}

/// Whether an unanchored pattern matches every text.
fn accepts_all(pattern: &str) -> bool {
    matches!(pattern, "" | "^" | "$" | ".*" | "^.*" | "[\\s\\S]*" | "^[\\s\\S]*$" | "(.*?)" | ".*?")
}

/// The keywords that differ between two alternatives of one scalar type, without listed values.
pub(super) fn compare(old: &Alternative<'_>, new: &Alternative<'_>, budget: &mut Budget) -> Vec<Difference> {
    let (olds, news) = (words(old), words(new));
    let mut found = Vec::new();
    for group in [
        &["integer"][..],
        &["minLength"],
        &["maxLength"],
        &["minimum", "exclusiveMinimum"],
        &["maximum", "exclusiveMaximum"],
        &["multipleOf"],
        &["pattern"],
        &["format"],
    ] {
        let of = |words: &Words<'_>| -> Option<(&'static str, Value)> {
            group.iter().find_map(|word| Some((*word, words.get(word)?.as_ref().clone())))
        };
        let (before, after) = (of(&olds), of(&news));
        if before == after {
            continue;
        }
        let class = match (&before, &after) {
            (_, None) => Class::Accepts,
            (_, Some((word, value))) => {
                if before.as_ref().is_some_and(|(old_word, old)| implies((old_word, old), (word, value))) {
                    Class::Accepts
                } else if *word == "format" {
                    format_class(before.is_some(), value)
                } else {
                    tightened(old.kind, (&olds, &news), (word, value), before.is_some(), budget)
                }
            }
        };
        let shown = |side: &Option<(&'static str, Value)>| side.as_ref().map(|(word, value)| show(group, word, value));
        found.push(Difference { class, word: group[0], old: shown(&before), new: shown(&after) });
    }
    found
}

/// Whether a keyword's earlier value is the stricter one.
fn implies((old_word, old): (&str, &Value), (word, new): (&str, &Value)) -> bool {
    if old_word == word && (old == new || super::equal::same(old, new)) {
        return true;
    }
    if let ("format", Some(old), Some(new)) = (word, old.as_str(), new.as_str()) {
        return WIDER.contains(&(old, new));
    }
    let exact = |value: &Value| value.as_number().and_then(exact);
    let (Some(old), Some(new)) = (exact(old), exact(new)) else { return false };
    match word {
        "minLength" | "minimum" => old >= new,
        "maxLength" | "maximum" => old <= new,
        "exclusiveMinimum" => old > new || (old >= new && old_word == word),
        "exclusiveMaximum" => old < new || (old <= new && old_word == word),
        // Fractions lose digits: only whole steps are certain.
        "multipleOf" => old.fract() == 0.0 && new.fract() == 0.0 && (old / new).fract() == 0.0,
        _ => false,
    }
}

fn format_class(had_one: bool, new: &Value) -> Class {
    // Two formats may overlap; one where there was none surely refuses something where formats are checked at all.
    let checked = new.as_str().is_some_and(|word| FORMATS.contains(&word));
    if checked && !had_one { Class::Refuses } else { Class::Unsure }
}

/// Whether a value is found that was accepted and is refused by a keyword.
fn tightened(
    kind: Kind,
    (olds, news): (&Words<'_>, &Words<'_>),
    (word, value): (&'static str, &Value),
    had_one: bool,
    budget: &mut Budget,
) -> Class {
    let mut accepted = olds.clone();
    let format = accepted.remove("format").map(|format| format.as_str().unwrap_or_default().to_owned());
    let address = format.as_deref().is_some_and(|word| ADDRESSES.contains(&word));
    if kind == Kind::String && format.is_some() && !address {
        return Class::Unsure;
    }
    let before = build(kind, &accepted);
    let after = build(kind, &Words::from([(word, Cow::Borrowed(value))]));
    let mut undecided = false;
    for candidate in candidates(kind, [olds, news], address) {
        let cost = if word == "pattern" { TRY_PATTERN } else { cost(olds) };
        if !budget.take(cost) {
            return Class::Unsure;
        }
        match admits(&after, &candidate) {
            Admits::Yes => continue,
            Admits::Unsure => undecided = true,
            Admits::No if admits(&before, &candidate) == Admits::Yes => return Class::Refuses,
            Admits::No => {}
        }
    }
    // A pattern that cannot be read here, where there was none: patterns are written to refuse something.
    let unread = word == "pattern" && undecided && !had_one && olds.is_empty();
    if unread { Class::Refuses } else { Class::Unsure }
}

/// Whether a value is found that an alternative without listed values accepts and a list does not hold.
pub(super) fn unlisted(old: &Alternative<'_>, listed: &[&Value], budget: &mut Budget) -> bool {
    let Some(schema) = schema(old) else { return false };
    let words = words(old);
    let cost = cost(&words);
    candidates(old.kind, [&words, &words], false).into_iter().any(|candidate| {
        let free = !listed.iter().any(|value| super::equal::same(value, &candidate));
        free && budget.take(cost) && admits(&schema, &candidate) == Admits::Yes
    })
}

/// Values near everything that two sets of keywords name.
fn candidates(kind: Kind, sides: [&Words<'_>; 2], address: bool) -> Vec<Value> {
    let numbers = |words: [&str; 5]| {
        let values = sides.into_iter().flat_map(move |side| words.into_iter().filter_map(|word| side.get(word)));
        values.filter_map(|value| value.as_f64()).collect::<Vec<f64>>()
    };
    if kind == Kind::Number {
        let steps: Vec<f64> = numbers(["multipleOf"; 5]);
        let mut values = vec![0.0, 1.0, -1.0, 0.5, 2.0, 7.0, 1e6];
        for bound in numbers(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"]) {
            for step in [0.0, 1.0, 0.5].iter().chain(&steps) {
                values.extend([bound + step, bound - step]);
            }
            for step in &steps {
                let multiple = (bound / step).floor() * step;
                values.extend([multiple - step, multiple, multiple + step, multiple + 2.0 * step]);
            }
        }
        let whole = |value: f64| value.fract() == 0.0 && value.abs() < 1e15;
        let json = |value: f64| if whole(value) { json!(value as i64) } else { json!(value) };
        return values.into_iter().filter(|value| value.is_finite()).map(json).collect();
    }
    let mut lengths: Vec<usize> = LENGTHS.to_vec();
    for length in numbers(["minLength", "maxLength", "", "", ""]) {
        let length = length as usize;
        lengths.extend([length.saturating_sub(1), length, length + 1]);
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths.retain(|length| *length <= LONGEST);
    if address {
        let start = "http://a.example/";
        lengths.retain(|length| *length > start.len());
        return lengths.into_iter().map(|length| json!(format!("{start:a<length$}"))).collect();
    }
    LETTERS.iter().flat_map(|c| lengths.iter().map(|length| json!(c.to_string().repeat(*length)))).collect()
}

fn show(group: &[&str], word: &str, value: &Value) -> String {
    match value {
        Value::Null => "integer".to_owned(),
        Value::Number(number) if word != group[0] => format!("{number} (exclusive)"),
        Value::Number(number) => number.to_string(),
        Value::String(text) if word == "format" => text.clone(),
        _ => "another".to_owned(),
    }
}
