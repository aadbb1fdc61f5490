//! Toy servers, one per behaviour: each run must end in time with the expected verdicts and leave nothing behind.
//!
//! `TOY=poison cargo test --test toys` runs the rows whose name contains that word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsString,
    fs,
    io::Read,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::Value;

/// Rows run side by side; most of their time is waiting.
const WORKERS: usize = 4;
/// Peak resident memory of a run against a server that sends too much, in KiB.
const HEAVY_KIB: u64 = 300 * 1024;

/// One row of `tests/toys/expected.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The file's stem.
    toy: String,
    /// What it is told on its command line.
    #[serde(default)]
    args: Vec<String>,
    /// Started at a port of its own and reached over HTTP; the port is its first argument.
    #[serde(default)]
    url: bool,
    /// Flags of `run`.
    #[serde(default)]
    flags: Vec<String>,
    /// The exit code, or the codes that are right.
    exit: Value,
    /// Check → verdict, or the verdicts that are right. Checks that are not named may say anything.
    #[serde(default)]
    verdicts: BTreeMap<String, Value>,
    /// A regular expression that the text report or stderr must match: the reason.
    says: Option<String>,
    /// How long the run may take on a machine that does nothing else.
    seconds: u64,
    /// Whether memory is bounded.
    #[serde(default)]
    heavy: bool,
}

impl Row {
    fn name(&self) -> String {
        std::iter::once(&self.toy).chain(&self.args).cloned().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn every_toy_gets_its_verdicts_in_time_and_leaves_nothing_behind() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("tests/toys/expected.json")).unwrap();
    let only = std::env::var("TOY").unwrap_or_default();
    let rows: Vec<Row> = serde_json::from_str(&table).unwrap();
    let queue: Mutex<VecDeque<_>> =
        Mutex::new(rows.into_iter().filter(|row| row.name().contains(&only)).enumerate().collect());
    let wrong = Mutex::new(Vec::new());
    let total = queue.lock().unwrap().len();
    assert!(total > 0, "no row is called {only}");
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((at, row)) = { queue.lock().unwrap().pop_front() } {
                    let complaints = run(&root, at, &row);
                    wrong
                        .lock()
                        .unwrap()
                        .extend(complaints.into_iter().map(|complaint| format!("{}: {complaint}", row.name())));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} complaints about {total} toys:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_toy_file_is_in_the_table() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/toys");
    let rows: Vec<Row> = serde_json::from_str(&fs::read_to_string(dir.join("expected.json")).unwrap()).unwrap();
    for path in fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
    {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(stem == "toy" || rows.iter().any(|row| row.toy == stem), "{stem}.py is in no row of expected.json");
    }
    for row in &rows {
        assert!(dir.join(format!("{}.py", row.toy)).is_file(), "{}.py does not exist", row.toy);
    }
}

/// The build for tests, or the one that `TOYS_BINARY` names.
fn binary() -> OsString {
    std::env::var_os("TOYS_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_sealmark").into())
}

/// Runs one row and says what is wrong with the outcome.
fn run(root: &Path, at: usize, row: &Row) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let (temp, out) = (dir.path().join("tmp"), dir.path().join("out"));
    fs::create_dir(&temp).unwrap();
    // A word on the toy's command line is the one mark that survives a wiped environment.
    let marker = format!("sealmark-toy-{}-{at}-", std::process::id());
    let mut words = vec!["python3".to_owned(), root.join(format!("tests/toys/{}.py", row.toy)).display().to_string()];
    let mut flags = row.flags.clone();
    if row.url {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        words.push(port.to_string());
        flags.extend(["--url".to_owned(), format!("http://127.0.0.1:{port}/mcp")]);
    }
    words.extend(row.args.iter().cloned());
    words.push(marker.clone());
    let child = Command::new(binary())
        .args([
            "run",
            "--start",
            &shell_words::join(&words),
            "--format",
            "json,text,markdown,summary,junit,sarif",
            "--out-dir",
        ])
        .arg(&out)
        .args(&flags)
        .current_dir(dir.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir.path())
        .env("TMPDIR", &temp)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ended = watch(child, Duration::from_secs(row.seconds));
    let mut wrong = Vec::new();
    if ended.late {
        wrong.push(format!("not over after {} s", row.seconds));
    }
    if row.heavy && ended.peak_kib > HEAVY_KIB {
        wrong.push(format!("used {} MiB", ended.peak_kib / 1024));
    }
    if !ended.late && !allowed(&row.exit, &Value::from(ended.code)) {
        wrong.push(format!("exit {:?}, expected {}; {}", ended.code, row.exit, tail(&ended.stderr)));
    }
    wrong.extend(verdicts(&out, row));
    let text = fs::read_to_string(out.join("sealmark-report.txt")).unwrap_or_default();
    if let Some(pattern) = &row.says {
        let pattern = regex_lite::RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
        if !pattern.is_match(&ended.stderr) && !pattern.is_match(&text) {
            wrong.push(format!("nothing says /{pattern}/; {}", tail(&ended.stderr)));
        }
    }
    let human = ["sealmark-report.txt", "sealmark-report.md", "sealmark-report.summary.txt"];
    let files = human.iter().filter_map(|name| Some(((*name).to_owned(), fs::read_to_string(out.join(name)).ok()?)));
    for (name, text) in files.chain([("stdout".to_owned(), ended.stdout), ("stderr".to_owned(), ended.stderr)]) {
        wrong.extend(unsafe_text(&text).into_iter().map(|what| format!("{name} holds {what}")));
    }
    let left: Vec<_> = processes(&marker);
    if !left.is_empty() {
        wrong.push(format!("left processes behind: {left:?}"));
        end(&left);
    }
    let files: Vec<_> = fs::read_dir(&temp).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    if !files.is_empty() {
        wrong.push(format!("left {files:?} in the directory for temporary files"));
    }
    wrong
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    peak_kib: u64,
    late: bool,
}

/// Waits for the end, reading both outputs and the peak of its memory meanwhile.
fn watch(mut child: Child, bound: Duration) -> Ended {
    let (stdout, stderr) = (drain(child.stdout.take().unwrap()), drain(child.stderr.take().unwrap()));
    let (start, status) = (Instant::now(), format!("/proc/{}/status", child.id()));
    let (mut peak_kib, mut late) = (0, false);
    let code = loop {
        // The kernel keeps the peak itself, so the last reading before the end counts.
        peak_kib = peak_kib.max(high_water(&status));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if start.elapsed() > bound {
            late = true;
            child.kill().unwrap();
            break child.wait().unwrap().code();
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ended { code, stdout: rest(&stdout), stderr: rest(&stderr), peak_kib, late }
}

/// Reads a pipe to its end beside the run.
fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut chunk = vec![0; 65536];
        while let Ok(read) = pipe.read(&mut chunk) {
            if read == 0 || sender.send(chunk[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// What the pipe held. A process that was left behind may hold it open for ever, so the wait is bounded.
fn rest(pipe: &Receiver<Vec<u8>>) -> String {
    let mut bytes = Vec::new();
    while let Ok(chunk) = pipe.recv_timeout(Duration::from_secs(2)) {
        bytes.extend(chunk);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn high_water(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn allowed(expected: &Value, found: &Value) -> bool {
    expected == found || expected.as_array().is_some_and(|any| any.contains(found))
}

fn verdicts(out: &Path, row: &Row) -> Vec<String> {
    let path = out.join("sealmark-report.json");
    let report: Value = match fs::read(&path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()))
    {
        Ok(report) => report,
        Err(error) => return vec![format!("no JSON report: {error}")],
    };
    let checks: Vec<&Value> = report["packs"]
        .as_object()
        .into_iter()
        .flat_map(|packs| packs.values())
        .filter_map(|pack| pack["checks"].as_array())
        .flatten()
        .collect();
    let mut wrong = Vec::new();
    for (id, expected) in &row.verdicts {
        let check = checks.iter().find(|check| check["id"] == id.as_str());
        let found = check.map_or(Value::from("absent"), |check| check["verdict"].clone());
        if !allowed(expected, &found) {
            let summary = check.map(|check| check["summary"].to_string()).unwrap_or_default();
            wrong.push(format!("{id}: expected {expected}, got {found} {summary}"));
        }
    }
    let failed = report["status"] == "failed";
    if failed != (row.exit == 4) && row.exit.is_number() {
        wrong.push(format!("status is {}", report["status"]));
    }
    wrong
}

/// What a terminal, a CI log or a model could take for an order.
fn unsafe_text(text: &str) -> Vec<String> {
    let raw = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(u32::from(c), 0x200B | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x2069 | 0xFEFF | 0xE0000..=0xE007F)
    };
    let mut found: Vec<_> =
        text.chars().find(|c| raw(*c)).map(|c| format!("a raw U+{:04X}", u32::from(c))).into_iter().collect();
    found.extend(
        text.lines().find(|line| line.trim_start().starts_with("::")).map(|line| format!("a workflow command: {line}")),
    );
    let markers = ["##[", "##vso[", "section_start:", "section_end:"];
    found.extend(markers.iter().filter(|marker| text.contains(**marker)).map(|marker| format!("the marker {marker}")));
    found
}

/// Processes whose command line holds the marker; a process that is ending gets a moment to go.
fn processes(marker: &str) -> Vec<u32> {
    let mut left = Vec::new();
    for _ in 0..20 {
        left = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains(marker)
            })
            .collect();
        if left.is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(25));
    }
    left
}

fn end(pids: &[u32]) {
    let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
    let _ = Command::new("kill").arg("-KILL").args(&pids).status();
}

fn tail(stderr: &str) -> String {
    let lines: Vec<_> = stderr.trim().lines().rev().take(3).collect();
    format!("stderr ends: {}", lines.into_iter().rev().collect::<Vec<_>>().join(" / "))
}
