//! Long runs of base64 or hexadecimal: what they decode to, and whether they are long enough to be odd.

use std::ops::Range;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Shorter runs hold no order.
const SHORTEST: usize = 24;
/// From this length on a run is odd by itself.
const LONG: usize = 120;
/// Runs are decoded up to this many characters.
const DECODED: usize = 64 << 10;
/// How far back the start of an address or of a `data:` URL is looked for.
const BEFORE: usize = 200;
/// A SHA-512 digest in hexadecimal: the one long run that honest texts show.
const SHA512: usize = 128;

/// One run.
pub struct Blob {
    /// Where it stands.
    pub at: Range<usize>,
    /// The text it decodes to, when it is text.
    pub decoded: Option<String>,
    /// Whether it is long and dense enough to be a finding by itself.
    pub long: bool,
}

const LOOSE: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The runs of `text`, at most a thousand.
pub fn find(text: &str) -> impl Iterator<Item = Blob> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let runs = std::iter::from_fn(move || {
        while from < bytes.len() {
            // From the last byte a long enough run would need, so that most of a text is never looked at.
            let probe = from + SHORTEST - 1;
            if probe >= bytes.len() {
                return None;
            }
            if let Some(back) = (from..=probe).rev().find(|at| !in_run(bytes[*at])) {
                from = back + 1;
                continue;
            }
            let end = (probe..bytes.len()).find(|at| !in_run(bytes[*at])).unwrap_or(bytes.len());
            let run = from..end;
            from = end + 1;
            return Some(run);
        }
        None
    });
    runs.take(1000).filter_map(move |run| read(text, run))
}

fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

fn read(text: &str, at: Range<usize>) -> Option<Blob> {
    let run = &text[at.clone()];
    let near = &text[super::floor(text, at.start.saturating_sub(BEFORE))..at.start];
    let head = near.rsplit([' ', '"', '\'', '(', '\n', '<', '`']).next().unwrap_or_default();
    if head.starts_with("data:image/") {
        return None;
    }
    let body = run.trim_end_matches('=');
    let hex = body.len().is_multiple_of(2) && body.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (upper, lower, digit) = body.bytes().fold((0, 0, 0), |(upper, lower, digit), byte| {
        (
            upper + u32::from(byte.is_ascii_uppercase()),
            lower + u32::from(byte.is_ascii_lowercase()),
            digit + u32::from(byte.is_ascii_digit()),
        )
    });
    // Long identifiers, paths and rows of dashes lack the mixture that encoded bytes have.
    let mixed = upper * 8 > body.len() as u32 && lower * 8 > body.len() as u32 && digit > 0;
    let decoded = if hex && body.len() >= 2 * SHORTEST { from_hex(body) } else { from_base64(body) };
    let dense = if hex { body.len() != SHA512 && digit > 0 && upper + lower > 0 } else { mixed };
    let long = dense && body.len() >= LONG && !head.contains("://");
    (long || decoded.is_some()).then_some(Blob { at, decoded, long })
}

fn from_base64(run: &str) -> Option<String> {
    let run = &run[..run.len().min(DECODED) / 4 * 4 + if run.len() < DECODED { run.len() % 4 } else { 0 }];
    let url_safe = run.contains(['-', '_']);
    let alphabet = if url_safe { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    readable(GeneralPurpose::new(alphabet, LOOSE).decode(run).ok()?)
}

fn from_hex(run: &str) -> Option<String> {
    let pairs = run.as_bytes()[..run.len().min(DECODED) / 2 * 2].chunks_exact(2);
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    readable(pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect::<Option<Vec<u8>>>()?)
}

/// The bytes as text, when they are words.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let words = text.bytes().filter(|byte| *byte == b' ').count();
    let plain = text.chars().filter(|c| c.is_alphanumeric() || c.is_whitespace() || c.is_ascii_punctuation()).count();
    (words >= 2 && plain * 10 >= text.chars().count() * 9).then_some(text)
}
