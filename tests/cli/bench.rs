//! What every test here stands on: a directory of its own, a scrubbed environment, toy servers.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// A directory to run in, with a home and a directory for temporary files that are its own.
pub struct Bench {
    dir: tempfile::TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "home"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Writes a file below the working directory.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealmark"));
        command
            .args(words)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"))
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        ended(self.command(words).output().unwrap())
    }

    /// What was left in the directory for temporary files.
    pub fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path().join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

pub fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The path of a toy server.
pub fn toy(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toys").join(name).display().to_string()
}

/// The command line of a toy server.
pub fn start(words: &str) -> String {
    format!("python3 {}", toy(words))
}

/// A toy over HTTP that is already running; ended when dropped.
pub struct Running {
    child: Child,
    pub port: u16,
}

impl Running {
    pub fn toy(variant: &str) -> Self {
        let port = free_port();
        let script = toy("toy_http.py");
        let mut command = Command::new("python3");
        command.args([&script, &port.to_string(), variant]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Self { child: command.spawn().unwrap(), port };
        running.wait();
        running
    }

    fn wait(&mut self) {
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until && self.child.try_wait().unwrap().is_none(), "the toy did not come up");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A report without what two runs may differ in.
pub fn timeless(text: &str) -> String {
    let mut text = text.to_owned();
    for pattern in [r#""(startedAt|startTimeUtc)": "[^"]*""#, r#""durationMs": \d+"#, r#"(time|timestamp)="[^"]*""#] {
        text = regex_lite::Regex::new(pattern).unwrap().replace_all(&text, "-").into_owned();
    }
    text
}

/// One clear message: an `error:` line with every word, at most one `hint:` with its words, and nothing else but `more`.
#[track_caller]
pub fn one_message(what: &str, stderr: &str, error: &[&str], hint: &[&str], more: fn(&str) -> bool) {
    let mut lines = stderr.lines();
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with("error: "), "{what}: {stderr}");
    let all_in = |line: &str, words: &[&str]| words.iter().all(|word| line.contains(word));
    assert!(all_in(first, error), "{what}: no {error:?} in {first}");
    let rest: Vec<&str> = lines.collect();
    let hints: Vec<&&str> = rest.iter().filter(|line| line.starts_with("hint: ")).collect();
    assert!(hints.len() <= 1 && all_in(hints.first().map_or("", |line| line), hint), "{what}: {hint:?} in {stderr}");
    let noise: Vec<_> = rest.iter().filter(|line| !line.starts_with("hint: ") && !more(line)).collect();
    assert!(noise.is_empty(), "{what}: noise beside the message: {noise:?}");
}
