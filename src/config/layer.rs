//! Layers laid over each other: lists replace or append, maps merge, `null` restores the built-in default.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    catalog::{Catalog, KeyPath},
    error::Origin,
};

/// The layers above the built-in defaults, lowest first. A higher one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Profile,
    User,
    Project,
    Local,
    Variables,
    Flags,
}

/// What one layer says of one path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub path: KeyPath,
    /// `None`: `null`, which clears the path and all below it.
    pub value: Option<Value>,
    pub origin: Origin,
}

/// One layer, or several laid over each other. Entries are applied in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Layer {
    pub entries: Vec<(Rank, Entry)>,
}

impl Layer {
    pub fn of(rank: Rank, entries: Vec<Entry>) -> Self {
        Self { entries: entries.into_iter().map(|entry| (rank, entry)).collect() }
    }

    /// `self` with `higher` laid over it. Associative: entries are only put in sequence.
    #[must_use]
    pub fn under(mut self, higher: Self) -> Self {
        self.entries.extend(higher.entries);
        self
    }
}

/// A value that took effect, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub value: Value,
    pub origin: Origin,
    pub rank: Rank,
    /// Position among everything that was written, for orders that matter (servers, headers).
    pub order: usize,
}

/// Every value that was set, with its origin. Defaults are looked up in the catalog.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    pub(crate) set: BTreeMap<KeyPath, Setting>,
    /// Where `null` restored a default, by path.
    pub(crate) resets: BTreeMap<KeyPath, Origin>,
}

impl Merged {
    /// Applies the layers.
    pub(crate) fn of(layer: &Layer, catalog: &Catalog) -> Self {
        let mut merged = Self::default();
        for (order, (rank, entry)) in layer.entries.iter().enumerate() {
            merged.apply(*rank, order, entry, catalog);
        }
        merged
    }

    fn apply(&mut self, rank: Rank, order: usize, entry: &Entry, catalog: &Catalog) {
        let Some(value) = &entry.value else {
            self.set.retain(|path, _| !path.starts_with(&entry.path));
            self.resets.insert(entry.path.clone(), entry.origin.clone());
            return;
        };
        let appends = catalog.key(&entry.path).is_some_and(|key| key.append);
        let (mut value, mut origin) = (value.clone(), entry.origin.clone());
        if let (true, Some(lower), Some(added)) = (appends, self.set.get(&entry.path), value.as_array()) {
            let mut all = lower.value.as_array().cloned().unwrap_or_default();
            all.extend(added.iter().filter(|item| !all.contains(item)).cloned().collect::<Vec<_>>());
            value = Value::Array(all);
            origin = match lower.origin.clone() {
                Origin::Several(mut origins) => {
                    origins.push(origin);
                    Origin::Several(origins)
                }
                first if first == origin => origin,
                first => Origin::Several(vec![first, origin]),
            };
        }
        self.set.insert(entry.path.clone(), Setting { value, origin, rank, order });
    }

    /// What was set at a path.
    pub(crate) fn setting<P: AsRef<str>>(&self, path: &[P]) -> Option<&Setting> {
        let path: KeyPath = path.iter().map(|word| word.as_ref().to_owned()).collect();
        self.set.get(&path)
    }

    /// What was set below a path: the words after it, and the setting.
    pub(crate) fn below<'m>(&'m self, prefix: &[&str]) -> impl Iterator<Item = (&'m [String], &'m Setting)> + use<'m> {
        let prefix: KeyPath = prefix.iter().map(|word| (*word).to_owned()).collect();
        let length = prefix.len();
        self.set
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .filter(move |(path, _)| path.len() > length)
            .map(move |(path, setting)| (&path[length..], setting))
    }

    /// Where a path's value came from; its default when nobody set it.
    pub(crate) fn origin_at<P: AsRef<str>>(&self, path: &[P]) -> Origin {
        if let Some(setting) = self.setting(path) {
            return setting.origin.clone();
        }
        let path: KeyPath = path.iter().map(|word| word.as_ref().to_owned()).collect();
        let reset = (1..=path.len()).rev().find_map(|length| self.resets.get(&path[..length]));
        reset.map_or(Origin::Default, |at| Origin::Reset(Box::new(at.clone())))
    }

    /// The value that was set at a dotted path and where; `None` when the default holds.
    pub fn get(&self, dotted: &str) -> Option<(&Value, &Origin)> {
        self.set.iter().find(|(path, _)| path.join(".") == dotted).map(|(_, setting)| (&setting.value, &setting.origin))
    }

    /// Everything that was set, by dotted path.
    pub fn iter(&self) -> impl Iterator<Item = (String, &Value, &Origin)> {
        self.set.iter().map(|(path, setting)| (path.join("."), &setting.value, &setting.origin))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{super::registry::Registry, *};

    fn entry(path: &str, value: Value) -> Entry {
        Entry {
            path: path.split('.').map(str::to_owned).collect(),
            value: (!value.is_null()).then_some(value),
            origin: Origin::Default,
        }
    }

    fn merge(layers: Vec<Vec<Entry>>) -> Merged {
        let catalog = Catalog::of(Registry::built_in());
        let all =
            layers.into_iter().fold(Layer::default(), |all, entries| all.under(Layer::of(Rank::Project, entries)));
        Merged::of(&all, &catalog)
    }

    fn value(merged: &Merged, path: &str) -> Option<Value> {
        merged.get(path).map(|(value, _)| value.clone())
    }

    #[test]
    fn lists_replace_except_the_ones_that_append() {
        let merged = merge(vec![
            vec![entry("server.args", json!(["a"])), entry("tools.exclude", json!(["x", "y"]))],
            vec![entry("server.args", json!(["b"])), entry("tools.exclude", json!(["y", "z"]))],
        ]);
        assert_eq!(value(&merged, "server.args"), Some(json!(["b"])));
        assert_eq!(value(&merged, "tools.exclude"), Some(json!(["x", "y", "z"])));
    }

    #[test]
    fn maps_merge_by_their_keys() {
        let merged = merge(vec![
            vec![entry("server.env.A", json!("1")), entry("server.env.B", json!("1"))],
            vec![entry("server.env.B", json!("2"))],
        ]);
        assert_eq!(value(&merged, "server.env.A"), Some(json!("1")));
        assert_eq!(value(&merged, "server.env.B"), Some(json!("2")));
    }

    #[test]
    fn null_clears_a_path_and_all_below_it_and_later_layers_start_anew() {
        let merged = merge(vec![
            vec![entry("server.env.A", json!("1")), entry("tools.exclude", json!(["x"])), entry("jobs", json!(2))],
            vec![entry("server.env", Value::Null), entry("tools.exclude", Value::Null), entry("jobs", Value::Null)],
            vec![entry("tools.exclude", json!(["z"]))],
        ]);
        assert_eq!(value(&merged, "server.env.A"), None);
        assert_eq!(value(&merged, "tools.exclude"), Some(json!(["z"])));
        assert!(matches!(merged.origin_at(&["jobs"]), Origin::Reset(_)));
        assert!(matches!(merged.origin_at(&["server", "env", "A"]), Origin::Reset(_)));
        assert_eq!(merged.origin_at(&["packs"]), Origin::Default);
    }

    #[test]
    fn a_prefix_ends_at_a_dot() {
        let merged = merge(vec![vec![entry("server.env.A", json!("1")), entry("servers.x.url", json!("u"))]]);
        assert_eq!(merged.below(&["server"]).count(), 1);
    }

    fn layers() -> impl Strategy<Value = Layer> {
        let paths =
            prop::sample::select(vec!["server", "server.env", "server.env.A", "server.env.B", "tools.exclude", "jobs"]);
        let entry = (paths, prop::option::of(0..4_i64)).prop_map(|(path, number)| {
            let value = match (number, path) {
                // A section can only be cleared.
                (None, _) | (_, "server" | "server.env") => Value::Null,
                (Some(number), "tools.exclude") => json!([number]),
                (Some(number), _) => json!(number),
            };
            entry(path, value)
        });
        prop::collection::vec(entry, 0..6).prop_map(|entries| Layer::of(Rank::Project, entries))
    }

    proptest! {
        #[test]
        fn laying_over_is_associative(a in layers(), b in layers(), c in layers()) {
            let catalog = Catalog::of(Registry::built_in());
            let left = a.clone().under(b.clone()).under(c.clone());
            let right = a.under(b.under(c));
            prop_assert_eq!(Merged::of(&left, &catalog), Merged::of(&right, &catalog));
        }

        #[test]
        fn the_highest_layer_wins_unless_it_appends(lower in layers(), number in 0..9_i64) {
            let catalog = Catalog::of(Registry::built_in());
            let higher = Layer::of(Rank::Flags, vec![entry("jobs", json!(number)), entry("tools.exclude", json!([99]))]);
            let merged = Merged::of(&lower.under(higher), &catalog);
            prop_assert_eq!(value(&merged, "jobs"), Some(json!(number)));
            let excluded = value(&merged, "tools.exclude").unwrap();
            prop_assert_eq!(excluded.as_array().unwrap().last(), Some(&json!(99)));
        }
    }
}
