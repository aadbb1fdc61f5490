//! The source files of a checkout: in a fixed order, within bounds, without what nobody edits.

use std::{fs, io::Read as _, path::Path};

/// Entries of directories that are looked at.
const MAX_ENTRIES: usize = 200_000;
/// Files that are read.
const MAX_FILES: usize = 20_000;
/// Bytes that are read.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of one file; what is larger was not written by hand.
const MAX_FILE: u64 = 1 << 20;
/// Directories below each other.
const MAX_DEPTH: usize = 24;
/// Bytes of a line; a file with a longer one is minified.
const MAX_LINE: usize = 4_000;

/// Directories that hold what others wrote or what is built.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "vendor",
    "venv",
    "env",
    "bin",
    "obj",
    "site-packages",
    "__pycache__",
    "bower_components",
    "coverage",
    "pods",
    "third_party",
    "generated",
    "deps",
    "_build",
];
/// Parts of a path where tools are registered for tests, and how much that takes from a score.
const TESTS: (&[&str], i32) = (
    &["test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures", "mocks", "__mocks__", "testing"],
    30,
);
/// The same for what is only shown.
const SHOWN: (&[&str], i32) =
    (&["example", "examples", "sample", "samples", "docs", "doc", "demo", "demos", "bench", "benches"], 20);

/// How a language registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Script,
    Python,
    Rust,
    CSharp,
    Jvm,
    Php,
    /// Calls without parentheses.
    Ruby,
    /// Go, Swift, Dart and others whose registrations are calls and literals alone.
    Other,
}

/// A file to look at.
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    pub language: Language,
    pub text: String,
    /// What its place takes from a score.
    pub doubt: i32,
}

struct Walk<'a> {
    entries: usize,
    files: usize,
    bytes: u64,
    visit: &'a mut dyn FnMut(&File),
}

/// Visits the files, those of a directory before its directories, each in the order of names.
pub(super) fn walk(root: &Path, visit: &mut dyn FnMut(&File)) {
    Walk { entries: 0, files: 0, bytes: 0, visit }.directory(root, "", 0);
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, prefix: &str, depth: usize) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                break;
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            // The type of the entry itself: a link is neither.
            match entry.file_type() {
                Ok(kind) if kind.is_file() => files.extend(language(&name).map(|language| (name, language))),
                Ok(kind) if kind.is_dir() && !skipped(&name) => directories.push(name),
                _ => {}
            }
        }
        files.sort_by(|left, right| left.0.cmp(&right.0));
        directories.sort();
        for (name, language) in files {
            if self.files >= MAX_FILES || self.bytes >= MAX_BYTES {
                return;
            }
            self.file(&directory.join(&name), format!("{prefix}{name}"), language);
        }
        if depth < MAX_DEPTH {
            for name in directories {
                self.directory(&directory.join(&name), &format!("{prefix}{name}/"), depth + 1);
            }
        }
    }

    fn file(&mut self, file: &Path, path: String, language: Language) {
        self.files += 1;
        if fs::symlink_metadata(file).map_or(true, |meta| !meta.is_file() || meta.len() > MAX_FILE) {
            return;
        }
        let mut bytes = Vec::new();
        let Ok(handle) = fs::File::open(file) else { return };
        if handle.take(MAX_FILE + 1).read_to_end(&mut bytes).is_err() {
            return;
        }
        self.bytes += bytes.len() as u64;
        if !by_hand(&bytes) {
            return;
        }
        if let Ok(text) = String::from_utf8(bytes) {
            let doubt = doubt(&path);
            (self.visit)(&File { path, language, text, doubt });
        }
    }
}

fn skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name.to_ascii_lowercase().as_str())
}

fn language(name: &str) -> Option<Language> {
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".d.ts")
        || lower.contains(".min.")
        || lower.contains(".bundle.")
        || lower.contains(".generated.")
    {
        return None;
    }
    Some(match lower.rsplit_once('.')?.1 {
        "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Language::Script,
        "py" => Language::Python,
        "rs" => Language::Rust,
        "cs" => Language::CSharp,
        "java" | "kt" | "kts" | "scala" | "groovy" => Language::Jvm,
        "php" => Language::Php,
        "rb" | "ex" | "exs" => Language::Ruby,
        "go" | "swift" | "dart" | "lua" | "cpp" | "cc" | "hpp" | "zig" | "clj" | "fs" => Language::Other,
        _ => return None,
    })
}

/// Neither binary nor minified nor written by a program that says so.
fn by_hand(bytes: &[u8]) -> bool {
    if bytes.len() as u64 > MAX_FILE || memchr::memchr(0, bytes).is_some() {
        return false;
    }
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        if end - start > MAX_LINE {
            return false;
        }
        start = end + 1;
    }
    let head = &bytes[..bytes.len().min(1_000)];
    !["@generated", "Code generated by", "DO NOT EDIT"]
        .iter()
        .any(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some())
}

fn doubt(path: &str) -> i32 {
    let lower = path.to_ascii_lowercase();
    let mut parts: Vec<&str> = lower.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let within = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    let tested = [".test.", ".spec.", "_test.", "_spec."].iter().any(|mark| name.contains(mark))
        || stem.starts_with("test_")
        || stem == "conftest";
    if tested || within(TESTS.0) {
        TESTS.1
    } else if within(SHOWN.0) {
        SHOWN.1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_examples_are_doubtful() {
        assert_eq!(doubt("src/server.ts"), 0);
        for path in ["tests/server.ts", "src/server.test.ts", "pkg/server_test.go", "src/test_server.py"] {
            assert_eq!(doubt(path), 30, "{path}");
        }
        assert_eq!(doubt("examples/a/server.ts"), 20);
        assert_eq!(doubt("src/testimony.py"), 0);
    }

    #[test]
    fn what_nobody_wrote_is_passed_over() {
        assert!(by_hand(b"server.tool('x')\n"));
        assert!(!by_hand(b"a\0b"));
        assert!(!by_hand("x".repeat(5_000).as_bytes()));
        assert!(!by_hand(b"// Code generated by protoc. DO NOT EDIT.\n"));
        assert_eq!(language("a.min.js"), None);
        assert_eq!(language("a.d.ts"), None);
        assert_eq!(language("package-lock.json"), None);
    }
}
