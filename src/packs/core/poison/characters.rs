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
    let right_to_left = text.chars().any(is_right_to_left);
    let chars: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| !c.is_ascii()).collect();
    if !right_to_left && let Some((at, c)) = chars.iter().find(|(_, c)| is_embedding(*c)) {
        found.add(Finding::new("poison.bidi-embedding", Tier::Weak, *at..at + c.len_utf8()));
    }
    tags(text, &chars, found);
    invisible(text, &chars, right_to_left, found);
    selectors(text, found);
    homoglyphs(text, found);
}

/// Tag characters, except inside a flag: U+1F3F4, three to six lower-case letters or digits, U+E007F.
fn tags(text: &str, chars: &[(usize, char)], found: &mut Found) {
    let is_tag = |c: char| matches!(c, '\u{e0000}'..='\u{e007f}');
    let Some(first) = chars.iter().position(|(_, c)| is_tag(*c)) else { return };
    let mut rest = &chars[first..];
    while let Some(start) = rest.iter().position(|(_, c)| is_tag(*c)) {
        let at = rest[start].0;
        let mut end = at;
        let run: Vec<char> = text[at..].chars().take_while(|c| is_tag(*c)).inspect(|c| end += c.len_utf8()).collect();
        let flag = text[..at].ends_with('\u{1f3f4}');
        let (last, letters) = run.split_last().map_or(('\0', &run[..]), |(last, letters)| (*last, letters));
        let spelled = letters.iter().all(|c| matches!(c, '\u{e0061}'..='\u{e007a}' | '\u{e0030}'..='\u{e0039}'));
        if !(flag && last == '\u{e007f}' && spelled && (3..=6).contains(&letters.len())) {
            found.add(Finding::new("poison.tag-characters", Tier::Strong, at..end));
            return;
        }
        rest = &rest[start + run.len()..];
    }
}

fn invisible(text: &str, chars: &[(usize, char)], right_to_left: bool, found: &mut Found) {
    let mut hidden: Option<Range<usize>> = None;
    let (mut count, mut marks) = (0, 0);
    for (at, c) in chars {
        let end = at + c.len_utf8();
        let counts = match c {
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
            // Joiners belong into emoji and into scripts that use them, never between two ASCII characters.
            '\u{200c}' | '\u{200d}' => {
                let ascii = |c: Option<char>| c.is_none_or(|c| c.is_ascii() && !matches!(c, '#' | '*'));
                ascii(text[..*at].chars().next_back()) && ascii(text[end..].chars().next())
            }
            '\u{200e}' | '\u{200f}' if !right_to_left => {
                marks += 1;
                continue;
            }
            _ => false,
        };
        if counts {
            count += 1;
            hidden = Some(hidden.map_or(*at..end, |known| known.start..end));
        }
    }
    let Some(at) = hidden.or_else(|| {
        let mark = chars.iter().find(|(_, c)| matches!(c, '\u{200e}' | '\u{200f}'));
        (marks >= INVISIBLE_STRONG).then(|| mark.map_or(0..0, |(at, c)| *at..at + c.len_utf8()))
    }) else {
        return;
    };
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
