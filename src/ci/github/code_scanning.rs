//! SARIF to code scanning, and what became of it there.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{Context, Event},
    client::Client,
    error::{ApiError, Kind, hide},
};
use crate::text::excerpt;

/// What code scanning takes, packed.
const LARGEST: usize = 10_000_000;
/// How often the state of an upload is asked.
const TRIES: u32 = 5;
/// How much of each processing error is kept, and of how many.
const SAID: usize = 160;
const ERRORS: usize = 3;

/// What became of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Code scanning has read it.
    Read,
    /// It was taken, and not read yet when we stopped asking.
    Pending,
    /// Code scanning finds something wrong with it.
    Refused(String),
}

/// The commit and the ref that results belong to; `number` is the pull request's.
///
/// `pull_request_target` and `workflow_run` run for the default branch, whatever was graded: there the head of the pull
/// request counts and nothing else.
pub(super) fn place(context: &Context, number: Option<u64>) -> Option<(String, String)> {
    let elsewhere = matches!(context.event, Event::WorkflowRun | Event::PullRequestTarget);
    let head = context.pull_request.as_ref().and_then(|request| request.head_sha.as_ref()).filter(|sha| is_id(sha));
    if let Some((number, sha)) = number.zip(head)
        && (elsewhere || context.sha.as_ref() == Some(sha))
    {
        return Some((sha.clone(), format!("refs/pull/{number}/head")));
    }
    let (sha, git_ref) = (context.sha.as_ref()?, context.git_ref.as_ref()?);
    let known = ["refs/heads/", "refs/tags/", "refs/pull/"].iter().any(|start| git_ref.starts_with(start));
    (known && is_id(sha) && !elsewhere).then(|| (sha.clone(), git_ref.clone()))
}

fn is_id(sha: &str) -> bool {
    matches!(sha.len(), 40 | 64) && sha.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[derive(Debug, Deserialize)]
struct Receipt {
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct State {
    processing_status: Option<String>,
    errors: Option<Vec<String>>,
}

/// Sends one document and waits for what code scanning makes of it, within the time for publishing.
pub(super) async fn upload(
    client: &Client,
    (sha, git_ref): &(String, String),
    sarif: &[u8],
) -> Result<Outcome, ApiError> {
    let packed = pack(sarif)?;
    let body = json!({ "commit_sha": sha, "ref": git_ref, "sarif": STANDARD.encode(packed), "tool_name": "sealmark" });
    let receipt: Receipt = client.post(client.repository(&["code-scanning", "sarifs"]), &body).await?.json()?;
    let Some(id) = receipt.id else { return Ok(Outcome::Pending) };
    let mut wait = client.limits.poll;
    for _ in 0..TRIES {
        // No time left is no failure: the document was taken.
        if client.wait(wait).await.is_err() {
            return Ok(Outcome::Pending);
        }
        wait *= 2;
        let state: State = match client.get(client.repository(&["code-scanning", "sarifs", &id])).await {
            Ok(reply) => reply.json()?,
            // The id is not known at once everywhere.
            Err(error) if error.kind == Kind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match state.processing_status.as_deref() {
            Some("complete") => return Ok(Outcome::Read),
            Some("failed") => return Ok(Outcome::Refused(said(client, &state.errors.unwrap_or_default()))),
            _ => {}
        }
    }
    Ok(Outcome::Pending)
}

fn said(client: &Client, errors: &[String]) -> String {
    if errors.is_empty() {
        return "it does not say why".to_owned();
    }
    let each = errors.iter().take(ERRORS).map(|error| excerpt(&hide(error, client.token()), SAID));
    each.collect::<Vec<_>>().join("; ")
}

/// Gzip; refused when it is larger than code scanning takes.
fn pack(sarif: &[u8]) -> Result<Vec<u8>, ApiError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(sarif).and_then(|()| encoder.finish());
    let packed = packed.map_err(|error| ApiError::new(Kind::TooLarge, format!("SARIF cannot be packed: {error}")))?;
    if packed.len() > LARGEST {
        let cause = format!("SARIF has {} bytes when packed, and code scanning takes {LARGEST}", packed.len());
        return Err(ApiError::new(Kind::TooLarge, cause));
    }
    Ok(packed)
}
