//! The frozen result of a run and one pure renderer per format.

pub mod result;

pub use result::RunResult;
