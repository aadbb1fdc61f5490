//! What lies in a sandbox when a server starts in it.

use std::{fs, io, path::Path};

/// The files of the root: one to read, and the skeleton of a repository that `git` accepts. Some servers do not start in a
/// root that is none, and no program of the user's is run to make one.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# Sandbox\n\nThis directory belongs to a sealmark run.\n"),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"),
];

/// The repository's empty directories.
const DIRECTORIES: &[&str] = &[".git/objects/info", ".git/objects/pack", ".git/refs/heads", ".git/refs/tags"];

/// Lays the fixture into a fresh root.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn lay(root: &Path) -> io::Result<()> {
    for directory in DIRECTORIES {
        fs::create_dir_all(root.join(directory))?;
    }
    for (name, content) in FILES {
        fs::write(root.join(name), content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    fn git_takes_the_root_for_an_empty_repository() {
        let root = tempfile::tempdir().unwrap();
        super::lay(root.path()).unwrap();
        let git = |words: &[&str]| Command::new("git").current_dir(root.path()).args(words).output().unwrap();
        let status = git(&["-c", "safe.directory=*", "status", "--porcelain"]);
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        assert_eq!(String::from_utf8_lossy(&status.stdout), "?? README.md\n");
    }
}
