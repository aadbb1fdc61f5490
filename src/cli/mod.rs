//! The command line: clap types and help texts. No logic beyond turning flags into settings.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

mod ci;
pub mod flags;
mod settings;
mod values;

pub use ci::{
    BaselineCommand, BaselineFetchArgs, CiArgs, CiCommand, CiDetectArgs, CiMatrixArgs, DiffArgs, GateCommandArgs,
    InitArgs, MergeArgs, PublishArgs, PublishCommandArgs, SurfaceArgs,
};
pub use settings::{
    CheckArgs, CompareArgs, GateArgs, LetterArgs, LimitArgs, ReportArgs, RunArgs, SandboxArgs, SettingArgs, SourceArgs,
    TargetArgs,
};
pub use values::{
    ArtifactName, BadgeTarget, CiWord, ColorWhen, CommandLine, CommentKey, CommentWhen, FailOnWord, FormatWord, Gate,
    HeaderLine, SarifWhere, Shard, VerbosityWord,
};

/// Everything the user typed.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "sealmark",
    version,
    about = "Grades MCP servers by what they do",
    long_about = "Starts an MCP server (or connects to one), calls its tools with fixed inputs, watches what happens \
                  and prints a letter per pack of checks, each with the evidence that decided it. No language model \
                  takes part. A letter says that these checks came out this way with this configuration; it is not a \
                  security endorsement.",
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// When to use colour
    ///
    /// `auto` colours a terminal and stays plain elsewhere, and when NO_COLOR is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Clone, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value per process, moved once")]
pub enum Command {
    /// Grade the configured servers and print the report
    ///
    /// The server comes from sealmark.yaml, or from --start and --url, or from the words after `--`.
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Grade the demo server that is built in
    ///
    /// Needs nothing installed. The honest server passes; the broken one shows what failures and their evidence
    /// look like.
    Demo(DemoArgs),
    /// Compare two JSON reports: regressions, improvements and drift of the tool surface
    ///
    /// Starts nothing. Exits 1 on a regression and on a breaking or notable drift.
    Diff(DiffArgs),
    /// Write down what the servers offer, without grading them
    ///
    /// The snapshot is sorted, holds the texts and is made to be committed and reviewed; `run --surface FILE` compares
    /// with it.
    Surface(SurfaceArgs),
    /// Do the whole job of a CI run: grade, compare, write every report, publish
    ///
    /// Detects the platform, fetches the baseline, runs with the ci profile and publishes what platform, event and
    /// token allow. What could not be published is said in one line each and changes no exit code.
    #[command(
        mut_arg("profile", |arg| arg.help(
            "The profile to start from: standard, quick, ci, strict, paranoid or one of your own [default: ci]"
        )),
        mut_arg("format", |arg| arg.help(
            "Report formats besides those of the job; repeat or separate with commas for several"
        ).long_help(None)),
        mut_arg("out", |arg| arg.hide(true)),
        mut_arg("out_dir", |arg| arg.help(
            "Write one file per format into this directory [default: sealmark-report]"
        ))
    )]
    Ci(CiArgs),
    /// Publish reports that are on disk
    ///
    /// The reports are untrusted: of a fork's run, for example. Nothing is graded, and the gate decides what is said, not
    /// how the command ends: 0, or 4 with --require-publish. `gate` decides.
    Publish(PublishCommandArgs),
    /// Decide the exit code over reports that are on disk
    ///
    /// As the run that wrote them would have ended. Without a baseline nothing is worse or different: it was the first
    /// run.
    Gate(GateCommandArgs),
    /// Get the baseline of a CI run
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Put the reports of several shards into one
    Merge(MergeArgs),
    /// Print a CI job to start from
    Init(InitArgs),
    /// List every check with its pack, weight and scope
    ListChecks(ListChecksArgs),
    /// Explain one check: what it measures, its probes, rules, settings and limits
    Explain(ExplainArgs),
    /// Describe this build for other programs
    Describe(DescribeArgs),
    /// Look at the configuration without starting a server
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Judge a recording again, without the server
    ///
    /// A recording is what `run --record FILE` wrote. The same recording gives the same verdicts.
    Judge(JudgeArgs),
    /// Print a completion script for a shell
    #[command(after_long_help = "Example, for bash:\n  sealmark completions bash > \
                                 ~/.local/share/bash-completion/completions/sealmark")]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one page per command
    Man(ManArgs),
    /// Serve the demo MCP server on stdin and stdout
    #[command(hide = true)]
    DemoServer(DemoServerArgs),
}

const RUN_EXAMPLES: &str = "Examples:
  sealmark run --start \"npx -y @modelcontextprotocol/server-everything\"
  sealmark run -- node server.js --root {sandbox}
  sealmark run --start \"my-server --port 8000\" --url http://127.0.0.1:8000/mcp --bearer '${MCP_TOKEN}'
  sealmark run --server files --format summary,json,junit --out-dir reports";

/// Which demo server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DemoMode {
    /// Behaves well.
    Honest,
    /// Fails several checks on purpose.
    Broken,
}

/// `demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Which of the two servers to grade
    #[arg(long, value_enum, default_value_t = DemoMode::Honest)]
    pub mode: DemoMode,
    /// The gate.
    #[command(flatten)]
    pub gate: LetterArgs,
    /// The report.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `demo-server`.
#[derive(Debug, Clone, Args)]
pub struct DemoServerArgs {
    /// Which of the two servers to be
    #[arg(long, value_enum, default_value_t = DemoMode::Honest)]
    pub mode: DemoMode,
}

/// `list-checks`.
#[derive(Debug, Clone, Args)]
pub struct ListChecksArgs {
    /// Only the checks of this pack
    #[arg(long, value_name = "ID")]
    pub pack: Option<String>,
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The check's id, as list-checks prints it
    #[arg(value_name = "CHECK")]
    pub check: String,
}

/// `describe`.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct DescribeArgs {
    /// Checks, configuration keys, commands, flags and exit codes as one JSON document
    #[arg(long)]
    pub json: bool,
    /// The JSON Schema of sealmark.yaml, for editors
    #[arg(long)]
    pub schema: bool,
}

/// `config`.
#[derive(Debug, Clone, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value per process, moved once")]
pub enum ConfigCommand {
    /// Print the merged configuration
    ///
    /// The first line says whether a run with it would be STANDARD or CUSTOM. It takes the flags of `run`, so it
    /// answers what such a run would use. Secrets are redacted and placeholders are left as written.
    Show(ConfigShowArgs),
    /// List the profiles and how each differs from standard
    Profiles(ConfigProfilesArgs),
}

/// `config show`.
#[derive(Debug, Clone, Args)]
pub struct ConfigShowArgs {
    /// Say where every value came from
    #[arg(long)]
    pub origins: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The settings' flags.
    #[command(flatten)]
    pub settings: SettingArgs,
}

/// `config profiles`.
#[derive(Debug, Clone, Args)]
pub struct ConfigProfilesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where to read user profiles from.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// `judge`.
#[derive(Debug, Clone, Args)]
pub struct JudgeArgs {
    /// The recording
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// The gate.
    #[command(flatten)]
    pub gate: LetterArgs,
    /// The report.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `completions`.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// Write sealmark.1 and one page per command into this directory instead of printing the main page
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}
