//! The one comment of a pull request that later runs rewrite: found by its hidden marker and its author.

use serde::Deserialize;
use serde_json::json;

use super::{
    super::page::{marker, says_the_same},
    client::{Client, Reply},
    error::{ApiError, Kind},
};

/// Comments of one page, GitHub's maximum.
const PAGE: usize = 100;
/// Pages that are read: GitHub takes 2,500 comments per pull request.
const PAGES: usize = 25;
/// The author of what is written with a job's own token.
const JOB_TOKEN: &str = "github-actions[bot]";

/// The comment that is wanted.
pub(super) struct Wanted<'a> {
    /// Tells several comments of one pull request apart.
    pub key: &'a str,
    /// Its text.
    pub body: &'a str,
    /// The page of this run, which the text links to.
    pub run_url: Option<&'a str>,
    /// Create nothing.
    pub only_if_present: bool,
}

/// What became of the comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is a new one.
    Created(Option<String>),
    /// The old one has a new text.
    Updated(Option<String>),
    /// The old one says the same already.
    Unchanged(Option<String>),
    /// There was none, and none was wanted.
    NotNeeded,
}

#[derive(Debug, Clone, Deserialize)]
struct Comment {
    id: Option<u64>,
    body: Option<String>,
    html_url: Option<String>,
    user: Option<User>,
}

#[derive(Debug, Clone, Deserialize)]
struct User {
    login: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// A comment of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Own {
    id: u64,
    body: String,
    url: Option<String>,
}

/// Writes the comment: changes ours if there is one (two calls; one when it says the same already), else creates it.
///
/// A creation is checked for a race with another run: the oldest of our comments stays, with this text, and the others go.
pub(super) async fn upsert(client: &Client, number: u64, wanted: &Wanted<'_>) -> Result<Outcome, ApiError> {
    let marker = marker(wanted.key);
    let body =
        if wanted.body.starts_with(&marker) { wanted.body.to_owned() } else { format!("{marker}\n{}", wanted.body) };
    let number = number.to_string();
    let mut search = Search { client, number: &number, marker: &marker, login: None };
    let (found, page) = search.pages(1).await?;
    if let Some(own) = keep_oldest(client, found).await? {
        match rewrite(client, &own, &body, wanted.run_url).await {
            // Somebody removed it meanwhile.
            Err(error) if error.kind == Kind::NotFound => {}
            settled => return settled,
        }
    }
    if wanted.only_if_present {
        return Ok(Outcome::NotNeeded);
    }
    let reply = client.post(client.repository(&["issues", &number, "comments"]), &json!({ "body": body })).await?;
    let created: Comment = reply.json()?;
    // Now it is known whose the token is.
    if let Some(login) = created.user.as_ref().and_then(|user| user.login.clone()) {
        search.login = Some(login);
    }
    let Some(id) = created.id else { return Ok(Outcome::Created(created.html_url)) };
    let (mut found, _) = search.pages(page).await?;
    found.retain(|own| own.id != id);
    // Ours is listed here even when GitHub does not list it yet.
    found.push(Own { id, body: body.clone(), url: created.html_url.clone() });
    match keep_oldest(client, found).await? {
        Some(oldest) if oldest.id != id => rewrite(client, &oldest, &body, wanted.run_url).await,
        _ => Ok(Outcome::Created(created.html_url)),
    }
}

async fn rewrite(client: &Client, own: &Own, body: &str, run_url: Option<&str>) -> Result<Outcome, ApiError> {
    if says_the_same(&own.body, body, run_url) {
        return Ok(Outcome::Unchanged(own.url.clone()));
    }
    let at = client.repository(&["issues", "comments", &own.id.to_string()]);
    let changed: Comment = client.patch(at, &json!({ "body": body })).await?.json()?;
    Ok(Outcome::Updated(changed.html_url.or_else(|| own.url.clone())))
}

/// The oldest of our comments; the others are removed.
async fn keep_oldest(client: &Client, mut found: Vec<Own>) -> Result<Option<Own>, ApiError> {
    found.sort_by_key(|own| own.id);
    let mut found = found.into_iter();
    let Some(oldest) = found.next() else { return Ok(None) };
    for other in found {
        match client.delete(client.repository(&["issues", "comments", &other.id.to_string()])).await {
            // The other run was faster.
            Err(error) if error.kind != Kind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(Some(oldest))
}

struct Search<'a> {
    client: &'a Client,
    number: &'a str,
    marker: &'a str,
    /// Whose the token is, once that is known.
    login: Option<String>,
}

impl Search<'_> {
    /// Our comments on the first page that has one, and the last page that was read.
    async fn pages(&mut self, first: usize) -> Result<(Vec<Own>, usize), ApiError> {
        let mut page = first;
        loop {
            let query = [("per_page", PAGE.to_string()), ("page", page.to_string())];
            let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let reply = self.client.get(self.client.query(&["issues", self.number, "comments"], &query)).await?;
            let comments: Vec<Comment> = reply.json()?;
            let more = comments.len() >= PAGE || has_next(&reply);
            let found = self.own(comments).await?;
            if !found.is_empty() || !more || page >= PAGES {
                return Ok((found, page));
            }
            page += 1;
        }
    }

    /// Those that open with our marker and were written with this token's account. What anybody else wrote stays as it is.
    async fn own(&mut self, comments: Vec<Comment>) -> Result<Vec<Own>, ApiError> {
        let marked: Vec<_> = comments.into_iter().filter_map(|comment| self.marked(comment)).collect();
        if marked.is_empty() {
            return Ok(Vec::new());
        }
        if self.login.is_none() {
            self.login = self.account(marked.iter().map(|(_, login)| login.as_str())).await?;
        }
        Ok(marked.into_iter().filter(|(_, login)| self.login.as_ref() == Some(login)).map(|(own, _)| own).collect())
    }

    /// Whose the token is. A job's own token and an app's look the same: it is asked only when another bot uses our marker.
    async fn account(&self, mut authors: impl Iterator<Item = &str>) -> Result<Option<String>, ApiError> {
        if self.client.is_personal() {
            let user: User = self.client.get(self.client.at(&["user"])).await?.json()?;
            return Ok(user.login);
        }
        let asked = match authors.any(|author| author != JOB_TOKEN) {
            true => self.client.viewer().await.ok().flatten(),
            false => None,
        };
        Ok(Some(asked.unwrap_or_else(|| JOB_TOKEN.to_owned())))
    }

    /// A comment that opens with our marker, and who wrote it; with a job's or an app's token, bots alone do.
    fn marked(&self, comment: Comment) -> Option<(Own, String)> {
        let body = comment.body?;
        let user = comment.user?;
        let may_be = self.client.is_personal() || user.kind.as_deref() == Some("Bot");
        let own = Own { id: comment.id?, url: comment.html_url, body };
        (may_be && own.body.starts_with(self.marker)).then_some((own, user.login?))
    }
}

fn has_next(reply: &Reply) -> bool {
    let links = reply.headers.get("link").and_then(|value| value.to_str().ok()).unwrap_or_default();
    links.contains("rel=\"next\"")
}
