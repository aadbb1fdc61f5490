//! The baseline: the report that a job of the base branch left in its artifacts.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::timeout;

use super::{
    Tokens,
    api::{Credential, Fault, Project, text},
    package,
};
use crate::ci::{Context, Notice};

/// The report's file in the directory that holds it.
pub const REPORT_FILE: &str = "sealmark-report.json";

/// A report is not larger, in bytes.
const LIMIT: usize = 64 << 20;
/// How long everything together may take.
const TOTAL: Duration = Duration::from_secs(60);
const NONE: &str = "no baseline";
const FAILED: &str = "the baseline was not fetched";

/// Fetches the report that `job` (without one, the job of the same name) left behind as `artifact`/sealmark-report.json: of
/// the target branch for a merge request, else of the default branch.
///
/// Asked for are, until one has it: the artifacts of the branch's last successful pipeline; of the last successful job of that
/// name (a gate that fails on the default branch keeps its pipelines from succeeding); where artifacts are refused, the
/// package that the default branch then keeps.
///
/// # Errors
/// There is none (a note), or it could not be fetched (a warning).
pub async fn baseline(
    context: &Context,
    tokens: Tokens<'_>,
    job: Option<&str>,
    artifact: &str,
) -> Result<Vec<u8>, Notice> {
    let late = || Fault::Late(TOTAL.as_secs()).notice(FAILED, |_| String::new());
    timeout(TOTAL, fetch(context, tokens, job, artifact)).await.unwrap_or_else(|_| Err(late()))
}

async fn fetch(context: &Context, tokens: Tokens<'_>, job: Option<&str>, artifact: &str) -> Result<Vec<u8>, Notice> {
    let skipped = |why: String, remedy: &str| Notice::Skipped { what: NONE.to_owned(), why, remedy: remedy.to_owned() };
    let request = context.pull_request.as_ref();
    let project = request.and_then(|request| request.project.as_ref()).or(context.repository.as_ref());
    let Some(project) = project else {
        return Err(skipped("the project is not known".to_owned(), "CI_PROJECT_ID must be set"));
    };
    let branch = context.base_branch.as_ref().or(context.default_branch.as_ref());
    let Some(branch) = branch else {
        return Err(skipped("the base branch is not known".to_owned(), "CI_DEFAULT_BRANCH must be set"));
    };
    let Some(job) = job.or(context.job.as_deref()) else {
        return Err(skipped("the job is not known".to_owned(), "CI_JOB_NAME must be set, or --baseline-job given"));
    };
    let own = context.repository.as_ref() == Some(project);
    let shelf = Shelf {
        project: Project::open(context, project).map_err(|fault| fault.notice(FAILED, |_| String::new()))?,
        own,
        branch,
        job,
        path: path(artifact),
    };
    let mut refusal = None;
    for credential in credentials(tokens, own) {
        match shelf.find(credential).await {
            Ok(Some(report)) => return Ok(report),
            Ok(None) => {
                let why = format!("no successful job {job} of branch {branch} has kept {}", shelf.path.join("/"));
                return Err(skipped(why, "it is there after the first run on that branch"));
            }
            // A project that may not be seen is answered with 404.
            Err(fault) if matches!(fault.code(), Some(401 | 403 | 404)) => refusal = Some(fault),
            Err(fault) => return Err(fault.notice(FAILED, |_| String::new())),
        }
    }
    let Some(refusal) = refusal else {
        return Err(skipped("there is neither a job token nor another one".to_owned(), "CI_JOB_TOKEN must be set"));
    };
    match package::fetch(&shelf.project, tokens, own, branch, job, LIMIT).await {
        Some(report) => Ok(report),
        None if own => Err(refusal.notice(FAILED, |_| {
            "let the job token read artifacts (artifacts:access), or set SEALMARK_GITLAB_TOKEN with the scope read_api".to_owned()
        })),
        None => Err(skipped(
            "the artifacts of the project it was forked from cannot be read".to_owned(),
            "a job of a fork reads those of public projects alone; a pipeline that a member starts in the parent project reads all",
        )),
    }
}

/// The parts of the report's path in the artifacts.
pub(super) fn path(artifact: &str) -> Vec<&str> {
    artifact.split('/').filter(|part| !matches!(*part, "" | "." | "..")).chain([REPORT_FILE]).collect()
}

/// Who may be able to read, the likeliest first. A job token of a fork means nothing to the project it was forked from.
fn credentials<'a>(tokens: Tokens<'a>, own: bool) -> impl Iterator<Item = Credential<'a>> {
    let job = tokens.job.filter(|token| own && !token.is_empty()).map(Credential::Job);
    let personal = tokens.personal.filter(|token| !token.is_empty()).map(Credential::Personal);
    let nobody = (!own).then_some(Credential::Nobody);
    [job, personal, nobody].into_iter().flatten()
}

/// A job as far as it matters here.
#[derive(Debug, Deserialize)]
struct Job {
    id: u64,
    #[serde(default, deserialize_with = "text")]
    name: String,
    #[serde(default, rename = "ref", deserialize_with = "text")]
    branch: String,
    #[serde(default)]
    tag: bool,
}

/// Where the report may lie.
struct Shelf<'a> {
    project: Project,
    /// The job's own project: a 404 is about the file.
    own: bool,
    branch: &'a str,
    job: &'a str,
    path: Vec<&'a str>,
}

impl Shelf<'_> {
    async fn find(&self, credential: Credential<'_>) -> Result<Option<Vec<u8>>, Fault> {
        let mut url = self.project.at(&[&["jobs", "artifacts", self.branch, "raw"], &self.path[..]].concat());
        url.query_pairs_mut().append_pair("job", self.job);
        if let Some(report) = self.read(url.as_str(), credential).await? {
            return Ok(Some(report));
        }
        let mut url = self.project.at(&["jobs"]);
        url.query_pairs_mut().extend_pairs([("scope[]", "success"), ("per_page", "100")]);
        let jobs: Vec<Job> = match self.project.document(&url, credential).await {
            Ok((jobs, _)) => jobs,
            // Older instances let no job token list jobs; then the first answer stands.
            Err(fault) if self.own && matches!(fault.code(), Some(401 | 403 | 404)) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let fits = |job: &&Job| job.name == self.job && job.branch == self.branch && !job.tag;
        let Some(newest) = jobs.iter().filter(fits).max_by_key(|job| job.id) else { return Ok(None) };
        let id = newest.id.to_string();
        let url = self.project.at(&[&["jobs", id.as_str(), "artifacts"], &self.path[..]].concat());
        self.read(url.as_str(), credential).await
    }

    /// The file there, `None` when there is none.
    async fn read(&self, url: &str, credential: Credential<'_>) -> Result<Option<Vec<u8>>, Fault> {
        match credential.sign(self.project.http().get(url)).limit(LIMIT).send().await {
            Ok(reply) => Ok(Some(reply.body)),
            Err(error) if error.code() == Some(404) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
