//! GitHub: the sticky comment, badges, code scanning and baselines, each bounded and each a line in the log when it fails.

mod artifact;
mod badge;
mod client;
mod code_scanning;
mod comment;
mod error;
mod limits;
mod pull_request;
mod tree;

use badge::Place;
use client::Client;
use pull_request::Found;

use super::{BadgePlace, Capability, Event, Notice, Publication, Published, When};
use crate::{
    config::settings::Format,
    report::{self, Places, RenderOptions},
};

pub use artifact::{baseline, triggering_report};
pub use error::{ApiError, Kind};
pub use limits::Limits;

/// Runs that code scanning reads from one document.
const RUNS: usize = 20;
const COMMENT: &str = "pull-requests: write";
const BADGE: &str = "contents: write";
const SARIF: &str = "security-events: write";
const NO_COMMENT: &str = "the comment was not written";
const NO_BADGE: &str = "the badges were not committed";
const NO_SARIF: &str = "SARIF was not uploaded";

/// What is published, apart from the reports themselves.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The comment in Markdown.
    pub comment: &'a str,
    /// The lines that SARIF points at.
    pub places: &'a Places,
}

/// Publishes what is wanted and allowed: the comment, the badges and SARIF, side by side.
///
/// Never fails as a whole: each part has its line.
pub async fn publish(publication: &Publication<'_>, content: &Content<'_>, token: &str, limits: Limits) -> Published {
    let options = publication.options;
    let wanted = options.comment != When::Off || options.badge != BadgePlace::Off || options.upload_sarif;
    if !wanted {
        return Published::default();
    }
    let client = match Client::open(publication.context, token, limits) {
        Ok(client) => client,
        Err(error) => {
            let notices = vec![error.notice("nothing was published on GitHub", COMMENT)];
            return Published { notices, comment_url: None };
        }
    };
    let asks = (options.comment != When::Off && publication.context.capabilities.comment.is_yes())
        || (options.upload_sarif && publication.context.capabilities.sarif.is_yes());
    let request = match asks {
        true => pull_request::number(&client, publication.context).await,
        false => Ok(Found::None { why: "nothing is published for a pull request" }),
    };
    let (comment, badge, sarif) = tokio::join!(
        publish_comment(&client, publication, &request, content.comment),
        publish_badges(&client, publication),
        upload_sarif(&client, publication, &request, content.places),
    );
    let comment_url = comment.as_ref().and_then(|(_, url)| url.clone());
    let notices = comment.map(|(notice, _)| notice).into_iter().chain(badge).chain(sarif).collect();
    Published { notices, comment_url }
}

fn skipped(what: &str, why: impl Into<String>, remedy: impl Into<String>) -> Notice {
    Notice::Skipped { what: what.to_owned(), why: why.into(), remedy: remedy.into() }
}

async fn publish_comment(
    client: &Client,
    publication: &Publication<'_>,
    request: &Result<Found, ApiError>,
    body: &str,
) -> Option<(Notice, Option<String>)> {
    let (context, options) = (publication.context, publication.options);
    // Without a pull request there is nothing to comment on, and nothing to explain.
    if options.comment == When::Off || context.pull_request.is_none() {
        return None;
    }
    if let Capability::No { why, remedy } = &context.capabilities.comment {
        let notice = match options.comment {
            When::Always => Notice::Failed { what: NO_COMMENT.to_owned(), cause: why.clone(), remedy: remedy.clone() },
            _ => skipped("no comment", why, remedy),
        };
        return Some((notice, None));
    }
    let failed = |mut error: ApiError| {
        // That there are no comments (any more) comes with the same status as an expired artifact.
        if error.kind == Kind::Gone {
            error.kind = Kind::Locked;
        }
        (error.notice(NO_COMMENT, COMMENT), None)
    };
    let number = match request {
        Ok(Found::Number(number)) => *number,
        Ok(Found::None { why }) => {
            return Some((skipped("no comment", *why, "comments are written for open pull requests"), None));
        }
        Err(error) => return Some(failed(error.clone())),
    };
    let outcome = {
        let wanted = comment::Wanted {
            key: &options.comment_key,
            body,
            run_url: context.run_url.as_deref(),
            only_if_present: options.comment == When::OnChange && !publication.has_news(),
        };
        comment::upsert(client, number, &wanted).await
    };
    let (what, url) = match outcome {
        Ok(comment::Outcome::Created(url)) => ("comment written", url),
        Ok(comment::Outcome::Updated(url)) => ("comment updated", url),
        Ok(comment::Outcome::Unchanged(url)) => ("comment unchanged", url),
        Ok(comment::Outcome::NotNeeded) => {
            let what = "no comment is needed: nothing is worse or different".to_owned();
            return Some((Notice::Done { what, url: None }, None));
        }
        Err(error) => return Some(failed(error)),
    };
    Some((Notice::Done { what: what.to_owned(), url: url.clone() }, url))
}

async fn publish_badges(client: &Client, publication: &Publication<'_>) -> Option<Notice> {
    let (context, options) = (publication.context, publication.options);
    let default = context.default_branch.as_deref().or(context.branch.as_deref());
    let place = match &options.badge {
        BadgePlace::Off => return None,
        BadgePlace::Branch(branch) => Some(Place::Branch(branch)),
        BadgePlace::Directory(path) => default.map(|branch| Place::Directory { branch, path }),
    };
    // Badges show the default branch: its next push commits them.
    if context.event != Event::DefaultBranch {
        return None;
    }
    if let Capability::No { why, remedy } = &context.capabilities.badge {
        return Some(skipped("no badges", why, remedy));
    }
    let Some(place) = place else {
        return Some(skipped("no badges", "the default branch is not known", "name a branch with --badge"));
    };
    let files = match badge::files(publication.runs) {
        Ok(files) => files,
        Err(error) => {
            let remedy = "that is a defect of sealmark: please report it with this line".to_owned();
            return Some(Notice::Failed { what: NO_BADGE.to_owned(), cause: error.to_string(), remedy });
        }
    };
    if files.is_empty() {
        return Some(skipped("no badges", "no run came to its end", "the next push commits them"));
    }
    Some(match badge::commit(client, place, &files).await {
        Ok(badge::Outcome::Unchanged) => Notice::Done { what: "badges unchanged".to_owned(), url: None },
        Ok(badge::Outcome::Committed(1)) => Notice::Done { what: "1 badge file committed".to_owned(), url: None },
        Ok(badge::Outcome::Committed(files)) => {
            Notice::Done { what: format!("{files} badge files committed"), url: None }
        }
        Err(error) => error.notice(NO_BADGE, BADGE),
    })
}

async fn upload_sarif(
    client: &Client,
    publication: &Publication<'_>,
    request: &Result<Found, ApiError>,
    places: &Places,
) -> Option<Notice> {
    let context = publication.context;
    // The commits of a merge queue are temporary; the push that follows uploads its own.
    if !publication.options.upload_sarif || context.event == Event::MergeQueue {
        return None;
    }
    if let Capability::No { why, remedy } = &context.capabilities.sarif {
        return Some(skipped("no SARIF upload", why, remedy));
    }
    let number = match request {
        Ok(Found::Number(number)) => Some(*number),
        Ok(Found::None { .. }) => None,
        Err(error) => return Some(error.notice(NO_SARIF, SARIF)),
    };
    let Some(place) = code_scanning::place(context, number) else {
        let why = "the event names no commit and ref that code scanning takes";
        return Some(skipped("no SARIF upload", why, "upload on pushes and pull requests"));
    };
    let options = RenderOptions { gate: publication.gate.clone(), places: places.clone(), ..RenderOptions::default() };
    let mut pending = false;
    for runs in publication.runs.chunks(RUNS) {
        let outcome = match report::render(Format::Sarif, runs, &options) {
            Ok(sarif) => code_scanning::upload(client, &place, &sarif).await,
            Err(error) => Err(ApiError::new(Kind::TooLarge, error.to_string())),
        };
        match outcome {
            Ok(code_scanning::Outcome::Read) => {}
            Ok(code_scanning::Outcome::Pending) => pending = true,
            Ok(code_scanning::Outcome::Refused(why)) => {
                return Some(Notice::Failed {
                    what: NO_SARIF.to_owned(),
                    cause: format!("code scanning could not use it: {why}"),
                    remedy: "that is a defect of sealmark: please report it with this line".to_owned(),
                });
            }
            Err(error) => return Some(error.notice(NO_SARIF, SARIF)),
        }
    }
    let what = if pending { "SARIF uploaded, code scanning is still reading it" } else { "SARIF uploaded" };
    let url = context.server_url.as_deref().zip(context.repository.as_deref());
    let url = url.map(|(server, repository)| format!("{server}/{repository}/security/code-scanning"));
    Some(Notice::Done { what: what.to_owned(), url })
}
