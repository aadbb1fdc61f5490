//! From bytes to JSON, with a second try for texts whose grammar is right and which `serde_json` still refuses.

use serde_json::Value;

/// A parsed frame.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) value: Value,
    /// What is wrong with the text although it could be read.
    pub(super) notes: Vec<String>,
    /// The message of a parser that refuses it, when ours does.
    pub(super) refused: Option<String>,
}

/// Parses one frame.
///
/// # Errors
/// The parser's message when no reading is possible.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, String> {
    let mut notes = Vec::new();
    let text = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            notes.push("a byte order mark stands before the message".to_owned());
            rest
        }
        None => bytes,
    };
    match serde_json::from_slice(text) {
        Ok(value) => Ok(Parsed { value, notes, refused: None }),
        Err(error) => {
            let message = error.to_string();
            let mended = mend(text).and_then(|text| serde_json::from_slice(&text).ok());
            match mended {
                Some(value) => Ok(Parsed { value, notes, refused: Some(message) }),
                None => Err(message),
            }
        }
    }
}

/// Replaces lone surrogate escapes and numbers beyond a double's range: both are valid JSON that many parsers refuse.
fn mend(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut changed = false;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let end = string_end(text, at)?;
                changed |= mend_string(&text[at..end], &mut out);
                at = end;
            }
            b'-' | b'0'..=b'9' => {
                let len = text[at..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .count();
                let number = &text[at..at + len];
                let infinite =
                    std::str::from_utf8(number).ok().and_then(|n| n.parse::<f64>().ok()).is_some_and(f64::is_infinite);
                if infinite {
                    changed = true;
                    out.extend_from_slice(if number[0] == b'-' {
                        b"-1.7976931348623157e308"
                    } else {
                        b"1.7976931348623157e308"
                    });
                } else {
                    out.extend_from_slice(number);
                }
                at += len;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    changed.then_some(out)
}

/// The index behind the closing quote of the string that opens at `start`.
pub(super) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn mend_string(string: &[u8], out: &mut Vec<u8>) -> bool {
    let mut changed = false;
    let mut at = 0;
    while at < string.len() {
        if string[at] != b'\\' {
            out.push(string[at]);
            at += 1;
            continue;
        }
        let width = match (unit(&string[at..]), string.get(at + 6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                changed = true;
                out.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            _ => 2,
        };
        let end = (at + width).min(string.len());
        out.extend_from_slice(&string[at..end]);
        at = end;
    }
    changed
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ordinary_json_is_parsed_without_remarks() {
        let parsed = parse(br#" {"a":"\ud83d\ude00"} "#).unwrap();
        assert_eq!(parsed.value, json!({ "a": "😀" }));
        assert!(parsed.notes.is_empty() && parsed.refused.is_none());
    }

    #[test]
    fn lone_surrogates_and_huge_numbers_are_read_and_remarked() {
        let parsed = parse(br#"{"a":"\\\ud800x","b":[1e400,-2E999],"\udc00":"\ud83d\ude00"}"#).unwrap();
        assert_eq!(parsed.value["a"], "\\\u{fffd}x");
        assert_eq!(parsed.value["b"], json!([f64::MAX, f64::MIN]));
        assert_eq!(parsed.value["\u{fffd}"], "😀");
        assert!(parsed.refused.is_some());
    }

    #[test]
    fn a_byte_order_mark_is_a_remark() {
        assert_eq!(parse(b"\xef\xbb\xbf{}").unwrap().notes.len(), 1);
    }

    #[test]
    fn what_is_not_json_stays_refused() {
        for text in ["{\"a\":}", "{'a':1}", "[1e400", "\"\\ud800", "\"\\", "{\"a\":\"\\ud800\"", "", "NaN", "\u{1}"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(parse(deep.as_bytes()).unwrap_err().contains("recursion limit"));
        assert!(parse(b"{\"a\":\"\xff\"}").is_err());
    }
}
