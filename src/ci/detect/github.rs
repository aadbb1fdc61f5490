//! GitHub Actions and what speaks its language (Gitea, Forgejo): variables and payload → facts.

use serde_json::Value;

use super::{
    facts::{self, Env, at, number_at, text_at},
    files_alone, github_rights,
};
use crate::ci::{Capability, Context, Event, Platform, PullRequest};

/// Variables that may hold the publishing token, in this order.
const TOKENS: &[&str] = &["SEALMARK_TOKEN", "GITHUB_TOKEN"];

/// The payload of the event, as far as it can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    /// It was read and is about this repository.
    Read,
    /// There is none.
    Missing,
    /// It contradicts the variables: another repository or another pull request.
    Contradicts,
}

/// What decides on rights besides the context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust {
    pub(super) payload: Payload,
    /// Dependabot started the run.
    pub(super) dependabot: bool,
}

/// What `GITHUB_REF` names.
#[derive(Debug, PartialEq, Eq)]
enum Ref {
    Branch(String),
    Tag,
    Pull(u64),
    Unknown,
}

pub(super) fn context(env: Env<'_>, event: Option<&Value>) -> Context {
    let gitea = ["GITEA_ACTIONS", "FORGEJO_ACTIONS"].iter().any(|name| env.on(name));
    let repository = env.text("GITHUB_REPOSITORY").and_then(facts::repository);
    let ours = |event: &Value| match (text_at(event, &["repository", "full_name"]), &repository) {
        (Some(named), Some(ours)) => named.eq_ignore_ascii_case(ours),
        _ => true,
    };
    let (event, mut payload) = match event {
        None => (None, Payload::Missing),
        Some(event) if ours(event) => (Some(event), Payload::Read),
        Some(_) => (None, Payload::Contradicts),
    };
    let null = Value::Null;
    let event = event.unwrap_or(&null);
    let name = env.text("GITHUB_EVENT_NAME").unwrap_or_default();
    let git_ref = env.text("GITHUB_REF");
    let reference = git_ref.map_or(Ref::Unknown, parse);
    let server_url = env.url("GITHUB_SERVER_URL");
    let default_branch = text_at(event, &["repository", "default_branch"]).and_then(facts::branch);
    let mut context = Context {
        platform: if gitea { Platform::Gitea } else { Platform::GitHub },
        enterprise: !gitea && server_url.as_deref().is_some_and(is_enterprise),
        event_name: name.to_owned(),
        repository_id: env.number("GITHUB_REPOSITORY_ID").or_else(|| number_at(event, &["repository", "id"])),
        branch: match &reference {
            Ref::Branch(branch) => Some(branch.clone()),
            _ => None,
        },
        default_branch,
        git_ref: git_ref.map(str::to_owned),
        sha: env.sha("GITHUB_SHA"),
        run_id: env.number("GITHUB_RUN_ID"),
        job: env.text("GITHUB_JOB").map(str::to_owned),
        api_url: env.url("GITHUB_API_URL"),
        server_url,
        summary_file: env.path("GITHUB_STEP_SUMMARY"),
        output_file: env.path("GITHUB_OUTPUT"),
        workspace: env.path("GITHUB_WORKSPACE"),
        token_variable: env.first_set(TOKENS),
        ..Context::default()
    };
    context.run_url = run_url(&context, repository.as_deref());
    context.repository = repository;
    payload = about(&mut context, env, event, &reference, payload);
    let trust = Trust { payload, dependabot: env.text("GITHUB_ACTOR") == Some("dependabot[bot]") };
    context.capabilities = github_rights::capabilities(&context, trust);
    if gitea {
        let files = files_alone(&context.platform);
        let capabilities = &mut context.capabilities;
        (capabilities.comment, capabilities.baseline) = (files.comment, files.baseline);
        (capabilities.badge, capabilities.sarif) = (files.badge, files.sarif);
        capabilities.annotations = Capability::no("Gitea and Forgejo show no annotations", "use --format junit");
    } else {
        context.notes = github_rights::notes(&context, trust);
    }
    context
}

/// What is said about the event itself; returns whether the payload still counts.
fn about(context: &mut Context, env: Env<'_>, event: &Value, reference: &Ref, payload: Payload) -> Payload {
    let on_default = context.branch.is_some() && context.branch == context.default_branch;
    context.event = match (context.event_name.as_str(), reference) {
        ("push" | "release", Ref::Tag) => Event::Tag,
        ("push", _) if on_default => Event::DefaultBranch,
        ("push", Ref::Branch(_)) => Event::Branch,
        ("schedule", _) => Event::Schedule,
        ("workflow_dispatch" | "repository_dispatch", _) => Event::Manual,
        ("merge_group", _) => Event::MergeQueue,
        ("workflow_run", _) => Event::WorkflowRun,
        ("pull_request_target", _) => Event::PullRequestTarget,
        ("pull_request" | "pull_request_review" | "pull_request_review_comment", _) => Event::PullRequest,
        _ => Event::Other,
    };
    match context.event {
        Event::DefaultBranch | Event::Branch => {
            context.base_sha = text_at(event, &["before"]).and_then(facts::sha);
        }
        Event::MergeQueue => {
            let head = text_at(event, &["merge_group", "head_ref"]).map(parse);
            if let Some(Ref::Branch(branch)) = head {
                context.branch = Some(branch);
            }
            context.base_sha = text_at(event, &["merge_group", "base_sha"]).and_then(facts::sha);
            if let Some(Ref::Branch(base)) = text_at(event, &["merge_group", "base_ref"]).map(parse) {
                context.base_branch = Some(base);
            }
        }
        Event::WorkflowRun => workflow_run(context, event),
        Event::PullRequest | Event::PullRequestTarget => return pull_request(context, env, event, reference, payload),
        _ => {}
    }
    payload
}

fn pull_request(context: &mut Context, env: Env<'_>, event: &Value, reference: &Ref, payload: Payload) -> Payload {
    let request = at(event, &["pull_request"]);
    let get = |path: &[&str]| request.and_then(|request| text_at(request, path));
    let by_ref = match reference {
        Ref::Pull(number) => Some(*number),
        _ => None,
    };
    let told = request.and_then(|request| number_at(request, &["number"]));
    let payload = match (payload, told, by_ref) {
        (Payload::Read, None, _) => Payload::Missing,
        (Payload::Read, Some(told), Some(by_ref)) if told != by_ref => Payload::Contradicts,
        (payload, ..) => payload,
    };
    if payload == Payload::Read && context.event == Event::PullRequest && !same_repository(event) {
        context.event = Event::ForkPullRequest;
    }
    let head_branch = get(&["head", "ref"]).and_then(facts::branch).or_else(|| env.branch("GITHUB_HEAD_REF"));
    let owner = get(&["head", "repo", "owner", "login"]).or_else(|| get(&["head", "user", "login"]));
    context.branch.clone_from(&head_branch);
    context.base_branch = get(&["base", "ref"]).and_then(facts::branch).or_else(|| env.branch("GITHUB_BASE_REF"));
    context.base_sha = get(&["base", "sha"]).and_then(facts::sha);
    let number = match payload {
        Payload::Read => told,
        Payload::Missing => by_ref,
        Payload::Contradicts => None,
    };
    context.pull_request = Some(PullRequest {
        number,
        head: owner.and_then(facts::login).zip(head_branch),
        head_sha: get(&["head", "sha"]).and_then(facts::sha),
        base_branch: context.base_branch.clone(),
        project: None,
    });
    payload
}

/// Whether head and base of a request are one repository: only what is proven counts, a deleted fork is a fork.
fn same_repository(event: &Value) -> bool {
    let head = at(event, &["pull_request", "head", "repo"]);
    let base = at(event, &["pull_request", "base", "repo"]).or_else(|| at(event, &["repository"]));
    head.zip(base).is_some_and(|(head, base)| one(head, base))
}

/// Whether two entries are one repository, by id, else by name.
fn one(left: &Value, right: &Value) -> bool {
    match (number_at(left, &["id"]), number_at(right, &["id"])) {
        (Some(left), Some(right)) => left == right,
        _ => {
            let (left, right) = (text_at(left, &["full_name"]), text_at(right, &["full_name"]));
            left.zip(right).is_some_and(|(left, right)| left.eq_ignore_ascii_case(right))
        }
    }
}

/// The run that came before, and the request it was for. Everything here was set by GitHub, not by that run.
fn workflow_run(context: &mut Context, event: &Value) {
    let Some(run) = at(event, &["workflow_run"]) else { return };
    context.triggering_run_id = number_at(run, &["id"]);
    let branch = text_at(run, &["head_branch"]).and_then(facts::branch);
    context.branch.clone_from(&branch);
    if !matches!(text_at(run, &["event"]), Some("pull_request")) {
        return;
    }
    let head_sha = text_at(run, &["head_sha"]).and_then(facts::sha);
    let head = at(run, &["head_repository"]);
    let base = at(event, &["repository"]);
    let same = head.zip(base).is_some_and(|(head, base)| one(head, base));
    // Lists requests of this repository's own branches alone; an entry of an older push is not this run's.
    let listed = at(run, &["pull_requests"]).and_then(Value::as_array).into_iter().flatten().find(|request| {
        let sha = text_at(request, &["head", "sha"]).and_then(facts::sha);
        let into = number_at(request, &["base", "repo", "id"]);
        same && sha.is_some() && sha == head_sha && into == base.and_then(|base| number_at(base, &["id"]))
    });
    let owner = head.and_then(|head| text_at(head, &["owner", "login"])).and_then(facts::login);
    context.base_branch = listed.and_then(|request| text_at(request, &["base", "ref"])).and_then(facts::branch);
    context.pull_request = Some(PullRequest {
        number: listed.and_then(|request| number_at(request, &["number"])),
        head: owner.zip(branch),
        head_sha,
        base_branch: context.base_branch.clone(),
        project: None,
    });
}

fn parse(reference: &str) -> Ref {
    if let Some(branch) = reference.strip_prefix("refs/heads/") {
        return facts::branch(branch).map_or(Ref::Unknown, Ref::Branch);
    }
    if let Some(tag) = reference.strip_prefix("refs/tags/") {
        return facts::branch(tag).map_or(Ref::Unknown, |_| Ref::Tag);
    }
    let number = reference.strip_prefix("refs/pull/").and_then(|rest| rest.split_once('/'));
    match number {
        Some((number, "merge" | "head")) => facts::number(number).map_or(Ref::Unknown, Ref::Pull),
        _ => Ref::Unknown,
    }
}

/// GitHub Enterprise Server, by the rule of the `actions/toolkit` packages.
fn is_enterprise(server_url: &str) -> bool {
    let host = reqwest::Url::parse(server_url).ok().and_then(|url| url.host_str().map(str::to_ascii_lowercase));
    host.is_some_and(|host| host != "github.com" && !host.ends_with(".ghe.com") && !host.ends_with(".localhost"))
}

fn run_url(context: &Context, repository: Option<&str>) -> Option<String> {
    Some(format!("{}/{}/actions/runs/{}", context.server_url.as_ref()?, repository?, context.run_id?))
}
