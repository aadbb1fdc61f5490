//! The evaluator: one pass over the keywords of a schema, bounded in steps and depth.

use serde_json::{Map, Value};

use super::{
    Admits,
    containers::within,
    equal::{order, same, whole},
    pattern::{has_format, matches},
};

/// Nested schemas (references included) that are followed before giving up.
pub(super) const MAX_DEPTH: u32 = 48;

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
pub(super) enum Dialect {
    Draft07,
    Draft2020,
    Other,
}

/// Evaluates instances against one root schema with a shared step budget.
pub(in super::super) struct Evaluator<'s> {
    root: &'s Value,
    pub(super) dialect: Dialect,
    texts: Texts,
    pub(super) steps: u32,
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

    /// The schemas with everything that applies beside them for sure: references and `allOf`, without branches. At most `limit`.
    pub(in super::super) fn parts(&mut self, schemas: &[&'s Value], limit: usize) -> Vec<&'s Map<String, Value>> {
        let mut parts: Vec<&'s Map<String, Value>> = Vec::new();
        let mut pending: Vec<&'s Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = pending.pop() {
            let Some(map) = schema.as_object() else { continue };
            if parts.len() >= limit || parts.iter().any(|part| std::ptr::eq(*part, map)) {
                continue;
            }
            parts.push(map);
            pending.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten().rev());
            let reference = map.get("$ref").and_then(Value::as_str);
            pending.extend(reference.and_then(|reference| self.resolve(reference)));
        }
        parts
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

    pub(super) fn eval(&mut self, schema: &Value, instance: &Value, depth: u32) -> Admits {
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
            // Draft 4 and earlier hold that 1.0 is no integer; later drafts hold that it is.
            let disputed = self.dialect == Dialect::Other && instance.is_f64();
            let fits = if disputed && fits == Admits::Yes { Admits::Unsure } else { fits };
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

/// Either may hold.
pub(super) fn either(left: Admits, right: Admits) -> Admits {
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
