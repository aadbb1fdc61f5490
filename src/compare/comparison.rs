//! What a comparison found: data that lines, documents, comments and the gate are made from.

use std::collections::BTreeMap;

use serde::Serialize;

/// A comparison of one invocation's servers with a baseline. Every string may hold a server's words, unescaped.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The servers of the later side, in its order; then those of the baseline that were not graded now.
    pub servers: Vec<ServerComparison>,
    /// What concerns no single server, each a sentence.
    pub notes: Vec<String>,
    /// The names that the baseline holds; `None` where the runs were compared with a snapshot alone.
    pub held: Option<Vec<String>>,
}

/// One server against itself, matched by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerComparison {
    /// The server's name.
    pub name: String,
    /// Pack id → letter in the baseline, `None` where the pack was not graded; `None` as a whole when the baseline does
    /// not hold the server.
    pub before: Option<BTreeMap<String, Option<char>>>,
    /// What got worse, in the order of packs and checks.
    pub regressions: Vec<Change>,
    /// What got better.
    pub improvements: Vec<Change>,
    /// What cannot be ranked or limits the comparison (another configuration or methodology), each a sentence.
    pub notes: Vec<String>,
    /// What the server offers differently, breaking first.
    pub drift: Vec<Drift>,
    /// What limits the comparison with a snapshot, each a sentence.
    pub snapshot_notes: Vec<String>,
    /// No verdict could be compared: the baseline does not hold the server, or only a run of it that was not graded.
    pub without_grades: bool,
    /// What the server offers could not be compared.
    pub without_surface: bool,
}

/// A pack's letter or a check's verdict that changed its rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The pack.
    pub pack: String,
    /// The check, when it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The earlier letter or verdict, or `not graded`.
    pub before: String,
    /// The later one.
    pub after: String,
}

/// How much a change of the surface matters to the agents that use the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftLevel {
    /// A call or a reply that was valid can be refused now.
    Breaking,
    /// What a model reads or may do changed.
    Notable,
    /// Nobody has to act.
    Info,
}

impl DriftLevel {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Notable => "notable",
            Self::Info => "info",
        }
    }
}

/// The kind of thing that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// The server itself: instructions, capabilities, protocol revisions, version.
    Server,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A resource template.
    ResourceTemplate,
}

/// One change of the surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// How much it matters.
    pub level: DriftLevel,
    /// What kind of thing changed.
    pub offer: Offer,
    /// Its name or URI; empty for the server itself.
    pub name: String,
    /// A stable word for the change, for programs (`tool-removed`, `parameter-required`, `description-changed`).
    pub kind: &'static str,
    /// The change in a sentence fragment without texts of the server other than names
    /// (`parameter path: type string → integer`).
    pub detail: String,
    /// The text before and after, where both sides kept it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextChange>,
}

/// A text that changed, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// The earlier text.
    pub before: String,
    /// The later one.
    pub after: String,
}

impl Comparison {
    /// Whether anything got worse.
    pub fn regressed(&self) -> bool {
        self.servers.iter().any(|server| !server.regressions.is_empty())
    }

    /// Whether a surface changed in a way that somebody should look at.
    pub fn drifted(&self) -> bool {
        self.servers.iter().flat_map(|server| &server.drift).any(|drift| drift.level < DriftLevel::Info)
    }

    /// Whether every server was compared and is as it was.
    pub fn unchanged(&self) -> bool {
        let same = |server: &ServerComparison| {
            server.before.is_some()
                && server.regressions.is_empty()
                && server.improvements.is_empty()
                && server.notes.is_empty()
                && server.snapshot_notes.is_empty()
                && server.drift.is_empty()
        };
        self.notes.is_empty() && self.servers.iter().all(same)
    }

    /// Whether a verdict of any server was compared with an earlier one.
    pub fn has_grades(&self) -> bool {
        self.servers.iter().any(|server| !server.without_grades)
    }

    /// Whether what any server offers was compared with what it offered.
    pub fn has_surface(&self) -> bool {
        self.servers.iter().any(|server| !server.without_surface)
    }

    /// Leaves out servers that were not to be compared.
    pub fn keep_servers(&mut self, keep: impl Fn(&str) -> bool) {
        self.servers.retain(|server| keep(&server.name));
    }

    /// The comparison of a server.
    pub fn server(&self, name: &str) -> Option<&ServerComparison> {
        self.servers.iter().find(|server| server.name == name)
    }
}
