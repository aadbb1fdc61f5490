//! One frame while it comes in: kept whole up to a bound, beyond that only its digest.

use sha2::{Digest as _, Sha256};

use super::tokens::{Stream, Tokens};
use crate::model::{Hit, Payload};

/// Bytes of one frame that are kept and parsed: the listing bound and some room for the envelope.
pub(super) const KEPT: usize = 32 * 1024 * 1024 + 64 * 1024;
/// Bytes of one frame that are read at all.
pub(super) const READ: u64 = 256 * 1024 * 1024;
/// Bytes of either end that a digest holds.
pub(super) const END: usize = 4096;

/// Where keeping and reading one frame end, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) kept: usize,
    pub(super) read: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { kept: KEPT, read: READ }
    }
}

/// A complete frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// All its bytes.
    Whole(Vec<u8>),
    /// What is left of one too large to keep.
    Digested(Digested),
}

/// A frame that was too large to keep.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Digested {
    pub(super) len: u64,
    pub(super) sha256: String,
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) hits: Vec<Hit>,
}

impl Digested {
    /// The digest of bytes at hand with ends of at most `end` bytes; hits are the caller's.
    pub(super) fn of(bytes: &[u8], end: usize) -> Self {
        Self {
            len: bytes.len() as u64,
            sha256: hex(&Sha256::digest(bytes)),
            head: bytes[..bytes.len().min(end)].to_vec(),
            tail: bytes[bytes.len().saturating_sub(end)..].to_vec(),
            hits: Vec::new(),
        }
    }

    /// The payload that a trace holds.
    pub(super) fn payload(&self) -> Payload {
        Payload::Digest {
            len: self.len,
            sha256: self.sha256.clone(),
            head: String::from_utf8_lossy(&self.head).into_owned(),
            tail: String::from_utf8_lossy(&self.tail).into_owned(),
        }
    }
}

/// Collects the bytes of one frame after the other.
#[derive(Debug)]
pub(super) struct Collector {
    tokens: Tokens,
    limits: Limits,
    kept: Vec<u8>,
    large: Option<Box<Large>>,
}

#[derive(Debug)]
struct Large {
    len: u64,
    hash: Sha256,
    head: Vec<u8>,
    tail: Vec<u8>,
    stream: Stream,
}

impl Collector {
    pub(super) fn new(tokens: Tokens, limits: Limits) -> Self {
        Self { tokens, limits, kept: Vec::new(), large: None }
    }

    /// Appends bytes to the frame.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if let Some(large) = &mut self.large {
            large.push(bytes);
        } else if self.kept.len() + bytes.len() <= self.limits.kept {
            self.kept.extend_from_slice(bytes);
        } else {
            let mut large = Box::new(Large {
                len: 0,
                hash: Sha256::new(),
                head: Vec::new(),
                tail: Vec::new(),
                stream: Stream::new(self.tokens.clone()),
            });
            large.push(&std::mem::take(&mut self.kept));
            large.push(bytes);
            self.large = Some(large);
        }
    }

    /// Whether more was read of this frame than is ever useful.
    pub(super) fn runaway(&self) -> bool {
        self.large.as_ref().is_some_and(|large| large.len > self.limits.read)
    }

    /// What was kept of the frame so far, when it is small enough to be kept.
    pub(super) fn partial(&self) -> &[u8] {
        &self.kept
    }

    /// Ends the frame; none when it has no bytes.
    pub(super) fn take(&mut self) -> Option<Frame> {
        if let Some(mut large) = self.large.take() {
            let hits = large.stream.take();
            return Some(Frame::Digested(Digested {
                len: large.len,
                sha256: hex(&large.hash.finalize()),
                head: large.head,
                tail: large.tail,
                hits,
            }));
        }
        let kept = std::mem::take(&mut self.kept);
        if kept.is_empty() { None } else { Some(Frame::Whole(kept)) }
    }
}

impl Large {
    fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        self.hash.update(bytes);
        self.stream.push(bytes);
        let room = END - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() >= END {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - END..]);
        } else {
            self.tail.extend_from_slice(bytes);
            let surplus = self.tail.len().saturating_sub(END);
            self.tail.drain(..surplus);
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
