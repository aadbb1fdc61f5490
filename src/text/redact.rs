//! Rewrites this run's random values, paths and secrets to placeholders, however a server spelled them.

use base64::{Engine as _, alphabet, engine::GeneralPurpose, engine::general_purpose::NO_PAD};
use serde_json::Value;

use super::spelling;

/// What a secret becomes.
const REDACTED: &str = "<redacted>";
/// The placeholder whose directory name is also recognised alone and cut short.
const SANDBOX_DIR: &str = "{sandbox_dir}";
/// Values shorter than this would be found everywhere: they are not rewritten.
const SHORTEST: usize = 4;
/// Secrets shorter than this are rewritten only where they stand as a word.
const WORD_BELOW: usize = 8;
/// Random characters after which a cut directory name is certain.
const CERTAIN: usize = 4;

/// Finds every spelling of a fixed set of values in one pass; build it once per run.
///
/// Each byte of a value may stand as itself, percent-encoded (either case, once or more), escaped with backslashes (JSON,
/// shell, C), as an HTML entity, and path separators may be doubled or backslashes. Letters match in either case. At each
/// place the longest value wins.
#[derive(Debug, Default)]
pub struct Redactor {
    nodes: Vec<Node>,
    placeholders: Vec<String>,
    /// Bytes with which a match can start.
    starts: Vec<bool>,
}

#[derive(Debug, Default)]
struct Node {
    next: Vec<(u8, u32)>,
    end: Option<End>,
}

/// What a value that ends at a node stands for.
#[derive(Debug, Clone, Copy)]
struct End {
    placeholder: u32,
    rule: Rule,
}

/// Where a match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Anywhere,
    /// Only between characters that are no letters or digits.
    AsWord,
    /// Only where the text was cut: at its end or before an ellipsis.
    AtCut,
}

/// The best match so far of one place.
#[derive(Debug, Clone, Copy)]
struct Found {
    depth: u32,
    stop: usize,
    placeholder: u32,
}

/// One walk down the tree.
struct Walk<'a> {
    redactor: &'a Redactor,
    text: &'a [u8],
    start: usize,
    best: Option<Found>,
}

impl Redactor {
    /// Prepares the search. `placeholders` are (value, placeholder), `secrets` become `<redacted>` (also in base64).
    ///
    /// With `enabled` false nothing is rewritten (`--no-redact`).
    pub fn new(placeholders: &[(String, String)], secrets: &[String], enabled: bool) -> Self {
        let mut made = Self { nodes: vec![Node::default()], placeholders: Vec::new(), starts: vec![false; 256] };
        if !enabled {
            return made;
        }
        for (value, placeholder) in placeholders {
            made.add(value, placeholder, Rule::Anywhere);
        }
        for (value, placeholder) in placeholders.iter().filter(|(_, placeholder)| placeholder == SANDBOX_DIR) {
            let name = value.rsplit('/').next().unwrap_or(value);
            made.add(name, placeholder, Rule::Anywhere);
            made.add_cut(value, placeholder);
            made.add_cut(name, placeholder);
        }
        for secret in secrets {
            let rule = if secret.chars().count() < WORD_BELOW { Rule::AsWord } else { Rule::Anywhere };
            made.add(secret, REDACTED, rule);
            if rule == Rule::Anywhere {
                for encoded in base64_forms(secret.as_bytes()) {
                    made.add(&encoded, REDACTED, rule);
                }
            }
        }
        made
    }

    /// The text with every known value replaced.
    pub fn apply(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let (mut copied, mut at) = (0, 0);
        while at < bytes.len() {
            if self.starts[usize::from(bytes[at])]
                && let Some(found) = self.longest(bytes, at)
                && text.is_char_boundary(found.stop)
            {
                out.push_str(&text[copied..at]);
                out.push_str(&self.placeholders[found.placeholder as usize]);
                copied = found.stop;
                at = found.stop;
            } else {
                at += 1;
            }
        }
        if copied == 0 && out.is_empty() {
            return text.to_owned();
        }
        out.push_str(&text[copied..]);
        out
    }

    /// A JSON text with every string in it rewritten; numbers and words stay, so that it remains JSON.
    pub fn apply_json(&self, json: &str) -> String {
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(open) = rest.find('"') {
            let bytes = &rest.as_bytes()[open + 1..];
            let mut close = 0;
            while let Some(at) = memchr::memchr2(b'"', b'\\', &bytes[close..]) {
                close += at;
                if bytes[close] == b'"' {
                    break;
                }
                close = (close + 2).min(bytes.len());
            }
            let end = (open + 1 + close).min(rest.len());
            out.push_str(&rest[..=open]);
            out.push_str(&self.apply(&rest[open + 1..end]));
            // The quote that closes it is copied with what follows, unless the text ends before.
            let (quote, after) = rest[end..].split_at(rest[end..].len().min(1));
            out.push_str(quote);
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The value with every string in it (keys too) rewritten.
    pub fn apply_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.apply(text)),
            Value::Array(items) => items.iter().map(|item| self.apply_value(item)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(key, value)| (self.apply(key), self.apply_value(value))).collect())
            }
            other => other.clone(),
        }
    }

    fn longest(&self, text: &[u8], start: usize) -> Option<Found> {
        let mut walk = Walk { redactor: self, text, start, best: None };
        walk.step(0, start, 0);
        walk.best
    }

    fn add(&mut self, value: &str, placeholder: &str, rule: Rule) {
        if value.len() < SHORTEST {
            return;
        }
        let node = self.path(value.as_bytes());
        self.end_at(node, placeholder, rule);
    }

    /// Adds the beginnings of a directory's name that hold some of its random part.
    fn add_cut(&mut self, value: &str, placeholder: &str) {
        let random = value.rfind('-').map_or_else(|| value.rfind('/').map_or(0, |at| at + 1), |at| at + 1);
        for stop in random + 1..value.len() {
            if value.is_char_boundary(stop) && stop >= SHORTEST {
                let node = self.path(&value.as_bytes()[..stop]);
                let rule = if stop - random >= CERTAIN { Rule::Anywhere } else { Rule::AtCut };
                self.end_at(node, placeholder, rule);
            }
        }
    }

    /// Marks a node; the first value wins, so that placeholders come before secrets and whole values before cut ones.
    fn end_at(&mut self, node: u32, placeholder: &str, rule: Rule) {
        let number = match self.placeholders.iter().position(|known| known == placeholder) {
            Some(number) => number,
            None => {
                self.placeholders.push(placeholder.to_owned());
                self.placeholders.len() - 1
            }
        };
        let end = End { placeholder: number as u32, rule };
        self.nodes[node as usize].end.get_or_insert(end);
    }

    /// The node that the bytes lead to, made where missing. Letters are folded.
    fn path(&mut self, value: &[u8]) -> u32 {
        for (byte, starts) in self.starts.iter_mut().enumerate() {
            *starts |= (byte as u8).eq_ignore_ascii_case(&value[0]) || spelling::opens_an_escape(byte as u8);
        }
        let mut node = 0;
        for byte in value.iter().map(u8::to_ascii_lowercase) {
            node = match self.child(node, byte) {
                Some(child) => child,
                None => {
                    let child = self.nodes.len() as u32;
                    self.nodes.push(Node::default());
                    self.nodes[node as usize].next.push((byte, child));
                    child
                }
            };
        }
        node
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let byte = byte.to_ascii_lowercase();
        self.nodes[node as usize].next.iter().find(|(next, _)| *next == byte).map(|(_, child)| *child)
    }
}

impl Walk<'_> {
    /// Follows every reading from a node; `depth` is the number of value bytes matched so far.
    fn step(&mut self, mut node: u32, mut at: usize, mut depth: u32) {
        loop {
            self.note(node, at, depth);
            let Some(byte) = self.text.get(at).copied() else { return };
            if spelling::opens_an_escape(byte) {
                let mut readings = Vec::new();
                spelling::escapes(self.text, at, |reading| readings.push(reading));
                for reading in readings {
                    let end = reading.bytes().iter().try_fold(node, |node, byte| self.redactor.child(node, *byte));
                    if let Some(child) = end {
                        let matched = depth + u32::from(reading.size);
                        self.step(child, self.separators(reading.bytes(), at + reading.taken, matched), matched);
                    }
                }
            }
            let Some(child) = self.redactor.child(node, byte) else { return };
            node = child;
            depth += 1;
            at = self.separators(&[byte], at + 1, depth);
        }
    }

    /// Where the text goes on after a separator inside a value: `//` and `/./` are one separator.
    fn separators(&self, matched: &[u8], mut at: usize, depth: u32) -> usize {
        if matched != b"/" || depth < 2 {
            return at;
        }
        loop {
            match self.text.get(at..) {
                Some([b'/', ..]) => at += 1,
                Some([b'.', b'/', ..]) => at += 2,
                _ => return at,
            }
        }
    }

    fn note(&mut self, node: u32, stop: usize, depth: u32) {
        let Some(end) = self.redactor.nodes[node as usize].end else { return };
        let counts = match end.rule {
            Rule::Anywhere => true,
            Rule::AsWord => {
                let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
                let before = self.start.checked_sub(1).and_then(|at| self.text.get(at));
                !word(before) && !word(self.text.get(stop))
            }
            Rule::AtCut => {
                let rest = &self.text[stop..];
                rest.is_empty() || rest.starts_with(b"..") || rest.starts_with("…".as_bytes())
            }
        };
        if counts && self.best.is_none_or(|best| depth > best.depth) {
            self.best = Some(Found { depth, stop, placeholder: end.placeholder });
        }
    }
}

/// Base64 of the bytes wherever they start in a longer text: three alignments, both alphabets, without the characters
/// that their neighbours have a part in.
fn base64_forms(bytes: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for letters in [alphabet::STANDARD, alphabet::URL_SAFE] {
        let engine = GeneralPurpose::new(&letters, NO_PAD);
        for (pad, skip) in [(0, 0), (1, 2), (2, 3)] {
            let mut shifted = vec![0; pad];
            shifted.extend_from_slice(bytes);
            let encoded = engine.encode(&shifted);
            let whole = shifted.len() * 8 / 6;
            if let Some(form) = encoded.get(skip..whole)
                && form.len() >= WORD_BELOW
                && !forms.iter().any(|known| known == form)
            {
                forms.push(form.to_owned());
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_STANDARD;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const DIR: &str = "/tmp/sealmark-a1b2c3d4";

    fn redactor() -> Redactor {
        let pairs = [
            ("/tmp/sealmark-a1b2c3d4/work", "{sandbox}"),
            ("/tmp/sealmark-a1b2c3d4/canary", "{canary}"),
            (DIR, "{sandbox_dir}"),
            ("sm-key-0011223344556677", "<canary>"),
        ];
        let pairs: Vec<_> =
            pairs.iter().map(|(value, placeholder)| ((*value).to_owned(), (*placeholder).to_owned())).collect();
        Redactor::new(&pairs, &["hunter2-hunter2".to_owned(), "pa55wd".to_owned(), "abc".to_owned()], true)
    }

    #[test]
    fn in_json_only_strings_are_rewritten() {
        let secrets = ["2000".to_owned(), "quo\"te\\x1".to_owned()];
        let value =
            serde_json::json!({ "after_ms": 2000, "text": "2000 quo\"te\\x1 \\", "empty": "", "n": [2000, "2000"] });
        let rewritten = Redactor::new(&[], &secrets, true).apply_json(&value.to_string());
        let read: Value = serde_json::from_str(&rewritten).unwrap();
        let expected = serde_json::json!({
            "after_ms": 2000, "text": "<redacted> <redacted> \\", "empty": "", "n": [2000, "<redacted>"]
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn every_spelling_of_a_path_is_rewritten() {
        let redactor = redactor();
        for (text, expected) in [
            ("at /tmp/sealmark-a1b2c3d4/work/a.txt", "at {sandbox}/a.txt"),
            ("%2Ftmp%2Fsealmark-a1b2c3d4%2Fwork%2Fa", "{sandbox}%2Fa"),
            ("%2ftmp%2fsealmark%2da1b2c3d4%2fwork", "{sandbox}"),
            ("%252Ftmp%252Fsealmark-a1b2c3d4%252Fwork", "{sandbox}"),
            (r#"{"path":"\/tmp\/sealmark-a1b2c3d4\/work"}"#, r#"{"path":"{sandbox}"}"#),
            (r#""{\"p\":\"\\/tmp\\/sealmark-a1b2c3d4\\/work\"}""#, r#""{\"p\":\"{sandbox}\"}""#),
            (r"\tmp\sealmark-a1b2c3d4\work\x", r"{sandbox}\x"),
            (r"\\tmp\\sealmark-a1b2c3d4\\work", "{sandbox}"),
            (r"\u002ftmp\u002Fsealmark-a1b2c3d4\u002fwork", "{sandbox}"),
            ("file:///tmp/sealmark-a1b2c3d4/work/x", "file://{sandbox}/x"),
            ("file://localhost/tmp/sealmark-a1b2c3d4/work/x", "file://localhost{sandbox}/x"),
            ("/tmp//sealmark-a1b2c3d4/./work", "{sandbox}"),
            ("/TMP/SEALMARK-A1B2C3D4/WORK", "{sandbox}"),
            ("&#x2F;tmp&#47;sealmark-a1b2c3d4&#x2f;work", "{sandbox}"),
            ("/tmp/sealmark-a1b2c3d4/work-sibling", "{sandbox}-sibling"),
            ("/tmp/sealmark-a1b2c3d4/home", "{sandbox_dir}/home"),
        ] {
            assert_eq!(redactor.apply(text), expected, "{text}");
        }
    }

    #[test]
    fn the_directorys_name_is_rewritten_alone_and_cut_short() {
        let redactor = redactor();
        assert_eq!(redactor.apply("no such dir sealmark-a1b2c3d4"), "no such dir {sandbox_dir}");
        assert_eq!(redactor.apply("/tmp/sealmark-a1b2c3"), "{sandbox_dir}");
        assert_eq!(redactor.apply("sealmark-a1b2… and more"), "{sandbox_dir}… and more");
        assert_eq!(redactor.apply("/tmp/sealmark-a1..."), "{sandbox_dir}...");
        assert_eq!(redactor.apply("cut at sealmark-a"), "cut at {sandbox_dir}");
    }

    #[test]
    fn names_that_only_begin_alike_are_kept() {
        let redactor = redactor();
        for text in ["sealmark-report/a", "sealmark-", "/tmp/sealmark", "sealmark-a-b", "/tmp/other"] {
            assert_eq!(redactor.apply(text), text);
        }
    }

    #[test]
    fn tokens_are_found_inside_other_words() {
        assert_eq!(redactor().apply("w-sm-key-0011223344556677-3.txt"), "w-<canary>-3.txt");
    }

    #[test]
    fn secrets_are_rewritten_and_short_ones_only_as_words() {
        let redactor = redactor();
        assert_eq!(redactor.apply("x=hunter2-hunter2!"), "x=<redacted>!");
        assert_eq!(redactor.apply("pa55wd pa55wds"), "<redacted> pa55wds");
        assert_eq!(redactor.apply("abc"), "abc", "three characters would be found everywhere");
        for before in ["", "u:", "me:"] {
            let encoded = BASE64_STANDARD.encode(format!("{before}hunter2-hunter2:z"));
            assert!(redactor.apply(&encoded).contains(REDACTED), "{encoded}");
        }
    }

    #[test]
    fn nothing_is_rewritten_when_it_is_switched_off() {
        let redactor = Redactor::new(&[(DIR.to_owned(), "{sandbox_dir}".to_owned())], &[], false);
        assert_eq!(redactor.apply(DIR), DIR);
    }

    #[test]
    fn values_inside_json_are_rewritten() {
        let value = json!({ (DIR): ["x", { "a": format!("{DIR}/work") }], "n": 1 });
        assert_eq!(redactor().apply_value(&value), json!({ "{sandbox_dir}": ["x", { "a": "{sandbox}" }], "n": 1 }));
    }

    #[test]
    fn long_runs_of_escapes_take_linear_time() {
        let redactor = redactor();
        let started = std::time::Instant::now();
        for text in [
            "\\".repeat(200_000),
            "/".repeat(200_000),
            "%25".repeat(100_000),
            "/tmp/".repeat(50_000),
            "/tmp/./".repeat(50_000),
        ] {
            assert_eq!(redactor.apply(&text), text);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn other_text_is_kept(text in "[ -~é漢\n]{0,60}") {
            prop_assume!(!text.contains("pa55wd") && !text.to_lowercase().contains("sealmark"));
            prop_assert_eq!(redactor().apply(&text), text);
        }

        #[test]
        fn a_path_encoded_byte_by_byte_is_found(upper in any::<Vec<bool>>(), before in "[a-z =]{0,5}") {
            let mut spelled = before.clone();
            for (at, byte) in format!("{DIR}/work").bytes().enumerate() {
                match upper.get(at) {
                    Some(true) => spelled.push_str(&format!("%{byte:02X}")),
                    Some(false) => spelled.push_str(&format!("%{byte:02x}")),
                    None => spelled.push(byte as char),
                }
            }
            prop_assert_eq!(redactor().apply(&spelled), format!("{before}{{sandbox}}"));
        }
    }
}
