//! The commands that need no server, as a user runs them: answers, exit codes, suggestions, closed pipes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::Read,
    process::{Command, Output, Stdio},
};

fn sealmark(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealmark"));
    command.args(words).env_clear().current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command
}

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = sealmark(words).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn mistakes_exit_2_and_suggest_what_was_meant() {
    for (words, meant) in [
        (&["list-chekcs"][..], "list-checks"),
        (&["run", "--profle", "quick"], "--profile"),
        (&["explain", "tool-poisning"], "tool-poisoning"),
        (&["list-checks", "--pack", "cor"], "core"),
        (&["run", "--fail-under", "E"], "A, B, C, D, F or none"),
        (&["config", "show", "--start", "a && b"], "sh -c"),
        (&["completions", "bsh"], "bash"),
        (&["ci", "matrix"], "--config FILE"),
        (&["merge", "x.json", "--out", "y.json", "--config", "/dev/null"], "--config FILE"),
        (&["baseline", "fetch", "--out", "x.json"], "run it in a CI job"),
        // What they cannot compare with they do not offer to fail on.
        (&["demo", "--fail-on", "drift"], "unexpected argument '--fail-on'"),
        (&["judge", "x.json", "--fail-on", "regressions"], "unexpected argument '--fail-on'"),
    ] {
        let (code, stdout, stderr) = run(words);
        assert_eq!(code, Some(2), "{words:?}: {stderr}");
        assert!(stdout.is_empty(), "{words:?} wrote to stdout: {stdout}");
        assert!(stderr.contains(meant), "{words:?}: {stderr}");
    }
}

#[test]
fn a_header_that_is_none_is_not_repeated_in_the_message() {
    let (code, _, stderr) = run(&["config", "show", "--url", "http://127.0.0.1:1", "--header", "hunter2"]);
    assert_eq!(code, Some(2));
    assert!(!stderr.contains("hunter2") && stderr.contains("--header"), "{stderr}");
}

#[test]
fn help_and_version_are_answers() {
    for words in [&["--help"][..], &["run", "--help"], &["--version"], &["help", "judge"]] {
        let (code, stdout, stderr) = run(words);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{words:?}");
        assert!(!stdout.is_empty(), "{words:?}");
    }
    assert!(run(&["--version"]).1.contains("methodology"), "the long version names the methodology");
}

#[test]
fn the_help_of_a_command_promises_what_the_command_does() {
    for (command, there, absent) in [
        (
            "ci",
            &["ci, strict, paranoid or one of your own [default: ci]", "[default: sealmark-report]"][..],
            &["--out <"][..],
        ),
        ("run", &["[default: standard]", "[default: text]", "--out <FILE>"], &[]),
        ("publish", &["0, or 4 with --require-publish"], &["xit 1", "xits 1", "--surface"]),
        ("gate", &["auto"], &["--surface"]),
        ("demo", &["--fail-under"], &["--baseline", "--fail-on"]),
        ("merge", &["sealmark-report.json"], &[]),
    ] {
        let help = run(&[command, "--help"]).1.split_whitespace().collect::<Vec<_>>().join(" ");
        there.iter().for_each(|words| assert!(help.contains(words), "{command}: no {words:?} in {help}"));
        absent.iter().for_each(|words| assert!(!help.contains(words), "{command}: {words:?} in {help}"));
    }
    // A hint names no flag that the command does not have.
    for words in [&["ci", "matrix"][..], &["merge", "x.json", "--out", "y.json", "--config", "/dev/null"]] {
        let (code, _, stderr) = run(words);
        assert_eq!(code, Some(2), "{words:?}: {stderr}");
        assert!(!stderr.contains("--start") && !stderr.contains("--url"), "{words:?}: {stderr}");
    }
}

#[test]
fn machine_answers_are_json() {
    for words in [
        &["list-checks", "--json"][..],
        &["describe", "--json"],
        &["describe", "--schema"],
        &["config", "show", "--json"],
        &["config", "profiles", "--json"],
    ] {
        let (code, stdout, stderr) = run(words);
        assert_eq!(code, Some(0), "{words:?}: {stderr}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap();
    }
}

#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, stdout, _) = run(&["completions", shell]);
        assert!(code == Some(0) && stdout.contains("list-checks"), "{shell}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    for words in [&["describe", "--json"][..], &["--help"], &["man"]] {
        let mut child = sealmark(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn manual_pages_land_in_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("man");
    assert_eq!(run(&["man", "--out-dir", path.to_str().unwrap()]).0, Some(0));
    for name in ["sealmark.1", "sealmark-run.1", "sealmark-config-show.1"] {
        assert!(path.join(name).is_file(), "{name}");
    }
}
