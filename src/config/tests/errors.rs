//! Every mistake: its place, its cause, its next step.

use super::Case;

#[track_caller]
fn check(case: &Case, message: &str, hint: &str) {
    let error = case.error();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hint().unwrap_or_default(), hint, "the hint of: {message}");
}

#[test]
fn mistakes_in_a_file_name_the_line_and_the_next_step() {
    for (yaml, message, hint) in [
        ("jobs: 1\nsevrer: {}", "sealmark.yaml:2: unknown key `sevrer`", "did you mean `server`?"),
        ("server:\n  comand: x", "sealmark.yaml:2: unknown key `server.comand`", "did you mean `server.command`?"),
        (
            "servers:\n  a:\n    urll: x",
            "sealmark.yaml:3: unknown key `servers.a.urll`",
            "did you mean `servers.a.url`?",
        ),
        ("fail_under: B", "sealmark.yaml:1: unknown key `fail_under`", "did you mean `output.fail_under`?"),
        (
            "output:\n  exit_policy:\n    hard: 1",
            "sealmark.yaml:3: unknown key `output.exit_policy.hard`",
            "known here: soft_fail, treat_inconclusive_as, critical_fail",
        ),
        ("checks:\n  protocl: {}", "sealmark.yaml:2: unknown key `checks.protocl`", "did you mean `checks.protocol`?"),
        (
            "checks:\n  protocol:\n    severty: scored",
            "sealmark.yaml:3: unknown key `checks.protocol.severty`",
            "did you mean `checks.protocol.severity`?",
        ),
        (
            "checks:\n  fs-size-cap: { enabled: false }",
            "sealmark.yaml:2: `checks.fs-size-cap`: the fs pack is not part of this version",
            "remove it, or use a version of sealmark that has it",
        ),
        (
            "checks: { protocol: { severity: high } }",
            "sealmark.yaml:1: `checks.protocol.severity`: expected critical, scored or advisory, found the text \"high\"",
            "",
        ),
        (
            "checks: { protocol: { severity: scord } }",
            "sealmark.yaml:1: `checks.protocol.severity`: expected critical, scored or advisory, found the text \"scord\"",
            "did you mean `scored`?",
        ),
        (
            "probes: []",
            "sealmark.yaml:1: `probes` is not part of this version",
            "remove it, or use a version of sealmark that has it",
        ),
        (
            "upstream:\n  kind: http",
            "sealmark.yaml:1: `upstream` is not part of this version",
            "remove it, or use a version of sealmark that has it",
        ),
        (
            "name: a\nsql_tools: []",
            "sealmark.yaml:2: `sql_tools` is not part of this version",
            "remove it, or use a version of sealmark that has it",
        ),
        (
            "plugins: [./x.js]",
            "sealmark.yaml:1: `plugins` cannot be loaded: sealmark is one static program and runs no foreign code",
            "checks of your own are declared under `probes:`, which is not part of this version yet",
        ),
        ("retries:\n  cal: 1", "sealmark.yaml:2: unknown key `retries.cal`", ""),
        (
            "packs: [core, db]",
            "sealmark.yaml:1: `packs`: the db pack is not part of this version",
            "packs of this version: core, extra, trial",
        ),
        ("packs:\n  - core\n  - xtra", "sealmark.yaml:3: `packs`: unknown pack `xtra`", "did you mean `extra`?"),
        (
            "server: node",
            "sealmark.yaml:1: `server`: expected a mapping, found the text \"node\"",
            "known here: command, args, env, url, headers, files, cwd, rootless, pass_env, connect_timeout_sec, start_timeout_sec",
        ),
        ("servers: [a]", "sealmark.yaml:1: `servers`: expected a mapping by server, found a list", ""),
        (
            "server:\n  command: [node, x]",
            "sealmark.yaml:2: `server.command`: expected a text, found a list",
            "put the program in `command` and the rest in `args`",
        ),
        (
            "server:\n  args:\n    - a\n    - {b: c}",
            "sealmark.yaml:4: `server.args`: expected a text in the list, found a mapping",
            "",
        ),
        (
            "timeout_probe_sec: ten",
            "sealmark.yaml:1: `timeout_probe_sec`: expected a whole number of seconds from 1 to 3600, found the text \"ten\"",
            "",
        ),
        ("schema_version: 2", "sealmark.yaml:1: `schema_version`: expected 1, found the number 2", ""),
        (
            "jobs: 1\njobs: 2",
            "sealmark.yaml:2: `jobs` stands twice in this mapping (first in line 1)",
            "keep one of them",
        ),
        (
            "output:\n  format: json\n  formats: [text]",
            "sealmark.yaml:3: `output.format` is set twice: it is also spelled `formats`",
            "keep one of them",
        ),
        (
            "output:\n  formats: json\n  format: [text]",
            "sealmark.yaml:3: `output.format` is set twice: it is also spelled `formats`",
            "keep one of them",
        ),
        ("profile: strickt", "sealmark.yaml:1: unknown profile `strickt`", "did you mean `strict`?"),
        (
            "profiles:\n  ci: {}",
            "sealmark.yaml:2: `profiles.ci`: a profile of that name is built in",
            "choose another name and write `extends: ci` below it",
        ),
        (
            "profile: a\nprofiles:\n  a: { extends: b }\n  b: { extends: a }",
            "sealmark.yaml:4: profiles extend each other: a → b → a",
            "let one of them extend `standard`",
        ),
        (
            "profile: a\nprofiles:\n  a:\n    extends: a",
            "sealmark.yaml:4: profiles extend each other: a → a",
            "let one of them extend `standard`",
        ),
        (
            "profile: a\nprofiles: { a: { extends: bb } }",
            "sealmark.yaml:2: unknown profile `bb`",
            "known here: standard, quick, ci, strict, paranoid, a",
        ),
        (
            "profiles:\n  a:\n    name: x",
            "sealmark.yaml:3: unknown key `name`",
            "a profile says how to grade, not what: it cannot hold this key",
        ),
        (
            "profiles:\n  a:\n    server:\n      command: x",
            "sealmark.yaml:4: unknown key `server.command`",
            "a profile says how to grade, not what: it cannot hold this key",
        ),
        (
            "tools:\n  overrides:\n    x: { class: file }",
            "sealmark.yaml:3: `tools.overrides.x.class`: expected path, url, command, sql, git, text or opaque, found the text \"file\"",
            "",
        ),
        (
            "tools:\n  overrides:\n    x: { params: { path: p } }",
            "sealmark.yaml:3: `tools.overrides.x` has no `class`",
            "known here: path, url, command, sql, git, text, opaque",
        ),
        (
            "tools: { overrides: { x: { class: path, params: { pth: p } } } }",
            "sealmark.yaml:1: `tools.overrides.x.params`: unknown class `pth`",
            "did you mean `path`?",
        ),
        ("checks:\n  refusal-quality:\n    patterns: ['a', '[']", "", ""),
        (
            "<<: {}",
            "sealmark.yaml:1: unknown key `<<`",
            "YAML merge keys are not read; use an alias for the whole value",
        ),
        (
            "- a",
            "sealmark.yaml:1: expected a mapping of settings, found a list",
            "start with `server:` and its `command:`",
        ),
        (
            "just words",
            "sealmark.yaml:1: expected a mapping of settings, found the text \"just words\"",
            "start with `server:` and its `command:`",
        ),
        ("servers:\n  \"\": { url: x }", "sealmark.yaml:2: \"\" is no name", ""),
    ] {
        if message.is_empty() {
            let error = Case::yaml(yaml).error().to_string();
            assert!(
                error.starts_with(
                    "sealmark.yaml:3: `checks.refusal-quality.patterns`: \"[\" is no regular expression: "
                ),
                "{error}"
            );
            continue;
        }
        check(&Case::yaml(yaml), message, hint);
    }
}

#[test]
fn mistakes_in_other_files_name_those() {
    check(
        &Case::new().file("sealmark.local.yaml", "\njob: 1"),
        "sealmark.local.yaml:2: unknown key `job`",
        "did you mean `jobs`?",
    );
    let user = Case::new().file("u.yaml", "job: 1").with(|request| request.user_config = Some("u.yaml".into()));
    check(&user, "u.yaml:1: unknown key `job`", "did you mean `jobs`?");
    let config = Case::new().file("sub/c.yaml", "job: 1").with(|request| request.config = Some("sub/c.yaml".into()));
    check(&config, "sub/c.yaml:1: unknown key `job`", "did you mean `jobs`?");
}

#[test]
fn mistakes_in_variables_and_flags_name_those() {
    check(
        &Case::new().env("SEALMARK_JOBS", "many"),
        "SEALMARK_JOBS: expected a whole number from 1 to 64, found the text \"many\"",
        "",
    );
    check(&Case::new().env("SEALMARK_PACKS", "cor"), "SEALMARK_PACKS: unknown pack `cor`", "did you mean `core`?");
    check(
        &Case::new().flag("--timeout-probe", "timeout_probe_sec", 0),
        "--timeout-probe: expected a whole number of seconds from 1 to 3600, found the number 0",
        "",
    );
    check(
        &Case::new().flag("--fail-under", "output.fail_under", "E"),
        "--fail-under: expected A, B, C, D, F or none, found the text \"E\"",
        "",
    );
    check(
        &Case::new().flag("--profile", "profile", "stnadard"),
        "--profile: unknown profile `stnadard`",
        "did you mean `standard`?",
    );
    check(&Case::new().flag("--x", "no.such", 1), "--x: `no.such` is no setting of this version", "");
}

#[test]
fn files_that_cannot_be_read_are_one_clear_mistake() {
    let asked = |case: Case, path: &str| {
        let path = path.to_owned();
        case.with(|request| request.config = Some(path.into()))
    };
    check(
        &asked(Case::new(), "missing.yaml"),
        "--config: there is no file missing.yaml",
        "check the path; without --config, sealmark.yaml in the working directory is read",
    );
    check(&asked(Case::new().file("d/x", ""), "d"), "d: is a directory, not a file", "name the file in it");
    check(&Case::new().file("sealmark.yaml/x", ""), "sealmark.yaml: is a directory, not a file", "name the file in it");
    check(
        &Case::new().file("sealmark.yaml", b"jobs: 1\nname: \xff\xfe"),
        "sealmark.yaml:2: is not UTF-8 text",
        "save it as UTF-8",
    );
    check(
        &Case::new().file("sealmark.yaml", "#".repeat((1 << 20) + 1)),
        "sealmark.yaml: is larger than 1 MiB",
        "a configuration is a few lines of YAML",
    );
    // Not asked for: not missed.
    assert!(Case::new().with(|request| request.user_config = Some("nowhere/config.yaml".into())).run().is_ok());
}

#[test]
fn a_run_needs_a_server() {
    let next = "pass --start \"<command>\" or --url <endpoint>, or write `server:` into sealmark.yaml";
    for (case, message) in [
        (Case::new(), "there is no server to grade and no sealmark.yaml here"),
        (Case::yaml("server:\n  env: { A: b }"), "sealmark.yaml:2: `server` has neither `command` nor `url`"),
    ] {
        let error = case.resolve().require_servers().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint()), (message, Some(next)));
    }
    let error = Case::yaml("jobs: 1").resolve().require_servers().unwrap_err();
    assert!(error.to_string().ends_with("sealmark.yaml: names no server to grade"), "{error}");
    assert!(Case::started().resolve().require_servers().is_ok());
}
