//! Decodes JSON that other clients can read although `serde_json` cannot, so that nothing hides behind an oddity.

use serde_json::{Map, Number, Value, value::RawValue};

/// Deeper than this, structure is dropped and only the texts are kept.
const DEPTH: usize = 100;

/// Decodes a value whose syntax was checked already.
///
/// JavaScript clients accept lone surrogates (here U+FFFD), numbers out of range (here null) and nesting without end
/// (here flattened to its texts past [`DEPTH`]); a poisoned tool must not escape the judge by holding one of them.
pub(super) fn value(raw: &RawValue) -> Option<Value> {
    let text = raw.get();
    serde_json::from_str(text).ok().or_else(|| Reader { text, at: 0 }.value(0))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.blank();
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' | b'[' if depth >= DEPTH => self.texts(),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            _ => Some(self.scalar()),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.at += 1;
        loop {
            self.blank();
            match self.peek()? {
                b'}' => break,
                b',' => self.at += 1,
                _ => {
                    let key = self.string()?;
                    self.blank();
                    self.at += usize::from(self.peek()? == b':');
                    members.insert(key, self.value(depth + 1)?);
                }
            }
        }
        self.at += 1;
        Some(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank();
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => items.push(self.value(depth + 1)?),
            }
        }
        self.at += 1;
        Some(Value::Array(items))
    }

    /// The texts (member names too) of a container of any depth, read without recursion.
    fn texts(&mut self) -> Option<Value> {
        let (mut open, mut texts) = (0_usize, Vec::new());
        loop {
            match self.peek()? {
                b'"' => {
                    texts.push(Value::String(self.string()?));
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Some(Value::Array(texts));
            }
        }
    }

    fn scalar(&mut self) -> Value {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        // At least one byte, so that the reader always moves on.
        self.at += end.max(1).min(rest.len());
        match &rest[..end] {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => serde_json::from_str::<Number>(number).map_or(Value::Null, Value::Number),
        }
    }

    fn string(&mut self) -> Option<String> {
        self.at += usize::from(self.peek()? == b'"');
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let stop = rest.find(['"', '\\'])?;
            out.push_str(&rest[..stop]);
            self.at += stop + 1;
            if rest.as_bytes()[stop] == b'"' {
                return Some(out);
            }
            let escape = self.peek()?;
            self.at += 1;
            out.push(match escape {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.unicode()?,
                other => char::from(other),
            });
        }
    }

    /// What `\uXXXX` stands for, a pair of surrogates read together.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            self.at = before;
        }
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn blank(&mut self) {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        value(&RawValue::from_string(text.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn plain_json_reads_as_serde_reads_it() {
        let text = r#" {"a": [1, -2.5e3, true, false, null, "x\n\"\\\/é😀"], "b": {}, "c": []} "#;
        let strict: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(text), strict);
        assert_eq!(Reader { text, at: 0 }.value(0), Some(strict));
    }

    #[test]
    fn a_lone_surrogate_does_not_hide_the_text_around_it() {
        assert_eq!(
            read(r#"{"a": "x\ud800y", "b": "\ud83d\ude00\udc00"}"#),
            json!({"a": "x\u{fffd}y", "b": "😀\u{fffd}"})
        );
    }

    #[test]
    fn a_number_out_of_range_does_not_hide_its_neighbours() {
        assert_eq!(read(r#"{"n": 1e999, "t": "kept"}"#), json!({"n": null, "t": "kept"}));
    }

    #[test]
    fn endless_nesting_is_flattened_to_its_texts() {
        let deep = 200_000;
        let text = format!(r#"{{"a": {}{{"k": "deep"}}{}, "z": "after"}}"#, "[".repeat(deep), "]".repeat(deep));
        let value = read(&text);
        assert_eq!(value["z"], "after");
        assert!(value.to_string().contains(r#"["k","deep"]"#));
    }
}
