//! `SEALMARK_*` variables and flags as layers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    catalog::{Branch, Catalog, Key, KeyPath, variable_word},
    error::{ConfigError, Origin},
    keys::Kind,
    layer::Entry,
    reserved::{Reserved, reserved},
    suggest::suggest,
    value,
};

/// Variables of that prefix that are no settings: what we put into the environment of a server ourselves, tokens, and
/// what an earlier job handed on as outputs.
pub const IGNORED_VARIABLES: &[&str] = &[
    "SEALMARK_CANARY",
    "SEALMARK_FAKE_API_KEY",
    "SEALMARK_RUN",
    "SEALMARK_TOKEN",
    "SEALMARK_GITLAB_TOKEN",
    "SEALMARK_GRADE",
    "SEALMARK_GRADES",
    "SEALMARK_REGRESSIONS",
    "SEALMARK_DRIFT",
    "SEALMARK_REPORT",
    "SEALMARK_SARIF",
    "SEALMARK_EXIT_CODE",
    "SEALMARK_COMMENT_URL",
    "SEALMARK_BADGE_ELIGIBLE",
];

const PREFIX: &str = "SEALMARK_";

/// One flag as it was given. A list flag that was repeated may come once with a list, or once per word.
#[derive(Debug, Clone, PartialEq)]
pub struct FlagValue {
    /// With its dashes (`--timeout-probe`).
    pub flag: &'static str,
    /// The dotted key it sets (`timeout_probe_sec`, `server.headers.X-Api-Key`).
    pub key: String,
    /// Its value; a text stands for a number or a boolean where one is expected.
    pub value: Value,
}

/// The entries of the flags.
pub(crate) fn flags(
    flags: &[FlagValue],
    catalog: &Catalog,
    warnings: &mut Vec<String>,
) -> Result<Vec<Entry>, ConfigError> {
    let mut entries: Vec<Entry> = Vec::new();
    for flag in flags {
        let origin = Origin::Flag(flag.flag);
        let Some((path, key)) = catalog.split(&flag.key).and_then(|path| Some((path.clone(), catalog.key(&path)?)))
        else {
            return Err(ConfigError::at(&origin, format!("`{}` is no setting of this version", flag.key)));
        };
        let value = if flag.value.is_null() { None } else { Some(read(key, &flag.value, &origin, catalog, warnings)?) };
        // `--pack a --pack b`: the words of one command line are one list.
        let earlier = entries.iter_mut().find(|entry| entry.path == path && key.kind.is_list());
        match (earlier.and_then(|entry| entry.value.as_mut()).and_then(Value::as_array_mut), value) {
            (Some(list), Some(Value::Array(more))) if !key.append => {
                for item in more {
                    // A repeated argument is two arguments, a repeated format is one.
                    if key.kind == Kind::Texts || !list.contains(&item) {
                        list.push(item);
                    }
                }
            }
            (_, value) => entries.push(Entry { path, value, origin }),
        }
    }
    Ok(entries)
}

/// The entries of the environment. `servers` are the names that files use under `servers:`.
pub(crate) fn variables(
    env: &BTreeMap<String, String>,
    servers: &BTreeSet<String>,
    catalog: &Catalog,
    warnings: &mut Vec<String>,
) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    for (name, text) in env {
        let Some(rest) = name.strip_prefix(PREFIX).filter(|_| !IGNORED_VARIABLES.contains(&name.as_str())) else {
            continue;
        };
        // `VAR=` is how CI systems spell "not set".
        if text.is_empty() {
            continue;
        }
        let words: Vec<&str> = rest.split("__").collect();
        let origin = Origin::Variable(name.clone());
        let found =
            find(&catalog.root, &words, servers, catalog).and_then(|path| Some((path.clone(), catalog.key(&path)?)));
        match found {
            Some((path, key)) if key.env => {
                let value = match text.as_str() {
                    "null" if !matches!(key.kind, Kind::Text) => None,
                    text => {
                        let written = if key.kind.is_list() {
                            json!(text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>())
                        } else {
                            json!(text)
                        };
                        Some(read(key, &written, &origin, catalog, warnings)?)
                    }
                };
                entries.push(Entry { path, value, origin });
            }
            Some((path, _)) => {
                let key = path.join(".");
                warnings.push(format!("{name} is ignored: `{key}` has no variable; it belongs into a file."));
            }
            None => warnings.push(unknown(name, rest, catalog)),
        }
    }
    Ok(entries)
}

fn read(
    key: &Key,
    written: &Value,
    origin: &Origin,
    catalog: &Catalog,
    warnings: &mut Vec<String>,
) -> Result<Value, ConfigError> {
    let mut notes = Vec::new();
    let node = value::node_of(written);
    let value = value::read(key.kind, &node, &catalog.registry, &mut notes)
        .map_err(|mismatch| ConfigError::at(origin, mismatch.message).maybe_hinting(mismatch.hint))?;
    warnings.extend(notes.into_iter().map(|note| format!("{origin}: {note}")));
    Ok(value)
}

/// The path that the words of a variable name; the user's words keep the case they have there.
fn find(branch: &Branch, words: &[&str], servers: &BTreeSet<String>, catalog: &Catalog) -> Option<KeyPath> {
    let (first, rest) = match words {
        [] => return matches!(branch, Branch::Leaf(_)).then(KeyPath::new),
        [first, rest @ ..] => (*first, rest),
    };
    if first.is_empty() {
        return None;
    }
    let (word, below, rest) = match branch {
        Branch::Leaf(_) => return None,
        Branch::Section(known) => {
            let wanted = first.to_uppercase();
            let alias = |below: &Branch| match below {
                Branch::Leaf(index) => catalog.keys[*index].alias.map(variable_word),
                _ => None,
            };
            let is_it = |(word, below): &&(String, Branch)| {
                variable_word(word) == wanted || alias(below).is_some_and(|alias| alias == wanted)
            };
            let (word, below) = known.iter().find(is_it)?;
            (word.clone(), below, rest)
        }
        // The last word of the user's takes the double underscores that remain.
        Branch::Named(_, below) if matches!(**below, Branch::Leaf(_)) => (words.join("__"), &**below, &[][..]),
        Branch::Named(what, below) if what == "server" => {
            let wanted = first.to_uppercase();
            let name = servers.iter().find(|name| variable_word(name) == wanted)?;
            (name.clone(), &**below, rest)
        }
        Branch::Named(_, below) => (first.to_owned(), &**below, rest),
    };
    let mut path = vec![word];
    path.extend(find(below, rest, servers, catalog)?);
    Some(path)
}

fn unknown(name: &str, rest: &str, catalog: &Catalog) -> String {
    let dotted = rest.to_lowercase().replace("__", ".");
    if matches!(reserved(&dotted), Some(Reserved::Planned)) {
        return format!("{name} is ignored: `{dotted}` is not part of this version.");
    }
    if matches!(reserved(&dotted), Some(Reserved::Ignored)) {
        return format!("{name} is ignored: `{dotted}` is an old key that nothing reads.");
    }
    let known: Vec<String> = catalog.keys.iter().filter_map(Key::variable).collect();
    match suggest(name, known.iter().map(String::as_str)) {
        Some(found) => format!("{name} is no setting; did you mean {found}?"),
        None => format!("{name} is no setting and is ignored."),
    }
}
