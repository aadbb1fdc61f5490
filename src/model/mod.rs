//! Data only: what was recorded, what was decided. Nothing here does I/O and nothing here judges.

pub mod revision;
pub mod surface;
pub mod token;
pub mod trace;
pub mod verdict;
pub mod weight;

pub use revision::{Era, Revision};
pub use surface::{Greeting, Listing, Surface, Tool};
pub use token::{Encoding, Hit, TokenKind};
pub use trace::{
    Act, ActId, ENDED_BY_ITSELF, Event, EventKind, EventRef, Header, Outcome, Override, Payload, Role, SessionId, Trace,
};
pub use verdict::{Judgement, Line, PackStatus, Severity, Verdict};
