//! Which pull request a run belongs to, by GitHub's own word; nothing that the run left behind is asked.

use serde::Deserialize;

use super::{
    super::{Context, Event},
    client::Client,
    error::ApiError,
};

#[derive(Debug, Clone, Deserialize)]
struct Pull {
    number: Option<u64>,
    state: Option<String>,
    head: Option<Side>,
    base: Option<Side>,
}

#[derive(Debug, Clone, Deserialize)]
struct Side {
    sha: Option<String>,
    #[serde(rename = "ref")]
    branch: Option<String>,
    repo: Option<Repository>,
}

#[derive(Debug, Clone, Deserialize)]
struct Repository {
    full_name: Option<String>,
}

/// The pull request, or why there is none.
pub(super) enum Found {
    Number(u64),
    None { why: &'static str },
}

/// The number of the run's pull request. One call after a `workflow_run`, else none.
pub(super) async fn number(client: &Client, context: &Context) -> Result<Found, ApiError> {
    let Some(request) = &context.pull_request else {
        return Ok(Found::None { why: "the run belongs to no pull request" });
    };
    if context.event != Event::WorkflowRun {
        return Ok(request.number.map_or(Found::None { why: "the event names no pull request" }, Found::Number));
    }
    let Some(sha) = &request.head_sha else {
        return Ok(Found::None { why: "the event names no head commit" });
    };
    let candidates: Vec<Pull> = match (request.number, &request.head) {
        (Some(number), _) => {
            vec![client.get(client.repository(&["pulls", &number.to_string()])).await?.json()?]
        }
        (None, Some((owner, branch))) => {
            let head = format!("{owner}:{branch}");
            let query = [("state", "open"), ("head", head.as_str()), ("per_page", "100")];
            client.get(client.query(&["pulls"], &query)).await?.json()?
        }
        (None, None) => return Ok(Found::None { why: "the event names no head branch" }),
    };
    Ok(choose(&candidates, context, sha))
}

/// The open pull request whose head is exactly the commit that was graded, of the owner whose run it was, into this
/// repository.
fn choose(candidates: &[Pull], context: &Context, sha: &str) -> Found {
    let here = |pull: &&Pull| {
        let base = pull.base.as_ref().and_then(|base| base.repo.as_ref()?.full_name.as_deref());
        base.zip(context.repository.as_deref()).is_some_and(|(base, ours)| base.eq_ignore_ascii_case(ours))
    };
    let owner = context.pull_request.as_ref().and_then(|request| Some(request.head.as_ref()?.0.as_str()));
    let theirs = |pull: &&Pull| {
        let head = pull.head.as_ref().and_then(|head| head.repo.as_ref()?.full_name.as_deref()?.split('/').next());
        pull.state.as_deref() == Some("open")
            && head.zip(owner).is_some_and(|(head, owner)| head.eq_ignore_ascii_case(owner))
    };
    let ours: Vec<&Pull> = candidates.iter().filter(here).filter(theirs).collect();
    if ours.is_empty() {
        return Found::None { why: "no open pull request of this repository has that head branch" };
    }
    let current: Vec<&Pull> =
        ours.into_iter().filter(|pull| pull.head.as_ref().and_then(|head| head.sha.as_deref()) == Some(sha)).collect();
    // One branch may be proposed for several others: the default branch's counts, else the newest.
    let into_default = |pull: &&&Pull| {
        let base = pull.base.as_ref().and_then(|base| base.branch.as_deref());
        base.is_some() && base == context.default_branch.as_deref()
    };
    let newest = || current.iter().max_by_key(|pull| pull.number);
    match current.iter().find(into_default).or_else(newest).and_then(|pull| pull.number) {
        Some(number) => Found::Number(number),
        None => Found::None { why: "the pull request has other commits by now, whose own run comments" },
    }
}
