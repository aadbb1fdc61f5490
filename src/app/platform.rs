//! What a job asks of its platform: tokens, the baseline, the report of the run that triggered it.

use super::{Exit, compared::Compared, console, job::Job};
use crate::{
    ci::{self, Capability, Context, Event, Notice, Platform},
    cli::ArtifactName,
    compare,
    report::RunResult,
};

/// The artifact and the directory of its report, unless something else is said.
pub(super) const ARTIFACT: &str = "sealmark-report";

/// The artifact's name that was asked for.
pub(super) fn artifact(asked: Option<&ArtifactName>) -> String {
    asked.map_or_else(|| ARTIFACT.to_owned(), |name| name.0.clone())
}

/// What became of the search for a baseline.
pub(super) enum Fetched {
    /// Nobody asked for one.
    Off,
    /// There is none, and why.
    Missing(String),
    /// The baseline.
    Found(Vec<RunResult>),
}

impl Fetched {
    /// What a run is compared with, and why it is compared with nothing.
    pub fn into_compared(self, otherwise: Compared) -> (Compared, Option<String>) {
        match self {
            Self::Found(baseline) => (otherwise.with(baseline), None),
            Self::Missing(why) => (otherwise, Some(why)),
            Self::Off => (otherwise, None),
        }
    }
}

/// Asks the platform for the baseline.
pub(super) async fn baseline(context: &Context, artifact: &str, job: Option<&str>) -> Result<Vec<RunResult>, Notice> {
    if let Capability::No { why, remedy } = &context.capabilities.baseline {
        return Err(Notice::Skipped { what: "no baseline".to_owned(), why: why.clone(), remedy: remedy.clone() });
    }
    let (token, job_token) = (token(context), job_token(context));
    let bytes = match context.platform {
        Platform::GitHub => {
            let token = token.unwrap_or_default();
            ci::github::baseline(context, &token, artifact, ci::github::Limits::default()).await?
        }
        Platform::GitLab => {
            let tokens = ci::gitlab::Tokens { job: job_token.as_deref(), personal: token.as_deref() };
            ci::gitlab::baseline(context, tokens, job, artifact).await?
        }
        _ => {
            return Err(Notice::Skipped {
                what: "no baseline".to_owned(),
                why: "this platform keeps none that sealmark can read".to_owned(),
                remedy: "give one with --baseline FILE".to_owned(),
            });
        }
    };
    compare::read_reports(&bytes).map_err(|error| Notice::Failed {
        what: "no baseline".to_owned(),
        cause: format!("the report of the default branch cannot be used: {error}"),
        remedy: error.hint().to_owned(),
    })
}

/// The report of the workflow run that triggered this one.
pub(super) async fn triggering_report(job: &Job) -> Result<Vec<RunResult>, Notice> {
    let refused = |why: &str, remedy: &str| Notice::Failed {
        what: "nothing was published".to_owned(),
        cause: why.to_owned(),
        remedy: remedy.to_owned(),
    };
    if job.context.platform != Platform::GitHub || job.context.event != Event::WorkflowRun {
        return Err(refused(
            "--artifact takes the report from the run that triggered a workflow_run workflow, and this is none",
            "name a report with --report FILE",
        ));
    }
    let token =
        token(&job.context).ok_or_else(|| refused("there is no token", "set GITHUB_TOKEN in the step's env"))?;
    let limits = ci::github::Limits::default();
    let bytes = ci::github::triggering_report(&job.context, &token, &job.options.artifact_name, limits).await?;
    compare::read_reports(&bytes)
        .map_err(|error| refused(&format!("the report in the artifact cannot be used: {error}"), &error.hint()))
}

/// A runtime for commands that talk to a platform and to nothing else.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Exit> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        console::line(&format!("error: the runtime could not be started: {error}"));
        Exit::Failure
    })
}

/// The publishing token, read where it is needed and nowhere kept.
pub(super) fn token(context: &Context) -> Option<String> {
    variable(context.token_variable.as_deref())
}

/// The token of a GitLab job, which reads baselines.
pub(super) fn job_token(context: &Context) -> Option<String> {
    variable(context.job_token_variable.as_deref())
}

fn variable(name: Option<&str>) -> Option<String> {
    let name = name?;
    std::env::var(name).ok().map(|token| token.trim().to_owned()).filter(|token| !token.is_empty())
}
