//! Reading stdout by lines: every line becomes a frame, none is skipped, none can grow without bound.

use super::{
    frame::{Collector, Frame, Limits},
    tokens::Tokens,
};

/// Splits a byte stream into lines; carriage returns before the line feed and blank lines are dropped.
#[derive(Debug)]
pub(super) struct Lines {
    collector: Collector,
}

impl Lines {
    pub(super) fn new(tokens: Tokens, limits: Limits) -> Self {
        Self { collector: Collector::new(tokens, limits) }
    }

    /// Feeds the next piece and appends the lines it completes.
    pub(super) fn push(&mut self, mut piece: &[u8], frames: &mut Vec<Frame>) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.collector.push(&piece[..end]);
            frames.extend(self.take());
            piece = &piece[end + 1..];
        }
        self.collector.push(piece);
    }

    /// What follows the last line end, once nothing more will come.
    pub(super) fn end(&mut self) -> Option<Frame> {
        self.take()
    }

    /// A complete JSON object that waits for its line end, taken out of the line when there is one.
    pub(super) fn unterminated(&mut self) -> Option<Frame> {
        let partial = self.collector.partial();
        let closed = partial.trim_ascii_end().ends_with(b"}");
        if closed && serde_json::from_slice::<serde::de::IgnoredAny>(partial).is_ok() { self.take() } else { None }
    }

    /// Whether the current line is longer than is ever read.
    pub(super) fn runaway(&self) -> bool {
        self.collector.runaway()
    }

    fn take(&mut self) -> Option<Frame> {
        match self.collector.take()? {
            Frame::Whole(mut line) => {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                if line.trim_ascii().is_empty() { None } else { Some(Frame::Whole(line)) }
            }
            digested => Some(digested),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::TokenKind, session::frame::END};
    use proptest::prelude::*;

    fn lines(limits: Limits) -> Lines {
        Lines::new(Tokens::mint(), limits)
    }

    fn all(lines: &mut Lines, pieces: &[&[u8]]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for piece in pieces {
            lines.push(piece, &mut frames);
        }
        frames.extend(lines.end());
        frames
    }

    fn whole(text: &str) -> Frame {
        Frame::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn crlf_is_a_line_end_and_blank_lines_are_dropped() {
        let frames = all(&mut lines(Limits::default()), &[b"a\r\n\n  \r\nb\nc"]);
        assert_eq!(frames, [whole("a"), whole("b"), whole("c")]);
    }

    #[test]
    fn a_line_beyond_the_bound_is_digested_and_the_next_one_is_whole() {
        let mut input = vec![b'x'; 40_000];
        input[..10].copy_from_slice(b"{\"id\":7,  ");
        let expected = Digested::of(&input, END);
        input.extend_from_slice(b"\nnext\n");
        let limits = Limits { kept: 10_000, read: 1_000_000 };
        let pieces: Vec<&[u8]> = input.chunks(777).collect();
        let frames = all(&mut lines(limits), &pieces);
        assert_eq!(frames, [Frame::Digested(expected), whole("next")]);
    }

    #[test]
    fn a_token_across_two_pieces_of_a_digested_line_is_found() {
        let tokens = Tokens::mint();
        let mut text = vec![b'.'; 20_000];
        text.extend_from_slice(tokens.value(TokenKind::Canary).as_bytes());
        text.extend_from_slice(&[b'.'; 5_000]);
        let mut lines = Lines::new(tokens, Limits { kept: 100, read: 1_000_000 });
        let pieces: Vec<&[u8]> = text.chunks(20_010).collect();
        let frames = all(&mut lines, &pieces);
        let [Frame::Digested(digested)] = frames.as_slice() else { panic!("{frames:?}") };
        assert_eq!(digested.hits.len(), 1);
    }

    #[test]
    fn an_endless_line_is_called_a_runaway_at_its_bound_only() {
        let mut lines = lines(Limits { kept: 100, read: 1_000 });
        let mut frames = Vec::new();
        lines.push(&[b'x'; 1_000], &mut frames);
        assert!(!lines.runaway());
        lines.push(b"x", &mut frames);
        assert!(lines.runaway() && frames.is_empty());
    }

    #[test]
    fn only_a_complete_object_is_taken_before_its_line_end() {
        let mut lines = lines(Limits::default());
        let mut frames = Vec::new();
        lines.push(b"{\"id\":1,\"result\":{}", &mut frames);
        assert_eq!(lines.unterminated(), None);
        lines.push(b"}", &mut frames);
        assert_eq!(lines.unterminated(), Some(whole("{\"id\":1,\"result\":{}}")));
        lines.push(b"\n", &mut frames);
        assert!(frames.is_empty(), "the late line end is a blank line");
    }

    use crate::session::frame::Digested;

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            input in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'"'), any::<u8>()], 0..400),
            cuts in proptest::collection::vec(0usize..400, 0..30),
        ) {
            let limits = Limits { kept: 50, read: 10_000 };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (input.len() + 1)).collect();
            cuts.extend([0, input.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
            prop_assert_eq!(all(&mut lines(limits), &pieces), all(&mut lines(limits), &[&input]));
        }
    }
}
