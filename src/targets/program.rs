//! Finds the program of a command line, and says why one could not be started.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::Access;

use super::error::TargetError;

/// The file that `program` means: a name is looked up on `path`, a path is taken from `cwd`.
pub(super) fn resolve(program: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, TargetError> {
    let name = || program.to_string_lossy().into_owned();
    if program.as_bytes().contains(&b'/') {
        let file = cwd.join(program);
        return match obstacle(&file) {
            None => Ok(file),
            Some(Obstacle::Missing) => Err(TargetError::NoSuchFile { program: name(), path: file }),
            Some(Obstacle::Unusable(why)) => Err(TargetError::NotExecutable { program: name(), path: file, why }),
        };
    }
    let directories: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let mut unusable = None;
    for directory in directories.iter().filter(|directory| directory.is_absolute() && !program.is_empty()) {
        let file = directory.join(program);
        match obstacle(&file) {
            None => return Ok(file),
            Some(Obstacle::Unusable("is a directory") | Obstacle::Missing) => {}
            Some(Obstacle::Unusable(why)) => {
                unusable.get_or_insert(TargetError::NotExecutable { program: name(), path: file, why });
            }
        }
    }
    Err(unusable.unwrap_or_else(|| {
        let searched: Vec<OsString> = directories.into_iter().map(PathBuf::into_os_string).collect();
        let searched = if searched.is_empty() { "empty".into() } else { searched.join(OsStr::new(":")) };
        TargetError::NotFound { program: name(), searched: searched.to_string_lossy().into_owned() }
    }))
}

enum Obstacle {
    Missing,
    Unusable(&'static str),
}

fn obstacle(file: &Path) -> Option<Obstacle> {
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Some(Obstacle::Unusable("lies in a directory without permission to enter"))
        }
        Err(_) => Some(Obstacle::Missing),
        Ok(found) if found.is_dir() => Some(Obstacle::Unusable("is a directory")),
        Ok(found) if !found.is_file() => Some(Obstacle::Unusable("is not a file")),
        Ok(_) => rustix::fs::access(file, Access::EXEC_OK)
            .is_err()
            .then_some(Obstacle::Unusable("has no execute permission")),
    }
}

/// Says why the system did not start `file`, which [`resolve`] found.
pub(super) fn explain(program: &OsStr, file: &Path, error: io::Error) -> TargetError {
    let program = program.to_string_lossy().into_owned();
    let path = file.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => match interpreter(file) {
            Some(interpreter) => TargetError::BadInterpreter { program, path, interpreter },
            None if file.exists() => TargetError::MissingLoader { program, path },
            None => TargetError::NoSuchFile { program, path },
        },
        io::ErrorKind::PermissionDenied => TargetError::PermissionDenied { program, path },
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            let why = "is neither a program of this system nor a script with a `#!` line";
            TargetError::NotExecutable { program, path, why }
        }
        _ => TargetError::Start { program, source: error },
    }
}

/// The program named by a script's `#!` line.
fn interpreter(file: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    // A carriage return is part of the name for the system; shown, it explains scripts saved with CRLF.
    line.trim_matches([' ', '\t']).split([' ', '\t']).next().map(|word| word.replace('\r', "\\r"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn script(dir: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let file = dir.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_name_is_found_on_the_given_path_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = script(dir.path(), "tool", "#!/bin/sh\n", 0o755);
        assert_eq!(resolve(OsStr::new("tool"), Path::new("/"), Some(dir.path().as_os_str())).unwrap(), file);
        let error = resolve(OsStr::new("tool"), Path::new("/"), Some(OsStr::new("/usr/bin:/bin"))).unwrap_err();
        assert_eq!(error.to_string(), "`tool` was not found on PATH (/usr/bin:/bin)");
        assert!(error.hint().unwrap().contains("sh -c"));
        assert!(resolve(OsStr::new("tool"), Path::new("/"), None).unwrap_err().to_string().contains("(empty)"));
    }

    #[test]
    fn an_unusable_file_does_not_hide_a_usable_one_further_on() {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["a", "b", "c"] {
            fs::create_dir(dir.path().join(sub)).unwrap();
        }
        script(&dir.path().join("a"), "tool", "x", 0o644);
        fs::create_dir(dir.path().join("b/tool")).unwrap();
        let path = std::env::join_paths(["a", "b", "c"].map(|sub| dir.path().join(sub))).unwrap();
        let error = resolve(OsStr::new("tool"), Path::new("/"), Some(&path)).unwrap_err();
        assert!(matches!(error, TargetError::NotExecutable { .. }), "{error}");
        assert!(error.hint().unwrap().contains("chmod +x"));
        let good = script(&dir.path().join("c"), "tool", "#!/bin/sh\n", 0o755);
        assert_eq!(resolve(OsStr::new("tool"), Path::new("/"), Some(&path)).unwrap(), good);
    }

    #[test]
    fn a_path_is_taken_from_the_working_directory_and_names_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let file = script(dir.path(), "server", "#!/bin/sh\n", 0o755);
        assert_eq!(
            resolve(OsStr::new("./server"), dir.path(), None).unwrap().canonicalize().unwrap(),
            file.canonicalize().unwrap()
        );
        let missing = resolve(OsStr::new("./absent"), dir.path(), None).unwrap_err();
        assert!(matches!(missing, TargetError::NoSuchFile { .. }), "{missing}");
        let directory = resolve(OsStr::new("/tmp"), dir.path(), None).unwrap_err();
        assert!(directory.to_string().contains("is a directory"), "{directory}");
    }

    #[test]
    fn a_missing_interpreter_is_named_with_its_carriage_return() {
        let dir = tempfile::tempdir().unwrap();
        let file = script(dir.path(), "tool", "#!/no/such/python3 -u\n", 0o755);
        let error = explain(OsStr::new("tool"), &file, io::ErrorKind::NotFound.into());
        assert!(error.to_string().contains("asks for /no/such/python3,"), "{error}");
        let file = script(dir.path(), "dos", "#!/bin/sh\r\n", 0o755);
        let error = explain(OsStr::new("dos"), &file, io::ErrorKind::NotFound.into());
        assert!(error.to_string().contains("/bin/sh\\r"), "{error}");
        let file = script(dir.path(), "elf", "\x7fELF", 0o755);
        let error = explain(OsStr::new("elf"), &file, io::ErrorKind::NotFound.into());
        assert!(matches!(error, TargetError::MissingLoader { .. }), "{error}");
    }
}
