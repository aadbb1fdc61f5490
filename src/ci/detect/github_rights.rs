//! GitHub: event, payload and token → what can be done, and what enables the rest.

use super::github::{Payload, Trust};
use crate::ci::{Capabilities, Capability, Context, Event};

/// What publishes for a job that has no rights of its own.
const SECOND_WORKFLOW: &str =
    "let a second workflow, on workflow_run, publish its report: sealmark publish --artifact (docs/github.md)";

pub(super) fn capabilities(context: &Context, trust: Trust) -> Capabilities {
    Capabilities {
        comment: comment(context, trust),
        baseline: baseline(context, trust),
        badge: badge(context, trust),
        sarif: sarif(context, trust),
        summary: file(context.summary_file.is_some(), "GITHUB_STEP_SUMMARY"),
        annotations: Capability::Yes,
        outputs: file(context.output_file.is_some(), "GITHUB_OUTPUT"),
    }
}

/// Sentences that belong to no capability.
pub(super) fn notes(context: &Context, trust: Trust) -> Vec<String> {
    let mut notes = Vec::new();
    if context.enterprise {
        notes.push(
            "GitHub Enterprise Server takes no artifacts from actions/upload-artifact v4 and later: upload the report \
             with actions/upload-artifact@v3."
                .to_owned(),
        );
    }
    if trust.dependabot {
        notes.push(
            "Dependabot started this run: its token only reads, unless the workflow's `permissions` say more, and \
             secrets come from the Dependabot secrets."
                .to_owned(),
        );
    }
    if trust.payload == Payload::Contradicts {
        notes.push("The event payload is not used: it contradicts GITHUB_REPOSITORY or GITHUB_REF.".to_owned());
    }
    notes
}

fn comment(context: &Context, trust: Trust) -> Capability {
    let elsewhere = "run on pull_request as well";
    match context.event {
        Event::PullRequest | Event::WorkflowRun => {}
        Event::ForkPullRequest => {
            return Capability::no("a pull request of a fork gets a token that only reads", SECOND_WORKFLOW);
        }
        Event::PullRequestTarget => return target(),
        Event::MergeQueue => {
            return Capability::no("a merge group belongs to no single pull request", elsewhere);
        }
        _ => return Capability::no("this run belongs to no pull request", elsewhere),
    }
    if let Some(no) = payload(trust) {
        return no;
    }
    match &context.pull_request {
        None => Capability::no("the run before this one was not for a pull request", elsewhere),
        Some(request) if request.number.is_none() && (request.head.is_none() || request.head_sha.is_none()) => {
            Capability::no(
                "the repository of the request's head is gone",
                "open the request again from one that exists",
            )
        }
        Some(_) => reachable(context),
    }
}

fn baseline(context: &Context, trust: Trust) -> Capability {
    if context.default_branch.is_none() {
        let unknown = "the default branch is not known without the event payload";
        return payload(trust).unwrap_or_else(|| Capability::no(unknown, "pass --baseline FILE"));
    }
    reachable(context)
}

fn badge(context: &Context, trust: Trust) -> Capability {
    let remedy = "push to the default branch";
    let why = match context.event {
        Event::DefaultBranch => return reachable(context),
        Event::Branch if context.default_branch.is_none() => {
            return payload(trust)
                .unwrap_or_else(|| Capability::no("the default branch is not known", "look at GITHUB_EVENT_PATH"));
        }
        Event::Branch => "this is not the default branch",
        Event::Tag => "a tag is not the default branch",
        Event::PullRequest | Event::ForkPullRequest | Event::PullRequestTarget => {
            "a pull request may be closed without a merge"
        }
        Event::MergeQueue => "a merge group may be dropped from the queue",
        Event::Schedule | Event::Manual | Event::WorkflowRun | Event::Other => {
            "badges are committed after a push to the default branch alone"
        }
    };
    Capability::no(why, remedy)
}

fn sarif(context: &Context, trust: Trust) -> Capability {
    let step = "let the action upload it in the pull_request job: github/codeql-action/upload-sarif";
    match context.event {
        Event::ForkPullRequest => return Capability::no("code scanning refuses the token of a fork's request", step),
        Event::PullRequestTarget => return target(),
        Event::MergeQueue => {
            return Capability::no("results of a merge group belong to no branch", "upload them on push");
        }
        Event::WorkflowRun => {
            return Capability::no("on workflow_run results would be filed under the default branch", step);
        }
        Event::PullRequest => {
            if let Some(no) = payload(trust) {
                return no;
            }
        }
        _ => {}
    }
    if trust.dependabot {
        return Capability::no("code scanning refuses the token of a run that Dependabot started", step);
    }
    if context.sha.is_none() || context.git_ref.is_none() {
        return Capability::no("GITHUB_SHA and GITHUB_REF do not name a commit", "run it in a step of the job");
    }
    reachable(context)
}

/// Whether there is something to reach and a token to reach it with.
fn reachable(context: &Context) -> Capability {
    if context.repository.is_none() {
        return Capability::no("GITHUB_REPOSITORY names no repository", "leave it as GitHub sets it");
    }
    if context.api_url.is_none() {
        return Capability::no("GITHUB_API_URL is not an address", "leave it as GitHub sets it");
    }
    if context.token_variable.is_none() {
        return Capability::no(
            "there is no token",
            "give the step `GITHUB_TOKEN: ${{ github.token }}` under `env:`, and the job its `permissions`",
        );
    }
    Capability::Yes
}

/// Why a payload is no ground to stand on, when it is none.
fn payload(trust: Trust) -> Option<Capability> {
    match trust.payload {
        Payload::Read => None,
        Payload::Missing => Some(Capability::no(
            "the event payload could not be read",
            "leave GITHUB_EVENT_PATH as GitHub sets it, and mount that file into a container",
        )),
        Payload::Contradicts => Some(Capability::no(
            "the event payload contradicts GITHUB_REPOSITORY or GITHUB_REF",
            "leave the three as GitHub sets them",
        )),
    }
}

fn target() -> Capability {
    Capability::no(
        "pull_request_target lends the rights of the base to what may be the request's code",
        "run on pull_request instead, and publish for forks from a second workflow on workflow_run",
    )
}

fn file(there: bool, variable: &str) -> Capability {
    if there {
        return Capability::Yes;
    }
    Capability::no(format!("{variable} names no file"), "leave it as the runner sets it")
}
