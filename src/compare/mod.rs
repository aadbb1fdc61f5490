//! Two results of the same servers → what got worse, what got better, and what an agent is offered differently. Pure, but
//! for the files that reports are read from.

mod comparison;
mod document;
mod drift;
mod drift_offers;
mod drift_schema;
#[cfg(test)]
mod drift_tests;
mod lines;
mod read;
mod read_error;
mod regressions;
mod schema;
mod snapshot;
mod text_diff;

pub use comparison::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison, TextChange};
pub use document::{SCHEMA, document};
pub use drift::drift;
pub use lines::lines;
pub use read::{MAX_BYTES, MAX_RUNS, read_each, read_file, read_files, read_reports};
pub use read_error::{FileError, ReadError};
pub use regressions::compare;
pub use snapshot::{SNAPSHOT, Snapshot, SnapshotError, surface_drift};
pub use text_diff::text_diff;

pub use crate::report::ServerSurface;
