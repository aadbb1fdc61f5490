//! What a JSON text will cost once parsed, estimated from its structural characters.

/// The cost of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weight {
    /// Values that it holds, about.
    pub values: u64,
    /// Bytes of memory that a `serde_json::Value` of it takes, about.
    pub bytes: u64,
    /// How deep objects and arrays are nested.
    pub depth: u32,
}

// Measured on 64 bit with ordered maps: an object with one member allocates room for four and a small table.
const OBJECT: u64 = 500;
const ARRAY: u64 = 300;
const ITEM: u64 = 90;

/// Weighs a text in one pass, without memory; it need not be valid JSON.
pub fn weigh(text: &[u8]) -> Weight {
    let (mut objects, mut arrays, mut items) = (0u64, 0u64, 1u64);
    let (mut depth, mut deepest) = (0u32, 0u32);
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => rest = rest.as_slice()[string_end(rest.as_slice())..].iter(),
            b'{' | b'[' => {
                *(if *byte == b'{' { &mut objects } else { &mut arrays }) += 1;
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => items += 1,
            _ => {}
        }
    }
    Weight {
        values: objects + arrays + items,
        bytes: objects * OBJECT + arrays * ARRAY + items * ITEM + text.len() as u64,
        depth: deepest,
    }
}

/// Where a string ends whose opening quote stood before `tail`: behind its closing quote, or at the end where it has none.
pub fn string_end(tail: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = tail.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match tail[at + found] {
            b'"' => return at + found + 1,
            _ => at += found + 2,
        }
    }
    tail.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_string_is_not_counted() {
        let weight = weigh(br#"{"a": [1, {"b,{[\"": "]}"}], "c": "\\"}"#);
        assert_eq!((weight.values, weight.depth), (2 + 1 + 3, 3));
        assert_eq!(weigh(br#""{[,""#).values, 1);
    }

    #[test]
    fn an_unfinished_text_ends_the_count() {
        assert_eq!(weigh(b"[[\"abc\\").depth, 2);
        assert_eq!(weigh(b"]]]]").depth, 0);
    }
}
