//! One written value → the value of a setting, or what is wrong with it.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    keys::{Kind, one_of},
    registry::Registry,
    reserved,
    settings::Format,
    suggest::hint_for,
    yaml::{Content, Node, cut},
};

/// The words of formats, in the order they are listed to users.
pub(crate) const FORMATS: [&str; Format::ALL.len()] = {
    let mut words = [""; Format::ALL.len()];
    let mut index = 0;
    while index < Format::ALL.len() {
        words[index] = Format::ALL[index].as_str();
        index += 1;
    }
    words
};

/// Regular expressions are compiled for every text of a server; longer ones are mistakes.
const MAX_PATTERN: usize = 1_000;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The line of the offending part.
    pub line: u32,
    /// A lowercase fragment.
    pub message: String,
    pub hint: Option<String>,
}

impl Mismatch {
    fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), hint: None }
    }

    fn hinting(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// Reads the value of a setting. `notes` takes what the user should hear once.
pub(crate) fn read(kind: Kind, node: &Node, registry: &Registry, notes: &mut Vec<String>) -> Result<Value, Mismatch> {
    let expected = || {
        let expects = kind.expects(&registry.pack_ids());
        Mismatch::new(node.line, format!("expected {expects}, found {}", node.describe()))
    };
    match kind {
        Kind::Text => text(node).map(|text| json!(text)).ok_or_else(expected),
        Kind::Path => match text(node) {
            Some(text) if !text.is_empty() => Ok(json!(text)),
            _ => Err(expected()),
        },
        Kind::Bool => match &node.content {
            Content::Bool(value, _) => Ok(json!(value)),
            _ => Err(expected()),
        },
        Kind::Integer { min, max, .. } => match &node.content {
            Content::Integer(number, _) if (min..=max).contains(number) => Ok(json!(number)),
            _ => Err(expected()),
        },
        Kind::Choice(words) => match text(node) {
            Some(word) if words.contains(&word) => Ok(json!(word)),
            Some(word) => {
                Err(expected().hinting(super::suggest::suggest(word, words.iter().copied()).map(did_you_mean)))
            }
            None => Err(expected()),
        },
        Kind::Letter => {
            let word = text(node).unwrap_or_default();
            let upper = word.to_uppercase();
            match (word, upper.as_str()) {
                ("none", _) | (_, "A" | "B" | "C" | "D" | "F") if word.is_ascii() => {
                    let letter = if word == "none" { word } else { &upper };
                    if letter != word {
                        notes.push(format!("fail_under `{word}` is read as `{letter}`."));
                    }
                    Ok(json!(letter))
                }
                _ => Err(expected()),
            }
        }
        Kind::Texts => each(node, expected, |node| {
            let text = text(node).ok_or_else(|| item(node, "a text"))?;
            Ok(json!(text))
        }),
        Kind::Patterns => each(node, expected, |node| {
            let text = text(node).ok_or_else(|| item(node, "a regular expression"))?;
            pattern(text)
                .map_err(|why| Mismatch::new(node.line, format!("{:?} is no regular expression: {why}", cut(text))))?;
            Ok(json!(text))
        }),
        Kind::Choices(words) => each(node, expected, |node| {
            let word = text(node).ok_or_else(|| item(node, &one_of(words)))?;
            if words.contains(&word) { Ok(json!(word)) } else { Err(unknown("value", word, node.line, words)) }
        })
        .map(without_repeats),
        Kind::Formats => each(node, expected, |node| {
            let word = text(node).ok_or_else(|| item(node, &one_of(&FORMATS)))?;
            if FORMATS.contains(&word) { Ok(json!(word)) } else { Err(unknown("format", word, node.line, &FORMATS)) }
        })
        .map(without_repeats),
        Kind::Packs => each(node, expected, |node| {
            let packs = registry.pack_ids();
            let id = text(node).ok_or_else(|| item(node, &one_of(&packs)))?;
            if packs.contains(&id) {
                Ok(json!(id))
            } else if reserved::planned_pack(id) {
                let known = format!("packs of this version: {}", packs.join(", "));
                Err(Mismatch::new(node.line, format!("the {id} pack is not part of this version")).hinting(Some(known)))
            } else {
                Err(unknown("pack", id, node.line, &packs))
            }
        })
        .and_then(|list| match list.as_array().is_some_and(Vec::is_empty) {
            true => Err(Mismatch::new(node.line, "an empty list of packs grades nothing")),
            false => Ok(without_repeats(list)),
        }),
        Kind::Files => match &node.content {
            Content::List(items) => items.iter().map(staged).collect::<Result<Vec<_>, _>>().map(Value::Array),
            _ => Err(expected()),
        },
    }
}

/// A flag's or variable's value as it would stand in a file.
pub(crate) fn node_of(value: &Value) -> Node {
    let content = match value {
        Value::Null => Content::Null,
        Value::Bool(value) => Content::Bool(*value, value.to_string()),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Content::Integer(integer, number.to_string()),
            None => Content::Float(number.to_string()),
        },
        // Words of a shell carry no types: `10` is a number where one is expected.
        Value::String(text) => match Node::plain(text, 0) {
            // Nothing is not a word of a shell: `--name null` names a server.
            Node { content: Content::Null, .. } => Content::Text(text.clone()),
            node => return node,
        },
        Value::Array(items) => Content::List(items.iter().map(node_of).collect()),
        Value::Object(entries) => {
            Content::Map(entries.iter().map(|(key, value)| (key.clone(), 0, node_of(value))).collect())
        }
    };
    Node { line: 0, content }
}

/// A scalar as it is spelled.
pub(crate) fn text(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Text(text) | Content::Bool(_, text) | Content::Integer(_, text) | Content::Float(text) => Some(text),
        Content::Null | Content::List(_) | Content::Map(_) => None,
    }
}

fn each(
    node: &Node,
    expected: impl Fn() -> Mismatch,
    read: impl Fn(&Node) -> Result<Value, Mismatch>,
) -> Result<Value, Mismatch> {
    match &node.content {
        Content::List(items) => items.iter().map(read).collect::<Result<Vec<_>, _>>().map(Value::Array),
        Content::Map(_) | Content::Null => Err(expected()),
        _ => Ok(Value::Array(vec![read(node)?])),
    }
}

fn item(node: &Node, expects: &str) -> Mismatch {
    Mismatch::new(node.line, format!("expected {expects} in the list, found {}", node.describe()))
}

fn unknown(what: &str, word: &str, line: u32, known: &[&str]) -> Mismatch {
    Mismatch::new(line, format!("unknown {what} `{}`", cut(word))).hinting(hint_for(word, known.iter().copied()))
}

fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

fn without_repeats(list: Value) -> Value {
    let Value::Array(items) = list else { return list };
    let mut kept: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    Value::Array(kept)
}

fn pattern(text: &str) -> Result<(), Cow<'static, str>> {
    if text.is_empty() {
        return Err("it is empty and would match everything".into());
    }
    if text.len() > MAX_PATTERN {
        return Err(format!("longer than {MAX_PATTERN} bytes").into());
    }
    regex_lite::Regex::new(text).map(|_| ()).map_err(|error| error.to_string().into())
}

fn staged(node: &Node) -> Result<Value, Mismatch> {
    let Content::Map(entries) = &node.content else {
        return Err(item(node, "a mapping with `path` and `content`"));
    };
    let (mut path, mut content) = (None, None);
    for (key, line, value) in entries {
        let slot = match key.as_str() {
            "path" => &mut path,
            "content" => &mut content,
            other => return Err(unknown("key", other, *line, &["path", "content"])),
        };
        let found = text(value).ok_or_else(|| {
            Mismatch::new(value.line, format!("expected a text for `{key}`, found {}", value.describe()))
        })?;
        *slot = Some((found, value.line));
    }
    let missing = |key: &str| Mismatch::new(node.line, format!("a staged file needs `{key}`"));
    let (path, line) = path.ok_or_else(|| missing("path"))?;
    let (content, _) = content.ok_or_else(|| missing("content"))?;
    super::paths::staged_path(path).map_err(|(message, hint)| Mismatch::new(line, message).hinting(hint))?;
    Ok(json!({ "path": path, "content": content }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(kind: Kind, yaml: &str) -> Result<Value, Mismatch> {
        read(kind, &super::super::yaml::parse(yaml).unwrap(), &Registry::built_in(), &mut Vec::new())
    }

    #[test]
    fn texts_keep_their_spelling() {
        for (yaml, expected) in [("1.10", "1.10"), ("8080", "8080"), ("true", "true"), ("'x'", "x"), ("0x1F", "0x1F")] {
            assert_eq!(read_text(Kind::Text, yaml), Ok(json!(expected)), "{yaml}");
        }
        assert!(read_text(Kind::Text, "[a]").is_err());
    }

    #[test]
    fn a_wrong_type_says_what_was_expected_and_what_stands_there() {
        for (kind, yaml, message) in [
            (Kind::Bool, "yes", "expected true or false, found the text \"yes\""),
            (Kind::Bool, "1", "expected true or false, found the number 1"),
            (
                Kind::Integer { min: 1, max: 3600, unit: "seconds" },
                "0",
                "expected a whole number of seconds from 1 to 3600, found the number 0",
            ),
            (
                Kind::Integer { min: 1, max: 3600, unit: "seconds" },
                "1.5",
                "expected a whole number of seconds from 1 to 3600, found the number 1.5",
            ),
            (Kind::Texts, "{a: b}", "expected a list of texts, found a mapping"),
            (Kind::Texts, "[[a]]", "expected a text in the list, found a list"),
            (Kind::Texts, "[~]", "expected a text in the list, found nothing"),
            (Kind::Letter, "E", "expected A, B, C, D, F or none, found the text \"E\""),
            (Kind::Choice(&["pass", "fail"]), "[pass]", "expected pass or fail, found a list"),
            (Kind::Packs, "[]", "an empty list of packs grades nothing"),
            (Kind::Packs, "[db]", "the db pack is not part of this version"),
            (Kind::Packs, "[cor]", "unknown pack `cor`"),
            (Kind::Formats, "[text, jason]", "unknown format `jason`"),
            (Kind::Path, "''", "expected a path, found the text \"\""),
            (Kind::Files, "[{path: '{sandbox}/x'}]", "a staged file needs `content`"),
            (Kind::Files, "[{path: '{sandbox}/x', content: [a]}]", "expected a text for `content`, found a list"),
        ] {
            assert_eq!(read_text(kind, yaml).unwrap_err().message, message, "{yaml}");
        }
    }

    #[test]
    fn one_word_is_a_list_of_one_and_repeats_are_dropped() {
        assert_eq!(read_text(Kind::Formats, "json"), Ok(json!(["json"])));
        assert_eq!(read_text(Kind::Formats, "[json, text, json]"), Ok(json!(["json", "text"])));
    }

    #[test]
    fn a_lower_case_letter_is_read_and_noted_once() {
        let mut notes = Vec::new();
        assert_eq!(read(Kind::Letter, &Node::plain("b", 1), &Registry::default(), &mut notes), Ok(json!("B")));
        assert_eq!(notes, ["fail_under `b` is read as `B`."]);
        notes.clear();
        assert_eq!(read(Kind::Letter, &Node::plain("none", 1), &Registry::default(), &mut notes), Ok(json!("none")));
        assert!(notes.is_empty());
        assert!(read(Kind::Letter, &Node::plain("None", 1), &Registry::default(), &mut notes).is_err());
    }

    #[test]
    fn a_pattern_must_compile() {
        assert!(read_text(Kind::Patterns, "['use \\w+ instead']").is_ok());
        assert!(read_text(Kind::Patterns, "['(']").unwrap_err().message.starts_with("\"(\" is no regular expression:"));
        assert!(read_text(Kind::Patterns, "['']").is_err());
    }
}
