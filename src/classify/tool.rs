//! The class of a tool: what kind of target one of its parameters takes, how sure that is, and why.

mod facts;

use std::collections::BTreeMap;

use self::facts::{Claim, Facts};
use super::parameters::{Parameter, text_parameters};
use crate::model::{Override, Tool};

/// What a tool takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolClass {
    /// An SQL statement.
    Sql,
    /// A git repository's directory.
    Git,
    /// A command to run.
    Command,
    /// A path of a file or directory.
    Path,
    /// A URL to fetch.
    Url,
    /// Text that names none of these.
    Text,
    /// No text at all.
    Opaque,
}

impl ToolClass {
    /// The word in reports and in `tools.overrides`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Git => "git",
            Self::Command => "command",
            Self::Path => "path",
            Self::Url => "url",
            Self::Text => "text",
            Self::Opaque => "opaque",
        }
    }

    /// The class with that word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Sql, Self::Git, Self::Command, Self::Path, Self::Url, Self::Text, Self::Opaque]
            .into_iter()
            .find(|class| class.as_str() == word)
    }

    fn thing(self) -> &'static str {
        match self {
            Self::Sql => "SQL",
            Self::Git => "a git repository",
            Self::Command => "a command",
            Self::Path => "a path",
            Self::Url => "a URL",
            Self::Text | Self::Opaque => "text",
        }
    }
}

/// How sure a class is. Packs beyond core want at least `Medium`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess: the core checks only.
    Low,
    /// The name alone, or the description alone, says so.
    Medium,
    /// The name says so and nothing speaks against it, or several things agree.
    High,
    /// The configuration says so.
    Set,
}

impl Confidence {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Set => "set",
        }
    }
}

/// A tool's class with its grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// What it takes.
    pub kind: ToolClass,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why, in a sentence fragment.
    pub reason: String,
    /// The parameter that decides it (`path`, `params.path`).
    pub parameter: Option<String>,
    /// Another class one of its parameters has (at least at medium confidence), with that parameter.
    pub secondary: Option<(ToolClass, String)>,
}

/// Classifies a tool by its parameters' names and formats, with descriptions and the tool's name in support.
/// `overrides` (by exact tool name) wins; an unknown word is ignored. A parameter it names must exist and take text.
pub fn classify(tool: &Tool, overrides: &BTreeMap<String, Override>) -> Class {
    let parameters = text_parameters(tool);
    let facts = Facts::of(tool, &parameters);
    let mut claims: Vec<Claim<'_>> = parameters.iter().flat_map(|parameter| facts.claims(parameter)).collect();
    // Surest first; then in the order of the classes, then of the schema (the sort is stable).
    claims.sort_by(|left, right| right.confidence.cmp(&left.confidence).then(left.class.cmp(&right.class)));

    let set = overrides.get(&tool.name);
    if let Some((set, kind)) = set.and_then(|set| Some((set, ToolClass::parse(&set.class)?))) {
        let takes_parameter = !matches!(kind, ToolClass::Text | ToolClass::Opaque);
        let claimed = claims.iter().find(|claim| claim.class == kind).map(|claim| claim.parameter);
        let parameter = match set.params.get(kind.as_str()) {
            Some(named) => parameters.iter().find(|parameter| parameter.name == *named),
            None => claimed.or_else(|| parameters.first()),
        };
        let parameter = parameter.filter(|_| takes_parameter);
        let reason = if takes_parameter { "set in `tools.overrides`" } else { "core only: set in `tools.overrides`" };
        return Class {
            kind,
            confidence: Confidence::Set,
            reason: reason.to_owned(),
            parameter: parameter.map(|parameter| parameter.name.clone()),
            secondary: None,
        };
    }
    let Some(best) = claims.first() else { return nothing_named(&parameters) };
    let secondary = claims.iter().skip(1).find(|claim| {
        let counts = match best.class {
            // The git pack fills the file parameters of its tools itself.
            ToolClass::Git => claim.class == ToolClass::Url,
            _ => matches!(claim.class, ToolClass::Url | ToolClass::Path | ToolClass::Sql),
        };
        counts
            && claim.class != best.class
            && claim.parameter.name != best.parameter.name
            && claim.confidence >= Confidence::Medium
    });
    let reason = if best.confidence == Confidence::Low {
        format!("core only: {}; a guess, which `tools.overrides` can correct", best.reason)
    } else {
        best.reason.clone()
    };
    Class {
        kind: best.class,
        confidence: best.confidence,
        reason,
        parameter: Some(best.parameter.name.clone()),
        secondary: secondary.map(|claim| (claim.class, claim.parameter.name.clone())),
    }
}

fn nothing_named(parameters: &[Parameter]) -> Class {
    let (kind, reason) = if parameters.is_empty() {
        (ToolClass::Opaque, "core only: no parameter takes free text")
    } else {
        let reason = "core only: it takes text, but no parameter names a path, URL, command, SQL or repository; `tools.overrides` can correct that";
        (ToolClass::Text, reason)
    };
    Class { kind, confidence: Confidence::Low, reason: reason.to_owned(), parameter: None, secondary: None }
}

#[cfg(test)]
mod tests;
