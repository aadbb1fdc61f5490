//! A server's process: started in a group of its own, ended with everything it started.

use std::{ffi::OsString, io, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group, setpriority_pgrp};
use tokio::{
    io::AsyncRead,
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::{
    cleanup,
    descendants::{self, Mine},
    error::TargetError,
    program,
};

/// How long a server may take to end after SIGTERM.
const TERM_LIMIT: Duration = Duration::from_secs(2);
/// How long the system may take to end a killed process before we stop waiting for its status.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// The variable that carries the marker when nothing else in the environment does.
const MARKER_VARIABLE: &str = "SEALMARK_RUN";
/// Niceness of a process that must not slow down the graded one.
const LOW_PRIORITY: i32 = 10;

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    /// A name, looked up on the `PATH` of `env`, or a path, taken from `cwd`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The complete environment; of a repeated name the last value counts.
    pub env: Vec<(OsString, OsString)>,
    /// Whether it runs at low priority.
    pub low_priority: bool,
    /// A text unique to this run, by which processes that left the group are recognised: any variable's value may hold
    /// it (the sandbox path does); when none does, a variable is added for it.
    pub marker: String,
}

/// How a process ended. Neither is known when the system did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// A running server. Dropping it kills its group and its marked descendants.
#[derive(Debug)]
pub struct Child {
    /// Its standard input; dropping it is end of file.
    pub stdin: Option<ChildStdin>,
    /// Its standard output.
    pub stdout: Option<ChildStdout>,
    /// Its standard error.
    pub stderr: Option<ChildStderr>,
    inner: tokio::process::Child,
    pid: u32,
    marker: String,
    exit: Option<Exit>,
    ended: bool,
}

impl Child {
    /// Starts it in a process group of its own, with pipes. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    /// The program or the working directory is missing or unusable, or the system refused.
    pub fn spawn(spawn: &Spawn) -> Result<Self, TargetError> {
        match std::fs::metadata(&spawn.cwd) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(TargetError::WorkingDirectory { cwd: spawn.cwd.clone(), why: "is not a directory" }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(TargetError::WorkingDirectory { cwd: spawn.cwd.clone(), why: "may not be entered" });
            }
            Err(_) => return Err(TargetError::WorkingDirectory { cwd: spawn.cwd.clone(), why: "does not exist" }),
        }
        let path = spawn.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let file = program::resolve(&spawn.program, &spawn.cwd, path)?;
        let mut command = Command::new(&file);
        command
            .args(&spawn.args)
            .env_clear()
            .envs(spawn.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&spawn.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let marked = |value: &OsString| value.to_string_lossy().contains(&spawn.marker);
        if !spawn.env.iter().any(|(_, value)| marked(value)) {
            command.env(MARKER_VARIABLE, &spawn.marker);
        }
        let started = cleanup::enrol(&spawn.marker, || {
            let child = command.spawn()?;
            let pid = child.id().ok_or_else(|| io::Error::other("the process has no id"))?;
            Ok((pid, (pid, child)))
        });
        let (pid, mut inner) = match started {
            None => return Err(TargetError::Ending),
            Some(Err(error)) => return Err(program::explain(&spawn.program, &file, error)),
            Some(Ok(started)) => started,
        };
        if spawn.low_priority {
            // A comfort for the other process; a system that refuses it loses only time.
            let _ = setpriority_pgrp(group(pid), LOW_PRIORITY);
        }
        Ok(Self {
            stdin: inner.stdin.take(),
            stdout: inner.stdout.take(),
            stderr: inner.stderr.take(),
            inner,
            pid,
            marker: spawn.marker.clone(),
            exit: None,
            ended: false,
        })
    }

    /// Its process id, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process itself has ended (what it started may go on). Cancel-safe; closes nothing.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = self.inner.wait().await.map_or(Exit::default(), Exit::of);
        *self.exit.insert(exit)
    }

    /// How it ended, when it has.
    pub fn try_exit(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            self.exit = self.inner.try_wait().ok().flatten().map(Exit::of);
        }
        self.exit
    }

    /// Ends it with everything it started: closes its stdin (a handle that was taken must be dropped before), waits for `patience`, then SIGTERM to the group, two
    /// seconds, SIGKILL; then what is left of the group, and daemons that carry the marker. Output nobody has taken is
    /// read and thrown away meanwhile, so that a full pipe does not keep it alive. Returns how the process ended and
    /// the signal that was needed, if one was.
    pub async fn end(mut self, patience: Duration) -> (Exit, Option<&'static str>) {
        self.stdin = None;
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let mut drained = std::pin::pin!(async { tokio::join!(drain(stdout), drain(stderr)) });
        let mut drained_already = false;
        let mut used = None;
        for (signal, limit) in [
            (None, patience),
            (Some((Signal::TERM, "SIGTERM")), TERM_LIMIT),
            (Some((Signal::KILL, "SIGKILL")), KILL_LIMIT),
        ] {
            if let Some((signal, word)) = signal {
                self.signal(signal);
                used = Some(word);
            }
            let ended = async {
                if drained_already {
                    return self.wait().await;
                }
                let wait = self.wait();
                let mut wait = std::pin::pin!(wait);
                tokio::select! {
                    exit = &mut wait => exit,
                    _ = &mut drained => {
                        drained_already = true;
                        wait.await
                    }
                }
            };
            if timeout(limit, ended).await.is_ok() {
                break;
            }
        }
        let exit = self.exit.unwrap_or_default();
        self.ended = true;
        let (pid, marker) = (self.pid, std::mem::take(&mut self.marker));
        let leftovers = tokio::task::spawn_blocking(move || {
            end_leftovers(pid, &marker, descendants::PATIENCE);
            cleanup::dismiss(pid);
        });
        // An error means that the runtime is shutting down, where the final sweep takes over.
        let _ = leftovers.await;
        (exit, used)
    }

    /// Kills the whole group at once; its status is still to be waited for.
    pub fn kill_now(&self) {
        self.signal(Signal::KILL);
    }

    /// Signals the group while its leader has not been collected: later the number may be somebody else's.
    fn signal(&self, signal: Signal) {
        if self.exit.is_none()
            && let Some(group) = group(self.pid)
        {
            // Gone already is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.ended {
            self.kill_now();
            end_leftovers(self.pid, &self.marker, Duration::ZERO);
            cleanup::dismiss(self.pid);
        }
    }
}

impl Exit {
    fn of(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;

        Self { code: status.code(), signal: status.signal() }
    }
}

/// Ends members of the group and marked processes that are still there.
#[cfg(target_os = "linux")]
fn end_leftovers(pid: u32, marker: &str, patience: Duration) {
    descendants::end(&Mine { group: Some(pid), marker: Some(marker), everything: false }, patience);
}

/// Ends members of the group that are still there.
#[cfg(not(target_os = "linux"))]
fn end_leftovers(pid: u32, marker: &str, patience: Duration) {
    descendants::end(&Mine { group: Some(pid), marker: Some(marker), everything: false }, patience);
    if let Some(group) = group(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn group(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Reads to the end and keeps nothing.
async fn drain(pipe: Option<impl AsyncRead + Unpin>) {
    if let Some(mut pipe) = pipe {
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Instant};

    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::targets::become_subreaper;

    fn spawn(dir: &Path, program: &str, args: &[&str]) -> Spawn {
        Spawn {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            cwd: dir.to_owned(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "b".into())],
            low_priority: false,
            marker: dir.display().to_string(),
        }
    }

    fn shell(dir: &Path, script: &str) -> Child {
        Child::spawn(&spawn(dir, "sh", &["-c", script])).unwrap()
    }

    async fn first_line(child: &mut Child) -> String {
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        timeout(Duration::from_secs(20), BufReader::new(stdout).read_line(&mut line)).await.unwrap().unwrap();
        line.trim().to_owned()
    }

    fn alive(pid: &str) -> bool {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[tokio::test]
    async fn a_server_that_obeys_end_of_file_needs_no_signal() {
        let dir = tempfile::tempdir().unwrap();
        let child = shell(dir.path(), "cat; exit 7");
        assert_eq!(child.end(Duration::from_secs(20)).await, (Exit { code: Some(7), signal: None }, None));
    }

    #[tokio::test]
    async fn a_server_that_ignores_end_of_file_gets_sigterm_with_its_whole_group() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "sleep 600 & echo $!; wait");
        let below = first_line(&mut child).await;
        assert!(alive(&below));
        let (exit, signal) = child.end(Duration::from_millis(50)).await;
        assert_eq!((exit.signal, signal), (Some(15), Some("SIGTERM")));
        assert!(!alive(&below));
    }

    #[tokio::test]
    async fn a_server_that_ignores_sigterm_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "trap '' TERM; echo ready; while :; do sleep 1; done");
        assert_eq!(first_line(&mut child).await, "ready");
        let begun = Instant::now();
        let (exit, signal) = child.end(Duration::from_millis(50)).await;
        assert_eq!((exit.signal, signal), (Some(9), Some("SIGKILL")));
        assert!(begun.elapsed() >= TERM_LIMIT, "it had its time");
    }

    #[tokio::test]
    async fn what_outlives_its_leader_in_the_group_is_ended() {
        become_subreaper();
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "env -i sleep 600 <&- >&- 2>&- & echo $!; exit 0");
        let below = first_line(&mut child).await;
        assert_eq!(child.wait().await, Exit { code: Some(0), signal: None });
        assert!(alive(&below), "the leader is gone, its child is not");
        assert_eq!(child.end(Duration::from_secs(5)).await, (Exit { code: Some(0), signal: None }, None));
        assert!(!alive(&below));
    }

    #[tokio::test]
    async fn a_daemon_is_ended_with_its_server() {
        become_subreaper();
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "setsid sh -c 'echo $$; exec sleep 600 <&- >&- 2>&-' & cat");
        let daemon = first_line(&mut child).await;
        assert!(alive(&daemon));
        child.end(Duration::from_secs(20)).await;
        assert!(!alive(&daemon));
    }

    #[tokio::test]
    async fn dropping_a_server_ends_it_and_its_daemons() {
        become_subreaper();
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "trap '' TERM; setsid sh -c 'echo $$; exec sleep 600' & sleep 600");
        let daemon = first_line(&mut child).await;
        let pid = child.pid().to_string();
        drop(child);
        assert!(!alive(&daemon) && !alive(&pid));
    }

    #[tokio::test]
    async fn output_nobody_reads_does_not_keep_a_server_alive() {
        let dir = tempfile::tempdir().unwrap();
        let child =
            shell(dir.path(), "cat >/dev/null; head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3");
        assert_eq!(child.end(Duration::from_secs(20)).await, (Exit { code: Some(3), signal: None }, None));
    }

    #[tokio::test]
    async fn waiting_can_be_given_up_and_taken_up_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = shell(dir.path(), "read line; exit 4");
        assert!(timeout(Duration::from_millis(20), child.wait()).await.is_err());
        assert_eq!(child.try_exit(), None);
        child.stdin.as_mut().unwrap().write_all(b"go\n").await.unwrap();
        assert_eq!(child.wait().await.code, Some(4));
        assert_eq!(child.try_exit(), Some(Exit { code: Some(4), signal: None }));
    }

    #[tokio::test]
    async fn the_environment_is_exactly_what_was_asked_for_and_the_marker() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Child::spawn(&spawn(dir.path(), "env", &[])).unwrap();
        let mut text = String::new();
        child.stdout.as_mut().unwrap().read_to_string(&mut text).await.unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["A=b", "PATH=/usr/bin:/bin", &format!("SEALMARK_RUN={}", dir.path().display())]);
        let mut marked = spawn(dir.path(), "env", &[]);
        marked.env.push(("HOME".into(), dir.path().join("home").into()));
        let mut child = Child::spawn(&marked).unwrap();
        text.clear();
        child.stdout.as_mut().unwrap().read_to_string(&mut text).await.unwrap();
        assert!(!text.contains("SEALMARK_RUN"), "the home already holds the marker");
    }

    #[tokio::test]
    async fn low_priority_is_seen_by_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let mut low = spawn(dir.path(), "sh", &["-c", "read line; nice"]);
        low.low_priority = true;
        let mut child = Child::spawn(&low).unwrap();
        child.stdin.as_mut().unwrap().write_all(b"\n").await.unwrap();
        assert_eq!(first_line(&mut child).await, LOW_PRIORITY.to_string());
    }

    #[tokio::test]
    async fn a_start_that_fails_names_the_program_and_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("tool");
        let fails = |program: &str| Child::spawn(&spawn(dir.path(), program, &[])).unwrap_err();
        assert!(matches!(fails("no-such-program-anywhere"), TargetError::NotFound { .. }));
        fs::write(&script, "#!/no/such/interpreter\n").unwrap();
        assert!(matches!(fails("./tool"), TargetError::NotExecutable { .. }));
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let error = fails("./tool");
        assert!(
            matches!(&error, TargetError::BadInterpreter { interpreter, .. } if interpreter == "/no/such/interpreter"),
            "{error}"
        );
        let error = Child::spawn(&spawn(&dir.path().join("absent"), "sh", &[])).unwrap_err();
        assert!(matches!(error, TargetError::WorkingDirectory { .. }), "{error}");
    }
}
