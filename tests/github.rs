//! The GitHub adapter against a GitHub that keeps state; `tests/ci/github/run.py` puts GitHub's own description between them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "ci/github/artifacts.rs"]
mod artifacts;
#[path = "ci/github/badges.rs"]
mod badges;
#[path = "ci/github/comments.rs"]
mod comments;
#[path = "ci/github/faults.rs"]
mod faults;
#[path = "ci/github/scanning.rs"]
mod scanning;
#[path = "ci/github/world.rs"]
mod world;
