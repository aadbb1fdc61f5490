//! What is in directories at one moment, by content, so that what a server wrote can be told.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::Read,
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

/// Entries kept in one snapshot.
const MAX_FILES: usize = 20_000;
/// Bytes hashed for one snapshot; files beyond are compared by size alone.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The content of some directories. Links are noted and never followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Placeholder and path below it → what is there.
    entries: BTreeMap<(String, PathBuf), Entry>,
    /// More entries than are kept.
    cut: bool,
    /// More bytes than are hashed.
    unhashed: bool,
}

/// One difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path, placeholder first (`{sandbox}/notes/a.txt`).
    pub path: String,
    /// `created`, `changed` or `removed`.
    pub change: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Directory,
    File {
        size: u64,
        /// None when it could not be read or the bound was reached.
        sha256: Option<[u8; 32]>,
    },
    Link(OsString),
    /// A pipe, a socket or a device: its kind.
    Special(&'static str),
    /// Something whose kind the system would not tell.
    Unknown,
}

impl Snapshot {
    /// Looks at each directory, in the order of names, and names its entries by its placeholder. The directories
    /// themselves are not entries.
    pub fn take(dirs: &[(&Path, &str)]) -> Self {
        let mut snapshot = Self::default();
        let mut budget = MAX_BYTES;
        for (dir, placeholder) in dirs {
            snapshot.walk(dir, placeholder, MAX_FILES, &mut budget);
        }
        snapshot
    }

    /// The bounds that were reached, in words: the comparison sees less than everything.
    pub fn bounds(&self) -> Vec<(&'static str, u64)> {
        let files = self.cut.then_some(("files in a snapshot", MAX_FILES as u64));
        let bytes = self.unhashed.then_some(("bytes hashed in a snapshot", MAX_BYTES));
        files.into_iter().chain(bytes).collect()
    }

    /// What differs from `before`, sorted by path. Where a snapshot was cut, absence from it proves nothing and is not
    /// reported.
    pub fn changes_since(&self, before: &Self) -> Vec<Change> {
        let name = |(placeholder, path): &(String, PathBuf)| format!("{placeholder}/{}", path.to_string_lossy());
        let mut changes = Vec::new();
        for (key, entry) in &self.entries {
            match before.entries.get(key) {
                None if !before.cut => changes.push(Change { path: name(key), change: "created" }),
                Some(earlier) if earlier.differs(entry) => changes.push(Change { path: name(key), change: "changed" }),
                _ => {}
            }
        }
        if !self.cut {
            let gone = before.entries.keys().filter(|key| !self.entries.contains_key(key));
            changes.extend(gone.map(|key| Change { path: name(key), change: "removed" }));
        }
        changes.sort();
        changes
    }

    fn walk(&mut self, dir: &Path, placeholder: &str, max_files: usize, budget: &mut u64) {
        let mut waiting = vec![PathBuf::new()];
        while let Some(below) = waiting.pop() {
            // An unreadable directory has no visible content; the entry itself is kept.
            let Ok(found) = fs::read_dir(dir.join(&below)) else { continue };
            let mut names: Vec<OsString> = Vec::new();
            for entry in found.flatten() {
                if self.entries.len() + names.len() >= max_files {
                    self.cut = true;
                    break;
                }
                names.push(entry.file_name());
            }
            names.sort();
            let mut directories = Vec::new();
            for name in names {
                let path = below.join(name);
                let entry = self.look(&dir.join(&path), budget);
                if entry == Entry::Directory {
                    directories.push(path.clone());
                }
                self.entries.insert((placeholder.to_owned(), path), entry);
            }
            waiting.extend(directories.into_iter().rev());
        }
    }

    fn look(&mut self, path: &Path, budget: &mut u64) -> Entry {
        let Ok(found) = fs::symlink_metadata(path) else { return Entry::Unknown };
        let kind = found.file_type();
        if kind.is_dir() {
            Entry::Directory
        } else if kind.is_symlink() {
            fs::read_link(path).map_or(Entry::Unknown, |target| Entry::Link(target.into_os_string()))
        } else if kind.is_fifo() {
            Entry::Special("pipe")
        } else if kind.is_socket() {
            Entry::Special("socket")
        } else if !kind.is_file() {
            Entry::Special("device")
        } else if found.len() > *budget {
            self.unhashed = true;
            Entry::File { size: found.len(), sha256: None }
        } else {
            Entry::File { size: found.len(), sha256: hash(path, budget) }
        }
    }
}

impl Entry {
    fn differs(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { size: a, sha256: Some(x) }, Self::File { size: b, sha256: Some(y) }) => a != b || x != y,
            (Self::File { size: a, .. }, Self::File { size: b, .. }) => a != b,
            (Self::Unknown, _) | (_, Self::Unknown) => false,
            _ => self != other,
        }
    }
}

/// The SHA-256 of a file, unless it cannot be read or outgrows the budget meanwhile.
fn hash(path: &Path, budget: &mut u64) -> Option<[u8; 32]> {
    // A pipe or a link may have been put there since: neither may block or lead out.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(i32::try_from(flags).ok()?).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut hasher = Sha256::new();
    let mut limited = file.take(budget.saturating_add(1));
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = limited.read(&mut buffer).ok()?;
        if read == 0 {
            return Some(hasher.finalize().into());
        }
        *budget = budget.checked_sub(read as u64)?;
        hasher.update(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    fn changes(before: &Snapshot, dir: &Path) -> Vec<(String, &'static str)> {
        let after = Snapshot::take(&[(dir, "{sandbox}")]);
        after.changes_since(before).into_iter().map(|change| (change.path, change.change)).collect()
    }

    #[test]
    fn nothing_done_is_no_change() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "1").unwrap();
        let before = Snapshot::take(&[(dir.path(), "{sandbox}")]);
        fs::write(dir.path().join("a"), "1").unwrap();
        assert_eq!(changes(&before, dir.path()), []);
        assert!(before.bounds().is_empty());
    }

    #[test]
    fn what_was_created_changed_and_removed_is_told_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        for (name, text) in [("same-size", "1"), ("sub/gone", "1"), ("becomes-link", "1")] {
            fs::write(at(name), text).unwrap();
        }
        symlink("one", at("link")).unwrap();
        let before = Snapshot::take(&[(dir.path(), "{sandbox}")]);
        fs::write(at("same-size"), "2").unwrap();
        fs::remove_file(at("sub/gone")).unwrap();
        fs::write(at("sub/new"), "").unwrap();
        for name in ["link", "becomes-link"] {
            fs::remove_file(at(name)).unwrap();
            symlink("two", at(name)).unwrap();
        }
        let expected = [
            ("{sandbox}/becomes-link", "changed"),
            ("{sandbox}/link", "changed"),
            ("{sandbox}/same-size", "changed"),
            ("{sandbox}/sub/gone", "removed"),
            ("{sandbox}/sub/new", "created"),
        ];
        assert_eq!(changes(&before, dir.path()), expected.map(|(path, change)| (path.to_owned(), change)));
    }

    #[test]
    fn a_link_out_is_noted_and_not_entered_and_a_pipe_does_not_block() {
        let outside = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        assert!(Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success());
        let before = Snapshot::take(&[(dir.path(), "{sandbox}")]);
        fs::write(outside.path().join("secret"), "x").unwrap();
        assert_eq!(changes(&before, dir.path()), []);
        assert_eq!(before.entries.len(), 2);
    }

    #[test]
    fn several_directories_keep_their_placeholders() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dirs: &[(&Path, &str)] = &[(one.path(), "{sandbox}"), (two.path(), "{canary}")];
        let before = Snapshot::take(dirs);
        fs::write(two.path().join("f"), "x").unwrap();
        let changes = Snapshot::take(dirs).changes_since(&before);
        assert_eq!(changes, [Change { path: "{canary}/f".to_owned(), change: "created" }]);
    }

    #[test]
    fn past_the_bound_of_files_absence_is_no_evidence() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let mut cut = Snapshot::default();
        cut.walk(dir.path(), "{sandbox}", 2, &mut { u64::MAX });
        assert_eq!(cut.bounds(), [("files in a snapshot", MAX_FILES as u64)]);
        let whole = Snapshot::take(&[(dir.path(), "{sandbox}")]);
        assert_eq!(whole.changes_since(&cut), []);
        assert_eq!(cut.changes_since(&whole), []);
    }

    #[test]
    fn past_the_bound_of_bytes_the_size_still_tells() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "12345").unwrap();
        let mut before = Snapshot::default();
        before.walk(dir.path(), "{sandbox}", MAX_FILES, &mut 4);
        assert_eq!(before.bounds(), [("bytes hashed in a snapshot", MAX_BYTES)]);
        assert_eq!(changes(&before, dir.path()), []);
        fs::write(dir.path().join("a"), "123456").unwrap();
        assert_eq!(changes(&before, dir.path()), [("{sandbox}/a".to_owned(), "changed")]);
    }
}
