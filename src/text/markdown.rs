//! Text for Markdown as GitHub, GitLab and Gitea render it: shown literally, whatever it holds.
//!
//! Neither a backslash nor an entity keeps `@name`, `#1` or a commit id from becoming a link, since those are looked for
//! in the rendered text. Code spans do. So prose is an allow-list, and every other word is shown as code.

use std::fmt::Write as _;

use super::terminal;

/// Text for a paragraph, a list item or a heading: one line; what is not plain prose is shown as code, word by word.
///
/// `` `quoted parts` `` become code spans.
pub fn inline(text: &str) -> String {
    let visible = terminal::line(text);
    let mut out = String::with_capacity(visible.len() + 16);
    let mut rest = visible.as_str();
    while let Some((before, quoted, after)) = next_quoted(rest) {
        prose(&mut out, before);
        out.push_str(&span(quoted));
        rest = after;
    }
    prose(&mut out, rest);
    out
}

/// Text for a table cell; like [`inline`], which never writes a bar or a line feed.
pub fn cell(text: &str) -> String {
    inline(text)
}

/// Text as code, in a paragraph or a table cell.
pub fn code(text: &str) -> String {
    span(&terminal::line(text))
}

/// Text as code inside an HTML element (`<summary>`), where a renderer may or may not read Markdown.
pub fn element(text: &str) -> String {
    entities(&terminal::line(text))
}

/// The first part in backticks that stands like a word, with what is before and after it.
fn next_quoted(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('`').map(|at| at + from) {
        let close = text[open + 1..].find('`').map(|at| at + open + 1)?;
        let (before, quoted, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
        let stands = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(')
            && after.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | ')' | '?'));
        if stands && !quoted.trim().is_empty() {
            return Some((before, quoted, after));
        }
        from = close + 1;
    }
    None
}

fn prose(out: &mut String, text: &str) {
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        if word.is_empty() {
            out.push_str(piece);
            continue;
        }
        let first = out.trim_start().is_empty();
        if is_prose(word) && !(first && opens_a_block(word)) {
            push_prose(out, word);
        } else {
            out.push_str(&span(word));
        }
        out.push_str(&piece[word.len()..]);
    }
}

/// Writes a word of prose; an underscore is emphasis unless it stands between letters or digits.
fn push_prose(out: &mut String, word: &str) {
    let mut before = None;
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let inside = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        if c == '_' && !(inside(before) && inside(rest.peek().copied())) {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
}

/// Whether no renderer gives the word a meaning of its own.
fn is_prose(word: &str) -> bool {
    let plain = word.chars().all(|c| {
        c.is_alphanumeric()
            || !c.is_ascii()
            || matches!(c, '.' | ',' | ';' | ':' | '?' | '\'' | '"' | '(' | ')' | '-' | '/' | '%' | '+' | '=' | '_')
    });
    plain && !(word.contains("://") || is_reference(word) || names_an_emoji(word) || holds_a_commit_id(word))
}

/// `www.` links, `GH-1` issues, `%name` milestones.
fn is_reference(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let milestone =
        word.find('%').is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_alphanumeric() || c == '"'));
    lower.contains("www.") || lower.contains("gh-") || milestone
}

fn names_an_emoji(word: &str) -> bool {
    let mut parts = word.split(':');
    parts.next();
    let middle: Vec<&str> = parts.collect();
    middle.len() >= 2 && middle[..middle.len() - 1].iter().any(|name| !name.is_empty())
}

fn holds_a_commit_id(word: &str) -> bool {
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        run.len() >= 7 && run.bytes().all(|b| b.is_ascii_hexdigit()) && run.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Whether the word, at the start of a line, would open a list, a rule or a heading's underline.
fn opens_a_block(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.chars().all(|c| matches!(c, '-' | '+' | '=' | '_' | ':'))
        || (digits.len() < word.len() && matches!(digits, "." | ")"))
}

/// A code span of visible text: in backticks, or as an element with entities when backticks cannot hold it everywhere
/// (a bar ends a table cell even in a code span; comment and tag openers are never written raw).
fn span(visible: &str) -> String {
    if visible.trim().is_empty() {
        return "(blank)".to_owned();
    }
    if !visible.contains(['`', '|', '<', '>']) {
        return format!("`{visible}`");
    }
    entities(visible)
}

/// A code element in which every character that could mean something is an entity.
///
/// The e-mail addresses of GFM (`a@b.c`, `xmpp:a@b.c`) are looked for in the rendered text of one piece, in elements as
/// well: an empty element before the signs that make one leaves none whole.
fn entities(visible: &str) -> String {
    let mut out = String::with_capacity(visible.len() * 2 + 13);
    out.push_str("<code>");
    for c in visible.chars() {
        if matches!(c, '@' | ':') {
            out.push_str("<wbr>");
        }
        if c.is_ascii_punctuation() {
            let _ = write!(out, "&#{};", c as u32); // writing to a String cannot fail
        } else {
            out.push(c);
        }
    }
    out.push_str("</code>");
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::is_hidden;

    /// What is left when code spans of both forms are taken out.
    fn without_code(markdown: &str) -> String {
        let mut out = String::new();
        let mut rest = markdown;
        loop {
            let element = rest.find("<code>");
            let tick = rest.find('`');
            match (element, tick) {
                (Some(at), tick) if tick.is_none_or(|tick| at < tick) => {
                    out.push_str(&rest[..at]);
                    let end = rest[at..].find("</code>").expect("closed");
                    let inner = &rest[at + 6..at + end].replace("<wbr>", "");
                    assert!(!inner.contains(['<', '>', '|', '`', '*', '_', '[', '@', '\n']), "{inner}");
                    rest = &rest[at + end + 7..];
                }
                (_, Some(at)) => {
                    out.push_str(&rest[..at]);
                    let end = rest[at + 1..].find('`').expect("closed");
                    rest = &rest[at + end + 2..];
                }
                _ => {
                    out.push_str(rest);
                    return out;
                }
            }
        }
    }

    #[test]
    fn prose_stays_prose() {
        assert_eq!(
            inline("tool read_file answered 3 of 4 calls (75%)."),
            "tool read_file answered 3 of 4 calls (75%)."
        );
        assert_eq!(inline("a __init__ and _x"), "a \\_\\_init\\_\\_ and \\_x");
        assert_eq!(inline("all tools/list pages: ok"), "all tools/list pages: ok");
    }

    #[test]
    fn quoted_parts_become_code() {
        assert_eq!(inline("tool `a b` and (`x`)."), "tool `a b` and (`x`).");
        assert_eq!(inline("tool `a|b`."), "tool <code>a&#124;b</code>.");
        assert_eq!(inline("odd ` one"), "odd <code>&#96;</code> one");
    }

    #[test]
    fn mentions_links_and_references_become_code() {
        assert_eq!(inline("ask @octocat now"), "ask `@octocat` now");
        assert_eq!(inline("see https://x.example/y"), "see `https://x.example/y`");
        assert_eq!(inline("www.example.com and #12 or GH-3"), "`www.example.com` and `#12` or `GH-3`");
        assert_eq!(inline("fixed in 1a2b3c4d"), "fixed in `1a2b3c4d`");
        assert_eq!(inline("![x](y) [a](b) :tada: $x$"), "`![x](y)` `[a](b)` `:tada:` `$x$`");
    }

    #[test]
    fn html_and_comment_closers_are_entities() {
        assert_eq!(inline("a --> <img>"), "a <code>&#45;&#45;&#62;</code> <code>&#60;img&#62;</code>");
        assert_eq!(code("a`b"), "<code>a&#96;b</code>");
    }

    #[test]
    fn an_address_in_an_element_is_in_two_pieces() {
        assert_eq!(inline("<x:foo@evil.com>"), "<code>&#60;x<wbr>&#58;foo<wbr>&#64;evil&#46;com&#62;</code>");
        assert_eq!(element("a@b.c"), "<code>a<wbr>&#64;b&#46;c</code>");
        assert_eq!(inline("foo@evil.com"), "`foo@evil.com`");
    }

    #[test]
    fn nothing_opens_a_block_at_a_lines_start() {
        assert_eq!(inline("- item"), "`-` item");
        assert_eq!(inline("1. item"), "`1.` item");
        assert_eq!(inline("=== x"), "`===` x");
        assert_eq!(inline("# head"), "`#` head");
    }

    proptest! {
        #[test]
        fn outside_code_only_prose_is_left(text in "[a-z0-9@:/.`|<>!\\[\\]()#*_~$&^=+{}\\\\ \n\u{202e}\u{1b}-]{0,80}") {
            for markdown in [inline(&text), cell(&text), code(&text)] {
                prop_assert!(!markdown.contains('\n') && !markdown.contains('|') && !markdown.contains("-->"));
                prop_assert!(!markdown.chars().any(is_hidden));
                let outside = without_code(&markdown).replace("\\_", "");
                let bare = outside.match_indices('_').all(|(at, _)| {
                    let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                    inside(outside[..at].chars().next_back()) && inside(outside[at + 1..].chars().next())
                });
                prop_assert!(bare, "{}", markdown);
                prop_assert!(!outside.contains(['@', '<', '>', '[', ']', '`', '*', '|', '#', '!', '$', '~', '\\', '&']), "{}", outside);
                prop_assert!(!outside.contains("://") && !outside.contains("www."), "{}", outside);
            }
        }

        #[test]
        fn any_text_is_one_line(text in any::<String>()) {
            prop_assert!(!inline(&text).contains(['\n', '\r', '|']));
        }
    }
}
