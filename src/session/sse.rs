//! Server-sent events (WHATWG HTML, "parsing an event stream"), fed in pieces, each event's data bounded like a line.

use std::time::Duration;

use super::{
    frame::{Collector, Frame, Limits},
    tokens::Tokens,
};

/// Bytes of a field's name that are looked at, and of an `id` or `retry` that are kept.
const SHORT: usize = 1024;

/// A parser of one stream.
#[derive(Debug)]
pub(super) struct Events {
    data: Collector,
    lines: usize,
    at: At,
    /// The last byte was a carriage return: a line feed right behind it ends no line of its own.
    returned: bool,
    marks: usize,
    id: Option<Vec<u8>>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

#[derive(Debug)]
enum At {
    Name(Vec<u8>),
    Value { field: Field, first: bool, short: Vec<u8> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Id,
    Retry,
    Other,
}

impl Events {
    pub(super) fn new(tokens: Tokens, limits: Limits) -> Self {
        Self {
            data: Collector::new(tokens, limits),
            lines: 0,
            at: At::Name(Vec::new()),
            returned: false,
            marks: 0,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// The id of the last event, when it has one: where a broken stream can be resumed.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long the server asks to wait before resuming.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Whether the current event is longer than is ever read.
    pub(super) fn runaway(&self) -> bool {
        self.data.runaway()
    }

    /// Feeds the next piece and appends the data of the events it completes.
    pub(super) fn push(&mut self, mut piece: &[u8], frames: &mut Vec<Frame>) {
        // A byte order mark may open the stream.
        while self.marks < 3 && piece.first() == Some(&b"\xef\xbb\xbf"[self.marks]) {
            self.marks += 1;
            piece = &piece[1..];
        }
        if !piece.is_empty() {
            self.marks = 3;
        }
        while let Some(first) = piece.first() {
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                piece = &piece[1..];
                continue;
            }
            match memchr::memchr2(b'\n', b'\r', piece) {
                Some(end) => {
                    self.feed(&piece[..end]);
                    self.returned = piece[end] == b'\r';
                    piece = &piece[end + 1..];
                    self.line(frames);
                }
                None => {
                    self.feed(piece);
                    piece = &[];
                }
            }
        }
    }

    /// The data of an event that no blank line ends, once nothing more will come.
    pub(super) fn end(&mut self) -> Option<Frame> {
        self.finish_line();
        self.data.take()
    }

    /// Takes in a part of a line.
    fn feed(&mut self, mut part: &[u8]) {
        if let At::Name(name) = &mut self.at {
            let colon = memchr::memchr(b':', part);
            let taken = &part[..colon.unwrap_or(part.len())];
            let room = SHORT.saturating_sub(name.len());
            name.extend_from_slice(&taken[..taken.len().min(room)]);
            let Some(colon) = colon else { return };
            part = &part[colon + 1..];
            let field = field(name);
            self.begin(field);
        }
        let At::Value { field, first, short } = &mut self.at else { return };
        if part.is_empty() {
            return;
        }
        if std::mem::take(first) {
            part = part.strip_prefix(b" ").unwrap_or(part);
        }
        match field {
            Field::Data => self.data.push(part),
            Field::Other => {}
            Field::Id | Field::Retry => {
                let room = SHORT.saturating_sub(short.len());
                short.extend_from_slice(&part[..part.len().min(room)]);
            }
        }
    }

    fn begin(&mut self, field: Field) {
        if field == Field::Data {
            if self.lines > 0 {
                self.data.push(b"\n");
            }
            self.lines += 1;
        }
        self.at = At::Value { field, first: true, short: Vec::new() };
    }

    /// A line has ended.
    fn line(&mut self, frames: &mut Vec<Frame>) {
        if matches!(&self.at, At::Name(name) if name.is_empty()) {
            if let Some(id) = self.id.take() {
                self.last_id = Some(String::from_utf8_lossy(&id).into_owned());
            }
            self.lines = 0;
            frames.extend(self.data.take());
            return;
        }
        self.finish_line();
    }

    fn finish_line(&mut self) {
        match std::mem::replace(&mut self.at, At::Name(Vec::new())) {
            // A line without a colon is a field with an empty value.
            At::Name(name) => {
                if field(&name) == Field::Data {
                    self.begin(Field::Data);
                    self.at = At::Name(Vec::new());
                }
            }
            At::Value { field: Field::Id, short, .. } if !short.contains(&0) => self.id = Some(short),
            At::Value { field: Field::Retry, short, .. } => {
                let text =
                    std::str::from_utf8(&short).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                self.retry = text.and_then(|text| text.parse().ok()).map(Duration::from_millis).or(self.retry);
            }
            At::Value { .. } => {}
        }
    }
}

fn field(name: &[u8]) -> Field {
    match name {
        b"data" => Field::Data,
        b"id" => Field::Id,
        b"retry" => Field::Retry,
        _ => Field::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events() -> Events {
        Events::new(Tokens::mint(), Limits { kept: 1_000, read: 10_000 })
    }

    fn all(events: &mut Events, pieces: &[&[u8]]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for piece in pieces {
            events.push(piece, &mut frames);
        }
        frames.extend(events.end());
        frames
    }

    fn whole(text: &str) -> Frame {
        Frame::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn data_lines_are_joined_and_comments_and_names_are_skipped() {
        let input = b"\xef\xbb\xbf: hello\nevent: message\nid: 7\ndata: {\"a\":\ndata: 1}\n\ndata:x\n\n";
        let mut events = events();
        assert_eq!(all(&mut events, &[input]), [whole("{\"a\":\n1}"), whole("x")]);
        assert_eq!(events.last_id(), Some("7"));
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        for end in ["\n", "\r\n", "\r"] {
            let input = format!("data: a{end}data:  b{end}{end}data: c{end}{end}");
            assert_eq!(all(&mut events(), &[input.as_bytes()]), [whole("a\n b"), whole("c")], "{end:?}");
        }
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        let mut events = events();
        assert!(all(&mut events, &[b"id: abc\nretry: 250\ndata:\n\n"]).is_empty());
        assert_eq!((events.last_id(), events.retry()), (Some("abc"), Some(Duration::from_millis(250))));
        let mut bad = self::events();
        assert!(all(&mut bad, &[b"id: a\0b\nretry: 2x\n\n"]).is_empty());
        assert_eq!((bad.last_id(), bad.retry()), (None, None));
    }

    #[test]
    fn an_event_that_nothing_ends_is_handed_out_last() {
        let mut events = events();
        let mut frames = Vec::new();
        events.push(b"data: a\n\ndata: b", &mut frames);
        assert_eq!(frames, [whole("a")]);
        assert_eq!(events.end(), Some(whole("b")));
    }

    #[test]
    fn a_large_event_is_digested_and_an_endless_one_is_a_runaway() {
        let input = format!("data: {}\n\ndata: x\n\n", "y".repeat(2_000));
        let frames = all(&mut events(), &[input.as_bytes()]);
        assert!(matches!(frames.as_slice(), [Frame::Digested(digested), Frame::Whole(_)] if digested.len == 2_000));
        let mut events = events();
        events.push(format!("data: {}", "y".repeat(20_000)).as_bytes(), &mut Vec::new());
        assert!(events.runaway());
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            parts in proptest::collection::vec(
                prop_oneof![Just("\n"), Just("\r"), Just("\r\n"), Just("data"), Just(":"), Just(" "), Just("id: 1"), Just("x"), Just("\u{feff}")],
                0..80,
            ),
            cuts in proptest::collection::vec(0usize..400, 0..30),
        ) {
            let input = parts.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (input.len() + 1)).collect();
            cuts.extend([0, input.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
            let (mut one, mut many) = (events(), events());
            prop_assert_eq!(all(&mut many, &pieces), all(&mut one, &[&input]));
            prop_assert_eq!(many.last_id(), one.last_id());
        }
    }
}
