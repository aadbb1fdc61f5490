//! YAML text → a small tree that knows its lines. JSON is read by the same way.

use std::collections::BTreeMap;

use saphyr::{Scalar, ScalarStyle};
use saphyr_parser::{Event, Parser};

/// Nesting beyond this is refused; the deepest setting stands six levels down.
const MAX_DEPTH: usize = 32;
/// Nodes in one file, those that aliases repeat included.
const MAX_NODES: usize = 50_000;

/// A value with the line it starts on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// From 1.
    pub line: u32,
    /// What stands there.
    pub content: Content,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`, with its spelling.
    Bool(bool, String),
    /// A whole number, with its spelling.
    Integer(i64, String),
    /// Another number, with its spelling.
    Float(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in file order: key, its line, value.
    Map(Vec<(String, u32, Node)>),
}

/// Why a text is no configuration, and on which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// From 1.
    pub line: u32,
    /// A lowercase fragment.
    pub message: String,
    /// What to do.
    pub hint: Option<&'static str>,
}

impl Node {
    /// An untagged scalar as it would be read from a file.
    pub fn plain(text: &str, line: u32) -> Self {
        let content = match Scalar::parse_from_cow(text.into()) {
            Scalar::Null => Content::Null,
            Scalar::Boolean(value) => Content::Bool(value, text.to_owned()),
            Scalar::Integer(value) => Content::Integer(value, text.to_owned()),
            Scalar::FloatingPoint(_) => Content::Float(text.to_owned()),
            Scalar::String(_) => Content::Text(text.to_owned()),
        };
        Self { line, content }
    }

    /// What stands there, for an error message; long texts are cut.
    pub fn describe(&self) -> String {
        match &self.content {
            Content::Null => "nothing".to_owned(),
            Content::Bool(_, text) => format!("`{text}`"),
            Content::Integer(_, text) | Content::Float(text) => format!("the number {}", cut(text)),
            Content::Text(text) => format!("the text {:?}", cut(text)),
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// The first characters of a text that could be long.
pub(crate) fn cut(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads one document. An empty file is `Null`.
pub(crate) fn parse(text: &str) -> Result<Node, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match json_spelled_for_yaml(text) {
        Some(json) => Builder::default().read(&json),
        None => Builder::default().read(text),
    }
}

/// JSON differs from YAML's flow style in two spellings: tabs between tokens and surrogate pairs in escapes.
/// Line breaks stay where they are, so lines stay true.
fn json_spelled_for_yaml(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') || serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut quoted = false;
    while let Some(char) = chars.next() {
        match char {
            '\t' | '\r' if !quoted => out.push(' '),
            '"' => {
                quoted = !quoted;
                out.push(char);
            }
            '\\' if quoted => {
                let rest = chars.as_str();
                let unit = |at: &str| u16::from_str_radix(at.strip_prefix('u')?.get(..4)?, 16).ok();
                let pair = unit(rest).zip(rest.get(5..).and_then(|low| unit(low.strip_prefix('\\')?)));
                match pair.and_then(|(high, low)| {
                    char::decode_utf16([high, low]).next()?.ok().filter(|char| *char > '\u{ffff}')
                }) {
                    Some(decoded) => {
                        out.push(decoded);
                        chars = rest[11..].chars();
                    }
                    None => {
                        out.push(char);
                        out.extend(chars.next());
                    }
                }
            }
            other => out.push(other),
        }
    }
    Some(out)
}

/// A collection under construction.
struct Open {
    line: u32,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map(Vec<(String, u32, Node)>, BTreeMap<String, u32>, Option<(String, u32)>),
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
    documents: usize,
}

impl Builder {
    fn read(mut self, text: &str) -> Result<Node, YamlError> {
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| YamlError {
                line: line(error.marker().line()),
                message: format!("not valid YAML: {}", cut(error.info())),
                hint: error.info().contains("tab").then_some("indent with spaces; YAML allows no tabs there"),
            })?;
            self.event(event, line(span.start.line()))?;
        }
        Ok(self.root.unwrap_or(Node { line: 1, content: Content::Null }))
    }

    fn event(&mut self, event: Event<'_>, line: u32) -> Result<(), YamlError> {
        let tag = match &event {
            Event::Scalar(_, _, _, tag) | Event::SequenceStart(_, tag) | Event::MappingStart(_, tag) => tag.as_ref(),
            _ => None,
        };
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return fail(line, format!("the tag `{}{}` means nothing here", cut(&tag.handle), cut(&tag.suffix)), None);
        }
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return fail(
                        line,
                        "a second document (`---`) in one file".to_owned(),
                        Some("keep one document per file"),
                    );
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let Some(scalar) = Scalar::parse_from_cow_and_metadata(text.clone(), style, tag.as_ref()) else {
                    return fail(line, format!("{:?} does not fit its tag", cut(&text)), None);
                };
                let spelled = || text.clone().into_owned();
                let content = match scalar {
                    // A plain scalar of spaces alone cannot occur; an empty quoted one is a text.
                    Scalar::Null if style == ScalarStyle::Plain => Content::Null,
                    Scalar::Null => Content::Text(spelled()),
                    Scalar::Boolean(value) => Content::Bool(value, spelled()),
                    Scalar::Integer(value) => Content::Integer(value, spelled()),
                    Scalar::FloatingPoint(_) => Content::Float(spelled()),
                    Scalar::String(value) => Content::Text(value.into_owned()),
                };
                self.scalar(Node { line, content }, anchor, &text)?;
            }
            Event::SequenceStart(anchor, _) => self.start(Open { line, anchor, items: Items::List(Vec::new()) })?,
            Event::MappingStart(anchor, _) => {
                self.start(Open { line, anchor, items: Items::Map(Vec::new(), BTreeMap::new(), None) })?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { line, anchor, items }) = self.open.pop() {
                    let content = match items {
                        Items::List(items) => Content::List(items),
                        Items::Map(entries, _, _) => Content::Map(entries),
                    };
                    self.remember(anchor, Node { line, content })?;
                }
            }
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id).cloned() else {
                    return fail(line, "an alias inside the value it names".to_owned(), None);
                };
                let (nodes, depth) = extent(&node);
                self.count(nodes, line)?;
                if self.open.len() + depth > MAX_DEPTH {
                    return fail(line, format!("nested more than {MAX_DEPTH} levels deep"), None);
                }
                let spelled = match &node.content {
                    Content::Text(text) | Content::Float(text) | Content::Bool(_, text) | Content::Integer(_, text) => {
                        text.clone()
                    }
                    _ => String::new(),
                };
                self.insert(Node { line, ..node }, &spelled)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, line: u32) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return fail(line, format!("more than {MAX_NODES} values, aliases counted each time"), None);
        }
        Ok(())
    }

    fn start(&mut self, open: Open) -> Result<(), YamlError> {
        self.count(1, open.line)?;
        if let Some(Open { items: Items::Map(_, _, None), .. }) = self.open.last() {
            return fail(open.line, "a key must be a plain text, not a list or a mapping".to_owned(), None);
        }
        if self.open.len() >= MAX_DEPTH {
            return fail(open.line, format!("nested more than {MAX_DEPTH} levels deep"), None);
        }
        self.open.push(open);
        Ok(())
    }

    fn scalar(&mut self, node: Node, anchor: usize, spelled: &str) -> Result<(), YamlError> {
        self.count(1, node.line)?;
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.insert(node, spelled)
    }

    fn remember(&mut self, anchor: usize, node: Node) -> Result<(), YamlError> {
        if anchor > 0 {
            self.count(extent(&node).0, node.line)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.insert(node, "")
    }

    fn insert(&mut self, node: Node, spelled: &str) -> Result<(), YamlError> {
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Map(entries, seen, pending)) => match pending.take() {
                Some((key, line)) => entries.push((key, line, node)),
                None => {
                    if matches!(node.content, Content::Null | Content::List(_) | Content::Map(_)) && spelled.is_empty()
                    {
                        return fail(node.line, "a key must be a plain text".to_owned(), None);
                    }
                    if let Some(first) = seen.insert(spelled.to_owned(), node.line) {
                        let message =
                            format!("`{}` stands twice in this mapping (first in line {first})", cut(spelled));
                        return fail(node.line, message, Some("keep one of them"));
                    }
                    *pending = Some((spelled.to_owned(), node.line));
                }
            },
        }
        Ok(())
    }
}

/// How many nodes a tree has and how deep it is.
fn extent(node: &Node) -> (usize, usize) {
    let children: Box<dyn Iterator<Item = &Node>> = match &node.content {
        Content::List(items) => Box::new(items.iter()),
        Content::Map(entries) => Box::new(entries.iter().map(|(_, _, node)| node)),
        _ => return (1, 0),
    };
    children.fold((1, 1), |(nodes, depth), child| {
        let (more, deeper) = extent(child);
        (nodes + more, depth.max(deeper + 1))
    })
}

fn line(line: usize) -> u32 {
    u32::try_from(line.max(1)).unwrap_or(u32::MAX)
}

fn fail<T>(line: u32, message: String, hint: Option<&'static str>) -> Result<T, YamlError> {
    Err(YamlError { line, message, hint })
}
