//! The commands around CI: comparison, publication, baselines and shards.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    settings::{GateArgs, RunArgs, SourceArgs, TargetArgs},
    values::{ArtifactName, BadgeTarget, CiWord, CommentKey, CommentWhen, SarifWhere},
};

/// `diff`.
#[derive(Debug, Clone, Args)]
pub struct DiffArgs {
    /// The earlier JSON report
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The later one
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Print `sealmark.diff/1`
    #[arg(long)]
    pub json: bool,
}

/// `surface`.
#[derive(Debug, Clone, Args)]
pub struct SurfaceArgs {
    /// Where the configuration comes from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Whose surface.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Write the snapshot to this file instead of standard output
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub out: Option<PathBuf>,
    /// Compare with this snapshot: print what changed, exit 1 on a breaking or notable change
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// The server's program and arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "start", help_heading = "Server")]
    pub argv: Vec<String>,
}

/// `ci`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct CiArgs {
    /// Something smaller than the whole job.
    #[command(subcommand)]
    pub command: Option<CiCommand>,
    /// Every flag of `run`.
    #[command(flatten)]
    pub run: RunArgs,
    /// What is published.
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// The commands below `ci`.
#[derive(Debug, Clone, Subcommand)]
pub enum CiCommand {
    /// Say which platform, event and rights were detected
    ///
    /// The first thing to look at when something is not published.
    Detect(CiDetectArgs),
    /// Print the configured servers as a job matrix
    Matrix(CiMatrixArgs),
}

/// `ci detect`.
#[derive(Debug, Clone, Args)]
pub struct CiDetectArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `ci matrix`.
#[derive(Debug, Clone, Args)]
pub struct CiMatrixArgs {
    /// Where the configuration comes from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The platform whose form is printed [default: the detected one, else github]
    #[arg(long = "for", value_enum, value_name = "PLATFORM")]
    pub platform: Option<CiWord>,
    /// At most this many jobs; without it one per server, and no more than the platform takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// A JSON report whose durations balance the jobs
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
}

/// What is published, and where.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Publication")]
pub struct PublishArgs {
    /// When to comment on the pull or merge request
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub comment: CommentWhen,
    /// Tells several comments of one request apart [default: sealmark]
    #[arg(long, value_name = "KEY")]
    pub comment_key: Option<CommentKey>,
    /// What becomes of SARIF; `publish` writes no file, so that there only `upload` does something
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub sarif: SarifWhere,
    /// Write no annotations
    #[arg(long)]
    pub no_annotations: bool,
    /// Write no job summary
    #[arg(long)]
    pub no_summary: bool,
    /// Commit badges after a push to the default branch: to the branch of this name, made when it is missing, or with
    /// `./` in front to this directory of the default branch; `off` for neither [default: off]
    #[arg(long, value_name = "BRANCH|./DIR|off")]
    pub badge: Option<BadgeTarget>,
    /// The artifact that holds the report, this run's and the baseline's [default: sealmark-report]
    #[arg(long, value_name = "NAME")]
    pub artifact_name: Option<ArtifactName>,
    /// The job whose artifacts hold the baseline (GitLab) [default: the current job's name]
    #[arg(long, value_name = "NAME")]
    pub baseline_job: Option<String>,
    /// Fail (exit 4) when something that was asked for could not be published
    ///
    /// That a comment has no request in this event, or a badge no push to the default branch, is no failure.
    #[arg(long)]
    pub require_publish: bool,
}

/// `publish`.
#[derive(Debug, Clone, Args)]
pub struct PublishCommandArgs {
    /// A JSON report; repeat for several
    #[arg(long, value_name = "FILE", required_unless_present = "artifact")]
    pub report: Vec<PathBuf>,
    /// Get the report from the artifact of the workflow run that triggered this one (GitHub, `workflow_run`)
    #[arg(long, conflicts_with = "report")]
    pub artifact: bool,
    /// The baseline: `auto`, `off` or a JSON report [default: auto]
    ///
    /// What `auto` finds is kept beside the first --report as sealmark-baseline.json, for `gate --baseline auto`.
    #[arg(long, value_name = "FILE|auto|off")]
    pub baseline: Option<PathBuf>,
    /// The gate, for what the comment says of it: it decides nothing here.
    #[command(flatten)]
    pub gate: GateArgs,
    /// What is published.
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// `gate`.
#[derive(Debug, Clone, Args)]
pub struct GateCommandArgs {
    /// A JSON report; repeat for several
    #[arg(long, value_name = "FILE", required = true)]
    pub report: Vec<PathBuf>,
    /// An earlier JSON report to compare with; `auto` for the one that `publish`, or `ci` on GitLab, found and kept beside
    /// the report as sealmark-baseline.json, if there was one; or `off`
    #[arg(long, value_name = "FILE|auto|off")]
    pub baseline: Option<PathBuf>,
    /// Where the gate's settings come from, and the profile: in CI it is the ci profile, as in `run`.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The gate.
    #[command(flatten)]
    pub gate: GateArgs,
}

/// `baseline`.
#[derive(Debug, Clone, Subcommand)]
pub enum BaselineCommand {
    /// Fetch the report that the default branch left behind
    ///
    /// Exits 0 when it was written, and when there is none yet: then no file is written and a line says why. Exits 2 where
    /// it cannot be asked for (no CI, no token, a wrong address), and 4 when it could not be got or read.
    Fetch(BaselineFetchArgs),
}

/// `baseline fetch`.
#[derive(Debug, Clone, Args)]
pub struct BaselineFetchArgs {
    /// Where to write it
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The artifact that holds it [default: sealmark-report]
    #[arg(long, value_name = "NAME")]
    pub artifact_name: Option<ArtifactName>,
    /// The job whose artifacts hold it (GitLab) [default: the current job's name]
    #[arg(long, value_name = "NAME")]
    pub baseline_job: Option<String>,
}

/// `merge`.
#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// JSON reports, or directories (of downloaded artifacts): every sealmark-report.json below them, at any depth, and no
    /// file of another name
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// Where to write the merged report
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The configuration whose servers were graded: one that no report holds becomes a failed run, so that the job that
    /// lost it cannot go unnoticed
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Of that configuration, only these servers; repeat or separate with commas for several
    #[arg(long, value_name = "NAME", requires = "config")]
    pub server: Vec<String>,
}

/// `init`.
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// The platform; the job is printed and nothing is written
    #[arg(long, value_enum, value_name = "PLATFORM")]
    pub ci: CiWord,
}
