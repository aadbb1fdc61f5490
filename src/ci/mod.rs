//! CI platforms: what is detected, what is written for them, what is published.

mod context;
pub mod jobs;
mod notice;
mod publication;

pub use context::{Capabilities, Capability, Context, Event, Platform, PullRequest};
pub use notice::Notice;
pub use publication::{BadgePlace, BaselineFrom, Options, Publication, Published, When};
