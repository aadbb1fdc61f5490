//! Holds a value against a rule and says in short sentences where it differs.

use serde_json::Value;

use super::rule::{Kind, Member, Rule};
use crate::model::Revision;

/// Complaints given per reply; the rest is counted.
const MOST: usize = 20;
/// Characters of a quoted string or key.
const QUOTE: usize = 80;

/// The complaints about an object with these members; `root` is what the whole of it is called.
pub(super) fn complaints(revision: Revision, root: &'static str, members: &[Member], value: &Value) -> Vec<String> {
    let mut walk = Walk { revision, said: Vec::new(), count: 0, limit: MOST };
    walk.object(members, value, At { up: None, step: Step::Root(root) });
    if walk.count > MOST {
        walk.said.push(format!("and {} more", walk.count - MOST));
    }
    walk.said
}

struct Walk {
    revision: Revision,
    said: Vec<String>,
    count: usize,
    limit: usize,
}

/// A place in the value, as a list of steps that lives on the stack.
#[derive(Clone, Copy)]
struct At<'a> {
    up: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root(&'static str),
    Key(&'a str),
    Index(usize),
}

impl Walk {
    fn value(&mut self, rule: &Rule, value: &Value, at: At<'_>) {
        let fits = match rule {
            Rule::Any => true,
            Rule::Text => value.is_string(),
            Rule::Flag => value.is_boolean(),
            Rule::Number => value.is_number(),
            Rule::Share => value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)),
            Rule::Whole(least) => is_whole(value, *least),
            Rule::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Rule::Object(members) => return self.object(members, value, at),
            Rule::Tagged { key, kinds } => return self.tagged(key, kinds, value, at),
            Rule::Map(each) => match value {
                Value::Object(map) => {
                    for (key, item) in map {
                        self.value(each, item, At { up: Some(&at), step: Step::Key(key) });
                    }
                    true
                }
                _ => false,
            },
            Rule::List(each) => match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.value(each, item, At { up: Some(&at), step: Step::Index(index) });
                    }
                    true
                }
                _ => false,
            },
            Rule::Either { rules, .. } => rules.iter().any(|rule| self.fits(rule, value)),
            Rule::Since(revision, new, old) => {
                return self.value(if self.revision >= *revision { new } else { old }, value, at);
            }
        };
        if !fits {
            let revision = self.revision;
            self.complain(at, || format!("must be {}, is {}", wanted(rule, revision), found(value)));
        }
    }

    fn object(&mut self, members: &[Member], value: &Value, at: At<'_>) {
        let Value::Object(map) = value else {
            return self.complain(at, || format!("must be an object, is {}", found(value)));
        };
        let revision = self.revision;
        for member in members.iter().filter(|member| member.known_to(revision)) {
            match map.get(member.name) {
                Some(value) => self.value(&member.rule, value, At { up: Some(&at), step: Step::Key(member.name) }),
                None if member.required => self.complain(at, || {
                    format!("\"{}\" is missing (must be {})", member.name, wanted(&member.rule, revision))
                }),
                None => {}
            }
        }
    }

    fn tagged(&mut self, key: &'static str, kinds: &[Kind], value: &Value, at: At<'_>) {
        let known = kinds.iter().filter(|kind| kind.since <= self.revision);
        let Value::Object(map) = value else {
            return self.complain(at, || format!("must be an object, is {}", found(value)));
        };
        let tag = map.get(key);
        match known.clone().find(|kind| tag.and_then(Value::as_str) == Some(kind.tag)) {
            Some(kind) => self.object(kind.members, value, at),
            None => {
                let tags: Vec<_> = known.map(|kind| kind.tag).collect();
                match tag {
                    Some(tag) => self.complain(At { up: Some(&at), step: Step::Key(key) }, || {
                        format!("must be {}, is {}", either(&tags), found(tag))
                    }),
                    None => self.complain(at, || format!("\"{key}\" is missing (must be {})", either(&tags))),
                }
            }
        }
    }

    /// Whether a value follows a rule, without a word about where it does not.
    fn fits(&self, rule: &Rule, value: &Value) -> bool {
        let mut trial = Walk { revision: self.revision, said: Vec::new(), count: 0, limit: 0 };
        trial.value(rule, value, At { up: None, step: Step::Root("") });
        trial.count == 0
    }

    fn complain(&mut self, at: At<'_>, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.said.len() < self.limit {
            let mut place = String::new();
            at.write(&mut place);
            let what = what();
            self.said.push(format!("{place}: {what}"));
        }
    }
}

impl At<'_> {
    /// Writes the JSON pointer; keys are cut, since a server chooses them.
    fn write(&self, out: &mut String) {
        if let Some(up) = self.up.filter(|up| !matches!(up.step, Step::Root(_))) {
            up.write(out);
        }
        match self.step {
            Step::Root(name) => out.push_str(name),
            Step::Key(key) => {
                out.push('/');
                out.push_str(&cut(key).replace('~', "~0").replace('/', "~1"));
            }
            Step::Index(index) => {
                out.push('/');
                out.push_str(&index.to_string());
            }
        }
    }
}

/// JSON Schema's `integer`: any number without a fraction.
fn is_whole(value: &Value, least: Option<i64>) -> bool {
    let whole = value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    whole && least.is_none_or(|least| value.as_f64().is_some_and(|number| number >= least as f64))
}

/// What a rule asks for, in words.
fn wanted(rule: &Rule, revision: Revision) -> String {
    match rule {
        Rule::Any => "present".to_owned(),
        Rule::Text => "a string".to_owned(),
        Rule::Flag => "a boolean".to_owned(),
        Rule::Whole(None) => "a whole number".to_owned(),
        Rule::Whole(Some(least)) => format!("a whole number of at least {least}"),
        Rule::Number => "a number".to_owned(),
        Rule::Share => "a number from 0 to 1".to_owned(),
        Rule::Word(words) => either(words),
        Rule::Object(_) | Rule::Map(_) | Rule::Tagged { .. } => "an object".to_owned(),
        Rule::List(_) => "an array".to_owned(),
        Rule::Either { name, .. } => (*name).to_owned(),
        Rule::Since(since, new, old) => wanted(if revision >= *since { new } else { old }, revision),
    }
}

/// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
fn either(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// What is there instead, short.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => Value::from(cut(text)).to_string(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
