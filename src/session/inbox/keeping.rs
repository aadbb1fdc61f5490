//! How much of a frame the record keeps.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::Inbox;
use crate::{
    model::{Payload, Role},
    session::frame::{Digested, END},
};

/// Bytes of a frame kept whole, listings and handshakes apart.
pub(super) const WHOLE: usize = 256 * 1024;
/// Bytes of a message that answers nothing of ours kept whole.
const ASIDE: usize = 4 * 1024;
/// Bytes of a frame of ours kept whole: only stress input is larger, and its ends say what it is.
const OURS: usize = 16 * 1024;
/// Bytes of either end, and of readable text, once the record's budget is spent.
pub(super) const SPARE: usize = 512;

/// A frame whose place in the record is not known yet.
pub(super) enum Raw {
    Bytes(Vec<u8>),
    Digest(Payload),
}

/// How much of a frame is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Keep {
    /// Anything up to the bound of a listing.
    Listing,
    /// An ordinary exchange.
    Exchange,
    /// What the server says besides.
    Aside,
    /// What we send.
    Ours,
}

impl Inbox {
    /// Whether a request is one whose reply is kept whole at any size.
    pub(super) fn listing(&self, key: &str) -> bool {
        let (act, kept) = {
            let state = self.lock();
            let Some(entry) = state.requests.get(key) else { return false };
            let kept = entry
                .method
                .as_deref()
                .is_some_and(|method| matches!(method, "initialize" | "server/discover") || method.ends_with("/list"));
            (entry.act, kept)
        };
        let role = self.recorder.read(|trace| trace.acts.get(act.0 as usize).map(|act| act.role));
        kept && matches!(role, Some(Role::Handshake | Role::Listing))
    }

    pub(super) fn kept(&self, frame: Raw, keep: Keep) -> Payload {
        match frame {
            Raw::Bytes(bytes) => self.payload(bytes, keep),
            Raw::Digest(payload) => payload,
        }
    }

    /// The payload of a frame at hand: whole when it is small enough and affordable.
    pub(in crate::session) fn payload(&self, bytes: Vec<u8>, keep: Keep) -> Payload {
        let len = bytes.len();
        let whole = if len <= SPARE * 2 {
            true
        } else if keep == Keep::Aside && len > ASIDE || keep == Keep::Ours && len > OURS {
            false
        } else if len <= WHOLE {
            self.recorder.afford(self.session, len)
        } else {
            keep == Keep::Listing && self.recorder.afford_listing(len)
        };
        if whole {
            return match String::from_utf8(bytes) {
                Ok(text) => Payload::Text(text),
                Err(error) => Payload::Base64(STANDARD.encode(error.as_bytes())),
            };
        }
        let roomy =
            !matches!(keep, Keep::Aside | Keep::Ours) && len > WHOLE && self.recorder.afford(self.session, 2 * END);
        Digested::of(&bytes, if roomy { END } else { SPARE }).payload()
    }
}
