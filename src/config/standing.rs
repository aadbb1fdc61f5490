//! STANDARD or CUSTOM: what affects a grade, its hash, and what differs from the published methodology.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{
    catalog::{Catalog, Key},
    error::Origin,
    layer::Merged,
    settings::{Difference, Standing},
};

/// Compares the settings that affect a grade with the standard profile, which is the built-in defaults.
pub(crate) fn of(merged: &Merged, catalog: &Catalog) -> Standing {
    let mut locked = BTreeMap::new();
    let mut diff = Vec::new();
    let overrides = overrides(merged);
    let mut overridden = false;
    for key in catalog.keys.iter().filter(|key| key.locked) {
        let (dotted, standard, effective, shown) = if key.pattern.starts_with(&["tools".into(), "overrides".into()]) {
            if std::mem::replace(&mut overridden, true) {
                continue;
            }
            ("tools.overrides".to_owned(), json!({}), overrides.clone(), overrides.clone())
        } else if key.pattern == ["packs"] {
            // Only the standard packs count: a candidate pack adds coverage.
            let chosen = list(merged, key);
            let standard = catalog.registry.standard_packs();
            let kept: Vec<&str> = standard.iter().copied().filter(|pack| chosen.iter().any(|id| id == pack)).collect();
            ("packs".to_owned(), json!(standard), json!(kept), json!(chosen))
        } else {
            let default = key.default.clone().unwrap_or(Value::Null);
            let effective =
                merged.setting(&key.pattern).map_or_else(|| default.clone(), |setting| setting.value.clone());
            (key.dotted(), default, effective.clone(), effective)
        };
        let differs = standard != effective;
        if differs {
            let origin = origin(&dotted, merged, key);
            diff.push(Difference { key: dotted.clone(), standard, effective: shown, origin: origin.to_string() });
        }
        // A candidate is not part of the methodology; touching it makes the run another one.
        if differs || !key.candidate {
            locked.insert(dotted, effective);
        }
    }
    Standing { standard: diff.is_empty(), hash: hash(&locked, catalog.registry.methodology), diff, locked }
}

fn origin(dotted: &str, merged: &Merged, key: &Key) -> Origin {
    if dotted != "tools.overrides" {
        return merged.origin_at(&key.pattern);
    }
    let mut origins: Vec<Origin> = Vec::new();
    for (_, setting) in merged.below(&["tools", "overrides"]) {
        if !origins.contains(&setting.origin) {
            origins.push(setting.origin.clone());
        }
    }
    match <[Origin; 1]>::try_from(origins) {
        Ok([only]) => only,
        Err(several) => Origin::Several(several),
    }
}

fn list(merged: &Merged, key: &Key) -> Vec<String> {
    let value = merged.setting(&key.pattern).map(|setting| &setting.value).or(key.default.as_ref());
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// `tools.overrides` as one value, tools sorted.
fn overrides(merged: &Merged) -> Value {
    let mut tools: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for (path, setting) in merged.below(&["tools", "overrides"]) {
        let [tool, words @ ..] = path else { continue };
        let tool = tools.entry(tool).or_default();
        match words {
            [class] => {
                tool.insert(class.clone(), setting.value.clone());
            }
            [params, class] => {
                let params = tool.entry(params.clone()).or_insert_with(|| json!({}));
                params[class.as_str()] = setting.value.clone();
            }
            _ => {}
        }
    }
    tools.into_iter().map(|(tool, settings)| (tool.to_owned(), Value::Object(settings))).collect::<Map<_, _>>().into()
}

/// SHA-256 of the canonical JSON of `{"locked": …, "methodology": …}`, so that a report's own fields reproduce it.
fn hash(locked: &BTreeMap<String, Value>, methodology: &str) -> String {
    let mut text = String::from("{\"locked\":{");
    for (index, (key, value)) in locked.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&json!(key).to_string());
        text.push(':');
        canonical(value, &mut text);
    }
    text.push_str(&format!("}},\"methodology\":{}}}", json!(methodology)));
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON without spaces, members sorted by key at every level. Only texts, whole numbers, booleans and `null` occur.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, key) in members.keys().collect::<BTreeSet<_>>().into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&json!(key).to_string());
                out.push(':');
                canonical(&members[key.as_str()], out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

impl fmt::Display for Difference {
    /// `timeout_probe_sec: standard 10, effective 2  (flag --timeout-probe)`
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: standard {}, effective {}  ({})", self.key, self.standard, self.effective, self.origin)
    }
}
