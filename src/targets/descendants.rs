//! Finds and ends what servers leave running, daemons included. Only Linux can tell; elsewhere the process group has to do.

use std::{
    collections::BTreeSet,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use super::cleanup;

/// How long leftovers may take to end after SIGTERM.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
/// How long killing may go on when processes fork as fast as they are killed.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// Children this process had before it became a subreaper: a shell that started one and then became us with `exec`.
static PRESENT_BEFORE: OnceLock<BTreeSet<i32>> = OnceLock::new();

/// Makes orphaned descendants children of this process, so that a daemon can be found after it left its group.
/// Call it once, at the start. Does nothing where the system has no such thing.
pub fn become_subreaper() {
    PRESENT_BEFORE.get_or_init(|| {
        let me = getpid().as_raw_nonzero().get();
        processes().into_iter().filter(|process| process.parent == me).map(|process| process.pid).collect()
    });
    #[cfg(target_os = "linux")]
    {
        // Refused only by kernels that do not know it; then daemons escape, as they do elsewhere.
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
    }
}

/// Ends descendants of this process: those whose environment holds `marker`, with their own descendants, or all of
/// them with `None` (only for the end of the program: it takes every child, whoever started it). SIGTERM, half a
/// second, SIGKILL; bounded; blocks. What has ended is reaped, except processes that a [`super::Child`] waits for.
pub(super) fn sweep(marker: Option<&str>) {
    match marker {
        Some("") => {}
        Some(marker) => end(&Mine { marker: Some(marker), ..Default::default() }, PATIENCE),
        None => end(&Mine { everything: true, ..Default::default() }, PATIENCE),
    }
}

/// Which descendants are meant; those of a meant process are meant too.
#[derive(Debug, Default)]
pub(super) struct Mine<'a> {
    /// Members of this process group.
    pub(super) group: Option<u32>,
    /// Processes whose environment holds this text.
    pub(super) marker: Option<&'a str>,
    /// All of them.
    pub(super) everything: bool,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    /// Ended, waiting to be reaped.
    zombie: bool,
}

impl Mine<'_> {
    /// The meant ones among `all`, parents before their children.
    fn among(&self, me: i32, all: &[Process]) -> Vec<Process> {
        let before = PRESENT_BEFORE.get();
        let mut meant = Vec::new();
        let mut next: Vec<(Process, bool)> = children(me, all)
            .filter(|process| before.is_none_or(|before| !before.contains(&process.pid)))
            .map(|process| (process, false))
            .collect();
        while let Some((process, by_parent)) = next.pop() {
            let is_meant = by_parent || self.means(&process);
            if is_meant {
                meant.push(process);
            }
            next.extend(children(process.pid, all).map(|child| (child, is_meant)));
        }
        meant
    }

    fn means(&self, process: &Process) -> bool {
        self.everything
            || self.group.is_some_and(|group| i64::from(group) == i64::from(process.group))
            || self.marker.is_some_and(|marker| !marker.is_empty() && environment_holds(process.pid, marker.as_bytes()))
    }
}

fn children(parent: i32, all: &[Process]) -> impl Iterator<Item = Process> {
    all.iter().copied().filter(move |process| process.parent == parent && process.pid != parent)
}

/// Ends the meant processes: SIGTERM, up to `patience`, SIGKILL until none is left or a bound is hit.
pub(super) fn end(mine: &Mine<'_>, patience: Duration) {
    let me = getpid().as_raw_nonzero().get();
    let begun = Instant::now();
    let mut signalled = BTreeSet::new();
    let mut pause = Duration::from_millis(2);
    loop {
        let all = processes();
        let meant = mine.among(me, &all);
        reap(all.iter().filter(|process| {
            process.zombie
                && process.parent == me
                && (signalled.contains(&process.pid) || meant.iter().any(|other| other.pid == process.pid))
        }));
        let living: Vec<Process> = meant.into_iter().filter(|process| !process.zombie).collect();
        let elapsed = begun.elapsed();
        if living.is_empty() || elapsed >= patience + KILL_LIMIT {
            return;
        }
        for process in living {
            let Some(pid) = Pid::from_raw(process.pid) else { continue };
            let first = signalled.insert(process.pid);
            // Gone already is what is wanted.
            if elapsed >= patience {
                let _ = kill_process(pid, Signal::KILL);
            } else if first {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Collects the statuses of ended processes that were handed to us when their parents died.
fn reap<'a>(ended: impl Iterator<Item = &'a Process>) {
    for process in ended {
        // A leader's status belongs to the runtime that waits for it.
        if !cleanup::is_leader(process.pid.unsigned_abs())
            && let Some(pid) = Pid::from_raw(process.pid)
        {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// How many of the meant processes are alive.
#[cfg(test)]
pub(super) fn count(mine: &Mine<'_>) -> usize {
    let me = getpid().as_raw_nonzero().get();
    mine.among(me, &processes()).iter().filter(|process| !process.zombie).count()
}

/// Every process that can be seen.
#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Nothing: only Linux has `/proc`.
#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<Process> {
    Vec::new()
}

/// Reads `/proc/<pid>/stat`; the name in it is the process's own and may hold anything, parentheses too.
#[cfg(any(target_os = "linux", test))]
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { pid, parent, group, zombie: matches!(state, "Z" | "X" | "x") })
}

/// Whether the environment a process was started with holds `needle`. False when it may not be read.
fn environment_holds(pid: i32, needle: &[u8]) -> bool {
    std::fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.windows(needle.len()).any(|window| window == needle))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::process::CommandExt,
        path::Path,
        process::{Command, Stdio},
    };

    use super::*;
    use crate::targets::testing::{alone, nested};

    /// Starts a process that daemonises as daemons do (fork, setsid, fork, closed stdio) and writes its pid to `file`.
    const DAEMON: &str = "
import os, sys, time, signal
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for fd in range(3): os.close(fd)
if 'deaf' in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1] + '.new', 'w') as f: f.write(str(os.getpid()))
os.rename(sys.argv[1] + '.new', sys.argv[1])
if 'wiped' in sys.argv: os.execve('/bin/sleep', ['sleep', '600'], {})
time.sleep(600)
";

    fn daemon(file: &Path, marker: &str, more: &[&str]) -> i32 {
        let mut command = Command::new("python3");
        command.args(["-c", DAEMON]).arg(file).args(more).env("MARK", marker);
        let status = command.stdout(Stdio::null()).process_group(0).status().unwrap();
        assert!(status.success());
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(pid) = fs::read_to_string(file).ok().and_then(|text| text.parse().ok()) {
                return pid;
            }
            assert!(Instant::now() < deadline, "the daemon never started");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn exists(pid: i32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn a_daemonised_grandchild_is_found_by_its_marker_ended_and_reaped() {
        become_subreaper();
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().display().to_string();
        let mine = daemon(&dir.path().join("mine"), &marker, &[]);
        let deaf = daemon(&dir.path().join("deaf"), &marker, &["deaf"]);
        let other = daemon(&dir.path().join("other"), "somebody else's", &[]);
        assert_eq!(count(&Mine { marker: Some(&marker), ..Default::default() }), 2);
        sweep(Some(&marker));
        assert!(!exists(mine) && !exists(deaf), "not even a zombie is left");
        assert!(exists(other), "what is not marked is left alone");
        kill_process(Pid::from_raw(other).unwrap(), Signal::KILL).unwrap();
        waitpid(Pid::from_raw(other), WaitOptions::empty()).unwrap();
    }

    #[test]
    fn an_empty_marker_means_nothing() {
        let dir = tempfile::tempdir().unwrap();
        become_subreaper();
        let other = daemon(&dir.path().join("other"), "x", &[]);
        sweep(Some(""));
        assert_eq!(count(&Mine { marker: Some(""), ..Default::default() }), 0);
        assert!(exists(other));
        kill_process(Pid::from_raw(other).unwrap(), Signal::KILL).unwrap();
        // A sweep of a test beside this one may have reaped it.
        let _ = waitpid(Pid::from_raw(other), WaitOptions::empty());
    }

    #[test]
    fn a_sweep_of_everything_finds_a_daemon_without_environment_and_spares_earlier_children() {
        nested("targets::descendants::tests::sweep_of_everything_alone");
    }

    #[test]
    #[ignore = "run by a_sweep_of_everything_finds_a_daemon_without_environment_and_spares_earlier_children"]
    fn sweep_of_everything_alone() {
        if !alone() {
            return;
        }
        let mut earlier = Command::new("sleep").arg("600").spawn().unwrap();
        become_subreaper();
        let dir = tempfile::tempdir().unwrap();
        let wiped = daemon(&dir.path().join("wiped"), "gone", &["wiped"]);
        let begun = Instant::now();
        while fs::read(format!("/proc/{wiped}/environ")).unwrap() != b"" {
            assert!(begun.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(count(&Mine { marker: Some("gone"), ..Default::default() }), 0);
        sweep(None);
        assert!(!exists(wiped));
        assert!(earlier.try_wait().unwrap().is_none(), "a child from before is not ours to end");
        earlier.kill().unwrap();
        earlier.wait().unwrap();
    }

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse_the_reading() {
        let process = parse(7, b"7 (a) Z 1 (b) S 42 43 44 0 -1").unwrap();
        assert_eq!((process.parent, process.group, process.zombie), (42, 43, false));
        assert!(parse(7, b"7 (x) Z 1 7 7").unwrap().zombie);
        assert!(parse(7, b"nonsense").is_none());
    }

    #[test]
    fn the_children_of_a_meant_process_are_meant_and_strangers_are_not() {
        let process = |pid, parent, group| Process { pid, parent, group, zombie: false };
        let all =
            [process(10, 1, 10), process(20, 10, 20), process(21, 20, 99), process(22, 21, 99), process(30, 10, 30)];
        let meant = Mine { group: Some(20), ..Default::default() }.among(10, &all);
        assert_eq!(meant.iter().map(|process| process.pid).collect::<Vec<_>>(), [20, 21, 22]);
        assert!(Mine { group: Some(10), ..Default::default() }.among(10, &all).is_empty(), "never ourselves");
    }
}
