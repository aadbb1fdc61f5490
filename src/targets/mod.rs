//! What the harness owns (only what the session needs, until the targets room is merged).

mod process;

pub use process::{Child, Exit, Spawn, TargetError};
