//! Two results of the same servers → what got worse, what got better, and what an agent is offered differently. Pure.

mod comparison;
mod drift;
mod drift_offers;
mod drift_schema;
mod schema;
mod snapshot;
mod text_diff;

pub use comparison::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison, TextChange};
pub use drift::drift;
pub use snapshot::{SNAPSHOT, Snapshot, SnapshotError, surface_drift};
pub use text_diff::text_diff;

pub use crate::report::ServerSurface;
