//! Who may import whom: reads `crate::` paths in `src/` and fails on an upward, unknown or circular one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Room → rooms it may import, lowest first: `docs/architecture.md` as data. A room may import only rooms above its line.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("files", &[]),
    ("text", &["model"]),
    ("check", &["model"]),
    ("classify", &["model"]),
    ("packs", &["model", "text", "check", "classify"]),
    ("config", &["model", "files", "text", "check", "packs"]),
    ("targets", &["model", "config"]),
    ("session", &["model", "targets"]),
    ("probes", &["model", "classify", "targets", "session"]),
    ("judge", &["model", "text", "check", "classify", "packs"]),
    ("grade", &["model", "judge"]),
    ("plan", &["model", "check", "classify", "packs", "config", "probes"]),
    ("run", &["model", "text", "check", "classify", "packs", "config", "targets", "session", "probes", "plan"]),
    ("report", &["model", "text", "check", "classify", "packs", "config", "judge", "grade"]),
    ("compare", &["model", "files", "text", "classify", "config", "report"]),
    ("gate", &["model", "text", "config", "report", "compare"]),
    ("ci", &["model", "files", "text", "config", "report", "compare", "gate"]),
    ("cli", &[]),
    ("demo", &["model"]),
    (
        "app",
        &[
            "model", "files", "text", "check", "classify", "packs", "config", "targets", "session", "probes", "grade",
            "judge", "plan", "run", "report", "compare", "gate", "ci", "cli", "demo",
        ],
    ),
];

const FORBIDDEN: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];
const HARD_CAP: usize = 500;

fn sources() -> Vec<(PathBuf, String)> {
    let src = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut dirs) = (Vec::new(), vec![src.clone()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(&src).unwrap().to_owned();
                if !is_test(&path) {
                    found.push((path, text));
                }
            }
        }
    }
    found.sort();
    found
}

/// Whether a file holds unit tests alone.
fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == "tests" || stem.ends_with("_tests") || path.components().any(|part| part.as_os_str() == "tests")
}

/// The code without its unit tests and comments: tests may look anywhere.
fn code(source: &str) -> String {
    let body = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    body.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The first segments of every `crate::` path, groups included.
fn imports(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => rooms.extend(first_segments(group)),
            None => rooms.extend(word(rest)),
        }
    }
    rooms
}

fn first_segments(group: &str) -> Vec<String> {
    let (mut depth, mut expects, mut found) = (0, true, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expects = true,
            c if expects && (c.is_alphabetic() || c == '_') => {
                found.extend(word(&group[at..]));
                expects = false;
            }
            _ => {}
        }
    }
    found
}

fn word(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn room(path: &Path) -> Option<String> {
    let first = path.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

#[test]
fn rooms_import_only_downward() {
    let table: BTreeMap<_, _> = ROOMS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, source) in sources() {
        let Some(from) = room(&path) else { continue };
        let Some(allowed) = table.get(from.as_str()) else {
            wrong.push(format!("{}: the room {from} is not in the table", path.display()));
            continue;
        };
        for to in imports(&code(&source)).into_iter().filter(|to| *to != from) {
            if table.contains_key(to.as_str()) && !allowed.contains(&to.as_str()) {
                wrong.push(format!("{} imports {to}, which {from} may not", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_table_itself_has_no_circle() {
    let mut below = BTreeSet::new();
    for (room, allowed) in ROOMS {
        for other in *allowed {
            assert!(below.contains(other), "{room} may import {other}, which stands below it in the table");
        }
        assert!(below.insert(*room), "{room} stands twice in the table");
    }
}

#[test]
fn every_file_opens_with_a_sentence_and_stays_short() {
    let mut wrong = Vec::new();
    for (path, source) in sources() {
        let name = path.display();
        if !source.starts_with("//! ") {
            wrong.push(format!("{name} does not open with a //! sentence"));
        }
        let lines = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines().count();
        if lines > HARD_CAP {
            wrong.push(format!("{name} has {lines} lines without its tests"));
        }
        if path.iter().any(|part| FORBIDDEN.contains(&part.to_string_lossy().trim_end_matches(".rs"))) {
            wrong.push(format!("{name} is named after nothing"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_read_in_every_spelling() {
    let text = "use crate::{\n    check::{Check, View},\n    model::{self, Act},\n};\nfn f() { crate::text::excerpt(x) }\n// crate::app";
    let found: Vec<_> = imports(&code(text)).into_iter().collect();
    assert_eq!(found, ["check", "model", "text"]);
}
