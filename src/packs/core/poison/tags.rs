//! `poison.pseudo-tag` and `poison.comment`: orders dressed up as the system's voice or hidden in comments.

use super::{Finding, Found, Tier, lexicon::Lexicon};

/// How much of a text a tag without an end is taken to hold, in bytes.
const REACH: usize = 2000;

/// Names that imitate a voice above the user's.
static VOICES: Lexicon = Lexicon::new(
    "important system sys hidden secret admin developer system-reminder system_reminder system-prompt \
     system_prompt assistant critical inst mandatory",
);
/// Structure that honest texts use too: it takes an order about the model itself.
static STRUCTURE: Lexicon = Lexicon::new("instructions instruction user human directive command");
/// Bracketed voices; `[IMPORTANT]` alone is emphasis.
const BRACKETED: &[&str] = &[
    "system",
    "admin",
    "inst",
    "hidden",
    "developer",
    "sys",
    "system message",
    "system note",
    "system prompt",
    "system override",
    "admin override",
    "secret",
    "override",
    "assistant",
];

/// Looks for tags and comments around orders.
pub fn find(text: &str, found: &mut Found) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) =
        bytes[from..].iter().position(|byte| matches!(byte, b'<' | b'[') || *byte >= 0xe2).map(|at| at + from)
    {
        from = at + 1;
        let rest = &text[floor(text, at)..];
        let before = text[..floor(text, at)].trim_end_matches([' ', '\t']);
        let starts = before.is_empty() || before.ends_with(['\n', '.', '!', ':', '?', '>', ']', '-', '*']);
        if bytes[at] == b'<' {
            if let Some(inner) = rest.strip_prefix("<!--") {
                let end = inner.find("-->").unwrap_or(inner.len().min(REACH));
                let inner = cut(inner, end);
                if comment_orders(inner) {
                    found.add(Finding::new("poison.comment", Tier::Weak, at..at + 4 + inner.len()));
                }
                continue;
            }
            if let Some(length) = tag(rest, '<', '>', starts) {
                found.add(Finding::new("poison.pseudo-tag", Tier::Strong, at..at + length));
            }
        } else if bytes[at] == b'[' {
            // In the middle of a sentence it is a label that the text talks about.
            if starts && let Some(length) = tag(rest, '[', ']', starts) {
                found.add(Finding::new("poison.pseudo-tag", Tier::Strong, at..at + length));
            }
        } else if rest.starts_with('＜')
            && let Some(length) = tag(rest, '＜', '＞', starts)
        {
            found.add(Finding::new("poison.pseudo-tag", Tier::Strong, at..at + length));
        }
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn cut(text: &str, at: usize) -> &str {
    &text[..floor(text, at.min(text.len()))]
}

/// The length of the tag at the start of `rest` together with the order in it.
fn tag(rest: &str, open: char, close: char, starts_a_line: bool) -> Option<usize> {
    let head = cut(rest, 80);
    let end = head.find(close)?;
    let inner: String = head[open.len_utf8()..end]
        .chars()
        .filter_map(|c| match super::fold::fold(c) {
            super::fold::Folded::Plain(c) => Some(c),
            super::fold::Folded::Dropped => None,
        })
        .collect();
    let inner = inner.trim();
    let after = &rest[end + close.len_utf8()..];
    // `<|im_start|>system`, `<<SYS>>`, `[INST]`: the markers of chat templates.
    let template = matches!(
        inner,
        "|im_start|"
            | "|im_end|"
            | "|system|"
            | "|user|"
            | "|assistant|"
            | "<sys"
            | "inst"
            | "|start_header_id|"
            | "|eot_id|"
            | "|endoftext|"
    );
    let name = inner.split([' ', ':', '=']).next().unwrap_or_default();
    let voice = match open {
        '[' => {
            let label = inner.split(':').next().unwrap_or_default().trim();
            BRACKETED.contains(&label)
        }
        _ => {
            VOICES.holds(name)
                && !inner.ends_with('/')
                && (inner == name || inner[name.len()..].starts_with([':', ' ']))
        }
    };
    let structure = open != '[' && STRUCTURE.holds(inner);
    if !(template || voice || structure) {
        return None;
    }
    // `[SYSTEM: do this]` holds its order inside the brackets.
    if open == '['
        && let Some((_, said)) = inner.split_once(':')
        && is_order_to_a_model(said)
    {
        return Some(end + close.len_utf8());
    }
    let closing = closing(after, open, name);
    let loud = head[..end].chars().any(char::is_uppercase);
    let link = open == '[' && (after.starts_with('(') || (after.starts_with(':') && !loud));
    // Without an end, `<system>` in the middle of a line is a placeholder and not a voice.
    if link || (closing.is_none() && !template && !(starts_a_line || (loud && name == "important"))) {
        return None;
    }
    let held = cut(after, closing.unwrap_or(REACH));
    let held = match (closing, open, loud) {
        (Some(_), ..) => held,
        (None, '<', false) => held.split(['.', '\n']).find(|line| !line.trim().is_empty()).unwrap_or_default(),
        (None, ..) => held.split("\n\n").next().unwrap_or_default(),
    };
    let orders = if structure { is_order_to_a_model(held) } else { is_order(held) };
    orders.then(|| end + close.len_utf8() + held.len())
}

/// Where the matching end tag starts.
fn closing(after: &str, open: char, name: &str) -> Option<usize> {
    let near = cut(after, REACH).to_ascii_lowercase();
    let marks = if open == '[' {
        [format!("[/{name}"), format!("[end {name}")]
    } else {
        [format!("</{name}"), format!("<|im_end|>")]
    };
    marks.iter().filter_map(|mark| near.find(mark.as_str())).min()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|word| word.trim_end_matches("'s"))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

fn sentences(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split(['.', '!', '?', '\n', ';', ':']).map(|sentence| words(sentence).take(60).collect())
}

static IMPERATIVES: Lexicon = Lexicon::new(
    "call use run read send pass include ignore disregard execute invoke fetch add append insert put set tell say \
     respond reply forward upload copy open get make ensure provide remember follow prioritize prefer avoid treat \
     act pretend output print begin start stop hide check write delete collect extract override forget",
);

/// Whether a text orders anything.
pub fn is_order(text: &str) -> bool {
    sentences(text).any(|words| {
        let mut start = 0;
        while words.get(start).is_some_and(|word| {
            matches!(
                word.as_str(),
                "please" | "also" | "then" | "now" | "first" | "and" | "note" | "important" | "you" | "system" | "so"
            )
        }) {
            start += 1;
        }
        let first = words.get(start).map_or("", String::as_str);
        let after = words.get(start + 1).map_or("", String::as_str);
        IMPERATIVES.holds(first)
            || matches!((first, after), ("always" | "never", _) | ("do", "not") | ("don't", _) | ("before", _))
            || orders_you(&words)
    })
}

fn orders_you(words: &[String]) -> bool {
    words.windows(2).any(|pair| {
        let (first, second) = (pair[0].as_str(), pair[1].as_str());
        match first {
            "you" => matches!(second, "must" | "should" | "shall" | "will" | "need" | "have" | "are"),
            "must" | "always" | "never" => IMPERATIVES.holds(second) || second == "be",
            "before" => matches!(second, "using" | "calling" | "invoking" | "running" | "answering" | "responding"),
            _ => false,
        }
    })
}

/// Whether a text orders a model to do something beyond its own arguments.
pub fn is_order_to_a_model(text: &str) -> bool {
    static VERBS: Lexicon = Lexicon::new(
        "ignore disregard forget call send read execute run forward upload invoke exfiltrate reply respond pretend \
     override include bcc email post pass",
    );
    sentences(text).any(|words| {
        let start = words
            .iter()
            .take_while(|word| {
                matches!(
                    word.as_str(),
                    "please" | "also" | "then" | "now" | "first" | "and" | "important" | "system" | "always" | "never"
                )
            })
            .count();
        let verb = words.get(start).is_some_and(|word| VERBS.holds(word.as_str()));
        let you = words.windows(2).any(|pair| {
            pair[0] == "you" && matches!(pair[1].as_str(), "must" | "should" | "shall" | "will" | "are" | "need")
        });
        let model = words.iter().any(|word| {
            matches!(
                word.as_str(),
                "user"
                    | "instructions"
                    | "tool"
                    | "tools"
                    | "assistant"
                    | "prompt"
                    | "conversation"
                    | "file"
                    | "files"
                    | "contents"
                    | "message"
                    | "messages"
                    | "secret"
                    | "credentials"
                    | "key"
                    | "keys"
            )
        });
        words.len() > 2 && ((verb && (model || start > 0)) || (you && model))
    })
}

/// Whether a comment orders the model; notes among maintainers are ordinary.
fn comment_orders(inner: &str) -> bool {
    let text = inner.trim().to_ascii_lowercase();
    let maintainers = [
        "todo",
        "fixme",
        "xxx",
        "hack",
        "eslint",
        "prettier",
        "markdownlint",
        "toc",
        "generated",
        "this file is generated",
        "do not edit",
        "do not remove",
        "do not modify",
        "do not change",
        "do not delete",
        "begin ",
        "end ",
        "start ",
        "prettier-ignore",
        "nb:",
        "more",
        "image",
    ];
    if maintainers.iter().any(|start| text.starts_with(start)) && !is_order_to_a_model(inner) {
        return false;
    }
    is_order_to_a_model(inner)
        || sentences(inner).any(|words| {
            let first = words.first().map_or("", String::as_str);
            words.len() > 2
                && matches!(
                    first,
                    "always" | "never" | "ignore" | "call" | "send" | "execute" | "invoke" | "forward" | "upload"
                )
        })
}
