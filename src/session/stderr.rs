//! A server's stderr: always drained, kept up to a bound, its end at hand for the report of a failed start.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::{
    inbox::{Inbox, Keep},
    tokens::Stream,
};
use crate::model::{EventKind, Payload};

/// Bytes of one event.
const PIECE: usize = 8 * 1024;
/// Bytes kept as events in one session.
const KEPT: usize = 256 * 1024;
/// Bytes of the end that stay at hand.
const RING: usize = 64 * 1024;
/// Events that hold a token and nothing else, past the bound.
const LATE_HITS: usize = 16;

/// The last bytes of a stderr. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Ring(Arc<Mutex<VecDeque<u8>>>);

impl Ring {
    fn push(&self, bytes: &[u8]) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &bytes[bytes.len().saturating_sub(RING)..];
        let surplus = (ring.len() + bytes.len()).saturating_sub(RING);
        ring.drain(..surplus);
        ring.extend(bytes);
    }

    /// Its text, lossy.
    pub(super) fn text(&self) -> String {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(ring.make_contiguous()).into_owned()
    }
}

/// Cuts a stream into events of whole lines and counts what is kept.
struct Pieces<'i> {
    inbox: &'i Inbox,
    stream: Stream,
    waiting: Vec<u8>,
    kept: usize,
    full: bool,
    late: usize,
}

/// Reads until the end.
pub(super) async fn drain(mut stderr: impl AsyncRead + Unpin, ring: Ring, inbox: Inbox) {
    let stream = Stream::new(inbox.tokens.clone());
    let mut pieces = Pieces { inbox: &inbox, stream, waiting: Vec::new(), kept: 0, full: false, late: 0 };
    let mut piece = vec![0; PIECE];
    loop {
        match stderr.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                ring.push(&piece[..count]);
                pieces.push(&piece[..count]);
            }
        }
    }
    pieces.flush(true);
}

impl Pieces<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        self.flush(false);
    }

    /// Emits whole lines, or all that waits.
    fn flush(&mut self, all: bool) {
        loop {
            let window = &self.waiting[..self.waiting.len().min(PIECE)];
            let end = match memchr::memrchr(b'\n', window) {
                Some(at) => at + 1,
                None if self.waiting.len() >= PIECE || all => window.len(),
                None => return,
            };
            if end == 0 {
                return;
            }
            let rest = self.waiting.split_off(end);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.emit(piece);
        }
    }

    fn emit(&mut self, piece: Vec<u8>) {
        self.stream.push(&piece);
        let hits = self.stream.take();
        if self.kept + piece.len() <= KEPT && !self.full {
            self.kept += piece.len();
            let text = self.inbox.payload(piece, Keep::Exchange);
            self.inbox.push(None, EventKind::Stderr { text, hits });
            return;
        }
        if !self.full {
            self.full = true;
            self.inbox.push(None, EventKind::Bound { what: "bytes of stderr kept".to_owned(), limit: KEPT as u64 });
        }
        if !hits.is_empty() && self.late < LATE_HITS {
            self.late += 1;
            self.inbox.push(None, EventKind::Stderr { text: Payload::Text(String::new()), hits });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Header, TokenKind},
        session::{Recorder, tokens::Tokens},
    };

    fn recorded(input: &[u8], tokens: &Tokens) -> (Vec<EventKind>, String) {
        let recorder = Recorder::new(Header::default());
        let inbox = Inbox::new(recorder.session(), recorder.clone(), tokens.clone());
        let ring = Ring::default();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(drain(input, ring.clone(), inbox));
        (recorder.take().events.into_iter().map(|event| event.kind).collect(), ring.text())
    }

    #[test]
    fn events_are_whole_lines_and_the_rest_comes_at_the_end() {
        let tokens = Tokens::mint();
        let mut input = vec![b'a'; 5_000];
        input.push(b'\n');
        input.extend_from_slice(&[b'b'; 5_000]);
        let (events, ring) = recorded(&input, &tokens);
        let lengths: Vec<usize> = events
            .iter()
            .map(|event| match event {
                EventKind::Stderr { text, .. } => text.text().len(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lengths, [5_001, 5_000]);
        assert_eq!(ring.len(), input.len());
    }

    #[test]
    fn a_flood_is_bounded_and_a_token_behind_it_is_still_seen() {
        let tokens = Tokens::mint();
        let mut input = b"spam spam spam\n".repeat(1_000_000);
        input.extend_from_slice(tokens.value(TokenKind::FakeApiKey).as_bytes());
        let (events, ring) = recorded(&input, &tokens);
        assert_eq!(ring.len(), RING);
        assert!(ring.ends_with(tokens.value(TokenKind::FakeApiKey)));
        assert!(events.len() < 100);
        assert!(matches!(events.last(), Some(EventKind::Stderr { hits, .. }) if hits.len() == 1));
        assert!(events.iter().any(|event| matches!(event, EventKind::Bound { .. })));
    }
}
