//! The flags of `run`, grouped by what they are about; other commands take some of the groups.

use std::path::PathBuf;

use clap::Args;

use super::values::{CommandLine, FailOnWord, FormatWord, Gate, Shard, VerbosityWord};

/// `run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Everything that maps onto a setting.
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Write everything that was seen to this file, for `sealmark judge`
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub record: Option<PathBuf>,
    /// Grade one share of the configured servers: the Ith of N, from 1
    ///
    /// Every server is in exactly one share, and the shares do not depend on the machine.
    #[arg(long, value_name = "I/N", help_heading = "Configuration", conflicts_with = "argv")]
    pub shard: Option<Shard>,
    /// The server's program and arguments, after `--`
    ///
    /// The same as --start, but already split into words.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "start", help_heading = "Server")]
    pub argv: Vec<String>,
}

/// The flags that map onto settings; `config show` takes them too.
#[derive(Debug, Clone, Default, Args)]
pub struct SettingArgs {
    /// Where the configuration comes from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// What is tested.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Which checks.
    #[command(flatten)]
    pub checks: CheckArgs,
    /// The gate.
    #[command(flatten)]
    pub gate: GateArgs,
    /// The comparison.
    #[command(flatten)]
    pub compare: CompareArgs,
    /// The report.
    #[command(flatten)]
    pub report: ReportArgs,
    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Where the configuration comes from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct SourceArgs {
    /// The project's configuration file [default: sealmark.yaml]
    ///
    /// A sealmark.local.yaml beside it is read as well.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The profile to start from: standard, quick, ci, strict, paranoid or one of your own [default: standard]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Which entry of `servers:` to grade, or `all`; repeat or separate with commas for several [default: all]
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
}

/// What is tested.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct TargetArgs {
    /// The command line that starts the server
    ///
    /// Split with the quoting rules of a shell and run without one: no `&&`, no `NAME=value` in front (use
    /// `sh -c '...'` for those). Alone it is a stdio server; with --url the server is started, tested at that
    /// address and stopped.
    #[arg(long, value_name = "COMMAND LINE")]
    pub start: Option<CommandLine>,
    /// The address of a Streamable HTTP server
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// An HTTP header for --url, as "Name: value"; repeat for several
    ///
    /// `${VAR}` in single quotes is read from the environment by sealmark, which keeps the value out of the process
    /// list and out of reports.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Short for --header "Authorization: Bearer TOKEN"
    ///
    /// Write '${MCP_TOKEN}' in single quotes and the token is read from the environment.
    #[arg(long, value_name = "TOKEN")]
    pub bearer: Option<String>,
    /// The server's name in reports
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Seconds that --url gets to answer after --start [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    pub start_timeout: Option<u64>,
    /// Seconds that the server gets for its handshake and tool list, the start of a stdio server included
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    pub connect_timeout: Option<u64>,
    /// Give this variable to a server that --start launches for --url although it can publish in your name; repeat for
    /// several
    ///
    /// CI systems put such tokens into every job (GITHUB_TOKEN, CI_JOB_TOKEN); they are withheld, and the report says
    /// which are given back.
    #[arg(long, value_name = "NAME")]
    pub pass_env: Vec<String>,
}

/// Which checks.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// Run only this pack; repeat for several
    ///
    /// Leaving out a standard pack makes the run CUSTOM.
    #[arg(long, value_name = "ID")]
    pub pack: Vec<String>,
}

/// The letter that the gate asks for: all that a command without a comparison can decide by.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Gate")]
pub struct LetterArgs {
    /// The gate: the lowest letter that a graded pack may have, A, B, C, D or F, or none to turn it off [default: A]
    #[arg(long, value_name = "LETTER")]
    pub fail_under: Option<Gate>,
    /// A missed gate is only a warning; exit codes 2, 3 and 4 stay
    #[arg(long)]
    pub soft_fail: bool,
}

/// The gate.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Gate")]
pub struct GateArgs {
    /// The letter.
    #[command(flatten)]
    pub letter: LetterArgs,
    /// What misses the gate; repeat or separate with commas for several [default: any]
    ///
    /// `any`: a grade below the letter, and a regression against the baseline. `regressions`: a regression alone.
    /// `drift`: a breaking or notable change of what the server offers. `regressions` needs a baseline, `drift` a
    /// baseline or a snapshot; one that is named as a file and holds none of the servers misses the gate, and so does
    /// for `drift` a snapshot that lacks a server.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub fail_on: Vec<FailOnWord>,
}

/// What the results are compared with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub struct CompareArgs {
    /// An earlier JSON report: say what got worse, what got better and what the server offers differently
    ///
    /// `sealmark ci` and `sealmark publish` take `auto` as well, their default: the report that the default branch
    /// left behind; and `off`.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Save this run's JSON report for a later --baseline
    ///
    /// Left as it is when the run regressed, when a server was not graded, and when the file holds a server that was not
    /// among those of the run.
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// A committed snapshot of what the servers offer: show what changed, text by text
    #[arg(long, value_name = "FILE")]
    pub surface: Option<PathBuf>,
    /// Write such a snapshot
    #[arg(long, value_name = "FILE")]
    pub write_surface: Option<PathBuf>,
}

/// The report.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// Report format; repeat or separate with commas for several [default: text]
    ///
    /// Several formats go to one file each in --out-dir, or in ./sealmark-report when it is not given.
    #[arg(long, value_enum, value_name = "FORMAT", value_delimiter = ',')]
    pub format: Vec<FormatWord>,
    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write one file per format into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub out_dir: Option<PathBuf>,
    /// A Handlebars template for the text and markdown formats
    #[arg(long, value_name = "FILE")]
    pub template: Option<PathBuf>,
    /// How much the text and markdown formats say [default: normal]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub verbosity: Option<VerbosityWord>,
    /// Show secrets and real paths; for your own eyes only
    #[arg(long)]
    pub no_redact: bool,
}

/// The sandbox.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sandbox")]
pub struct SandboxArgs {
    /// Start the server in the current directory with your environment; makes the run CUSTOM
    #[arg(long, conflicts_with_all = ["sandbox_dir", "keep_sandbox"])]
    pub no_sandbox: bool,
    /// Where to make the sandbox [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub sandbox_dir: Option<PathBuf>,
    /// Leave the sandbox behind and print its path
    #[arg(long)]
    pub keep_sandbox: bool,
}

/// Limits.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Seconds that a probe waits for an answer that may never come [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    pub timeout_probe: Option<u64>,
    /// Seconds after which a pack is given up and becomes inconclusive [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub pack_timeout: Option<u64>,
    /// Servers to grade side by side [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
}

/// A whole number of seconds, at most an hour.
fn seconds() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=3600)
}
