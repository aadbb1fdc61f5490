//! The keywords of objects and arrays.

use serde_json::{Map, Value};

use super::{
    Admits,
    equal::same,
    pattern::matches,
    walk::{Dialect, Evaluator, MAX_DEPTH, either},
};

impl Evaluator<'_> {
    pub(super) fn object(&mut self, map: &Map<String, Value>, object: &Map<String, Value>, depth: u32) -> Admits {
        let mut verdict = within(map, "minProperties", "maxProperties", object.len());
        if let Some(required) = map.get("required") {
            verdict = verdict.and(all_present(required, object));
        }
        if let Some(names) = map.get("propertyNames") {
            for key in object.keys() {
                let answer = self.eval(names, &Value::String(key.clone()), depth + 1);
                verdict = verdict.and(answer.doubt_no_unless(self.dialect != Dialect::Other));
            }
        }
        let properties = map.get("properties");
        if properties.is_some_and(|properties| !properties.is_object()) {
            verdict = verdict.and(Admits::Unsure);
        }
        for (key, value) in object {
            if verdict == Admits::No || self.steps == 0 {
                return verdict.and(Admits::Unsure);
            }
            let mut named = Admits::No;
            if let Some(schema) =
                properties.and_then(|properties| properties.as_object()).and_then(|properties| properties.get(key))
            {
                named = Admits::Yes;
                verdict = verdict.and(self.eval(schema, value, depth + 1));
            }
            if let Some(patterns) = map.get("patternProperties") {
                let Some(patterns) = patterns.as_object() else { return verdict.and(Admits::Unsure) };
                for (pattern, schema) in patterns {
                    let matched = matches(pattern, key);
                    named = either(named, matched);
                    if matched != Admits::No {
                        let answer = self.eval(schema, value, depth + 1);
                        verdict = verdict.and(answer.doubt_no_unless(matched == Admits::Yes));
                    }
                }
            }
            if let (Some(others), true) = (map.get("additionalProperties"), named != Admits::Yes) {
                let answer = self.eval(others, value, depth + 1);
                verdict = verdict.and(answer.doubt_no_unless(named == Admits::No));
            }
        }
        verdict.and(self.dependencies(map, object, depth)).and(self.unevaluated_properties(map, object, depth))
    }

    fn dependencies(&mut self, map: &Map<String, Value>, object: &Map<String, Value>, depth: u32) -> Admits {
        let mut verdict = Admits::Yes;
        for (key, known) in [
            ("dependentRequired", self.dialect == Dialect::Draft2020),
            ("dependentSchemas", self.dialect == Dialect::Draft2020),
            ("dependencies", self.dialect == Dialect::Draft07),
        ] {
            let Some(rules) = map.get(key) else { continue };
            let Some(rules) = rules.as_object() else { return verdict.and(Admits::Unsure) };
            for rule in rules.iter().filter(|(name, _)| object.contains_key(*name)).map(|(_, rule)| rule) {
                let answer = match rule {
                    Value::Array(_) if key != "dependentSchemas" => all_present(rule, object),
                    _ if key != "dependentRequired" => self.eval(rule, &Value::Object(object.clone()), depth + 1),
                    _ => Admits::Unsure,
                };
                verdict = verdict.and(answer.doubt_no_unless(known));
            }
        }
        verdict
    }

    fn unevaluated_properties(&mut self, map: &Map<String, Value>, object: &Map<String, Value>, depth: u32) -> Admits {
        let Some(rest) = map.get("unevaluatedProperties") else { return Admits::Yes };
        let mut verdict = Admits::Yes;
        for (key, value) in object {
            let seen = self.names(map, key, false, depth);
            if seen == Admits::Yes {
                continue;
            }
            let answer = self.eval(rest, value, depth + 1);
            verdict = verdict.and(answer.doubt_no_unless(seen == Admits::No && self.dialect == Dialect::Draft2020));
        }
        verdict
    }

    /// Whether a schema's keywords (and those applied in place) evaluate the property `key`.
    fn names(&mut self, map: &Map<String, Value>, key: &str, nested: bool, depth: u32) -> Admits {
        if self.steps == 0 || depth > MAX_DEPTH {
            return Admits::Unsure;
        }
        self.steps -= 1;
        if map.contains_key("additionalProperties") || (nested && map.contains_key("unevaluatedProperties")) {
            return Admits::Yes;
        }
        if map.get("properties").and_then(|properties| properties.get(key)).is_some() {
            return Admits::Yes;
        }
        let mut seen = Admits::No;
        for pattern in map.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            seen = either(seen, matches(pattern, key));
        }
        let mut inner = |this: &mut Self, schema: &Value, certain: bool| {
            let answer = match schema {
                Value::Object(map) => this.names(map, key, true, depth + 1),
                Value::Bool(_) => Admits::No,
                _ => Admits::Unsure,
            };
            seen = either(seen, if answer == Admits::No || certain { answer } else { Admits::Unsure });
        };
        if let Some(reference) = map.get("$ref") {
            match reference.as_str().and_then(|reference| self.resolve(reference)) {
                Some(target) => inner(self, target, true),
                None => return Admits::Unsure,
            }
        }
        if map.contains_key("$dynamicRef") {
            return Admits::Unsure;
        }
        for branch in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            inner(self, branch, true);
        }
        for branch in ["anyOf", "oneOf"].iter().filter_map(|key| map.get(*key)).filter_map(Value::as_array).flatten() {
            inner(self, branch, false);
        }
        for branch in ["if", "then", "else"].iter().filter_map(|key| map.get(*key)) {
            inner(self, branch, false);
        }
        for branch in map.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values) {
            inner(self, branch, false);
        }
        seen
    }

    pub(super) fn array(&mut self, map: &Map<String, Value>, items: &[Value], depth: u32) -> Admits {
        let mut verdict = within(map, "minItems", "maxItems", items.len());
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            verdict = verdict.and(self.unique(items));
        } else if map.get("uniqueItems").is_some_and(|flag| !flag.is_boolean()) {
            verdict = verdict.and(Admits::Unsure);
        }
        let (mut from, mut rest) = (0, map.get("items"));
        let mut known = true;
        let positional = match (map.get("prefixItems"), rest) {
            (Some(prefix), _) => {
                known = self.dialect == Dialect::Draft2020;
                Some(prefix)
            }
            (None, Some(tuple @ Value::Array(_))) => {
                rest = map.get("additionalItems");
                known = self.dialect == Dialect::Draft07;
                Some(tuple)
            }
            _ => None,
        };
        if let Some(positional) = positional {
            if !known && !items.is_empty() {
                return verdict.and(Admits::Unsure);
            }
            let Some(schemas) = positional.as_array() else { return verdict.and(Admits::Unsure) };
            for (schema, item) in schemas.iter().zip(items) {
                verdict = verdict.and(self.eval(schema, item, depth + 1));
            }
            from = schemas.len();
        }
        if let Some(rest) = rest {
            for item in items.iter().skip(from) {
                if verdict == Admits::No || self.steps == 0 {
                    break;
                }
                verdict = verdict.and(self.eval(rest, item, depth + 1));
            }
            if self.steps == 0 && verdict == Admits::Yes {
                return Admits::Unsure;
            }
        }
        if let Some(wanted) = map.get("contains") {
            let answer = self.contains(map, wanted, items, depth);
            verdict = verdict.and(answer.doubt_no_unless(self.dialect != Dialect::Other));
        }
        if map.contains_key("unevaluatedItems") && !items.is_empty() {
            verdict = verdict.and(Admits::Unsure);
        }
        verdict
    }

    fn unique(&mut self, items: &[Value]) -> Admits {
        let mut verdict = Admits::Yes;
        for (at, left) in items.iter().enumerate() {
            for right in &items[at + 1..] {
                verdict = verdict.and(same(left, right, &mut self.steps).not());
                if verdict == Admits::No || self.steps == 0 {
                    return verdict;
                }
            }
        }
        verdict
    }

    fn contains(&mut self, map: &Map<String, Value>, wanted: &Value, items: &[Value], depth: u32) -> Admits {
        let (mut sure, mut open) = (0_u64, 0_u64);
        for item in items {
            match self.eval(wanted, item, depth + 1) {
                Admits::Yes => sure += 1,
                Admits::Unsure => open += 1,
                Admits::No => {}
            }
        }
        let counted = self.dialect == Dialect::Draft2020;
        if !counted && (map.contains_key("minContains") || map.contains_key("maxContains")) {
            return Admits::Unsure;
        }
        let bound = |key: &str| map.get(key).map(|value| value.as_u64());
        let (least, most) =
            match (bound("minContains").unwrap_or(Some(1)), bound("maxContains").unwrap_or(Some(u64::MAX))) {
                (Some(least), Some(most)) => (least, most),
                _ => return Admits::Unsure,
            };
        if sure > most || sure + open < least {
            Admits::No
        } else if sure >= least && sure + open <= most {
            Admits::Yes
        } else {
            Admits::Unsure
        }
    }
}

/// Whether every name of a `required` list is there.
fn all_present(names: &Value, object: &Map<String, Value>) -> Admits {
    match names {
        Value::Array(names) => names.iter().fold(Admits::Yes, |so_far, name| {
            so_far.and(name.as_str().map_or(Admits::Unsure, |name| Admits::from_bool(object.contains_key(name))))
        }),
        _ => Admits::Unsure,
    }
}

/// Whether a size lies within two optional bounds.
pub(super) fn within(map: &Map<String, Value>, least: &str, most: &str, size: usize) -> Admits {
    let size = size as f64;
    let bound = |key: &str, fits: &dyn Fn(f64) -> bool| match map.get(key) {
        None => Admits::Yes,
        Some(limit) => match limit.as_f64().filter(|limit| *limit >= 0.0 && limit.fract() == 0.0) {
            Some(limit) => Admits::from_bool(fits(limit)),
            None => Admits::Unsure,
        },
    };
    bound(least, &|limit| size >= limit).and(bound(most, &|limit| size <= limit))
}
