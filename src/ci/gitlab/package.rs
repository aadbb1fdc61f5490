//! The baseline as a generic package, for projects whose job tokens may not read artifacts.

use sha2::{Digest, Sha256};

use super::{
    Tokens,
    api::{Credential, Project},
    baseline::path,
};
use crate::{
    ci::{Event, Notice, Publication},
    config::settings::Format,
    report::{RenderOptions, render},
};

const NAME: &str = "sealmark-baseline";

/// Reads the package of a branch and job; `None` when there is none that can be read.
pub(super) async fn fetch(
    project: &Project,
    tokens: Tokens<'_>,
    own: bool,
    branch: &str,
    job: &str,
    limit: usize,
) -> Option<Vec<u8>> {
    let credential = match (tokens.job, tokens.personal) {
        (Some(job), _) if own => Credential::Job(job),
        (_, Some(personal)) => Credential::Personal(personal),
        _ => Credential::Nobody,
    };
    let url = project.at(&parts(&word(branch), &file(job)));
    let reply = credential.sign(project.http().get(url.as_str())).limit(limit).send().await.ok()?;
    Some(reply.body)
}

/// Keeps the report of a run on the default branch as a package, when the artifacts of that branch are refused to the job's
/// token; else there is nothing to do.
pub(super) async fn keep(publication: &Publication<'_>, tokens: Tokens<'_>) -> Option<Notice> {
    let (context, options) = (publication.context, publication.options);
    let wanted = publication.comparison.is_some() || publication.no_baseline.is_some();
    let token = tokens.job.filter(|_| wanted && context.event == Event::DefaultBranch)?;
    let (project, branch) = (context.repository.as_ref()?, context.default_branch.as_ref()?);
    let job = options.baseline_job.as_ref().or(context.job.as_ref())?;
    let what = "the baseline was not kept as a package";
    let credential = Credential::Job(token);
    let project = Project::open(context, project).ok()?;
    let mut url = project.at(&[&["jobs", "artifacts", branch, "raw"], &path(&options.artifact_name)[..]].concat());
    url.query_pairs_mut().append_pair("job", job);
    let refused = match credential.sign(project.http().get(url.as_str())).limit(0).send().await {
        Ok(_) => false,
        Err(error) => matches!(error.code(), Some(401 | 403)),
    };
    if !refused {
        return None;
    }
    let report = render(Format::Json, publication.runs, &RenderOptions::default()).ok()?;
    let url = project.at(&parts(&word(branch), &file(job)));
    let call = project.http().put(url.as_str()).bytes("application/json", report);
    match credential.sign(call).send().await {
        Ok(_) => Some(Notice::Done { what: format!("the artifacts of {branch} are refused to the job token: the baseline is kept as package {NAME}"), url: None }),
        Err(error) => Some(super::api::Fault::Http(error).notice(what, |_| {
            "let the job token read artifacts (artifacts:access) or write packages (Settings > General > Package registry)".to_owned()
        })),
    }
}

fn parts<'a>(branch: &'a str, file: &'a str) -> [&'a str; 5] {
    ["packages", "generic", NAME, branch, file]
}

fn file(job: &str) -> String {
    format!("{}.json", word(job))
}

/// A branch or job as GitLab allows it in a package's version and file name; what had to be changed gets a hash, so that two
/// names do not become one.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= 100 && text.chars().all(plain) {
        return text.to_owned();
    }
    let kept: String = text.chars().take(80).map(|c| if plain(c) { c } else { '-' }).collect();
    let hash = Sha256::digest(text.as_bytes());
    format!("{kept}-{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}
