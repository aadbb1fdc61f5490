//! The sticky note on a merge request: found by marker and author, written only when it says something new.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::{
    Tokens,
    api::{Credential, Fault, Project, parse, text},
    package,
};
use crate::ci::{Capability, Context, Notice, Publication, Published, PullRequest, When, page};

/// How long everything together may take.
const TOTAL: Duration = Duration::from_secs(60);
/// How many notes are looked at: pages of a hundred.
const PAGES: u32 = 30;
/// GitLab takes a million characters; nobody reads that many.
const LONGEST: usize = 1_000_000;
const WHAT: &str = "the comment was not written";

/// Publishes what needs the API: the note on the merge request, and after a run on the default branch the baseline, where
/// later jobs could not read it from the artifacts.
///
/// `body` is the note, and holds the marker of `comment_key`.
pub async fn publish(publication: &Publication<'_>, tokens: Tokens<'_>, body: &str) -> Published {
    let mut published = Published::default();
    let work = async {
        if let Some(notice) = package::keep(publication, tokens).await {
            published.notices.push(notice);
        }
        if let Some(notice) = comment(publication, tokens, body).await {
            if let Notice::Done { url, .. } = &notice {
                published.comment_url.clone_from(url);
            }
            published.notices.push(notice);
        }
    };
    if timeout(TOTAL, work).await.is_err() {
        published.notices.push(Fault::Late(TOTAL.as_secs()).notice("not everything was published", |_| String::new()));
    }
    published
}

/// The note; `None` when there is nothing to comment on or nothing to say.
async fn comment(publication: &Publication<'_>, tokens: Tokens<'_>, body: &str) -> Option<Notice> {
    let (context, options) = (publication.context, publication.options);
    let request = context.pull_request.as_ref().filter(|_| options.comment != When::Off)?;
    let not = |why: &str, remedy: &str| {
        let what = "no comment".to_owned();
        Some(if options.comment == When::Always {
            Notice::Failed { what, cause: why.to_owned(), remedy: remedy.to_owned() }
        } else {
            Notice::Skipped { what, why: why.to_owned(), remedy: remedy.to_owned() }
        })
    };
    if let Capability::No { why, remedy } = &context.capabilities.comment {
        return not(why, remedy);
    }
    let Some(token) = tokens.personal.filter(|token| !token.is_empty()) else {
        return not("no token is set, and a job token cannot write notes", REMEDY);
    };
    if token.starts_with("glcbt-") {
        let variable = context.token_variable.as_deref().unwrap_or("the variable");
        return not(&format!("{variable} holds a job token, which cannot write notes"), REMEDY);
    }
    let marker = page::marker(&options.comment_key);
    let body = disarmed(body, &marker);
    let desk = match Desk::open(context, request, token, &marker) {
        Ok(desk) => desk,
        Err(fault) => return Some(fault.notice(WHAT, |_| String::new())),
    };
    match desk.put(&body, options.comment == When::OnChange && !publication.has_news()).await {
        Ok(None) => None,
        Ok(Some((what, note))) => {
            Some(Notice::Done { what: what.to_owned(), url: desk.address(context, request, note) })
        }
        Err(fault) => Some(fault.notice(WHAT, |code| refused(code, context, &desk.shown))),
    }
}

const REMEDY: &str = "set SEALMARK_GITLAB_TOKEN to a project access token with the scope api and the role Reporter, masked and not protected";

fn refused(code: u16, context: &Context, project: &str) -> String {
    let variable = context.token_variable.as_deref().unwrap_or("the variable with the token");
    match code {
        401 => format!(
            "the token in {variable} has expired, was revoked or is no access token: set a new one with the scope api"
        ),
        403 => format!(
            "give the token in {variable} the scope api and its user at least the role Reporter in project {project}; a locked discussion takes members' notes alone"
        ),
        _ => format!(
            "the token in {variable} sees no such merge request: its user must be a member of project {project}"
        ),
    }
}

/// The body with its marker, without quick actions (`/merge` on a line of its own is a command in the author's name), and not
/// longer than GitLab takes. What stands in the body was made safe before; this is the last defence.
fn disarmed(body: &str, marker: &str) -> String {
    let mut out = String::with_capacity(body.len() + 64);
    if !body.trim_start().starts_with(marker) {
        out.push_str(marker);
        out.push('\n');
    }
    for line in body.split_inclusive(['\n', '\r']) {
        let text = line.trim_start();
        out.push_str(&line[..line.len() - text.len()]);
        if is_command(text) {
            out.push('\\');
        }
        out.push_str(text);
    }
    if let Some((at, _)) = out.char_indices().nth(LONGEST) {
        out.truncate(at);
    }
    out
}

/// A slash and a word; what goes on with another slash or a dot is a path.
fn is_command(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('/') else { return false };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    after.len() < rest.len() && after.chars().next().is_none_or(char::is_whitespace)
}

/// A note as far as it matters here.
#[derive(Debug, Deserialize)]
struct Note {
    id: u64,
    #[serde(default, deserialize_with = "text")]
    body: String,
    #[serde(default)]
    system: bool,
    author: Option<Author>,
}

#[derive(Debug, Deserialize)]
struct Author {
    id: u64,
}

impl Note {
    fn is_of(&self, author: u64) -> bool {
        self.author.as_ref().is_some_and(|writer| writer.id == author)
    }
}

/// The notes of one merge request.
struct Desk<'a> {
    project: Project,
    shown: String,
    iid: String,
    credential: Credential<'a>,
    marker: &'a str,
    /// The page of this job, which the note links to.
    run_url: Option<&'a str>,
}

impl<'a> Desk<'a> {
    fn open(context: &'a Context, request: &PullRequest, token: &'a str, marker: &'a str) -> Result<Self, Fault> {
        // A merge request of a fork belongs to the project that it is to be merged into.
        let project = request.project.as_ref().or(context.repository.as_ref());
        let missing = |what: &str| Fault::Unexpected(format!("the environment does not say which {what} it is"));
        let id = project.ok_or_else(|| missing("project"))?;
        let iid = request.number.ok_or_else(|| missing("merge request"))?.to_string();
        let project = Project::open(context, id)?;
        Ok(Self {
            project,
            shown: id.clone(),
            iid,
            credential: Credential::Personal(token),
            marker,
            run_url: context.run_url.as_deref(),
        })
    }

    fn notes(&self) -> [&str; 3] {
        ["merge_requests", self.iid.as_str(), "notes"]
    }

    /// Writes the note where that changes anything; says what was done to which.
    async fn put(&self, body: &str, only_update: bool) -> Result<Option<(&'static str, u64)>, Fault> {
        // Anybody can write the marker, so whose note it is counts.
        let own = self.own(None).await?;
        if let Some(note) = own.iter().min_by_key(|note| note.id) {
            let unchanged = page::says_the_same(&note.body, body, self.run_url);
            if !unchanged {
                self.update(note.id, body).await?;
            }
            self.remove(own.iter().map(|other| other.id).filter(|id| *id != note.id)).await?;
            return Ok(Some((if unchanged { "comment unchanged" } else { "comment updated" }, note.id)));
        }
        if only_update {
            return Ok(None);
        }
        let call = self.project.http().post(self.project.at(&self.notes()).as_str()).json(&json!({ "body": body }));
        let created: Note = parse(&self.credential.sign(call).send().await?.body)?;
        let kept = self.settle(&created, body).await?;
        Ok(Some(("comment created", kept)))
    }

    /// Another job may have created one at the same moment: the oldest stays, with this text. Says which that is.
    async fn settle(&self, created: &Note, body: &str) -> Result<u64, Fault> {
        let own = self.own(created.author.as_ref().map(|author| author.id)).await?;
        let oldest = own.iter().map(|note| note.id).min().unwrap_or(created.id).min(created.id);
        if oldest != created.id {
            self.update(oldest, body).await?;
        }
        let mut later: Vec<u64> =
            own.iter().map(|note| note.id).chain([created.id]).filter(|id| *id > oldest).collect();
        later.sort_unstable();
        later.dedup();
        self.remove(later.into_iter()).await?;
        Ok(oldest)
    }

    async fn remove(&self, ids: impl Iterator<Item = u64>) -> Result<(), Fault> {
        for id in ids {
            let id = id.to_string();
            let call = self.project.http().delete(self.project.at(&[&self.notes()[..], &[&id]].concat()).as_str());
            match self.credential.sign(call).send().await {
                // Another job was faster.
                Err(error) if error.code() == Some(404) => {}
                sent => drop(sent?),
            }
        }
        Ok(())
    }

    async fn update(&self, id: u64, body: &str) -> Result<(), Fault> {
        let id = id.to_string();
        let url = self.project.at(&[&self.notes()[..], &[&id]].concat());
        let call = self.project.http().put(url.as_str()).json(&json!({ "body": body }));
        self.credential.sign(call).send().await?;
        Ok(())
    }

    /// Our own notes, oldest first: with the marker, and by `author` or, when that is not known yet, by whoever the token is.
    /// Without a known author the first one is enough.
    async fn own(&self, mut author: Option<u64>) -> Result<Vec<Note>, Fault> {
        let enough = author.is_none();
        let mut found = Vec::new();
        let mut page = 1;
        loop {
            let mut url = self.project.at(&self.notes());
            let page_text = page.to_string();
            let query =
                [("sort", "asc"), ("order_by", "created_at"), ("per_page", "100"), ("page", page_text.as_str())];
            url.query_pairs_mut().extend_pairs(query);
            let (notes, next): (Vec<Note>, _) = self.project.document(&url, self.credential).await?;
            for note in notes.into_iter().filter(|note| !note.system && note.body.trim_start().starts_with(self.marker))
            {
                let own = match author {
                    Some(author) => author,
                    None => *author.insert(self.user().await?),
                };
                if note.is_of(own) {
                    found.push(note);
                }
            }
            // Pages only go forward, whatever the answer says.
            match next.filter(|next| *next > page) {
                Some(_) if enough && !found.is_empty() => return Ok(found),
                Some(next) if next <= PAGES => page = next,
                Some(_) if found.is_empty() => {
                    let most = PAGES * 100;
                    return Err(Fault::Unexpected(format!("the earlier comment is not among the first {most} notes")));
                }
                _ => return Ok(found),
            }
        }
    }

    async fn user(&self) -> Result<u64, Fault> {
        let (user, _): (Author, _) = self.project.document(&self.project.root(&["user"]), self.credential).await?;
        Ok(user.id)
    }

    /// The note's page, where the project's page is known: that of the job's own project.
    fn address(&self, context: &Context, request: &PullRequest, note: u64) -> Option<String> {
        let own = request.project.is_none() || request.project == context.repository;
        let (project, _) = context.run_url.as_deref().filter(|_| own)?.split_once("/-/")?;
        Some(format!("{project}/-/merge_requests/{}#note_{note}", self.iid))
    }
}
