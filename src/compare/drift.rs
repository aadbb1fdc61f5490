//! What a server offers differently, worst first, each change with a stable word and a level.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Drift, DriftLevel, Offer, TextChange, drift_offers, drift_schema, schema::Budget};
use crate::{
    model::{Era, Revision},
    report::result::{ServerFacts, SurfaceFacts, TextFacts, ToolFacts},
    text::excerpt,
};

/// Longest name that a detail shows, in characters.
const NAME: usize = 60;
/// Changes of one server; what is more is said in one.
const MOST: usize = 1_000;
/// Steps for the schemas of one server.
const STEPS: u32 = 1_500_000;

/// Every change from one surface to another of the same server: breaking, notable, info, then by what and by name.
///
/// Identical surfaces never drift; the order of listings and of members is no difference. Where a server's surface was
/// not met on one of the sides (it did not start), there is nothing to compare and nothing drifts. Work and length are
/// bounded, whatever the reports hold.
pub fn drift(before: &ServerFacts, after: &ServerFacts) -> Vec<Drift> {
    let (old, new) = (&before.surface, &after.surface);
    let unmet = SurfaceFacts::default();
    if *old == unmet || *new == unmet {
        return Vec::new();
    }
    let mut changes = Changes::default();
    changes.server(before, after);
    changes.tools(old, new);
    drift_offers::compare(&mut changes, old, new);
    changes.finish()
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    found: Vec<Drift>,
}

/// A place for a change: what it is about and its name.
pub(super) type Place<'a> = (Offer, &'a str);

impl Changes {
    pub(super) fn push(&mut self, level: DriftLevel, (offer, name): Place<'_>, kind: &'static str, detail: String) {
        self.found.push(Drift { level, offer, name: name.to_owned(), kind, detail, text: None });
    }

    pub(super) fn push_text(&mut self, place: Place<'_>, kind: &'static str, detail: String, text: TextChange) {
        self.push(DriftLevel::Notable, place, kind, detail);
        if let Some(drift) = self.found.last_mut() {
            drift.text = Some(text);
        }
    }

    /// A text that an agent may read.
    pub(super) fn text(
        &mut self,
        place: Place<'_>,
        kind: &'static str,
        what: &str,
        (old, new): (Option<&TextFacts>, Option<&TextFacts>),
    ) {
        if old != new {
            self.push(DriftLevel::Notable, place, kind, text_detail(what, old, new));
        }
    }

    /// Members of which only the hash is known.
    pub(super) fn members(
        &mut self,
        place: Place<'_>,
        kind: &'static str,
        (old, new): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    ) {
        for (name, what) in differing(old, new) {
            self.push(DriftLevel::Notable, place, kind, format!("`{}` {what}", excerpt(name, NAME)));
        }
    }

    fn finish(mut self) -> Vec<Drift> {
        self.found.sort_by(|left, right| {
            let key = |drift: &Drift| (drift.level, drift.offer);
            key(left)
                .cmp(&key(right))
                .then_with(|| left.name.cmp(&right.name))
                .then_with(|| left.kind.cmp(right.kind))
                .then_with(|| left.detail.cmp(&right.detail))
        });
        if self.found.len() > MOST {
            let rest = self.found.split_off(MOST - 1);
            let level = rest.iter().map(|drift| drift.level).min().unwrap_or(DriftLevel::Notable);
            self.push(level, (Offer::Server, ""), "more-changes", format!("{} more changes", rest.len()));
        }
        self.found
    }

    fn server(&mut self, before: &ServerFacts, after: &ServerFacts) {
        let place = (Offer::Server, "");
        let (old, new) = (&before.surface, &after.surface);
        let texts = |of: fn(&SurfaceFacts) -> &Option<TextFacts>| (of(old).as_ref(), of(new).as_ref());
        self.text(place, "instructions-changed", "instructions", texts(|side| &side.instructions));
        let what = "instructions of the other era's handshake";
        self.text(place, "instructions-changed", what, texts(|side| &side.other_instructions));
        self.text(place, "title-changed", "title", texts(|side| &side.title));
        self.members(place, "server-info-changed", (&old.info, &new.info));
        self.word(DriftLevel::Notable, "name-changed", "name", (&before.reported_name, &after.reported_name));
        self.word(DriftLevel::Info, "version-changed", "version", (&before.reported_version, &after.reported_version));
        self.capabilities(old.capabilities.as_ref(), new.capabilities.as_ref());
        self.revisions(&old.revisions, &new.revisions);
        for (list, why) in new.unread.iter().filter(|(list, _)| !old.unread.contains_key(*list)) {
            let detail = format!("{list} could not be read whole ({why}); what is missing from it is not reported");
            self.push(DriftLevel::Notable, place, "list-unread", detail);
        }
        for list in old.unread.keys().filter(|list| !new.unread.contains_key(*list)) {
            let detail = format!("{list} can be read whole now; what is new in it is not reported");
            self.push(DriftLevel::Info, place, "list-read", detail);
        }
    }

    fn word(
        &mut self,
        level: DriftLevel,
        kind: &'static str,
        what: &str,
        (old, new): (&Option<String>, &Option<String>),
    ) {
        if old != new {
            let shown =
                |side: &Option<String>| side.as_deref().map_or_else(|| "none".to_owned(), |it| excerpt(it, NAME));
            self.push(level, (Offer::Server, ""), kind, format!("{what} {} → {}", shown(old), shown(new)));
        }
    }

    fn capabilities(&mut self, old: Option<&Value>, new: Option<&Value>) {
        let place = (Offer::Server, "");
        let (old, new) = (flags(old), flags(new));
        let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let shown = excerpt(name, 2 * NAME);
            match (old.get(name), new.get(name)) {
                (Some(_), None) => {
                    // Nobody calls a notification: its absence refuses nothing.
                    let level = if name.ends_with(".listChanged") { DriftLevel::Notable } else { DriftLevel::Breaking };
                    self.push(level, place, "capability-removed", format!("capability {shown} removed"));
                }
                (None, Some(_)) => {
                    self.push(DriftLevel::Info, place, "capability-added", format!("capability {shown} added"));
                }
                (old, new) if old != new => {
                    self.push(DriftLevel::Notable, place, "capability-changed", format!("capability {shown} changed"));
                }
                _ => {}
            }
        }
    }

    /// A legacy handshake tells only the revision it chose: the newest that both sides speak. A newer one in its place
    /// says nothing of the older one.
    fn revisions(&mut self, old: &[String], new: &[String]) {
        let place = (Offer::Server, "");
        let legacy = |word: &String| Revision::parse(word).is_none_or(|revision| revision.era() == Era::Legacy);
        for word in old.iter().filter(|word| !new.contains(word)) {
            let newer = new.iter().filter(|other| legacy(word) && legacy(other) && *other > word).max();
            let shown = excerpt(word, NAME);
            match newer {
                Some(newer) => {
                    let detail = format!("protocol revision {shown} → {}", excerpt(newer, NAME));
                    self.push(DriftLevel::Info, place, "revision-changed", detail);
                }
                None => {
                    let detail = format!("protocol revision {shown} is not spoken any more");
                    self.push(DriftLevel::Breaking, place, "revision-removed", detail);
                }
            }
        }
        for word in new.iter().filter(|word| !old.contains(word)) {
            let replaces =
                old.iter().any(|other| legacy(word) && legacy(other) && other < word && !new.contains(other));
            if !replaces {
                let detail = format!("protocol revision {} is spoken now", excerpt(word, NAME));
                self.push(DriftLevel::Info, place, "revision-added", detail);
            }
        }
    }

    fn tools(&mut self, old: &SurfaceFacts, new: &SurfaceFacts) {
        const LIST: &str = "tools/list";
        let (olds, news) = (by_name(&old.tools), by_name(&new.tools));
        let mut budget = Budget::new(STEPS);
        for (key, tool) in &olds {
            let place = (Offer::Tool, key.0);
            match news.get(key) {
                Some(later) => self.tool(place, tool, later, &mut budget),
                None if new.unread.contains_key(LIST) => {}
                None => self.push(DriftLevel::Breaking, place, "tool-removed", "tool removed".to_owned()),
            }
        }
        if !old.unread.contains_key(LIST) {
            for (name, _) in news.keys().filter(|key| !olds.contains_key(*key)) {
                self.push(DriftLevel::Notable, (Offer::Tool, name), "tool-added", "tool added".to_owned());
            }
        }
    }

    fn tool(&mut self, place: Place<'_>, old: &ToolFacts, new: &ToolFacts, budget: &mut Budget) {
        self.text(place, "title-changed", "title", (old.title.as_ref(), new.title.as_ref()));
        let descriptions = (old.description.as_ref(), new.description.as_ref());
        self.text(place, "description-changed", "description", descriptions);
        self.annotations(place, old.annotations.as_ref(), new.annotations.as_ref());
        if old.meta != new.meta {
            let what = change(old.meta.is_some(), new.meta.is_some());
            self.push(DriftLevel::Notable, place, "meta-changed", format!("`_meta` {what}"));
        }
        self.members(place, "entry-changed", (&old.other, &new.other));
        drift_schema::input(self, place, (&old.input_schema, &new.input_schema), budget);
        match (&old.output_schema, &new.output_schema) {
            (None, None) => {}
            (Some(old), Some(new)) => drift_schema::output(self, place, (old, new), budget),
            (Some(_), None) => {
                // Any reply is possible now, so every promise of the schema is taken back.
                let detail = "output schema removed: structured replies are promised no more".to_owned();
                self.push(DriftLevel::Breaking, place, "output-schema-removed", detail);
            }
            (None, Some(_)) => {
                self.push(DriftLevel::Info, place, "output-schema-added", "output schema added".to_owned());
            }
        }
    }

    fn annotations(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        let member = |side: Option<&Value>, name: &str| side.and_then(|side| side.get(name)).cloned();
        let names = |side: Option<&Value>| side.and_then(Value::as_object).map(|all| all.keys().cloned().collect());
        let mut all: Vec<String> = names(old).unwrap_or_default();
        all.extend(names(new).unwrap_or_default());
        all.sort();
        all.dedup();
        for name in all {
            let (before, after) = (member(old, &name), member(new, &name));
            if before == after {
                continue;
            }
            let shown = |side: &Option<Value>| match side {
                Some(Value::Bool(hint)) => hint.to_string(),
                Some(_) => "another value".to_owned(),
                None => "unset".to_owned(),
            };
            // What is written out is what was meant before.
            let meant = |side: &Option<Value>| side.clone().or_else(|| default_hint(&name));
            let level = if meant(&before) == meant(&after) { DriftLevel::Info } else { DriftLevel::Notable };
            let name = excerpt(&name, NAME);
            let detail = format!("annotation {name} {} → {}", shown(&before), shown(&after));
            self.push(level, place, "annotation-changed", detail);
        }
        let listed = |side: Option<&Value>| side.is_none_or(Value::is_object);
        if !(listed(old) && listed(new)) && old != new {
            self.push(DriftLevel::Notable, place, "annotation-changed", "annotations changed".to_owned());
        }
    }
}

/// What an annotation means when it is not there (`ToolAnnotations` of the specification).
fn default_hint(name: &str) -> Option<Value> {
    match name {
        "readOnlyHint" | "idempotentHint" => Some(Value::Bool(false)),
        "destructiveHint" | "openWorldHint" => Some(Value::Bool(true)),
        _ => None,
    }
}

/// Tools by name; of several with one name each is held against the one in its place.
fn by_name(tools: &[ToolFacts]) -> BTreeMap<(&str, usize), &ToolFacts> {
    let mut seen = BTreeMap::<&str, usize>::new();
    let numbered = tools.iter().map(|tool| {
        let count = seen.entry(&tool.name).or_default();
        *count += 1;
        ((tool.name.as_str(), *count), tool)
    });
    numbered.collect()
}

/// What is declared, by dotted path: `tools`, `tools.listChanged`. What is `false` or null is not declared.
fn flags(value: Option<&Value>) -> BTreeMap<String, Value> {
    let mut flags = BTreeMap::new();
    let mut pending: Vec<(String, &Value)> = vec![(String::new(), value.unwrap_or(&Value::Null))];
    while let Some((path, value)) = pending.pop() {
        if matches!(value, Value::Null | Value::Bool(false)) {
            continue;
        }
        let leaf = match value {
            Value::Object(members) => {
                let below = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                // A path grows with every level; nobody declares anything this deep.
                if path.len() < 1_000 {
                    pending.extend(members.iter().map(|(name, value)| (below(name), value)));
                    Value::Bool(true)
                } else {
                    value.clone()
                }
            }
            other => other.clone(),
        };
        if !path.is_empty() {
            flags.insert(path, leaf);
        }
    }
    flags
}

/// Names that differ, each with what became of it.
pub(super) fn differing<'a, V: PartialEq>(
    old: &'a BTreeMap<String, V>,
    new: &'a BTreeMap<String, V>,
) -> Vec<(&'a str, &'static str)> {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    changed.map(|name| (name.as_str(), change(old.contains_key(name), new.contains_key(name)))).collect()
}

/// What became of something that is there or not.
pub(super) fn change(before: bool, after: bool) -> &'static str {
    match (before, after) {
        (false, true) => "added",
        (true, false) => "removed",
        _ => "changed",
    }
}

/// `description changed (sha 3f1a… → 9c02…, 240 → 310 chars)`.
pub(super) fn text_detail(what: &str, old: Option<&TextFacts>, new: Option<&TextFacts>) -> String {
    let sha = |text: &TextFacts| excerpt(&text.sha256, 5).replace('…', "").chars().take(4).collect::<String>();
    match (old, new) {
        (Some(old), Some(new)) => {
            format!("{what} changed (sha {}… → {}…, {} → {} chars)", sha(old), sha(new), old.chars, new.chars)
        }
        (None, Some(new)) => format!("{what} added (sha {}…, {} chars)", sha(new), new.chars),
        (Some(old), None) => format!("{what} removed (sha {}…, {} chars)", sha(old), old.chars),
        (None, None) => format!("{what} changed"),
    }
}
