//! A gate that has nothing to judge by: baselines and snapshots that do not hold the server, and baselines that stay as they are.

use serde_json::{Value, json};

use super::bench::{Bench, Ended, start, toy};

/// `base.json` of a server that does well, under the name `shop`, and `now.json` of the same server under another one.
fn bench() -> Bench {
    let bench = Bench::new();
    for (name, file) in [("shop", "base.json"), ("other", "now.json")] {
        let words = ["run", "--start", &start("honest.py"), "--name", name, "--format", "json", "--out", file];
        let ended = bench.run(&words);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    bench
}

fn run(bench: &Bench, toy: &str, name: &str, flags: &[&str]) -> Ended {
    bench.run(&[&["run", "--start", &start(toy), "--name", name, "--format", "summary"], flags].concat())
}

#[test]
fn a_server_that_the_baseline_does_not_hold_misses_the_gate_whoever_asks() {
    let bench = bench();
    let miss = "nothing was compared with the baseline base.json: it holds shop and no server of this run; give a server one \
                name in both (--name, or `name:` in the configuration)\n";
    for words in ["any", "regressions", "drift", "regressions,drift", "any,drift"] {
        let graded = run(&bench, "honest.py", "other", &["--baseline", "base.json", "--fail-on", words]);
        assert_eq!(graded.code, Some(1), "{words}: {}", graded.stderr);
        assert!(graded.stderr.ends_with(miss), "{words}: {}", graded.stderr);
        assert!(graded.stdout.contains("COMPARED WITH NOTHING: core A"), "{words}: {}", graded.stdout);
        assert!(!graded.stdout.contains("MEETS THE GATE"), "{words}: {}", graded.stdout);
        let gate = bench.run(&["gate", "--report", "now.json", "--baseline", "base.json", "--fail-on", words]);
        assert_eq!(gate.code, Some(1), "{words}: {}", gate.stderr);
        assert!(gate.stderr.ends_with(miss), "{words}: {}", gate.stderr);
        let soft = ["gate", "--report", "now.json", "--baseline", "base.json", "--fail-on", words, "--soft-fail"];
        assert_eq!(bench.run(&soft).code, Some(0), "{words}");
        assert_eq!(
            bench.run(&["gate", "--report", "base.json", "--baseline", "base.json", "--fail-on", words]).code,
            Some(0)
        );
    }
    let diff = bench.run(&["diff", "base.json", "now.json"]);
    assert_eq!(diff.code, Some(1), "{}", diff.stdout);
    assert!(diff.stdout.contains("baseline: nothing was compared: servers are matched by name"), "{}", diff.stdout);
    let diff = bench.run(&["diff", "--json", "base.json", "now.json"]);
    let diff: Value = serde_json::from_str(&diff.stdout).unwrap();
    assert_eq!((&diff["compared"], &diff["regressed"]), (&json!(false), &json!(false)));
    let ci = bench.run(&["ci", "--start", &start("honest.py"), "--name", "other", "--baseline", "base.json"]);
    assert_eq!(ci.code, Some(1), "{}", ci.stderr);
    assert!(ci.stderr.contains(miss), "{}", ci.stderr);
}

#[test]
fn a_baseline_of_a_run_without_grades_is_none() {
    let bench = bench();
    for status in ["failed", "interrupted"] {
        let mut report = bench.json("base.json");
        report["status"] = json!(status);
        bench.write("ended.json", &report.to_string());
        for words in ["regressions", "drift"] {
            let ended = bench.run(&["gate", "--report", "base.json", "--baseline", "ended.json", "--fail-on", words]);
            assert_eq!(ended.code, Some(1), "{status} {words}: {}", ended.stderr);
            let why = "with the baseline ended.json: the run that it holds was not graded; write it again";
            assert!(ended.stderr.contains(why), "{status} {words}: {}", ended.stderr);
        }
        let diff = bench.run(&["diff", "ended.json", "base.json"]);
        assert_eq!(diff.code, Some(1), "{}", diff.stdout);
        assert!(diff.stdout.contains("then, so little can be compared"), "{}", diff.stdout);
    }
}

#[test]
fn a_new_server_beside_one_that_was_compared_is_a_note() {
    let bench = bench();
    let words = [
        "gate",
        "--report",
        "base.json",
        "--report",
        "now.json",
        "--baseline",
        "base.json",
        "--fail-on",
        "regressions,drift",
    ];
    let ended = bench.run(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("baseline: other: the baseline does not hold other"), "{}", ended.stderr);
}

#[test]
fn the_gate_compares_with_what_the_other_job_kept_and_asks_no_more_of_it() {
    let bench = bench();
    let gate =
        |flags: &[&str]| bench.run(&[&["gate", "--report", "now.json", "--fail-on", "regressions"], flags].concat());
    let none = gate(&["--baseline", "auto"]);
    assert!(none.code == Some(0) && none.stderr.contains("note: there is no baseline"), "{}", none.stderr);
    bench.write("sealmark-baseline.json", &bench.read("base.json"));
    let renamed = gate(&["--baseline", "auto"]);
    assert_eq!(renamed.code, Some(0), "what the default branch has is no promise: {}", renamed.stderr);
    assert!(renamed.stderr.contains("nothing was compared: servers are matched by name"), "{}", renamed.stderr);
    // An advisory check, which no letter depends on: a report that contradicts itself is refused.
    let with = |verdict: &str| {
        let mut report = bench.json("now.json");
        let checks = report["packs"]["core"]["checks"].as_array_mut().unwrap();
        checks.iter_mut().find(|check| check["id"] == "refusal-quality").unwrap()["verdict"] = json!(verdict);
        report
    };
    let (better, worse) = (with("pass"), with("fail"));
    bench.write("sealmark-baseline.json", &better.to_string());
    bench.write("now.json", &worse.to_string());
    assert_eq!(gate(&["--baseline", "auto"]).code, Some(1));
    assert!(gate(&["--baseline", "off"]).stderr.contains("note: there is no baseline"));
    // A file that the configuration names goes before it, as in `ci`.
    bench.write("sealmark.yaml", "output: {baseline: base.json}\n");
    assert!(gate(&["--baseline", "auto"]).stderr.contains("nothing was compared with the baseline"));
    assert_eq!(gate(&["--baseline", "off"]).code, Some(0));
}

#[test]
fn a_snapshot_holds_every_server_or_the_drift_gate_is_missed() {
    let bench = bench();
    let surface = ["surface", "--start", &start("honest.py"), "--name", "shop", "--out", "s.json"];
    assert_eq!(bench.run(&surface).code, Some(0));
    let check = bench.run(&["surface", "--start", &start("honest.py"), "--name", "other", "--check", "s.json"]);
    assert_eq!(check.code, Some(1), "{}", check.stderr);
    assert!(check.stderr.starts_with("snapshot: s.json does not hold other: it holds shop ("), "{}", check.stderr);
    let ended = run(&bench, "honest.py", "other", &["--surface", "s.json", "--fail-on", "drift"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("snapshot: s.json does not hold other: it holds shop ("), "{}", ended.stderr);
    let miss = "what the server offers was compared with nothing: s.json does not hold it\n";
    assert!(ended.stderr.ends_with(miss) && !ended.stderr.contains("baseline:"), "{}", ended.stderr);
    let only_said = run(&bench, "honest.py", "other", &["--surface", "s.json"]);
    assert_eq!(only_said.code, Some(0), "drift does not count there: {}", only_said.stderr);
    // One server of several is enough for either command.
    let server = |name: &str| format!("  {name}: {{command: python3, args: [{}]}}\n", toy("honest.py"));
    bench.write("sealmark.yaml", &format!("servers:\n{}{}", server("shop"), server("other")));
    let several = bench.run(&["run", "--format", "summary", "--surface", "s.json", "--fail-on", "drift"]);
    assert_eq!(several.code, Some(1), "{}", several.stderr);
    assert!(several.stderr.ends_with(&format!("other: {miss}")), "{}", several.stderr);
    assert_eq!(bench.run(&["surface", "--check", "s.json"]).code, Some(1));
}

#[test]
fn a_baseline_stays_when_later_runs_would_find_less_with_the_new_one() {
    let bench = bench();
    let kept = bench.read("base.json");
    let same = |what: &str, ended: &Ended, why: &str| {
        let line = format!("baseline: base.json is left as it is, because {why}\n");
        assert!(ended.stderr.contains(&line), "{what}: {}", ended.stderr);
        assert_eq!(bench.read("base.json"), kept, "{what}");
    };
    let ended = run(&bench, "exits_at_once.py", "shop", &["--write-baseline", "base.json"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    same("failed", &ended, "shop was not met");
    let ended = run(&bench, "exits_at_once.py", "shop", &["--write-baseline", "new.json"]);
    assert!(ended.stderr.contains("baseline: new.json is not written, because shop was not met\n"), "{}", ended.stderr);
    assert!(!bench.work().join("new.json").exists());
    let gone = "it holds shop, which was not among the servers (remove the file to have it written anew)";
    for flags in [&["--baseline", "base.json"][..], &[]] {
        let ended = run(&bench, "honest.py", "other", &[flags, &["--write-baseline", "base.json"]].concat());
        same("another name", &ended, gone);
    }
    let nothing = "checks: {tool-poisoning: {enabled: false}, robust-input: {enabled: false}, \
                   secret-echo: {enabled: false}, protocol: {enabled: false}}\n";
    bench.write("sealmark.yaml", nothing);
    let ended = run(&bench, "honest.py", "shop", &["--write-baseline", "base.json"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    same("nothing graded", &ended, "nothing of shop was graded");
}
