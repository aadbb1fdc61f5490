//! Objects and arrays: members, items and how many of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{ANYTHING, Alternative, Class, Comparison, Segment, What};

/// What is said of members that are not listed.
#[derive(Clone, Copy)]
enum Unlisted<'s> {
    Accepted,
    Refused,
    Like(&'s Value),
}

impl<'s> Unlisted<'s> {
    fn of(value: Option<&&'s Value>) -> Self {
        match value {
            None | Some(Value::Bool(true)) => Self::Accepted,
            Some(Value::Bool(false)) => Self::Refused,
            Some(Value::Object(map)) if map.is_empty() => Self::Accepted,
            Some(schema) => Self::Like(schema),
        }
    }

    fn schema(self) -> &'s Value {
        match self {
            Self::Like(schema) => schema,
            _ => &ANYTHING,
        }
    }
}

/// What is listed by name, if anything is.
type Members<'s> = Option<&'s Map<String, Value>>;

fn members<'s>(of: &Alternative<'s>, word: &str) -> Members<'s> {
    of.words.get(word)?.as_object()
}

fn count(of: &Alternative<'_>, word: &str) -> Option<f64> {
    of.words.get(word)?.as_f64()
}

fn show(number: f64) -> String {
    number.to_string()
}

/// Pairs of members of which the first asks for the second.
fn dependents<'s>(of: &Alternative<'s>) -> BTreeSet<(&'s str, &'s str)> {
    let pairs = members(of, "dependentRequired").into_iter().flatten();
    pairs
        .flat_map(|(name, names)| {
            names.as_array().into_iter().flatten().filter_map(move |other| Some((name.as_str(), other.as_str()?)))
        })
        .collect()
}

impl<'s> Comparison<'s, '_> {
    pub(super) fn objects(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        let (olds, news) = (members(old, "properties"), members(new, "properties"));
        let (unlisted_old, unlisted_new) =
            (Unlisted::of(old.words.get("additionalProperties")), Unlisted::of(new.words.get("additionalProperties")));
        // These decide together with what is listed which members there may be.
        let tangled = ["patternProperties", "propertyNames", "maxProperties"];
        let doubted = tangled.iter().any(|word| old.words.contains_key(word));
        self.doubted(doubted, |this| this.listed(old, new, (olds, news), (unlisted_old, unlisted_new)));
        self.required(old, new, (olds, news));
        let patterns = old.words.contains_key("patternProperties") || new.words.contains_key("patternProperties");
        self.doubted(doubted || patterns, |this| match (unlisted_old, unlisted_new) {
            (Unlisted::Accepted, Unlisted::Accepted) | (Unlisted::Refused, Unlisted::Refused) => {}
            (Unlisted::Refused, _) => this.report(Class::Accepts, What::Opened),
            (_, Unlisted::Refused) => this.report(Class::Refuses, What::Closed),
            (old, new) => this.at(Segment::Others, old.schema(), new.schema()),
        });
        self.patterns(old, new);
        self.names(old, new);
        self.dependent(old, new);
        self.member_count(old, new, (olds, unlisted_old));
    }

    fn listed(
        &mut self,
        old: &Alternative<'s>,
        new: &Alternative<'s>,
        (olds, news): (Members<'s>, Members<'s>),
        (unlisted_old, unlisted_new): (Unlisted<'s>, Unlisted<'s>),
    ) {
        let names: BTreeSet<&'s String> = olds.into_iter().chain(news).flat_map(|all| all.keys()).collect();
        for name in names {
            if self.budget.spent() {
                return;
            }
            let segment = Segment::Member(name.clone());
            match (olds.and_then(|all| all.get(name)), news.and_then(|all| all.get(name))) {
                (Some(old), Some(new)) => self.at(segment, old, new),
                (Some(Value::Bool(false)), None) | (None, None) => {}
                (Some(_), None) => {
                    let ruled = ["patternProperties", "propertyNames", "maxProperties"];
                    let free = matches!(unlisted_new, Unlisted::Accepted)
                        && !ruled.iter().any(|word| new.words.contains_key(word))
                        && new.opaque.is_empty();
                    self.path.push(segment);
                    self.report(Class::Refuses, What::Gone { free });
                    self.path.pop();
                }
                // It was there, as what is not listed: in every call, or in those with a member that asks for it.
                (None, Some(new)) if old.required.contains(name.as_str()) => {
                    self.at(segment, unlisted_old.schema(), new);
                }
                (None, Some(new)) if dependents(old).iter().any(|(_, asked)| asked == name) => {
                    self.doubted(true, |this| this.at(segment, unlisted_old.schema(), new));
                }
                (None, Some(_)) => {
                    let required = new.required.contains(name.as_str());
                    if !required {
                        self.path.push(segment);
                        self.report(Class::Accepts, What::Listed);
                        self.path.pop();
                    }
                }
            }
        }
    }

    fn required(&mut self, old: &Alternative<'s>, new: &Alternative<'s>, (olds, news): (Members<'s>, Members<'s>)) {
        let lists = |all: Members<'s>, name: &str| all.is_some_and(|all| all.contains_key(name));
        // Something else may have asked for the member already.
        let doubted = old.words.contains_key("dependentRequired") || old.words.contains_key("minProperties");
        for name in new.required.difference(&old.required) {
            self.path.push(Segment::Member((*name).to_owned()));
            let unlisted = !lists(olds, name);
            self.doubted(doubted, |this| this.report(Class::Refuses, What::Required { unlisted }));
            self.path.pop();
        }
        for name in old.required.difference(&new.required) {
            // A member that is gone is told as such.
            if !lists(olds, name) || lists(news, name) {
                self.path.push(Segment::Member((*name).to_owned()));
                self.report(Class::Accepts, What::Optional);
                self.path.pop();
            }
        }
    }

    fn patterns(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        let of = |side: &Alternative<'s>| -> BTreeMap<&'s String, &'s Value> {
            members(side, "patternProperties").into_iter().flatten().collect()
        };
        let (olds, news) = (of(old), of(new));
        if !olds.keys().eq(news.keys()) {
            self.report(Class::Unsure, What::Other("patternProperties".to_owned()));
            return;
        }
        for (pattern, old) in olds {
            let new = news[pattern];
            self.doubted(true, |this| this.at(Segment::Matching(pattern.clone()), old, new));
        }
    }

    fn names(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        match (old.words.get("propertyNames"), new.words.get("propertyNames")) {
            (None, None) => {}
            (Some(_), None) => self.report(Class::Accepts, What::Other("propertyNames".to_owned())),
            (None, Some(_)) => self.report(Class::Unsure, What::Other("propertyNames".to_owned())),
            (Some(old), Some(new)) => self.doubted(true, |this| this.at(Segment::Names, old, new)),
        }
    }

    fn dependent(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        let (olds, news) = (dependents(old), dependents(new));
        let asked = |(name, other): &&(&'s str, &'s str)| {
            !olds.contains(&(*name, *other)) && !old.required.contains(other) && name != other
        };
        let word = || What::Other("dependentRequired".to_owned());
        if news.iter().any(|pair| asked(&pair)) {
            let listed = |name: &str| {
                members(old, "properties")
                    .and_then(|all| all.get(name))
                    .is_some_and(|schema| *schema != Value::Bool(false))
            };
            let sure = olds.is_empty()
                && news.iter().filter(asked).any(|(name, _)| listed(name))
                && ["minProperties", "maxProperties", "propertyNames"].iter().all(|word| !old.words.contains_key(word));
            self.report(if sure { Class::Refuses } else { Class::Unsure }, word());
        } else if olds.iter().any(|pair| !news.contains(pair)) {
            self.report(Class::Accepts, word());
        }
    }

    fn member_count(
        &mut self,
        old: &Alternative<'s>,
        new: &Alternative<'s>,
        (listed, unlisted): (Members<'s>, Unlisted<'s>),
    ) {
        let tangled = ["dependentRequired", "propertyNames", "patternProperties"];
        let doubted = tangled.iter().any(|word| old.words.contains_key(word));
        // Refused members may be listed as well; only an object that is surely possible proves anything.
        let refused = listed.is_some_and(|all| all.values().any(|schema| *schema == Value::Bool(false)));
        let least =
            |side: &Alternative<'_>| count(side, "minProperties").unwrap_or(0.0).max(side.required.len() as f64);
        let most_listed = match unlisted {
            Unlisted::Refused => listed.map_or(0, Map::len) as f64,
            _ => f64::INFINITY,
        };
        let most = |side: &Alternative<'_>| count(side, "maxProperties").unwrap_or(f64::INFINITY);
        self.doubted(doubted || refused, |this| {
            let (was, is) = (count(old, "minProperties"), count(new, "minProperties"));
            if is.unwrap_or(0.0) > least(old) && least(old) <= most(old).min(most_listed) {
                this.bound("minProperties", Class::Refuses, was, is);
            } else if was.unwrap_or(0.0) > least(new) {
                this.bound("minProperties", Class::Accepts, was, is);
            }
            let (was, is) = (count(old, "maxProperties"), count(new, "maxProperties"));
            if most(new) < most(old).min(most_listed) {
                // The object that proves it has one member more than is allowed now.
                let sure = most(new) + 1.0 >= least(old);
                this.bound("maxProperties", if sure { Class::Refuses } else { Class::Unsure }, was, is);
            } else if most(old) < most(new) {
                this.bound("maxProperties", Class::Accepts, was, is);
            }
        });
    }

    fn bound(&mut self, word: &'static str, class: Class, old: Option<f64>, new: Option<f64>) {
        self.report(class, What::Keyword { word, old: old.map(show), new: new.map(show) });
    }

    pub(super) fn arrays(&mut self, old: &Alternative<'s>, new: &Alternative<'s>) {
        let (olds, news) = (Items::of(old), Items::of(new));
        let places = olds.first.len().max(news.first.len());
        let unique = |side: &Alternative<'_>| side.words.get("uniqueItems").is_some_and(|it| **it == ANYTHING);
        let least = count(old, "minItems").unwrap_or(0.0);
        let most = olds.most(old);
        let several_distinct = unique(old) && least > 1.0;
        self.doubted(several_distinct, |this| {
            for at in (0..places).filter(|at| (*at as f64) < most) {
                if this.budget.spent() {
                    return;
                }
                this.at(Segment::Item(Some(at)), olds.place(at), news.place(at));
            }
            if places as f64 >= most {
                return;
            }
            this.at(Segment::Item(None), olds.rest, news.rest);
        });
        // Arrays of the length that proves something must be possible.
        let fills = olds.first.is_empty() && self.is_open(olds.rest);
        let is = count(new, "minItems");
        if is.unwrap_or(0.0) > least && least <= most {
            let sure = least == 0.0 || (fills && !several_distinct);
            self.bound("minItems", if sure { Class::Refuses } else { Class::Unsure }, count(old, "minItems"), is);
        } else if is.unwrap_or(0.0) < least {
            self.bound("minItems", Class::Accepts, count(old, "minItems"), is);
        }
        let (was, is) = (count(old, "maxItems"), count(new, "maxItems"));
        if is.is_some_and(|is| is < most) {
            let shortest = is.unwrap_or(0.0) + 1.0;
            let sure = fills && !(unique(old) && shortest > 1.0);
            self.bound("maxItems", if sure { Class::Refuses } else { Class::Unsure }, was, is);
        } else if was.is_some_and(|was| is.is_none_or(|is| was < is)) {
            self.bound("maxItems", Class::Accepts, was, is);
        }
        let what = |new: bool| What::Keyword {
            word: "uniqueItems",
            old: Some((!new).to_string()),
            new: Some(new.to_string()),
        };
        match (unique(old), unique(new)) {
            (false, true) if most >= 2.0 => {
                self.report(if fills { Class::Refuses } else { Class::Unsure }, what(true));
            }
            (true, false) => self.report(Class::Accepts, what(false)),
            _ => {}
        }
    }

    /// Whether a schema surely accepts something.
    fn is_open(&mut self, schema: &'s Value) -> bool {
        self.old.alternatives(schema, self.budget).iter().any(|one| one.opaque.is_empty())
    }
}

/// The schemas of an array's places.
struct Items<'s> {
    first: Vec<&'s Value>,
    rest: &'s Value,
}

impl<'s> Items<'s> {
    fn of(side: &Alternative<'s>) -> Self {
        let word = |word: &str| side.words.get(word).copied();
        let (first, rest) = match word("items") {
            // Draft-07: a list of places, and what comes after them.
            Some(Value::Array(places)) => (places.iter().collect(), word("additionalItems")),
            rest => (word("prefixItems").and_then(Value::as_array).into_iter().flatten().collect(), rest),
        };
        Self { first, rest: rest.unwrap_or(&ANYTHING) }
    }

    fn place(&self, at: usize) -> &'s Value {
        self.first.get(at).copied().unwrap_or(self.rest)
    }

    /// The longest array, as far as it is plain to see.
    fn most(&self, side: &Alternative<'_>) -> f64 {
        let closed = *self.rest == Value::Bool(false);
        let listed = if closed { self.first.len() as f64 } else { f64::INFINITY };
        count(side, "maxItems").unwrap_or(f64::INFINITY).min(listed)
    }
}
