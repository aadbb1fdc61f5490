//! Where reports and recordings go, and places where none can go: refused before a server is started.

use std::{fs, os::unix::fs::symlink, process::Command};

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
fn what_a_server_puts_in_the_place_of_a_report_is_replaced() {
    let bench = Bench::new();
    bench.write("victim", "untouched");
    bench.write("before.json", "old");
    symlink("before.json", bench.work().join("link.json")).unwrap();
    let at = |name: &str| bench.work().join(name).display().to_string();
    for plant in ["ln -s \"$V\" \"$R\"", "mkfifo \"$R\""] {
        for (name, flags) in [
            ("out.json", &["--out", "out.json"][..]),
            ("dir/sealmark-report.json", &["--out-dir", "dir"]),
            ("base.json", &["--out", "other.json", "--write-baseline", "base.json"]),
            ("seen.json", &["--out", "other.json", "--write-surface", "seen.json"]),
        ] {
            let script =
                format!("V={}; R={}; rm -f \"$R\"; {plant}; exec {}", at("victim"), at(name), start("honest.py"));
            let command = shell_words::join(["sh", "-c", &script]);
            let ended =
                bench.run(&[&["run", "--start", &command, "--name", "toy", "--format", "json"], flags].concat());
            let whole = bench.work().join(name);
            assert!(fs::symlink_metadata(&whole).unwrap().is_file() || plant.starts_with("mkfifo"), "{name}");
            assert_eq!(bench.read("victim"), "untouched", "{name}: {plant}");
            // A pipe may be one that the user named: it is not replaced, and it is not waited for.
            let expected = if fs::symlink_metadata(&whole).unwrap().is_file() { 0 } else { 4 };
            assert_eq!(ended.code, Some(expected), "{name}: {plant}: {}", ended.stderr);
            fs::remove_file(whole).unwrap();
        }
    }
    // What the user named, before a server was there.
    let command = start("honest.py");
    let run = |out: &str| bench.run(&["run", "--start", &command, "--format", "json", "--out", out]);
    assert_eq!(run("link.json").code, Some(0));
    assert!(bench.read("before.json").contains("sealmark.report/1"));
    assert!(fs::symlink_metadata(bench.work().join("link.json")).unwrap().is_symlink());
    let ended = run("/dev/stdout");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("sealmark.report/1"), "{}", ended.stdout);
    assert_eq!(run("/dev/null").code, Some(0));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let bench = Bench::new();
    assert!(Command::new("mkfifo").arg(bench.work().join("pipe")).status().unwrap().success());
    let command = start("honest.py");
    for words in [
        &["run", "--config", "pipe"][..],
        &["config", "show", "--config", "pipe"],
        &["run", "--start", &command, "--surface", "pipe"],
        &["run", "--start", &command, "--template", "pipe"],
        &["run", "--start", &command, "--baseline", "pipe"],
        &["surface", "--start", &command, "--check", "pipe"],
        &["judge", "pipe"],
        &["gate", "--report", "pipe"],
        &["merge", "pipe", "--out", "out.json"],
        &["diff", "pipe", "pipe"],
    ] {
        let ended = bench.run(words);
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("a pipe or a device"), "{words:?}: {}", ended.stderr);
    }
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
