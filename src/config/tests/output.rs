//! `config show`, the listing of profiles, the schema and the docs.

use serde_json::json;

use super::{Case, registry};
use crate::config::{
    Resolved, Settings, catalog::Catalog, docs, keys, placeholders::PLACEHOLDERS, profiles, profiles_text, schema,
    show, show_json,
};

/// Resolves what `show` printed.
fn again(printed: &str) -> Resolved {
    Case::yaml(printed).resolve()
}

/// What must survive printing: all but where it was read, what was hidden, and who said it.
fn essence(resolved: &Resolved) -> Settings {
    let mut settings = resolved.settings.clone();
    settings.path = None;
    settings.warnings.clear();
    settings.secrets.clear();
    settings.standing.diff.iter_mut().for_each(|difference| difference.origin.clear());
    for server in &mut settings.servers {
        server.base = Default::default();
        server.line = None;
        server.origins.clear();
        server.warnings.clear();
    }
    settings
}

const RICH: &str = r##"
profile: mine
profiles:
  mine: { extends: strict, jobs: 7, timeout_probe_sec: null }
  bare:
server:
  command: npx
  args: ["-y", "a b", "null", "1", "{sandbox}", "#x", "é\u202e", "- x", "true", ""]
  env: { "ODD: name": "x\ny", REF: "${X:-{sandbox}/y}" }
  url: http://127.0.0.1:8000/mcp
  headers: { X-B: "1", X-A: "2" }
  files: [{ path: "{sandbox}/a b.ini", content: "k=v\n\ttab" }]
tools:
  exclude: ["admin_*"]
  overrides: { "read.it": { class: path, params: { path: p } } }
checks:
  refusal-quality: { patterns: ["use \\w+"] }
output: { format: [json, text], fail_under: none, out: ./x }
notCovered: { extra: ["one: two"] }
"##;

#[test]
fn what_is_shown_loads_again_to_the_same_settings() {
    for yaml in [
        "",
        RICH,
        "servers:\n  z: { url: 'https://h/' }\n  a: { command: x, args: [1], version: 3, connect_timeout_sec: 4 }\n",
        "profile: quick\n",
    ] {
        for origins in [false, true] {
            let first = Case::yaml(yaml).resolve();
            let printed = show(&first, origins);
            let second = again(&printed);
            assert_eq!(essence(&first), essence(&second), "{printed}");
            assert_eq!(show(&second, false), show(&again(&show(&second, false)), false));
        }
    }
    let flags = Case::yaml("servers: { a: { command: x, headers: { A: b } } }")
        .flag("--connect-timeout", "server.connect_timeout_sec", 3)
        .flag("--header", "server.headers.B", "c")
        .flag("--header", "server.headers.a", "d");
    let first = flags.resolve();
    assert_eq!(first.settings.servers[0].headers, [("B".to_owned(), "c".to_owned()), ("a".to_owned(), "d".to_owned())]);
    assert_eq!(essence(&first), essence(&again(&show(&first, false))));
}

#[test]
fn the_first_line_answers_whether_a_run_would_be_standard() {
    let line = |yaml: &str| show(&Case::yaml(yaml).resolve(), false).lines().next().unwrap().to_owned();
    assert_eq!(line("jobs: 2"), "# STANDARD: every setting that affects a grade is that of methodology 0.3-draft");
    assert_eq!(
        line("timeout_probe_sec: 2"),
        "# CUSTOM: 1 setting differs from the standard profile: timeout_probe_sec"
    );
    assert_eq!(
        line("profile: quick"),
        "# CUSTOM: 2 settings differ from the standard profile: packs, timeout_probe_sec"
    );
}

#[test]
fn origins_stand_behind_their_values() {
    let case =
        Case::yaml("server:\n  command: x\n").flag("--timeout-probe", "timeout_probe_sec", 2).env("SEALMARK_JOBS", "3");
    let printed = show(&case.resolve(), true);
    for line in [
        "timeout_probe_sec: 2  # flag --timeout-probe",
        "jobs: 3  # SEALMARK_JOBS",
        "  command: x  # sealmark.yaml:2",
        "packs: [core, extra, trial]  # built-in default",
        "  out: null  # built-in default",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}");
    }
}

#[test]
fn secrets_are_hidden_and_references_are_not() {
    let case = Case::yaml("server:\n  command: x\n  args: [--api-key, hush-hush]\n  env: { API_KEY: literal-key, REF_TOKEN: '${T}', MODE: plain }\n  url: http://u:passw0rd@h/\n")
        .file("sealmark.local.yaml", "server: { env: { HOSTING: local.example, FROM: '${VAR}' } }\ntimeout_probe_sec: 5\n");
    let resolved = case.resolve();
    for text in [show(&resolved, true), show_json(&resolved, true).to_string()] {
        for hidden in ["hush-hush", "literal-key", "passw0rd", "local.example"] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
        for kept in ["${T}", "plain", "${VAR}", "--api-key", "<redacted>"] {
            assert!(text.contains(kept), "{kept} missing in {text}");
        }
    }
    // What is no server's text is no secret: the diff shows it too.
    assert_eq!(show_json(&resolved, false)["timeout_probe_sec"], json!(5));
}

#[test]
fn what_a_local_file_says_is_hidden_and_still_loads() {
    let case = Case::new().file(
        "sealmark.local.yaml",
        "server: { command: /home/me/bin/x, args: [--data, hidden-data], url: 'https://internal.example/mcp', cwd: project, files: [{ path: '{sandbox}/a', content: hidden-text }] }",
    );
    let printed = show(&case.resolve(), true);
    for hidden in ["/home/me", "hidden-", "internal"] {
        assert!(!printed.contains(hidden), "{printed}");
    }
    let server = &again(&printed).settings.servers[0];
    assert_eq!((server.url.as_deref(), server.cwd_project), (Some("https://<redacted>"), true));
}

#[test]
fn hidden_characters_are_printed_as_escapes() {
    let printed =
        show(&Case::yaml("name: \"a\\u202eb\\u001b[31m\\U000E0041\"\nserver: { command: x }\n").resolve(), true);
    assert!(printed.contains("name: \"a\\u202eb\\u001b[31m\\U000e0041\""), "{printed}");
    assert!(printed.chars().all(|char| char == '\n' || !char.is_control()));
}

#[test]
fn the_json_form_has_the_integrity_and_on_request_the_origins() {
    let resolved = Case::yaml("timeout_probe_sec: 2").resolve();
    let value = show_json(&resolved, false);
    assert_eq!(value["integrity"]["standard"], json!(false));
    assert_eq!(value["integrity"]["hash"], json!(resolved.settings.standing.hash));
    assert_eq!(value["integrity"]["diff"][0]["origin"], json!("sealmark.yaml:1"));
    assert!(value.get("origins").is_none());
    assert_eq!(show_json(&resolved, true)["origins"]["timeout_probe_sec"], json!("sealmark.yaml:1"));
}

#[test]
fn profiles_are_listed_with_their_differences() {
    let resolved = Case::yaml("profile: mine\nprofiles:\n  mine:\n    extends: ci\n    jobs: 2\n").resolve();
    let listed = profiles(&resolved).unwrap();
    let facts: Vec<(&str, bool, bool)> =
        listed.iter().map(|one| (one.name.as_str(), one.standard, one.selected)).collect();
    assert_eq!(
        facts,
        [
            ("standard", true, false),
            ("quick", false, false),
            ("ci", true, false),
            ("strict", false, false),
            ("paranoid", false, false),
            ("mine", true, true)
        ]
    );
    assert_eq!(listed[1].settings["timeout_probe_sec"], json!(2));
    assert!(listed[0].settings.is_empty());
    let text = profiles_text(&listed);
    assert!(text.contains("mine  STANDARD (selected)\n  sealmark.yaml:3\n  extends ci\n    jobs: 2\n"), "{text}");
    assert!(profiles(&Case::yaml("profiles: { a: { extends: a } }").resolve()).is_err());
}

#[test]
fn the_schema_is_valid_and_agrees_with_the_parser() {
    let schema = schema::of(&Catalog::of(registry()));
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for good in [
        json!({}),
        json!({"server": {"command": "x", "args": ["a", 1], "env": {"A": 1}, "files": [{"path": "{sandbox}/x", "content": "y"}]}}),
        json!({"servers": {"a": {"url": "http://h/", "version": 2}}}),
        json!({"packs": ["core"], "jobs": null, "output": {"formats": "json", "fail_under": "b", "exit_policy": {"critical_fail": 3}}}),
        json!({"profile": "m", "profiles": {"m": {"extends": "ci", "checks": {"protocol": {"limit": 3}}}}}),
        json!({"tools": {"exclude": ["a"], "overrides": {"t": {"class": "path", "params": {"path": "p"}}}}}),
        json!({"server": null}),
    ] {
        assert!(validator.is_valid(&good), "{good}");
        assert!(Case::yaml(&good.to_string()).run().is_ok(), "{good}");
    }
    for bad in [
        json!({"servr": {}}),
        json!({"jobs": 0}),
        json!({"jobs": "two"}),
        json!({"packs": []}),
        json!({"packs": ["db"]}),
        json!({"output": {"format": "jason"}}),
        json!({"server": {"command": ["x"]}}),
        json!({"server": {"command": "x"}, "servers": {"a": {"command": "y"}}}),
        json!({"profiles": {"m": {"server": {"command": "x"}}}}),
        json!({"checks": {"protocol": {"severity": "high"}}}),
        json!({"server": {"command": "x", "files": [{"path": "/etc/x", "content": "y"}]}}),
        json!({"schema_version": 2}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
        assert!(Case::yaml(&bad.to_string()).run().is_err(), "{bad}");
    }
    assert!(jsonschema::meta::is_valid(&super::super::schema()));
}

#[test]
fn every_setting_is_documented() {
    let catalog = Catalog::of(registry());
    let text = docs::of(&catalog);
    for key in &catalog.keys {
        assert!(!key.help.is_empty() && !key.help.ends_with('.'), "{}", key.dotted());
        let listed = match key.pattern[0].as_str() {
            "servers" => continue,
            "checks" => format!("`{}`", key.pattern[1]),
            _ => format!("`{}`", key.dotted()),
        };
        assert!(text.contains(&listed), "{listed}");
    }
    for (name, _) in PLACEHOLDERS {
        assert!(text.contains(&format!("`{{{name}}}`")));
    }
}

#[test]
fn every_variable_of_the_table_sets_its_key() {
    for facts in keys() {
        let Some(variable) = facts.env else { continue };
        let name = variable.replace("<SERVER>", "ONE").replace("<NAME>", "WORD");
        let value = match facts.kind.as_str() {
            "true or false" => "true",
            kind if kind.starts_with("a whole number") => "3",
            kind if kind.contains("formats (") => "json",
            kind if kind.contains("packs (") => "core",
            kind if kind.starts_with("a list of any,") => "drift",
            "A, B, C, D, F or none" => "B",
            kind if kind.contains(" or ") => kind.split([',', ' ']).next().unwrap_or_default(),
            _ if facts.key == "profile" => "quick",
            _ if facts.key.ends_with("url") => "http://h/",
            _ => "word",
        };
        let case = Case::new().env(&name, value);
        let case = if facts.key.starts_with("servers") {
            case.file("sealmark.yaml", "servers: { one: { rootless: false } }")
        } else {
            case
        };
        let result = crate::config::resolve(&crate::config::Request {
            cwd: case.path().to_owned(),
            env: case.env_map().clone(),
            ..Default::default()
        });
        match result {
            Ok(resolved) => {
                assert!(
                    resolved.settings.warnings.iter().all(|warning| !warning.starts_with(&name)
                        || warning.contains("not used")
                        || warning.contains("only sent")),
                    "{name}: {:?}",
                    resolved.settings.warnings
                );
                assert!(resolved.merged.iter().any(|(_, _, origin)| origin.to_string() == name), "{name}");
            }
            // An entry of `servers` needs a command: the key was read all the same.
            Err(error) => assert!(error.to_string().contains("neither `command` nor `url`"), "{name}: {error}"),
        }
    }
}
