//! Server processes in a process group of their own.

use std::{ffi::OsString, io, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group, setpriority_process};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The system's reason.
    #[error("`{program}` could not be started: {source}")]
    Start {
        /// The program as written.
        program: String,
        /// The reason.
        source: io::Error,
    },
}

impl TargetError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its complete environment.
    pub env: Vec<(OsString, OsString)>,
    /// Whether it yields to others.
    pub low_priority: bool,
    /// A value in its environment that marks what is ours.
    pub marker: String,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// A running process.
#[derive(Debug)]
pub struct Child {
    /// Its standard input.
    pub stdin: Option<ChildStdin>,
    /// Its standard output.
    pub stdout: Option<ChildStdout>,
    /// Its standard error.
    pub stderr: Option<ChildStderr>,
    inner: tokio::process::Child,
    pid: u32,
}

impl Child {
    /// Starts it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn spawn(spawn: &Spawn) -> Result<Child, TargetError> {
        let mut command = Command::new(&spawn.program);
        command.args(&spawn.args).current_dir(&spawn.cwd).env_clear().envs(spawn.env.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
        let mut inner = command
            .spawn()
            .map_err(|source| TargetError::Start { program: spawn.program.to_string_lossy().into_owned(), source })?;
        let pid = inner.id().unwrap_or(0);
        if spawn.low_priority {
            let _ = setpriority_process(Pid::from_raw(pid as i32), 10);
        }
        Ok(Self { stdin: inner.stdin.take(), stdout: inner.stdout.take(), stderr: inner.stderr.take(), inner, pid })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for its end; cancel-safe.
    pub async fn wait(&mut self) -> Exit {
        self.inner.wait().await.map_or(Exit { code: None, signal: None }, exit)
    }

    /// Its end, when it has ended.
    pub fn try_exit(&mut self) -> Option<Exit> {
        self.inner.try_wait().ok().flatten().map(exit)
    }

    /// Ends it: stdin closed, then SIGTERM, then SIGKILL.
    pub async fn end(mut self, patience: Duration) -> (Exit, Option<&'static str>) {
        self.stdin = None;
        if let Ok(exit) = tokio::time::timeout(patience, self.wait()).await {
            return (exit, None);
        }
        self.signal(Signal::TERM);
        if let Ok(exit) = tokio::time::timeout(patience, self.wait()).await {
            return (exit, Some("SIGTERM"));
        }
        self.signal(Signal::KILL);
        (self.wait().await, Some("SIGKILL"))
    }

    /// Ends the group at once.
    pub fn kill_now(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid as i32) {
            let _ = kill_process_group(pid, signal);
        }
    }
}

fn exit(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    Exit { code: status.code(), signal: status.signal() }
}
