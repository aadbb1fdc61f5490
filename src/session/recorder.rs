//! The one place where events enter a trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{Act, ActId, Event, EventKind, EventRef, Header, SessionId, Trace};

/// Events kept in one trace; what comes later is counted in one `Bound` event and dropped.
pub const MAX_EVENTS: usize = 400_000;

/// Bytes of ordinary frames and texts kept in one trace; beyond it frames are digested to their ends.
pub const MAX_KEPT: u64 = 48 * 1024 * 1024;
/// Bytes of large frames that are kept whole all the same (listings and handshakes).
pub const MAX_LISTED: u64 = 40 * 1024 * 1024;

/// A shared handle to the trace being written. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    trace: Trace,
    sessions: u16,
    full: bool,
    kept: u64,
    listed: u64,
    spent: bool,
}

impl Recorder {
    /// Starts an empty trace.
    pub fn new(header: Header) -> Self {
        Self(Arc::new(Mutex::new(Log {
            trace: Trace::new(header),
            sessions: 0,
            full: false,
            kept: 0,
            listed: 0,
            spent: false,
        })))
    }

    /// A number for a new session.
    pub fn session(&self) -> SessionId {
        let mut log = self.lock();
        let number = log.sessions;
        log.sessions = log.sessions.saturating_add(1);
        SessionId(number)
    }

    /// Notes what is about to be done; events refer to it.
    pub fn act(&self, act: Act) -> ActId {
        let mut log = self.lock();
        log.trace.acts.push(act);
        ActId((log.trace.acts.len() - 1) as u32)
    }

    /// Appends an event. Past [`MAX_EVENTS`] the reference points at the `Bound` event instead.
    pub fn push(&self, session: SessionId, act: Option<ActId>, kind: EventKind) -> EventRef {
        let mut log = self.lock();
        if log.trace.events.len() >= MAX_EVENTS {
            if !log.full {
                log.full = true;
                let kind = EventKind::Bound { what: "events kept".to_owned(), limit: MAX_EVENTS as u64 };
                log.trace.events.push(Event { session, act: None, kind });
            }
            return EventRef((log.trace.events.len() - 1) as u32);
        }
        log.trace.events.push(Event { session, act, kind });
        EventRef((log.trace.events.len() - 1) as u32)
    }

    /// Whether `bytes` more of an ordinary frame may be kept; the first refusal is recorded as a `Bound`.
    pub fn afford(&self, session: SessionId, bytes: usize) -> bool {
        let mut log = self.lock();
        if log.kept + bytes as u64 <= MAX_KEPT {
            log.kept += bytes as u64;
            return true;
        }
        if !std::mem::replace(&mut log.spent, true) {
            let kind = EventKind::Bound { what: "bytes kept in the record".to_owned(), limit: MAX_KEPT };
            log.trace.events.push(Event { session, act: None, kind });
        }
        false
    }

    /// Whether `bytes` more of a large frame may be kept whole.
    pub fn afford_listing(&self, bytes: usize) -> bool {
        let mut log = self.lock();
        let fits = log.listed + bytes as u64 <= MAX_LISTED;
        if fits {
            log.listed += bytes as u64;
        }
        fits
    }

    /// Changes the header.
    pub fn header(&self, change: impl FnOnce(&mut Header)) {
        change(&mut self.lock().trace.header);
    }

    /// Reads the trace so far.
    pub fn read<T>(&self, reader: impl FnOnce(&Trace) -> T) -> T {
        reader(&self.lock().trace)
    }

    /// Takes the finished trace; what is recorded afterwards is lost.
    pub fn take(&self) -> Trace {
        std::mem::replace(&mut self.lock().trace, Trace::new(Header::default()))
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
