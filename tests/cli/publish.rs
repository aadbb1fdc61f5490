//! What was asked for and is not published: one line with its cause and remedy, and the exit code that goes with it.

use std::{fs, process::Command};

use super::bench::{Bench, Ended, ended, one_message, start};

fn bench() -> Bench {
    let bench = Bench::new();
    let ended =
        bench.run(&["run", "--start", &start("honest.py"), "--name", "shop", "--format", "json", "--out", "r.json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    bench
}

/// A job on GitHub; nothing answers at its API.
fn github(bench: &Bench, words: &[&str], event: &str, payload: &str) -> Command {
    let mut command = bench.command(words);
    let file = bench.write("event.json", payload).display().to_string();
    command.envs([
        ("CI", "true"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_EVENT_PATH", &file),
        ("GITHUB_REF", "refs/heads/topic"),
        ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
        ("GITHUB_REPOSITORY", "acme/shop"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_API_URL", "http://127.0.0.1:9"),
    ]);
    let at = |name: &str| bench.work().join(name).display().to_string();
    command.env("GITHUB_STEP_SUMMARY", at("summary")).env("GITHUB_OUTPUT", at("output"));
    command
}

const TOPIC: &str = r#"{"repository": {"full_name": "acme/shop", "default_branch": "main"}}"#;
const ASKED: [&str; 6] = ["--comment", "always", "--badge", "badges", "--sarif", "upload"];

fn notes(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("note: no ") && !line.contains("no baseline")).collect()
}

#[test]
fn what_this_machine_cannot_publish_is_told_and_fails_where_it_must_be() {
    let bench = bench();
    let run = format!("--start={}", start("honest.py"));
    for variables in [&[][..], &[("CI", "true")]] {
        for words in [&["publish", "--report", "r.json"][..], &["ci", &run]] {
            let go = |flags: &[&str]| {
                let mut command = bench.command(&[words, flags].concat());
                ended(command.envs(variables.iter().copied()).output().unwrap())
            };
            let told = go(&ASKED);
            assert_eq!((told.code, notes(&told).len()), (Some(0), 3), "{words:?}: {}", told.stderr);
            for (line, what) in notes(&told).iter().zip(["no comment: ", "no badges: ", "no SARIF upload: "]) {
                assert!(line.contains(what) && line.ends_with(')'), "{line}");
            }
            let must = go(&[&ASKED[..], &["--require-publish"]].concat());
            assert_eq!(must.code, Some(4), "{words:?}: {}", must.stderr);
            let last: Vec<&str> = must.stderr.lines().rev().take(2).collect();
            assert!(last[1].starts_with("error: exit code 4 instead of 0: something that had to be published was not"));
            assert!(last[0].starts_with("hint: "), "{last:?}");
        }
    }
    let quiet = bench.run(&["publish", "--report", "r.json", "--baseline", "off"]);
    assert_eq!(
        (quiet.code, quiet.stderr.as_str()),
        (Some(0), "note: nothing was published: no CI was detected (run it in a CI job)\n")
    );
    assert_eq!(bench.run(&["publish", "--report", "r.json", "--baseline", "off", "--require-publish"]).code, Some(4));
    let default = bench.run(&["ci", &run, "--baseline", "off", "--require-publish"]);
    assert!(default.code == Some(0) && notes(&default).is_empty(), "{}", default.stderr);
}

#[test]
fn what_comes_with_another_event_is_told_and_is_no_failure() {
    let bench = bench();
    let go = |flags: &[&str]| {
        let words = [&["publish", "--report", "r.json", "--baseline", "off", "--require-publish"], flags].concat();
        ended(github(&bench, &words, "push", TOPIC).env("GITHUB_TOKEN", "ghs_x").output().unwrap())
    };
    let told = go(&["--comment", "always", "--badge", "badges"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(notes(&told).len(), 2, "{}", told.stderr);
    assert!(notes(&told)[0].starts_with("note: no comment: this run belongs to no pull request ("), "{}", told.stderr);
    assert!(notes(&told)[1].starts_with("note: no badges: this is not the default branch ("), "{}", told.stderr);
    let ci = ["ci", "--start", &start("honest.py"), "--baseline", "off"];
    let default = ended(github(&bench, &ci, "push", TOPIC).env("GITHUB_TOKEN", "ghs_x").output().unwrap());
    assert!(default.code == Some(0) && notes(&default).is_empty(), "a default asks for nothing: {}", default.stderr);
}

#[test]
fn the_summary_does_not_claim_what_the_exit_code_denies() {
    let bench = bench();
    let payload = r#"{"number": 7, "repository": {"full_name": "acme/shop", "default_branch": "main", "id": 1},
        "pull_request": {"number": 7, "base": {"ref": "main", "repo": {"id": 1, "full_name": "acme/shop"}},
        "head": {"ref": "topic", "sha": "0123456789abcdef0123456789abcdef01234567", "repo": {"id": 1, "full_name": "acme/shop", "owner": {"login": "acme"}}}}}"#;
    let start = start("honest.py");
    let words = ["ci", "--start", &start, "--baseline", "off", "--require-publish"];
    let mut command = github(&bench, &words, "pull_request", payload);
    command.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_TOKEN", "ghs_x");
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("warning: the comment was not written"), "{}", ended.stderr);
    let summary = bench.read("summary");
    assert!(summary.starts_with("## ❌ Sealmark: not published"), "{summary}");
    assert!(summary.contains("**Exit code 4:**") && !summary.contains("✅ Sealmark"), "{summary}");
    assert!(ended.stdout.contains("::error title=sealmark%3A something was not published"), "{}", ended.stdout);
    assert!(bench.read("output").contains("exit-code=4\n"));
}

#[test]
fn nothing_is_compared_so_nothing_is_counted() {
    let bench = bench();
    let start = start("honest.py");
    let words = ["ci", "--start", &start, "--name", "other", "--baseline", "r.json"];
    let ended = ended(github(&bench, &words, "push", TOPIC).output().unwrap());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let outputs = bench.read("output");
    assert!(outputs.contains("regressions=\ndrift=\n"), "{outputs}");
    assert!(ended.stdout.contains("%0Anothing was compared%0A"), "{}", ended.stdout);
    assert!(
        bench.read("summary").contains("**Against the baseline:** nothing was compared\n"),
        "{}",
        bench.read("summary")
    );
}

#[test]
fn no_server_is_started_with_the_rights_of_the_base() {
    let bench = bench();
    let marker = bench.work().join("started");
    let server = format!("sh -c 'touch {}; exec {}'", marker.display(), start("honest.py"));
    for words in [&["run", "--start", &server][..], &["surface", "--start", &server], &["ci", "--start", &server]] {
        let ended = ended(github(&bench, words, "pull_request_target", TOPIC).output().unwrap());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ended.stderr);
        let why = ["pull_request_target runs with the rights of the base repository"];
        one_message(words[0], &ended.stderr, &why, &["workflow_run"], |_| false);
    }
    assert!(!marker.exists(), "a server was started");
    assert!(!fs::exists(bench.work().join("sealmark-report")).unwrap());
}

#[test]
fn the_files_that_ci_writes_by_itself_are_named_where_they_are() {
    let bench = bench();
    let server = start("honest.py");
    let (program, args) = server.split_once(' ').unwrap();
    bench.write("sealmark.yaml", &format!("server: {{command: {program}, args: [{args}]}}\noutput: {{out_dir: zz}}\n"));
    let ended = ended(bench.command(&["run"]).env("CI", "true").output().unwrap());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let note = "note: CI is set, so the ci profile is used: summary here, zz/sealmark-report.junit.xml, zz/sealmark-report.json (";
    assert!(ended.stderr.starts_with(note), "{}", ended.stderr);
    assert!(bench.work().join("zz/sealmark-report.json").exists());
}
