//! Untrusted text made safe for one destination each; placeholders and redaction.

mod excerpt;
mod hidden;
pub mod html;
pub mod markdown;
mod redact;
mod spelling;
pub mod terminal;
pub mod workflow;
pub mod xml;

pub use excerpt::excerpt;
pub use hidden::is_hidden;
pub use redact::Redactor;
