//! What can go wrong with the things the harness owns, each with its cause and the next step.

use std::{io, path::PathBuf};

/// A sandbox could not be made or a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No file of that name on the search path.
    #[error("`{program}` was not found on PATH ({searched})")]
    NotFound {
        /// The program as written.
        program: String,
        /// The directories that were searched, joined by colons.
        searched: String,
    },
    /// The program is given as a path and there is no such file.
    #[error("`{program}` was not found: there is no file {path}")]
    NoSuchFile {
        /// The program as written.
        program: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file is there and may not be executed.
    #[error("`{program}` is not executable: {path} {why}")]
    NotExecutable {
        /// The program as written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What it is instead (`is a directory`, `has no execute permission`).
        why: &'static str,
    },
    /// A script whose first line names a program that does not exist.
    #[error("`{program}` cannot start: its first line asks for {interpreter}, which does not exist ({path})")]
    BadInterpreter {
        /// The program as written.
        program: String,
        /// The script.
        path: PathBuf,
        /// The interpreter it names.
        interpreter: String,
    },
    /// A binary whose loader does not exist.
    #[error("`{program}` cannot start: {path} was built for another system (its loader is missing)")]
    MissingLoader {
        /// The program as written.
        program: String,
        /// The binary.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{program}` may not be started: permission denied for {path}")]
    PermissionDenied {
        /// The program as written.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// The working directory does not exist.
    #[error("the working directory {cwd} {why}")]
    WorkingDirectory {
        /// The directory.
        cwd: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Any other failure to start a program.
    #[error("`{program}` could not be started")]
    Start {
        /// The program as written.
        program: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The sandbox could not be made.
    #[error("no sandbox could be created in {parent}: {why}")]
    Sandbox {
        /// The directory it was to be made in.
        parent: PathBuf,
        /// What is wrong, in words.
        why: String,
        /// Whether the user chose that directory.
        chosen: bool,
    },
    /// The run is being cleaned up; nothing new is started.
    #[error("the run is ending")]
    Ending,
}

impl TargetError {
    /// What the user can do about it, when there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { program, .. } => Some(format!(
                "install it, or write the path of `{program}`; a shell's aliases and functions are not seen, and a \
                 command line with `&&` or `VAR=value` needs `sh -c '...'`"
            )),
            Self::NoSuchFile { .. } => Some("check the path; a relative one is looked up from the working directory".to_owned()),
            Self::NotExecutable { path, why, .. } if why.contains("permission") => {
                Some(format!("run `chmod +x {}`, or start it through its interpreter", path.display()))
            }
            Self::NotExecutable { .. } => Some("name a program, or start the file through its interpreter".to_owned()),
            Self::BadInterpreter { interpreter, .. } => {
                Some(format!("install {interpreter}, or start the script through another interpreter"))
            }
            Self::MissingLoader { .. } => Some("install or build the program for this system".to_owned()),
            Self::PermissionDenied { .. } => {
                Some("check the permissions of the file and of the directories above it, and that its file system allows execution".to_owned())
            }
            Self::WorkingDirectory { .. } => Some("create it, or choose another".to_owned()),
            Self::Sandbox { chosen: true, .. } => {
                Some("create the directory and make it writable, or choose another with --sandbox-dir".to_owned())
            }
            Self::Sandbox { chosen: false, .. } => {
                Some("make the temporary directory writable, or choose another directory with --sandbox-dir".to_owned())
            }
            // EMFILE and ENFILE have no kind of their own.
            Self::Start { source, .. } if matches!(source.raw_os_error(), Some(23 | 24)) => {
                Some("raise the limit of open files (ulimit -n)".to_owned())
            }
            Self::Start { .. } | Self::Ending => None,
        }
    }
}
