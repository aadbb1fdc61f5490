//! `sealmark.report/1`: the frozen record of one run that every renderer reads. Fields may be added, never changed.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use serde::{
    Deserialize, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

use super::{quote::Quote, surface::ServerSurface};
pub use crate::model::PackStatus;
use crate::model::{Severity, Verdict};

/// The format's name, the first member of a report.
pub const SCHEMA: &str = "sealmark.report/1";

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// At least one pack has a letter.
    Graded,
    /// The run ended by itself and no pack has a letter.
    NothingGraded,
    /// The server could not be started or the harness failed.
    Failed,
    /// A signal ended it.
    Interrupted,
}

/// The record of one run against one server. Every string is already redacted; none is escaped for a destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The build that made it.
    pub sealmark: Build,
    /// The server's display name.
    pub name: String,
    /// The server's version: configured, else as it reports itself.
    pub version: Option<String>,
    /// What the run came to.
    pub status: Status,
    /// RFC 3339, UTC, milliseconds.
    pub started_at: String,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// The server.
    pub server: ServerFacts,
    /// The configuration.
    pub config: ConfigFacts,
    /// The sandbox.
    pub sandbox: SandboxFacts,
    /// Tools and their classes, in listing order.
    pub classification: Vec<Classified>,
    /// Packs by id, in registry order.
    pub packs: Packs,
    /// How much was exercised.
    pub coverage: Coverage,
    /// Whether a badge may show letters.
    pub badge: Badge,
    /// What the run does not cover, each line a sentence.
    pub not_covered: Vec<String>,
    /// Things the user should know, each a sentence.
    pub warnings: Vec<String>,
    /// Whether a signal ended the run.
    pub interrupted: bool,
    /// The reason of a failed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where the failed server's stderr was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_file: Option<String>,
}

/// Packs by id; a list of pairs so that the registry's order survives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Packs(pub Vec<(String, PackResult)>);

impl Serialize for Packs {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, pack)| (id, pack)))
    }
}

impl<'de> Deserialize<'de> for Packs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PacksVisitor)
    }
}

/// Takes pack by pack: nearly all of a report lies here, and holding it twice would be felt in a fleet.
struct PacksVisitor;

impl<'de> Visitor<'de> for PacksVisitor {
    type Value = Packs;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("packs by id")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Packs, A::Error> {
        let (mut packs, mut seen) = (Vec::new(), HashSet::new());
        while let Some((id, pack)) = map.next_entry::<String, PackResult>()? {
            if !seen.insert(id.clone()) {
                return Err(serde::de::Error::custom("a pack is there twice"));
            }
            packs.push((id, pack));
        }
        Ok(Packs(packs))
    }
}

/// The build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// sealmark's version.
    pub version: String,
    /// The methodology's id.
    pub methodology: String,
}

/// What is known of the server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFacts {
    /// `stdio`, `http-launched` or `http`.
    pub transport: String,
    /// Program and arguments as written; empty for a bare URL.
    pub command: Vec<String>,
    /// The endpoint as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Environment as written, canaries as placeholders, secrets as `<redacted>`.
    pub env: BTreeMap<String, String>,
    /// Header names as written, values as written (references unexpanded) or `<redacted>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// `serverInfo.name` as reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_name: Option<String>,
    /// `serverInfo.version` as reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_version: Option<String>,
    /// The revision it was graded in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// `legacy` or `modern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    /// One sentence about the other era's handshake (`also speaks 2025-11-25 (legacy handshake ok)`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_era: Option<String>,
    /// What it offers an agent.
    pub surface: SurfaceFacts,
    /// The same with its texts, where this process met the server and a snapshot is asked for; no report holds it.
    #[serde(skip)]
    pub offers: Option<Box<ServerSurface>>,
}

/// What a server offers, as hashes, lengths and schemas; texts are not stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SurfaceFacts {
    /// Tools in listing order.
    pub tools: Vec<ToolFacts>,
    /// Prompts by name.
    pub prompts: BTreeMap<String, PromptFacts>,
    /// Resources by URI.
    pub resources: BTreeMap<String, ResourceFacts>,
    /// Resource templates by URI template.
    pub resource_templates: BTreeMap<String, ResourceFacts>,
    /// `instructions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<TextFacts>,
    /// `instructions` of the other era's handshake, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_instructions: Option<TextFacts>,
    /// `capabilities` as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Value>,
    /// Protocol revisions it is known to speak, sorted; a legacy handshake tells one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<String>,
    /// `serverInfo.title`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<TextFacts>,
    /// Further members of `serverInfo` → SHA-256 of their canonical JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub info: BTreeMap<String, String>,
    /// Lists that could not be read whole (`tools/list`) → why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, String>,
}

/// One prompt of the surface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptFacts {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<TextFacts>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<TextFacts>,
    /// Argument → whether it is required.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, bool>,
    /// Argument → its description.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub argument_descriptions: BTreeMap<String, TextFacts>,
    /// Further members → SHA-256 of their canonical JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// One resource or resource template of the surface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceFacts {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<TextFacts>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<TextFacts>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Further members → SHA-256 of their canonical JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// A server's text without the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFacts {
    /// SHA-256 of its UTF-8 bytes, in hex.
    pub sha256: String,
    /// Its length in characters.
    pub chars: u64,
}

/// One tool of the surface.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolFacts {
    /// Its name.
    pub name: String,
    /// Its title's hash and length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<TextFacts>,
    /// Its description's hash and length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<TextFacts>,
    /// The input schema in full.
    pub input_schema: Value,
    /// SHA-256 of its canonical JSON.
    pub input_schema_sha256: String,
    /// The output schema in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// SHA-256 of its canonical JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema_sha256: Option<String>,
    /// Required parameters, sorted.
    pub required: Vec<String>,
    /// Parameter → type word (`string`, `integer|null`, `any`).
    pub parameters: BTreeMap<String, String>,
    /// Annotations as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// SHA-256 of the canonical JSON of `_meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<String>,
    /// Further members of the entry (`icons`, `execution`) → SHA-256 of their canonical JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// The configuration of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFacts {
    /// SHA-256 of what affects a grade.
    pub hash: String,
    /// Whether the run is the published methodology.
    pub standard: bool,
    /// What differs.
    pub standard_diff: Vec<DiffFacts>,
    /// The config file, relative to the working directory.
    pub path: Option<String>,
    /// Line of the server's `command` or `url` in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The locked settings as they took effect.
    pub locked: BTreeMap<String, Value>,
}

/// One difference from the standard profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffFacts {
    /// The key's dotted path.
    pub key: String,
    /// The standard value.
    pub standard: Value,
    /// The effective value.
    pub effective: Value,
    /// Where it came from.
    pub origin: String,
}

/// The sandbox of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxFacts {
    /// Whether the server ran in one.
    pub used: bool,
    /// Its path when it was kept, else `{sandbox_dir}`.
    pub dir: Option<String>,
    /// `cleaned up`, `kept` or why it was not removed.
    pub cleanup: String,
    /// Names of environment variables that were inherited.
    pub inherited: Vec<String>,
    /// What was left out because it holds a login.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

/// A tool's class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classified {
    /// The tool.
    pub tool: String,
    /// `path`, `url`, `command`, `sql`, `git`, `text`, `opaque`.
    pub class: String,
    /// `high`, `medium`, `low`, or `set` for an override.
    pub confidence: String,
    /// Why, in a sentence fragment.
    pub reason: String,
    /// The parameter that decides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// A second class with its parameter (`url`, `link`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secondary: Option<String>,
}

/// One pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackResult {
    /// What it came to.
    pub status: PackStatus,
    /// Why it has no letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A to F.
    pub grade: Option<char>,
    /// A critical check was inconclusive.
    pub provisional: bool,
    /// The critical fails that capped the letter; empty when none did.
    pub capped: Vec<String>,
    /// Points reached.
    pub points: f64,
    /// Checks that were scored.
    pub scored: u32,
    /// Checks that count towards the letter when they can be judged.
    pub total: u32,
    /// A candidate pack.
    pub candidate: bool,
    /// The checks in registry order.
    pub checks: Vec<CheckResult>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The effective severity.
    pub severity: Severity,
    /// Whether the effective severity is critical.
    pub critical: bool,
    /// A candidate check.
    pub candidate: bool,
    /// The scope line.
    pub scope: String,
    /// One sentence.
    pub summary: String,
    /// What supports it, worst first.
    pub evidence: Vec<EvidenceFacts>,
}

/// One line of evidence, excerpts at most 300 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFacts {
    /// The probe's short name.
    pub probe: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Quote>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Quote>,
    /// What the harness observed.
    pub observed: String,
    /// The rule that decided.
    pub rule: String,
    /// What this line alone says.
    pub verdict: Verdict,
}

/// How much was exercised.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Tools called with valid arguments that the server processed.
    pub tools_called_valid: u32,
    /// Tools listed.
    pub tools: u32,
    /// `hygiene only`, `partial` or `full`.
    pub label: String,
}

/// Whether a badge may show letters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Badge {
    /// Whether it may.
    pub eligible: bool,
    /// Why not, or `standard run`.
    pub reason: String,
    /// The badge's message.
    pub message: String,
}
