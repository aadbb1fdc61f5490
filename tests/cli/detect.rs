//! `ci detect`, and what a server under test gets of a CI job's environment.

use std::{collections::BTreeMap, fs, process::Command};

use serde_json::Value;

use super::bench::{Bench, Ended, ended, free_port, start, toy};

/// Tokens of every platform, each with a value of its own.
const TOKENS: &[(&str, &str)] = &[
    ("GITHUB_TOKEN", "ghs_token_of_github_000"),
    ("GH_TOKEN", "ghp_token_of_gh_00000000"),
    ("SEALMARK_TOKEN", "ghp_token_of_sealmark_00"),
    ("ACTIONS_RUNTIME_TOKEN", "token_of_the_runtime_000"),
    ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "token_of_the_id_request_"),
    ("CI_JOB_TOKEN", "glcbt-token_of_the_job_0"),
    ("CI_JOB_JWT_V2", "token_of_the_jwt_0000000"),
    ("CI_REGISTRY_PASSWORD", "token_of_the_registry_00"),
    ("SEALMARK_GITLAB_TOKEN", "glpat-token_of_sealmark_"),
    ("DEPLOY_GITLAB_TOKEN", "glpat-token_of_deploy_00"),
    ("SYSTEM_ACCESSTOKEN", "token_of_azure_000000000"),
    ("BITBUCKET_STEP_OIDC_TOKEN", "token_of_bitbucket_00000"),
    ("CIRCLE_OIDC_TOKEN_V2", "token_of_circle_00000000"),
    ("BUILDKITE_AGENT_ACCESS_TOKEN", "token_of_buildkite_00000"),
];

/// Variables that hold no token of their own: what leads to one, and files that results could be forged through.
const HANDLES: &[(&str, &str)] = &[
    ("CI_REPOSITORY_URL", "https://gitlab-ci-token:glcbt-token_of_the_job_0@gitlab.example/a/b.git"),
    ("MY_REMOTE", "https://x-access-token:ghs_token_of_github_000@github.com/a/b"),
    ("ACTIONS_ID_TOKEN_REQUEST_URL", "https://pipelines.example/id"),
    ("GITHUB_OUTPUT", "/nowhere/output"),
    ("GITHUB_ENV", "/nowhere/env"),
    ("GITHUB_PATH", "/nowhere/path"),
    ("GITHUB_STATE", "/nowhere/state"),
    ("GITHUB_STEP_SUMMARY", "/nowhere/summary"),
];

/// A server that writes down its environment, then is one of the toys.
fn dumping(bench: &Bench) -> String {
    let script = "import json, os, runpy, sys\n\
                  out, sys.argv = sys.argv[1], sys.argv[2:]\n\
                  open(out, 'a').write(json.dumps(dict(os.environ)) + '\\n')\n\
                  sys.path.insert(0, os.path.dirname(sys.argv[0]))\n\
                  runpy.run_path(sys.argv[0], run_name='__main__')\n";
    let script = bench.write("dumps.py", script);
    format!("python3 {} {}", script.display(), bench.work().join("env.jsonl").display())
}

/// Runs with every token set; returns how it ended, what the processes of the server had, and the report.
fn with_tokens(bench: &Bench, words: &[&str]) -> (Ended, Vec<BTreeMap<String, String>>, Value) {
    let words = [&["run"], words, &["--format", "json", "--out", "r.json"]].concat();
    let mut command = bench.command(&words);
    command.envs(TOKENS.iter().copied()).envs(HANDLES.iter().copied()).env("OF_THE_USER", "kept");
    let ended = ended(command.output().unwrap());
    let text = fs::read_to_string(bench.work().join("env.jsonl")).unwrap_or_default();
    let dumps = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ended, dumps, bench.json("r.json"))
}

#[track_caller]
fn holds_no_token(dumps: &[BTreeMap<String, String>], but: &[&str]) {
    assert!(!dumps.is_empty(), "the server never started");
    for dump in dumps {
        for (name, value) in dump {
            let given = but.contains(&name.as_str());
            let token = TOKENS.iter().find(|(_, token)| value.contains(token) && !given);
            assert_eq!(token, None, "{name}={value}");
            let handle = HANDLES.iter().any(|(handle, _)| handle == name);
            assert!(!handle || given, "{name}={value}");
        }
    }
}

#[test]
fn no_way_to_start_a_server_gives_it_a_publishing_token() {
    let port = free_port().to_string();
    let url = format!("http://127.0.0.1:{port}/mcp");
    for (what, toy, flags, inherits) in [
        ("sandbox", toy("honest.py"), &[][..], false),
        ("no sandbox", toy("honest.py"), &["--no-sandbox"], true),
        ("launched", format!("{} {port} plain", toy("toy_http.py")), &["--url", &url], true),
    ] {
        let bench = Bench::new();
        let command = format!("{} {toy}", dumping(&bench));
        let (ended, dumps, report) = with_tokens(&bench, &[&["--start", &command], flags].concat());
        assert!(ended.code.is_some_and(|code| code < 2), "{what}: {}", ended.stderr);
        holds_no_token(&dumps, &[]);
        assert!(dumps.iter().all(|dump| dump.contains_key("OF_THE_USER") == inherits), "{what}");
        let withheld = report["sandbox"]["withheld"].to_string();
        for (name, _) in TOKENS.iter().chain(HANDLES) {
            assert_eq!(withheld.contains(&format!("\"{name} (")), inherits, "{what}: {name} in {withheld}");
        }
        assert!(!ended.stderr.contains("SEALMARK_TOKEN is no setting"), "{}", ended.stderr);
    }
}

#[test]
fn a_token_is_given_back_by_name_and_the_report_says_so() {
    for (what, flags) in [("sandbox", &[][..]), ("no sandbox", &["--no-sandbox"])] {
        let bench = Bench::new();
        let command = format!("{} {}", dumping(&bench), toy("honest.py"));
        let passed = ["--start", &command, "--pass-env", "GITHUB_TOKEN", "--pass-env", "NO_SUCH_NAME"];
        let (ended, dumps, report) = with_tokens(&bench, &[&passed[..], flags].concat());
        assert!(ended.code.is_some_and(|code| code < 2), "{what}: {}", ended.stderr);
        holds_no_token(&dumps, &["GITHUB_TOKEN"]);
        assert!(dumps.iter().all(|dump| dump["GITHUB_TOKEN"] == TOKENS[0].1), "{what}");
        let sandbox = &report["sandbox"];
        assert!(sandbox["inherited"].to_string().contains("GITHUB_TOKEN (server.pass_env)"), "{what}: {sandbox}");
        assert!(sandbox["withheld"].to_string().contains("NO_SUCH_NAME (is not set)"), "{what}: {sandbox}");
        assert!(!bench.read("r.json").contains(TOKENS[0].1), "{what}: the report quotes the token");
    }
}

#[test]
fn the_text_report_names_what_was_withheld() {
    let bench = Bench::new();
    let mut command = bench.command(&["run", "--no-sandbox", "--start", &start("honest.py")]);
    let ended = ended(command.env("CI_JOB_TOKEN", TOKENS[5].1).output().unwrap());
    assert!(ended.stdout.contains("withheld: CI_JOB_TOKEN (can publish)"), "{}", ended.stdout);
    let plain = bench.run(&["run", "--no-sandbox", "--start", &start("honest.py")]);
    assert!(!plain.stdout.contains("withheld"), "{}", plain.stdout);
}

/// One payload of `tests/data/ci/events.json` as a file.
fn event(bench: &Bench, name: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ci/events.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(all[name].is_object(), "{name}");
    bench.write("event.json", &all[name].to_string()).display().to_string()
}

fn github(bench: &Bench, words: &[&str], event: &str) -> Command {
    let mut command = bench.command(words);
    command.envs([
        ("CI", "true"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_EVENT_PATH", event),
        ("GITHUB_REF", "refs/pull/2/merge"),
        ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
        ("GITHUB_REPOSITORY", "Codertocat/Hello-World"),
        ("GITHUB_RUN_ID", "77"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_API_URL", "https://api.github.com"),
        ("GITHUB_STEP_SUMMARY", "/nowhere/summary"),
        ("GITHUB_TOKEN", "ghs_token_of_github_000"),
    ]);
    command.env("GITHUB_WORKSPACE", bench.work().parent().unwrap());
    command
}

#[test]
fn outside_of_ci_nothing_is_detected() {
    let bench = Bench::new();
    let ended = bench.run(&["ci", "detect"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.starts_with("platform     no CI detected\n"), "{}", ended.stdout);
    let ended = bench.run(&["ci", "detect", "--json"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&json["schema"], &json["platform"]), (&"sealmark.context/1".into(), &"none".into()));
    assert_eq!(json["capabilities"]["comment"]["can"], "no");
}

#[test]
fn a_pull_request_of_a_fork_is_told_with_what_helps() {
    let bench = Bench::new();
    let file = event(&bench, "pull_request_fork");
    let ended = ended(github(&bench, &["ci", "detect"], &file).output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for line in [
        "platform     GitHub Actions",
        "event        pull request of a fork (pull_request)",
        "repository   Codertocat/Hello-World",
        "branch       changes → master (default: master)",
        "request      #2 from mallory:changes at ec26c3e57ca3a959ca5aad62de7213c562f8c821",
        "run          https://github.com/Codertocat/Hello-World/actions/runs/77",
        "token        GITHUB_TOKEN",
        "comment      no: a pull request of a fork gets a token that only reads",
        "baseline     yes",
        "outputs      no: GITHUB_OUTPUT names no file",
    ] {
        assert!(ended.stdout.lines().any(|found| found == line), "no {line:?} in\n{}", ended.stdout);
    }
    assert!(ended.stdout.contains("sealmark publish --artifact"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("ghs_"), "{}", ended.stdout);
    let mut command = github(&bench, &["ci", "detect", "--json"], &file);
    let json: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!((&json["platform"], &json["event"]), (&"github".into(), &"fork-pull-request".into()));
    assert_eq!((&json["pullRequest"]["number"], &json["directory"]), (&2.into(), &"work".into()));
    assert_eq!(json["capabilities"]["baseline"], serde_json::json!({ "can": "yes" }));
}

#[test]
fn a_payload_that_cannot_be_read_is_a_note() {
    let bench = Bench::new();
    let broken = bench.write("broken.json", "{\"pull_request\": ").display().to_string();
    let missing = bench.work().join("missing.json").display().to_string();
    let directory = bench.work().display().to_string();
    for (file, why) in [(&broken, "is no JSON"), (&missing, "could not be read"), (&directory, "is no regular file")] {
        let ended = ended(github(&bench, &["ci", "detect"], file).output().unwrap());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{file}");
        assert!(ended.stdout.contains(&format!("note: The event payload {file} {why}")), "{}", ended.stdout);
        assert!(ended.stdout.contains("comment      no: the event payload could not be read"), "{}", ended.stdout);
    }
    let ended = ended(github(&bench, &["ci", "detect"], &broken).env_remove("GITHUB_EVENT_PATH").output().unwrap());
    assert!(ended.stdout.contains("note: GITHUB_EVENT_PATH names no event payload."), "{}", ended.stdout);
}

#[test]
fn gitlab_is_told_in_its_own_words() {
    let bench = Bench::new();
    let mut command = bench.command(&["ci", "detect"]);
    command.envs([
        ("GITLAB_CI", "true"),
        ("CI_PROJECT_ID", "42"),
        ("CI_SERVER_URL", "https://gitlab.example"),
        ("CI_JOB_URL", "https://gitlab.example/acme/tools/shop/-/jobs/9"),
        ("CI_PIPELINE_SOURCE", "merge_request_event"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "42"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "42"),
    ]);
    let told = ended(command.output().unwrap()).stdout;
    for line in
        ["event        merge request (merge_request_event)", "project      acme/tools/shop (42)", "request      !7"]
    {
        assert!(told.lines().any(|found| found == line), "no {line:?} in\n{told}");
    }
    assert!(!told.contains("pull request"), "{told}");
}

#[test]
fn names_from_a_request_are_no_orders_to_a_log() {
    let bench = Bench::new();
    for words in [&["ci", "detect"][..], &["ci", "detect", "--json"]] {
        let mut command = bench.command(words);
        let hostile = "x ##[error]y ##vso[task.complete]z section_start:1:a ::error::b \u{202e}";
        command.env("GITLAB_CI", "true").env("CI_JOB_NAME", hostile).env("CI_PIPELINE_SOURCE", hostile);
        command.env("CI_COMMIT_BRANCH", "a::error::b").env("CI_PROJECT_ID", "\u{1b}[31m");
        let ended = ended(command.output().unwrap());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(!ended.stdout.contains("##[") && !ended.stdout.contains("##vso["), "{}", ended.stdout);
        assert!(!ended.stdout.contains('\u{202e}') && !ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
        assert!(ended.stdout.lines().all(|line| !line.trim_start().starts_with("::")), "{}", ended.stdout);
    }
}
