//! The key table: every setting, once. Parser, variables, defaults, schema, docs and suggestions are derived from it.

/// The type of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text; numbers and booleans are taken as they are spelled.
    Text,
    /// A file or directory of the user.
    Path,
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds, with its unit's word.
    Integer { min: i64, max: i64, unit: &'static str },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A letter of the gate; lower case is read as upper case.
    Letter,
    /// A list of texts; a single one is a list of one.
    Texts,
    /// A list of texts that are regular expressions.
    Patterns,
    /// A list of these words; a single one is a list of one.
    Choices(&'static [&'static str]),
    /// A list of report formats; a single one is a list of one.
    Formats,
    /// A list of pack ids of this build.
    Packs,
    /// A list of `{path, content}`.
    Files,
}

/// The built-in default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// Not set.
    None,
    Bool(bool),
    Integer(i64),
    Text(&'static str),
    Texts(&'static [&'static str]),
    /// Every pack of this build.
    EveryPack,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Dotted; `<name>` stands for a word of the user's.
    pub path: &'static str,
    pub kind: Kind,
    pub fallback: Fallback,
    /// Changing it can change a grade: part of the STANDARD hash.
    pub locked: bool,
    /// Lists of several layers are joined instead of replaced.
    pub append: bool,
    /// Whether a `SEALMARK_*` variable can set it.
    pub env: bool,
    /// Whether a profile may hold it: how to grade, not what.
    pub profile: bool,
    /// Another spelling of the last segment.
    pub alias: Option<&'static str>,
    /// One sentence without its full stop.
    pub help: &'static str,
}

const fn row(path: &'static str, kind: Kind, fallback: Fallback, help: &'static str) -> Row {
    Row { path, kind, fallback, locked: false, append: false, env: true, profile: true, alias: None, help }
}

impl Row {
    const fn locked(mut self) -> Self {
        self.locked = true;
        self
    }
    const fn append(mut self) -> Self {
        self.append = true;
        self
    }
    const fn file_only(mut self) -> Self {
        self.env = false;
        self
    }
    const fn no_profile(mut self) -> Self {
        self.profile = false;
        self
    }
    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }
}

const fn seconds(max: i64) -> Kind {
    Kind::Integer { min: 1, max, unit: "seconds" }
}

/// The words of tool classes.
pub(crate) const CLASSES: &[&str] = &["path", "url", "command", "sql", "git", "text", "opaque"];
/// The words of severities.
pub(crate) const SEVERITIES: &[&str] = &["critical", "scored", "advisory"];
/// The version of the file's shape.
pub(crate) const SCHEMA_VERSION: i64 = 1;

/// Everything but the servers and the checks, in the order of the docs.
pub(crate) const ROWS: &[Row] = &[
    row(
        "schema_version",
        Kind::Integer { min: 1, max: 1, unit: "" },
        Fallback::Integer(SCHEMA_VERSION),
        "Version of this file's shape; a newer one is refused",
    )
    .file_only()
    .no_profile(),
    row(
        "name",
        Kind::Text,
        Fallback::None,
        "Display name of the server; without it the command or the URL's host says it",
    )
    .no_profile(),
    row("version", Kind::Text, Fallback::None, "Version shown beside the name; without it what the server reports")
        .no_profile(),
    row("profile", Kind::Text, Fallback::Text("standard"), "The profile that lies below your own settings")
        .no_profile(),
    row("packs", Kind::Packs, Fallback::EveryPack, "Packs to run; leaving out a standard one makes the run CUSTOM")
        .locked(),
    row(
        "tools.exclude",
        Kind::Texts,
        Fallback::Texts(&[]),
        "Tools that are never called; `*` stands for any run of characters",
    )
    .locked()
    .append(),
    row(
        "tools.overrides.<tool>.class",
        Kind::Choice(CLASSES),
        Fallback::None,
        "What the tool takes, where the classifier guesses wrong",
    )
    .locked()
    .file_only(),
    row(
        "tools.overrides.<tool>.params.<class>",
        Kind::Text,
        Fallback::None,
        "The parameter that carries that class, by class word",
    )
    .locked()
    .file_only(),
    row("timeout_probe_sec", seconds(3600), Fallback::Integer(10), "How long probes of caps and timeouts wait")
        .locked(),
    row(
        "pack_timeout_sec",
        seconds(86_400),
        Fallback::Integer(600),
        "How long one pack may take before it is given up as inconclusive",
    ),
    row(
        "jobs",
        Kind::Integer { min: 1, max: 64, unit: "" },
        Fallback::None,
        "Servers and packs graded side by side; without it one per processor core",
    ),
    row(
        "sandbox.enabled",
        Kind::Bool,
        Fallback::Bool(true),
        "Whether the server runs in owned directories with a scrubbed environment",
    )
    .locked(),
    row(
        "sandbox.dir",
        Kind::Path,
        Fallback::None,
        "Parent directory of the sandbox; without it the system's directory for temporary files",
    ),
    row("sandbox.keep", Kind::Bool, Fallback::Bool(false), "Leave the sandbox behind and show its real path"),
    row("output.format", Kind::Formats, Fallback::Texts(&["text"]), "Report formats to write").alias("formats"),
    row("output.out", Kind::Path, Fallback::None, "Write the report to this file instead of standard output"),
    row("output.out_dir", Kind::Path, Fallback::None, "Write one file per format into this directory"),
    row("output.template", Kind::Path, Fallback::None, "Handlebars template for the text and markdown formats"),
    row(
        "output.verbosity",
        Kind::Choice(&["quiet", "normal", "verbose"]),
        Fallback::Text("normal"),
        "How much the text and markdown reports say",
    ),
    row(
        "output.redact",
        Kind::Bool,
        Fallback::Bool(true),
        "Hide secrets and real paths; switch it off for local debugging only",
    ),
    row(
        "output.fail_under",
        Kind::Letter,
        Fallback::Text("A"),
        "Exit 1 when a graded pack is below this letter; `none` switches the gate off",
    ),
    row(
        "output.fail_on",
        Kind::Choices(&["any", "regressions", "drift"]),
        Fallback::Texts(&["any"]),
        "What exits 1: `any` is the gate and regressions, `regressions` a regression alone, `drift` a changed tool surface",
    ),
    row("output.baseline", Kind::Path, Fallback::None, "An earlier JSON report to compare with"),
    row(
        "output.write_baseline",
        Kind::Path,
        Fallback::None,
        "Save the JSON report here, unless the run regressed, did not grade a server, or lacks one that the file holds",
    ),
    row(
        "output.surface",
        Kind::Path,
        Fallback::None,
        "A committed snapshot of what the servers offer, to compare with",
    ),
    row("output.write_surface", Kind::Path, Fallback::None, "Write such a snapshot here"),
    row(
        "output.exit_policy.soft_fail",
        Kind::Bool,
        Fallback::Bool(false),
        "Warn and exit 0 where the gate would exit 1",
    ),
    row(
        "output.exit_policy.treat_inconclusive_as",
        Kind::Choice(&["pass", "fail"]),
        Fallback::Text("pass"),
        "Whether a pack that could not be judged fails the gate",
    ),
    row(
        "output.exit_policy.critical_fail",
        Kind::Integer { min: 0, max: 125, unit: "" },
        Fallback::Integer(0),
        "Exit code of a failed critical check; 0 gives it none of its own",
    ),
    row(
        "notCovered.extra",
        Kind::Texts,
        Fallback::Texts(&[]),
        "Lines to add to the report's list of what is not covered",
    )
    .append(),
];

/// The keys of `server` and of every entry of `servers`.
pub(crate) const SERVER_ROWS: &[Row] = &[
    row("command", Kind::Text, Fallback::None, "The program that starts the server; no shell reads it").no_profile(),
    row("args", Kind::Texts, Fallback::Texts(&[]), "Its arguments, one list item each").no_profile(),
    row("env.<name>", Kind::Text, Fallback::None, "A variable of the server's environment").no_profile(),
    row("url", Kind::Text, Fallback::None, "The Streamable HTTP endpoint; with `command` it is started first").no_profile(),
    row("headers.<name>", Kind::Text, Fallback::None, "An HTTP header sent with every request").no_profile(),
    row(
        "files",
        Kind::Files,
        Fallback::None,
        "Small files written before the start, each with a `path` below `{sandbox}` or `{sandbox_home}` and its `content`",
    )
    .file_only()
    .no_profile(),
    row(
        "cwd",
        Kind::Choice(&["sandbox", "project"]),
        Fallback::Text("sandbox"),
        "Working directory of a stdio server: the sandbox, or the directory of the file that names the server",
    )
    .no_profile(),
    row(
        "rootless",
        Kind::Bool,
        Fallback::Bool(false),
        "The server takes no root argument: its working directory is the allowed root",
    )
    .no_profile(),
    row(
        "pass_env",
        Kind::Texts,
        Fallback::Texts(&[]),
        "Variables with publishing tokens that a server launched for `url` gets all the same",
    )
    .no_profile(),
    row(
        "connect_timeout_sec",
        seconds(3600),
        Fallback::Integer(60),
        "How long `initialize` and `tools/list` may take, a stdio server's start included",
    ),
    row(
        "start_timeout_sec",
        seconds(3600),
        Fallback::Integer(60),
        "How long the URL may take to answer after the server was started",
    ),
];

/// Only under `servers.<name>`.
pub(crate) const SERVER_VERSION: Row =
    row("version", Kind::Text, Fallback::None, "Version shown beside this server's name").no_profile();

impl Kind {
    /// What is expected, for error messages and the docs.
    pub fn expects(self, packs: &[&str]) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Bool => "true or false".to_owned(),
            Self::Integer { min, max, .. } if min == max => format!("{min}"),
            Self::Integer { min, max: i64::MAX, .. } => format!("a whole number, at least {min}"),
            Self::Integer { min, max, unit: "" } => format!("a whole number from {min} to {max}"),
            Self::Integer { min, max, unit } => format!("a whole number of {unit} from {min} to {max}"),
            Self::Choice(words) => one_of(words),
            Self::Choices(words) => format!("a list of {}", one_of(words)),
            Self::Letter => "A, B, C, D, F or none".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Patterns => "a list of regular expressions".to_owned(),
            Self::Formats => format!("a list of formats ({})", crate::config::value::FORMATS.join(", ")),
            Self::Packs => format!("a list of packs ({})", packs.join(", ")),
            Self::Files => "a list of mappings with `path` and `content`".to_owned(),
        }
    }

    /// Whether its values are lists.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Patterns | Self::Choices(_) | Self::Formats | Self::Packs | Self::Files)
    }
}

/// `a, b or c`.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
