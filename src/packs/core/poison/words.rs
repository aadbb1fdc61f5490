//! Text as sentences of folded words: what the rules about orders read.

use std::{collections::HashMap, hash::BuildHasherDefault, ops::Range, sync::LazyLock};

use super::{
    fold::{Folded, fold},
    lexicon::{Fnv, Lexicon, WordSet},
};

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Blank, or an opening bracket or quote.
    Blank,
    /// A comma, colon, dash or parenthesis.
    Clause,
    /// The end of a sentence, an empty line, a list item.
    Sentence,
}

#[derive(Debug, Clone)]
struct Word {
    /// Its bytes in the folded buffer.
    folded: Range<u32>,
    /// Its bytes in the text.
    at: Range<u32>,
    gap: Gap,
    /// Directly after a quotation mark.
    quoted: bool,
    /// Directly after a backtick.
    code: bool,
    topics: u16,
}

/// Topics that a sentence touches: rules look only at sentences that touch theirs.
pub mod topic {
    /// Telling and hiding.
    pub const TELL: u16 = 1;
    /// Disregarding.
    pub const OVERRIDE: u16 = 2;
    /// Keys and places that hold them.
    pub const PLACE: u16 = 4;
    /// Conversations, prompts, credentials, addresses.
    pub const MATTER: u16 = 8;
    /// Tools.
    pub const TOOL: u16 = 16;
}

/// A sentence that goes on longer is read in windows of this many words, so that no text can cost without end.
const LONGEST: usize = 100;
/// What two neighbouring windows share.
const SHARED: usize = 35;

/// The words of one text. Buffers are reused from text to text.
#[derive(Debug, Default)]
pub struct Words {
    folded: String,
    words: Vec<Word>,
}

/// Words of one sentence, with the text around it in reach.
#[derive(Debug, Clone, Copy)]
pub struct Sentence<'w> {
    all: &'w Words,
    from: usize,
    to: usize,
    topics: u16,
}

impl Words {
    /// Reads `text` anew.
    pub fn read(&mut self, text: &str) {
        self.folded.clear();
        self.words.clear();
        Splitter { words: self, text, start: None, gap: Gap::Sentence, quoted: false, code: false }.run();
        self.join_single_letters();
    }

    /// The sentences that touch any topic, in order.
    pub fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            while from < self.words.len() {
                let most = self.words.len().min(from + LONGEST);
                let end = (from + 1..most).find(|at| self.words[*at].gap == Gap::Sentence).unwrap_or(most);
                let topics = self.words[from..end].iter().fold(0, |topics, word| topics | word.topics);
                let sentence = Sentence { all: self, from, to: end, topics };
                let goes_on = end == most && end < self.words.len() && self.words[end].gap != Gap::Sentence;
                from = if goes_on { end - SHARED } else { end };
                if topics != 0 {
                    return Some(sentence);
                }
            }
            None
        })
    }

    fn text(&self, at: usize) -> &str {
        let range = &self.words[at].folded;
        &self.folded[range.start as usize..range.end as usize]
    }

    /// `i g n o r e   a l l`: runs of single letters are read as words too, cut where the blank is wider.
    fn join_single_letters(&mut self) {
        let single = |word: &Word| word.folded.end - word.folded.start == 1;
        let mut at = 0;
        let count = self.words.len();
        while at < count {
            let end = (at..count).find(|i| !single(&self.words[*i])).unwrap_or(count);
            if end - at >= 5 {
                let mut gap = Gap::Sentence;
                let mut first = at;
                for i in at..end {
                    if i + 1 == end || self.words[i + 1].at.start - self.words[i].at.end > 1 {
                        let start = self.folded.len() as u32;
                        for letter in first..=i {
                            let letter = self.words[letter].folded.clone();
                            let letter = self.folded[letter.start as usize..letter.end as usize].to_owned();
                            self.folded.push_str(&letter);
                        }
                        let at = self.words[first].at.start..self.words[i].at.end;
                        self.push(start, at, gap, false, false);
                        gap = Gap::Blank;
                        first = i + 1;
                    }
                }
            }
            at = end.max(at) + 1;
        }
    }

    /// Adds the word that fills the folded buffer from `start` on.
    fn push(&mut self, start: u32, at: Range<u32>, gap: Gap, quoted: bool, code: bool) {
        let folded = start..self.folded.len() as u32;
        let topics = topics(&self.folded[start as usize..]);
        self.words.push(Word { folded, at, gap, quoted, code, topics });
    }
}

impl<'w> Sentence<'w> {
    /// Indices of its words, to be used with [`Self::word`].
    pub fn range(&self) -> Range<usize> {
        self.from..self.to
    }

    /// Whether it touches the topic.
    pub fn touches(&self, topic: u16) -> bool {
        self.topics & topic != 0
    }

    /// The word at `at`, empty outside of the sentence.
    pub fn word(&self, at: usize) -> &'w str {
        if (self.from..self.to).contains(&at) { self.all.text(at) } else { "" }
    }

    /// The word `back` words before `at`, empty outside of the sentence.
    pub fn before(&self, at: usize, back: usize) -> &'w str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// What stands before the word at `at`.
    pub fn gap(&self, at: usize) -> Gap {
        if (self.from..self.to).contains(&at) { self.all.words[at].gap } else { Gap::Sentence }
    }

    /// Whether a quotation mark stands directly before the word.
    pub fn quoted(&self, at: usize) -> bool {
        (self.from..self.to).contains(&at) && self.all.words[at].quoted
    }

    /// Whether a backtick stands directly before the word.
    pub fn code(&self, at: usize) -> bool {
        (self.from..self.to).contains(&at) && self.all.words[at].code
    }

    /// The first place in `range` (cut to the sentence) whose word is one of `words`.
    pub fn find(&self, range: Range<usize>, words: &impl WordSet) -> Option<usize> {
        let range = range.start.max(self.from)..range.end.min(self.to);
        range.into_iter().find(|at| words.holds(self.word(*at)))
    }

    /// Whether any word is one of `words`.
    pub fn has(&self, words: &impl WordSet) -> bool {
        self.find(self.range(), words).is_some()
    }

    /// Whether the words from `at` on are these.
    pub fn reads(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.word(at + i) == *word)
    }

    /// The first place in `range` whose word begins with one of `stems`.
    pub fn find_stem(&self, range: Range<usize>, stems: &Lexicon) -> Option<usize> {
        let range = range.start.max(self.from)..range.end.min(self.to);
        range.into_iter().find(|at| stems.begins(self.word(*at)))
    }

    /// The bytes of the text from the word at `from` up to and with the one at `to`.
    pub fn span(&self, from: usize, to: usize) -> Range<usize> {
        let words = &self.all.words;
        let last = to.min(self.to - 1).max(from);
        words[from].at.start as usize..words[last].at.end as usize
    }

    /// The sentence before this one, if there is one.
    pub fn previous(&self) -> Option<Self> {
        let last = self.from.checked_sub(1)?;
        let words = &self.all.words;
        let first = last.saturating_sub(LONGEST);
        let from = (first..=last).rev().find(|at| words[*at].gap == Gap::Sentence).unwrap_or(first);
        Some(Self { all: self.all, from, to: self.from, topics: self.topics })
    }

    /// The sentence after this one, if there is one.
    pub fn next(&self) -> Option<Self> {
        let words = &self.all.words;
        let end = words.len().min(self.to + LONGEST);
        let to = (self.to + 1..end).find(|at| words[*at].gap == Gap::Sentence).unwrap_or(end);
        (self.to < end).then_some(Self { all: self.all, from: self.to, to, topics: self.topics })
    }
}

/// Cuts one text into words.
struct Splitter<'a> {
    words: &'a mut Words,
    text: &'a str,
    /// Where the word being read starts: in the folded buffer and in the text.
    start: Option<(u32, u32)>,
    gap: Gap,
    quoted: bool,
    code: bool,
}

impl Splitter<'_> {
    fn run(mut self) {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if byte.is_ascii_alphanumeric() {
                let end = (at..bytes.len()).find(|at| !bytes[*at].is_ascii_alphanumeric()).unwrap_or(bytes.len());
                self.take_all(at, end);
                at = end;
            } else if *byte == b' ' {
                self.end(at, Gap::Blank);
                at += 1;
            } else {
                at = self.step(at);
            }
        }
        self.end(text.len(), Gap::Sentence);
    }

    /// Reads one character that is more than an ASCII letter, digit or blank; returns where the next one starts.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let Some(raw) = rest.chars().next() else { return self.text.len() };
        let after = at + raw.len_utf8();
        let Folded::Plain(c) = fold(raw) else { return after };
        let raw_next = self.text[after..].chars().next();
        let next = raw_next.map_or(' ', |next| match fold(next) {
            Folded::Plain(next) => next,
            Folded::Dropped => next,
        });
        let inside = self.start.is_some();
        match c {
            '_' | '/' | '\\' | '~' | '@' | '$' | '%' | '+' => self.take(c, at),
            '\'' | '-' | '=' | '&' | '#' if inside && next.is_alphanumeric() => self.take(c, at),
            '.' if next.is_alphanumeric() || matches!(next, '_' | '/' | '\\') || (inside && next == '.') => {
                if self.runs_into_a_sentence(raw_next) {
                    self.end(at, Gap::Sentence);
                } else {
                    self.take(c, at);
                }
            }
            ':' if inside && matches!(next, '/' | '\\') => self.take(c, at),
            '?' if inside && self.is_address() && !next.is_whitespace() => self.take(c, at),
            // Emphasis inside a word (`ig**no**re`).
            '*' if inside && emphasis(rest) => {}
            '<' => {
                let (length, gap) = formatting(rest).unwrap_or((1, Some(Gap::Blank)));
                if let Some(gap) = gap {
                    self.end(at, gap);
                }
                return at + length.max(raw.len_utf8());
            }
            '.' | '!' | '?' | '。' | '！' | '？' | '\u{2028}' | '\u{2029}' => self.end(at, Gap::Sentence),
            '\n' => self.end(at, if starts_a_block(&self.text[after..]) { Gap::Sentence } else { Gap::Blank }),
            ',' | ';' | ':' | '(' | ')' | '\u{2013}' | '\u{2014}' | '、' | '，' => self.end(at, Gap::Clause),
            '"' | '\'' => {
                self.end(at, Gap::Blank);
                self.quoted = true;
            }
            '`' => {
                self.end(at, Gap::Blank);
                self.code = true;
            }
            c if c.is_alphanumeric() => self.take(c, at),
            _ => self.end(at, Gap::Blank),
        }
        after
    }

    fn take_all(&mut self, at: usize, end: usize) {
        let from = self.words.folded.len();
        self.start.get_or_insert((from as u32, at as u32));
        self.words.folded.push_str(&self.text[at..end]);
        self.words.folded[from..].make_ascii_lowercase();
    }

    fn take(&mut self, c: char, at: usize) {
        if self.start.is_none() {
            self.start = Some((self.words.folded.len() as u32, at as u32));
        }
        self.words.folded.push(c);
    }

    fn current(&self) -> &str {
        self.start.map_or("", |(start, _)| &self.words.folded[start as usize..])
    }

    fn is_address(&self) -> bool {
        self.current().contains("://")
    }

    /// `file.Then`: a full stop without its blank, as opposed to `mcp.json` and `Array.from`.
    fn runs_into_a_sentence(&self, next: Option<char>) -> bool {
        next.is_some_and(char::is_uppercase)
            && self.current().len() > 2
            && self.current().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'')
            && self.start.is_some_and(|(_, at)| self.text[at as usize..].starts_with(char::is_lowercase))
    }

    /// Ends the word being read; `gap` is what follows it.
    fn end(&mut self, at: usize, gap: Gap) {
        if let Some((start, from)) = self.start.take() {
            let word = &self.words.folded[start as usize..];
            let kept = word.trim_end_matches(['_', '/', '-', '.', '\'']).len();
            self.words.folded.truncate(start as usize + kept);
            let lead = self.words.folded[start as usize..].len()
                - self.words.folded[start as usize..].trim_start_matches(['_', '\'']).len();
            if kept > lead {
                self.push(start + lead as u32, from..at as u32);
            }
            self.gap = Gap::Blank;
        }
        // A quotation mark counts only directly before a word.
        (self.quoted, self.code) = (false, false);
        self.gap = self.gap.max(gap);
    }

    fn push(&mut self, start: u32, at: Range<u32>) {
        let word = &self.words.folded[start as usize..];
        // `tell/mention/show` is three words, `~/.ssh/id_rsa` and `read_file/x` are one.
        let listed = word.contains('/')
            && word.split('/').all(|part| part.len() > 1 && part.bytes().all(|b| b.is_ascii_lowercase()));
        if !listed {
            self.words.push(start, at, self.gap, self.quoted, self.code);
            return;
        }
        let parts = word.to_owned();
        self.words.folded.truncate(start as usize);
        for part in parts.split('/') {
            let start = self.words.folded.len() as u32;
            self.words.folded.push_str(part);
            self.words.push(start, at.clone(), self.gap, self.quoted, self.code);
            self.gap = Gap::Blank;
        }
    }
}

/// Whether one to three asterisks stand before a letter.
fn emphasis(rest: &str) -> bool {
    let stars = rest.bytes().take(4).take_while(|byte| *byte == b'*').count();
    stars < 4 && rest[stars..].starts_with(char::is_alphanumeric)
}

/// The length of an HTML tag that only formats, and what it puts between words.
fn formatting(rest: &str) -> Option<(usize, Option<Gap>)> {
    let inner = rest.strip_prefix('<')?.trim_start_matches('/');
    let name = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let gap = match name.to_ascii_lowercase().as_str() {
        "b" | "i" | "u" | "s" | "em" | "strong" | "span" | "font" | "mark" | "small" | "wbr" | "code" => None,
        "p" | "br" | "div" | "center" => Some(Gap::Blank),
        _ => return None,
    };
    let length = rest.bytes().take(100).position(|byte| byte == b'>')? + 1;
    Some((length, gap))
}

/// Whether what follows a line feed is an empty line or a list item.
fn starts_a_block(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    let item = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.is_empty()
        || rest.starts_with(['\n', '-', '•', '#', '|'])
        || rest.starts_with("* ")
        || (item.len() < rest.len() && item.starts_with(['.', ')']))
}

/// Words that open a topic; what is spelled like a path is looked into.
fn topics(word: &str) -> u16 {
    let mut topics = TOPICS.get(word).copied().unwrap_or_default();
    if word.bytes().any(|byte| matches!(byte, b'.' | b'/' | b'@' | b'\\' | b'_' | b'+')) {
        topics |= topic::PLACE | if word.contains(['@', '/', '+']) { topic::MATTER } else { 0 };
    }
    topics
}

static TOPICS: LazyLock<HashMap<&'static str, u16, BuildHasherDefault<Fnv>>> = LazyLock::new(|| {
    let lists: [(u16, &str); 5] = [
        (topic::TELL, super::concealment::TOPIC),
        (topic::OVERRIDE, super::overrides::TOPIC),
        (topic::PLACE, super::secret_places::TOPIC),
        (topic::MATTER, super::exfiltration::TOPIC),
        (topic::TOOL, super::other_tools::TOPIC),
    ];
    let mut topics = HashMap::default();
    for (topic, list) in lists {
        for word in list.split_whitespace() {
            *topics.entry(word).or_default() |= topic;
        }
    }
    topics
});
