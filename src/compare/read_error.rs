//! Why a file is not taken for a report, and what to do about it.

use std::{io, path::PathBuf};

use super::read::{MAX_BYTES, MAX_RUNS};

/// Why bytes or a file were not taken for a report. Texts of the file are quoted as short excerpts.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("it could not be read: {0}")]
    Io(#[from] io::Error),
    /// A directory, a pipe, a device.
    #[error("it is {0} and not a regular file")]
    NotAFile(&'static str),
    /// More bytes than are read.
    #[error("it is larger than {} MiB, which is more than any report has", MAX_BYTES >> 20)]
    TooLarge,
    /// More values than are parsed.
    #[error("it holds more values than any report has")]
    TooHeavy,
    /// Objects or arrays in one another, beyond any report.
    #[error("its values are nested {0} deep, which no report is")]
    TooDeep(u32),
    /// No JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// The beginning of a JSON document.
    #[error("it is cut off: the JSON ends in the middle")]
    Truncated,
    /// JSON that does not say what it is.
    #[error("{place}it has no `schema`, so it is no report of sealmark")]
    NoSchema {
        /// Which run of a list (`runs[3]: `), else empty.
        place: String,
    },
    /// Another document of ours, or somebody else's.
    #[error("{place}it is {what}, and a JSON report is needed")]
    OtherKind {
        /// Which run of a list (`runs[3]: `), else empty.
        place: String,
        /// What it is instead.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A report of a later version.
    #[error("{place}its schema is sealmark.report/{schema}, and this version reads sealmark.report/1")]
    Newer {
        /// Which run of a list (`runs[3]: `), else empty.
        place: String,
        /// The version of the schema.
        schema: u64,
        /// The version of sealmark that says to have written it.
        written_by: Option<String>,
    },
    /// A member is missing or is not what it must be.
    #[error("{place}it is not a valid report: {reason}")]
    Shape {
        /// Which run of a list (`runs[3]: `), else empty.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `runs` is empty.
    #[error("it holds no server")]
    NoRun,
    /// `runs` is too long.
    #[error("it holds {0} runs, and at most {MAX_RUNS} are read")]
    TooManyRuns(usize),
    /// Reports of several versions of the rules.
    #[error("the reports are of two methodologies, {first} and {other}")]
    Methodologies {
        /// That of the first report.
        first: String,
        /// That of a later one.
        other: String,
    },
    /// Two runs of one server.
    #[error("the server {0} is in it twice")]
    Twice(String),
    /// A server that an earlier file of several holds.
    #[error("the server {name} is in {} too", first.display())]
    InAnother {
        /// The server.
        name: String,
        /// The file.
        first: PathBuf,
    },
}

impl ReadError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        const MAKE: &str = "`sealmark run --format json --out FILE` writes a report";
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::NotFound => format!("check the path; {MAKE}"),
            Self::Io(_) => "name a file that can be read".to_owned(),
            Self::NotAFile(_) => "save it to a file first, and name that".to_owned(),
            Self::NotJson(_) | Self::NoSchema { .. } => MAKE.to_owned(),
            Self::Truncated => "write or download it again: the run may have been stopped or the disk full".to_owned(),
            Self::OtherKind { hint, .. } => (*hint).to_owned(),
            Self::Newer { written_by: Some(version), .. } => {
                format!("use the sealmark that wrote it ({version}) or a later one")
            }
            Self::Newer { written_by: None, .. } => "use a newer sealmark".to_owned(),
            Self::TooLarge | Self::TooHeavy | Self::TooManyRuns(_) => {
                "write several reports, each of fewer servers".to_owned()
            }
            Self::NoRun => {
                "a share of the servers that is empty (--shard) leaves such a report: put the reports of all \
                            shares into one with `sealmark merge`, and name that"
                    .to_owned()
            }
            Self::TooDeep(_) | Self::Shape { .. } => {
                format!("it was changed after it was written, or something else wrote it; {MAKE}")
            }
            Self::Methodologies { .. } => {
                "grade all of them with one version of sealmark: letters of two do not compare".to_owned()
            }
            Self::Twice(_) | Self::InAnother { .. } => {
                "servers are told apart by name: keep one report of each".to_owned()
            }
        }
    }
}

/// A file that was not taken for a report.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct FileError {
    /// The file as it was named.
    pub path: PathBuf,
    /// Why.
    pub why: ReadError,
}

impl FileError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        self.why.hint()
    }
}
