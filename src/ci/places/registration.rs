//! Which lines of a source file register a tool: a name literal in a call or a definition, or a marked function.

use std::collections::HashSet;

use super::walk::Language;

/// Longest name that is looked up, in bytes.
const MAX_NAME: usize = 128;
/// Lines after a name that may hold the rest of its definition.
const AHEAD: usize = 14;
/// Lines between a marker and the function it marks.
const MARKED: usize = 30;

/// Functions and types whose first argument names the tool they register, without case and underscores.
const REGISTERS: &[&str] = &[
    "tool",
    "registertool",
    "addtool",
    "newtool",
    "definetool",
    "createtool",
    "maketool",
    "servertool",
    "mcptool",
    "withtool",
    "declaretool",
    "buildtool",
    "toolname",
    "tooldefinition",
    "registerapptool",
    "registermcptool",
    "addservertool",
    "newtoolwithrawschema",
    "toolspec",
    "basetool",
    "structuredtool",
    "dynamictool",
];
/// Words around a name that say that a tool is called here.
const CALLS: &[&str] = &["calltool", "tools/call", "invoketool", "executetool", "toolcall"];

/// The names that are looked for.
pub(super) struct Names(HashSet<String>);

/// A line that registers a tool.
pub(super) struct Hit {
    pub name: String,
    /// From 1.
    pub line: u32,
    /// 100 is certain.
    pub score: i32,
}

impl Names {
    /// Names that are too long or empty are left out.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self(names.filter(|name| (1..=MAX_NAME).contains(&name.len())).map(str::to_owned).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Every registration in a file, from the top.
pub(super) fn registrations(language: Language, text: &str, names: &Names) -> Vec<Hit> {
    let about = ["ool", "OOL", "nputSchema", "input_schema"];
    if !about.iter().any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some()) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut hits = Vec::new();
    let mut marked: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        if is_comment(language, line) {
            continue;
        }
        literals(line, names, &mut |name, before| {
            let score = if within_text(language, before) { 0 } else { score(language, before, &lines, at) };
            if score > 0 {
                hits.push(Hit { name: name.to_owned(), line: at as u32 + 1, score });
            }
        });
        // A marker with a name of its own has a literal; one without takes the function's.
        if is_marker(language, line) {
            marked = Some(at);
        }
        if let Some(since) = marked {
            if at - since > MARKED || names_itself(line) {
                marked = None;
            } else if let Some(function) = function(language, line) {
                marked = None;
                for name in spellings(language, function) {
                    if names.0.contains(&name) {
                        hits.push(Hit { name, line: at as u32 + 1, score: 100 });
                        break;
                    }
                }
            }
        }
    }
    hits
}

/// Every quoted name of a line, with what stands before its quote.
fn literals<'a>(line: &'a str, names: &Names, found: &mut dyn FnMut(&'a str, &'a str)) {
    let bytes = line.as_bytes();
    for open in memchr::memchr3_iter(b'"', b'\'', b'`', bytes) {
        let end = bytes.len().min(open + 2 + MAX_NAME);
        let Some(length) = memchr::memchr(bytes[open], &bytes[open + 1..end]) else { continue };
        let name = &line[open + 1..open + 1 + length];
        if names.0.contains(name) {
            found(name, &line[..open]);
        }
    }
}

fn is_comment(language: Language, line: &str) -> bool {
    let line = line.trim_start();
    let hash = matches!(language, Language::Python | Language::Ruby | Language::Php);
    line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("* ")
        || (hash && line.starts_with('#') && !line.starts_with("#["))
}

/// Whether a string is open where the text ends: what stands there is an example in a description.
fn within_text(language: Language, before: &str) -> bool {
    let odd = |quote: char| before.matches(quote).count() % 2 == 1;
    // A lifetime has one quote too.
    odd('"') || odd('`') || (language != Language::Rust && odd('\''))
}

/// How sure it is that the literal after `before` on line `at` names a tool that is registered there.
fn score(language: Language, before: &str, lines: &[&str], at: usize) -> i32 {
    let mut before = before.trim_end();
    // A call whose first argument starts a line of its own.
    let mut head = at;
    if before.trim().is_empty() {
        let Some(above) = lines[..at].iter().rposition(|line| !line.trim().is_empty()) else { return 0 };
        let line = lines[above].trim_end();
        if at - above > 2 || !line.ends_with('(') {
            return 0;
        }
        (before, head) = (line, above);
    }
    if let Some(call) = before.strip_suffix('(') {
        return if registers(call) { 100 } else { 0 };
    }
    if language == Language::Ruby && registers(before) {
        return 100;
    }
    let Some((key, rest)) = key(before) else { return 0 };
    let around: String = lines[head.saturating_sub(3)..head].concat() + rest;
    let around = plain(&around);
    if CALLS.iter().any(|word| around.contains(&plain(word))) {
        return 0;
    }
    match plain(key).as_str() {
        "name" | "toolname" => {}
        // `const READ_TOOL = "read"`: the name stands here, if nowhere better.
        key if before.ends_with('=') && key.contains("tool") => return 55,
        _ if before.ends_with('=') && in_an_enumeration_of_tools(lines, at) => return 55,
        _ => return 0,
    }
    if opens_a_tool(rest) {
        return 100;
    }
    if rest.trim_matches(|c: char| c.is_whitespace() || "{[(,".contains(c)).is_empty() {
        let above = lines[..head].iter().rev().find(|line| !line.trim().is_empty());
        if above.is_some_and(|line| opens_a_tool(line.trim_end())) {
            return 95;
        }
    }
    let defined = definition(&lines[at..lines.len().min(at + AHEAD)]);
    let listed = || lines[at.saturating_sub(40)..=at].iter().any(|line| line.contains("ools") || line.contains("Tool"));
    match defined {
        Some("schema") => 90,
        Some(_) if listed() => 70,
        _ => 0,
    }
}

/// Whether the members above lead to the head of an enumeration that is named after tools.
fn in_an_enumeration_of_tools(lines: &[&str], at: usize) -> bool {
    let member = |line: &str| {
        let line = line.trim();
        let word = line.split(['=', ',', '(']).next().unwrap_or_default().trim();
        line.is_empty() || (line.contains('=') && word.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let head = lines[at.saturating_sub(200)..at].iter().rev().find(|line| !member(line));
    head.is_some_and(|head| {
        let head = plain(head);
        head.contains("enum") && head.contains("tool")
    })
}

/// What follows a name before the next one: a schema, a description, or neither.
fn definition(lines: &[&str]) -> Option<&'static str> {
    let mut described = None;
    for (number, line) in lines.iter().enumerate() {
        let flat = plain(line);
        if number > 0
            && ["name:", "\"name\":", "name=", "name=>"]
                .iter()
                .any(|key| flat.trim_start_matches(['{', '\'', '"']).starts_with(key))
        {
            break;
        }
        if flat.contains("inputschema") || flat.contains("parameters") {
            return Some("schema");
        }
        if flat.contains("description") {
            described = Some("description");
        }
    }
    described
}

/// Without case, underscores and blanks.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | ' ' | '\t')).flat_map(char::to_lowercase).collect()
}

/// Whether the callee at the end of the text registers a tool.
fn registers(text: &str) -> bool {
    let mut text = text.trim_end();
    if text.ends_with('>') {
        // Type arguments: `addTool<Args>(`.
        let Some(open) = text.find('<') else { return false };
        text = &text[..open];
    }
    let word = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    REGISTERS.contains(&plain(word).as_str())
}

/// Whether the text ends within the parentheses or braces of something that registers a tool.
fn opens_a_tool(text: &str) -> bool {
    let open = text.rfind(['(', '{']);
    open.is_some_and(|open| {
        let outer = text[..open].trim_end();
        // `registerTool({`, `new Tool({`, `mcp.Tool{`, `&mcp.Tool{`, `[McpServerTool(`.
        let outer = outer.strip_suffix('(').unwrap_or(outer);
        let word = outer.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let word = plain(word);
        REGISTERS.contains(&word.as_str()) || word == "mcpservertool"
    })
}

/// The member or parameter that the literal is the value of, and what stands before it.
fn key(before: &str) -> Option<(&str, &str)> {
    let text = before.strip_suffix("=>").or_else(|| {
        let text = before.strip_suffix([':', '='])?;
        (!text.ends_with(['=', '!', '<', '>', ':', '+'])).then_some(text)
    })?;
    let text = text.trim_end();
    // A type between name and value: `const X: &str =`, `let x: String =`.
    let text = match text.rsplit_once(':') {
        Some((name, kind)) if before.ends_with('=') && !kind.contains(['(', '{', ',']) => name.trim_end(),
        _ => text,
    };
    let text = text.strip_suffix(['"', '\'']).unwrap_or(text);
    let start = text
        .rfind(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let key = &text[start..];
    let rest = text[..start].strip_suffix(['"', '\'', '.']).unwrap_or(&text[..start]);
    (!key.is_empty()).then_some((key, rest))
}

/// Whether the line marks the next function as a tool.
fn is_marker(language: Language, line: &str) -> bool {
    let line = line.trim_start();
    let word =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || "._:".contains(*c)).collect() };
    let last = |text: &str| word(text).rsplit(['.', ':']).next().unwrap_or_default().to_owned();
    match language {
        Language::Python => line
            .strip_prefix('@')
            .is_some_and(|rest| matches!(last(rest).as_str(), "tool" | "mcp_tool" | "register_tool")),
        Language::Rust => line.strip_prefix("#[").is_some_and(|rest| last(rest) == "tool"),
        Language::CSharp => line.strip_prefix('[').is_some_and(|rest| last(rest) == "McpServerTool"),
        Language::Jvm => line.strip_prefix('@').is_some_and(|rest| matches!(last(rest).as_str(), "Tool" | "McpTool")),
        Language::Php => line.strip_prefix("#[").is_some_and(|rest| last(rest.trim_start_matches('\\')) == "McpTool"),
        _ => false,
    }
}

/// Whether a marker's line gives the tool a name, so that the function's own is another.
fn names_itself(line: &str) -> bool {
    let flat = plain(line);
    let positional = flat.starts_with('@') && (flat.contains("tool(\"") || flat.contains("tool('"));
    positional || flat.split(['(', ',', '{']).any(|part| part.starts_with("name=") || part.starts_with("name:"))
}

/// The function that the line defines.
fn function(language: Language, line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after = |keyword: &str| -> Option<&str> {
        let at = line.find(keyword)?;
        let stands = line[..at].chars().next_back().is_none_or(char::is_whitespace);
        stands.then(|| line[at + keyword.len()..].trim_start())
    };
    let rest = match language {
        Language::Python => line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ")?,
        Language::Rust => after("fn ")?,
        Language::Php => after("function ")?,
        Language::Jvm if after("fun ").is_some() => after("fun ")?,
        Language::Jvm | Language::CSharp => {
            let modifiers = ["public", "private", "protected", "internal", "static", "final", "async", "override"];
            let first = line.split_whitespace().next()?;
            let head = &line[..line.find('(')?];
            if !modifiers.contains(&first) || head.contains(['=', '"']) {
                return None;
            }
            let head = head.split('<').next().filter(|_| head.ends_with('>')).unwrap_or(head);
            head.rsplit(char::is_whitespace).next()?
        }
        _ => return None,
    };
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// The names under which an SDK publishes a function.
fn spellings(language: Language, function: &str) -> Vec<String> {
    let mut names = vec![function.to_owned()];
    if language == Language::CSharp {
        let short = function.strip_suffix("Async").unwrap_or(function);
        let mut snake = String::new();
        for (at, c) in short.chars().enumerate() {
            if c.is_uppercase() && at > 0 {
                snake.push('_');
            }
            snake.extend(c.to_lowercase());
        }
        names.extend([short.to_owned(), snake]);
    }
    names
}
