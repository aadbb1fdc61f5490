//! How replies to calls that must be refused are read: shared by `robust-input` and `refusal-quality`.

pub(super) mod leaks;
pub(super) mod lines;
pub(super) mod matcher;
pub(super) mod outcome;
pub(super) mod reading;
pub(super) mod refusals;
#[cfg(test)]
pub(super) mod script;
pub(super) mod survival;
pub(super) mod used;
