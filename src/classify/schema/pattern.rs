//! Patterns and formats: decided only where every reading agrees.

use regex_lite::{Regex, RegexBuilder};
use serde_json::Value;

use super::Admits;

/// Longest pattern and text that are tried, in bytes.
const MAX_PATTERN: usize = 256;
const MAX_TEXT: usize = 4096;

/// Whether `pattern` (ECMA-262, unanchored) matches `text`; unsure for all but plain patterns on printable ASCII,
/// where this engine and ECMA's surely agree.
pub(super) fn matches(pattern: &str, text: &str) -> Admits {
    if text.len() > MAX_TEXT || !text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Admits::Unsure;
    }
    match plain(pattern) {
        Some(regex) => Admits::from_bool(regex.is_match(text)),
        None => Admits::Unsure,
    }
}

/// Compiles a pattern that means the same to both engines.
fn plain(pattern: &str) -> Option<Regex> {
    if pattern.len() > MAX_PATTERN || !pattern.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return None;
    }
    let bytes = pattern.as_bytes();
    let (mut at, mut in_class, mut quantified) = (0, false, true);
    while at < bytes.len() {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied();
        let was_quantified = std::mem::replace(&mut quantified, false);
        match byte {
            b'\\' => {
                // Escapes of punctuation and the ASCII classes; `\b`, `\p`, back references and the rest differ.
                let escaped = next?;
                let known = matches!(escaped, b'd' | b'w' | b's' | b'D' | b'W' | b'S');
                if !known && !b"^$\\.*+?()[]{}|/-".contains(&escaped) {
                    return None;
                }
                at += 1;
            }
            b'[' if in_class => return None,
            b'[' => {
                in_class = true;
                if next == Some(b'^') {
                    at += 1;
                }
                if bytes.get(at + 1) == Some(&b']') {
                    return None;
                }
            }
            b']' if !in_class => return None,
            b']' => in_class = false,
            b'&' | b'~' if in_class && next == Some(byte) => return None,
            b'-' if in_class && next == Some(b'-') => return None,
            _ if in_class => {}
            b'(' => {
                if next == Some(b'?') {
                    if bytes.get(at + 2) != Some(&b':') {
                        return None;
                    }
                    at += 2;
                }
                quantified = true;
            }
            b'|' | b'^' | b'$' => quantified = true,
            b'*' | b'+' | b'?' => {
                if was_quantified {
                    return None;
                }
                quantified = true;
            }
            b'{' => {
                let end = at + bytes[at..].iter().position(|byte| *byte == b'}')?;
                if was_quantified || !bounded_repeat(&pattern[at + 1..end]) {
                    return None;
                }
                at = end;
                quantified = true;
            }
            b'}' => return None,
            _ => {}
        }
        at += 1;
    }
    if in_class {
        return None;
    }
    RegexBuilder::new(pattern).size_limit(1 << 18).build().ok()
}

fn bounded_repeat(text: &str) -> bool {
    let mut parts = text.split(',');
    let number = |part: &str| part.len() <= 3 && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = parts.next().is_some_and(number);
    let second = parts.next().is_none_or(|part| part.is_empty() || number(part));
    first && second && parts.next().is_none()
}

/// Whether a text certainly has the format. Never `No`: a format is an annotation unless a validator was told otherwise.
pub(super) fn has_format(format: &Value, text: &str) -> Admits {
    let certain = match format.as_str() {
        Some("uri" | "iri" | "uri-reference" | "iri-reference" | "url") => uri(text),
        Some("date") => date(text),
        Some("date-time") => {
            text.len() == 20
                && text.is_ascii()
                && date(&text[..10])
                && text.ends_with('Z')
                && text[10..].starts_with('T')
                && time(&text[11..19])
        }
        Some("time") => text.len() == 9 && text.is_ascii() && time(&text[..8]) && text.ends_with('Z'),
        Some("email" | "idn-email") => text == super::super::fill::EMAIL,
        Some("uuid") => text == super::super::fill::UUID,
        Some("ipv4") => {
            text.len() <= 15 && text.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.to_string() == text)
        }
        Some("ipv6") => text.parse::<std::net::Ipv6Addr>().is_ok_and(|address| address.to_string() == text),
        Some("hostname" | "idn-hostname") => text == super::super::fill::HOST,
        _ => false,
    };
    if certain { Admits::Yes } else { Admits::Unsure }
}

fn uri(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./".contains(&byte))
            && rest.as_bytes()[0].is_ascii_alphanumeric()
    })
}

fn date(text: &str) -> bool {
    let digits = |part: &str| {
        part.parse::<u8>().ok().filter(|_| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut parts = text.splitn(3, '-');
    let year = parts.next().is_some_and(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()));
    let month = parts.next().and_then(digits).is_some_and(|month| (1..=12).contains(&month));
    year && month && parts.next().and_then(digits).is_some_and(|day| (1..=28).contains(&day))
}

fn time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let below = |part: &str, limit: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|value| value < limit)
    };
    matches!(parts.as_slice(), [hour, minute, second] if below(hour, 24) && below(minute, 60) && below(second, 60))
}
