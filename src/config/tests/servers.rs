//! Which servers there are, and what is said of each.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;

use super::Case;
use crate::config::{Resolved, expand_server, settings::ServerSettings};

fn only(resolved: Resolved) -> ServerSettings {
    assert_eq!(resolved.settings.servers.len(), 1);
    resolved.settings.servers.into_iter().next().unwrap()
}

#[test]
fn one_server_with_everything() {
    let yaml = "name: shown\nversion: 1.10\nserver:\n  command: node\n  args: [server.js, --port, 8080, \"{sandbox}\"]\n  env:\n    API_KEY: ${MY_KEY}\n    DEBUG: true\n  url: http://127.0.0.1:8080/mcp\n  headers: { X-Z: z, Authorization: 'Bearer ${T:-none}' }\n  files:\n    - path: \"{sandbox}/app.ini\"\n      content: |\n        mode={not-ours}\n  cwd: project\n  rootless: true\n  connect_timeout_sec: 5\n  start_timeout_sec: 7\n";
    let case = Case::yaml(yaml);
    let server = only(case.resolve());
    assert_eq!(server.name, "shown");
    assert_eq!(server.version.as_deref(), Some("1.10"));
    assert_eq!(server.command, ["node", "server.js", "--port", "8080", "{sandbox}"]);
    assert_eq!(
        server.env,
        BTreeMap::from([("API_KEY".to_owned(), "${MY_KEY}".to_owned()), ("DEBUG".to_owned(), "true".to_owned())])
    );
    assert_eq!(server.headers[0].0, "X-Z");
    assert_eq!(server.headers[1].1, "Bearer ${T:-none}");
    assert_eq!(server.files[0].content, "mode={not-ours}\n");
    assert!(server.cwd_project && server.rootless);
    assert_eq!((server.connect_timeout, server.start_timeout), (Duration::from_secs(5), Duration::from_secs(7)));
    assert_eq!(server.line, Some(4));
    assert_eq!(server.base, case.path());
    assert_eq!(server.origins["env.API_KEY"], "sealmark.yaml:7");
    assert!(case.resolve().settings.warnings.is_empty(), "{:?}", case.resolve().settings.warnings);
}

#[test]
fn several_servers_keep_their_order_and_share_what_flags_say() {
    let case = Case::yaml("servers:\n  web: { url: 'https://h/mcp' }\n  fs:\n    command: npx\n    args: [-y, thing]\n    connect_timeout_sec: 9\n    version: 2\n")
        .flag("--connect-timeout", "server.connect_timeout_sec", 3)
        .flag("--header", "server.headers.X-A", "b");
    let servers = case.resolve().settings.servers;
    assert_eq!(servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["web", "fs"]);
    assert!(servers.iter().all(|server| server.connect_timeout == Duration::from_secs(3)));
    assert_eq!(servers[0].headers, [("X-A".to_owned(), "b".to_owned())]);
    assert_eq!((servers[0].line, servers[1].line), (Some(2), Some(4)));
    assert_eq!(servers[1].version.as_deref(), Some("2"));
    let pick = |name: &str| {
        let name = name.to_owned();
        Case::yaml("servers: { a: { command: x }, b: { command: y } }").with(|request| request.server = vec![name])
    };
    assert_eq!(only(pick("b").resolve()).command, ["y"]);
    assert_eq!(pick("all").resolve().settings.servers.len(), 2);
    assert_eq!(only(pick("a").flag("--name", "name", "other").resolve()).name, "other");
    assert_eq!(pick("c").error().to_string(), "--server: there is no server `c`");
    assert_eq!(pick("c").error().hint(), Some("known here: a, b, all"));
    assert_eq!(
        pick("all").flag("--name", "name", "x").error().to_string(),
        "--name: names one server, but 2 are selected"
    );
}

#[test]
fn several_servers_can_be_chosen_in_any_order_and_run_in_that_of_the_file() {
    let pick = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Case::yaml("servers: { a: { command: x }, 'b,c': { command: y }, d: { command: z }, c: { command: w } }")
            .with(|request| request.server = words)
    };
    for (words, names) in [
        (&["d,a"][..], &["a", "d"][..]),
        (&["d", "a", "d"], &["a", "d"]),
        (&[" c , a "], &["a", "c"]),
        (&["b,c"], &["b,c"]),
        (&["b,c", "a"], &["a", "b,c"]),
        (&["a", "all"], &["a", "b,c", "d", "c"]),
        (&[], &["a", "b,c", "d", "c"]),
    ] {
        let servers = pick(words).resolve().settings.servers;
        assert_eq!(servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), names, "{words:?}");
    }
    for (words, unknown) in [(&["a,e"][..], "e"), (&["a,"], ""), (&["b,c,a"], "b"), (&[""], "")] {
        assert_eq!(pick(words).error().to_string(), format!("--server: there is no server `{unknown}`"), "{words:?}");
    }
}

#[test]
fn a_profile_may_set_waits_that_a_server_of_its_own_beats() {
    let yaml = "profile: slow\nprofiles: { slow: { server: { connect_timeout_sec: 90 } } }\nservers:\n  a: { command: x }\n  b: { command: y, connect_timeout_sec: 5 }\n";
    let servers = Case::yaml(yaml).resolve().settings.servers;
    assert_eq!(servers.iter().map(|server| server.connect_timeout.as_secs()).collect::<Vec<_>>(), [90, 5]);
}

#[test]
fn server_and_servers_exclude_each_other() {
    let error = Case::yaml("server:\n  command: x\nservers:\n  a: { command: y }").error();
    assert_eq!(
        error.to_string(),
        "sealmark.yaml:2: `server.command` and `servers` (sealmark.yaml:4) cannot be used together"
    );
    let error = Case::yaml("servers: { a: { command: y } }").flag("--url", "server.url", "http://h/").error();
    assert_eq!(error.to_string(), "--url: `server.url` and `servers` (sealmark.yaml:1) cannot be used together");
    assert!(error.hint().unwrap().contains("--server <name>"));
    let error = Case::yaml("server: { command: x }").with(|request| request.server = vec!["y".to_owned()]).error();
    assert_eq!(error.to_string(), "--server: there is no server `y`");
}

#[test]
fn a_command_and_a_url_come_from_one_place() {
    let error = Case::yaml("server: { command: node }").flag("--url", "server.url", "http://h/mcp").error();
    assert_eq!(
        error.to_string(),
        "`server.command` (sealmark.yaml:1) and `server.url` (flag --url) come from different places"
    );
    assert!(error.hint().unwrap().contains("--start with --url"));
    assert!(
        Case::yaml("server: { command: node }")
            .file("sealmark.local.yaml", "server: { url: 'http://h/' }")
            .run()
            .is_err()
    );
    assert!(Case::yaml("server: { url: 'http://h/' }").env("SEALMARK_SERVER__COMMAND", "x").run().is_err());
    for both in [
        Case::yaml("server: { command: node, url: 'http://h/mcp' }"),
        Case::started().flag("--url", "server.url", "http://h/mcp"),
        Case::new().env("SEALMARK_SERVER__COMMAND", "x").env("SEALMARK_SERVER__URL", "http://h/"),
        // A place that gives both wins over another that gives both.
        Case::yaml("server: { command: node, url: 'http://h/mcp' }").flag("--start", "server.command", "x").flag(
            "--url",
            "server.url",
            "http://i/",
        ),
    ] {
        assert!(only(both.resolve()).url.is_some());
    }
    assert_eq!(
        only(
            Case::yaml("server: { command: x, args: [a] }")
                .flag("--start", "server.command", "y")
                .flag("--start", "server.args", json!([]))
                .resolve()
        )
        .command,
        ["y"]
    );
}

#[test]
fn servers_are_checked_where_they_stand() {
    for (yaml, message) in [
        ("servers:\n  a:\n    env: { X: y }", "sealmark.yaml:3: `servers.a` has neither `command` nor `url`"),
        ("server: { command: '' }", "sealmark.yaml:1: `server.command`: is empty"),
        (
            "server:\n  url: localhost:8000",
            "sealmark.yaml:2: `server.url`: expected an http:// or https:// URL with a host",
        ),
        (
            "server: { url: 'http:///x' }",
            "sealmark.yaml:1: `server.url`: expected an http:// or https:// URL with a host",
        ),
        ("server: { url: 'http://h/a b' }", "sealmark.yaml:1: `server.url`: holds a space or a control character"),
        ("server: { command: \"a\\0b\" }", "sealmark.yaml:1: `server.command`: holds a NUL character"),
        (
            "server: { url: 'http://h/', headers: { 'a b': c } }",
            "sealmark.yaml:1: `server.headers`: \"a b\" is no header name",
        ),
        (
            "server: { url: 'http://h/', headers: { a: \"b\\nc\" } }",
            "sealmark.yaml:1: `server.headers.a`: a header's value is one line",
        ),
        (
            "server:\n  url: http://h/\n  headers:\n    A: b\n    a: c",
            "sealmark.yaml:5: `server.headers.a` repeats `A`: header names know no case",
        ),
        (
            "server: { command: x, env: { 'A=B': c } }",
            "sealmark.yaml:1: `server.env`: a name without `=` and a value without NUL are expected",
        ),
        (
            "server:\n  command: x\n  files:\n    - { path: '/etc/x', content: y }",
            "sealmark.yaml:4: `server.files`: \"/etc/x\" is outside the sandbox: a staged path starts with {sandbox}, {dir} or {sandbox_home}",
        ),
        (
            "server:\n  command: x\n  files:\n    - { path: '{sandbox}/../x', content: y }",
            "sealmark.yaml:4: `server.files`: \"{sandbox}/../x\" leaves the sandbox: `..` is refused",
        ),
        (
            "server:\n  url: http://h/\n  files:\n    - { path: '{sandbox}/x', content: y }",
            "sealmark.yaml:4: `server.files`: files can be staged only for a server that sealmark starts",
        ),
        (
            "sandbox: { enabled: false }\nserver:\n  command: x\n  files: [{ path: '{sandbox}/x', content: y }]",
            "sealmark.yaml:4: `server.files`: files are staged in the sandbox, which is switched off",
        ),
        (
            "server:\n  command: x\n  files: [{ path: '{sandbox}/x', content: y }, { path: '{dir}/x', content: z }]",
            "sealmark.yaml:3: `server.files`: \"{dir}/x\" is staged twice",
        ),
        (
            "server:\n  command: x\n  files: [{ path: '{sandbox}/x', content: 'u={dsn}' }]",
            "sealmark.yaml:3: `server.files[0].content`: {dsn} needs the db pack, which this version does not have",
        ),
        (
            "server:\n  command: x\n  args:\n    - '{sqlite_path}'",
            "sealmark.yaml:4: `server.args[0]`: {sqlite_path} needs the sqlite pack, which this version does not have",
        ),
        (
            "server: { url: 'http://h/', headers: { A: 'Bearer {bearer}' } }",
            "sealmark.yaml:1: `server.headers.A`: {bearer} needs the upstream pack, which this version does not have",
        ),
        (
            "server: { url: 'http://h/{sandbox}' }",
            "sealmark.yaml:1: `server.url`: {sandbox} has no value: sealmark starts no server here",
        ),
        ("server: { command: x, args: ['${A'] }", "sealmark.yaml:1: `server.args[0]`: `${A` is never closed"),
    ] {
        assert_eq!(Case::yaml(yaml).error().to_string(), message, "{yaml}");
    }
    let flag = Case::new().flag("--url", "server.url", "nope").error();
    assert_eq!(flag.to_string(), "--url: `server.url`: expected an http:// or https:// URL with a host");
}

#[test]
fn odd_but_possible_servers_are_warned_about() {
    for (yaml, expected) in [
        (
            "server: { command: x, args: ['{sandbx}/a', '{id}', '{\"a\": 1}'] }",
            vec![
                "sealmark.yaml:1: `server.args[0]`: {sandbx} is no placeholder; the server receives it as written. Did you mean {sandbox}?",
                "sealmark.yaml:1: `server.args[1]`: {id} is no placeholder; the server receives it as written.",
            ],
        ),
        (
            "server: { command: node server.js }",
            vec![
                "sealmark.yaml:1: `server.command` is one program's name and no command line; put the rest into `args`.",
            ],
        ),
        (
            "server: { url: 'http://h/', args: [a] }",
            vec!["sealmark.yaml:1: `server.args` is not used: there is no `server.command`."],
        ),
        (
            "server: { command: x, headers: { A: b } }",
            vec!["sealmark.yaml:1: `server.headers` are only sent to a `url`, and there is none."],
        ),
        (
            "name: x\nservers: { a: { command: x } }",
            vec!["sealmark.yaml:1: `name` is not used: the keys under `servers` name the servers."],
        ),
        (
            "server:\n  command: x\n  env:\n    MEMORY_FILE_PATH: /tmp/memory.json",
            vec![
                "sealmark.yaml:4: `server.env` MEMORY_FILE_PATH points at a real path on this machine; calls may read or change what is there. Use {sandbox}/memory.json to keep it in the sandbox.",
            ],
        ),
        ("server: { command: node, args: [/tmp/server.js, '{sandbox}'] }", vec![]),
        ("server: { url: 'http://h/' }", vec![]),
    ] {
        assert_eq!(Case::yaml(yaml).resolve().settings.warnings, expected, "{yaml}");
    }
    let behind = Case::yaml("server: { command: x, args: ['${DATA}'] }").env("DATA", "/tmp/data");
    assert_eq!(behind.resolve().settings.warnings.len(), 1);
}

#[test]
fn header_names_know_no_case_between_layers() {
    let case = Case::yaml("server: { url: 'http://h/', headers: { authorization: a, X: x } }").flag(
        "--bearer",
        "server.headers.Authorization",
        "Bearer ${T}",
    );
    let server = only(case.resolve());
    assert_eq!(
        server.headers,
        [("X".to_owned(), "x".to_owned()), ("Authorization".to_owned(), "Bearer ${T}".to_owned())]
    );
    assert_eq!(server.origins["headers.Authorization"], "flag --bearer");
    assert!(!server.origins.contains_key("headers.authorization"));
}

#[test]
fn secrets_are_found_by_name_by_file_and_by_reference() {
    let case = Case::yaml("server:\n  command: x\n  args: [--token, tok-1234, '${OTHER}']\n  env: { API_KEY: lit-key, MODE: plain-mode, REF: '${REFD}', PORT: '${PORT}' }\n")
        .file("sealmark.local.yaml", "server: { env: { HOSTING: local.example } }")
        .env("OTHER", "other-value")
        .env("REFD", "reference-value")
        .env("PORT", "8080");
    let secrets = case.resolve().settings.secrets;
    assert_eq!(secrets, ["reference-value", "local.example", "other-value", "tok-1234", "lit-key"]);
}

#[test]
fn a_server_is_filled_in_before_it_is_started() {
    let case = Case::yaml("server:\n  command: ./run.sh\n  args: [app.js, '{sandbox}/x', '${A}']\n  env: { TOKEN: '${B:-none}', K: '$${x}' }\n  files: [{ path: '{sandbox_home}/${A}.ini', content: 'd={dir}' }]\n")
        .file("run.sh", "")
        .file("app.js", "")
        .env("A", "alpha-value");
    let server = only(case.resolve());
    let values =
        BTreeMap::from([("sandbox", "/s".to_owned()), ("dir", "/s".to_owned()), ("sandbox_home", "/h".to_owned())]);
    let ready = expand_server(&server, &values, case.env_map()).unwrap();
    let at = |name: &str| case.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(ready.command, [at("./run.sh"), at("app.js"), "/s/x".to_owned(), "alpha-value".to_owned()]);
    assert_eq!(ready.env, [("K".to_owned(), "${x}".to_owned()), ("TOKEN".to_owned(), "none".to_owned())]);
    assert_eq!((ready.files[0].path.as_str(), ready.files[0].content.as_str()), ("/h/alpha-value.ini", "d=/s"));
    assert_eq!(ready.secrets, ["alpha-value"]);
    let error = expand_server(&server, &values, &BTreeMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "sealmark.yaml:3: `args` of run: the variable A is not set");
    assert_eq!(error.hint(), Some("set A, or write ${A:-default}"));
    let out = BTreeMap::from([("A".to_owned(), "../../etc/x".to_owned())]);
    let error = expand_server(&server, &values, &out).unwrap_err();
    assert!(error.to_string().starts_with("sealmark.yaml:5: `files` of run: "), "{error}");
    let flag = Case::new().flag("--url", "server.url", "http://h/").flag(
        "--bearer",
        "server.headers.Authorization",
        "Bearer ${NO}",
    );
    let error = expand_server(&only(flag.resolve()), &BTreeMap::new(), &BTreeMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "--bearer: `headers.Authorization` of h: the variable NO is not set");
}

#[test]
fn an_override_is_read_and_its_late_mistake_names_its_line() {
    let resolved =
        Case::yaml("tools:\n  overrides:\n    read.it: { class: path, params: { path: where } }\n").resolve();
    assert_eq!(resolved.settings.tools_overrides["read.it"].class, "path");
    assert_eq!(resolved.settings.tools_overrides["read.it"].params["path"], "where");
    let error = resolved.override_without_parameter("read.it", "path", &["from".to_owned()]);
    assert_eq!(
        error.to_string(),
        "sealmark.yaml:3: `tools.overrides.read.it`: the tool has no parameter \"where\" that takes text"
    );
    assert_eq!(error.hint(), Some("name one of from: { class: path, params: { path: <parameter> } }"));
    let unnamed = Case::yaml("tools:\n  overrides:\n    add: { class: path }\n").resolve();
    let error = unnamed.override_without_parameter("add", "path", &[]);
    assert_eq!(error.to_string(), "sealmark.yaml:3: `tools.overrides.add`: no parameter of the tool can carry a path");
    assert!(error.hint().is_some_and(|hint| hint.contains("opaque")), "{error:?}");
}

#[test]
fn patterns_and_overrides_that_match_nothing_are_pointed_out() {
    let yaml = "tools:\n  exclude: [admin_*, ad]\n  overrides:\n    ecco: { class: text }\n";
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let said = Case::yaml(yaml).resolve().unmatched(&words(&["admin_*"]), &words(&["ecco"]), &words(&["add", "echo"]));
    assert_eq!(
        said,
        [
            "sealmark.yaml:2: `tools.exclude` \"admin_*\" matches no tool that is listed.",
            "sealmark.yaml:4: `tools.overrides.ecco`: no tool of that name is listed. Did you mean `echo`?",
        ]
    );
}
