//! Where reports and recordings go, and places where none can go: refused before a server is started.

use std::fs;

use super::bench::{Bench, one_message, start};

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_start() {
    let bench = Bench::new();
    bench.write("file", "x");
    // A start would leave a trace.
    let command = "sh -c 'touch \"$HOME/../started\"; exit 9'";
    for (flags, error, hint) in [
        (&["--out", "."][..], &["report", "."][..], &["may write"][..]),
        (&["--out", "/proc/r.txt"], &["report", "/proc/r.txt"], &["may write"]),
        (&["--out", "file/r.txt"], &["report", "file/r.txt"], &["may write"]),
        (&["--out-dir", "file"], &["report", "file/sealmark-report.txt"], &["may write"]),
        (&["--out-dir", "/proc/x"], &["report", "/proc/x"], &["may write"]),
        (&["--record", "."], &["recording", "."], &["may write"]),
        (&["--record", "/proc/x"], &["recording", "/proc/x"], &["may write"]),
        (&["--sandbox-dir", "/no/such"], &["sandbox", "/no/such", "does not exist"], &["--sandbox-dir"]),
        (&["--sandbox-dir", "file"], &["sandbox", "file", "not a directory"], &["--sandbox-dir"]),
        (&["--template", "no.hbs"], &["template", "no.hbs"], &["text file"]),
        (&["--template", "."], &["template", "."], &["text file"]),
    ] {
        let ended = bench.run(&[&["run", "--start", command], flags].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{flags:?}: {}", ended.stderr);
        one_message(&flags.join(" "), &ended.stderr, error, hint, |_| false);
    }
    let ended = bench.run(&["run", "--start", command, "--sandbox-dir", "/proc"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    one_message("/proc", &ended.stderr, &["sandbox", "/proc"], &["--sandbox-dir"], |_| false);
    assert!(fs::read_dir(bench.work()).unwrap().count() == 1, "something was written");
}

#[test]
fn each_format_has_its_place() {
    let bench = Bench::new();
    let command = start("honest.py");
    let run = |flags: &[&str]| {
        let ended = bench.run(&[&["run", "--start", &command], flags].concat());
        assert_eq!(ended.code, Some(0), "{flags:?}: {}", ended.stderr);
        ended
    };
    let there = |name: &str| bench.work().join(name).is_file();
    let ended = run(&["--out", "new/dir/r.txt"]);
    assert!(there("new/dir/r.txt") && ended.stdout.is_empty());
    assert_eq!(ended.stderr, "core A (hygiene only)\n");
    let ended = run(&["--format", "json"]);
    assert_eq!(ended.stderr, "core A (hygiene only)\n");
    let ended = run(&["--format", "json,junit,summary"]);
    assert!(there("sealmark-report/sealmark-report.json") && there("sealmark-report/sealmark-report.junit.xml"));
    assert!(!there("sealmark-report/sealmark-report.summary.txt"), "the summary is for the console");
    assert!(ended.stdout.contains("MEETS THE GATE (A): core A") && ended.stderr.is_empty(), "{}", ended.stderr);
    run(&["--format", "summary", "--out-dir", "alone"]);
    assert!(there("alone/sealmark-report.summary.txt"));
    let ended = run(&["--format", "summary,text", "--out", "both.txt"]);
    assert!(bench.read("both.txt").contains("Classification:") && ended.stdout.contains("GRADES"));
    let all = "text,json,markdown,junit,sarif,summary,badge,shields";
    run(&["--format", all, "--out-dir", "all"]);
    for name in ["txt", "json", "md", "junit.xml", "sarif", "badge.svg", "shields.json"] {
        assert!(there(&format!("all/sealmark-report.{name}")), "{name}");
    }
}

#[test]
fn in_a_ci_job_the_ci_profile_is_used_and_said_unless_something_else_is_asked_for() {
    let bench = Bench::new();
    let command = start("honest.py");
    let run = |flags: &[&str], env: &[(&str, &str)]| {
        let _ = fs::remove_dir_all(bench.work().join("sealmark-report"));
        let mut run = bench.command(&[&["run", "--start", &command], flags].concat());
        let ended = super::bench::ended(run.env("CI", "true").envs(env.iter().copied()).output().unwrap());
        let reports = bench.work().join("sealmark-report/sealmark-report.junit.xml").is_file();
        assert_eq!(ended.code, Some(0), "{flags:?}: {}", ended.stderr);
        (reports, ended)
    };
    for (flags, env) in
        [(&[][..], &[][..]), (&[], &[("CI", "1")]), (&["--fail-under", "B"], &[]), (&["--soft-fail"], &[])]
    {
        let (reports, ended) = run(flags, env);
        assert!(reports && ended.stdout.contains("GRADES"), "{flags:?}: {ended:?}");
        assert!(ended.stderr.contains("note: CI is set, so the ci profile is used"), "{}", ended.stderr);
    }
    for (flags, env) in [
        (&["--profile", "standard"][..], &[][..]),
        (&["--format", "text"], &[]),
        (&["--out", "x.txt"], &[]),
        (&["--out-dir", "y"], &[]),
        (&[], &[("SEALMARK_PROFILE", "standard")]),
        (&[], &[("CI", "false")]),
    ] {
        let (reports, ended) = run(flags, env);
        assert!(!reports && !ended.stderr.contains("ci profile"), "{flags:?}: {ended:?}");
    }
    bench.write("sealmark.yaml", "profile: standard\n");
    let (reports, ended) = run(&[], &[]);
    assert!(!reports && ended.stdout.contains("Classification:"), "{ended:?}");
}
