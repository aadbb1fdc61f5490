//! Poisoning indicators in one text: characters, blobs, tags and orders, each with its tier and rule.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

mod blobs;
mod characters;
mod concealment;
mod exfiltration;
mod fold;
mod lexicon;
mod matter;
mod names;
mod other_tools;
mod overrides;
mod secret_places;
mod tags;
mod texts;
mod words;

pub use lexicon::Lexicon;
pub use names::Offered;
pub use texts::{Text, visit};

/// How sure an indicator is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The check fails.
    Strong,
    /// The check is part.
    Weak,
}

impl Tier {
    /// The word in evidence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
        }
    }
}

/// One indicator: at most one per rule and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id, one of [`RULES`].
    pub rule: &'static str,
    /// Its tier here.
    pub tier: Tier,
    /// Where it stands in the text, in bytes.
    pub at: Range<usize>,
    /// What was decoded to find it, when it stood inside an encoding.
    pub decoded: Option<String>,
}

impl Finding {
    fn new(rule: &'static str, tier: Tier, at: Range<usize>) -> Self {
        Self { rule, tier, at, decoded: None }
    }
}

/// What kind of text is looked at; some rules read names and schemas with other eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name: words are joined by `_`, `-` or by case.
    Name,
    /// Prose.
    Prose,
}

/// Every rule with its meaning, in the order of the documentation.
pub static RULES: &[(&str, &str)] = &[
    (
        "poison.escape-character",
        "strong: ESC, NUL or a C1 control (U+0080 to U+009F; they drive a terminal or end a string early)",
    ),
    (
        "poison.tag-characters",
        "strong: Unicode tag characters, a text that no person sees (U+E0000 to U+E007F, except in a well-formed emoji flag)",
    ),
    (
        "poison.bidi-override",
        "strong: a bidirectional override (U+202D, U+202E; a person reads another text than the model)",
    ),
    (
        "poison.invisible",
        "invisible characters (U+200B, U+2060 to U+2064, U+FEFF; also joiners between ASCII characters, and three or more \
         direction marks in a text without right-to-left script): three or more in one text are strong, one or two weak",
    ),
    (
        "poison.variation-selectors",
        "variation selectors that can carry hidden bytes (U+FE00 to U+FE0F and U+E0100 to U+E01EF in a row, or after a \
         character that takes none; a rule of ours): four or more are strong, fewer weak",
    ),
    ("poison.concealment", "strong: an order to hide the tool's actions or these instructions from the user"),
    ("poison.override", "strong: an order to disregard earlier instructions or the user"),
    (
        "poison.secret-place",
        "strong: an order to read a place where secrets live (`~/.ssh`, `id_rsa`, `.env`, `mcp.json`, a keychain)",
    ),
    (
        "poison.exfiltration",
        "strong: an order to pass the conversation, the system prompt or credentials of others in an argument or to an address",
    ),
    (
        "poison.pseudo-tag",
        "strong: an order inside a tag that imitates the system's voice (`<IMPORTANT>`, `<system>`, `[SYSTEM]`, `<|im_start|>`)",
    ),
    ("poison.other-tools", "strong: an order about tools that this server does not offer"),
    ("poison.encoded-order", "strong: an order in base64 or hexadecimal"),
    ("poison.control-character", "weak: a C0 control or DEL (tab, line feed and carriage return are ordinary)"),
    ("poison.bidi-embedding", "weak: a bidirectional embedding or isolate in a text without right-to-left script"),
    ("poison.long-description", "weak: a tool description over 10,000 characters"),
    ("poison.blob", "weak: 120 or more characters of base64 or hexadecimal (no `data:` image, no SHA-512 digest)"),
    ("poison.comment", "weak: an order in an HTML comment"),
    ("poison.homoglyph", "weak: a word that mixes Latin letters with Cyrillic or Greek look-alikes"),
];

/// What a rule's finding is, in a few words for an evidence line.
pub fn meaning(rule: &str) -> &'static str {
    let meaning = RULES.iter().find(|(id, _)| *id == rule).map_or("", |(_, meaning)| meaning);
    let meaning = meaning.trim_start_matches("strong: ").trim_start_matches("weak: ");
    meaning.split(" (").next().unwrap_or_default()
}

/// Longer texts are read in pieces of this many bytes, so that memory stays bounded.
const PIECE: usize = 64 << 10;
/// What two neighbouring pieces share, so that no order is cut in two.
const OVERLAP: usize = 2 << 10;

/// Reads texts one after the other; keeps its buffers.
#[derive(Debug, Default)]
pub struct Reader {
    words: words::Words,
}

impl Reader {
    /// Every indicator in `text`, at most one per rule and tier's worst first.
    pub fn read(&mut self, text: &str, kind: Kind, tool: Option<&str>, offered: &Offered) -> Vec<Finding> {
        let mut found = Found::default();
        characters::look(text, &mut found);
        self.orders(text, kind, tool, offered, &mut found);
        for blob in blobs::find(text) {
            if let Some(decoded) = &blob.decoded {
                let mut inside = Found::default();
                self.orders(decoded, Kind::Prose, tool, offered, &mut inside);
                if inside.strong() || tags::is_order_to_a_model(decoded) {
                    found.add(Finding {
                        decoded: Some(decoded.clone()),
                        ..Finding::new("poison.encoded-order", Tier::Strong, blob.at.clone())
                    });
                    continue;
                }
            }
            if blob.long {
                found.add(Finding::new("poison.blob", Tier::Weak, blob.at));
            }
        }
        found.finish()
    }

    fn orders(&mut self, text: &str, kind: Kind, tool: Option<&str>, offered: &Offered, found: &mut Found) {
        let text = match kind {
            Kind::Name => Cow::Owned(names::spaced(text)),
            Kind::Prose => Cow::Borrowed(text),
        };
        let mut from = 0;
        loop {
            let to = floor(&text, (from + PIECE).min(text.len()));
            self.words.read(&text[from..to]);
            for sentence in self.words.sentences() {
                let mut note = |rule, look: &dyn Fn() -> Option<Range<usize>>| {
                    // One finding a rule is enough: the rest of a text costs nothing then.
                    if !found.0.contains_key(rule)
                        && let Some(at) = look()
                    {
                        found.add(Finding::new(rule, Tier::Strong, at.start + from..at.end + from));
                    }
                };
                note("poison.concealment", &|| concealment::find(&sentence));
                note("poison.override", &|| overrides::find(&sentence));
                note("poison.secret-place", &|| secret_places::find(&sentence, kind));
                note("poison.exfiltration", &|| exfiltration::find(&sentence, tool));
                note("poison.other-tools", &|| other_tools::find(&sentence, offered));
            }
            if to == text.len() {
                break;
            }
            from = floor(&text, to - OVERLAP);
        }
        tags::find(&text, found);
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What was found so far: the worst and first finding of each rule.
#[derive(Debug, Default)]
struct Found(BTreeMap<&'static str, Finding>);

impl Found {
    fn add(&mut self, finding: Finding) {
        match self.0.get(finding.rule) {
            Some(known) if known.tier <= finding.tier => {}
            _ => {
                self.0.insert(finding.rule, finding);
            }
        }
    }

    fn strong(&self) -> bool {
        self.0.values().any(|finding| finding.tier == Tier::Strong)
    }

    fn finish(self) -> Vec<Finding> {
        let mut findings: Vec<_> = self.0.into_values().collect();
        findings.sort_by_key(|finding| (finding.tier, finding.at.start));
        findings
    }
}

/// A piece of `text` around `at` that is safe to show: hidden and control characters as `\u{..}`, at most about 160 characters.
pub fn shown(text: &str, at: &Range<usize>) -> String {
    const AROUND: usize = 40;
    const WITHIN: usize = 90;
    let (start, end) = (floor(text, at.start.min(text.len())), floor(text, at.end.min(text.len())));
    let before = text[..start].char_indices().rev().take(AROUND).last().map_or(start, |(at, _)| at);
    let within = text[start..end].char_indices().nth(WITHIN).map_or(end, |(at, _)| start + at);
    let after = text[within..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| within + at);
    let mut out = String::new();
    if before > 0 {
        out.push('…');
    }
    for c in text[before..after].chars() {
        match c {
            '\n' | '\r' | '\t' | ' ' if out.ends_with(' ') => {}
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || characters::is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    if after < text.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
