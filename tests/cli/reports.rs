//! What is in a report: the same every time, valid for other programs, free of secrets.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use super::bench::{Bench, ended, start, timeless, toy};

const ALL: &str = "text,json,markdown,junit,sarif,summary";

fn validator() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn valid(report: &Value) {
    let wrong: Vec<String> =
        validator().iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Counts test cases by what they hold, read by a parser of another language.
fn junit(path: &Path) -> String {
    let program = "import sys, xml.etree.ElementTree as E\n\
                   root = E.parse(sys.argv[1]).getroot()\n\
                   cases = list(root.iter('testcase'))\n\
                   print(root.tag, len(cases), *(sum(c.find(t) is not None for c in cases) for t in ('failure', 'skipped', 'system-out')))";
    let output = Command::new("python3").args(["-c", program]).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn two_runs_differ_in_their_times_alone() {
    for server in [start("honest.py"), start("era_dual.py"), start("secret.py reply"), start("poison.py conceal")] {
        let bench = Bench::new();
        for dir in ["one", "two", "three"] {
            bench.run(&["run", "--start", &server, "--format", ALL, "--out-dir", dir, "--verbosity", "verbose"]);
        }
        for name in ["txt", "json", "md", "junit.xml", "sarif"] {
            let read = |dir| timeless(&bench.read(&format!("{dir}/sealmark-report.{name}")));
            let one = read("one");
            for dir in ["two", "three"] {
                assert!(one == read(dir), "{server}: {name} differs");
            }
        }
    }
}

#[test]
fn a_report_is_valid_for_other_programs() {
    let bench = Bench::new();
    bench.write(
        "sealmark.yaml",
        &format!("name: toy\nserver:\n  command: python3\n  args: [{}, conceal]\n", toy("poison.py")),
    );
    bench.run(&["run", "--format", "json,junit,sarif,badge,shields", "--out-dir", "d"]);
    let report = bench.json("d/sealmark-report.json");
    valid(&report);
    assert_eq!((&report["schema"], &report["config"]["path"]), (&"sealmark.report/1".into(), &"sealmark.yaml".into()));
    assert_eq!(
        (&report["packs"]["core"]["grade"], &report["badge"]["message"]),
        (&"D".into(), &"no badge: core only".into())
    );
    assert_eq!(junit(&bench.work().join("d/sealmark-report.junit.xml")), "testsuites 6 1 1 2");
    let sarif = bench.json("d/sealmark-report.sarif");
    assert_eq!(sarif["version"], "2.1.0");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"sealmark.yaml".into(), &3.into())
    );
    assert!(bench.read("d/sealmark-report.badge.svg").contains("no badge: core only"));
    assert_eq!(bench.json("d/sealmark-report.shields.json")["schemaVersion"], 1);
    let failed = bench.run(&["run", "--start", "true", "--format", "json"]);
    valid(&serde_json::from_str(&failed.stdout).unwrap());
}

#[test]
fn several_servers_are_one_report_however_many_run_at_once() {
    let bench = Bench::new();
    let entry = |name: &str, words: &str| format!("  {name}: {{command: python3, args: [{}{words}]}}\n", toy(name));
    let yaml = [
        "servers:\n",
        &entry("honest.py", ""),
        &entry("poison.py", ", conceal"),
        "  gone: {command: no-such-program}\n",
    ];
    bench.write("sealmark.yaml", &yaml.concat());
    for (jobs, dir) in [("1", "one"), ("3", "three")] {
        let ended = bench.run(&["run", "--jobs", jobs, "--format", "text,json,junit", "--out-dir", dir]);
        assert_eq!(ended.code, Some(4), "the worst counts");
        for line in [
            "honest.py: core A (hygiene only)",
            "poison.py: core D (hygiene only) capped: critical fail: tool-poisoning",
            "gone: core inc",
        ] {
            assert!(ended.stderr.lines().any(|found| found.starts_with(line)), "{line}: {}", ended.stderr);
        }
    }
    for name in ["txt", "json", "junit.xml"] {
        let read = |dir| timeless(&bench.read(&format!("{dir}/sealmark-report.{name}")));
        assert!(read("one") == read("three"), "{name} differs");
    }
    let report = bench.json("one/sealmark-report.json");
    valid(&report);
    assert_eq!(report["runs"].as_array().unwrap().len(), 3);
    assert!(bench.read("one/sealmark-report.txt").contains("Matrix:"));
    let ended = bench.run(&["run", "--server", "honest.py", "--format", "json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap()["name"], "honest.py");
}

#[test]
fn a_recording_gives_the_same_report() {
    let bench = Bench::new();
    bench.write(
        "sealmark.yaml",
        &format!("server: {{command: python3, args: [{}]}}\ntools: {{exclude: [nobody]}}\n", toy("honest.py")),
    );
    let (run, judged) = (
        bench.run(&["run", "--format", "json", "--record", "r.json"]),
        bench.run(&["judge", "r.json", "--format", "json"]),
    );
    assert_eq!((run.code, judged.code), (Some(0), Some(0)), "{}", judged.stderr);
    assert!(run.stdout == judged.stdout, "the reports differ");
    bench.write("report.json", &run.stdout);
    for (file, why) in [
        ("report.json", "JSON report"),
        ("none.json", "No such file"),
        (".", "directory"),
        ("sealmark.yaml", "not a recording"),
    ] {
        let ended = bench.run(&["judge", file]);
        assert_eq!(ended.code, Some(2), "{file}");
        super::bench::one_message(file, &ended.stderr, &[file, why], &["--record FILE"], |_| false);
    }
}

#[test]
fn secrets_stay_out_of_every_format() {
    let bench = Bench::new();
    let yaml = "server:\n  command: python3\n  args: [{toy}, --password, hunter2-arg]\n  env:\n    API_TOKEN: hunter2-name\n    FROM: ${OUTER}\n";
    bench.write("sealmark.yaml", &yaml.replace("{toy}", &toy("honest.py")));
    bench.write("sealmark.local.yaml", "server:\n  env:\n    PLAIN: hunter2-local\n");
    let words = ["run", "--format", ALL, "--out-dir", "d", "--verbosity", "verbose", "--record", "r.json"];
    let out = ended(bench.command(&words).env("OUTER", "hunter2-outer").output().unwrap());
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    let show = ended(bench.command(&["config", "show", "--origins"]).env("OUTER", "hunter2-outer").output().unwrap());
    let mut texts = vec![("r.json".to_owned(), bench.read("r.json")), ("config show".to_owned(), show.stdout)];
    for file in fs::read_dir(bench.work().join("d")).unwrap() {
        let path = file.unwrap().path();
        texts.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
    for (name, text) in &texts {
        let found =
            ["hunter2-arg", "hunter2-name", "hunter2-local", "hunter2-outer"].into_iter().find(|s| text.contains(s));
        assert_eq!(found, None, "{name}");
    }
    assert!(bench.read("d/sealmark-report.txt").contains("{sandbox_dir}"));
    let bare = bench.command(&["run", "--no-redact"]).env("OUTER", "hunter2-outer").output().unwrap();
    let bare = ended(bare).stdout;
    assert!(bare.contains("hunter2-name") && !bare.contains("{sandbox_dir}"), "{bare}");
}

#[test]
fn templates_render_between_header_and_closing_sentence() {
    let bench = Bench::new();
    let command = start("honest.py");
    let run = |template: &str, format: &str| {
        bench.write("t.hbs", template);
        bench.run(&["run", "--start", &command, "--template", "t.hbs", "--format", format])
    };
    let good = "{{! mine }}{{server.name}} {{standardLabel}} {{summary}}\n{{#each packList}}{{@index}}{{#if @first}}f{{/if}}\
                {{#if @last}}l{{/if}} {{id}} {{status}} {{grade}}\n{{#each checks}}{{verdict}} {{id}}{{#unless @last}},{{/unless}} {{/each}}\
                {{/each}}\n{{#each packs}}{{@key}}={{grade}}{{/each}} {{json coverage}}\n";
    let ended = run(good, "text");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("sealmark 0.") && lines[0].contains("STANDARD"), "{}", ended.stdout);
    assert_eq!(lines[2], "honest STANDARD core A (hygiene only)");
    assert_eq!(lines[3], "0fl core graded A");
    assert!(ended.stdout.contains("pass tool-poisoning, ") && ended.stdout.contains("core=A {\"toolsCalledValid\":0"));
    assert!(ended.stdout.contains("An A says that"), "{}", ended.stdout);
    assert!(run(good, "markdown").stdout.contains("core=A"));
    let ended = run("{{#each packList}}\n{{id}}\n", "text");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    super::bench::one_message("syntax", &ended.stderr, &["t.hbs:", "not closed"], &["packList"], |_| false);
    let ended = run("x\n{{servr.name}}\n", "text");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    super::bench::one_message("unknown", &ended.stderr, &["t.hbs:2", "\"servr.name\""], &["packList"], |line| {
        line.starts_with("core A")
    });
}
