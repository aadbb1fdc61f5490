//! The registry: every pack and check of this build, in report order. The only description of a check.

pub mod core;

use crate::check::{Check, Pack};

/// The methodology these checks implement; stands on every report and badge.
pub const METHODOLOGY: &str = "0.3-draft";

/// Every pack in report order.
pub static ALL: &[&Pack] = &[&core::PACK];

/// The pack with that id.
pub fn pack(id: &str) -> Option<&'static Pack> {
    ALL.iter().copied().find(|pack| pack.id == id)
}

/// Every check with its pack, in report order.
pub fn checks() -> impl Iterator<Item = (&'static Pack, &'static Check)> {
    ALL.iter().flat_map(|pack| pack.checks.iter().map(move |check| (*pack, *check)))
}

/// The check with that id and its pack.
pub fn check(id: &str) -> Option<(&'static Pack, &'static Check)> {
    checks().find(|(_, check)| check.id == id)
}
