//! Which message is too heavy to be parsed.

use crate::model::weight::weigh;

/// Values in one message that are still parsed.
pub(super) const VALUES: u64 = 2_000_000;
/// Estimated bytes of one parsed message that are still afforded.
pub(super) const BYTES: u64 = 192 * 1024 * 1024;
/// Shorter texts cannot exceed either bound.
const LIGHT: usize = 256 * 1024;

/// Why `text` is too heavy to be parsed, if it is: what was bounded and the bound.
pub(super) fn excess(text: &[u8]) -> Option<(&'static str, u64)> {
    if text.len() <= LIGHT {
        return None;
    }
    let weight = weigh(text);
    if weight.values > VALUES {
        Some(("values in one message", VALUES))
    } else if weight.bytes > BYTES {
        Some(("memory for one parsed message", BYTES))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_are_too_much_and_one_long_text_is_not() {
        let zeros = format!("[{}0]", "0,".repeat(2_000_000));
        assert_eq!(excess(zeros.as_bytes()), Some(("values in one message", VALUES)));
        let objects = format!("[{}0]", "{\"a\":0},".repeat(900_000));
        assert_eq!(excess(objects.as_bytes()), Some(("memory for one parsed message", BYTES)));
        let text = format!("[\"{}\"]", ",{[\\\"".repeat(1_000_000));
        assert_eq!(excess(text.as_bytes()), None);
    }

    #[test]
    fn an_unfinished_text_ends_the_count() {
        let text = format!("[\"{}\\", "x".repeat(LIGHT));
        assert_eq!(excess(text.as_bytes()), None);
    }
}
