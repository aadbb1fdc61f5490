//! Runs that a signal, a stuck reader or a stingy system gets in the way of: exit code, last line, report, and nothing left behind.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A directory for one run: `tmp` for its sandboxes.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn toy(words: &str) -> String {
        format!("python3 {}/tests/toys/{words}", env!("CARGO_MANIFEST_DIR"))
    }

    fn command(&self, words: &[&str]) -> Command {
        self.wrapped(Command::new(env!("CARGO_BIN_EXE_sealmark")), words)
    }

    fn wrapped(&self, mut command: Command, words: &[&str]) -> Command {
        command
            .arg("run")
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TMPDIR", self.path("tmp"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn sandboxes(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// Waits until a server has a sandbox and has begun to run in it.
    fn wait_for_sandboxes(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.sandboxes().len() < count {
            assert!(Instant::now() < deadline, "no sandbox was made");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Exit code and standard error, within a bound.
fn ended(mut child: Child) -> (Option<i32>, String) {
    let mut pipe = child.stderr.take().unwrap();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    });
    let deadline = Instant::now() + Duration::from_secs(30);
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            break None;
        }
        thread::sleep(Duration::from_millis(10));
    };
    (code, reader.join().unwrap())
}

fn report(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn says_so(report: &Value) -> bool {
    let warnings = report["warnings"].as_array().unwrap();
    report["interrupted"] == true && warnings.iter().any(|line| line.as_str().unwrap().contains("interrupted"))
}

#[test]
fn each_signal_at_each_moment_ends_the_run_with_its_code_and_last_line() {
    let server = Place::toy("hangs_in_call.py");
    for (signal, code, word) in
        [(Signal::HUP, 129, "stopped"), (Signal::INT, 130, "interrupted"), (Signal::TERM, 143, "stopped")]
    {
        for moment in [0, 30, 150, 600] {
            let place = Place::new();
            let child = place.command(&["--start", &server, "--format", "json", "--out", "r.json"]).spawn().unwrap();
            // From here on there is something that a signal must take down.
            place.wait_for_sandboxes(1);
            thread::sleep(Duration::from_millis(moment));
            send(&child, signal);
            if moment > 100 {
                send(&child, signal);
            }
            let (exit, stderr) = ended(child);
            assert_eq!(exit, Some(code), "{moment} ms: {stderr}");
            assert_eq!(stderr.lines().last(), Some(&*format!("sealmark exit {code}: {word}")), "{moment} ms");
            assert!(says_so(&report(&place.path("r.json"))), "{moment} ms");
            assert_eq!(place.sandboxes(), Vec::<PathBuf>::new(), "{moment} ms");
        }
    }
}

#[test]
fn several_servers_are_all_reported_and_no_further_one_is_started() {
    let place = Place::new();
    let toys = format!("{}/tests/toys", env!("CARGO_MANIFEST_DIR"));
    let server = |name: &str, toy: &str| format!("  {name}:\n    command: python3\n    args: [{toys}/{toy}.py]\n");
    let servers = server("a", "hangs_in_call") + &server("b", "never_answers") + &server("c", "honest");
    fs::write(place.path("sealmark.yaml"), format!("servers:\n{servers}")).unwrap();
    let child = place.command(&["--jobs", "2", "--format", "json", "--out", "r.json"]).spawn().unwrap();
    place.wait_for_sandboxes(2);
    thread::sleep(Duration::from_millis(300));
    send(&child, Signal::TERM);
    let (exit, stderr) = ended(child);
    assert_eq!((exit, stderr.lines().last()), (Some(143), Some("sealmark exit 143: stopped")));
    let report = report(&place.path("r.json"));
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["name"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(runs.iter().all(says_so));
    assert!(place.sandboxes().is_empty());
}

#[test]
fn a_kept_sandbox_is_named_last() {
    let place = Place::new();
    let server = Place::toy("never_answers.py");
    let child = place.command(&["--start", &server, "--keep-sandbox", "--out", "r.txt"]).spawn().unwrap();
    place.wait_for_sandboxes(1);
    thread::sleep(Duration::from_millis(200));
    send(&child, Signal::INT);
    let (exit, stderr) = ended(child);
    let sandboxes = place.sandboxes();
    assert_eq!((exit, sandboxes.len()), (Some(130), 1));
    let last: Vec<&str> = stderr.lines().rev().take(2).collect();
    assert_eq!(last, [&*format!("kept sandbox: {}", sandboxes[0].display()), "sealmark exit 130: interrupted"]);
}

#[test]
fn a_reader_that_does_not_read_cannot_keep_the_run_from_ending() {
    let place = Place::new();
    // More than a pipe holds.
    let server = Place::toy("tools_6000.py");
    let child = place.command(&["--start", &server, "--verbosity", "verbose", "--format", "json"]).spawn().unwrap();
    place.wait_for_sandboxes(1);
    let deadline = Instant::now() + Duration::from_secs(100);
    while !place.sandboxes().is_empty() {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(50));
    }
    // Judged, rendered and stuck by then, or nearly so: either way it ends.
    thread::sleep(Duration::from_secs(2));
    send(&child, Signal::TERM);
    let (exit, stderr) = ended(child);
    assert_eq!((exit, stderr.lines().last()), (Some(143), Some("sealmark exit 143: stopped")), "{stderr}");
}

#[test]
fn few_file_descriptors_are_an_error_that_leaves_nothing_behind() {
    for limit in [14, 18, 20, 24, 32] {
        let place = Place::new();
        let server = Place::toy("hostile.py deep");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_sealmark")]);
        let (exit, stderr) = ended(place.wrapped(shell, &["--start", &server, "--out", "r.txt"]).spawn().unwrap());
        assert!(matches!(exit, Some(1 | 4)), "{limit}: {exit:?} {stderr}");
        assert!(!stderr.contains("panicked"), "{limit}: {stderr}");
        // With hardly any at all not even a directory can be read; then it is said.
        let said = limit < 16 && stderr.contains("cleanup did not finish");
        assert!(said || place.sandboxes().is_empty(), "{limit}: {stderr}");
    }
}

#[test]
fn a_daemon_without_any_mark_cannot_bring_the_sandbox_back() {
    let place = Place::new();
    let server = Place::toy("hostile.py rebuilds-unmarked");
    let (exit, stderr) = ended(place.command(&["--start", &server, "--out", "r.txt"]).spawn().unwrap());
    assert!(matches!(exit, Some(0 | 1)), "{stderr}");
    thread::sleep(Duration::from_millis(100));
    assert_eq!(place.sandboxes(), Vec::<PathBuf>::new(), "{stderr}");
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_the_place() {
    let place = Place::new();
    let server = Place::toy("honest.py");
    let (exit, stderr) = ended(place.command(&["--start", &server, "--out", "/dev/full"]).spawn().unwrap());
    assert!(exit == Some(4) && stderr.contains("/dev/full"), "{stderr}");
}

#[test]
fn a_recording_survives_secrets_that_look_like_its_own_numbers() {
    let place = Place::new();
    let toy = format!("{}/tests/toys/honest.py", env!("CARGO_MANIFEST_DIR"));
    fs::write(place.path("sealmark.yaml"), format!("server:\n  command: python3\n  args: [{toy}]\n")).unwrap();
    let recorded = || {
        let child = place.command(&["--record", "r.rec", "--out", "r.txt"]).spawn().unwrap();
        let (exit, stderr) = ended(child);
        assert_eq!(exit, Some(0), "{stderr}");
        fs::read_to_string(place.path("r.rec")).unwrap()
    };
    // The length of the long stress input, which is the same in each run.
    let first = recorded();
    let (_, rest) = first.split_once("\"len\":").unwrap();
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    fs::write(place.path("sealmark.local.yaml"), format!("server:\n  env:\n    LIMIT: \"{number}\"\n")).unwrap();
    let second = recorded();
    assert!(second.contains(&format!("\"len\":{number}")));
    serde_json::from_str::<Value>(&second).unwrap();
}
