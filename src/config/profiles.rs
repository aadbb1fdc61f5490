//! Profiles: the shipped ones, the user's with `extends`, and their listing.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    catalog::{Catalog, KeyPath},
    error::{ConfigError, Origin},
    file::Definition,
    layer::{Entry, Layer, Merged, Rank},
    registry::Registry,
    resolve::Resolved,
    standing,
    suggest::hint_for,
};

/// The shipped profiles in the order of their listing: name and what it is for.
pub(crate) const SHIPPED: &[(&str, &str)] = &[
    ("standard", "the published methodology; the only profile whose grade is official"),
    ("quick", "a first look: core alone, short waits"),
    ("ci", "standard grading; summary on the console, JUnit and JSON in ./sealmark-report, inconclusive packs fail"),
    ("strict", "every advisory and candidate check is scored"),
    ("paranoid", "strict, with long waits, and inconclusive packs fail"),
];

/// Whether a profile of that name is built in.
pub(crate) fn is_shipped(name: &str) -> bool {
    SHIPPED.iter().any(|(shipped, _)| *shipped == name)
}

/// The settings of a shipped profile.
fn shipped(name: &str, registry: &Registry) -> Vec<(KeyPath, Value)> {
    let set = |dotted: &str, value| (dotted.split('.').map(str::to_owned).collect(), value);
    let inconclusive_fails = || set("output.exit_policy.treat_inconclusive_as", json!("fail"));
    let all_scored = || {
        let advisory = registry.checks.iter().filter(|check| check.severity.as_str() == "advisory");
        advisory.map(|check| (vec!["checks".to_owned(), check.id.to_owned(), "severity".to_owned()], json!("scored")))
    };
    match name {
        "quick" => vec![set("packs", json!(["core"])), set("timeout_probe_sec", json!(2))],
        "ci" => vec![
            set("output.format", json!(["summary", "junit", "json"])),
            set("output.out_dir", json!("./sealmark-report")),
            inconclusive_fails(),
        ],
        "strict" => all_scored().collect(),
        "paranoid" => all_scored().chain([set("timeout_probe_sec", json!(30)), inconclusive_fails()]).collect(),
        _ => Vec::new(),
    }
}

/// The entries of a profile, the ones it extends below its own.
pub(crate) fn entries(
    name: &str,
    asked: &Origin,
    defined: &BTreeMap<String, Definition>,
    registry: &Registry,
) -> Result<Vec<Entry>, ConfigError> {
    let mut chain: Vec<&str> = Vec::new();
    let mut parts: Vec<Vec<Entry>> = Vec::new();
    let (mut current, mut asked) = (name, asked);
    loop {
        if chain.contains(&current) {
            chain.push(current);
            return Err(ConfigError::at(asked, format!("profiles extend each other: {}", chain.join(" → ")))
                .hinting("let one of them extend `standard`"));
        }
        chain.push(current);
        let Some(definition) = defined.get(current) else {
            if !is_shipped(current) {
                let known = SHIPPED.iter().map(|(name, _)| *name).chain(defined.keys().map(String::as_str));
                return Err(ConfigError::at(asked, format!("unknown profile `{}`", super::yaml::cut(current)))
                    .maybe_hinting(hint_for(current, known)));
            }
            let origin = Origin::Profile(current.to_owned(), None);
            parts.push(
                shipped(current, registry)
                    .into_iter()
                    .map(|(path, value)| Entry { path, value: Some(value), origin: origin.clone() })
                    .collect(),
            );
            break;
        };
        parts.push(definition.entries.clone());
        match &definition.extends {
            Some((parent, origin)) => (current, asked) = (parent, origin),
            None => break,
        }
    }
    Ok(parts.into_iter().rev().flatten().collect())
}

/// One profile of the listing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFacts {
    /// Its name.
    pub name: String,
    /// Built in, or the user's.
    pub shipped: bool,
    /// Whether it is the one this configuration selects.
    pub selected: bool,
    /// The profile it extends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// What it is for, or where the user's stands.
    pub about: String,
    /// Whether a run with it alone is STANDARD.
    pub standard: bool,
    /// Its settings that differ from the defaults: dotted key → value.
    pub settings: serde_json::Map<String, Value>,
}

/// Shipped and user profiles with their difference from `standard`.
///
/// # Errors
/// A user profile that extends an unknown one or itself.
pub fn profiles(resolved: &Resolved) -> Result<Vec<ProfileFacts>, ConfigError> {
    let catalog = &resolved.catalog;
    let names = SHIPPED.iter().map(|(name, _)| *name).chain(resolved.profiles.keys().map(String::as_str));
    names
        .map(|name| {
            let definition = resolved.profiles.get(name);
            let entries = entries(name, &Origin::Default, &resolved.profiles, &catalog.registry)?;
            let merged = Merged::of(&Layer::of(Rank::Profile, entries), catalog);
            let settings = merged.set.iter().filter(|(path, setting)| !is_default(path, &setting.value, catalog));
            Ok(ProfileFacts {
                name: name.to_owned(),
                shipped: definition.is_none(),
                selected: resolved.settings.profile == name,
                extends: definition
                    .and_then(|definition| definition.extends.as_ref())
                    .map(|(parent, _)| parent.clone()),
                about: match definition {
                    Some(definition) => definition.place.to_string(),
                    None => SHIPPED
                        .iter()
                        .find(|(shipped, _)| *shipped == name)
                        .map(|(_, about)| *about)
                        .unwrap_or_default()
                        .to_owned(),
                },
                standard: standing::of(&merged, catalog).standard,
                settings: settings.map(|(path, setting)| (path.join("."), setting.value.clone())).collect(),
            })
        })
        .collect()
}

fn is_default(path: &[String], value: &Value, catalog: &Catalog) -> bool {
    catalog.key(path).and_then(|key| key.default.as_ref()) == Some(value)
}

/// The listing for people.
pub fn profiles_text(profiles: &[ProfileFacts]) -> String {
    let mut out = String::new();
    for profile in profiles {
        let standing = if profile.standard { "STANDARD" } else { "CUSTOM" };
        let selected = if profile.selected { " (selected)" } else { "" };
        out.push_str(&format!("{}  {standing}{selected}\n  {}\n", profile.name, profile.about));
        if let Some(parent) = &profile.extends {
            out.push_str(&format!("  extends {parent}\n"));
        }
        for (key, value) in &profile.settings {
            out.push_str(&format!("    {key}: {value}\n"));
        }
    }
    out
}
