//! GitLab CI/CD: predefined variables → facts and rights.

use super::facts::Env;
use crate::ci::{Capabilities, Capability, Context, Event, Platform, PullRequest};

/// Variables that may hold a token which writes notes, in this order. A job's own token cannot.
const TOKENS: &[&str] = &["SEALMARK_GITLAB_TOKEN", "GITLAB_TOKEN"];
/// The job's own token: reads artifacts.
const JOB_TOKEN: &[&str] = &["CI_JOB_TOKEN"];

pub(super) fn context(env: Env<'_>) -> Context {
    let source = env.text("CI_PIPELINE_SOURCE").unwrap_or_default();
    let project = env.number("CI_PROJECT_ID");
    let request = request(env, project);
    let tag = env.branch("CI_COMMIT_TAG");
    let branch = match &request {
        Some(_) => env.branch("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
        None => env.branch("CI_COMMIT_BRANCH"),
    };
    let default_branch = env.branch("CI_DEFAULT_BRANCH");
    let event = event(env, source, request.is_some(), tag.is_some(), branch.is_some() && branch == default_branch);
    let git_ref = match (&request, &tag, &branch) {
        (Some(_), ..) => env.text("CI_MERGE_REQUEST_REF_PATH").map(str::to_owned),
        (None, Some(tag), _) => Some(format!("refs/tags/{tag}")),
        (None, None, Some(branch)) => Some(format!("refs/heads/{branch}")),
        (None, None, None) => None,
    };
    let mut context = Context {
        platform: Platform::GitLab,
        event,
        event_name: source.to_owned(),
        repository: project.map(|id| id.to_string()),
        repository_id: project,
        branch,
        default_branch,
        git_ref,
        sha: env.sha("CI_COMMIT_SHA"),
        base_sha: env.sha("CI_MERGE_REQUEST_DIFF_BASE_SHA").or_else(|| env.sha("CI_COMMIT_BEFORE_SHA")),
        base_branch: request.as_ref().and_then(|request| request.base_branch.clone()),
        pull_request: request,
        run_url: env.url("CI_JOB_URL").or_else(|| env.url("CI_PIPELINE_URL")),
        run_id: env.number("CI_JOB_ID"),
        job: env.text("CI_JOB_NAME").map(str::to_owned),
        api_url: env.url("CI_API_V4_URL"),
        server_url: env.url("CI_SERVER_URL"),
        workspace: env.path("CI_PROJECT_DIR"),
        token_variable: env.first_set(TOKENS),
        job_token_variable: env.first_set(JOB_TOKEN),
        ca_file: env.path("CI_SERVER_TLS_CA_FILE"),
        ..Context::default()
    };
    context.capabilities = capabilities(&context);
    context
}

/// The merge request of the pipeline; a child pipeline carries its parent's variables.
fn request(env: Env<'_>, project: Option<u64>) -> Option<PullRequest> {
    let number = env.number("CI_MERGE_REQUEST_IID")?;
    let branch = env.branch("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME");
    let from = env.text("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH").map(str::to_owned);
    let into = env.number("CI_MERGE_REQUEST_PROJECT_ID").filter(|into| Some(*into) != project);
    Some(PullRequest {
        number: Some(number),
        head: from.zip(branch),
        // In a merged-results pipeline the job's commit is the merge; elsewhere it is the head.
        head_sha: env.sha("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| env.sha("CI_COMMIT_SHA")),
        base_branch: env.branch("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        project: into.map(|into| into.to_string()),
    })
}

fn event(env: Env<'_>, source: &str, request: bool, tag: bool, on_default: bool) -> Event {
    if request {
        let from = env.number("CI_MERGE_REQUEST_SOURCE_PROJECT_ID");
        let one = from.is_some() && from == env.number("CI_MERGE_REQUEST_PROJECT_ID");
        return match env.text("CI_MERGE_REQUEST_EVENT_TYPE") {
            Some("merge_train") => Event::MergeQueue,
            _ if one => Event::PullRequest,
            _ => Event::ForkPullRequest,
        };
    }
    match source {
        "schedule" => Event::Schedule,
        "web" | "webide" | "api" | "trigger" | "pipeline" | "chat" => Event::Manual,
        "push" | "parent_pipeline" if tag => Event::Tag,
        "push" | "parent_pipeline" if on_default => Event::DefaultBranch,
        "push" | "parent_pipeline" if env.has("CI_COMMIT_BRANCH") => Event::Branch,
        _ => Event::Other,
    }
}

fn capabilities(context: &Context) -> Capabilities {
    Capabilities {
        comment: comment(context),
        baseline: baseline(context),
        badge: Capability::no(
            "GitLab draws badges from the job's artifact, so nothing is committed",
            "set the badge's image once in the project's settings (docs/gitlab.md)",
        ),
        sarif: Capability::no(
            "GitLab takes findings from the job's artifacts alone",
            "declare them as artifacts:reports: sarif or sast, or set the component's input",
        ),
        summary: Capability::no(
            "GitLab has no job summary",
            "the log has it, and so has the note on the merge request",
        ),
        annotations: Capability::no("GitLab has no annotations", "use the Code Quality report"),
        outputs: Capability::Yes,
    }
}

fn comment(context: &Context) -> Capability {
    match (context.event, &context.pull_request) {
        (Event::MergeQueue, _) => {
            return Capability::no(
                "a merge train tests the request with others before it",
                "the note comes from the request's own pipeline",
            );
        }
        (_, None) => {
            return Capability::no(
                "this pipeline belongs to no merge request",
                "run the job on merge_request_event as well",
            );
        }
        (_, Some(_)) => {}
    }
    if context.api_url.is_none() || context.repository.is_none() {
        return Capability::no(
            "CI_API_V4_URL and CI_PROJECT_ID do not name a project",
            "leave them as GitLab sets them",
        );
    }
    if context.token_variable.is_some() {
        return Capability::Yes;
    }
    match context.event {
        Event::ForkPullRequest => Capability::no(
            "a fork's pipeline does not get the project's variables, so there is no token",
            "read the reports on the merge request, or let a member start the pipeline in the parent project",
        ),
        _ => Capability::no(
            "a job's own token cannot write notes, and there is no other",
            "set SEALMARK_GITLAB_TOKEN (or GITLAB_TOKEN) to an access token with the api scope, masked and not protected",
        ),
    }
}

fn baseline(context: &Context) -> Capability {
    if context.api_url.is_none() || context.repository.is_none() {
        return Capability::no("CI_API_V4_URL and CI_PROJECT_ID do not name a project", "pass --baseline FILE");
    }
    if context.default_branch.is_none() {
        return Capability::no("CI_DEFAULT_BRANCH is not set", "pass --baseline FILE");
    }
    if context.job_token_variable.is_none() && context.token_variable.is_none() {
        return Capability::no("there is no token", "leave CI_JOB_TOKEN as GitLab sets it");
    }
    Capability::Yes
}
