//! The key table and the registry as one tree: what may stand where.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    keys::{Fallback, Kind, ROWS, Row, SERVER_ROWS, SERVER_VERSION, SEVERITIES},
    registry::Registry,
};

/// A setting's path: the words between the dots. The user's words (tools, variables, headers) may hold dots themselves.
pub(crate) type KeyPath = Vec<String>;

/// One setting of this build.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// `<name>` stands for a word of the user's.
    pub pattern: KeyPath,
    pub kind: Kind,
    /// `None`: not set.
    pub default: Option<Value>,
    pub locked: bool,
    /// Locked only when it differs: a setting of a candidate check.
    pub candidate: bool,
    pub append: bool,
    pub env: bool,
    pub profile: bool,
    pub alias: Option<&'static str>,
    pub help: String,
}

/// What may stand at a place.
#[derive(Debug, Clone)]
pub(crate) enum Branch {
    /// A setting: its index in the catalog.
    Leaf(usize),
    /// Known words, in the table's order.
    Section(Vec<(String, Branch)>),
    /// Words of the user's; the name of what they stand for.
    Named(String, Box<Branch>),
}

/// Every setting of this build.
#[derive(Debug, Clone)]
pub(crate) struct Catalog {
    pub keys: Vec<Key>,
    pub root: Branch,
    /// What a profile may hold, `extends` apart.
    pub profile: Branch,
    pub registry: Registry,
}

impl Catalog {
    pub fn of(registry: Registry) -> Self {
        let every_pack = json!(registry.pack_ids());
        let mut keys = Vec::new();
        let mut add = |prefix: &[&str], row: &Row, env: bool| {
            keys.push(Key {
                pattern: prefix.iter().copied().chain(row.path.split('.')).map(str::to_owned).collect(),
                kind: row.kind,
                default: match row.fallback {
                    Fallback::None => None,
                    Fallback::Bool(value) => Some(json!(value)),
                    Fallback::Integer(value) => Some(json!(value)),
                    Fallback::Text(value) => Some(json!(value)),
                    Fallback::Texts(value) => Some(json!(value)),
                    Fallback::EveryPack => Some(every_pack.clone()),
                },
                locked: row.locked,
                candidate: false,
                append: row.append,
                env,
                profile: row.profile,
                alias: row.alias,
                help: row.help.to_owned(),
            });
        };
        for row in ROWS {
            add(&[], row, row.env);
            // The servers stand where a reader looks for them: after what names the run.
            if row.path == "profile" {
                SERVER_ROWS.iter().for_each(|row| add(&["server"], row, row.env));
                SERVER_ROWS.iter().chain([&SERVER_VERSION]).for_each(|row| {
                    add(&["servers", "<server>"], &Row { profile: false, ..*row }, row.env);
                });
            }
        }
        for check in &registry.checks {
            let mut setting = |key: &str, kind, default, locked, help: String| {
                keys.push(Key {
                    pattern: vec!["checks".to_owned(), check.id.to_owned(), key.to_owned()],
                    kind,
                    default: Some(default),
                    locked,
                    candidate: check.candidate,
                    append: false,
                    env: true,
                    profile: true,
                    alias: None,
                    help,
                });
            };
            setting("enabled", Kind::Bool, json!(true), true, format!("Whether the check runs: {}", check.title));
            setting(
                "severity",
                Kind::Choice(SEVERITIES),
                json!(check.severity.as_str()),
                true,
                format!("How much `{}` weighs in the grade", check.id),
            );
            for knob in &check.knobs {
                let help = knob.help.trim_end_matches('.').to_owned();
                setting(knob.key, knob.kind, knob.default.clone(), knob.locked, help);
            }
        }
        let root = tree(keys.iter().enumerate());
        let profile = tree(keys.iter().enumerate().filter(|(_, key)| key.profile));
        Self { keys, root, profile, registry }
    }

    /// The setting at a path of the user's.
    pub fn key(&self, path: &[String]) -> Option<&Key> {
        let mut branch = &self.root;
        for word in path {
            branch = child(branch, word)?;
        }
        match branch {
            Branch::Leaf(index) => Some(&self.keys[*index]),
            _ => None,
        }
    }

    /// Reads a dotted path; the last word of the user's takes all that remains, dots included.
    pub fn split(&self, dotted: &str) -> Option<KeyPath> {
        let mut path = KeyPath::new();
        let mut branch = &self.root;
        let mut rest = dotted;
        loop {
            let word = match branch {
                Branch::Leaf(_) => return rest.is_empty().then_some(path),
                Branch::Named(_, below) if matches!(**below, Branch::Leaf(_)) => rest,
                _ => rest.split('.').next()?,
            };
            if word.is_empty() {
                return None;
            }
            branch = child(branch, word)?;
            path.push(word.to_owned());
            rest = rest[word.len()..].strip_prefix('.').unwrap_or(&rest[word.len()..]);
        }
    }

    /// Every dotted pattern whose last word is close to `word`, for keys written at the wrong level.
    pub fn elsewhere(&self, word: &str) -> Option<String> {
        let lasts: Vec<&str> = self.keys.iter().filter_map(|key| key.pattern.last().map(String::as_str)).collect();
        let found = super::suggest::suggest(word, lasts)?;
        let key = self.keys.iter().find(|key| key.pattern.last().is_some_and(|last| last == found))?;
        Some(key.pattern.join("."))
    }
}

/// The branch below a word, with aliases resolved by the caller.
pub(crate) fn child<'b>(branch: &'b Branch, word: &str) -> Option<&'b Branch> {
    match branch {
        Branch::Leaf(_) => None,
        Branch::Section(known) => known.iter().find(|(name, _)| name == word).map(|(_, below)| below),
        Branch::Named(_, below) => Some(below),
    }
}

fn tree<'k>(keys: impl Iterator<Item = (usize, &'k Key)>) -> Branch {
    let mut root = Branch::Section(Vec::new());
    for (index, key) in keys {
        insert(&mut root, &key.pattern, index);
    }
    root
}

fn insert(at: &mut Branch, pattern: &[String], index: usize) {
    let Some((word, rest)) = pattern.split_first() else { return };
    match at {
        Branch::Section(known) => {
            let position = known.iter().position(|(name, _)| name == word).unwrap_or_else(|| {
                let branch = match rest.first() {
                    None => Branch::Leaf(index),
                    Some(next) if next.starts_with('<') => {
                        Branch::Named(next.trim_matches(['<', '>']).to_owned(), Box::new(Branch::Section(Vec::new())))
                    }
                    Some(_) => Branch::Section(Vec::new()),
                };
                known.push((word.clone(), branch));
                known.len() - 1
            });
            insert(&mut known[position].1, rest, index);
        }
        Branch::Named(_, below) if rest.is_empty() => **below = Branch::Leaf(index),
        Branch::Named(_, below) => insert(below, rest, index),
        Branch::Leaf(_) => {}
    }
}

/// One setting as `describe --json` lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyFacts {
    /// Dotted; `<name>` stands for a word of the user's.
    pub key: String,
    /// What is expected, in words.
    #[serde(rename = "type")]
    pub kind: String,
    /// The built-in default, `null` when it has none.
    pub default: Value,
    /// Whether it affects a grade.
    pub locked: bool,
    /// Whether lists of several layers are joined.
    pub appends: bool,
    /// The variable that sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// Whether a profile may hold it.
    pub profile: bool,
    /// One sentence without its full stop.
    pub help: String,
}

impl Key {
    /// Dotted.
    pub fn dotted(&self) -> String {
        self.pattern.join(".")
    }

    /// The name of its variable.
    pub fn variable(&self) -> Option<String> {
        self.env.then(|| {
            format!("SEALMARK_{}", self.pattern.iter().map(|word| variable_word(word)).collect::<Vec<_>>().join("__"))
        })
    }
}

/// A word of a path as it stands in the name of a variable.
pub(crate) fn variable_word(word: &str) -> String {
    if word.starts_with('<') { word.to_uppercase() } else { word.to_uppercase().replace('-', "_") }
}

/// Every setting of this build, in the order of the docs.
pub fn keys() -> Vec<KeyFacts> {
    let catalog = Catalog::of(Registry::built_in());
    let packs = catalog.registry.pack_ids();
    catalog
        .keys
        .iter()
        .map(|key| KeyFacts {
            key: key.dotted(),
            kind: key.kind.expects(&packs),
            default: key.default.clone().unwrap_or(Value::Null),
            locked: key.locked,
            appends: key.append,
            env: key.variable(),
            profile: key.profile,
            help: key.help.clone(),
        })
        .collect()
}

/// Groups keys by the words above the last one, in order.
pub(crate) fn by_section<'k>(keys: impl IntoIterator<Item = &'k Key>) -> Vec<(String, Vec<&'k Key>)> {
    let mut order: Vec<(String, Vec<&Key>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for key in keys {
        let section = if key.pattern.len() > 1 { key.pattern[0].clone() } else { String::new() };
        let position = *at.entry(section.clone()).or_insert_with(|| {
            order.push((section, Vec::new()));
            order.len() - 1
        });
        order[position].1.push(key);
    }
    order
}
