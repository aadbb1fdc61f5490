//! `poison.pseudo-tag` and `poison.comment`: orders dressed up as the system's voice or hidden in comments.

use std::ops::Range;

use super::{
    Finding, Found, Tier,
    fold::{Folded, fold},
    lexicon::Lexicon,
};

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

/// Looks for tags and comments around orders, once through the text.
pub fn find(text: &str, found: &mut Found) {
    let bytes = text.as_bytes();
    let mut open: Option<Tag<'_>> = None;
    let (mut from, mut comment_ends) = (0, 0);
    while let Some(at) = (from..bytes.len()).find(|at| matches!(bytes[*at], b'<' | b'[' | WIDE_OPEN)) {
        from = at + 1;
        if text.get(at..).is_none_or(|rest| !rest.starts_with(['<', '[', '＜'])) {
            continue;
        }
        if at >= comment_ends
            && let Some(inner) = text[at..].strip_prefix("<!--")
        {
            let inner = cut(inner, REACH);
            let inner = &inner[..inner.find("-->").unwrap_or(inner.len())];
            comment_ends = at + 4 + inner.len();
            if comment_orders(inner) {
                found.add(Finding::new("poison.comment", Tier::Weak, at..comment_ends));
            }
            continue;
        }
        let Some(tag) = Tag::read(text, at) else { continue };
        if let Some(before) = open.replace(tag) {
            before.judge(text, open.as_ref(), found);
        }
    }
    if let Some(last) = open {
        last.judge(text, None, found);
    }
}

/// The first byte of `＜`.
const WIDE_OPEN: u8 = "＜".as_bytes()[0];

fn cut(text: &str, at: usize) -> &str {
    &text[..super::floor(text, at.min(text.len()))]
}

/// What a tag imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// The markers of chat templates: `<|im_start|>`, `<<SYS>>`, `[INST]`.
    Template,
    /// Somebody above the user.
    Above,
    /// A part of a document, or somebody.
    Structure,
}

/// A tag that imitates a voice, or the end of one.
#[derive(Debug)]
struct Tag<'t> {
    at: Range<usize>,
    /// Folded, without the slash of an end.
    name: String,
    /// What stands between the brackets, as written.
    inner: &'t str,
    voice: Voice,
    ends: bool,
    bracketed: bool,
    starts_a_line: bool,
}

impl<'t> Tag<'t> {
    /// Reads the tag that starts at `at`, when it is one that matters.
    fn read(text: &'t str, at: usize) -> Option<Self> {
        let head = cut(&text[at..], 80);
        let (open, close) = match head.chars().next()? {
            '[' => ('[', ']'),
            '<' => ('<', '>'),
            _ => ('＜', '＞'),
        };
        let end = head.find(close)?;
        let inner = &head[open.len_utf8()..end];
        let folded: String = inner
            .chars()
            .filter_map(|c| match fold(c) {
                Folded::Plain(c) => Some(c),
                Folded::Dropped => None,
            })
            .collect();
        let trimmed = folded.trim();
        let (ends, trimmed) = match trimmed.strip_prefix('/').or_else(|| trimmed.strip_prefix("end ")) {
            Some(name) => (true, name),
            None => (false, trimmed),
        };
        let bracketed = open == '[';
        let label = trimmed.split([':', '=']).next().unwrap_or_default().trim();
        let word = label.split(' ').next().unwrap_or_default();
        let template = [
            "|im_start|",
            "|im_end|",
            "|system|",
            "|user|",
            "|assistant|",
            "<sys",
            "inst",
            "|start_header_id|",
            "|eot_id|",
            "|endoftext|",
        ];
        let (voice, name) = match () {
            () if template.contains(&trimmed) => (Voice::Template, trimmed),
            () if bracketed && BRACKETED.contains(&label) => (Voice::Above, label),
            () if !bracketed && VOICES.holds(word) && !trimmed.ends_with('/') => (Voice::Above, word),
            () if !bracketed && STRUCTURE.holds(trimmed) => (Voice::Structure, trimmed),
            () => return None,
        };
        let before = text[..at].trim_end_matches([' ', '\t']);
        let starts_a_line = before.is_empty() || before.ends_with(['\n', '.', '!', ':', '?', '>', ']', '-', '*']);
        let after = &text[at + end + close.len_utf8()..];
        let loud = inner.chars().any(char::is_uppercase);
        // `[hidden](…)` and `[hidden]: …` are links; in the middle of a sentence a bracket is a label that the text talks about.
        let link = after.starts_with('(') || (after.starts_with(':') && !loud);
        if bracketed && !ends && (link || !starts_a_line) {
            return None;
        }
        let at = at..at + end + close.len_utf8();
        let name = name.to_owned();
        Some(Self { at, name, inner, voice, ends, bracketed, starts_a_line })
    }

    /// Decides about a tag, given the next one.
    fn judge(self, text: &str, next: Option<&Tag<'_>>, found: &mut Found) {
        if self.ends {
            return;
        }
        // `[SYSTEM: do this]` holds its order inside the brackets.
        let said = self.inner.split_once(':').filter(|_| self.bracketed);
        if said.is_some_and(|(_, said)| is_order_to_a_model(said)) {
            found.add(Finding::new("poison.pseudo-tag", Tier::Strong, self.at));
            return;
        }
        let after = &text[self.at.end..];
        let within = next.map_or(after, |next| &text[self.at.end..next.at.start.max(self.at.end)]);
        let closed =
            within.len() <= REACH && next.is_some_and(|next| next.name == self.name || next.name == "|im_end|");
        let loud = self.inner.chars().any(char::is_uppercase);
        // Without an end, `<system>` in the middle of a line is a placeholder and no voice.
        let speaks = closed || self.starts_a_line || (loud && self.name == "important");
        let within = cut(within, REACH);
        let held = match (closed, self.bracketed || loud) {
            (true, _) => within,
            (false, false) => within.split(['.', '\n']).find(|line| !line.trim().is_empty()).unwrap_or_default(),
            (false, true) => within.split("\n\n").next().unwrap_or_default(),
        };
        let orders = if self.voice == Voice::Structure { is_order_to_a_model(held) } else { is_order(held) };
        if speaks && orders {
            found.add(Finding::new("poison.pseudo-tag", Tier::Strong, self.at.start..self.at.end + held.len()));
        }
    }
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
