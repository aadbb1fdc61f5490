//! What a server offers differently.

use super::Drift;
use crate::report::result::ServerFacts;

/// Every change of the surface.
pub fn drift(_before: &ServerFacts, _after: &ServerFacts) -> Vec<Drift> {
    Vec::new()
}
