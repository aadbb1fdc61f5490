//! Badges in a branch: read what is there, commit what differs, and nothing else.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::{
    client::Client,
    error::{ApiError, Kind},
    tree,
};
use crate::{
    config::settings::Format,
    report::{self, RenderOptions, ReportError, RunResult, result::Status},
};

/// How often a commit is tried that something else came before.
const TRIES: u32 = 5;
/// Up to this many files are written one by one: with the listing that is three calls, a commit of several at once is five.
const SINGLY: usize = 2;
/// What is written to a branch starts no other job, whoever's token it is.
pub(super) const MESSAGE: &str = "Update the Sealmark badges [skip ci]";

/// Where the files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// To the root of this branch, which is made without history when it is missing.
    Branch(&'a str),
    /// To a directory of this branch.
    Directory { branch: &'a str, path: &'a str },
}

impl Place<'_> {
    fn branch(&self) -> &str {
        match self {
            Self::Branch(branch) | Self::Directory { branch, .. } => branch,
        }
    }

    fn path(&self, name: &str) -> String {
        match self {
            Self::Branch(_) => name.to_owned(),
            Self::Directory { path, .. } => format!("{}/{name}", path.trim_matches('/')),
        }
    }
}

/// A file to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) content: String,
}

/// What became of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of them were there already.
    Unchanged,
    /// This many were committed.
    Committed(usize),
}

/// The badge and the shields document of every server whose run came to an end: `sealmark.svg` and `sealmark.json` for one
/// server, with the server's name in them for several.
pub(super) fn files(runs: &[RunResult]) -> Result<Vec<File>, ReportError> {
    let options = RenderOptions::default();
    let mut slugs = BTreeMap::<String, usize>::new();
    let mut files = Vec::new();
    for run in runs {
        let mut stem = "sealmark".to_owned();
        if runs.len() > 1 {
            let slug = slug(&run.name);
            let seen = slugs.entry(slug.clone()).or_default();
            *seen += 1;
            stem = if *seen == 1 { format!("sealmark-{slug}") } else { format!("sealmark-{slug}.{seen}") };
        }
        if run.status == Status::Interrupted {
            continue;
        }
        for (format, extension) in [(Format::Badge, "svg"), (Format::Shields, "json")] {
            let content = report::render(format, std::slice::from_ref(run), &options)?;
            let content = String::from_utf8_lossy(&content).into_owned();
            files.push(File { name: format!("{stem}.{extension}"), content });
        }
    }
    Ok(files)
}

/// A server's name as part of a file's: lower-case letters, digits and single dashes.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "server".to_owned() } else { slug.to_owned() }
}

/// Commits the files that differ. One call when none does.
pub(super) async fn commit(client: &Client, place: Place<'_>, files: &[File]) -> Result<Outcome, ApiError> {
    let mut tries = 1;
    loop {
        match attempt(client, place, files).await {
            Err(error) if error.kind == Kind::Conflict && tries < TRIES => {
                // Whoever came first may come again: not at the same pace.
                let jitter = getrandom::u32().unwrap_or_default() % 400;
                client.wait(Duration::from_millis(u64::from(100 * tries + jitter))).await?;
                tries += 1;
            }
            settled => return settled,
        }
    }
}

async fn attempt(client: &Client, place: Place<'_>, files: &[File]) -> Result<Outcome, ApiError> {
    let present = match listing(client, place).await {
        Ok(present) => present,
        Err(error) if error.kind == Kind::NotFound => match place {
            Place::Branch(branch) => {
                tree::orphan(client, branch, files).await?;
                return Ok(Outcome::Committed(files.len()));
            }
            Place::Directory { .. } => BTreeMap::new(),
        },
        Err(error) => return Err(error),
    };
    let differs = |file: &&File| present.get(&file.name).is_none_or(|id| *id != blob(id, file.content.as_bytes()));
    let changed: Vec<&File> = files.iter().filter(differs).collect();
    if changed.len() > SINGLY {
        let entries: Vec<File> =
            (changed.iter()).map(|file| File { name: place.path(&file.name), content: file.content.clone() }).collect();
        tree::append(client, place.branch(), &entries).await?;
    } else {
        for file in &changed {
            put(client, place, file, present.get(&file.name)).await?;
        }
    }
    Ok(if changed.is_empty() { Outcome::Unchanged } else { Outcome::Committed(changed.len()) })
}

async fn put(client: &Client, place: Place<'_>, file: &File, id: Option<&String>) -> Result<(), ApiError> {
    let mut body = json!({
        "message": MESSAGE,
        "content": STANDARD.encode(&file.content),
        "branch": place.branch(),
    });
    if let (Some(id), Some(body)) = (id, body.as_object_mut()) {
        body.insert("sha".to_owned(), Value::from(id.as_str()));
    }
    client.put(client.repository(&["contents", &place.path(&file.name)]), &body).await.map(|_| ())
}

#[derive(Debug, Deserialize)]
struct Tree {
    tree: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    path: Option<String>,
    sha: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// The files that are there: name → git's id of the content.
async fn listing(client: &Client, place: Place<'_>) -> Result<BTreeMap<String, String>, ApiError> {
    let entries = match place {
        Place::Branch(branch) => client.get(client.repository(&["git", "trees", branch])).await?.json::<Tree>()?.tree,
        Place::Directory { branch, path } => {
            let at = client.query(&["contents", path.trim_matches('/')], &[("ref", branch)]);
            client.get(at).await?.json::<Vec<Entry>>()?
        }
    };
    let files = entries.into_iter().filter(|entry| matches!(entry.kind.as_deref(), Some("blob" | "file")));
    // A directory's entries have their whole path.
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    Ok(files.filter_map(|entry| Some((name(&entry.path?), entry.sha?))).collect())
}

/// Git's id of a content, in the hash that the other id is made with.
fn blob(like: &str, content: &[u8]) -> String {
    let head = format!("blob {}\0", content.len());
    let bytes = if like.len() == 64 {
        Sha256::new().chain_update(head).chain_update(content).finalize().to_vec()
    } else {
        Sha1::new().chain_update(head).chain_update(content).finalize().to_vec()
    };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits() {
        // printf 'hello\n' | git hash-object --stdin, and the same in a repository of SHA-256.
        assert_eq!(blob("", b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        let long = "0".repeat(64);
        assert_eq!(blob(&long, b"hello\n"), "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4");
    }

    #[test]
    fn a_servers_name_becomes_a_harmless_part_of_a_files_name() {
        assert_eq!(slug("notes"), "notes");
        assert_eq!(slug("../Évil Server\u{202e}/x"), "vil-server-x");
        assert_eq!(slug("--"), "server");
        assert_eq!(slug(&"a".repeat(500)).len(), 60);
    }

    #[test]
    fn a_directorys_slashes_are_tidied() {
        let place = Place::Directory { branch: "main", path: "docs/badges/" };
        assert_eq!(place.path("sealmark.svg"), "docs/badges/sealmark.svg");
    }
}
