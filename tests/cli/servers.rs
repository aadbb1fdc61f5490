//! What can be wrong with a program: exit 4, one message with the cause and the next step.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use super::bench::{Bench, Ended, free_port, one_message, start, toy};

/// The end of what the server itself wrote, which belongs to the message.
fn its_stderr(line: &str) -> bool {
    line == "the server's last lines on stderr:" || line.starts_with("  | ")
}

fn script(bench: &Bench, name: &str, content: &str, mode: u32) {
    let path = bench.write(name, content);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_program_that_cannot_be_started() {
    let bench = Bench::new();
    script(&bench, "plain", "echo hi\n", 0o644);
    script(&bench, "no-shebang", "echo hi\n", 0o755);
    script(&bench, "bad-shebang", "#!/nonexistent/interpreter\n", 0o755);
    for (command, error, hint) in [
        ("no-such-program", &["`no-such-program` was not found on PATH"][..], &["install it"][..]),
        ("./no-such-file", &["`./no-such-file` was not found"], &["check the path"]),
        ("/", &["/ is a directory"], &["name a program"]),
        ("./plain", &["no execute permission"], &["chmod +x"]),
        ("./no-shebang", &["`#!`"], &["interpreter"]),
        ("./bad-shebang", &["/nonexistent/interpreter", "does not exist"], &["install"]),
    ] {
        let ended = bench.run(&["run", "--start", command]);
        assert_eq!(ended.code, Some(4), "{command}: {}", ended.stderr);
        one_message(command, &ended.stderr, error, hint, |_| false);
        assert!(ended.stdout.contains("FAILED: "), "{command}: {}", ended.stdout);
    }
    assert_eq!(bench.left(), [] as [String; 0]);
}

#[test]
fn a_program_that_is_no_mcp_server() {
    let bench = Bench::new();
    let began = Instant::now();
    for (command, error, hint) in [
        ("cat", &["repeats its input"][..], &["does not look like an MCP server"][..]),
        ("true", &["exit code 0 before it answered `initialize`"], &["does not look like an MCP server"]),
        ("ls", &["exit code 0", "it printed"], &["does not look like an MCP server"]),
        ("yes", &["not MCP", "\"y\""], &["does not look like an MCP server"]),
        ("sleep 100", &["did not answer `initialize` within 2 s"], &["--connect-timeout", "--url"]),
        ("sh -c 'echo oops >&2; exit 3'", &["exit code 3"], &["stderr"]),
        ("sh -c 'kill -9 $$'", &["signal 9"], &["stderr"]),
        ("python3 -c 'import no_such_module'", &["exit code 1"], &["install the server's dependencies"]),
        ("python3 no_such_file.py", &["exit code 2"], &["stderr"]),
    ] {
        let ended = bench.run(&["run", "--connect-timeout", "2", "--start", command]);
        assert_eq!(ended.code, Some(4), "{command}: {}", ended.stderr);
        one_message(command, &ended.stderr, error, hint, its_stderr);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "the bound was not kept: {:?}", began.elapsed());
}

#[test]
fn a_failed_start_is_a_report_with_its_stderr_beside_it() {
    let bench = Bench::new();
    for (flags, report, log) in [
        (&["--format", "json", "--out", "out/r.json"][..], "out/r.json", "out/r.json.stderr.log"),
        (&["--format", "json", "--out-dir", "d"], "d/sealmark-report.json", "d/sealmark-report.stderr.log"),
        (
            &["--format", "json,text"],
            "sealmark-report/sealmark-report.json",
            "sealmark-report/sealmark-report.stderr.log",
        ),
    ] {
        let command = ["run", "--start", "sh -c 'echo no licence >&2; exit 3'"];
        let ended = bench.run(&[&command[..], flags].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""), "{}", ended.stderr);
        let json = bench.json(report);
        assert_eq!(json["status"], "failed");
        assert_eq!(json["stderrFile"], log);
        assert!(json["error"].as_str().unwrap().contains("exit code 3"), "{}", json["error"]);
        assert_eq!(json["packs"]["core"]["status"], "inconclusive");
        assert_eq!(bench.read(log), "no licence\n");
        assert!(ended.stderr.contains("core inconclusive · FAILED: "), "{}", ended.stderr);
        assert!(!ended.stderr.contains("warning:"), "{}", ended.stderr);
    }
}

#[test]
fn words_after_two_dashes_are_the_command() {
    let bench = Bench::new();
    let ended = bench.run(&["run", "--format", "json", "--", "python3", &toy("honest.py"), "--flag", "two words"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["server"]["command"], serde_json::json!(["python3", toy("honest.py"), "--flag", "two words"]));
}

#[test]
fn a_launched_server_is_waited_for_tested_and_stopped() {
    let bench = Bench::new();
    let launch = |variant: &str, path: &str, more: &[&str]| -> (Ended, u16) {
        let port = free_port();
        let (command, url) =
            (start(&format!("toy_http.py {port} {variant}")), format!("http://127.0.0.1:{port}{path}"));
        (bench.run(&[&["run", "--start", &command, "--url", &url, "--format", "json"], more].concat()), port)
    };
    let (ended, port) = launch("plain", "/mcp", &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&json["server"]["transport"], &json["sandbox"]["used"]), (&"http-launched".into(), &false.into()));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "it was not stopped");
    let (ended, _) = launch("404", "/mcp", &["--start-timeout", "2"]);
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("HTTP 404") && ended.stderr.contains("often /mcp"), "{}", ended.stderr);
    let (ended, _) = launch("503", "/mcp", &["--start-timeout", "2"]);
    assert!(ended.code == Some(4) && ended.stderr.contains("--start-timeout"), "{}", ended.stderr);
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    let ended = bench.run(&["run", "--start", "sh -c 'echo no port >&2; exit 7'", "--url", &url]);
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("exited with code 7") && ended.stderr.contains("  | no port"), "{}", ended.stderr);
}

#[test]
fn a_leftover_server_is_never_graded_by_mistake() {
    let bench = Bench::new();
    let running = super::bench::Running::toy("plain");
    let command = start(&format!("toy_http.py {} plain", running.port));
    let ended = bench.run(&["run", "--start", &command, "--url", &running.url()]);
    assert_eq!(ended.code, Some(4));
    one_message("port in use", &ended.stderr, &["already answers", &running.url()], &["stop it"], |_| false);
}

#[test]
fn start_and_url_must_come_from_one_place() {
    let bench = Bench::new();
    bench.write("sealmark.yaml", "server: {command: python3, args: [x.py]}\n");
    let ended = bench.run(&["run", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    one_message("two places", &ended.stderr, &["sealmark.yaml:1", "--url"], &["--start with --url"], |_| false);
}

#[test]
fn each_server_has_its_own_warnings_and_those_of_all_are_said_once() {
    let bench = Bench::new();
    let path = bench.write("data.txt", "x").display().to_string();
    let server =
        |name: &str, more: &str| format!("  {name}: {{command: python3, args: [{}{more}]}}\n", toy("honest.py"));
    bench.write("sealmark.yaml", &format!("servers:\n{}{}", server("one", &format!(", {path}")), server("two", "")));
    for format in ["summary", "text", "markdown"] {
        let mut command = bench.command(&["run", "--format", format]);
        let ended = super::bench::ended(command.env("SEALMARK_NO_SUCH_KEY", "x").output().unwrap());
        assert_eq!(ended.stdout.matches("points at a real path").count(), 1, "{format}: {}", ended.stdout);
        assert_eq!(
            ended.stdout.matches("NO\\_SUCH").count() + ended.stdout.matches("NO_SUCH").count(),
            1,
            "{format}: {}",
            ended.stdout
        );
        assert_eq!(ended.stderr.matches("points at a real path").count(), 1, "{}", ended.stderr);
    }
    assert!(matches!(bench.run(&["run", "--format", "json", "--out", "r.json"]).code, Some(0 | 1)));
    let report = bench.json("r.json");
    let warnings = |at: usize| report["runs"][at]["warnings"].as_array().unwrap().len();
    assert_eq!((warnings(0), warnings(1)), (1, 0), "{}", report["runs"][1]["warnings"]);
    let share = bench.run(&["run", "--server", "two", "--format", "json"]);
    assert!(!share.stderr.contains("points at"), "{}", share.stderr);
    fs::remove_file(bench.work().join("sealmark.yaml")).unwrap();
    let words = bench.run(&["run", "--format", "json", "--", "python3", &toy("honest.py"), &path]);
    assert!(words.stderr.contains("warning: the words after --: `server.args` points at"), "{}", words.stderr);
}

#[test]
fn a_hint_sends_nobody_to_a_stderr_that_is_empty() {
    let bench = Bench::new();
    for (script, hint) in [
        ("exit 3", "hint: it wrote nothing to its stderr: run the same command by hand\n"),
        ("exit 127", "hint: a program it runs was not found: run the same command by hand\n"),
        ("echo x >&2; exit 3", "hint: look at its stderr; run the same command by hand\n"),
    ] {
        let ended = bench.run(&["run", "--format", "json", "--start", &format!("sh -c '{script}'")]);
        assert!(ended.code == Some(4) && ended.stderr.contains(hint), "{script}: {}", ended.stderr);
    }
}
