//! Character rules: what drives a terminal, hides, or shows another text than a model reads.

use std::ops::Range;

use super::{Finding, Found, Tier};

/// From this many invisible characters on, a text is strong.
const INVISIBLE_STRONG: usize = 3;
/// From this many misplaced variation selectors on, a text is strong.
const SELECTORS_STRONG: usize = 4;

/// Looks at every character of `text`.
pub fn look(text: &str, found: &mut Found) {
    let ordinary = |byte: &u8| matches!(byte, 0x20..=0x7e | b'\n' | b'\r' | b'\t');
    if text.as_bytes().iter().all(ordinary) {
        return;
    }
    if !text.is_ascii() {
        look_beyond_ascii(text, found);
    }
    for (at, c) in text.char_indices() {
        let rule = match c {
            '\t' | '\n' | '\r' => continue,
            '\0' | '\u{1b}' | '\u{80}'..='\u{9f}' => ("poison.escape-character", Tier::Strong),
            '\u{1}'..='\u{1f}' | '\u{7f}' => ("poison.control-character", Tier::Weak),
            '\u{202d}' | '\u{202e}' => ("poison.bidi-override", Tier::Strong),
            _ => continue,
        };
        found.add(Finding::new(rule.0, rule.1, at..at + c.len_utf8()));
    }
}

fn look_beyond_ascii(text: &str, found: &mut Found) {
    let seen = Seen::of(text);
    if seen.embedding
        && !seen.right_to_left
        && let Some((at, c)) = text.char_indices().find(|(_, c)| is_embedding(*c))
    {
        found.add(Finding::new("poison.bidi-embedding", Tier::Weak, at..at + c.len_utf8()));
    }
    if seen.tag {
        tags(text, found);
    }
    if seen.invisible {
        invisible(text, seen.right_to_left, found);
    }
    if seen.selector {
        selectors(text, found);
    }
    if seen.look_alike {
        homoglyphs(text, found);
    }
}

/// Which kinds of characters a text holds: most texts hold none, and each rule looks only at those that do.
#[derive(Debug, Default)]
struct Seen {
    tag: bool,
    invisible: bool,
    selector: bool,
    embedding: bool,
    right_to_left: bool,
    look_alike: bool,
}

impl Seen {
    fn of(text: &str) -> Self {
        let mut seen = Self::default();
        for c in text.chars().filter(|c| !c.is_ascii()) {
            match c {
                '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => seen.invisible = true,
                '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => seen.selector = true,
                c if is_tag(c) => seen.tag = true,
                c if is_embedding(c) => seen.embedding = true,
                c if is_right_to_left(c) => seen.right_to_left = true,
                '\u{370}'..='\u{58f}' => seen.look_alike = true,
                _ => {}
            }
        }
        seen
    }
}

/// Tag characters, except inside a flag: U+1F3F4, three to six lower-case letters or digits, U+E007F.
fn tags(text: &str, found: &mut Found) {
    let mut from = 0;
    while let Some(at) = text[from..].find(is_tag).map(|at| at + from) {
        let end = text[at..].find(|c| !is_tag(c)).map_or(text.len(), |length| at + length);
        let inner = text[at..end].strip_suffix('\u{e007f}').unwrap_or_default();
        let spelled = inner.chars().all(|c| matches!(c, '\u{e0061}'..='\u{e007a}' | '\u{e0030}'..='\u{e0039}'));
        let letters = inner.len() / '\u{e0061}'.len_utf8();
        if !(text[..at].ends_with('\u{1f3f4}') && spelled && (3..=6).contains(&letters)) {
            found.add(Finding::new("poison.tag-characters", Tier::Strong, at..end));
            return;
        }
        from = end;
    }
}

fn invisible(text: &str, right_to_left: bool, found: &mut Found) {
    let (mut hidden, mut mark): (Option<Range<usize>>, Option<Range<usize>>) = (None, None);
    let (mut count, mut marks) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let counts = match c {
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
            // Joiners belong into emoji and into scripts that use them, never between two ASCII characters.
            '\u{200c}' | '\u{200d}' => {
                let ascii = |c: Option<char>| c.is_none_or(|c| c.is_ascii() && !matches!(c, '#' | '*'));
                ascii(text[..at].chars().next_back()) && ascii(text[end..].chars().next())
            }
            '\u{200e}' | '\u{200f}' if !right_to_left => {
                marks += 1;
                mark.get_or_insert(at..end);
                continue;
            }
            _ => false,
        };
        if counts {
            count += 1;
            hidden = Some(hidden.map_or(at..end, |known| known.start..end));
        }
    }
    let Some(at) = hidden.or(mark.filter(|_| marks >= INVISIBLE_STRONG)) else { return };
    let tier = if count + marks >= INVISIBLE_STRONG { Tier::Strong } else { Tier::Weak };
    found.add(Finding::new("poison.invisible", tier, at));
}

/// Variation selectors that follow a selector, or a character that no sequence is defined for.
fn selectors(text: &str, found: &mut Found) {
    let is_selector = |c: char| matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let mut before = None;
    let (mut misplaced, mut run, mut longest, mut first) = (0, 0, 0, None);
    for (at, c) in text.char_indices() {
        if is_selector(c) {
            let base = match (before, c) {
                (None, _) => false,
                (Some(base), _) if is_selector(base) => false,
                (Some(base), '\u{fe00}'..='\u{fe0f}') => matches!(base, '0'..='9' | '#' | '*') || base > '\u{a0}',
                (Some(base), _) => {
                    matches!(base, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
                }
            };
            run += 1;
            longest = longest.max(run);
            if !base {
                misplaced += 1;
                first.get_or_insert(at..at + c.len_utf8());
            }
        } else {
            run = 0;
        }
        before = Some(c);
    }
    if let Some(at) = first {
        let tier = if longest.max(misplaced) >= SELECTORS_STRONG { Tier::Strong } else { Tier::Weak };
        found.add(Finding::new("poison.variation-selectors", tier, at));
    }
}

/// Words in which every letter that is not Latin could be mistaken for one that is (so `URLадрес`, `kΩ` and `TNFα` are ordinary).
fn homoglyphs(text: &str, found: &mut Found) {
    let mut start = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let at = start;
        start += word.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
        if word.is_ascii() {
            continue;
        }
        let (mut latin, mut alike, mut other) = (0, 0, 0);
        for c in word.chars().filter(|c| c.is_alphabetic()) {
            match c {
                'a'..='z' | 'A'..='Z' => latin += 1,
                c if super::fold::look_alike(c).is_some() => alike += 1,
                '\u{370}'..='\u{52f}' => other += 1,
                _ => {}
            }
        }
        if latin > 0 && alike > 0 && other == 0 && latin + alike > 2 {
            found.add(Finding::new("poison.homoglyph", Tier::Weak, at..at + word.len()));
            return;
        }
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_embedding(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Characters that are never shown raw.
pub fn is_hidden(c: char) -> bool {
    is_embedding(c)
        || matches!(
            c,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e0fff}'
        )
}
