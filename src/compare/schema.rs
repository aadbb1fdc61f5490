//! Two JSON Schemas → what the later one refuses or accepts that the earlier one did not, part by part.
//!
//! The question is asked in one direction: is what `old` accepts still accepted by `new`? For what a server returns the
//! caller asks with the sides changed. Every schema is hostile: work, depth and findings are bounded.

mod alternative;
mod bag;
mod containers;
mod equal;
mod path;
mod scalar;
mod shape;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use serde_json::Value;

use alternative::{ANYTHING, Alternative, Kind, disjoint};
use equal::{identical, same};
pub(super) use path::Path;
use path::Segment;
use shape::Shaper;
pub(super) use texts::{TextFinding, texts};

use crate::classify::{Admits, admits};

/// Schemas inside each other that are compared.
const DEPTH: usize = 24;
/// Findings of one pair of schemas; what is more is said in one.
const FINDINGS: usize = 60;
/// Steps for one pair of schemas.
const STEPS: u32 = 150_000;

/// Steps that may still be taken.
#[derive(Debug)]
pub(super) struct Budget(u32);

impl Budget {
    /// A budget for all schemas of a server.
    pub(super) fn new(steps: u32) -> Self {
        Self(steps)
    }

    /// Takes steps; whether there were that many.
    fn take(&mut self, steps: u32) -> bool {
        let enough = self.0 >= steps;
        self.0 = self.0.saturating_sub(steps);
        enough
    }

    fn spent(&self) -> bool {
        self.0 == 0
    }
}

/// What a difference means for values that the old schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// One of them is refused now.
    Refuses,
    /// It could not be told.
    Unsure,
    /// None is refused; more is accepted.
    Accepts,
}

/// What differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// A member is required now; whether it is one that the old schema did not list.
    Required { unlisted: bool },
    /// A member is not required any more.
    Optional,
    /// A listed member is listed no more; whether unlisted members are surely free to come.
    Gone { free: bool },
    /// A member is listed that was not.
    Listed,
    /// Other types.
    Types { old: String, new: String },
    /// Other listed values.
    Values { lost: Vec<String>, gained: Vec<String> },
    /// Values are listed that were free before, or the other way.
    Listing { listed: bool },
    /// A keyword of numbers, lengths and the like.
    Keyword { word: &'static str, old: Option<String>, new: Option<String> },
    /// Unlisted members are refused now.
    Closed,
    /// They are accepted now.
    Opened,
    /// Something that is not told apart further; the word names it.
    Other(String),
    /// A bound was hit.
    Unread,
}

/// One difference at one place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) class: Class,
    pub(super) path: Path,
    pub(super) what: What,
}

/// Compares two schemas of objects. `total` bounds the work of all comparisons that share it.
pub(super) fn compare(old: &Value, new: &Value, total: &mut Budget) -> Vec<Finding> {
    let steps = total.0.min(STEPS);
    let mut budget = Budget(steps);
    let mut comparison = Comparison {
        old: Shaper::new(old),
        new: Shaper::new(new),
        one_meaning: false,
        doubt: 0,
        path: Path::default(),
        open: Vec::new(),
        found: Vec::new(),
        budget: &mut budget,
    };
    comparison.one_meaning = comparison.definitions_agree();
    comparison.root(old, new);
    if old.get("$schema") != new.get("$schema") {
        let class = if dialects_agree(old) && dialects_agree(new) { Class::Accepts } else { Class::Unsure };
        comparison.report(class, What::Other("$schema".to_owned()));
    }
    let mut found = comparison.found;
    if budget.spent() {
        found.push(Finding { class: Class::Unsure, path: Path::default(), what: What::Unread });
    }
    total.0 -= steps - budget.0;
    found
}

/// One comparison of two documents.
struct Comparison<'s, 'b> {
    old: Shaper<'s>,
    new: Shaper<'s>,
    /// Whether equal parts mean the same: what references point at is equal.
    one_meaning: bool,
    /// How many parts around this one make a proof impossible.
    doubt: u32,
    path: Path,
    /// Pairs that are being compared: a recursive schema ends there.
    open: Vec<(*const Value, *const Value)>,
    found: Vec<Finding>,
    budget: &'b mut Budget,
}

impl<'s> Comparison<'s, '_> {
    fn definitions_agree(&mut self) -> bool {
        let pairs = self.old.definitions().into_iter().zip(self.new.definitions());
        pairs.into_iter().all(|pair| match pair {
            (None, None) => true,
            (Some(old), Some(new)) => identical(old, new, self.budget),
            _ => false,
        })
    }

    /// Calls and structured replies are objects: other alternatives of the whole do not count.
    fn root(&mut self, old: &'s Value, new: &'s Value) {
        self.open.push((old, new));
        let mut olds = self.old.alternatives(old, self.budget);
        let mut news = self.new.alternatives(new, self.budget);
        olds.retain(|one| one.kind == Kind::Object);
        news.retain(|one| one.kind == Kind::Object);
        match (olds.is_empty(), news.is_empty()) {
            (false, _) => self.alternatives(&olds, &news),
            (true, false) => self.report(Class::Accepts, What::Other("alternatives".to_owned())),
            (true, true) => {}
        }
        self.open.pop();
    }

    fn report(&mut self, class: Class, what: What) {
        let class = if class == Class::Refuses && self.doubt > 0 { Class::Unsure } else { class };
        // One difference may show in several alternatives.
        if self.found.iter().any(|known| known.class == class && known.what == what && known.path == self.path) {
            return;
        }
        if self.found.len() < FINDINGS {
            self.found.push(Finding { class, path: self.path.clone(), what });
            return;
        }
        // What is left out is said once, and no milder than the worst of it.
        let last = &mut self.found[FINDINGS - 1];
        let class = last.class.min(class).min(Class::Unsure);
        *last = Finding { class, path: Path::default(), what: What::Unread };
    }

    /// Compares what stands at a step below this place.
    fn at(&mut self, segment: Segment, old: &'s Value, new: &'s Value) {
        self.path.push(segment);
        self.schemas(old, new);
        self.path.pop();
    }

    /// Everything that `work` reports cannot be proved.
    fn doubted(&mut self, doubted: bool, work: impl FnOnce(&mut Self)) {
        self.doubt += u32::from(doubted);
        work(self);
        self.doubt -= u32::from(doubted);
    }

    /// What `work` reports, without reporting it.
    fn silently(&mut self, work: impl FnOnce(&mut Self)) -> Vec<Finding> {
        let kept = std::mem::take(&mut self.found);
        work(self);
        std::mem::replace(&mut self.found, kept)
    }

    fn schemas(&mut self, old: &'s Value, new: &'s Value) {
        if self.one_meaning && identical(old, new, self.budget) {
            return;
        }
        let pair: (*const Value, *const Value) = (old, new);
        if self.open.contains(&pair) {
            return;
        }
        if self.open.len() >= DEPTH || !self.budget.take(1) {
            self.report(Class::Unsure, What::Unread);
            return;
        }
        self.open.push(pair);
        let olds = self.old.alternatives(old, self.budget);
        let news = self.new.alternatives(new, self.budget);
        self.types(&olds, &news);
        for kind in Kind::ALL {
            let of = |all: &[Alternative<'s>]| all.iter().filter(|one| one.kind == kind).cloned().collect::<Vec<_>>();
            let (olds, news) = (of(&olds), of(&news));
            if !olds.is_empty() && !news.is_empty() {
                self.alternatives(&olds, &news);
            }
        }
        self.open.pop();
    }

    fn types(&mut self, olds: &[Alternative<'s>], news: &[Alternative<'s>]) {
        let has = |all: &[Alternative<'s>], kind: Kind| all.iter().any(|one| one.kind == kind);
        let lost: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| has(olds, *kind) && !has(news, *kind)).collect();
        let gained = Kind::ALL.into_iter().any(|kind| has(news, kind) && !has(olds, kind));
        if lost.is_empty() && !gained {
            return;
        }
        let sure = |one: &Alternative<'s>| lost.contains(&one.kind) && one.is_possible();
        let class = match lost.is_empty() {
            true => Class::Accepts,
            false if olds.iter().any(sure) => Class::Refuses,
            false => Class::Unsure,
        };
        self.report(class, What::Types { old: type_words(olds), new: type_words(news) });
    }

    /// Compares alternatives of one type.
    fn alternatives(&mut self, olds: &[Alternative<'s>], news: &[Alternative<'s>]) {
        if let ([old], [new]) = (olds, news) {
            return self.pair(old, new);
        }
        let mut fresh: Vec<bool> = vec![true; news.len()];
        let mut wider = false;
        let mut uncovered = Vec::new();
        for old in olds {
            let mut covering = None;
            for (at, new) in news.iter().enumerate() {
                let found = self.silently(|this| this.pair(old, new));
                let listed = |finding: &Finding| finding.what == What::Listed;
                if found.iter().all(|finding| finding.class == Class::Accepts && !listed(finding)) {
                    covering = Some((at, !found.is_empty()));
                    // One that accepts the same is better than one that accepts more.
                    if found.is_empty() {
                        break;
                    }
                }
            }
            match covering {
                Some((at, widened)) => {
                    fresh[at] = false;
                    wider |= widened;
                }
                None => uncovered.push(old),
            }
        }
        let changed = !uncovered.is_empty();
        let alone = uncovered.len() == 1 && fresh.iter().filter(|fresh| **fresh).count() == 1;
        for old in uncovered {
            let like: Vec<usize> = (0..news.len()).filter(|at| !disjoint(old, &news[*at])).collect();
            match like.as_slice() {
                [] => {
                    let class = if old.is_possible() { Class::Refuses } else { Class::Unsure };
                    self.report(class, What::Other("alternatives".to_owned()));
                }
                // Nothing else can accept what this one refuses.
                [at] => {
                    fresh[*at] = false;
                    self.pair(old, &news[*at]);
                }
                _ => match fresh.iter().position(|fresh| *fresh).filter(|_| alone) {
                    Some(at) => {
                        fresh[at] = false;
                        self.doubted(true, |this| this.pair(old, &news[at]));
                    }
                    None => self.report(Class::Unsure, What::Other("alternatives".to_owned())),
                },
            }
        }
        for (at, new) in news.iter().enumerate().filter(|(at, _)| fresh[*at]).collect::<Vec<_>>() {
            // The same one may be written twice.
            fresh[at] = !olds.iter().any(|old| self.silently(|this| this.pair(old, new)).is_empty());
        }
        if fresh.contains(&true) || (wider && !changed) {
            self.report(Class::Accepts, What::Other("alternatives".to_owned()));
        }
    }

    /// Compares two alternatives of one type.
    fn pair(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        if !self.budget.take(1) {
            self.report(Class::Unsure, What::Unread);
            return;
        }
        self.opaque(old, new);
        self.doubted(!old.opaque.is_empty(), |this| match (&old.values, &new.values) {
            (Some(olds), Some(news)) => this.values(olds, news),
            (Some(olds), None) => {
                let class = this.still_accepted(olds, new);
                this.report(class, What::Listing { listed: false });
            }
            (None, Some(news)) => {
                let class = this.listing(old, news);
                this.report(class, What::Listing { listed: true });
            }
            (None, None) => match old.kind {
                Kind::String | Kind::Number => {
                    for difference in scalar::compare(old, new, this.budget) {
                        let scalar::Difference { class, word, old, new } = difference;
                        this.report(class, What::Keyword { word, old, new });
                    }
                }
                Kind::Array => this.arrays(old, new),
                Kind::Object => this.objects(old, new),
                Kind::Null | Kind::Boolean => {}
            },
        });
    }

    fn opaque(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        let mut words: Vec<&str> = old.opaque.keys().chain(new.opaque.keys()).copied().collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            let equal = match (old.opaque.get(word), new.opaque.get(word)) {
                (Some(old), Some(new)) if matches!(word, "not" | "if" | "then" | "else" | "contains") => {
                    self.silently(|this| this.schemas(old, new)).is_empty()
                }
                (Some(Value::String(old)), Some(Value::String(new))) if word == "$ref" => {
                    match (self.old.resolve(old), self.new.resolve(new)) {
                        (Some(old), Some(new)) => self.silently(|this| this.schemas(old, new)).is_empty(),
                        _ => old == new,
                    }
                }
                (Some(Value::Array(olds)), Some(Value::Array(news))) if word.ends_with("Of") => {
                    let mut left: Vec<&'s Value> = news.iter().collect();
                    let (olds, mut equal): (&'s Vec<Value>, bool) = (olds, olds.len() == news.len());
                    for old in olds {
                        let found = left.iter().position(|new| {
                            let new: &'s Value = new;
                            equal && self.silently(|this| this.schemas(old, new)).is_empty()
                        });
                        equal = found.map(|at| left.swap_remove(at)).is_some();
                    }
                    equal
                }
                (Some(old), Some(new)) => {
                    (self.one_meaning || !has_reference(word, old)) && identical(old, new, self.budget)
                }
                _ => false,
            };
            if !equal {
                self.report(Class::Unsure, What::Other(word.to_owned()));
            }
        }
    }

    fn values(&mut self, olds: &[&'s Value], news: &[&'s Value]) {
        if !self.budget.take((olds.len() * news.len() / 8) as u32) {
            self.report(Class::Unsure, What::Unread);
            return;
        }
        let without = |all: &[&'s Value], others: &[&'s Value]| -> Vec<String> {
            all.iter().filter(|value| !others.iter().any(|other| same(other, value))).map(|it| it.to_string()).collect()
        };
        let (lost, gained) = (without(olds, news), without(news, olds));
        match (lost.is_empty(), gained.is_empty()) {
            (true, true) => {}
            (true, false) => self.report(Class::Accepts, What::Values { lost, gained }),
            (false, _) => self.report(Class::Refuses, What::Values { lost, gained }),
        }
    }

    /// Whether listed values are accepted by an alternative that lists none.
    fn still_accepted(&mut self, olds: &[&'s Value], new: &Alternative<'s>) -> Class {
        let Some(schema) = scalar::schema(new) else {
            let open = new.words.is_empty() && new.required.is_empty() && new.opaque.is_empty();
            return if open { Class::Accepts } else { Class::Unsure };
        };
        if !self.budget.take((olds.len() * 8) as u32) {
            return Class::Unsure;
        }
        let answers: Vec<_> = olds.iter().map(|value| admits(&schema, value)).collect();
        match answers.contains(&Admits::No) {
            true => Class::Refuses,
            false if answers.iter().all(|answer| *answer == Admits::Yes) => Class::Accepts,
            false => Class::Unsure,
        }
    }

    /// What listing values means for an alternative that listed none.
    fn listing(&mut self, old: &Alternative<'s>, news: &[&'s Value]) -> Class {
        match scalar::unlisted(old, news, self.budget) {
            true => Class::Refuses,
            // Objects and arrays without a keyword are endlessly many.
            false if scalar::schema(old).is_none() && old.words.is_empty() => Class::Refuses,
            false => Class::Unsure,
        }
    }
}

/// Whether a part holds a reference, or is one: equal words may then mean different things.
fn has_reference(word: &str, value: &Value) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                if map.contains_key("$ref") || map.contains_key("$dynamicRef") {
                    return true;
                }
                pending.extend(map.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    word.ends_with("Ref") || word == "$ref"
}

/// Whether a document holds no keyword that dialects read differently.
fn dialects_agree(root: &Value) -> bool {
    const DIFFER: [&str; 12] = [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "prefixItems",
        "additionalItems",
        "contains",
        "minContains",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    let mut pending = vec![root];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                let listed = map.get("items").is_some_and(Value::is_array);
                // `exclusiveMinimum: true` is of the oldest drafts.
                let oldest = ["exclusiveMinimum", "exclusiveMaximum"]
                    .iter()
                    .any(|word| map.get(*word).is_some_and(Value::is_boolean));
                if listed || oldest || DIFFER.iter().any(|word| map.contains_key(*word)) {
                    return false;
                }
                pending.extend(map.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    true
}

fn type_words(all: &[Alternative<'_>]) -> String {
    let of = |kind: Kind| all.iter().filter(move |one| one.kind == kind);
    let present: Vec<&str> = Kind::ALL
        .into_iter()
        .filter(|kind| of(*kind).next().is_some())
        .map(|kind| match kind {
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Number if of(kind).all(|one| one.whole) => "integer",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        })
        .collect();
    match present.len() {
        0 => "nothing".to_owned(),
        6 => "any".to_owned(),
        _ => present.join("|"),
    }
}
