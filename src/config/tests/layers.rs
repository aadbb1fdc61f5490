//! Every layer, and which one wins.

use std::time::Duration;

use serde_json::{Value, json};

use super::Case;
use crate::config::settings::{Format, Verbosity};

fn origin(case: &Case, key: &str) -> String {
    let resolved = case.resolve();
    let path: Vec<&str> = key.split('.').collect();
    resolved.merged.origin_at(&path).to_string()
}

#[test]
fn without_anything_the_defaults_hold() {
    let settings = Case::new().resolve().settings;
    assert_eq!(settings.profile, "standard");
    assert_eq!(settings.packs, ["core", "extra", "trial"]);
    assert_eq!(settings.timeout_probe, Duration::from_secs(10));
    assert_eq!(settings.timeout_pack, Duration::from_secs(600));
    assert!(settings.jobs >= 1);
    assert!(settings.sandbox.enabled && !settings.sandbox.keep && settings.sandbox.dir.is_none());
    assert_eq!(settings.output.formats, [Format::Text]);
    assert_eq!(settings.output.fail_under, Some('A'));
    assert!(!settings.output.soft_fail && !settings.output.inconclusive_fails && settings.output.redact);
    assert_eq!(settings.output.critical_fail, 0);
    assert_eq!(settings.output.verbosity, Verbosity::Normal);
    assert!(settings.servers.is_empty() && settings.path.is_none() && settings.warnings.is_empty());
    assert!(settings.standing.standard);
}

#[test]
fn each_layer_wins_over_the_ones_below_it() {
    let mut case = Case::new().with(|request| request.user_config = Some("user/config.yaml".into()));
    let steps: [(&str, u64); 6] = [
        ("profile quick", 2),
        ("user/config.yaml:2", 3),
        ("sealmark.yaml:1", 4),
        ("sealmark.local.yaml:1", 5),
        ("SEALMARK_TIMEOUT_PROBE_SEC", 6),
        ("flag --timeout-probe", 7),
    ];
    for (index, (from, seconds)) in steps.into_iter().enumerate() {
        case = match index {
            0 => case.file("user/config.yaml", "profile: quick\n"),
            1 => case.file("user/config.yaml", "profile: quick\ntimeout_probe_sec: 3\n"),
            2 => case.file("sealmark.yaml", "timeout_probe_sec: 4\n"),
            3 => case.file("sealmark.local.yaml", "timeout_probe_sec: 5\n"),
            4 => case.env("SEALMARK_TIMEOUT_PROBE_SEC", "6"),
            _ => case.flag("--timeout-probe", "timeout_probe_sec", 7),
        };
        assert_eq!(case.resolve().settings.timeout_probe, Duration::from_secs(seconds), "{from}");
        assert_eq!(origin(&case, "timeout_probe_sec"), from);
    }
}

#[test]
fn null_restores_the_built_in_default_whatever_the_profile_says() {
    let case = Case::yaml("profile: quick\ntimeout_probe_sec: ~\npacks:\n");
    let settings = case.resolve().settings;
    assert_eq!(settings.timeout_probe, Duration::from_secs(10));
    assert_eq!(settings.packs.len(), 3);
    assert!(settings.standing.standard);
    assert_eq!(origin(&case, "timeout_probe_sec"), "built-in default, null in sealmark.yaml:2");
    let whole = Case::yaml("profile: ci\noutput: null\n").resolve().settings;
    assert_eq!(whole.output.formats, [Format::Text]);
    assert!(!whole.output.inconclusive_fails);
}

#[test]
fn lists_that_append_collect_from_every_layer_once() {
    let case = Case::yaml("tools:\n  exclude: [a, b]\nnotCovered:\n  extra: one\n")
        .file("sealmark.local.yaml", "tools: { exclude: [b, c] }")
        .env("SEALMARK_TOOLS__EXCLUDE", "d, a")
        .env("SEALMARK_NOTCOVERED__EXTRA", "two");
    let settings = case.resolve().settings;
    assert_eq!(settings.tools_exclude, ["a", "b", "c", "d"]);
    assert_eq!(settings.not_covered_extra, ["one", "two"]);
    assert_eq!(settings.standing.diff[0].origin, "sealmark.yaml:2, sealmark.local.yaml:1, SEALMARK_TOOLS__EXCLUDE");
}

#[test]
fn variables_name_every_kind_of_setting() {
    let case = Case::yaml("servers:\n  Two-Words: { command: x }\n")
        .env("SEALMARK_PACKS", "core, extra")
        .env("SEALMARK_JOBS", "3")
        .env("SEALMARK_SANDBOX__KEEP", "true")
        .env("SEALMARK_SANDBOX__DIR", "/tmp/sm")
        .env("SEALMARK_OUTPUT__FORMATS", "")
        .env("SEALMARK_OUTPUT__FORMAT", "json,summary,json")
        .env("SEALMARK_OUTPUT__EXIT_POLICY__SOFT_FAIL", "true")
        .env("SEALMARK_OUTPUT__FAIL_UNDER", "b")
        .env("SEALMARK_CHECKS__SECRET_ECHO__ENABLED", "false")
        .env("SEALMARK_CHECKS__PROTOCOL__LIMIT", "60")
        .env("SEALMARK_SERVERS__TWO_WORDS__ENV__My__Var", "1")
        .env("SEALMARK_SERVER__HEADERS__X_API_KEY", "k")
        .env("SEALMARK_SERVERS__TWO_WORDS__CONNECT_TIMEOUT_SEC", "9");
    let settings = case.resolve().settings;
    assert_eq!(settings.packs, ["core", "extra"]);
    assert_eq!(settings.jobs, 3);
    assert!(settings.sandbox.keep && settings.output.soft_fail);
    assert_eq!(settings.sandbox.dir.as_deref(), Some(std::path::Path::new("/tmp/sm")));
    assert_eq!(settings.output.formats, [Format::Json, Format::Summary]);
    assert_eq!(settings.output.fail_under, Some('B'));
    assert!(!settings.checks["secret-echo"].enabled);
    assert_eq!(settings.checks["protocol"].knobs["limit"], json!(60));
    assert_eq!(settings.servers[0].env["My__Var"], "1");
    assert_eq!(settings.servers[0].headers, [("X_API_KEY".to_owned(), "k".to_owned())]);
    assert_eq!(settings.servers[0].connect_timeout, Duration::from_secs(9));
    assert!(settings.warnings.contains(&"SEALMARK_OUTPUT__FAIL_UNDER: fail_under `b` is read as `B`.".to_owned()));
}

#[test]
fn variables_that_are_no_settings_are_said_once_and_ours_are_not() {
    for (name, warning) in [
        ("SEALMARK_PAKCS", Some("SEALMARK_PAKCS is no setting; did you mean SEALMARK_PACKS?")),
        ("SEALMARK_WHATEVER_ELSE", Some("SEALMARK_WHATEVER_ELSE is no setting and is ignored.")),
        (
            "SEALMARK_UPSTREAM__KIND",
            Some("SEALMARK_UPSTREAM__KIND is ignored: `upstream.kind` is not part of this version."),
        ),
        (
            "SEALMARK_RETRIES__CALL",
            Some("SEALMARK_RETRIES__CALL is ignored: `retries.call` is an old key that nothing reads."),
        ),
        (
            "SEALMARK_TOOLS__OVERRIDES__X__CLASS",
            Some(
                "SEALMARK_TOOLS__OVERRIDES__X__CLASS is ignored: `tools.overrides.X.class` has no variable; it belongs into a file.",
            ),
        ),
        (
            "SEALMARK_SERVER__FILES",
            Some("SEALMARK_SERVER__FILES is ignored: `server.files` has no variable; it belongs into a file."),
        ),
        ("SEALMARK_CANARY", None),
        ("SEALMARK_FAKE_API_KEY", None),
        ("OTHER", None),
    ] {
        let warnings = Case::new().env(name, "x").resolve().settings.warnings;
        assert_eq!(warnings.first().map(String::as_str), warning, "{name}");
    }
    for odd in [
        "SEALMARK_",
        "SEALMARK___",
        "SEALMARK_SERVER",
        "SEALMARK_SERVER__",
        "SEALMARK_SERVER__ENV",
        "SEALMARK_SERVER__ENV__",
    ] {
        assert_eq!(Case::new().env(odd, "x").resolve().settings.warnings.len(), 1, "{odd}");
    }
}

#[test]
fn an_empty_variable_is_not_set_and_null_resets() {
    let case = Case::yaml("jobs: 4\ntimeout_probe_sec: 4\n")
        .env("SEALMARK_JOBS", "")
        .env("SEALMARK_TIMEOUT_PROBE_SEC", "null");
    let settings = case.resolve().settings;
    assert_eq!(settings.jobs, 4);
    assert_eq!(settings.timeout_probe, Duration::from_secs(10));
}

#[test]
fn another_spelling_of_a_key_has_a_variable_too() {
    let settings = Case::new().env("SEALMARK_OUTPUT__FORMATS", "sarif").resolve().settings;
    assert_eq!((settings.output.formats, settings.warnings.len()), (vec![Format::Sarif], 0));
}

#[test]
fn the_users_file_lies_where_the_platform_keeps_such_files() {
    let path = |pairs: &[(&str, &str)]| {
        let env = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        crate::config::user_config_path(&env).map(|path| path.display().to_string())
    };
    if cfg!(not(windows)) {
        assert_eq!(path(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]).as_deref(), Some("/x/sealmark/config.yaml"));
        assert_eq!(
            path(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")]).as_deref(),
            Some("/h/.config/sealmark/config.yaml")
        );
        assert_eq!(path(&[]), None);
    }
}

#[test]
fn flags_that_repeat_make_one_list() {
    let case = Case::yaml("packs: [trial]")
        .flag("--pack", "packs", "core")
        .flag("--pack", "packs", json!(["extra", "core"]))
        .flag("--format", "output.format", "json")
        .flag("--format", "output.format", "text");
    let settings = case.resolve().settings;
    assert_eq!(settings.packs, ["core", "extra"]);
    assert_eq!(settings.output.formats, [Format::Json, Format::Text]);
}

#[test]
fn a_flag_may_carry_words_or_types() {
    let case = Case::started()
        .flag("--timeout-probe", "timeout_probe_sec", "12")
        .flag("--no-sandbox", "sandbox.enabled", false)
        .flag("--name", "name", "null")
        .flag("--pack-timeout", "pack_timeout_sec", Value::Null);
    let settings = case.resolve().settings;
    assert_eq!(settings.timeout_probe, Duration::from_secs(12));
    assert!(!settings.sandbox.enabled);
    assert_eq!(settings.servers[0].name, "null");
    let args =
        Case::new().flag("--start", "server.command", "x").flag("--start", "server.args", json!(["1", "~", "1"]));
    assert_eq!(args.resolve().settings.servers[0].command, ["x", "1", "~", "1"]);
}

#[test]
fn profiles_extend_profiles() {
    let case = Case::yaml(
        "profile: mine\nprofiles:\n  base:\n    extends: ci\n    timeout_probe_sec: 20\n    jobs: 2\n  mine:\n    extends: base\n    timeout_probe_sec: 30\n    output: { formats: [sarif] }\n  empty:\n",
    );
    let settings = case.resolve().settings;
    assert_eq!(settings.profile, "mine");
    assert_eq!(settings.timeout_probe, Duration::from_secs(30));
    assert_eq!(settings.jobs, 2);
    assert!(settings.output.inconclusive_fails);
    assert_eq!(settings.output.formats, [Format::Sarif]);
    assert_eq!(origin(&case, "timeout_probe_sec"), "profile mine, sealmark.yaml:9");
    assert_eq!(origin(&case, "jobs"), "profile base, sealmark.yaml:6");
    assert_eq!(origin(&case, "output.out_dir"), "profile ci");
}

#[test]
fn a_project_profile_replaces_the_users_of_that_name() {
    let case = Case::yaml("profile: mine\nprofiles: { mine: { jobs: 2 } }\n")
        .file("user.yaml", "profiles: { mine: { jobs: 3, timeout_probe_sec: 5 } }")
        .with(|request| request.user_config = Some("user.yaml".into()));
    let settings = case.resolve().settings;
    assert_eq!((settings.jobs, settings.timeout_probe), (2, Duration::from_secs(10)));
}

#[test]
fn a_ci_job_selects_the_ci_profile_unless_something_else_was_asked_for() {
    let ci = |case: Case| case.with(|request| request.ci = true);
    let case = ci(Case::new());
    let settings = case.resolve().settings;
    assert_eq!(settings.profile, "ci");
    assert_eq!(settings.output.formats, [Format::Summary, Format::Junit, Format::Json]);
    assert_eq!(settings.output.out_dir.as_deref(), Some(std::path::Path::new("./sealmark-report")));
    assert!(settings.standing.standard);
    assert_eq!(origin(&case, "profile"), "CI detected");
    assert_eq!(ci(Case::yaml("output: { fail_under: B }")).resolve().settings.profile, "ci");
    assert_eq!(
        ci(Case::new().flag("--soft-fail", "output.exit_policy.soft_fail", true)).resolve().settings.profile,
        "ci"
    );
    for opted_out in [
        Case::yaml("profile: standard"),
        Case::yaml("profile: null"),
        Case::new().env("SEALMARK_PROFILE", "standard"),
        Case::new().flag("--profile", "profile", "standard"),
        Case::new().flag("--format", "output.format", "json"),
        Case::new().flag("--out", "output.out", "x"),
        Case::new().flag("--out-dir", "output.out_dir", "x"),
        Case::new().env("SEALMARK_OUTPUT__FORMAT", "json"),
    ] {
        assert_eq!(ci(opted_out).resolve().settings.profile, "standard");
    }
}

#[test]
fn output_paths_start_at_the_working_directory_and_input_paths_at_the_file() {
    let case = Case::new()
        .file("sub/ci.yaml", "sandbox: { dir: tmp }\noutput: { out: r.txt, template: t.hbs }\n")
        .with(|request| request.config = Some("sub/ci.yaml".into()));
    let settings = case.resolve().settings;
    assert_eq!(settings.output.out.unwrap(), std::path::Path::new("r.txt"));
    assert_eq!(settings.output.template.unwrap(), case.path().join("sub/t.hbs"));
    assert_eq!(settings.sandbox.dir.unwrap(), case.path().join("sub/tmp"));
    assert_eq!(settings.path.unwrap(), case.path().join("sub/ci.yaml"));
    let flag = Case::new().flag("--template", "output.template", "t.hbs").resolve().settings;
    assert_eq!(flag.output.template.unwrap(), std::path::Path::new("t.hbs"));
}

#[test]
fn the_local_file_lies_beside_the_project_file() {
    let case = Case::new()
        .file("sub/ci.yaml", "jobs: 1\n")
        .file("sub/sealmark.local.yaml", "jobs: 2\n")
        .file("sealmark.local.yaml", "jobs: 3\n");
    assert_eq!(case.resolve().settings.jobs, 3);
    assert_eq!(case.with(|request| request.config = Some("sub/ci.yaml".into())).resolve().settings.jobs, 2);
}

#[test]
fn old_keys_are_read_over_with_a_warning() {
    let yaml = "retries:\n  call: 3\n  connect: { max: 2 }\nconcurrency:\n  packs: 2\noutput:\n  interactive: true\n";
    let warnings = Case::yaml(yaml).resolve().settings.warnings;
    assert_eq!(
        warnings,
        [
            "sealmark.yaml:2: `retries.call` is an old key that nothing reads; it is ignored.",
            "sealmark.yaml:3: `retries.connect` is an old key that nothing reads; it is ignored.",
            "sealmark.yaml:4: `concurrency` is an old key that nothing reads; it is ignored.",
            "sealmark.yaml:7: `output.interactive` is an old key that nothing reads; it is ignored.",
        ]
    );
}

#[test]
fn json_is_a_configuration_too() {
    let json = "{\n\t\"server\": {\n\t\t\"command\": \"node\",\r\n\t\t\"args\": [\"a\\tb\", \"\\ud83d\\ude00\", \"\\/x\"],\n\t\t\"env\": {\"N\":1}\n\t},\n\t\"jobs\": 2\n}\n";
    let settings = Case::yaml(json).resolve().settings;
    assert_eq!(settings.servers[0].command, ["node", "a\tb", "😀", "/x"]);
    assert_eq!(settings.servers[0].env["N"], "1");
    assert_eq!(settings.servers[0].line, Some(3));
    assert_eq!(settings.jobs, 2);
}
