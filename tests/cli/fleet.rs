//! Many servers in many jobs: shares, matrices, merged reports, printed jobs.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use super::bench::{Bench, one_message, toy};

/// Servers of those names, all of them the honest toy.
fn configure(bench: &Bench, names: &[&str]) {
    let server = |name: &&str| format!("  {name}: {{command: python3, args: [{}]}}\n", toy("honest.py"));
    bench.write("sealmark.yaml", &format!("servers:\n{}", names.iter().map(server).collect::<String>()));
}

fn names(report: &Value) -> Vec<String> {
    let name = |run: &Value| run["name"].as_str().unwrap().to_owned();
    match report["runs"].as_array() {
        Some(runs) => runs.iter().map(name).collect(),
        None => vec![name(report)],
    }
}

/// A report as the demo makes it, of another name and changed.
fn report(bench: &Bench, file: &str, name: &str, change: impl FnOnce(&mut Value)) {
    if !bench.work().join("demo.json").exists() {
        assert_eq!(bench.run(&["demo", "--format", "json", "--out", "demo.json"]).code, Some(0));
    }
    let mut run = bench.json("demo.json");
    run["name"] = json!(name);
    change(&mut run);
    bench.write(file, &run.to_string());
}

#[test]
fn every_server_is_graded_in_exactly_one_share() {
    let bench = Bench::new();
    configure(&bench, &["web", "fs", "git"]);
    let mut all = Vec::new();
    for (share, expected) in [("1/2", &["web", "fs"][..]), ("2/2", &["git"])] {
        let ended = bench.run(&["run", "--shard", share, "--format", "json"]);
        assert_eq!(ended.code, Some(0), "{share}: {}", ended.stderr);
        let graded = names(&serde_json::from_str(&ended.stdout).unwrap());
        assert_eq!(graded, expected, "{share}");
        all.extend(graded);
    }
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 3);
    let both = bench.run(&["run", "--server", "git,web", "--shard", "2/2", "--format", "json"]);
    assert_eq!(names(&serde_json::from_str(&both.stdout).unwrap()), ["web"]);
    for wrong in ["0/2", "3/2", "1/0", "1", "a/b", "1/1001", "-1/2"] {
        assert_eq!(bench.run(&["run", &format!("--shard={wrong}")]).code, Some(2), "{wrong}");
    }
}

#[test]
fn an_empty_share_passes_with_a_note_and_an_empty_report() {
    let bench = Bench::new();
    configure(&bench, &["web"]);
    let formats = "text,json,markdown,junit,sarif,summary,shields,badge";
    let ended = bench.run(&["run", "--shard", "2/2", "--format", formats, "--out-dir", "out"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("note: share 2/2 of 1 server is empty: nothing is graded here"), "{}", ended.stderr);
    assert_eq!(bench.json("out/sealmark-report.json")["runs"], json!([]));
    assert!(ended.stdout.contains("EXIT CODE 0 · this share of the servers is empty"), "{}", ended.stdout);
    for words in [&["gate", "--report"][..], &["publish", "--report"]] {
        let ended = bench.run(&[words, &["out/sealmark-report.json"]].concat());
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        one_message(words[0], &ended.stderr, &["it holds no server"], &["--shard", "sealmark merge"], |_| false);
    }
    assert!(!bench.work().join("out/sealmark-report.badge.svg").exists());
    // Without a configuration nothing can be shared out.
    fs::remove_file(bench.work().join("sealmark.yaml")).unwrap();
    assert_eq!(bench.run(&["run", "--shard", "2/2"]).code, Some(2));
}

#[test]
fn shares_merge_into_one_report_that_does_not_depend_on_how_they_came() {
    let bench = Bench::new();
    report(&bench, "in/job-2/sealmark-report.json", "b", |_| {});
    report(&bench, "in/job-1/deep/sealmark-report.json", "c", |_| {});
    report(&bench, "own.json", "a", |_| {});
    bench.write("in/job-3/sealmark-report.json", "{\"schema\": \"sealmark.report/1\", \"runs\": []}");
    bench.write("in/job-3/other.json", "no report");
    let ended = bench.run(&["merge", "in", "own.json", "--out", "in/sealmark-report.json"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    let aside = "note: left aside: in/job-3/other.json (below a directory reports are called sealmark-report.json; name \
                 others themselves)\n";
    assert_eq!(ended.stderr, format!("{aside}3 servers from 4 reports: in/sealmark-report.json\n"));
    let first = bench.read("in/sealmark-report.json");
    assert_eq!(names(&serde_json::from_str(&first).unwrap()), ["a", "b", "c"]);
    // Again over its own output, in another order, and with a report named twice.
    let words = ["merge", "own.json", "in/job-1", "in", "own.json", "--out", "in/sealmark-report.json"];
    assert_eq!(bench.run(&words).code, Some(0));
    assert_eq!(bench.read("in/sealmark-report.json"), first);
    // One server is a list as well, and a merged report can be merged.
    assert_eq!(bench.run(&["merge", "own.json", "--out", "one.json"]).code, Some(0));
    assert_eq!(names(&bench.json("one.json")), ["a"]);
    assert!(bench.json("one.json")["runs"].is_array());
    let mut run = bench.json("one.json")["runs"][0].clone();
    let mut same = bench.json("own.json");
    for run in [&mut run, &mut same] {
        // A number of points may be written 4 or 4.0.
        run["packs"]["core"]["points"] = json!(run["packs"]["core"]["points"].as_f64());
    }
    assert_eq!(run, same);
    assert_eq!(bench.run(&["merge", "one.json", "in/job-1", "--out", "one.json"]).code, Some(0));
    assert_eq!(names(&bench.json("one.json")), ["a", "c"]);
    assert!(!bench.work().join("one.json.part").exists());
}

#[test]
fn reports_that_do_not_belong_together_are_not_merged() {
    let bench = Bench::new();
    report(&bench, "a.json", "same", |_| {});
    report(&bench, "b.json", "same", |_| {});
    report(&bench, "old.json", "old", |run| run["sealmark"]["methodology"] = json!("0.2"));
    report(&bench, "escape.json", "x\u{1b}[31m\u{202e}", |_| {});
    report(&bench, "escape2.json", "x\u{1b}[31m\u{202e}", |_| {});
    bench.write("cut.json", "{\"schema\": \"sealmark.report/1\", \"runs\": [");
    bench.write("empty.json", "{\"runs\": []}");
    bench.write("dir/report.json", "{}");
    for (words, error, hint) in [
        (&["a.json", "b.json"][..], &["`same`", "a.json", "b.json"][..], &["keep one"][..]),
        (&["a.json", "old.json"], &["two methodologies", "a.json", "old.json", "0.2"], &["one version"]),
        (&["a.json", "cut.json"], &["cut.json"], &[]),
        (&["a.json", "none.json"], &["none.json"], &["JSON report"]),
        (&["a.json", "dir"], &["no sealmark-report.json below dir"], &["name files"]),
        (&["empty.json"], &["no report holds a server"], &["artifacts of all jobs"]),
        (&["escape.json", "escape2.json"], &["escape.json", "escape2.json"], &["keep one"]),
    ] {
        let ended = bench.run(&[&["merge", "--out", "out.json"], words].concat());
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        one_message(&format!("{words:?}"), &ended.stderr, error, hint, |_| false);
        assert!(!ended.stderr.contains(['\u{1b}', '\u{202e}']), "{:?}", ended.stderr);
        assert!(!bench.work().join("out.json").exists(), "{words:?}");
    }
    let ended = bench.run(&["merge", "a.json", "--out", "a.json/out.json"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
}

#[test]
fn a_server_whose_job_was_lost_is_a_failed_run() {
    let bench = Bench::new();
    configure(&bench, &["a", "lost", "other"]);
    report(&bench, "in/sealmark-report.json", "a", |_| {});
    report(&bench, "strange.json", "strange", |_| {});
    let words = ["merge", "in", "strange.json", "--out", "out.json", "--config", "sealmark.yaml", "--server", "a,lost"];
    let ended = bench.run(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = "warning: no report holds the server lost: it counts as failed\n\
                    note: the configuration has no server strange\n3 servers from 2 reports: out.json\n";
    assert_eq!(ended.stderr, expected);
    let merged = bench.json("out.json");
    assert_eq!(names(&merged), ["a", "lost", "strange"]);
    let lost = &merged["runs"][1];
    assert_eq!((&lost["status"], &lost["packs"]["core"]["grade"]), (&json!("failed"), &Value::Null));
    assert!(lost["error"].as_str().unwrap().contains("did not finish"), "{}", lost["error"]);
    assert_eq!(merged["runs"][0]["status"], "graded");
    let ended = bench.run(&["merge", "in", "--out", "out.json", "--config", "none.yaml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(bench.run(&["merge", "in", "--out", "out.json", "--server", "a"]).code, Some(2));
}

#[test]
fn a_server_without_a_report_does_not_pass_a_gate_that_knows_it() {
    let bench = Bench::new();
    configure(&bench, &["a", "lost"]);
    report(&bench, "a.json", "a", |_| {});
    let ended = bench.run(&["gate", "--report", "a.json"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("warning: no report holds the server lost: it counts as failed\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(bench.run(&["gate", "--report", "a.json", "--server", "a"]).code, Some(0));
    assert_eq!(bench.run(&["gate", "--report", "a.json", "--server", "lost"]).code, Some(2));
    bench.write("sealmark.yaml", "name: another\nserver: {command: node}\n");
    assert_eq!(bench.run(&["gate", "--report", "a.json"]).code, Some(0), "one server may go by another name");
}

#[test]
fn a_server_of_the_baseline_that_is_gone_is_drift() {
    let bench = Bench::new();
    configure(&bench, &["a", "gone"]);
    let before = bench.run(&["run", "--format", "json", "--out", "before.json"]);
    assert_eq!(before.code, Some(0), "{}", before.stderr);
    configure(&bench, &["a"]);
    let run = |flags: &[&str]| {
        bench.run(&[&["run", "--format", "json", "--out", "now.json", "--baseline", "before.json"], flags].concat())
    };
    assert_eq!(run(&[]).code, Some(0));
    let ended = run(&["--fail-on", "drift"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("drift: gone: breaking: server: the baseline holds it"), "{}", ended.stderr);
    let gate = ["gate", "--report", "now.json", "--baseline", "before.json", "--fail-on", "drift"];
    assert_eq!(bench.run(&gate).code, Some(1));
    configure(&bench, &["a", "gone"]);
    for part in [&["--server", "a"][..], &["--shard", "1/2"]] {
        let ended = run(&[&["--fail-on", "drift"], part].concat());
        assert_eq!(ended.code, Some(0), "{part:?}: {}", ended.stderr);
    }
    assert_eq!(bench.run(&[&gate[..], &["--server", "a"]].concat()).code, Some(0));
}

#[test]
fn reports_of_two_methodologies_are_neither_gated_nor_published() {
    let bench = Bench::new();
    report(&bench, "a.json", "a", |_| {});
    report(&bench, "b.json", "b", |run| run["sealmark"]["methodology"] = json!("9.9"));
    for command in ["gate", "publish"] {
        let ended = bench.run(&[command, "--report", "a.json", "--report", "b.json"]);
        assert_eq!(ended.code, Some(2), "{command}: {}", ended.stderr);
        one_message(command, &ended.stderr, &["b.json", "of two methodologies", "9.9"], &["one version"], |_| false);
    }
}

#[test]
fn a_matrix_names_every_server_once() {
    let bench = Bench::new();
    configure(&bench, &["web", "fs", "git", "db"]);
    let matrix = |words: &[&str]| -> Vec<String> {
        let ended = bench.run(&[&["ci", "matrix"], words].concat());
        assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 1), "{words:?}: {}", ended.stderr);
        let matrix: Value = serde_json::from_str(&ended.stdout).unwrap();
        let jobs = matrix["include"].as_array().unwrap();
        for (at, job) in jobs.iter().enumerate() {
            assert_eq!((&job["index"], &job["total"]), (&json!(at + 1), &json!(jobs.len())));
        }
        jobs.iter().map(|job| job["servers"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(matrix(&[]), ["db", "fs", "git", "web"]);
    assert_eq!(matrix(&["--for", "github", "--jobs", "2"]), ["git,db", "web,fs"]);
    assert_eq!(matrix(&["--server", "db,web", "--jobs", "1"]), ["web,db"]);
    // What a job is told is what `run` takes.
    let ended = bench.run(&["run", "--server", "git,db", "--format", "json"]);
    assert_eq!(names(&serde_json::from_str(&ended.stdout).unwrap()), ["git", "db"]);
    // One long server has a job of its own; one that is new counts as the others do.
    for (file, name, took) in [("web.json", "web", 90_000), ("fs.json", "fs", 20_000), ("git.json", "git", 30_000)] {
        report(&bench, file, name, |run| run["durationMs"] = json!(took));
    }
    assert_eq!(bench.run(&["merge", "web.json", "fs.json", "git.json", "--out", "base.json"]).code, Some(0));
    assert_eq!(matrix(&["--jobs", "2", "--baseline", "base.json"]), ["web", "fs,git,db"]);
    let ended = bench.run(&["ci", "matrix", "--baseline", "none.json"]);
    assert_eq!(ended.code, Some(0), "the first run has no report: {}", ended.stderr);
    assert!(ended.stderr.contains("note: there is no none.json"), "{}", ended.stderr);
    bench.write("broken.json", "{");
    assert_eq!(bench.run(&["ci", "matrix", "--baseline", "broken.json"]).code, Some(2));
    let one = "server: {command: python3, args: [x.py]}\n";
    bench.write("sealmark.yaml", one);
    assert_eq!(matrix(&[]), ["all"]);
}

#[test]
fn a_matrix_takes_no_more_jobs_than_the_platform_and_no_name_that_a_list_cannot_hold() {
    let bench = Bench::new();
    let many: Vec<String> = (0..500).map(|number| format!("s{number}")).collect();
    configure(&bench, &many.iter().map(String::as_str).collect::<Vec<_>>());
    let ended = bench.run(&["ci", "matrix", "--for", "github"]);
    let matrix: Value = serde_json::from_str(&ended.stdout).unwrap();
    let jobs = matrix["include"].as_array().unwrap();
    let all: BTreeSet<&str> = jobs.iter().flat_map(|job| job["servers"].as_str().unwrap().split(',')).collect();
    assert_eq!((jobs.len(), all.len()), (256, 500));
    let ended = bench.run(&["ci", "matrix", "--for", "gitlab"]);
    assert_eq!(ended.stdout.matches("\n  extends: .sealmark\n  stage: grade\n").count(), 200, "{}", ended.stderr);
    let ended = bench.run(&["ci", "matrix", "--for", "gitlab", "--jobs", "201"]);
    assert_eq!(ended.code, Some(2));
    one_message("too many jobs", &ended.stderr, &["--jobs 201", "200"], &["share a job"], |_| false);
    for name in ["'a,b'", "all", "' a'", "\"a\\u202eb\""] {
        configure(&bench, &["fine", name]);
        let ended = bench.run(&["ci", "matrix"]);
        assert_eq!(ended.code, Some(2), "{name}: {}{}", ended.stdout, ended.stderr);
        one_message(name, &ended.stderr, &["cannot stand in a list"], &["rename it"], |_| false);
    }
    let ended = bench.command(&["ci", "matrix"]).env("GITLAB_CI", "true").current_dir(bench.work()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    configure(&bench, &["fine"]);
    let ended = bench.command(&["ci", "matrix"]).env("GITLAB_CI", "true").output().unwrap();
    assert!(String::from_utf8(ended.stdout).unwrap().contains("\nsealmark 1/1:\n"));
}

#[test]
fn a_first_job_is_printed_with_what_is_known_and_nothing_is_written() {
    let bench = Bench::new();
    let ended = bench.run(&["init", "--ci", "github"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("start: my-server"), "{}", ended.stdout);
    assert!(ended.stdout.contains(concat!("uses: sealmark/action@v", env!("CARGO_PKG_VERSION"))), "{}", ended.stdout);
    configure(&bench, &["a"]);
    bench.write("package-lock.json", "{}");
    let ended = bench.run(&["init", "--ci", "github"]);
    assert!(ended.stdout.contains("config: sealmark.yaml") && ended.stdout.contains("run: npm ci"), "{}", ended.stdout);
    let ended = bench.run(&["init", "--ci", "gitlab"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains(concat!("/sealmark@", env!("CARGO_PKG_VERSION"), "\n")), "{}", ended.stdout);
    assert_eq!(bench.run(&["init"]).code, Some(2));
    let mut there: Vec<_> = fs::read_dir(bench.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    there.sort();
    assert_eq!(there, ["package-lock.json", "sealmark.yaml"]);
}
