//! The resolved settings every other room reads. Built only by this room.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Serialize;
use serde_json::Value;

use crate::model::Severity;

/// Everything one invocation was asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The config file that was read, if any.
    pub path: Option<PathBuf>,
    /// The selected profile's name.
    pub profile: String,
    /// The servers to grade, in file order; exactly one for `server:` or flags.
    pub servers: Vec<ServerSettings>,
    /// Whether `--server` or `--shard` may have left some out.
    pub partial: bool,
    /// Pack ids to run, in registry order.
    pub packs: Vec<String>,
    /// Settings of every check of the registry: effective `enabled`, severity and knobs.
    pub checks: BTreeMap<String, CheckSettings>,
    /// `tools.exclude`: names, `*` matches any run of characters.
    pub tools_exclude: Vec<String>,
    /// `tools.overrides`.
    pub tools_overrides: BTreeMap<String, ToolOverride>,
    /// `notCovered.extra`: lines added to the report's "Not covered" list.
    pub not_covered_extra: Vec<String>,
    /// How long cap and timeout probes wait (`timeout_probe_sec`, default 10 s).
    pub timeout_probe: Duration,
    /// How long one pack may take (`pack_timeout_sec`, default 600 s).
    pub timeout_pack: Duration,
    /// Servers graded side by side (`jobs`, default: cores).
    pub jobs: usize,
    /// The sandbox.
    pub sandbox: SandboxSettings,
    /// Reports and the gate.
    pub output: OutputSettings,
    /// STANDARD or CUSTOM, with the hash.
    pub standing: Standing,
    /// Things to tell the user once (unknown placeholder, ignored key, real path in args), each a full sentence.
    pub warnings: Vec<String>,
    /// Secret values that must be scrubbed from every output and recording.
    pub secrets: Vec<String>,
}

/// One server to grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerSettings {
    /// The display name: `name`, the key under `servers:`, or what the command says.
    pub name: String,
    /// The configured `version`, if any.
    pub version: Option<String>,
    /// The program and its arguments as written (placeholders and `${VAR}` unexpanded); empty for a bare URL.
    pub command: Vec<String>,
    /// The endpoint as written, if any.
    pub url: Option<String>,
    /// Environment values as written.
    pub env: BTreeMap<String, String>,
    /// HTTP headers as written, in order.
    pub headers: Vec<(String, String)>,
    /// Files staged before the start: path and content as written.
    pub files: Vec<StagedFile>,
    /// `server.cwd: project` runs it in the config file's directory instead of the sandbox.
    pub cwd_project: bool,
    /// `server.rootless`.
    pub rootless: bool,
    /// `server.pass_env`: variables that can publish in the user's name and are given to a launched server all the same.
    pub pass_env: Vec<String>,
    /// How long `initialize` and `tools/list` may take, start included (`server.connect_timeout_sec`, default 60 s).
    pub connect_timeout: Duration,
    /// How long the URL may take to answer after a start (`server.start_timeout_sec`, default 60 s).
    pub start_timeout: Duration,
    /// Line of the config file where the server's `command` or `url` stands, from 1.
    pub line: Option<u32>,
    /// Where relative paths of the command and its arguments start: the directory of the file that names the server,
    /// the working directory for flags and variables.
    pub base: PathBuf,
    /// The warnings that are about this server alone; they are among those of [`Settings`].
    pub warnings: Vec<String>,
    /// Where each part stands, by its key below the server (`command`, `env.API_KEY`): `sealmark.yaml:9`, `flag --start`.
    pub origins: BTreeMap<String, String>,
}

/// A file written into the sandbox before the server starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// Where, starting with `{sandbox}`, `{dir}` or `{sandbox_home}`.
    pub path: String,
    /// What, with placeholders.
    pub content: String,
}

/// Effective settings of one check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSettings {
    /// Whether it runs.
    pub enabled: bool,
    /// How much it weighs (for a candidate: advisory unless changed).
    pub severity: Severity,
    /// Its knobs by key, defaults filled in.
    pub knobs: BTreeMap<String, Value>,
}

/// `tools.overrides.<tool>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOverride {
    /// The class' word (`path`, `url`, `command`, `sql`, `git`, `text`, `opaque`).
    pub class: String,
    /// Class word → parameter name.
    pub params: BTreeMap<String, String>,
}

/// Where and how the server is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// False with `--no-sandbox`.
    pub enabled: bool,
    /// Parent directory, default the OS temp directory.
    pub dir: Option<PathBuf>,
    /// Leave it behind and show its path.
    pub keep: bool,
}

/// A report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people on a terminal.
    Text,
    /// The frozen `sealmark.report/1`.
    Json,
    /// For a comment or a wiki.
    Markdown,
    /// The short CI view.
    Summary,
    /// JUnit XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
    /// GitLab Code Quality.
    Codequality,
    /// GitLab SAST report.
    Sast,
    /// A flat SVG badge.
    Badge,
    /// A shields.io endpoint document.
    Shields,
}

impl Format {
    /// Every format, in the order they are listed to users.
    pub const ALL: [Self; 10] = [
        Self::Text,
        Self::Json,
        Self::Markdown,
        Self::Junit,
        Self::Sarif,
        Self::Codequality,
        Self::Sast,
        Self::Summary,
        Self::Badge,
        Self::Shields,
    ];

    /// The word on the command line and in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Summary => "summary",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::Codequality => "codequality",
            Self::Sast => "sast",
            Self::Badge => "badge",
            Self::Shields => "shields",
        }
    }

    /// The name of its file in `--out-dir`.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Text => "sealmark-report.txt",
            Self::Json => "sealmark-report.json",
            Self::Markdown => "sealmark-report.md",
            Self::Summary => "sealmark-report.summary.txt",
            Self::Junit => "sealmark-report.junit.xml",
            Self::Sarif => "sealmark-report.sarif",
            Self::Codequality => "sealmark-report.codequality.json",
            Self::Sast => "sealmark-report.sast.json",
            Self::Badge => "sealmark-report.badge.svg",
            Self::Shields => "sealmark-report.shields.json",
        }
    }
}

/// How much a text or Markdown report says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verbosity {
    /// Grades and failures only.
    Quiet,
    /// The default.
    Normal,
    /// Every evidence line and argument.
    Verbose,
}

/// Reports and the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSettings {
    /// Formats to write, without repeats.
    pub formats: Vec<Format>,
    /// `--out`.
    pub out: Option<PathBuf>,
    /// `--out-dir`.
    pub out_dir: Option<PathBuf>,
    /// `--template`.
    pub template: Option<PathBuf>,
    /// `--verbosity`.
    pub verbosity: Verbosity,
    /// False with `--no-redact`.
    pub redact: bool,
    /// The lowest letter that passes, `None` when the gate is off (`output.fail_under`, default A).
    pub fail_under: Option<char>,
    /// `output.exit_policy.soft_fail`.
    pub soft_fail: bool,
    /// `output.exit_policy.treat_inconclusive_as: fail`.
    pub inconclusive_fails: bool,
    /// `output.exit_policy.critical_fail`: the exit code of a critical fail, 0 for none.
    pub critical_fail: u8,
    /// `output.fail_on`: what exits 1.
    pub fail_on: FailOn,
    /// `--baseline`: an earlier report to compare with.
    pub baseline: Option<PathBuf>,
    /// `--write-baseline`.
    pub write_baseline: Option<PathBuf>,
    /// `--surface`: a committed snapshot to compare with.
    pub surface: Option<PathBuf>,
    /// `--write-surface`.
    pub write_surface: Option<PathBuf>,
}

/// What exits 1 (`output.fail_on`). `any`, the default, is the gate and regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FailOn {
    /// A grade below `fail_under`, and an inconclusive pack where that counts as failing.
    pub gate: bool,
    /// A regression against the baseline.
    pub regressions: bool,
    /// A breaking or notable change of the tool surface.
    pub drift: bool,
}

impl Default for FailOn {
    fn default() -> Self {
        Self { gate: true, regressions: true, drift: false }
    }
}

/// Whether the run is the published methodology.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// True when every setting that affects a grade equals the standard profile.
    pub standard: bool,
    /// SHA-256 (hex) of the canonical JSON of the settings that affect a grade.
    pub hash: String,
    /// What differs.
    pub diff: Vec<Difference>,
    /// The locked settings as they took effect (`config.locked` in the report).
    pub locked: BTreeMap<String, Value>,
}

/// One setting that differs from the standard profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The key's dotted path.
    pub key: String,
    /// The standard profile's value.
    pub standard: Value,
    /// The effective value.
    pub effective: Value,
    /// Where it came from (`flag --timeout-probe`, `sealmark.yaml:12`, `SEALMARK_PACKS`, `profile quick`).
    pub origin: String,
}
