//! Where a value came from, and what is wrong with it.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use thiserror::Error;

/// A configuration file that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Its path as shown to the user: relative to the working directory when it lies below it.
    pub shown: String,
    /// The directory it lies in; relative paths in it start there.
    pub dir: PathBuf,
    /// `sealmark.local.yaml`: its texts are secrets.
    pub local: bool,
}

/// A line of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub(crate) source: Arc<Source>,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
}

impl Place {
    /// The file as shown to the user.
    pub fn file(&self) -> &str {
        &self.source.shown
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}", self.source.shown),
            line => write!(out, "{}:{line}", self.source.shown),
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said otherwise.
    Default,
    /// A CI job was detected (only for `profile`).
    Ci,
    /// The selected profile, with the place of a user-defined one.
    Profile(String, Option<Place>),
    /// A configuration file.
    File(Place),
    /// A `SEALMARK_*` variable.
    Variable(String),
    /// A command-line flag, with its dashes.
    Flag(&'static str),
    /// `null` there restored the built-in default.
    Reset(Box<Origin>),
    /// A list that several places appended to.
    Several(Vec<Origin>),
}

impl Origin {
    /// Where relative paths of such a value start.
    pub(crate) fn base<'p>(&'p self, cwd: &'p Path) -> &'p Path {
        match self {
            Self::File(place) | Self::Profile(_, Some(place)) => &place.source.dir,
            Self::Reset(inner) => inner.base(cwd),
            _ => cwd,
        }
    }

    /// The line, when it is one of a file.
    pub(crate) fn line(&self) -> Option<u32> {
        match self {
            Self::File(place) if place.line > 0 => Some(place.line),
            _ => None,
        }
    }

    /// Whether it was read from `sealmark.local.yaml`.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::File(place) => place.source.local,
            Self::Several(all) => all.iter().any(Self::is_local),
            _ => false,
        }
    }

    /// Whether two values were given in one place: one file, all flags, or all variables.
    pub(crate) fn same_place(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(two)) => one.source == two.source,
            (Self::Flag(_), Self::Flag(_)) | (Self::Variable(_), Self::Variable(_)) => true,
            _ => false,
        }
    }

    /// How it stands before an error message; `None` for what the user did not write.
    fn prefix(&self) -> Option<String> {
        match self {
            Self::Default | Self::Ci => None,
            Self::Flag(flag) if *flag != "--" => Some((*flag).to_owned()),
            Self::Profile(_, Some(place)) => Some(place.to_string()),
            other => Some(other.to_string()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("built-in default"),
            Self::Ci => out.write_str("CI detected"),
            Self::Profile(name, None) => write!(out, "profile {name}"),
            Self::Profile(name, Some(place)) => write!(out, "profile {name}, {place}"),
            Self::File(place) => place.fmt(out),
            Self::Variable(name) => out.write_str(name),
            Self::Flag("--") => out.write_str("the words after --"),
            Self::Flag(flag) => write!(out, "flag {flag}"),
            Self::Reset(at) => write!(out, "built-in default, null in {at}"),
            Self::Several(all) => {
                for (index, origin) in all.iter().enumerate() {
                    write!(out, "{}{origin}", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

/// A mistake in what was asked: one line that names the place and the cause, and the next step as [`hint`](Self::hint).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{message}", .place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct ConfigError {
    place: Option<String>,
    message: String,
    hint: Option<String>,
}

impl ConfigError {
    /// A mistake that has no single place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), hint: None }
    }

    /// A mistake at the origin of a value.
    pub(crate) fn at(origin: &Origin, message: impl Into<String>) -> Self {
        Self { place: origin.prefix(), message: message.into(), hint: None }
    }

    /// A mistake in a place that is only known as text.
    pub(crate) fn at_text(place: &str, message: impl Into<String>) -> Self {
        Self { place: (!place.is_empty()).then(|| place.to_owned()), message: message.into(), hint: None }
    }

    /// Adds the next step.
    #[must_use]
    pub(crate) fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the next step when there is one.
    #[must_use]
    pub(crate) fn maybe_hinting(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// `file:line`, the flag or the variable; already part of the message.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// What to do about it, a sentence without a full stop.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
