//! Letters, gate and exit codes.

use std::{fs, path::Path};

use super::bench::{Bench, Ended, start, toy};

fn run(bench: &Bench, toy: &str, flags: &[&str]) -> Ended {
    bench.run(&[&["run", "--start", &start(toy), "--format", "summary"], flags].concat())
}

#[test]
fn every_letter_is_a_gate() {
    let bench = Bench::new();
    for (gate, code) in [("A", 1), ("B", 1), ("C", 1), ("D", 0), ("F", 0), ("none", 0)] {
        let ended = run(&bench, "poison.py conceal", &["--fail-under", gate]);
        assert_eq!(ended.code, Some(code), "{gate}: {}", ended.stderr);
        assert!(ended.stdout.contains("core  D") && ended.stdout.contains("capped: critical fail: tool-poisoning"));
        let missed = format!("pack core graded D, which does not meet --fail-under {gate}\n");
        let expected = match (code, gate) {
            (_, "none") => "the gate is off (--fail-under none); grades do not affect the exit code\n",
            (1, _) => &missed,
            _ => "",
        };
        assert_eq!(ended.stderr, expected, "{gate}");
        assert!(ended.stdout.contains(&format!("EXIT CODE {code}")), "{}", ended.stdout);
    }
    let ended = run(&bench, "honest.py", &["--fail-under", "b"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), "note: --fail-under b is read as B\n"));
}

#[test]
fn soft_fail_softens_a_missed_gate_and_nothing_else() {
    let bench = Bench::new();
    let ended = run(&bench, "poison.py conceal", &["--soft-fail"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stderr, "soft-fail: pack core graded D, which does not meet --fail-under A\n");
    assert_eq!(run(&bench, "exits_at_once.py", &["--soft-fail"]).code, Some(4));
    assert_eq!(bench.run(&["run", "--soft-fail"]).code, Some(2));
}

#[test]
fn a_critical_fail_can_have_a_code_of_its_own() {
    let bench = Bench::new();
    let server = format!("server: {{command: python3, args: [{}, conceal]}}\n", toy("poison.py"));
    bench.write("sealmark.yaml", &format!("{server}output: {{exit_policy: {{critical_fail: 9}}}}\n"));
    for flags in [&["run"][..], &["run", "--fail-under", "none"], &["run", "--soft-fail"]] {
        assert_eq!(bench.run(flags).code, Some(9), "{flags:?}");
    }
}

#[test]
fn what_could_not_be_judged_is_no_pass() {
    let bench = Bench::new();
    let nothing = "checks: {tool-poisoning: {enabled: false}, robust-input: {enabled: false}, \
                   secret-echo: {enabled: false}, protocol: {enabled: false}}\n";
    let server = format!("server: {{command: python3, args: [{}]}}\n", toy("honest.py"));
    bench.write("sealmark.yaml", &format!("{server}{nothing}"));
    let ended = bench.run(&["run", "--fail-under", "none"]);
    assert_eq!(ended.code, Some(3), "exit 3 is decided before the gate: {}", ended.stderr);
    assert!(ended.stderr.contains("no pack was graded"), "{}", ended.stderr);
    assert!(ended.stdout.contains("CUSTOM (not the published methodology: 4 differences)"), "{}", ended.stdout);
}

#[test]
fn a_provisional_a_does_not_meet_an_a_gate() {
    let bench = Bench::new();
    // No call is ever answered, so that nobody knows about the canaries.
    let program = "import os, sys\nsys.path.insert(0, sys.argv[1])\nfrom toy import Toy\n\n\n\
                   class Mute(Toy):\n    def on_call(self, params):\n        os._exit(1)\n\n\nMute().serve()\n";
    let path = bench.write("mute.py", program);
    let toys = toy("");
    let server = format!("server: {{command: python3, args: [{}, {toys}]}}\n", path.display());
    bench.write("sealmark.yaml", &format!("{server}checks: {{robust-input: {{enabled: false}}}}\n"));
    let ended = bench.run(&["run"]);
    assert!(ended.stdout.contains("GRADE A*"), "{}", ended.stdout);
    assert_eq!(ended.code, Some(1));
    let message = "graded A* (provisional: a critical check was inconclusive), which does not meet --fail-under A";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert_eq!(bench.run(&["run", "--fail-under", "B"]).code, Some(0));
}

#[test]
fn the_demo_shows_both_sides() {
    let bench = Bench::new();
    let honest = bench.run(&["demo"]);
    assert_eq!((honest.code, honest.stderr.as_str()), (Some(0), ""));
    assert!(honest.stdout.contains("PACK core  GRADE A  (4/4 points, 100%)"), "{}", honest.stdout);
    let broken = bench.run(&["demo", "--mode", "broken"]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.stdout.contains("[FAIL] No canary of the environment comes back"), "{}", broken.stdout);
    // What the README shows is what this version prints.
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let sample = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for line in sample.lines() {
        assert!(broken.stdout.lines().any(|printed| printed == line), "README.md shows, and the demo does not: {line}");
    }
    assert_eq!(bench.left(), [] as [String; 0]);
}
