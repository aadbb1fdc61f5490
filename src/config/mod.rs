//! What was asked: raw file shape with positions → resolved settings with origins.

pub mod settings;

pub use settings::Settings;
