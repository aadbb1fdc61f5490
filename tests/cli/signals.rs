//! A signal ends a run: cleaned up first, said last, with the code of its own.

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::bench::{Bench, Ended, ended};

fn stopped_by(bench: &Bench, signal: &str, flags: &[&str]) -> Ended {
    let words = [&["run", "--start", "sleep 321", "--format", "json"], flags].concat();
    let child = bench.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while bench.left().is_empty() {
        assert!(Instant::now() < until, "no sandbox appeared");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(100));
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    ended(child.wait_with_output().unwrap())
}

#[test]
fn each_signal_has_its_code_and_its_last_line() {
    for (signal, code, last) in [
        ("-HUP", 129, "sealmark exit 129: stopped"),
        ("-INT", 130, "sealmark exit 130: interrupted"),
        ("-TERM", 143, "sealmark exit 143: stopped"),
    ] {
        let bench = Bench::new();
        let ended = stopped_by(&bench, signal, &[]);
        assert_eq!((ended.code, ended.stderr.lines().last()), (Some(code), Some(last)), "{}", ended.stderr);
        assert!(!ended.stderr.contains("warning:"), "{}", ended.stderr);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((&report["interrupted"], &report["status"]), (&true.into(), &"interrupted".into()));
        assert_eq!(report["warnings"][0], "the run was interrupted; the report may be incomplete");
        assert_eq!(bench.left(), [] as [String; 0]);
    }
}

#[test]
fn a_kept_sandbox_is_named_last() {
    let bench = Bench::new();
    let ended = stopped_by(&bench, "-INT", &["--keep-sandbox"]);
    let last = ended.stderr.lines().last().unwrap_or_default();
    let path = last.strip_prefix("kept sandbox: ").unwrap_or_else(|| panic!("{}", ended.stderr));
    assert!(path.ends_with(&bench.left()[0]), "{path}");
    assert!(ended.stderr.contains("sealmark exit 130: interrupted\nkept sandbox: "), "{}", ended.stderr);
}

#[test]
fn the_summary_names_the_code_that_the_signal_gives() {
    let bench = Bench::new();
    let ended = stopped_by(&bench, "-TERM", &["--format", "summary"]);
    assert_eq!(ended.code, Some(143), "{}", ended.stderr);
    assert!(ended.stdout.contains("EXIT CODE 143 · the run was stopped by a signal"), "{}", ended.stdout);
}
