//! Random values of this run, every way a server may spell them, and a fast search for all of them at once.

use std::{collections::BTreeSet, sync::Arc};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};

use crate::model::{Encoding, Hit, TokenKind};

/// Characters of text around a hit, the placeholder included.
const EXCERPT: usize = 120;
/// Hits kept of one token in one encoding within one frame: more add nothing to the evidence.
const KEPT: usize = 4;
/// Frames up to this size are also searched with their JSON escapes undone.
const UNESCAPED: usize = 1024 * 1024;
/// Bytes on both sides of a hit that are looked at for its excerpt.
const AROUND: usize = 320;

/// The tokens of one run. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tokens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    values: [(TokenKind, String); 3],
    needles: Vec<Needle>,
    index: Index,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Needle {
    token: TokenKind,
    encoding: Encoding,
    bytes: Vec<u8>,
}

impl Tokens {
    /// Draws fresh values from the system's random source (from the clock and the process id where it has none).
    pub fn mint() -> Self {
        let mut random = [0u8; 44];
        if getrandom::fill(&mut random).is_err() {
            let seed = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |age| age.as_nanos())
                .wrapping_mul(u128::from(std::process::id()) | 1);
            for (at, byte) in random.iter_mut().enumerate() {
                *byte = (seed >> ((at % 16) * 8)) as u8 ^ (at as u8).wrapping_mul(0x9d);
            }
        }
        let (canary, rest) = random.split_at(16);
        let (key, probe) = rest.split_at(20);
        Self::from_values(
            format!("sm-canary-{}", hex(canary)),
            format!("sk-sealmark-{}", hex(key)),
            format!("sm-{}", hex(probe)),
        )
    }

    fn from_values(canary: String, key: String, probe: String) -> Self {
        let values = [(TokenKind::Canary, canary), (TokenKind::FakeApiKey, key), (TokenKind::Probe, probe)];
        let needles: Vec<Needle> =
            values.iter().flat_map(|(token, value)| spellings(*token, value.as_bytes())).collect();
        let index = Index::of(&needles);
        Self(Arc::new(Inner { values, needles, index }))
    }

    /// The value of that token.
    pub fn value(&self, token: TokenKind) -> &str {
        self.0.values.iter().find(|(kind, _)| *kind == token).map_or("", |(_, value)| value)
    }

    /// Every token found in `bytes`, in any spelling, also behind the JSON escapes `\/` and `\u00..`.
    pub fn scan(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.scan_from(bytes, 0, &mut hits);
        if bytes.len() <= UNESCAPED
            && let Some(plain) = unescape(bytes)
        {
            self.scan_from(&plain, 0, &mut hits);
            dedup(&mut hits);
        }
        hits
    }

    /// The kinds of token that `bytes` carries.
    pub fn carried(&self, bytes: &[u8]) -> Vec<TokenKind> {
        let kinds: BTreeSet<TokenKind> = self.scan(bytes).into_iter().map(|hit| hit.token).collect();
        kinds.into_iter().collect()
    }

    /// Every spelling with the placeholder a report shows instead, longest first.
    pub fn placeholders(&self) -> Vec<(String, String)> {
        let mut pairs: Vec<(String, String)> = self
            .0
            .needles
            .iter()
            .map(|needle| (String::from_utf8_lossy(&needle.bytes).into_owned(), placeholder(needle.token).to_owned()))
            .collect();
        pairs.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        pairs
    }

    /// Length in bytes of the longest spelling.
    fn longest(&self) -> usize {
        self.0.needles.iter().map(|needle| needle.bytes.len()).max().unwrap_or(0)
    }

    /// Appends the hits that end behind `from`.
    fn scan_from(&self, bytes: &[u8], from: usize, hits: &mut Vec<Hit>) {
        self.0.index.find(&self.0.needles, bytes, |at, needle| {
            let end = at + needle.bytes.len();
            let same = hits.iter().filter(|hit| hit.token == needle.token && hit.encoding == needle.encoding).count();
            if end > from && same < KEPT {
                let excerpt = self.excerpt(bytes, at, end);
                hits.push(Hit { token: needle.token, encoding: needle.encoding, excerpt });
            }
        });
    }

    /// Text around `bytes[start..end]`, every token in it replaced by its placeholder.
    fn excerpt(&self, bytes: &[u8], start: usize, end: usize) -> String {
        let mark = |text: &[u8]| {
            let mut out = String::new();
            let mut done = 0;
            self.0.index.find(&self.0.needles, text, |at, needle| {
                if at >= done {
                    out.push_str(&String::from_utf8_lossy(&text[done..at]));
                    out.push_str(placeholder(needle.token));
                    done = at + needle.bytes.len();
                }
            });
            out.push_str(&String::from_utf8_lossy(&text[done..]));
            out
        };
        let token = self.0.needles.iter().find(|needle| needle.bytes == bytes[start..end]).map(|needle| needle.token);
        let middle = placeholder(token.unwrap_or(TokenKind::Probe));
        let room = EXCERPT.saturating_sub(middle.len() + 2) / 2;
        let before: Vec<char> = mark(&bytes[start.saturating_sub(AROUND)..start]).chars().collect();
        let after: Vec<char> = mark(&bytes[end..bytes.len().min(end + AROUND)]).chars().collect();
        let mut out = String::new();
        if before.len() > room {
            out.push('…');
        }
        out.extend(&before[before.len().saturating_sub(room)..]);
        out.push_str(middle);
        out.extend(&after[..after.len().min(room)]);
        if after.len() > room {
            out.push('…');
        }
        out
    }
}

/// A search over bytes that come in pieces: a token across two pieces is found.
#[derive(Debug)]
pub(super) struct Stream {
    tokens: Tokens,
    carry: Vec<u8>,
    hits: Vec<Hit>,
}

impl Stream {
    /// Starts before the first byte.
    pub(super) fn new(tokens: Tokens) -> Self {
        Self { tokens, carry: Vec::new(), hits: Vec::new() }
    }

    /// Searches the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let from = self.carry.len();
        let overlap = self.tokens.longest().saturating_sub(1);
        if from == 0 {
            self.tokens.scan_from(piece, 0, &mut self.hits);
            self.carry.extend_from_slice(&piece[piece.len().saturating_sub(overlap)..]);
            return;
        }
        // Only what can complete a token that began in the last piece is searched twice.
        let head = &piece[..piece.len().min(overlap)];
        self.carry.extend_from_slice(head);
        self.tokens.scan_from(&self.carry, from, &mut self.hits);
        self.tokens.scan_from(piece, head.len(), &mut self.hits);
        if piece.len() >= overlap {
            self.carry.clear();
            self.carry.extend_from_slice(&piece[piece.len() - overlap..]);
        } else {
            let surplus = self.carry.len().saturating_sub(overlap);
            self.carry.drain(..surplus);
        }
    }

    /// Takes the hits found so far.
    pub(super) fn take(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }
}

/// What a report shows instead of that token.
fn placeholder(token: TokenKind) -> &'static str {
    match token {
        TokenKind::Canary => "<canary>",
        TokenKind::FakeApiKey => "<api key>",
        TokenKind::Probe => "<probe>",
    }
}

fn dedup(hits: &mut Vec<Hit>) {
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits.drain(..) {
        let alike = |old: &&Hit| old.token == hit.token && old.encoding == hit.encoding;
        if kept.iter().filter(alike).count() < KEPT && !kept.contains(&hit) {
            kept.push(hit);
        }
    }
    *hits = kept;
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn spellings(token: TokenKind, value: &[u8]) -> Vec<Needle> {
    let mut forms: Vec<(Encoding, Vec<u8>)> = vec![(Encoding::Plain, value.to_vec())];
    for shift in 0..3usize {
        forms.push((Encoding::Base64, aligned(value, shift, |bytes| STANDARD.encode(bytes))));
        forms.push((Encoding::Base64, aligned(value, shift, |bytes| URL_SAFE.encode(bytes))));
    }
    let lower = hex(value);
    forms.push((Encoding::Hex, lower.to_ascii_uppercase().into_bytes()));
    let percent: String = value.iter().map(|byte| format!("%{byte:02x}")).collect();
    forms.push((Encoding::Percent, percent.to_ascii_uppercase().into_bytes()));
    forms.push((Encoding::Percent, percent.into_bytes()));
    forms.push((Encoding::Hex, lower.into_bytes()));
    forms.push((Encoding::Reversed, value.iter().rev().copied().collect()));
    let mut needles: Vec<Needle> = Vec::new();
    for (encoding, bytes) in forms {
        if !needles.iter().any(|needle| needle.bytes == bytes) {
            needles.push(Needle { token, encoding, bytes });
        }
    }
    needles
}

/// The characters of the base64 text that `value` alone decides when it starts `shift` bytes into a group.
fn aligned(value: &[u8], shift: usize, encode: impl Fn(&[u8]) -> String) -> Vec<u8> {
    let mut padded = vec![0; shift];
    padded.extend_from_slice(value);
    let text = encode(&padded);
    let start = [0, 2, 3][shift];
    let end = padded.len() * 8 / 6;
    text.as_bytes()[start..end].to_vec()
}

/// `bytes` with `\/` and `\u00..` undone, when there are any.
fn unescape(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let slash = at + found;
        let (byte, width) = match bytes.get(slash + 1..) {
            Some([b'/', ..]) => (b'/', 2),
            Some([b'u', b'0', b'0', high @ (b'0'..=b'7'), low, ..]) if low.is_ascii_hexdigit() => {
                let low = char::from(*low).to_digit(16).unwrap_or(0) as u8;
                ((high - b'0') * 16 + low, 6)
            }
            _ => {
                at = slash + 2;
                continue;
            }
        };
        let text = out.get_or_insert_with(|| Vec::with_capacity(bytes.len()));
        text.extend_from_slice(&bytes[done..slash]);
        text.push(byte);
        done = slash + width;
        at = done;
    }
    let mut text = out?;
    text.extend_from_slice(&bytes[done..]);
    Some(text)
}

/// Wu–Manber search: all needles share a window as long as the shortest, and most windows are skipped whole.
#[derive(Debug)]
struct Index {
    window: usize,
    shifts: Vec<u8>,
    /// Needles by the hash of their window's last block.
    ends: Vec<(u16, usize)>,
}

const BLOCK: usize = 3;
const SLOTS: usize = 1 << 15;

fn slot(block: &[u8]) -> u16 {
    let [a, b, c] = [block[0], block[1], block[2]].map(u16::from);
    ((a << 10) ^ (b << 5) ^ c) & (SLOTS as u16 - 1)
}

impl Index {
    fn of(needles: &[Needle]) -> Self {
        let window = needles.iter().map(|needle| needle.bytes.len()).min().unwrap_or(0).min(255);
        let mut shifts = vec![(window + 1).saturating_sub(BLOCK) as u8; SLOTS];
        let mut ends = Vec::new();
        for (number, needle) in needles.iter().enumerate() {
            for end in BLOCK..=window {
                let slot = slot(&needle.bytes[end - BLOCK..end]);
                let shift = &mut shifts[usize::from(slot)];
                *shift = (*shift).min((window - end) as u8);
                if end == window {
                    ends.push((slot, number));
                }
            }
        }
        ends.sort_unstable();
        Self { window, shifts, ends }
    }

    /// Calls `found` with the start of every occurrence, in order of start.
    fn find<'n>(&self, needles: &'n [Needle], text: &[u8], mut found: impl FnMut(usize, &'n Needle)) {
        if self.window < BLOCK {
            return;
        }
        let mut end = self.window;
        while end <= text.len() {
            let slot = slot(&text[end - BLOCK..end]);
            let shift = self.shifts[usize::from(slot)];
            if shift > 0 {
                end += usize::from(shift);
                continue;
            }
            let start = end - self.window;
            let first = self.ends.partition_point(|(other, _)| *other < slot);
            for (_, number) in self.ends[first..].iter().take_while(|(other, _)| *other == slot) {
                let needle = &needles[*number];
                if text[start..].starts_with(&needle.bytes) {
                    found(start, needle);
                }
            }
            end += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed() -> Tokens {
        Tokens::from_values(
            "sm-canary-0123456789abcdef0123456789abcdef".to_owned(),
            "sk-sealmark-00112233445566778899aabbccddeeff00112233".to_owned(),
            "sm-fedcba9876543210".to_owned(),
        )
    }

    fn kinds(hits: &[Hit]) -> Vec<(TokenKind, Encoding)> {
        hits.iter().map(|hit| (hit.token, hit.encoding)).collect()
    }

    #[test]
    fn minted_values_differ_and_have_their_shapes() {
        let (one, two) = (Tokens::mint(), Tokens::mint());
        assert_ne!(one.value(TokenKind::Canary), two.value(TokenKind::Canary));
        assert_eq!(one.value(TokenKind::Canary).len(), "sm-canary-".len() + 32);
        assert_eq!(one.value(TokenKind::FakeApiKey).len(), "sk-sealmark-".len() + 40);
        assert_eq!(one.value(TokenKind::Probe).len(), "sm-".len() + 16);
    }

    #[test]
    fn every_spelling_is_found_in_every_base64_alignment() {
        let tokens = fixed();
        for token in [TokenKind::Canary, TokenKind::FakeApiKey, TokenKind::Probe] {
            let value = tokens.value(token).to_owned();
            for prefix in ["", "a", "ab", "abc", "päth="] {
                for suffix in ["", "x", "yz"] {
                    let text = format!("{prefix}{value}{suffix}");
                    for coded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
                        assert_eq!(kinds(&tokens.scan(coded.as_bytes())), [(token, Encoding::Base64)], "{text}");
                    }
                }
            }
            let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let back: String = value.chars().rev().collect();
            for (text, encoding) in [
                (value.clone(), Encoding::Plain),
                (hex(value.as_bytes()), Encoding::Hex),
                (hex(value.as_bytes()).to_uppercase(), Encoding::Hex),
                (percent.clone(), Encoding::Percent),
                (percent.to_lowercase(), Encoding::Percent),
                (back, Encoding::Reversed),
            ] {
                assert_eq!(kinds(&tokens.scan(format!("\"{text}\"").as_bytes())), [(token, encoding)]);
            }
        }
    }

    #[test]
    fn a_value_with_one_character_changed_is_no_hit() {
        let tokens = fixed();
        let text = tokens.value(TokenKind::Canary).replace("cdef0", "cdee0");
        assert!(tokens.scan(text.as_bytes()).is_empty());
        assert!(tokens.scan(STANDARD.encode(text).as_bytes()).is_empty());
    }

    #[test]
    fn json_escapes_do_not_hide_a_token() {
        let tokens = fixed();
        let text = tokens.value(TokenKind::Canary).replace('-', "\\u002d");
        assert_eq!(kinds(&tokens.scan(text.as_bytes())), [(TokenKind::Canary, Encoding::Plain)]);
        let text = tokens.value(TokenKind::Canary).replace('-', "\\\\u002d");
        assert!(tokens.scan(text.as_bytes()).is_empty(), "an escaped backslash escapes nothing");
    }

    #[test]
    fn excerpts_are_short_and_never_hold_a_value() {
        let tokens = fixed();
        let canary = tokens.value(TokenKind::Canary).to_owned();
        let text = format!("{}{canary} and {canary}{}", "é".repeat(500), "ü".repeat(500));
        for hit in tokens.scan(text.as_bytes()) {
            assert!(hit.excerpt.chars().count() <= EXCERPT, "{}", hit.excerpt);
            assert!(hit.excerpt.contains("<canary> and <canary>"), "{}", hit.excerpt);
            assert!(!hit.excerpt.contains("0123"));
        }
        assert_eq!(tokens.scan(canary.as_bytes())[0].excerpt, "<canary>");
    }

    #[test]
    fn hits_of_one_spelling_are_bounded() {
        let tokens = fixed();
        let text = tokens.value(TokenKind::Probe).repeat(1000);
        assert_eq!(tokens.scan(text.as_bytes()).len(), KEPT);
        assert_eq!(tokens.carried(text.as_bytes()), [TokenKind::Probe]);
    }

    #[test]
    fn placeholders_cover_every_spelling_longest_first() {
        let pairs = fixed().placeholders();
        assert!(pairs.windows(2).all(|pair| pair[0].0.len() >= pair[1].0.len()));
        assert!(pairs.contains(&("sm-fedcba9876543210".to_owned(), "<probe>".to_owned())));
        assert!(pairs.iter().filter(|(_, to)| to == "<canary>").count() >= 9);
    }

    proptest! {
        #[test]
        fn a_stream_finds_what_one_piece_finds(
            parts in proptest::collection::vec((0usize..8, "[a-z0-9%]{0,40}"), 1..12),
            cuts in proptest::collection::vec(0usize..2000, 0..20),
        ) {
            let tokens = fixed();
            let pairs = tokens.placeholders();
            let mut text = String::new();
            for (number, filler) in &parts {
                text.push_str(&pairs[number * 3 % pairs.len()].0);
                text.push_str(filler);
            }
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.push(text.len());
            cuts.sort_unstable();
            let mut stream = Stream::new(tokens.clone());
            let mut from = 0;
            for cut in cuts {
                stream.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            let mut pieces = kinds(&stream.take());
            let mut whole = Vec::new();
            tokens.scan_from(text.as_bytes(), 0, &mut whole);
            let mut whole = kinds(&whole);
            pieces.sort();
            whole.sort();
            prop_assert_eq!(pieces, whole);
        }
    }
}
