//! End to end, as a user runs it: exit codes, messages, formats, places. The environment is scrubbed; servers are toys.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bench;
mod compare;
mod detect;
mod endpoints;
mod fleet;
mod gate;
mod mistakes;
mod places;
mod publish;
mod reports;
mod servers;
mod signals;
mod surface;
mod uncompared;
