//! Detection against GitHub's own payloads, `ci-info`'s vendors, and values that no platform would set.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::detect;
use crate::ci::{Capability, Context, Event, Platform};

type Map = BTreeMap<String, String>;

fn payload(name: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/ci/events.json")).unwrap();
    let found = all[name].clone();
    assert!(found.is_object(), "no payload {name}");
    found
}

fn map(pairs: &[(&str, &str)]) -> Map {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// The variables of a GitHub job that belong to a payload.
fn github(event_name: &str, git_ref: &str, event: &Value) -> Map {
    let repository = event["repository"]["full_name"].as_str().unwrap();
    let mut env = map(&[
        ("CI", "true"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event_name),
        ("GITHUB_REF", git_ref),
        ("GITHUB_SHA", SHA),
        ("GITHUB_REPOSITORY", repository),
        ("GITHUB_RUN_ID", "77"),
        ("GITHUB_JOB", "grade"),
        ("GITHUB_ACTOR", "octocat"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_API_URL", "https://api.github.com"),
        ("GITHUB_STEP_SUMMARY", "/tmp/summary"),
        ("GITHUB_OUTPUT", "/tmp/output"),
        ("GITHUB_WORKSPACE", "/w/repo"),
        ("PWD", "/w/repo/packages/api"),
        ("GITHUB_TOKEN", "ghs_not_in_the_context"),
    ]);
    env.insert("GITHUB_REPOSITORY_ID".to_owned(), event["repository"]["id"].to_string());
    env
}

fn on(event_name: &str, git_ref: &str, name: &str) -> Context {
    let event = payload(name);
    detect(&github(event_name, git_ref, &event), Some(&event))
}

fn why(capability: &Capability) -> &str {
    match capability {
        Capability::No { why, remedy } => {
            assert!(!remedy.is_empty());
            why
        }
        Capability::Yes => "",
    }
}

/// `comment baseline badge sarif`, each as `+` or `-`.
fn rights(context: &Context) -> String {
    let all = &context.capabilities;
    let word = |capability: &Capability| if capability.is_yes() { '+' } else { '-' };
    [&all.comment, &all.baseline, &all.badge, &all.sarif].map(word).iter().collect()
}

#[test]
fn every_event_of_github_has_its_kind_and_its_rights() {
    let pull = "refs/pull/2/merge";
    for (name, git_ref, file, event, expected) in [
        ("push", "refs/heads/master", "push_branch", Event::DefaultBranch, "-+++"),
        ("push", "refs/heads/other", "push_branch", Event::Branch, "-+-+"),
        ("push", "refs/tags/simple-tag", "push_tag", Event::Tag, "-+-+"),
        ("release", "refs/tags/0.0.1", "release", Event::Tag, "-+-+"),
        ("pull_request", pull, "pull_request", Event::PullRequest, "++-+"),
        ("pull_request", "refs/heads/master", "pull_request_closed", Event::PullRequest, "++-+"),
        ("pull_request", pull, "pull_request_in_a_fork", Event::PullRequest, "++-+"),
        ("pull_request", pull, "pull_request_fork", Event::ForkPullRequest, "-+--"),
        ("pull_request", pull, "pull_request_fork_deleted", Event::ForkPullRequest, "-+--"),
        ("pull_request_review", pull, "pull_request_review", Event::PullRequest, "++-+"),
        ("pull_request_target", "refs/heads/master", "pull_request", Event::PullRequestTarget, "-+--"),
        ("pull_request_target", "refs/heads/master", "pull_request_fork", Event::PullRequestTarget, "-+--"),
        ("merge_group", "refs/heads/gh-readonly-queue/main/pr-104-x", "merge_group", Event::MergeQueue, "-+--"),
        ("schedule", "refs/heads/master", "push_branch", Event::Schedule, "-+-+"),
        ("workflow_dispatch", "refs/heads/master", "workflow_dispatch", Event::Manual, "-+-+"),
        ("repository_dispatch", "refs/heads/master", "repository_dispatch", Event::Manual, "-+-+"),
        ("workflow_run", "refs/heads/master", "workflow_run", Event::WorkflowRun, "++--"),
        ("workflow_run", "refs/heads/master", "workflow_run_fork", Event::WorkflowRun, "++--"),
        ("workflow_run", "refs/heads/master", "workflow_run_push", Event::WorkflowRun, "-+--"),
        ("issue_comment", "refs/heads/master", "issue_comment", Event::Other, "-+-+"),
    ] {
        let context = on(name, git_ref, file);
        assert_eq!((context.platform.clone(), context.event), (Platform::GitHub, event), "{name} {file}");
        assert_eq!(rights(&context), expected, "{name} {file}: {:#?}", context.capabilities);
        let all = &context.capabilities;
        assert!(all.summary.is_yes() && all.outputs.is_yes() && all.annotations.is_yes());
        assert_eq!(context.event_name, name);
    }
}

#[test]
fn the_facts_of_a_pull_request() {
    let context = on("pull_request", "refs/pull/2/merge", "pull_request");
    let request = context.pull_request.clone().unwrap();
    assert_eq!(request.number, Some(2));
    assert_eq!(request.head, Some(("Codertocat".to_owned(), "changes".to_owned())));
    // Not GITHUB_SHA, which is the merge.
    assert_eq!(request.head_sha.as_deref(), Some("ec26c3e57ca3a959ca5aad62de7213c562f8c821"));
    assert_eq!(context.sha.as_deref(), Some(SHA));
    assert_eq!(context.base_sha.as_deref(), Some("f95f852bd8fca8fcc58a9a2d6c842781e32a215e"));
    assert_eq!((request.base_branch.as_deref(), context.base_branch.as_deref()), (Some("master"), Some("master")));
    assert_eq!((context.branch.as_deref(), context.default_branch.as_deref()), (Some("changes"), Some("master")));
    assert_eq!(context.repository.as_deref(), Some("Codertocat/Hello-World"));
    assert_eq!(context.repository_id, Some(186_853_002));
    assert_eq!(context.run_url.as_deref(), Some("https://github.com/Codertocat/Hello-World/actions/runs/77"));
    assert_eq!((context.token_variable.as_deref(), context.job_token_variable), (Some("GITHUB_TOKEN"), None));
    assert_eq!(context.directory.as_deref(), Some("packages/api"));
    assert!(!context.enterprise && context.notes.is_empty());
}

#[test]
fn a_fork_is_told_by_its_repository_and_points_at_the_second_workflow() {
    for name in ["pull_request_fork", "pull_request_fork_deleted"] {
        let context = on("pull_request", "refs/pull/2/merge", name);
        let request = context.pull_request.as_ref().unwrap();
        assert_eq!(request.head, Some(("mallory".to_owned(), "changes".to_owned())));
        let Capability::No { why, remedy } = &context.capabilities.comment else { panic!("a fork may comment") };
        assert!(why.contains("fork") && remedy.contains("publish --artifact"), "{why} {remedy}");
        // The action's own step may upload where a token may not.
        let Capability::No { remedy, .. } = &context.capabilities.sarif else { panic!("a fork may upload") };
        assert!(remedy.contains("upload-sarif"), "{remedy}");
    }
    let mut unknown = payload("pull_request");
    unknown["pull_request"]["head"].as_object_mut().unwrap().remove("repo");
    let context = detect(&github("pull_request", "refs/pull/2/merge", &unknown), Some(&unknown));
    assert_eq!(context.event, Event::ForkPullRequest, "what is not proven is a fork");
}

#[test]
fn a_merge_group_is_compared_with_its_base() {
    let context = on("merge_group", "refs/heads/gh-readonly-queue/main/pr-104-x", "merge_group");
    assert_eq!(context.pull_request, None);
    assert_eq!(context.base_branch.as_deref(), Some("main"));
    assert_eq!(context.base_sha.as_deref(), Some("380387fbc80638b734a49e1be1c4dfec1c01b33c"));
    let branch = "gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64";
    assert_eq!(context.branch.as_deref(), Some(branch));
}

#[test]
fn a_workflow_run_takes_the_number_from_github_alone() {
    let context = on("workflow_run", "refs/heads/master", "workflow_run");
    let request = context.pull_request.unwrap();
    assert_eq!((request.number, context.triggering_run_id), (Some(2), Some(289_782_451)));
    // A fork's list is empty: it has to be looked up by owner, branch and commit.
    let fork = on("workflow_run", "refs/heads/master", "workflow_run_fork").pull_request.unwrap();
    assert_eq!(fork.number, None);
    assert_eq!(fork.head, Some(("mallory".to_owned(), "master".to_owned())));
    assert_eq!(fork.head_sha.as_deref(), Some("3484a3fb816e0859fd6e1cea078d76385ff50625"));
    // A list that a fork's run should not have is not believed, and neither is the entry of another push or repository.
    let doubtful: [fn(&mut Value); 3] = [
        |run| run["head_repository"]["id"] = json!(9),
        |run| run["head_sha"] = json!(SHA),
        |run| run["pull_requests"][0]["base"]["repo"]["id"] = json!(9),
    ];
    for change in doubtful {
        let mut event = payload("workflow_run");
        change(&mut event["workflow_run"]);
        let context = detect(&github("workflow_run", "refs/heads/master", &event), Some(&event));
        assert_eq!(context.pull_request.unwrap().number, None);
    }
    let mut gone = payload("workflow_run_fork");
    gone["workflow_run"]["head_repository"] = Value::Null;
    let context = detect(&github("workflow_run", "refs/heads/master", &gone), Some(&gone));
    assert!(why(&context.capabilities.comment).contains("gone"), "{:?}", context.capabilities.comment);
}

#[test]
fn dependabot_may_comment_where_the_workflow_says_so_and_never_uploads() {
    let event = payload("dependabot");
    let mut env = github("pull_request", "refs/pull/2/merge", &event);
    env.insert("GITHUB_ACTOR".to_owned(), "dependabot[bot]".to_owned());
    let context = detect(&env, Some(&event));
    assert_eq!(rights(&context), "++--");
    assert!(why(&context.capabilities.sarif).contains("Dependabot"));
    assert!(context.notes.iter().any(|note| note.contains("permissions")), "{:?}", context.notes);
    // A human who pushes to Dependabot's branch has ordinary rights.
    env.insert("GITHUB_ACTOR".to_owned(), "octocat".to_owned());
    assert_eq!(rights(&detect(&env, Some(&event))), "++-+");
}

#[test]
fn without_a_payload_nothing_is_published_to_a_request_or_as_a_badge() {
    let event = payload("pull_request");
    let context = detect(&github("pull_request", "refs/pull/2/merge", &event), None);
    assert_eq!(rights(&context), "----");
    assert!(why(&context.capabilities.comment).contains("payload"));
    assert_eq!(context.pull_request.unwrap().number, Some(2), "shown, as GITHUB_REF has it");
    let context = detect(&github("push", "refs/heads/master", &event), None);
    assert_eq!((context.event, rights(&context).as_str()), (Event::Branch, "---+"));
}

#[test]
fn a_payload_that_contradicts_the_variables_is_not_used() {
    let event = payload("pull_request");
    let mut other = github("pull_request", "refs/pull/2/merge", &event);
    other.insert("GITHUB_REPOSITORY".to_owned(), "acme/other".to_owned());
    let context = detect(&other, Some(&event));
    assert_eq!(context.pull_request.as_ref().unwrap().number, None);
    assert!(why(&context.capabilities.comment).contains("contradicts"));
    let context = detect(&github("pull_request", "refs/pull/3/merge", &event), Some(&event));
    assert_eq!(context.pull_request.as_ref().unwrap().number, None);
    assert!(why(&context.capabilities.comment).contains("contradicts"));
    // Letters' case is no contradiction.
    let mut env = github("pull_request", "refs/pull/2/merge", &event);
    env.insert("GITHUB_REPOSITORY".to_owned(), "codertocat/hello-world".to_owned());
    assert!(detect(&env, Some(&event)).capabilities.comment.is_yes());
}

#[test]
fn the_token_is_named_and_never_kept() {
    let event = payload("push_branch");
    let mut env = github("push", "refs/heads/master", &event);
    env.insert("SEALMARK_TOKEN".to_owned(), "ghp_not_in_the_context_either".to_owned());
    let context = detect(&env, Some(&event));
    assert_eq!(context.token_variable.as_deref(), Some("SEALMARK_TOKEN"));
    let json = serde_json::to_string(&context).unwrap();
    assert!(!json.contains("not_in_the_context"), "{json}");
    for empty in ["", " ", "\n"] {
        env.insert("SEALMARK_TOKEN".to_owned(), empty.to_owned());
        assert_eq!(detect(&env, Some(&event)).token_variable.as_deref(), Some("GITHUB_TOKEN"));
    }
    env.remove("GITHUB_TOKEN");
    let context = detect(&env, Some(&event));
    assert_eq!(rights(&context), "----");
    assert!(why(&context.capabilities.baseline).contains("no token"));
}

#[test]
fn enterprise_servers_are_told_by_the_toolkits_rule() {
    let event = payload("push_branch");
    for (server, api, enterprise) in [
        ("https://github.com", "https://api.github.com", false),
        ("https://GitHub.com", "https://api.github.com", false),
        ("https://acme.ghe.com", "https://api.acme.ghe.com", false),
        ("http://github.localhost", "http://github.localhost/api/v3", false),
        ("https://git.example", "https://git.example/api/v3", true),
        ("https://notgithub.com", "https://notgithub.com/api/v3", true),
        ("https://ghe.com", "https://ghe.com/api/v3", true),
    ] {
        let mut env = github("push", "refs/heads/master", &event);
        env.insert("GITHUB_SERVER_URL".to_owned(), server.to_owned());
        env.insert("GITHUB_API_URL".to_owned(), format!("{api}/"));
        let context = detect(&env, Some(&event));
        assert_eq!(context.enterprise, enterprise, "{server}");
        assert_eq!(context.api_url.as_deref(), Some(api));
        assert_eq!(context.notes.iter().any(|note| note.contains("upload-artifact@v3")), enterprise);
    }
    for wrong in ["", "ftp://api", "https://user:secret@api.github.com", "api.github.com"] {
        let mut env = github("push", "refs/heads/master", &event);
        env.insert("GITHUB_API_URL".to_owned(), wrong.to_owned());
        let context = detect(&env, Some(&event));
        assert_eq!((context.api_url.clone(), rights(&context).as_str()), (None, "----"), "{wrong}");
    }
}

#[test]
fn gitea_and_forgejo_are_not_github() {
    let event = payload("push_branch");
    for name in ["GITEA_ACTIONS", "FORGEJO_ACTIONS"] {
        let mut env = github("push", "refs/heads/master", &event);
        env.insert(name.to_owned(), "true".to_owned());
        let context = detect(&env, Some(&event));
        assert_eq!((context.platform.clone(), rights(&context).as_str()), (Platform::Gitea, "----"));
        assert!(context.capabilities.summary.is_yes() && !context.capabilities.annotations.is_yes());
        assert!(!context.enterprise);
    }
}

fn gitlab(more: &[(&str, &str)]) -> Context {
    let mut env = map(&[
        ("CI", "true"),
        ("GITLAB_CI", "true"),
        ("CI_API_V4_URL", "https://gitlab.example/api/v4"),
        ("CI_SERVER_URL", "https://gitlab.example"),
        ("CI_PROJECT_ID", "12"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_COMMIT_SHA", SHA),
        ("CI_COMMIT_BEFORE_SHA", "0000000000000000000000000000000000000000"),
        ("CI_JOB_ID", "9001"),
        ("CI_JOB_NAME", "sealmark"),
        ("CI_JOB_URL", "https://gitlab.example/acme/server/-/jobs/9001"),
        ("CI_JOB_TOKEN", "glcbt-not_in_the_context"),
        ("CI_PROJECT_DIR", "/builds/acme/server"),
        ("PWD", "/builds/acme/server"),
        ("CI_SERVER_TLS_CA_FILE", "/builds/ca.pem"),
    ]);
    env.extend(map(more));
    detect(&env, None)
}

const REQUEST: &[(&str, &str)] = &[
    ("CI_PIPELINE_SOURCE", "merge_request_event"),
    ("CI_MERGE_REQUEST_IID", "7"),
    ("CI_MERGE_REQUEST_PROJECT_ID", "12"),
    ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "12"),
    ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "acme/server"),
    ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ("CI_MERGE_REQUEST_EVENT_TYPE", "detached"),
    ("CI_MERGE_REQUEST_REF_PATH", "refs/merge-requests/7/head"),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "1123456789abcdef0123456789abcdef01234567"),
    ("SEALMARK_GITLAB_TOKEN", "glpat-not_in_the_context"),
];

fn request(more: &[(&str, &str)]) -> Context {
    gitlab(&[REQUEST, more].concat())
}

#[test]
fn every_pipeline_of_gitlab_has_its_kind() {
    let on = |source: &str, branch: &str| gitlab(&[("CI_PIPELINE_SOURCE", source), ("CI_COMMIT_BRANCH", branch)]).event;
    for (source, branch, event) in [
        ("push", "main", Event::DefaultBranch),
        ("push", "other", Event::Branch),
        ("schedule", "main", Event::Schedule),
        ("web", "main", Event::Manual),
        ("api", "other", Event::Manual),
        ("trigger", "main", Event::Manual),
        ("pipeline", "main", Event::Manual),
        ("parent_pipeline", "main", Event::DefaultBranch),
        ("parent_pipeline", "other", Event::Branch),
        ("external_pull_request_event", "main", Event::Other),
        ("a\nb", "main", Event::Other),
    ] {
        assert_eq!(on(source, branch), event, "{source} {branch}");
    }
    let tag = gitlab(&[("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_TAG", "v1")]);
    assert_eq!((tag.event, tag.git_ref.as_deref()), (Event::Tag, Some("refs/tags/v1")));
    assert_eq!(request(&[]).event, Event::PullRequest);
    assert_eq!(request(&[("CI_MERGE_REQUEST_EVENT_TYPE", "merged_result")]).event, Event::PullRequest);
    assert_eq!(request(&[("CI_MERGE_REQUEST_EVENT_TYPE", "merge_train")]).event, Event::MergeQueue);
    assert_eq!(request(&[("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "99")]).event, Event::ForkPullRequest);
    assert_eq!(request(&[("CI_PIPELINE_SOURCE", "parent_pipeline")]).event, Event::PullRequest);
    assert_eq!(request(&[("CI_MERGE_REQUEST_IID", "seven")]).pull_request, None);
}

#[test]
fn a_merge_request_is_written_to_with_a_token_of_its_own() {
    let context = request(&[("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "2123456789abcdef0123456789abcdef01234567")]);
    assert_eq!(rights(&context), "++--");
    assert_eq!(context.token_variable.as_deref(), Some("SEALMARK_GITLAB_TOKEN"));
    assert_eq!(context.job_token_variable.as_deref(), Some("CI_JOB_TOKEN"));
    let wanted = context.pull_request.clone().unwrap();
    assert_eq!((wanted.number, wanted.project.clone()), (Some(7), None));
    assert_eq!(wanted.head_sha.as_deref(), Some("2123456789abcdef0123456789abcdef01234567"));
    assert_eq!((context.repository.as_deref(), context.repository_id), (Some("12"), Some(12)));
    assert_eq!((context.run_id, context.job.as_deref()), (Some(9001), Some("sealmark")));
    assert_eq!(context.directory.as_deref(), Some(""));
    assert_eq!(context.base_branch.as_deref(), Some("main"));
    let json = serde_json::to_string(&context).unwrap();
    assert!(!json.contains("not_in_the_context"), "{json}");
    // The job's own token reads the baseline and writes nothing.
    let context = request(&[("SEALMARK_GITLAB_TOKEN", "")]);
    assert_eq!((context.token_variable.as_deref(), rights(&context).as_str()), (None, "-+--"));
    let Capability::No { remedy, .. } = &context.capabilities.comment else { panic!() };
    assert!(remedy.contains("SEALMARK_GITLAB_TOKEN") && remedy.contains("GITLAB_TOKEN"), "{remedy}");
    let named = request(&[("SEALMARK_GITLAB_TOKEN", ""), ("GITLAB_TOKEN", "glpat-x")]);
    assert_eq!(named.token_variable.as_deref(), Some("GITLAB_TOKEN"));
}

#[test]
fn a_forks_merge_request_is_written_to_in_the_target_project() {
    let from_fork = [("CI_PROJECT_ID", "99"), ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "99")];
    let context = request(&[&from_fork[..], &[("SEALMARK_GITLAB_TOKEN", "")]].concat());
    assert_eq!((context.event, rights(&context).as_str()), (Event::ForkPullRequest, "-+--"));
    assert_eq!(context.pull_request.unwrap().project.as_deref(), Some("12"));
    assert!(why(&context.capabilities.comment).contains("fork"));
    // A member started the pipeline in the parent project, which lends its variables.
    let context = request(&[("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "99")]);
    assert_eq!((context.event, rights(&context).as_str()), (Event::ForkPullRequest, "++--"));
    assert_eq!(context.pull_request.unwrap().project, None);
    let train = request(&[("CI_MERGE_REQUEST_EVENT_TYPE", "merge_train")]);
    assert_eq!(rights(&train), "-+--");
}

/// What our table must say of a vendor of `ci-info`.
fn expected(constant: &str) -> Option<Platform> {
    let other = |name: &str| Some(Platform::Other(name.to_owned()));
    match constant {
        "GITHUB_ACTIONS" => Some(Platform::GitHub),
        "GITEA_ACTIONS" => Some(Platform::Gitea),
        "GITLAB" => Some(Platform::GitLab),
        "AZURE_PIPELINES" => Some(Platform::Azure),
        "BITBUCKET" => Some(Platform::Bitbucket),
        "CIRCLE" => Some(Platform::CircleCi),
        "JENKINS" => Some(Platform::Jenkins),
        "BUILDKITE" => Some(Platform::Buildkite),
        "DRONE" => other("Drone"),
        "TRAVIS" => other("Travis CI"),
        "TEAMCITY" => other("TeamCity"),
        "CODEBUILD" => other("AWS CodeBuild"),
        "WOODPECKER" => other("Woodpecker"),
        _ => None,
    }
}

#[test]
fn every_vendor_of_ci_info_is_named_or_generic_and_never_another() {
    let vendors: Vec<Value> = serde_json::from_str(include_str!("../../../tests/data/ci/vendors.json")).unwrap();
    assert_eq!(vendors.len(), 55);
    let mut named = 0;
    for vendor in &vendors {
        let mut env = Map::new();
        let mut set = |spec: &Value| match spec {
            Value::String(name) => drop(env.insert(name.clone(), "true".to_owned())),
            Value::Array(names) => names.iter().for_each(|name| {
                env.insert(name.as_str().unwrap().to_owned(), "true".to_owned());
            }),
            Value::Object(spec) if spec.contains_key("includes") => {
                env.insert(spec["env"].as_str().unwrap().to_owned(), spec["includes"].as_str().unwrap().to_owned());
            }
            Value::Object(spec) if spec.contains_key("any") && !spec.contains_key("env") => {
                env.insert(spec["any"][0].as_str().unwrap().to_owned(), "true".to_owned());
            }
            Value::Object(spec) => spec.iter().for_each(|(name, value)| {
                env.insert(name.clone(), value.as_str().unwrap().to_owned());
            }),
            _ => panic!("{spec}"),
        };
        set(&vendor["env"]);
        let constant = vendor["constant"].as_str().unwrap();
        let wanted = expected(constant);
        // Alone it is that platform or nothing; with CI set, an unknown one is generic.
        let alone = detect(&env, None).platform;
        assert_eq!(alone, wanted.clone().unwrap_or(Platform::None), "{constant}");
        env.entry("CI".to_owned()).or_insert_with(|| "true".to_owned());
        let context = detect(&env, None);
        let generic = if env["CI"] == "woodpecker" { wanted.clone() } else { Some(Platform::Generic) };
        assert_eq!(context.platform, wanted.clone().or(generic).unwrap(), "{constant}");
        if !matches!(context.platform, Platform::GitHub | Platform::GitLab | Platform::Gitea) {
            assert_eq!(rights(&context), "----", "{constant}");
            assert_ne!(context.event, Event::PullRequest, "{constant}");
            if let Some(request) = wanted.as_ref().and_then(|_| pull_request(&vendor["pr"])) {
                env.extend(request);
                assert_eq!(detect(&env, None).event, Event::PullRequest, "{constant}: {env:?}");
            }
        }
        named += usize::from(wanted.is_some());
        env.insert("CI".to_owned(), "false".to_owned());
        assert_eq!(detect(&env, None).platform, Platform::None, "{constant}");
    }
    assert_eq!(named, 13);
}

/// The variables with which a vendor says that this is a request.
fn pull_request(spec: &Value) -> Option<Map> {
    let name = |value: &Value| value.as_str().unwrap().to_owned();
    Some(match spec {
        Value::String(name) => map(&[(name, "7")]),
        Value::Object(spec) if spec.contains_key("ne") => map(&[(&name(&spec["env"]), "7")]),
        Value::Object(spec) if spec.contains_key("env") => map(&[(&name(&spec["env"]), &name(&spec["any"][0]))]),
        Value::Object(spec) if spec.contains_key("any") => map(&[(&name(&spec["any"][0]), "7")]),
        Value::Object(spec) => spec.iter().map(|(key, value)| (key.clone(), name(value))).collect(),
        _ => return None,
    })
}

#[test]
fn the_most_specific_platform_wins_and_false_is_not_set() {
    let both = map(&[("CI", "true"), ("GITHUB_ACTIONS", "true"), ("JENKINS_URL", "x"), ("BUILD_ID", "1")]);
    assert_eq!(detect(&both, None).platform, Platform::GitHub);
    // gitlab-ci-local says so of itself.
    assert_eq!(detect(&map(&[("CI", "true"), ("GITLAB_CI", "false")]), None).platform, Platform::Generic);
    for (value, platform) in
        [("1", Platform::Generic), ("", Platform::None), ("false", Platform::None), ("FALSE", Platform::None)]
    {
        assert_eq!(detect(&map(&[("CI", value)]), None).platform, platform, "{value}");
    }
    let off = detect(&map(&[("CI", "false"), ("GITHUB_ACTIONS", "true"), ("GITHUB_TOKEN", "x")]), None);
    assert_eq!((off.platform.clone(), off.token_variable.clone()), (Platform::None, None));
    assert!(why(&off.capabilities.comment).contains("CI=false"));
    assert_eq!(detect(&Map::new(), None), Context::default());
}

#[test]
fn azure_tells_its_page_and_its_request_in_pieces() {
    let context = detect(
        &map(&[
            ("TF_BUILD", "True"),
            ("BUILD_REASON", "PullRequest"),
            ("SYSTEM_PULLREQUEST_PULLREQUESTID", "7"),
            ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/feature/x"),
            ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
            ("BUILD_SOURCEBRANCH", "refs/pull/7/merge"),
            ("BUILD_SOURCEVERSION", SHA),
            ("SYSTEM_COLLECTIONURI", "https://dev.azure.com/acme/"),
            ("SYSTEM_TEAMPROJECTID", "0b9a-11"),
            ("BUILD_BUILDID", "42"),
        ]),
        None,
    );
    assert_eq!((context.platform, context.event), (Platform::Azure, Event::PullRequest));
    assert_eq!((context.branch.as_deref(), context.base_branch.as_deref()), (Some("feature/x"), Some("main")));
    assert_eq!(context.pull_request.unwrap().number, Some(7));
    assert_eq!(context.run_url.as_deref(), Some("https://dev.azure.com/acme/0b9a-11/_build/results?buildId=42"));
}

#[test]
fn wild_values_are_missing_values() {
    let event = payload("pull_request");
    let giant = "a".repeat(1 << 20);
    for wild in ["-1", "1e9", "a\nb", "99999999999999999999", "\u{202e}", "../..", "${{ x }}", "::error::x", &giant] {
        let mut env = github("pull_request", "refs/pull/2/merge", &event);
        for name in
            ["GITHUB_RUN_ID", "GITHUB_REPOSITORY_ID", "GITHUB_SHA", "GITHUB_REF", "GITHUB_HEAD_REF", "GITHUB_API_URL"]
        {
            env.insert(name.to_owned(), wild.to_owned());
        }
        let context = detect(&env, Some(&event));
        assert_eq!((context.run_id, context.run_url, context.sha, context.api_url), (None, None, None, None));
        env.insert("GITHUB_REPOSITORY".to_owned(), wild.to_owned());
        assert_eq!(detect(&env, Some(&event)).repository, None);
    }
}

/// A payload in which one value, anywhere, is another one.
fn spoiled(value: &Value, at: &mut usize, with: &Value) -> Value {
    if *at == 0 {
        *at = usize::MAX;
        return with.clone();
    }
    *at -= 1;
    match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), spoiled(value, at, with))).collect(),
        Value::Array(items) => items.iter().map(|value| spoiled(value, at, with)).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_payload_with_any_value_spoiled_gives_a_context_all_the_same() {
    let spoils = [json!(null), json!(-1), json!("x\ny"), json!([]), json!({ "id": [] }), json!(1e300), json!("fork/x")];
    for (name, git_ref, file) in [
        ("pull_request", "refs/pull/2/merge", "pull_request_fork"),
        ("workflow_run", "refs/heads/master", "workflow_run_fork"),
        ("merge_group", "refs/heads/x", "merge_group"),
        ("push", "refs/heads/master", "push_branch"),
    ] {
        let event = payload(file);
        let env = github(name, git_ref, &event);
        for with in &spoils {
            for at in 0..80 {
                let mut left = at;
                let context = detect(&env, Some(&spoiled(&event, &mut left, with)));
                // Whatever a payload says: a fork's request never gets a comment from its own run.
                if file == "pull_request_fork" {
                    assert!(!context.capabilities.comment.is_yes(), "{at} {with}");
                }
                assert!(!context.branch.unwrap_or_default().contains('\n'));
            }
        }
    }
}

proptest! {
    #[test]
    fn no_environment_crashes_it(
        pairs in proptest::collection::btree_map(
            "(CI|GITHUB_ACTIONS|GITLAB_CI|TF_BUILD|GITHUB_(REF|SHA|REPOSITORY|EVENT_NAME|RUN_ID|SERVER_URL|API_URL|HEAD_REF|WORKSPACE)|\
             CI_(PROJECT_ID|COMMIT_BRANCH|MERGE_REQUEST_IID|API_V4_URL|PIPELINE_SOURCE)|PWD|DRONE|TRAVIS)",
            "(true|push|pull_request|refs/pull/[0-9a]{1,3}/merge|refs/heads/\\PC{0,8}|https?://\\PC{0,12}|\\PC{0,20}|[\n\r\u{1b}/.]{0,4})",
            0..12,
        )
    ) {
        let context = detect(&pairs, None);
        prop_assert!(serde_json::to_string(&context).is_ok());
        for text in [&context.branch, &context.repository, &context.sha, &context.api_url].into_iter().flatten() {
            prop_assert!(!text.chars().any(char::is_control));
        }
    }
}
