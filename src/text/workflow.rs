//! Lines that GitHub's runner takes as orders, with everything untrusted in them escaped.

use super::terminal;

/// Characters (UTF-16 units, as the runner counts) of a message that the runner keeps.
pub const MESSAGE: usize = 4096;

/// `::name key=value,key=value::message`. Properties without a value are left out.
///
/// A colon, a comma, a per cent sign or a line feed in a value or a message cannot end it: see [`property`] and
/// [`message`].
pub fn command(name: &'static str, properties: &[(&'static str, &str)], message: &str) -> String {
    let mut line = format!("::{name}");
    let mut separator = ' ';
    for (key, value) in properties.iter().filter(|(_, value)| !value.is_empty()) {
        line.push(separator);
        line.push_str(key);
        line.push('=');
        line.push_str(&property(value));
        separator = ',';
    }
    line.push_str("::");
    line.push_str(&self::message(message));
    line
}

/// A message: its lines stay lines, hidden characters become visible, log commands of any kind are broken up.
///
/// What is longer than [`MESSAGE`], escapes counted, is cut with `…`; no escape is cut in two.
pub fn message(text: &str) -> String {
    // Every character becomes at least one: more of a giant text than this is never shown.
    let shown: String = text.chars().take(MESSAGE + 1).collect();
    let lines: Vec<String> = shown.split('\n').map(|line| terminal::line(line.trim_end_matches('\r'))).collect();
    let mut out = String::new();
    let (mut width, mut cut) = (0, 0);
    for c in lines.join("\n").chars() {
        width += escaped(c).map_or(c.len_utf16(), str::len);
        if width > MESSAGE {
            out.truncate(cut);
            out.push('…');
            return out;
        }
        push(&mut out, c);
        if width < MESSAGE {
            cut = out.len();
        }
    }
    out
}

/// The value of a property: one line, in which neither `:` nor `,` ends it.
pub fn property(text: &str) -> String {
    let mut out = String::new();
    for c in terminal::line(text).chars() {
        match c {
            ':' => out.push_str("%3A"),
            ',' => out.push_str("%2C"),
            c => push(&mut out, c),
        }
    }
    out
}

/// A value that has to arrive byte for byte (a secret to be masked): nothing is made visible, nothing is cut.
pub fn exact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
}

fn push(out: &mut String, c: char) {
    match escaped(c) {
        Some(escape) => out.push_str(escape),
        None => out.push(c),
    }
}

fn escaped(c: char) -> Option<&'static str> {
    match c {
        '%' => Some("%25"),
        '\r' => Some("%0D"),
        '\n' => Some("%0A"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A command as the runner reads it (`ActionCommand.TryParseV2`): name, properties, message.
    fn parsed(line: &str) -> (String, BTreeMap<String, String>, String) {
        let undo = |text: &str, pairs: &[(&str, &str)]| {
            pairs.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
        };
        let data = [("%0D", "\r"), ("%0A", "\n"), ("%25", "%")];
        let inner = line.trim_start().strip_prefix("::").unwrap();
        let (head, message) = inner.split_once("::").unwrap();
        let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
        let properties = properties.split(',').filter_map(|pair| pair.split_once('='));
        let undone = |value| undo(value, &[("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")]);
        let properties = properties.map(|(key, value)| (key.to_owned(), undone(value))).collect();
        (name.to_owned(), properties, undo(message, &data))
    }

    #[test]
    fn a_command_is_written_as_the_toolkit_writes_it() {
        let line =
            command("error", &[("file", "a.yaml"), ("line", "7"), ("title", "a: b, c"), ("col", "")], "x\n100 %");
        assert_eq!(line, "::error file=a.yaml,line=7,title=a%3A b%2C c::x%0A100 %25");
        assert_eq!(command("endgroup", &[], ""), "::endgroup::");
    }

    #[test]
    fn nothing_in_a_value_ends_it() {
        let hostile = "x,line=1::y\r\n::error::z ##[warning]w %0A";
        let line = command("notice", &[("title", hostile)], hostile);
        let (name, properties, message) = parsed(&line);
        assert_eq!(name, "notice");
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["title"]);
        assert_eq!(properties["title"], "x,line=1::y\\r\\n::error::z \\u{23}#[warning]w %0A");
        assert_eq!(message, "x,line=1::y\n\\u{3a}:error::z \\u{23}#[warning]w %0A");
    }

    #[test]
    fn a_long_message_is_cut_between_escapes() {
        let fits = "a".repeat(MESSAGE);
        assert_eq!(message(&fits), fits);
        let cut = message(&"%".repeat(MESSAGE));
        assert!(cut.ends_with("%25…") && cut.encode_utf16().count() <= MESSAGE, "{}", cut.len());
        assert!(message(&"🙂".repeat(MESSAGE)).encode_utf16().count() <= MESSAGE);
    }

    #[test]
    fn a_secret_arrives_byte_for_byte() {
        assert_eq!(exact("a%\r\n::b\u{1b}##[c]"), "a%25%0D%0A::b\u{1b}##[c]");
    }

    proptest! {
        #[test]
        fn the_runner_reads_one_command_with_our_properties(value in "[:,%=\n\r#\\[\\]a-c0ADd \u{1b}\u{202e}]{0,40}") {
            let line = command("warning", &[("title", &value), ("line", "3")], &value);
            prop_assert!(!line.chars().any(super::super::is_hidden), "{line:?}");
            prop_assert!(!line.contains("##["));
            let (name, properties, said) = parsed(&line);
            prop_assert_eq!(name, "warning");
            prop_assert_eq!(properties.get("line").map(String::as_str), Some("3"));
            if value.is_empty() {
                prop_assert_eq!(properties.len(), 1);
            } else {
                prop_assert_eq!(&properties["title"], &terminal::line(&value));
            }
            prop_assert!(said.split('\n').all(|line| !line.trim_start().starts_with("::")));
        }
    }
}
