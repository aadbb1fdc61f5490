//! Where a job runs and what it may do: one value, made from an environment map.

use std::path::{Component, Path, PathBuf};

use serde::{Serialize, Serializer};

/// A CI platform. In JSON it is its [`Platform::word`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Platform {
    /// No CI, or switched off with `CI=false`.
    #[default]
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

impl Platform {
    /// Its name as its makers write it.
    pub fn name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::GitHub => "GitHub Actions",
            Self::Gitea => "Gitea or Forgejo Actions",
            Self::GitLab => "GitLab CI/CD",
            Self::Azure => "Azure Pipelines",
            Self::Bitbucket => "Bitbucket Pipelines",
            Self::CircleCi => "CircleCI",
            Self::Jenkins => "Jenkins",
            Self::Buildkite => "Buildkite",
            Self::Other(name) => name,
            Self::Generic => "a CI system that is not known by name",
        }
    }

    /// One lower-case word for it.
    pub fn word(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::GitHub => "github".to_owned(),
            Self::Gitea => "gitea".to_owned(),
            Self::GitLab => "gitlab".to_owned(),
            Self::Azure => "azure".to_owned(),
            Self::Bitbucket => "bitbucket".to_owned(),
            Self::CircleCi => "circleci".to_owned(),
            Self::Jenkins => "jenkins".to_owned(),
            Self::Buildkite => "buildkite".to_owned(),
            Self::Other(name) => name.to_ascii_lowercase().replace(' ', "-"),
            Self::Generic => "generic".to_owned(),
        }
    }
}

impl Serialize for Platform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.word())
    }
}

/// What started the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
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
    #[default]
    Other,
}

impl Event {
    /// What it is, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::DefaultBranch => "push to the default branch",
            Self::Branch => "push to a branch",
            Self::PullRequest => "pull request",
            Self::ForkPullRequest => "pull request of a fork",
            Self::PullRequestTarget => "pull request with the rights of its base",
            Self::MergeQueue => "merge queue",
            Self::Tag => "tag",
            Self::Schedule => "schedule",
            Self::Manual => "started by hand or by an API call",
            Self::WorkflowRun => "after another workflow",
            Self::Other => "another event",
        }
    }
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

impl Default for Capability {
    fn default() -> Self {
        Self::no("no CI was detected", "run it in a CI job")
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
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
///
/// Every text comes from the platform or from whoever opened a request: names and commits were checked for their shape,
/// and all of it is still to be escaped for its destination. The default is a machine without CI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
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
    /// The commit it is compared with, where the event names one.
    pub base_sha: Option<String>,
    /// The branch that a request or a merge group goes into.
    pub base_branch: Option<String>,
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
    /// The working directory below the workspace, with `/`, empty for the workspace itself; `None` outside of it.
    pub directory: Option<String>,
    /// The variable that holds the publishing token, when one is set.
    pub token_variable: Option<String>,
    /// The variable that holds a token which can only read the baseline (`CI_JOB_TOKEN`), when one is set.
    pub job_token_variable: Option<String>,
    /// A private CA to trust (`CI_SERVER_TLS_CA_FILE`).
    pub ca_file: Option<PathBuf>,
    /// What can be done.
    pub capabilities: Capabilities,
    /// What else somebody should know who wonders why something is not published, each a sentence.
    pub notes: Vec<String>,
}

impl Context {
    /// A path as the platform wants it: relative to the repository's root, with `/`.
    ///
    /// Takes a path relative to the working directory, or an absolute one; `None` for what lies outside of the
    /// repository and for what has control characters in it.
    pub fn in_repository(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let below = match (&self.workspace, &self.directory) {
            _ if path.is_absolute() => path.strip_prefix(self.workspace.as_ref()?).ok()?.to_owned(),
            (Some(_), None) => return None,
            (_, directory) => Path::new(directory.as_deref().unwrap_or_default()).join(path),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()?),
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        let path = parts.join("/");
        (!path.is_empty() && !path.chars().any(char::is_control)).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_repositorys_root() {
        let context = Context {
            workspace: Some("/w/repo".into()),
            directory: Some("packages/api".to_owned()),
            ..Context::default()
        };
        for (path, expected) in [
            ("sealmark.yaml", Some("packages/api/sealmark.yaml")),
            ("./conf/../s.yaml", Some("packages/api/s.yaml")),
            ("../../s.yaml", Some("s.yaml")),
            ("/w/repo/a/s.yaml", Some("a/s.yaml")),
            ("../../../s.yaml", None),
            ("/w/repository/s.yaml", None),
            ("/etc/s.yaml", None),
            ("/w/repo/../x", None),
            ("a\nb.yaml", None),
            ("../..", None),
        ] {
            assert_eq!(context.in_repository(path).as_deref(), expected, "{path}");
        }
        assert_eq!(Context::default().in_repository("a/b.yaml").as_deref(), Some("a/b.yaml"));
        let outside = Context { directory: None, ..context };
        assert_eq!(outside.in_repository("sealmark.yaml"), None);
    }

    #[test]
    fn a_platform_is_one_word_in_json() {
        let words = [Platform::GitHub, Platform::CircleCi, Platform::Other("AWS CodeBuild".to_owned())];
        assert_eq!(serde_json::to_string(&words).unwrap(), r#"["github","circleci","aws-codebuild"]"#);
    }
}
