//! Commits of several files at once through the Git data API, and branches without history.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    badge::{File, MESSAGE},
    client::Client,
    error::{ApiError, Kind},
};

#[derive(Debug, Deserialize)]
struct Object {
    sha: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Commit {
    sha: Option<String>,
    commit: Option<Details>,
}

#[derive(Debug, Deserialize)]
struct Details {
    tree: Option<Object>,
}

/// Makes a branch of one commit without a parent. Three calls; `Conflict` when somebody else made the branch meanwhile.
pub(super) async fn orphan(client: &Client, branch: &str, files: &[File]) -> Result<(), ApiError> {
    let tree = tree(client, files, None).await?;
    let commit = commit(client, &tree, &[]).await?;
    let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit });
    client.post(client.repository(&["git", "refs"]), &body).await.map(|_| ())
}

/// Adds one commit to a branch. Four calls; `Conflict` when the branch has moved meanwhile.
pub(super) async fn append(client: &Client, branch: &str, files: &[File]) -> Result<(), ApiError> {
    let head: Commit = client.get(client.repository(&["commits", branch])).await?.json()?;
    let base = head.commit.and_then(|commit| commit.tree?.sha);
    let (Some(parent), Some(base)) = (head.sha, base) else {
        return Err(ApiError::new(Kind::Unexpected, "GitHub names no commit of the branch"));
    };
    let tree = tree(client, files, Some(&base)).await?;
    let commit = commit(client, &tree, &[&parent]).await?;
    let at = client.repository(&["git", "refs", &format!("heads/{branch}")]);
    client.patch(at, &json!({ "sha": commit, "force": false })).await.map(|_| ())
}

async fn tree(client: &Client, files: &[File], base: Option<&str>) -> Result<String, ApiError> {
    let entry = |file: &File| json!({ "path": file.name, "mode": "100644", "type": "blob", "content": file.content });
    let mut body = json!({ "tree": files.iter().map(entry).collect::<Vec<_>>() });
    if let (Some(base), Some(body)) = (base, body.as_object_mut()) {
        body.insert("base_tree".to_owned(), Value::from(base));
    }
    made(client.post(client.repository(&["git", "trees"]), &body).await?.json()?)
}

async fn commit(client: &Client, tree: &str, parents: &[&str]) -> Result<String, ApiError> {
    let body = json!({ "message": MESSAGE, "tree": tree, "parents": parents });
    made(client.post(client.repository(&["git", "commits"]), &body).await?.json()?)
}

fn made(object: Object) -> Result<String, ApiError> {
    object.sha.ok_or_else(|| ApiError::new(Kind::Unexpected, "GitHub names no id of what it made"))
}
