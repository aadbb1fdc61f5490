//! Two results of the same servers → what got worse, what got better, and what an agent is offered differently. Pure.

mod comparison;

pub use comparison::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison, TextChange};
