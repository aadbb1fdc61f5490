//! Files that users name: what is no regular file is not waited for, and what is written stands there whole or not at all.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Opens a file to read it. A directory, a pipe or a device is refused before anybody waits for it; `/dev/null` is the
/// usual word for an empty file.
///
/// # Errors
/// It is no regular file, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("/dev/null") {
        return File::open(path);
    }
    regular(&fs::metadata(path)?)?;
    // Should a pipe have come there meanwhile, opening it does not wait either.
    let file = OpenOptions::new().read(true).custom_flags(flags(OFlags::NONBLOCK)).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// What it is that is no regular file.
pub fn irregular(found: &Metadata) -> Option<&'static str> {
    match () {
        () if found.is_file() => None,
        () if found.is_dir() => Some("a directory"),
        () => Some("a pipe or a device"),
    }
}

fn regular(found: &Metadata) -> io::Result<()> {
    irregular(found).map_or(Ok(()), |kind| Err(io::Error::other(format!("it is {kind} and not a regular file"))))
}

/// Writes a file, the directories above it included, beside its place and moves it there: nobody reads half of it, and it is
/// not written through a link that somebody has put there meanwhile (see [`resolved`]). A device or a pipe that is named is
/// written to; a pipe that nobody reads is refused.
///
/// # Errors
/// The system refused.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, &|file| file.write_all(bytes))
}

/// The same for what is too large to be held in one piece. `fill` may be called twice, each time with an empty file.
///
/// # Errors
/// As [`write`], or what `fill` says.
pub fn write_with(path: &Path, fill: &Fill<'_>) -> io::Result<()> {
    if is_special(path) {
        return through(path, fill);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    match beside(path, parent, fill) {
        // A file that may be written in a directory that may not, or that is mounted there by itself.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy) => {
            let there =
                OpenOptions::new().write(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path);
            let mut file = there.map_err(|_| error)?;
            regular(&file.metadata()?)?;
            file.set_len(0)?;
            fill(&mut file)
        }
        settled => settled,
    }
}

/// Writes the content of a file.
pub type Fill<'f> = dyn Fn(&mut File) -> io::Result<()> + 'f;

/// Whether a file can be written there; leaves none behind that was not there, but the directories above it.
///
/// # Errors
/// It cannot be.
pub fn writable(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path).ok();
    // Its reader would take our look at it for the whole.
    if found.as_ref().is_some_and(|found| found.file_type().is_fifo()) {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    OpenOptions::new().append(true).create(true).open(path)?;
    if found.is_none() { fs::remove_file(path) } else { Ok(()) }
}

/// Where a path leads that is a link now. To be asked before a server is started, which may put another one there.
pub fn resolved(path: &Path) -> PathBuf {
    let is_link = !is_special(path) && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    is_link.then(|| fs::canonicalize(path).ok()).flatten().unwrap_or_else(|| path.to_owned())
}

/// Whether it is written to and not replaced: a pipe, a device, or what the system keeps for open files (`/dev/stdout`).
fn is_special(path: &Path) -> bool {
    let other = |found: Metadata| !found.is_file() && !found.is_dir() && !found.is_symlink();
    ["/dev", "/proc"].iter().any(|root| path.starts_with(root)) || fs::symlink_metadata(path).is_ok_and(other)
}

fn through(path: &Path, fill: &Fill<'_>) -> io::Result<()> {
    let open =
        OpenOptions::new().write(true).create(true).truncate(true).custom_flags(flags(OFlags::NONBLOCK)).open(path);
    let mut file = match open {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(io::Error::other("it is a pipe that nobody reads"));
        }
        opened => opened?,
    };
    // Only opening it must not wait.
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    fill(&mut file)
}

fn beside(path: &Path, parent: &Path, fill: &Fill<'_>) -> io::Result<()> {
    // As any new file: what the umask leaves of it.
    let there = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    let mode = there.map_or_else(|| Permissions::from_mode(0o666), |found| found.permissions());
    // Its own name is nothing that anybody should read in a message.
    let made = tempfile::Builder::new().prefix(".sealmark-").permissions(mode).tempfile_in(parent);
    let mut file = made.map_err(|error| io::Error::from(error.kind()))?;
    fill(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error).map(drop)
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::{io::Read, os::unix::fs::symlink, thread};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        symlink(at("file"), at("link")).unwrap();
        pipe(&at("pipe"));
        assert!(open(&at("file")).is_ok() && open(&at("link")).is_ok());
        for (name, words) in [("pipe", "a pipe or a device"), (".", "a directory"), ("missing", "No such file")] {
            assert!(open(&at(name)).unwrap_err().to_string().contains(words), "{name}");
        }
        assert!(open(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn what_somebody_put_there_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("victim"), "untouched").unwrap();
        symlink(at("victim"), at("report")).unwrap();
        write(&at("report"), b"new").unwrap();
        assert_eq!(fs::read_to_string(at("report")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "untouched");
        assert!(!fs::symlink_metadata(at("report")).unwrap().is_symlink());
        pipe(&at("pipe"));
        assert!(write(&at("pipe"), b"new").unwrap_err().to_string().contains("nobody reads"));
        fs::create_dir(at("dir")).unwrap();
        assert!(write(&at("dir"), b"new").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "nothing is left beside them");
    }

    #[test]
    fn a_link_that_was_there_before_leads_on() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "old").unwrap();
        fs::set_permissions(at("real"), Permissions::from_mode(0o600)).unwrap();
        symlink(at("real"), at("link")).unwrap();
        write(&resolved(&at("link")), b"new").unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("real")).unwrap(), "new");
        assert_eq!(fs::metadata(at("real")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(resolved(Path::new("/dev/stdout")), Path::new("/dev/stdout"));
        assert_eq!(resolved(&at("missing")), at("missing"));
    }

    #[test]
    fn a_pipe_with_a_reader_and_a_device_are_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        pipe(&path);
        writable(&path).unwrap();
        let reading = {
            let path = path.clone();
            thread::spawn(move || {
                let mut text = Vec::new();
                File::open(path).unwrap().read_to_end(&mut text).unwrap();
                text.len()
            })
        };
        let much = vec![b'x'; 1 << 20];
        while write(&path, &much).is_err() {
            thread::yield_now();
        }
        assert_eq!(reading.join().unwrap(), much.len());
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(write(Path::new("/dev/full"), b"x").is_err());
    }

    #[test]
    fn looking_whether_it_can_be_written_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        writable(&dir.path().join("a/b")).unwrap();
        assert_eq!(fs::read_dir(dir.path().join("a")).unwrap().count(), 0);
        assert!(writable(dir.path()).is_err());
    }
}
