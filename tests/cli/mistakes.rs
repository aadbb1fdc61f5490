//! What a user gets wrong in flags and files: exit 2, one message with the cause, the place and the next step.

use std::{fs, os::unix::fs::PermissionsExt};

use super::bench::{Bench, one_message, start};

/// Nothing stands beside the message.
fn nothing(_: &str) -> bool {
    false
}

/// clap's own usage lines.
fn usage(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("Usage: ")
        || line.starts_with("For more information")
        || line.trim_start().starts_with("tip:")
        || line.trim_start().starts_with("[possible values")
}

#[test]
fn a_configuration_file_that_cannot_be_used() {
    for (content, error, hint) in [
        ("server: [\n", &["c.yaml:2", "not valid YAML"][..], &[][..]),
        ("server:\n\tcommand: x\n", &["c.yaml:2", "tabs"], &["spaces"]),
        ("server:\n  comand: x\n", &["c.yaml:2", "unknown key `server.comand`"], &["did you mean `server.command`?"]),
        ("severs:\n  a: {}\n", &["c.yaml:1", "`severs`"], &["did you mean `servers`?"]),
        ("server:\n  command: x\ntimeout_probe_sec: fast\n", &["c.yaml:3", "whole number of seconds", "\"fast\""], &[]),
        ("server: hello\n", &["c.yaml:1", "expected a mapping", "\"hello\""], &["command", "url"]),
        ("server:\n  command: [x]\n", &["c.yaml:2", "expected a text"], &["args"]),
        ("[]\n", &["c.yaml:1", "expected a mapping of settings"], &["server:"]),
        ("# nothing\n", &["c.yaml", "names no server"], &["--start", "--url"]),
        ("server:\n  command: x\nserver:\n  command: y\n", &["c.yaml:3", "twice", "line 1"], &["keep one"]),
        ("schema_version: 2\n", &["c.yaml:1", "schema_version", "2"], &[]),
        ("server: {command: x}\nservers: {a: {command: y}}\n", &["cannot be used together", "c.yaml:2"], &["servers"]),
        ("server: {command: x}\nprofile: strikt\n", &["c.yaml:2", "unknown profile `strikt`"], &["`strict`"]),
        ("server: {command: x}\npacks: [cor]\n", &["c.yaml:2", "unknown pack `cor`"], &["`core`"]),
        (
            "server: {command: x}\nchecks: {tool-poisning: {enabled: false}}\n",
            &["c.yaml:2"],
            &["checks.tool-poisoning"],
        ),
        ("server: {command: x}\nchecks: {protocol: {severity: huge}}\n", &["c.yaml:2", "critical, scored or"], &[]),
        ("server: {command: x}\nprobes: []\n", &["c.yaml:2", "not part of this version"], &["remove it"]),
        ("server: {url: ftp://h/mcp}\n", &["c.yaml:1", "http:// or https://"], &["http://localhost:8000/mcp"]),
        ("server: {url: 'http://h:99999/mcp'}\n", &["c.yaml:1", "invalid port"], &["http://localhost:8000/mcp"]),
        ("server: {command: x, args: ['{dsn}']}\n", &["c.yaml:1", "{dsn}", "this version"], &["real value"]),
        ("server: {command: x, args: ['${']}\n", &["c.yaml:1", "args[0]"], &[]),
        (
            "server: {command: x}\noutput: {exit_policy: {treat_inconclusive_as: fial}}\n",
            &["c.yaml:2", "pass or fail"],
            &["did you mean `fail`?"],
        ),
    ] {
        let bench = Bench::new();
        bench.write("c.yaml", content);
        let ended = bench.run(&["run", "--config", "c.yaml"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{content}: {}", ended.stderr);
        one_message(content, &ended.stderr, error, hint, nothing);
    }
}

#[test]
fn a_configuration_file_that_is_none() {
    let bench = Bench::new();
    fs::create_dir(bench.work().join("dir")).unwrap();
    fs::write(bench.work().join("bytes.yaml"), b"\xff\xfe").unwrap();
    for (words, error, hint) in [
        (&["run"][..], &["no sealmark.yaml here"][..], &["--start", "--url"][..]),
        (&["run", "--config", "missing.yaml"], &["--config", "no file missing.yaml"], &["check the path"]),
        (&["run", "--config", "dir"], &["dir", "is a directory"], &["name the file in it"]),
        (&["run", "--config", "bytes.yaml"], &["bytes.yaml:1", "not UTF-8"], &["save it as UTF-8"]),
        (&["config", "profiles", "--config", "missing.yaml"], &["no file missing.yaml"], &[]),
    ] {
        let ended = bench.run(words);
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        one_message(&words.join(" "), &ended.stderr, error, hint, nothing);
    }
    let path = bench.write("secret.yaml", "server: {command: x}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything has no unreadable file.
    if fs::read(&path).is_err() {
        let ended = bench.run(&["run", "--config", "secret.yaml"]);
        assert_eq!(ended.code, Some(2));
        one_message("unreadable", &ended.stderr, &["secret.yaml", "denied"], &["read"], nothing);
    }
}

#[test]
fn flags_that_cannot_be_used() {
    let bench = Bench::new();
    for (words, error) in [
        (&["--start", ""][..], "the command line is empty"),
        (&["--start", "a 'b"], "a quote is not closed"),
        (&["--start", "A=1 b"], "sh -c"),
        (&["--start", "a && b"], "sh -c"),
        (&["--start", "a", "--", "b"], "cannot be used with"),
        (&["--start", "a", "--out", "x", "--out-dir", "y"], "cannot be used with"),
        (&["--start", "a", "--format", "jsn"], "invalid value 'jsn'"),
        (&["--start", "a", "--fail-under", "E"], "A, B, C, D, F or none"),
        (&["--start", "a", "--timeout-probe", "0"], "1..=3600"),
        (&["--start", "a", "--connect-timeout", "soon"], "invalid digit"),
        (&["--start", "a", "--jobs", "0"], "1..=64"),
        (&["--start", "a", "--profle", "ci"], "unexpected argument '--profle'"),
    ] {
        let ended = bench.run(&[&["run"], words].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ended.stderr);
        one_message(&words.join(" "), &ended.stderr, &[error], &[], usage);
    }
    for (words, error, hint) in [
        (&["--start", "a", "--profile", "quik"][..], &["--profile", "`quik`"][..], &["`quick`"][..]),
        (&["--start", "a", "--pack", "cor"], &["--pack", "`cor`"], &["`core`"]),
        (&["--start", "a", "--server", "b"], &["--server", "`b`"], &["servers:"]),
        (&["--url", "garbage"], &["--url", "http:// or https://"], &["http://localhost:8000/mcp"]),
        (&["--url", ""], &["--url", "http:// or https://"], &[]),
        (&["--url", "localhost:8000/mcp"], &["--url", "http:// or https://"], &[]),
        (&["--url", "http://h", "--bearer", "a\nb"], &["--bearer", "control character"], &["--header 'Name: value'"]),
        (
            &["--url", "http://h", "--header", "A: 1", "--header", "a: 2"],
            &["the header a is given twice"],
            &["keep one"],
        ),
        (&["--url", "http://h", "--bearer", "${NOT_SET}"], &["--bearer", "NOT_SET is not set"], &[]),
        (&["--start", "a", "--format", "json,text", "--out", "x"], &["--out names one file"], &["--out-dir"]),
    ] {
        let ended = bench.run(&[&["run"], words].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ended.stderr);
        one_message(&words.join(" "), &ended.stderr, error, hint, nothing);
    }
}

#[test]
fn a_name_that_several_servers_do_not_have() {
    let bench = Bench::new();
    bench.write("sealmark.yaml", "servers:\n  files: {command: a}\n  fetch: {command: b}\n");
    for (words, error, hint) in [
        (&["run", "--server", "flies"][..], &["--server", "`flies`"][..], &["did you mean `files`?"][..]),
        (&["run", "--format", "badge"], &["badge shows one server"], &["--server NAME"]),
        (&["run", "--record", "x"], &["--record"], &["--server NAME"]),
    ] {
        let ended = bench.run(words);
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        one_message(&words.join(" "), &ended.stderr, error, hint, nothing);
    }
}

#[test]
fn settings_about_tools_are_held_against_the_tools() {
    let bench = Bench::new();
    let with = |tools: &str| {
        let command = format!("server: {{command: python3, args: [{}]}}\ntools:\n", super::bench::toy("honest.py"));
        bench.write("sealmark.yaml", &format!("{command}{tools}"));
        bench.run(&["run", "--format", "json"])
    };
    let ended = with("  overrides:\n    add: {class: path}\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    let error = ["sealmark.yaml:4", "`tools.overrides.add`", "no parameter of the tool can carry a path"];
    one_message("add", &ended.stderr, &error, &["params: { path: <parameter> }"], nothing);
    let ended = with("  overrides:\n    echo: {class: url, params: {url: txt}}\n");
    assert_eq!(ended.code, Some(2));
    one_message("echo", &ended.stderr, &["sealmark.yaml:4", "\"txt\""], &["name one of text"], nothing);
    assert_eq!(bench.left(), [] as [String; 0]);
    let ended = with("  exclude: [ad, 'none_*']\n  overrides:\n    ecco: {class: text}\n");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let warnings = report["warnings"].to_string();
    for word in
        ["\\\"ad\\\" matches no tool", "Did you mean `add`?", "none_*", "tools.overrides.ecco", "Did you mean `echo`?"]
    {
        assert!(warnings.contains(word), "{word}: {warnings}");
    }
    assert_eq!(ended.stderr.matches("warning: sealmark.yaml:").count(), 3, "{}", ended.stderr);
}

#[test]
fn words_that_mean_nothing_are_warned_about_and_passed_on() {
    let bench = Bench::new();
    let command = start("honest.py {sandbx}");
    let ended = bench.command(&["run", "--start", &command]).env("SEALMARK_PAKS", "core").output().unwrap();
    let ended = super::bench::ended(ended);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for word in ["{sandbx} is no placeholder", "Did you mean {sandbox}?", "SEALMARK_PAKS", "SEALMARK_PACKS"] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}
