//! Reports in artifacts: the default branch's as the baseline, and the one of the run that triggered this.

use std::fmt::Write as _;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    super::{Capability, Context, Notice, archive},
    client::Client,
    error::{ApiError, Kind},
    limits::Limits,
};

/// What both calls need.
const PERMISSION: &str = "actions: read";
/// Pages of artifacts that are looked through: those of pull requests have the same name.
const PAGES: usize = 5;
const PAGE: usize = 100;

#[derive(Debug, Clone, Deserialize)]
struct Listing {
    artifacts: Vec<Artifact>,
}

#[derive(Debug, Clone, Deserialize)]
struct Artifact {
    id: Option<u64>,
    name: Option<String>,
    size_in_bytes: Option<u64>,
    expired: Option<bool>,
    digest: Option<String>,
    workflow_run: Option<Run>,
}

#[derive(Debug, Clone, Deserialize)]
struct Run {
    id: Option<u64>,
    repository_id: Option<u64>,
    head_repository_id: Option<u64>,
    head_branch: Option<String>,
}

/// The report that the default branch left behind, as untrusted bytes: the newest artifact of that name which a run of that branch of this very
/// repository made. A branch of a fork with the same name does not count.
///
/// Two calls: a list and a download.
///
/// # Errors
/// `Skipped` when there is none, `Failed` when there is one that cannot be had or read.
pub async fn baseline(context: &Context, token: &str, artifact_name: &str, limits: Limits) -> Result<Vec<u8>, Notice> {
    let failed = |error: ApiError| error.notice("no baseline", PERMISSION);
    let skipped = |why: String, remedy: String| Notice::Skipped { what: "no baseline".to_owned(), why, remedy };
    if let Capability::No { why, remedy } = &context.capabilities.baseline {
        return Err(skipped(why.clone(), remedy.clone()));
    }
    let Some(branch) = &context.default_branch else {
        return Err(skipped("the default branch is not known".to_owned(), "pass --baseline FILE".to_owned()));
    };
    let client = Client::open(context, token, limits).map_err(failed)?;
    let found = newest(&client, context, branch, artifact_name).await.map_err(failed)?;
    let artifact = found.map_err(|why| skipped(why, format!("the next run on {branch} leaves one behind")))?;
    fetch(&client, "no baseline", &artifact).await
}

/// The report of the workflow run that triggered this one (`workflow_run`). It may come from a fork: untrusted.
///
/// # Errors
/// `Failed`, always: without a report there is nothing to publish.
pub async fn triggering_report(
    context: &Context,
    token: &str,
    artifact_name: &str,
    limits: Limits,
) -> Result<Vec<u8>, Notice> {
    let what = "nothing was published";
    let failed = |error: ApiError| error.notice(what, PERMISSION);
    let client = Client::open(context, token, limits).map_err(failed)?;
    let missing =
        |cause: String, remedy: &str| Notice::Failed { what: what.to_owned(), cause, remedy: remedy.to_owned() };
    let Some(run) = context.triggering_run_id else {
        return Err(missing(
            "no workflow run triggered this one".to_owned(),
            "use --report, or the workflow_run event",
        ));
    };
    let at = |page: usize| {
        let query = [("name", artifact_name), ("per_page", "100"), ("page", &*page.to_string())];
        client.query(&["actions", "runs", &run.to_string(), "artifacts"], &query)
    };
    let listing: Listing = client.get(at(1)).await.and_then(|reply| reply.json()).map_err(failed)?;
    let mut named: Vec<Artifact> =
        listing.artifacts.into_iter().filter(|artifact| artifact.name.as_deref() == Some(artifact_name)).collect();
    let all = named.len();
    named.retain(|artifact| artifact.expired != Some(true));
    let Some(artifact) = named.into_iter().max_by_key(|artifact| artifact.id) else {
        let state = if all == 0 { "has no artifact" } else { "has only an expired artifact" };
        return Err(missing(
            format!("the run that triggered this one {state} named {artifact_name}"),
            "let it upload the JSON report under that name, also when the gate is missed",
        ));
    };
    fetch(&client, what, &artifact).await
}

/// The artifact, or why there is none.
async fn newest(
    client: &Client,
    context: &Context,
    branch: &str,
    name: &str,
) -> Result<Result<Artifact, String>, ApiError> {
    let (mut expired, mut foreign) = (0usize, 0usize);
    for page in 1..=PAGES {
        let query = [("name", name), ("per_page", "100"), ("page", &*page.to_string())];
        let listing: Listing = client.get(client.query(&["actions", "artifacts"], &query)).await?.json()?;
        let full = listing.artifacts.len() >= PAGE;
        let mut usable = Vec::new();
        for artifact in listing.artifacts.into_iter().filter(|artifact| artifact.name.as_deref() == Some(name)) {
            match artifact.workflow_run.as_ref().map(|run| standing(run, context, branch)) {
                Some(Standing::Ours) if artifact.expired == Some(true) => expired += 1,
                Some(Standing::Ours) => usable.push(artifact),
                Some(Standing::This) => {}
                Some(Standing::Foreign) | None => foreign += 1,
            }
        }
        // Ids grow with time.
        if let Some(artifact) = usable.into_iter().max_by_key(|artifact| artifact.id) {
            return Ok(Ok(artifact));
        }
        if !full {
            break;
        }
    }
    let mut why = format!("branch {branch} has no artifact named {name}");
    if expired > 0 {
        let _ = write!(why, " that has not expired");
    }
    if foreign > 0 {
        let _ = write!(why, "; {foreign} of other branches or of forks do not count");
    }
    Ok(Err(why))
}

#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// Of the default branch of this repository.
    Ours,
    /// Of this very run.
    This,
    Foreign,
}

fn standing(run: &Run, context: &Context, branch: &str) -> Standing {
    let same_repository = run.head_repository_id.is_some()
        && run.head_repository_id == run.repository_id
        && context.repository_id.is_none_or(|ours| run.repository_id == Some(ours));
    if !same_repository || run.head_branch.as_deref() != Some(branch) {
        Standing::Foreign
    } else if run.id.is_some() && run.id == context.run_id {
        Standing::This
    } else {
        Standing::Ours
    }
}

async fn fetch(client: &Client, what: &str, artifact: &Artifact) -> Result<Vec<u8>, Notice> {
    let broken = |cause: String| Notice::Failed {
        what: what.to_owned(),
        cause,
        remedy: "see what the artifact holds; it should be sealmark's JSON report alone".to_owned(),
    };
    let limit = client.limits.artifact;
    if let Some(size) = artifact.size_in_bytes.filter(|size| *size > limit as u64) {
        return Err(broken(format!("the artifact has {size} bytes, and at most {limit} are read")));
    }
    let Some(id) = artifact.id else { return Err(broken("GitHub names no id of the artifact".to_owned())) };
    let at = client.repository(&["actions", "artifacts", &id.to_string(), "zip"]);
    let bytes = client.download(at).await.map_err(|error| match error.kind {
        Kind::Gone => broken("the artifact has expired".to_owned()),
        _ => error.notice(what, PERMISSION),
    })?;
    if let Some(expected) = artifact.digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"))
        && !expected.eq_ignore_ascii_case(&hex(&Sha256::digest(&bytes)))
    {
        return Err(broken("the artifact is not what GitHub's digest says".to_owned()));
    }
    if !archive::is_archive(&bytes) {
        // It was uploaded without an archive.
        return Ok(bytes);
    }
    archive::read(&bytes, &archive::Limits::default()).map_err(|error| broken(error.to_string()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
