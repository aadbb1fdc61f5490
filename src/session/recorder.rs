//! The one place where events enter a trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{Act, ActId, Event, EventKind, EventRef, Header, SessionId, Trace};

/// Events kept in one trace; what comes later is counted in one `Bound` event and dropped.
pub const MAX_EVENTS: usize = 400_000;

/// A shared handle to the trace being written. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    trace: Trace,
    sessions: u16,
    full: bool,
}

impl Recorder {
    /// Starts an empty trace.
    pub fn new(header: Header) -> Self {
        Self(Arc::new(Mutex::new(Log { trace: Trace::new(header), sessions: 0, full: false })))
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
