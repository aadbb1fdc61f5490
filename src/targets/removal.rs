//! Removes a directory tree that a hostile program may have shaped: read-only, very deep, full of links.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{self, AtFlags, CWD, Dir, FileType, Mode, OFlags},
    io::Errno,
};

/// Levels that are descended into; what lies deeper is first moved to the top, so that depth costs neither stack nor descriptors.
const DEPTH: usize = 40;
/// The same where descriptors are scarce.
const SHALLOW: usize = 2;
/// Attempts when something is still written into the tree or an error may pass.
const ATTEMPTS: u32 = 5;

/// A directory of ours, known by its path and by itself: a server may move it away and put something else there.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    dir: PathBuf,
    /// None where it could not be opened: then the path has to do.
    handle: Option<Arc<OwnedFd>>,
}

impl Tree {
    /// The directory that is at that path now.
    pub(super) fn at(dir: PathBuf) -> Self {
        let handle = fs::openat(CWD, &dir, HANDLE, Mode::empty()).ok().map(Arc::new);
        Self { dir, handle }
    }

    /// Its path when it was made.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes what is at its path and, when it was moved, the directory itself, within `limit`; never follows a link.
    /// The error names the directory and the cause.
    pub(super) fn remove(&self, limit: Duration) -> Result<(), String> {
        let begun = Instant::now();
        let here = remove_tree(&self.dir, limit);
        let moved = self.elsewhere().map(|dir| remove_tree(&dir, limit.saturating_sub(begun.elapsed())));
        here.and(moved.unwrap_or(Ok(())))
    }

    /// Where the directory is now, when it is not gone and not where it was.
    #[cfg(target_os = "linux")]
    fn elsewhere(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd;

        let handle = self.handle.as_ref()?;
        let own = fs::fstat(handle).ok().filter(|own| own.st_nlink > 0)?;
        let dir = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()?;
        let found = fs::statat(CWD, &dir, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (dir != self.dir && (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)).then_some(dir)
    }

    /// Only Linux tells the path of an open directory.
    #[cfg(not(target_os = "linux"))]
    fn elsewhere(&self) -> Option<PathBuf> {
        None
    }
}

/// Trees are told apart by their paths.
impl Ord for Tree {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.dir.cmp(&other.dir)
    }
}

impl PartialOrd for Tree {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.dir == other.dir
    }
}

impl Eq for Tree {}

/// How a directory is held that is not read.
#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How a directory is held that is not read.
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes `dir` and all in it within `limit`, never following a link. What is already gone is fine; what has become no
/// directory is removed as what it is.
fn remove_tree(dir: &Path, limit: Duration) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    let mut attempt = 0;
    let mut levels = DEPTH;
    loop {
        attempt += 1;
        match remove_once(dir, levels, deadline) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::MFILE | Errno::NFILE) if levels > SHALLOW => levels = SHALLOW,
            Err(error) if attempt >= ATTEMPTS || Instant::now() >= deadline => {
                let why = if error == Errno::TIMEDOUT {
                    "it took too long".to_owned()
                } else {
                    io::Error::from(error).to_string()
                };
                return Err(format!("{} could not be removed: {why}", dir.display()));
            }
            Err(_) => thread::sleep(Duration::from_millis(20 * u64::from(attempt))),
        }
    }
}

fn remove_once(dir: &Path, levels: usize, deadline: Instant) -> Result<(), Errno> {
    let top = match open(CWD, dir) {
        Err(Errno::NOTDIR | Errno::LOOP) => return fs::unlinkat(CWD, dir, AtFlags::empty()),
        opened => opened?,
    };
    let mut moved = 0;
    empty(top.as_fd(), top.as_fd(), levels, &mut moved, deadline)?;
    drop(top);
    fs::unlinkat(CWD, dir, AtFlags::REMOVEDIR)
}

/// Removes everything in `dir`, the last of `levels` without descending, passing over it until a pass finds nothing (removal may hide entries from a running pass).
fn empty(
    dir: BorrowedFd<'_>,
    top: BorrowedFd<'_>,
    levels: usize,
    moved: &mut u64,
    deadline: Instant,
) -> Result<(), Errno> {
    loop {
        let mut found = false;
        for entry in Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if Instant::now() >= deadline {
                return Err(Errno::TIMEDOUT);
            }
            found = true;
            match remove_entry(dir, top, name, entry.file_type(), levels, moved, deadline) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        if !found {
            return Ok(());
        }
    }
}

fn remove_entry(
    dir: BorrowedFd<'_>,
    top: BorrowedFd<'_>,
    name: &CStr,
    kind: FileType,
    levels: usize,
    moved: &mut u64,
    deadline: Instant,
) -> Result<(), Errno> {
    let kind = match kind {
        FileType::Unknown => FileType::from_raw_mode(fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
        known => known,
    };
    if kind != FileType::Directory {
        return fs::unlinkat(dir, name, AtFlags::empty());
    }
    // Opening first also makes it writable, which moving it asks for.
    let below = open(dir, name)?;
    if levels <= 1 {
        *moved += 1;
        return match fs::renameat(dir, name, top, format!(".sealmark-deep-{moved}")) {
            // A name that the server took before us: it is emptied in its turn, the next number is free sooner or later.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
            done => done,
        };
    }
    empty(below.as_fd(), top, levels - 1, moved, deadline)?;
    drop(below);
    fs::unlinkat(dir, name, AtFlags::REMOVEDIR)
}

/// Opens a directory without following a link and makes it readable and writable for its owner.
fn open<P: rustix::path::Arg + Copy>(parent: impl AsFd, name: P) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = match fs::openat(parent.as_fd(), name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            unlock(parent.as_fd(), name)?;
            fs::openat(parent.as_fd(), name, flags, Mode::empty())?
        }
        opened => opened?,
    };
    if fs::fstat(&dir)?.st_mode & 0o700 != 0o700 {
        // Refused when another user owns it; then the removal below says so.
        let _ = fs::fchmod(&dir, Mode::RWXU);
    }
    Ok(dir)
}

/// Makes a directory that cannot be opened accessible to its owner. The handle keeps a link from being swapped in.
#[cfg(target_os = "linux")]
fn unlock<P: rustix::path::Arg>(parent: BorrowedFd<'_>, name: P) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = fs::openat(parent, name, flags, Mode::empty())?;
    fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)
}

/// Makes a directory that cannot be opened accessible to its owner.
#[cfg(not(target_os = "linux"))]
fn unlock<P: rustix::path::Arg>(parent: BorrowedFd<'_>, name: P) -> Result<(), Errno> {
    fs::chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        process::Command,
    };

    use super::*;
    use crate::targets::testing::{alone, nested_as_nobody};

    const LIMIT: Duration = Duration::from_secs(15);

    #[test]
    fn links_are_removed_and_what_they_point_at_stays_as_it_was() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o500)).unwrap();
        let dir = tempfile::tempdir().unwrap().keep();
        symlink(outside.path(), dir.join("link")).unwrap();
        symlink("/nowhere", dir.join("dangling")).unwrap();
        remove_tree(&dir, LIMIT).unwrap();
        assert!(!dir.exists());
        assert!(outside.path().join("kept").exists());
        assert_eq!(fs::metadata(outside.path()).unwrap().permissions().mode() & 0o777, 0o500);
    }

    #[test]
    fn a_tree_deeper_than_any_path_may_be_is_removed() {
        let dir = tempfile::tempdir().unwrap().keep();
        let made = Command::new("python3")
            .args(["-c", "import os\nfor _ in range(700):\n os.mkdir('deeper'); os.chdir('deeper')\nopen('f','w')"])
            .current_dir(&dir)
            .status()
            .unwrap();
        assert!(made.success());
        remove_tree(&dir, LIMIT).unwrap();
        assert!(!dir.exists());
    }

    #[test]
    fn few_levels_remove_any_tree_too() {
        let dir = tempfile::tempdir().unwrap().keep();
        fs::create_dir_all(dir.join("a/b/c/d/e/f")).unwrap();
        fs::write(dir.join("a/b/c/file"), "x").unwrap();
        let deadline = Instant::now() + LIMIT;
        remove_once(&dir, SHALLOW, deadline).unwrap();
        assert!(!dir.exists());
    }

    #[test]
    fn a_directory_that_was_moved_and_the_link_in_its_place_both_go() {
        let parent = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let (dir, moved) = (parent.path().join("sandbox"), parent.path().join("moved"));
        fs::create_dir(&dir).unwrap();
        let tree = Tree::at(dir.clone());
        fs::write(dir.join("f"), "x").unwrap();
        fs::rename(&dir, &moved).unwrap();
        symlink(outside.path(), &dir).unwrap();
        tree.remove(LIMIT).unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        assert!(outside.path().join("kept").exists());
        tree.remove(LIMIT).unwrap();
    }

    #[test]
    fn no_time_is_an_error_that_names_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "x").unwrap();
        let error = remove_tree(dir.path(), Duration::ZERO).unwrap_err();
        assert!(error.contains(&dir.path().display().to_string()) && error.contains("too long"), "{error}");
        assert!(dir.path().join("f").exists());
    }

    #[test]
    fn what_is_gone_already_is_no_error() {
        assert_eq!(remove_tree(Path::new("/tmp/sealmark-never-was-here"), LIMIT), Ok(()));
    }

    #[test]
    fn read_only_directories_are_made_writable_and_removed() {
        nested_as_nobody("targets::removal::tests::read_only_tree_of_an_ordinary_user");
    }

    /// Runs as an ordinary user, because permissions do not bind root.
    #[test]
    #[ignore = "run by read_only_directories_are_made_writable_and_removed"]
    fn read_only_tree_of_an_ordinary_user() {
        if !alone() {
            return;
        }
        let dir = tempfile::tempdir().unwrap().keep();
        fs::create_dir_all(dir.join("locked/inner/empty")).unwrap();
        fs::write(dir.join("locked/inner/f"), "x").unwrap();
        for (path, mode) in [("locked/inner/empty", 0o000), ("locked/inner", 0o500), ("locked", 0o000), ("", 0o500)] {
            fs::set_permissions(dir.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        assert!(fs::read_dir(dir.join("locked")).is_err(), "the test must bind its user");
        remove_tree(&dir, LIMIT).unwrap();
        assert!(!dir.exists());
    }
}
