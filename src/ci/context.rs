//! Where a job runs and what it may do: one value, made from an environment map.

use std::path::PathBuf;

use serde::Serialize;

/// A CI platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// No CI, or switched off with `CI=false`.
    None,
    /// GitHub Actions, GitHub Enterprise Server included.
    GitHub,
    /// Gitea or Forgejo Actions: GitHub's files and commands, not its API.
    Gitea,
    /// GitLab CI/CD.
    GitLab,
    /// Azure Pipelines.
    Azure,
    /// Bitbucket Pipelines.
    Bitbucket,
    /// CircleCI.
    CircleCi,
    /// Jenkins.
    Jenkins,
    /// Buildkite.
    Buildkite,
    /// Another one that is known by name alone.
    Other(String),
    /// `CI` is set and nothing else is known.
    Generic,
}

/// What started the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A push to the default branch.
    DefaultBranch,
    /// A push to another branch.
    Branch,
    /// A pull or merge request of the same repository.
    PullRequest,
    /// A pull or merge request of a fork.
    ForkPullRequest,
    /// GitHub's `pull_request_target`: the base's rights, perhaps with the head's code.
    PullRequestTarget,
    /// A merge queue or merge train.
    MergeQueue,
    /// A tag.
    Tag,
    /// A schedule.
    Schedule,
    /// Started by hand or by an API call.
    Manual,
    /// GitHub's `workflow_run`: after another workflow.
    WorkflowRun,
    /// Something else.
    Other,
}

/// The pull or merge request a job belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequest {
    /// Its number (GitLab: the `iid`). `None` while it has to be looked up (`workflow_run` of a fork).
    pub number: Option<u64>,
    /// `owner` of the head repository and the head branch, for the look-up.
    pub head: Option<(String, String)>,
    /// The head commit.
    pub head_sha: Option<String>,
    /// The branch it is to be merged into.
    pub base_branch: Option<String>,
    /// The project that holds it, where that is not the job's (GitLab).
    pub project: Option<String>,
}

/// Whether something can be done, and if not, why and what helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "can", rename_all = "lowercase")]
pub enum Capability {
    /// It can.
    Yes,
    /// It cannot: the cause and the remedy, each a sentence fragment.
    No {
        /// Why not.
        why: String,
        /// What enables it.
        remedy: String,
    },
}

impl Capability {
    /// Whether it can be done.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// It cannot.
    pub fn no(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::No { why: why.into(), remedy: remedy.into() }
    }
}

/// What platform, event and token allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// A sticky comment on the pull or merge request.
    pub comment: Capability,
    /// A baseline of the default branch.
    pub baseline: Capability,
    /// A commit with badges.
    pub badge: Capability,
    /// A direct upload to code scanning.
    pub sarif: Capability,
    /// A job summary.
    pub summary: Capability,
    /// Annotations in the log.
    pub annotations: Capability,
    /// Outputs for later steps or jobs.
    pub outputs: Capability,
}

/// Where a job runs. Holds no secret: tokens are read by name when they are needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The platform.
    pub platform: Platform,
    /// GitHub Enterprise Server: no `upload-artifact` v4, other API root.
    pub enterprise: bool,
    /// What started the job.
    pub event: Event,
    /// The platform's own word for it (`pull_request`, `merge_request_event`).
    pub event_name: String,
    /// The repository: `owner/name` (GitHub), the project's id (GitLab).
    pub repository: Option<String>,
    /// The repository's numeric id.
    pub repository_id: Option<u64>,
    /// The branch that was pushed or is proposed.
    pub branch: Option<String>,
    /// The default branch.
    pub default_branch: Option<String>,
    /// The full ref (`refs/pull/7/merge`).
    pub git_ref: Option<String>,
    /// The commit that is checked out.
    pub sha: Option<String>,
    /// The commit or branch it is compared with, where the event names one.
    pub base_sha: Option<String>,
    /// The pull or merge request.
    pub pull_request: Option<PullRequest>,
    /// The page of this run.
    pub run_url: Option<String>,
    /// The run's id (GitHub), the job's id (GitLab).
    pub run_id: Option<u64>,
    /// The run that triggered this one (`workflow_run`).
    pub triggering_run_id: Option<u64>,
    /// The job's name.
    pub job: Option<String>,
    /// Root of the REST API, without a slash at its end.
    pub api_url: Option<String>,
    /// Root of the web pages, without a slash at its end.
    pub server_url: Option<String>,
    /// Where the job summary goes (GitHub).
    pub summary_file: Option<PathBuf>,
    /// Where outputs go (GitHub).
    pub output_file: Option<PathBuf>,
    /// The directory that was checked out.
    pub workspace: Option<PathBuf>,
    /// The variable that holds the publishing token, when one is set.
    pub token_variable: Option<String>,
    /// A private CA to trust (`CI_SERVER_TLS_CA_FILE`).
    pub ca_file: Option<PathBuf>,
    /// What can be done.
    pub capabilities: Capabilities,
}
