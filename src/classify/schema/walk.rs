//! The evaluator: one pass over the keywords of a schema, bounded in steps and depth.

use serde_json::{Map, Value};

use super::{
    Admits,
    equal::{order, same, whole},
    pattern::{has_format, matches},
};

/// Nested schemas (references included) that are followed before giving up.
const MAX_DEPTH: u32 = 48;

/// How the words `pattern` and `format` count where they cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Texts {
    /// They leave the answer open.
    Doubted,
    /// They are taken as met.
    Trusted,
}

/// Which keywords surely mean what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Draft07,
    Draft2020,
    Other,
}

/// Evaluates instances against one root schema with a shared step budget.
pub(in super::super) struct Evaluator<'s> {
    root: &'s Value,
    dialect: Dialect,
    texts: Texts,
    steps: u32,
    /// Whether local pointers surely mean what they say; found out at the first reference.
    plain_references: Option<bool>,
}

impl<'s> Evaluator<'s> {
    /// An evaluator for the references of `root`; `steps` bounds all its work.
    pub(in super::super) fn new(root: &'s Value, texts: Texts, steps: u32) -> Self {
        let dialect = match root.get("$schema") {
            None => Dialect::Draft2020,
            Some(Value::String(text)) if text.contains("draft-07") => Dialect::Draft07,
            Some(Value::String(text)) if text.contains("2020-12") => Dialect::Draft2020,
            Some(_) => Dialect::Other,
        };
        Self { root, dialect, texts, steps, plain_references: None }
    }

    /// What `schema` (a part of the root) says about `instance`.
    pub(in super::super) fn admits(&mut self, schema: &Value, instance: &Value) -> Admits {
        self.eval(schema, instance, 0)
    }

    /// The schema a local reference points at, when that is certain.
    pub(in super::super) fn resolve(&mut self, reference: &str) -> Option<&'s Value> {
        let pointer = reference.strip_prefix('#')?;
        if !self.references_are_plain() || pointer.contains('%') {
            return None;
        }
        if pointer.is_empty() { Some(self.root) } else { self.root.pointer(pointer) }
    }

    fn references_are_plain(&mut self) -> bool {
        let (root, steps) = (self.root, &mut self.steps);
        *self.plain_references.get_or_insert_with(|| {
            let mut pending = vec![(root, true)];
            while let Some((value, top)) = pending.pop() {
                if *steps == 0 {
                    return false;
                }
                *steps -= 1;
                match value {
                    Value::Object(map) => {
                        let renames = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
                        if !top
                            && renames
                                .iter()
                                .any(|key| map.get(*key).is_some_and(|value| value.is_string() || value.is_boolean()))
                        {
                            return false;
                        }
                        pending.extend(
                            map.values()
                                .filter(|value| value.is_object() || value.is_array())
                                .map(|value| (value, false)),
                        );
                    }
                    Value::Array(items) => {
                        pending.extend(
                            items
                                .iter()
                                .filter(|value| value.is_object() || value.is_array())
                                .map(|value| (value, false)),
                        );
                    }
                    _ => {}
                }
            }
            true
        })
    }

    fn eval(&mut self, schema: &Value, instance: &Value, depth: u32) -> Admits {
        if self.steps == 0 || depth > MAX_DEPTH {
            return Admits::Unsure;
        }
        self.steps -= 1;
        let map = match schema {
            Value::Bool(accepts) => return Admits::from_bool(*accepts),
            Value::Object(map) => map,
            _ => return Admits::Unsure,
        };
        if depth > 0 && map.get("$schema").is_some_and(|dialect| Some(dialect) != self.root.get("$schema")) {
            return Admits::Unsure;
        }
        let Some(reference) = map.get("$ref") else { return self.keywords(map, instance, depth) };
        let target = reference.as_str().and_then(|reference| self.resolve(reference));
        let referred = match target {
            Some(target) => self.eval(target, instance, depth + 1),
            None => Admits::Unsure,
        };
        let siblings = self.keywords(map, instance, depth);
        if self.dialect == Dialect::Draft2020 {
            return referred.and(siblings);
        }
        // Draft-07 ignores what stands beside a reference; many validators do not.
        match (referred, siblings) {
            (Admits::No, _) => Admits::No,
            (Admits::Yes, Admits::Yes) => Admits::Yes,
            _ => Admits::Unsure,
        }
    }

    fn keywords(&mut self, map: &Map<String, Value>, instance: &Value, depth: u32) -> Admits {
        let mut verdict = self.common(map, instance);
        if verdict != Admits::No {
            verdict = verdict.and(match instance {
                Value::Object(object) => self.object(map, object, depth),
                Value::Array(items) => self.array(map, items, depth),
                Value::Number(number) => self.number(map, number),
                Value::String(text) => self.string(map, text),
                _ => Admits::Yes,
            });
        }
        if verdict != Admits::No {
            verdict = verdict.and(self.applicators(map, instance, depth));
        }
        if ["$dynamicRef", "$recursiveRef", "extends", "disallow"].iter().any(|key| map.contains_key(*key)) {
            verdict = verdict.and(Admits::Unsure);
        }
        verdict
    }

    fn common(&mut self, map: &Map<String, Value>, instance: &Value) -> Admits {
        let mut verdict = Admits::Yes;
        if let Some(declared) = map.get("type") {
            let fits = match declared {
                Value::String(name) => has_type(name, instance),
                Value::Array(names) if !names.is_empty() => names.iter().fold(Admits::No, |so_far, name| {
                    either(so_far, name.as_str().map_or(Admits::Unsure, |name| has_type(name, instance)))
                }),
                _ => Admits::Unsure,
            };
            // Not JSON Schema, but servers that write it mean it.
            let nullable = instance.is_null() && map.get("nullable") == Some(&Value::Bool(true));
            verdict = verdict.and(fits.doubt_no_unless(!nullable));
        }
        if let Some(allowed) = map.get("enum") {
            verdict = verdict.and(match allowed {
                Value::Array(values) => values.iter().fold(Admits::No, |so_far, value| match so_far {
                    Admits::Yes => Admits::Yes,
                    so_far => either(so_far, same(value, instance, &mut self.steps)),
                }),
                _ => Admits::Unsure,
            });
        }
        if let Some(value) = map.get("const") {
            verdict =
                verdict.and(same(value, instance, &mut self.steps).doubt_no_unless(self.dialect != Dialect::Other));
        }
        verdict
    }

    fn number(&mut self, map: &Map<String, Value>, number: &serde_json::Number) -> Admits {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let mut verdict = Admits::Yes;
        let limits: [(&str, &[std::cmp::Ordering]); 4] = [
            ("minimum", &[Equal, Greater]),
            ("maximum", &[Equal, Less]),
            ("exclusiveMinimum", &[Greater]),
            ("exclusiveMaximum", &[Less]),
        ];
        for (key, fine) in limits {
            let Some(limit) = map.get(key) else { continue };
            let holds = match limit {
                Value::Number(limit) => {
                    order(number, limit).map_or(Admits::Unsure, |order| Admits::from_bool(fine.contains(&order)))
                }
                // Draft-04 spells exclusiveness as a flag beside the limit.
                _ => Admits::Unsure,
            };
            verdict =
                verdict.and(holds.doubt_no_unless(self.dialect != Dialect::Other || !key.starts_with("exclusive")));
        }
        if let Some(step) = map.get("multipleOf") {
            let holds = match step.as_number().map(|step| (whole(number), whole(step))) {
                Some((Some(value), Some(step))) if step > 0 => Admits::from_bool(value % step == 0),
                _ => Admits::Unsure,
            };
            verdict = verdict.and(holds);
        }
        verdict
    }

    fn string(&mut self, map: &Map<String, Value>, text: &str) -> Admits {
        let mut verdict = Admits::Yes;
        if map.contains_key("minLength") || map.contains_key("maxLength") {
            verdict = verdict.and(within(map, "minLength", "maxLength", text.chars().count()));
        }
        let decided = |answer: Admits, texts| {
            if answer == Admits::Unsure && texts == Texts::Trusted { Admits::Yes } else { answer }
        };
        if let Some(pattern) = map.get("pattern") {
            self.steps = self.steps.saturating_sub(20);
            let answer = pattern.as_str().map_or(Admits::Unsure, |pattern| matches(pattern, text));
            verdict = verdict.and(decided(answer, self.texts));
        }
        if let Some(format) = map.get("format") {
            verdict = verdict.and(decided(has_format(format, text), self.texts));
        }
        if map.contains_key("contentSchema")
            || map.contains_key("contentMediaType")
            || map.contains_key("contentEncoding")
        {
            verdict = verdict.and(decided(Admits::Unsure, self.texts));
        }
        verdict
    }

    fn object(&mut self, map: &Map<String, Value>, object: &Map<String, Value>, depth: u32) -> Admits {
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

    fn array(&mut self, map: &Map<String, Value>, items: &[Value], depth: u32) -> Admits {
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

    fn applicators(&mut self, map: &Map<String, Value>, instance: &Value, depth: u32) -> Admits {
        let mut verdict = Admits::Yes;
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(branches) = map.get(key) else { continue };
            let Some(branches) = branches.as_array().filter(|branches| !branches.is_empty()) else {
                return verdict.and(Admits::Unsure);
            };
            let (mut yes, mut no) = (0, 0);
            for branch in branches {
                match self.eval(branch, instance, depth + 1) {
                    Admits::Yes => yes += 1,
                    Admits::No => no += 1,
                    Admits::Unsure => {}
                }
                if verdict == Admits::No || self.steps == 0 {
                    break;
                }
            }
            let all = branches.len();
            verdict = verdict.and(match key {
                "allOf" if no > 0 => Admits::No,
                "allOf" if yes == all => Admits::Yes,
                "anyOf" if yes > 0 => Admits::Yes,
                "oneOf" if yes > 1 => Admits::No,
                "oneOf" if yes == 1 && no == all - 1 => Admits::Yes,
                "anyOf" | "oneOf" if no == all => Admits::No,
                _ => Admits::Unsure,
            });
        }
        if let Some(refused) = map.get("not") {
            verdict = verdict.and(self.eval(refused, instance, depth + 1).not());
        }
        if let Some(condition) = map.get("if") {
            let branch = |this: &mut Self, key: &str| {
                map.get(key).map_or(Admits::Yes, |schema| this.eval(schema, instance, depth + 1))
            };
            let answer = match self.eval(condition, instance, depth + 1) {
                Admits::Yes => branch(self, "then"),
                Admits::No => branch(self, "else"),
                Admits::Unsure => {
                    let (then, otherwise) = (branch(self, "then"), branch(self, "else"));
                    if then == otherwise { then } else { Admits::Unsure }
                }
            };
            // A dialect that does not know `if` accepts.
            verdict = verdict.and(answer.doubt_no_unless(self.dialect != Dialect::Other));
        }
        verdict
    }
}

fn either(left: Admits, right: Admits) -> Admits {
    left.not().and(right.not()).not()
}

fn has_type(name: &str, instance: &Value) -> Admits {
    let holds = match name {
        "null" => instance.is_null(),
        "boolean" => instance.is_boolean(),
        "object" => instance.is_object(),
        "array" => instance.is_array(),
        "string" => instance.is_string(),
        "number" => instance.is_number(),
        "integer" => match instance {
            Value::Number(number) if number.is_f64() => {
                return match number.as_f64() {
                    Some(value) if value.fract() != 0.0 => Admits::No,
                    Some(value) if value.abs() < 1e15 => Admits::Yes,
                    _ => Admits::Unsure,
                };
            }
            other => other.is_number(),
        },
        _ => return Admits::Unsure,
    };
    Admits::from_bool(holds)
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
fn within(map: &Map<String, Value>, least: &str, most: &str, size: usize) -> Admits {
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
