//! Every check × every recording. The table beside a recording is its expected outcome: a false positive anywhere
//! shows in the diff. `UPDATE=1 cargo test --test matrix` rewrites the tables; read what changed before committing it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fmt::Write, fs, path::PathBuf};

use sealmark::{
    judge,
    model::{Surface, Trace, Verdict},
};

fn recordings() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}

fn trace(path: &PathBuf) -> Trace {
    serde_json::from_str(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One line per check: verdict, and the rules of the lines that are not clean.
fn table(trace: &Trace) -> String {
    let surface = Surface::read(trace);
    let mut table = String::new();
    for pack in judge::judge(trace, &surface) {
        for judged in pack.checks {
            let lines = judged.judgement.evidence.iter().filter(|line| line.verdict != Verdict::Pass);
            let rules: std::collections::BTreeSet<_> = lines.map(|line| line.rule).collect();
            let rules: Vec<_> = rules.into_iter().collect();
            let verdict = judged.judgement.verdict.as_str();
            writeln!(table, "{:<22} {verdict:<13} {}", judged.check.id, rules.join(" ")).unwrap();
        }
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn every_recording_gives_its_table() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut stale = Vec::new();
    for path in recordings() {
        let (expected, found) = (path.with_extension("verdicts"), table(&trace(&path)));
        if fs::read_to_string(&expected).unwrap_or_default() != found {
            if update {
                fs::write(&expected, found).unwrap();
            } else {
                stale.push(format!("{}:\n{found}", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    assert!(stale.is_empty(), "these recordings are judged differently now:\n{}", stale.join("\n"));
}

#[test]
fn judging_twice_gives_the_same() {
    for path in recordings() {
        let trace = trace(&path);
        let surface = Surface::read(&trace);
        let judged = || {
            judge::judge(&trace, &surface)
                .into_iter()
                .flat_map(|pack| pack.checks)
                .map(|check| check.judgement)
                .collect::<Vec<_>>()
        };
        assert_eq!(judged(), judged(), "{}", path.display());
    }
}

#[test]
fn every_check_has_a_recording_it_passes_and_one_it_does_not() {
    let mut seen = std::collections::BTreeMap::<&str, (bool, bool)>::new();
    for (_, check) in sealmark::packs::checks() {
        seen.entry(check.id).or_default();
    }
    for path in recordings() {
        let trace = trace(&path);
        let surface = Surface::read(&trace);
        for judged in judge::judge(&trace, &surface).into_iter().flat_map(|pack| pack.checks) {
            let entry = seen.entry(judged.check.id).or_default();
            entry.0 |= judged.judgement.verdict == Verdict::Pass;
            entry.1 |= matches!(judged.judgement.verdict, Verdict::Fail | Verdict::Part);
        }
    }
    let missing: Vec<_> = seen.iter().filter(|(_, (pass, fail))| !(*pass && *fail)).map(|(id, _)| *id).collect();
    assert!(missing.is_empty(), "no passing or no failing recording for {missing:?}");
}

/// What people read must not differ between two looks at the same recording, down to the byte.
#[test]
fn a_recording_gives_the_same_reports_every_time() {
    let reports = |path: &PathBuf, verbosity: &str| {
        let dir = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sealmark"))
            .arg("judge")
            .arg(path)
            .args(["--format", "text,markdown,summary,badge,shields", "--verbosity", verbosity, "--fail-under", "none"])
            .arg("--out-dir")
            .arg(dir.path())
            .env_clear()
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        let mut files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), 4, "{files:?}");
        // Several formats: the summary goes to standard output.
        let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        (String::from_utf8(output.stdout).unwrap(), texts)
    };
    for path in recordings() {
        for verbosity in ["normal", "verbose"] {
            let (first, second) = (reports(&path, verbosity), reports(&path, verbosity));
            assert!(!first.0.is_empty(), "{}", path.display());
            assert_eq!(first, second, "{}", path.display());
        }
    }
}

#[test]
fn recordings_are_small_and_name_no_place_of_the_machine_they_were_made_on() {
    let mut total = 0;
    for path in recordings() {
        let text = fs::read_to_string(&path).unwrap();
        total += text.len();
        assert!(text.len() <= 300_000, "{}: {} bytes", path.display(), text.len());
        // The sandbox of the run is gone, whatever it was called.
        let owned = trace(&path).header.placeholders;
        let rest = owned.iter().fold(text, |text, (value, _)| text.replace(value, ""));
        for place in ["/root", "/home/", "/Users/", "/work", env!("CARGO_MANIFEST_DIR")] {
            assert!(!rest.contains(place), "{} names {place}", path.display());
        }
    }
    assert!(total <= 3_000_000, "{total} bytes");
}
