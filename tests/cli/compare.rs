//! Baselines, `diff` and `gate`: what got worse, who hears of it, and what files may be handed in.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::bench::{Bench, Ended, one_message, start};

/// A report of a toy in a file.
fn report(bench: &Bench, toy: &str, file: &str) {
    let ended = bench.run(&["run", "--start", &start(toy), "--name", "toy", "--format", "json", "--out", file]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
}

/// `base.json` of a server that does well and `worse.json` of one that does not, under the same name.
fn two(bench: &Bench) {
    report(bench, "honest.py", "base.json");
    report(bench, "poison.py conceal", "worse.json");
}

fn change(bench: &Bench, from: &str, to: &str, pointer: &str, value: Value) {
    let mut report = bench.json(from);
    *report.pointer_mut(pointer).unwrap() = value;
    bench.write(to, &report.to_string());
}

#[test]
fn diff_says_what_got_worse_and_what_got_better() {
    let bench = Bench::new();
    two(&bench);
    let ended = bench.run(&["diff", "base.json", "worse.json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    assert!(ended.stdout.starts_with("regression: pack core A → D\nregression: check tool-poisoning pass → fail\n"));
    let ended = bench.run(&["diff", "worse.json", "base.json"]);
    assert!(ended.stdout.contains("improved: pack core D → A\nimproved: check tool-poisoning fail → pass\n"));
    assert!(!ended.stdout.contains("regression:"), "{}", ended.stdout);
    let same = bench.run(&["diff", "base.json", "base.json"]);
    assert_eq!(
        (same.code, same.stdout.as_str()),
        (Some(0), "no check, no letter and nothing that is offered changed\n")
    );
}

#[test]
fn diff_for_programs_is_the_same_every_time() {
    let bench = Bench::new();
    two(&bench);
    let first = bench.run(&["diff", "--json", "base.json", "worse.json"]);
    assert_eq!((first.code, first.stderr.as_str()), (Some(1), ""));
    assert_eq!(bench.run(&["diff", "--json", "base.json", "worse.json"]).stdout, first.stdout);
    let document: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!((&document["schema"], &document["regressed"]), (&json!("sealmark.diff/1"), &json!(true)));
    assert_eq!(document["before"]["builds"][0]["version"], env!("CARGO_PKG_VERSION"));
    let server = &document["servers"][0];
    assert_eq!(
        (&server["name"], &server["before"]["core"], &server["after"]["core"]),
        (&json!("toy"), &json!("A"), &json!("D"))
    );
    assert_eq!(
        server["regressions"][1],
        json!({"pack": "core", "check": "tool-poisoning", "before": "pass", "after": "fail"})
    );
    let same: Value = serde_json::from_str(&bench.run(&["diff", "--json", "base.json", "base.json"]).stdout).unwrap();
    assert_eq!((&same["regressed"], &same["drifted"], &same["notes"]), (&json!(false), &json!(false), &json!([])));
}

/// Files that are no report, each with words of its message and of its hint.
fn bad_files(bench: &Bench) -> Vec<(&'static str, &'static [&'static str], &'static str)> {
    report(bench, "honest.py", "base.json");
    let text = bench.read("base.json");
    bench.write("text.json", "PACK core  GRADE A\n");
    bench.write("empty.json", "");
    bench.write("cut.json", &text[..text.len() - 100]);
    bench.write("other.json", r#"{"name": "x"}"#);
    change(bench, "base.json", "newer.json", "/schema", json!("sealmark.report/2"));
    change(bench, "base.json", "letter.json", "/packs/core/grade", json!("Z"));
    change(bench, "base.json", "verdict.json", "/packs/core/checks/0/verdict", json!("::error::great"));
    change(bench, "base.json", "contrary.json", "/packs/core/checks/1/verdict", json!("fail"));
    bench.write("twice.json", &format!("{{\"runs\": [{text}, {text}]}}"));
    bench.write("none.json", r#"{"schema": "sealmark.report/1", "runs": []}"#);
    bench.write("deep.json", &format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)));
    bench.write("planted.json", "{\"schema\": \"::error::##[error]\\u001b[31m<script>\"}");
    let large = fs::File::create(bench.work().join("large.json")).unwrap();
    large.set_len(500 << 20).unwrap();
    assert!(Command::new("mkfifo").arg(bench.work().join("pipe")).status().unwrap().success());
    let recorded = bench.run(&["run", "--start", &start("honest.py"), "--record", "trace.json"]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    vec![
        ("missing.json", &["missing.json", "No such file"], "check the path"),
        (".", &["a directory"], "save it to a file"),
        ("pipe", &["a pipe or a device"], "save it to a file"),
        ("/dev/zero", &["a pipe or a device"], "save it to a file"),
        ("large.json", &["larger than 256 MiB"], "fewer servers"),
        ("text.json", &["text.json", "not JSON", "'P'"], "--format json"),
        ("empty.json", &["not JSON", "empty"], "--format json"),
        ("cut.json", &["cut off"], "again"),
        ("other.json", &["no `schema`"], "--format json"),
        ("trace.json", &["it is a recording"], "sealmark judge"),
        ("newer.json", &["sealmark.report/2", "reads sealmark.report/1"], env!("CARGO_PKG_VERSION")),
        ("letter.json", &["pack core", "'Z'"], "changed"),
        ("verdict.json", &["unknown variant"], "changed"),
        ("contrary.json", &["it says A with 4 of 4 points, and its checks come to D with 3 of 4"], "changed"),
        ("twice.json", &["the server toy is in it twice"], "by name"),
        ("none.json", &["holds no server"], "sealmark merge"),
        ("deep.json", &["nested 100001 deep"], "changed"),
        ("planted.json", &["a document of the schema"], "--format json"),
    ]
}

#[test]
fn a_file_that_is_no_report_is_one_message_whoever_reads_it() {
    let bench = Bench::new();
    let marker = bench.work().join("started");
    let server = format!("sh -c 'touch {}; exec {}'", marker.display(), start("honest.py"));
    for (file, error, hint) in bad_files(&bench) {
        for words in [
            &["diff", file, "base.json"][..],
            &["diff", "base.json", file],
            &["gate", "--report", file],
            &["gate", "--report", "base.json", "--baseline", file],
            &["run", "--start", &server, "--baseline", file],
        ] {
            let began = Instant::now();
            let ended = bench.run(words);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ended.stderr);
            one_message(&format!("{words:?}"), &ended.stderr, error, &[hint], |_| false);
            for planted in ["::error", "##[", "\u{1b}"] {
                assert!(!ended.stderr.split(' ').any(|word| word.starts_with(planted)), "{words:?}: {}", ended.stderr);
            }
            assert!(began.elapsed() < Duration::from_secs(10), "{words:?}");
        }
    }
    assert!(!marker.exists(), "a server was started before the baseline was read");
}

#[test]
fn a_regression_fails_the_run_and_keeps_the_baseline() {
    let bench = Bench::new();
    let run = |toy: &str, flags: &[&str]| -> Ended {
        bench.run(&[&["run", "--start", &start(toy), "--name", "toy", "--format", "summary"], flags].concat())
    };
    let first = run("honest.py", &["--write-baseline", "keep/base.json"]);
    assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""));
    assert_eq!(bench.json("keep/base.json")["schema"], "sealmark.report/1");
    let kept = bench.read("keep/base.json");
    let both = ["--baseline", "keep/base.json", "--write-baseline", "keep/base.json"];
    let worse = run("poison.py conceal", &[&both[..], &["--fail-under", "none"]].concat());
    assert_eq!(worse.code, Some(1), "the gate is off and the regression counts: {}", worse.stderr);
    let lines: Vec<_> = worse.stderr.lines().filter(|line| !line.starts_with("drift: ")).collect();
    assert_eq!(lines[..2], ["regression: pack core A → D", "regression: check tool-poisoning pass → fail"]);
    assert!(worse.stderr.contains("2 regressions against the baseline: pack core A → D; "), "{}", worse.stderr);
    assert!(worse.stderr.contains("baseline: keep/base.json is left as it is, because this run regressed"));
    assert!(worse.stdout.contains("EXIT CODE 1") && worse.stdout.contains("2 regressions"), "{}", worse.stdout);
    assert_eq!(bench.read("keep/base.json"), kept);
    let soft = run("poison.py conceal", &[&both[..], &["--soft-fail"]].concat());
    assert!(soft.code == Some(0) && soft.stderr.contains("soft-fail: 2 regressions"), "{}", soft.stderr);
    assert_eq!(bench.read("keep/base.json"), kept, "softened is regressed all the same");
    let same = run("honest.py", &both);
    assert_eq!((same.code, same.stderr.as_str()), (Some(0), ""));
    assert_ne!(bench.read("keep/base.json"), kept, "the new run is the baseline");
    let names: Vec<_> =
        fs::read_dir(bench.work().join("keep")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["base.json"], "nothing is left beside it");
}

#[test]
fn a_server_at_d_can_be_held_at_d() {
    let bench = Bench::new();
    two(&bench);
    let run = |toy: &str, flags: &[&str]| {
        let server = start(toy);
        bench.run(&[&["run", "--start", &server, "--name", "toy", "--fail-on", "regressions"], flags].concat())
    };
    let held = run("poison.py conceal", &["--baseline", "worse.json"]);
    assert_eq!(held.code, Some(0), "{}", held.stderr);
    assert_eq!(held.stderr, "the gate is off (--fail-on regressions); grades do not affect the exit code\n");
    assert_eq!(run("poison.py conceal", &["--baseline", "base.json"]).code, Some(1));
    let failed = run("exits_at_once.py", &["--baseline", "base.json", "--soft-fail"]);
    assert_eq!(failed.code, Some(4), "{}", failed.stderr);
    assert!(failed.stderr.contains("regression: pack core A → not graded"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("drift: breaking"), "{}", failed.stderr);
}

#[test]
fn to_fail_on_what_is_not_compared_is_a_mistake() {
    let bench = Bench::new();
    report(&bench, "honest.py", "base.json");
    let marker = bench.work().join("started");
    let server = format!("sh -c 'touch {}; exec {}'", marker.display(), start("honest.py"));
    for (words, needed) in [
        ("regressions", "needs a baseline,"),
        ("drift", "a baseline or a snapshot"),
        ("regressions,drift", "drift"),
        ("any,drift", "drift"),
    ] {
        let ended = bench.run(&["run", "--start", &server, "--fail-on", words]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
        one_message(words, &ended.stderr, &["--fail-on", needed], &["--baseline FILE"], |_| false);
        assert_eq!(ended.stderr.contains("--surface FILE"), words.contains("drift"), "{words}: {}", ended.stderr);
        // A gate job of a first run has none either: it passes, and says what it could not see.
        let gate = bench.run(&["gate", "--report", "base.json", "--fail-on", words]);
        let note = "note: there is no baseline, so nothing could be found worse or different (--fail-on)\n";
        assert!(gate.code == Some(0) && gate.stderr.contains(note), "{words}: {}", gate.stderr);
    }
    assert!(!marker.exists(), "a server was started all the same");
    let any = bench.run(&["gate", "--report", "base.json", "--fail-on", "any"]);
    assert_eq!((any.code, any.stderr.as_str()), (Some(0), "core A (hygiene only)\n"));
    assert_eq!(
        bench.run(&["gate", "--report", "base.json", "--fail-on", "drift", "--baseline", "base.json"]).code,
        Some(0)
    );
    let auto = bench.run(&["run", "--start", &server, "--baseline", "auto"]);
    assert_eq!(auto.code, Some(2));
    one_message("auto", &auto.stderr, &["the baseline auto"], &["sealmark ci"], |_| false);
}

#[test]
fn a_baseline_is_a_file_that_can_be_replaced() {
    let bench = Bench::new();
    let run = |file: &str| {
        bench.run(&["run", "--start", &start("honest.py"), "--format", "summary", "--write-baseline", file])
    };
    for file in ["/dev/null", "/dev/null/x", "."] {
        let ended = run(file);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{file}: {}", ended.stderr);
        one_message(file, &ended.stderr, &["the baseline"], &["file"], |_| false);
    }
    bench.write("real/base.json", "old");
    fs::set_permissions(bench.work().join("real/base.json"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/base.json", bench.work().join("link.json")).unwrap();
    assert_eq!(run("link.json").code, Some(0));
    assert!(bench.work().join("link.json").is_symlink(), "the link stays");
    assert_eq!(bench.json("real/base.json")["status"], "graded");
    let mode = |file: &str| fs::metadata(bench.work().join(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("real/base.json"), 0o640, "who may read it stays");
    bench.write("plain", "");
    assert_eq!(run("fresh.json").code, Some(0));
    assert_eq!(mode("fresh.json"), mode("plain"), "a new file is as any other");
}

#[test]
fn several_servers_are_matched_by_name() {
    let bench = Bench::new();
    let config = |second: &str| {
        let of = |toy: &str| start(toy).split(' ').map(str::to_owned).collect::<Vec<_>>();
        let server = |toy: &str| json!({"command": "python3", "args": of(toy)[1..]});
        json!({"servers": {"good": server("honest.py"), "other": server(second)}}).to_string()
    };
    bench.write("sealmark.yaml", &config("honest.py"));
    let first = bench.run(&["run", "--format", "summary", "--write-baseline", "base.json"]);
    assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""));
    assert_eq!(bench.json("base.json")["runs"].as_array().map(Vec::len), Some(2));
    bench.write("sealmark.yaml", &config("poison.py conceal"));
    let ended = bench.run(&["run", "--format", "json", "--out", "now.json", "--baseline", "base.json"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("regression: other: pack core A → D\n"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("regression: good"), "{}", ended.stderr);
    let gone = bench.run(&["run", "--format", "summary", "--baseline", "base.json", "--server", "good"]);
    assert_eq!((gone.code, gone.stderr.as_str()), (Some(0), ""), "it was left out on purpose");
    // The same decision from the reports on disk, together and apart.
    let gate = bench.run(&["gate", "--report", "now.json", "--baseline", "base.json"]);
    assert_eq!(gate.code, Some(1));
    assert_eq!(gate.stderr, ended.stderr, "`gate` says what `run` said");
    assert_eq!(
        bench.run(&["gate", "--report", "now.json", "--baseline", "base.json", "--server", "good"]).code,
        Some(0)
    );
    let unknown = bench.run(&["gate", "--report", "now.json", "--server", "bad"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    let twice = bench.run(&["gate", "--report", "now.json", "--report", "base.json"]);
    assert_eq!(twice.code, Some(2));
    one_message("twice", &twice.stderr, &["base.json: the server good is in now.json too"], &["by name"], |_| false);
}

#[test]
fn the_gate_judges_reports_as_the_run_would_have() {
    let bench = Bench::new();
    two(&bench);
    let gate = |flags: &[&str]| bench.run(&[&["gate", "--report", "worse.json"], flags].concat());
    let missed = gate(&[]);
    assert_eq!((missed.code, missed.stdout.as_str()), (Some(1), ""));
    assert!(
        missed.stderr.starts_with("core D (hygiene only) capped: critical fail: tool-poisoning\n"),
        "{}",
        missed.stderr
    );
    assert!(missed.stderr.ends_with("pack core graded D, which does not meet --fail-under A\n"), "{}", missed.stderr);
    assert_eq!(gate(&["--fail-under", "D"]).code, Some(0));
    assert_eq!(gate(&["--soft-fail"]).code, Some(0));
    assert!(gate(&["--fail-under", "d"]).stderr.starts_with("note: --fail-under d is read as D\n"));
    bench.write("sealmark.yaml", "output: {fail_under: D}\n");
    assert_eq!(gate(&[]).code, Some(0), "the project's own gate, and no server is needed");
    bench.write("sealmark.yaml", "output: {exit_policy: {critical_fail: 9}}\n");
    assert_eq!(gate(&[]).code, Some(9));
    fs::remove_file(bench.work().join("sealmark.yaml")).unwrap();
    // In CI a pack that could not be judged fails, as it does in `run`.
    let mut report = bench.json("base.json");
    report["packs"]["other"] = report["packs"]["core"].clone();
    report["packs"]["other"]["status"] = json!("inconclusive");
    report["packs"]["other"]["grade"] = Value::Null;
    report["packs"]["other"]["points"] = json!(0);
    report["packs"]["other"]["scored"] = json!(0);
    for check in report["packs"]["other"]["checks"].as_array_mut().unwrap() {
        check["verdict"] = json!("inconclusive");
    }
    bench.write("unsure.json", &report.to_string());
    let words = ["gate", "--report", "unsure.json"];
    let outside = bench.run(&words);
    assert!(
        outside.code == Some(0) && outside.stderr.contains("warning: pack other was inconclusive"),
        "{}",
        outside.stderr
    );
    let inside = super::bench::ended(bench.command(&words).env("CI", "true").output().unwrap());
    assert!(inside.code == Some(1) && inside.stderr.contains("counts as failing"), "{}", inside.stderr);
    for (status, code) in [("failed", 4), ("interrupted", 4)] {
        change(&bench, "base.json", "ended.json", "/status", json!(status));
        assert_eq!(bench.run(&["gate", "--report", "ended.json", "--fail-under", "none"]).code, Some(code), "{status}");
    }
    let nothing = bench.run(&["gate", "--report", "missing.json"]);
    assert_eq!(nothing.code, Some(2), "no report never passes");
}
