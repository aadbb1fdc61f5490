//! Platforms that are named and told apart, and for which sealmark writes files.

use super::{
    facts::{self, Env},
    files_alone,
};
use crate::ci::{Context, Event, Platform, PullRequest};

/// One platform: what proves it, and the variables that say more. An empty name is a fact that it does not tell.
struct Vendor {
    platform: fn() -> Platform,
    here: fn(Env<'_>) -> bool,
    request: fn(Env<'_>) -> bool,
    /// Number of the request.
    number: &'static [&'static str],
    branch: &'static [&'static str],
    /// The branch that a request goes into.
    base: &'static str,
    tag: &'static str,
    sha: &'static str,
    run_url: &'static str,
    job: &'static str,
    workspace: &'static str,
    /// The platform's word for what started the job.
    event: &'static str,
}

/// What a vendor that says nothing looks like.
const SILENT: Vendor = Vendor {
    platform: || Platform::Generic,
    here: |_| false,
    request: |_| false,
    number: &[],
    branch: &[],
    base: "",
    tag: "",
    sha: "",
    run_url: "",
    job: "",
    workspace: "",
    event: "",
};

const VENDORS: &[Vendor] = &[
    Vendor {
        platform: || Platform::Azure,
        here: |env| env.on("TF_BUILD"),
        request: |env| env.text("BUILD_REASON") == Some("PullRequest"),
        number: &["SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"],
        branch: &["SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"],
        base: "SYSTEM_PULLREQUEST_TARGETBRANCH",
        sha: "BUILD_SOURCEVERSION",
        job: "SYSTEM_JOBNAME",
        workspace: "BUILD_SOURCESDIRECTORY",
        event: "BUILD_REASON",
        ..SILENT
    },
    Vendor {
        platform: || Platform::Bitbucket,
        here: |env| env.has("BITBUCKET_COMMIT") || env.has("BITBUCKET_BUILD_NUMBER"),
        request: |env| env.has("BITBUCKET_PR_ID"),
        number: &["BITBUCKET_PR_ID"],
        branch: &["BITBUCKET_BRANCH"],
        base: "BITBUCKET_PR_DESTINATION_BRANCH",
        tag: "BITBUCKET_TAG",
        sha: "BITBUCKET_COMMIT",
        workspace: "BITBUCKET_CLONE_DIR",
        ..SILENT
    },
    Vendor {
        platform: || Platform::CircleCi,
        here: |env| env.on("CIRCLECI"),
        request: |env| env.has("CIRCLE_PULL_REQUEST"),
        number: &["CIRCLE_PR_NUMBER", "CIRCLE_PULL_REQUEST"],
        branch: &["CIRCLE_BRANCH"],
        tag: "CIRCLE_TAG",
        sha: "CIRCLE_SHA1",
        run_url: "CIRCLE_BUILD_URL",
        job: "CIRCLE_JOB",
        ..SILENT
    },
    Vendor {
        platform: || Platform::Buildkite,
        here: |env| env.on("BUILDKITE"),
        request: |env| env.on("BUILDKITE_PULL_REQUEST"),
        number: &["BUILDKITE_PULL_REQUEST"],
        branch: &["BUILDKITE_BRANCH"],
        base: "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
        tag: "BUILDKITE_TAG",
        sha: "BUILDKITE_COMMIT",
        run_url: "BUILDKITE_BUILD_URL",
        job: "BUILDKITE_LABEL",
        workspace: "BUILDKITE_BUILD_CHECKOUT_PATH",
        event: "BUILDKITE_SOURCE",
    },
    Vendor {
        platform: || Platform::Jenkins,
        here: |env| env.has("JENKINS_URL") && env.has("BUILD_ID"),
        request: |env| env.has("CHANGE_ID") || env.has("ghprbPullId"),
        number: &["CHANGE_ID", "ghprbPullId"],
        branch: &["CHANGE_BRANCH", "ghprbSourceBranch", "BRANCH_NAME", "GIT_BRANCH"],
        base: "CHANGE_TARGET",
        tag: "TAG_NAME",
        sha: "GIT_COMMIT",
        run_url: "BUILD_URL",
        job: "JOB_NAME",
        workspace: "WORKSPACE",
        ..SILENT
    },
    Vendor {
        platform: || Platform::Other("Woodpecker".to_owned()),
        here: |env| env.text("CI") == Some("woodpecker"),
        request: |env| {
            env.text("CI_BUILD_EVENT") == Some("pull_request") || env.text("CI_PIPELINE_EVENT") == Some("pull_request")
        },
        number: &["CI_COMMIT_PULL_REQUEST"],
        branch: &["CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"],
        base: "CI_COMMIT_TARGET_BRANCH",
        tag: "CI_COMMIT_TAG",
        sha: "CI_COMMIT_SHA",
        run_url: "CI_PIPELINE_URL",
        job: "CI_STEP_NAME",
        workspace: "CI_WORKSPACE",
        event: "CI_PIPELINE_EVENT",
    },
    Vendor {
        platform: || Platform::Other("Drone".to_owned()),
        here: |env| env.on("DRONE"),
        request: |env| env.text("DRONE_BUILD_EVENT") == Some("pull_request"),
        number: &["DRONE_PULL_REQUEST"],
        branch: &["DRONE_SOURCE_BRANCH", "DRONE_BRANCH"],
        base: "DRONE_TARGET_BRANCH",
        tag: "DRONE_TAG",
        sha: "DRONE_COMMIT_SHA",
        run_url: "DRONE_BUILD_LINK",
        job: "DRONE_STEP_NAME",
        workspace: "DRONE_WORKSPACE",
        event: "DRONE_BUILD_EVENT",
    },
    Vendor {
        platform: || Platform::Other("Travis CI".to_owned()),
        here: |env| env.on("TRAVIS"),
        request: |env| env.on("TRAVIS_PULL_REQUEST"),
        number: &["TRAVIS_PULL_REQUEST"],
        branch: &["TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"],
        tag: "TRAVIS_TAG",
        sha: "TRAVIS_COMMIT",
        run_url: "TRAVIS_JOB_WEB_URL",
        job: "TRAVIS_JOB_NAME",
        workspace: "TRAVIS_BUILD_DIR",
        event: "TRAVIS_EVENT_TYPE",
        ..SILENT
    },
    Vendor {
        platform: || Platform::Other("TeamCity".to_owned()),
        here: |env| env.has("TEAMCITY_VERSION"),
        sha: "BUILD_VCS_NUMBER",
        run_url: "BUILD_URL",
        job: "TEAMCITY_BUILDCONF_NAME",
        ..SILENT
    },
    Vendor {
        platform: || Platform::Other("AWS CodeBuild".to_owned()),
        here: |env| env.has("CODEBUILD_BUILD_ARN"),
        request: |env| env.text("CODEBUILD_WEBHOOK_EVENT").is_some_and(|event| event.starts_with("PULL_REQUEST_")),
        number: &["CODEBUILD_WEBHOOK_TRIGGER", "CODEBUILD_SOURCE_VERSION"],
        branch: &["CODEBUILD_WEBHOOK_HEAD_REF"],
        base: "CODEBUILD_WEBHOOK_BASE_REF",
        sha: "CODEBUILD_RESOLVED_SOURCE_VERSION",
        run_url: "CODEBUILD_PUBLIC_BUILD_URL",
        workspace: "CODEBUILD_SRC_DIR",
        event: "CODEBUILD_WEBHOOK_EVENT",
        ..SILENT
    },
];

/// The context of a platform of the table.
pub(super) fn context(env: Env<'_>) -> Option<Context> {
    let vendor = VENDORS.iter().find(|vendor| (vendor.here)(env))?;
    let platform = (vendor.platform)();
    let branch = vendor.branch.iter().find_map(|name| env.text(name)).and_then(short);
    let base_branch = env.text(vendor.base).and_then(short);
    let request = (vendor.request)(env).then(|| PullRequest {
        number: vendor.number.iter().find_map(|name| env.text(name)).and_then(trailing_number),
        head: None,
        head_sha: None,
        base_branch: base_branch.clone(),
        project: None,
    });
    let tagged =
        env.has(vendor.tag) || env.text("BUILD_SOURCEBRANCH").is_some_and(|name| name.starts_with("refs/tags/"));
    let word = env.text(vendor.event).unwrap_or_default();
    Some(Context {
        capabilities: files_alone(&platform),
        platform,
        event: match (&request, word.to_ascii_lowercase().as_str()) {
            (Some(_), _) => Event::PullRequest,
            (None, "schedule" | "cron") => Event::Schedule,
            (None, "manual" | "api" | "ui") => Event::Manual,
            (None, _) if tagged => Event::Tag,
            (None, _) if branch.is_some() => Event::Branch,
            (None, _) => Event::Other,
        },
        event_name: word.to_owned(),
        branch,
        base_branch,
        sha: env.sha(vendor.sha),
        pull_request: request,
        run_url: env.url(vendor.run_url).or_else(|| azure_url(env)),
        job: env.text(vendor.job).map(str::to_owned),
        workspace: env.path(vendor.workspace),
        ..Context::default()
    })
}

/// A branch without what git puts before its name.
fn short(name: &str) -> Option<String> {
    if name.starts_with("refs/tags/") || name.starts_with("refs/pull/") {
        return None;
    }
    facts::branch(name.strip_prefix("refs/heads/").unwrap_or(name))
}

/// A number, or the one at the end of what holds it (`…/pull/7`, `pr/7`).
fn trailing_number(text: &str) -> Option<u64> {
    facts::number(text.rsplit('/').next()?)
}

/// Azure tells its pages in pieces.
fn azure_url(env: Env<'_>) -> Option<String> {
    let root = env.url("SYSTEM_COLLECTIONURI")?;
    let (project, build) = (env.text("SYSTEM_TEAMPROJECTID")?, env.number("BUILD_BUILDID")?);
    let plain = project.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plain.then(|| format!("{root}/{project}/_build/results?buildId={build}"))
}
