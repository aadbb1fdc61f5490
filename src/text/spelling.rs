//! The ways one byte can be spelled in a reply: itself, percent-encoded, escaped with backslashes, as an HTML entity.

/// Backslashes of one escape that are looked at; JSON inside JSON inside JSON has seven.
const MAX_BACKSLASHES: usize = 8;

/// One reading of what stands at a place: the bytes it means and how many bytes of text it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// What it means: one character's UTF-8 bytes.
    pub meaning: [u8; 4],
    /// How many of them count.
    pub size: u8,
    /// Bytes of text it takes.
    pub taken: usize,
}

impl Reading {
    fn byte(meaning: u8, taken: usize) -> Self {
        Self { meaning: [meaning, 0, 0, 0], size: 1, taken }
    }

    fn character(c: char, taken: usize) -> Self {
        let mut meaning = [0; 4];
        let size = c.encode_utf8(&mut meaning).len() as u8;
        Self { meaning, size, taken }
    }

    /// The bytes meant.
    pub fn bytes(&self) -> &[u8] {
        &self.meaning[..usize::from(self.size)]
    }
}

/// Whether a byte can stand for another one.
pub(super) fn opens_an_escape(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&' | b'+')
}

/// Calls `each` with every reading of what stands at `at`, beyond the byte itself.
pub(super) fn escapes(text: &[u8], at: usize, mut each: impl FnMut(Reading)) {
    match text[at] {
        b'%' => {
            if let Some(reading) = percent(text, at) {
                each(reading);
            }
        }
        b'+' => each(Reading::byte(b' ', 1)),
        b'\\' => backslashes(text, at, each),
        b'&' => {
            if let Some(reading) = entity(text, at) {
                each(reading);
            }
        }
        _ => {}
    }
}

/// `%2F`, `%2f`, and encoded again (`%252F`, `%25252F`).
fn percent(text: &[u8], at: usize) -> Option<Reading> {
    let mut value = hex(text.get(at + 1..at + 3)?)?;
    let mut taken = 3;
    while value == u32::from(b'%')
        && taken < 12
        && let Some(inner) = text.get(at + taken..at + taken + 2).and_then(hex)
    {
        value = inner;
        taken += 2;
    }
    Some(Reading::byte(value as u8, taken))
}

/// `\/`, `\\`, `\"`, `\n`, `\x2f`, `\u002f`, `\057`, each with its backslashes doubled any number of times, and a
/// backslash (or several) in place of a slash.
fn backslashes(text: &[u8], at: usize, mut each: impl FnMut(Reading)) {
    let run = text[at..].iter().take(MAX_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    each(Reading::byte(b'/', run));
    each(Reading::byte(b'\\', run));
    let Some(next) = text.get(at + run).copied() else { return };
    match next {
        b'u' => {
            if let Some(c) = text.get(at + run + 1..at + run + 5).and_then(hex).and_then(char::from_u32) {
                each(Reading::character(c, run + 5));
            }
        }
        b'x' => {
            if let Some(value) = text.get(at + run + 1..at + run + 3).and_then(hex) {
                each(Reading::byte(value as u8, run + 3));
            }
        }
        b'n' => each(Reading::byte(b'\n', run + 1)),
        b'r' => each(Reading::byte(b'\r', run + 1)),
        b't' => each(Reading::byte(b'\t', run + 1)),
        b'0'..=b'3' => {
            let digits =
                text.get(at + run..at + run + 3).filter(|digits| digits.iter().all(|d| matches!(d, b'0'..=b'7')));
            if let Some(digits) = digits {
                let value = digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                each(Reading::byte(value as u8, run + 3));
            }
        }
        next if next.is_ascii_punctuation() => each(Reading::byte(next, run + 1)),
        _ => {}
    }
}

/// `&#47;`, `&#x2F;` and the five names of XML.
fn entity(text: &[u8], at: usize) -> Option<Reading> {
    let body = text.get(at + 1..text.len().min(at + 10))?;
    let end = body.iter().position(|byte| *byte == b';')?;
    let name = &body[..end];
    let taken = end + 2;
    let named = match name {
        b"amp" => Some(b'&'),
        b"lt" => Some(b'<'),
        b"gt" => Some(b'>'),
        b"quot" => Some(b'"'),
        b"apos" => Some(b'\''),
        _ => None,
    };
    if let Some(byte) = named {
        return Some(Reading::byte(byte, taken));
    }
    let digits = std::str::from_utf8(name.strip_prefix(b"#")?).ok()?;
    let value = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some(Reading::character(char::from_u32(value.ok()?)?, taken))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_as(text: &str, meaning: char) -> bool {
        let mut found = false;
        escapes(text.as_bytes(), 0, |reading| {
            let mut expected = [0; 4];
            found |= reading.bytes() == meaning.encode_utf8(&mut expected).as_bytes() && reading.taken == text.len();
        });
        found
    }

    #[test]
    fn a_slash_is_read_in_every_spelling() {
        for text in [
            "%2F",
            "%2f",
            "%252F",
            "\\/",
            "\\\\/",
            "\\u002f",
            "\\\\u002F",
            "\\x2f",
            "\\057",
            "&#47;",
            "&#x2F;",
            "\\",
            "\\\\",
        ] {
            assert!(reads_as(text, '/'), "{text}");
        }
    }

    #[test]
    fn other_characters_are_read_too() {
        assert!(reads_as("\\n", '\n'));
        assert!(reads_as("\\\"", '"'));
        assert!(reads_as("\\u00e9", 'é'));
        assert!(reads_as("&amp;", '&'));
        assert!(reads_as("+", ' '));
    }

    #[test]
    fn broken_escapes_have_no_reading() {
        for text in ["%", "%2", "%zz", "&#;", "&", "&#x110000;", "&nosuch;"] {
            escapes(text.as_bytes(), 0, |reading| panic!("{text}: {reading:?}"));
        }
    }
}
