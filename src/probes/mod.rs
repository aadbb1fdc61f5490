//! The I/O steps that checks share. A probe drives, the session records, nothing here judges.

pub mod drive;
mod invalid_calls;
mod inventory;
mod no_argument_calls;
mod stress;

use std::{future::Future, pin::Pin};

pub use drive::{Drive, Rights};

/// Drives one probe.
pub type Step = for<'a> fn(&'a mut Drive) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One I/O step against one server.
pub struct Probe {
    /// The id its acts carry and checks name in `needs`.
    pub id: &'static str,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// Does it; `None` for the handshake, which opening the session does.
    pub drive: Option<Step>,
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Every probe, in the order they are driven: what may end a process comes last.
pub static ALL: &[Probe] = &[
    Probe { id: "handshake", help: "Opens the server in the eras it may speak.", drive: None },
    Probe {
        id: inventory::ID,
        help: "Lists tools, prompts, resources and templates page by page.",
        drive: Some(|drive| Box::pin(inventory::drive(drive))),
    },
    Probe {
        id: no_argument_calls::ID,
        help: "Calls tools that take nothing and only read, once.",
        drive: Some(|drive| Box::pin(no_argument_calls::drive(drive))),
    },
    Probe {
        id: invalid_calls::ID,
        help: "Calls that the declared schema refuses, as a pipeline per tool.",
        drive: Some(|drive| Box::pin(invalid_calls::drive(drive))),
    },
    Probe {
        id: stress::ID,
        help: "Huge, deep and malformed input after which only survival counts.",
        drive: Some(|drive| Box::pin(stress::drive(drive))),
    },
];

/// The probe with that id.
pub fn probe(id: &str) -> Option<&'static Probe> {
    ALL.iter().find(|probe| probe.id == id)
}
