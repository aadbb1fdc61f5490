//! What is alive right now, for the paths on which nobody unwinds: signals and panics.

use std::{
    collections::{BTreeMap, BTreeSet},
    io, panic,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{descendants, removal::Tree, sandbox::REMOVAL_LIMIT};

/// How long servers may take to end by themselves after SIGTERM when the run is cut short.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long to wait for the registry: a panic may strike while this very thread holds it.
const LOCK_LIMIT: Duration = Duration::from_secs(1);

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { leaders: BTreeMap::new(), sandboxes: BTreeSet::new(), gone: BTreeSet::new(), ending: false });

struct Registry {
    /// Leaders of live process groups, with their markers.
    leaders: BTreeMap<u32, String>,
    /// Sandboxes to remove.
    sandboxes: BTreeSet<Tree>,
    /// Sandboxes whose removal is over, for [`finish`] to look at again.
    gone: BTreeSet<PathBuf>,
    /// Set by [`emergency`]: nothing new may be started.
    ending: bool,
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a sandbox; false when the run is ending.
pub(super) fn enrol_sandbox(tree: &Tree) -> bool {
    let mut registry = registry();
    !registry.ending && registry.sandboxes.insert(tree.clone())
}

/// Whether that sandbox is still to be removed.
pub(super) fn has_sandbox(tree: &Tree) -> bool {
    registry().sandboxes.contains(tree)
}

/// Forgets a sandbox that is to stay.
pub(super) fn dismiss_sandbox(tree: &Tree) {
    registry().sandboxes.remove(tree);
}

/// Notes that the removal of a sandbox is over, well or badly.
pub(super) fn removed_sandbox(tree: &Tree) {
    let mut registry = registry();
    registry.sandboxes.remove(tree);
    registry.gone.insert(tree.dir().to_owned());
}

/// The end of a run that nothing cut short: ends every process that is left, then removes the sandboxes that one of
/// them kept from being removed or made anew. Returns those that are still there. Blocks.
pub fn finish() -> Vec<PathBuf> {
    descendants::sweep(None);
    let gone = std::mem::take(&mut registry().gone);
    let there = gone.into_iter().filter(|dir| dir.symlink_metadata().is_ok());
    there.filter(|dir| Tree::at(dir.clone()).remove(REMOVAL_LIMIT).is_err()).collect()
}

/// Starts a process and notes it in one step, so that nobody takes the new child for an adopted one in between.
/// `None` when the run is ending.
pub(super) fn enrol<T>(marker: &str, start: impl FnOnce() -> io::Result<(u32, T)>) -> Option<io::Result<T>> {
    let mut registry = registry();
    if registry.ending {
        return None;
    }
    Some(start().map(|(pid, child)| {
        registry.leaders.insert(pid, marker.to_owned());
        child
    }))
}

/// Forgets a process whose group has ended.
pub(super) fn dismiss(pid: u32) {
    registry().leaders.remove(&pid);
}

/// Whether somebody holds that process as a [`super::Child`] and will collect its status.
pub(super) fn is_leader(pid: u32) -> bool {
    registry().leaders.contains_key(&pid)
}

/// Ends every server and daemon of this process and removes every sandbox that is not kept, within `limit`.
/// Returns the sandboxes that could not be removed. Nothing can be started afterwards. Works from any thread;
/// blocks.
pub fn emergency(limit: Duration) -> Vec<PathBuf> {
    let deadline = Instant::now() + limit;
    let (leaders, sandboxes) = match patient_lock(deadline.min(Instant::now() + LOCK_LIMIT)) {
        Some(mut registry) => {
            registry.ending = true;
            (registry.leaders.clone(), std::mem::take(&mut registry.sandboxes))
        }
        None => return Vec::new(),
    };
    let patience = PATIENCE.min(limit / 8);
    let groups: Vec<Pid> = leaders.keys().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?)).collect();
    let signal = |signal| {
        for group in &groups {
            // Gone already is what is wanted.
            let _ = kill_process_group(*group, signal);
        }
    };
    signal(Signal::TERM);
    descendants::end(&descendants::Mine { everything: true, ..Default::default() }, patience);
    signal(Signal::KILL);
    let left = sandboxes.iter().filter(|tree| tree.remove(deadline.saturating_duration_since(Instant::now())).is_err());
    left.map(|tree| tree.dir().to_owned()).collect()
}

fn patient_lock(deadline: Instant) -> Option<MutexGuard<'static, Registry>> {
    loop {
        match REGISTRY.try_lock() {
            Ok(registry) => return Some(registry),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Makes a panic that ends the program clean up first. A panic inside a spawned tokio task is caught by the runtime
/// and leaves the rest of the run alone; what the task held is dropped by unwinding.
pub fn install_panic_cleanup() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        report(info);
        if tokio::task::try_id().is_none() {
            emergency(REMOVAL_LIMIT);
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, os::unix::fs::PermissionsExt};

    use super::*;
    use crate::{
        config::settings::SandboxSettings,
        targets::{
            Child, Sandbox, Spawn, TargetError, become_subreaper,
            testing::{alone, nested},
        },
    };

    fn sandbox() -> Sandbox {
        Sandbox::create(&SandboxSettings { enabled: true, dir: None, keep: false }).unwrap()
    }

    /// A shell that ignores SIGTERM, and a daemon of its own without any environment.
    fn stubborn(sandbox: &Sandbox) -> Spawn {
        let script = "trap '' TERM; env -i setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & \
                      while :; do sleep 1; done";
        Spawn {
            program: "sh".into(),
            args: ["-c", script].map(OsString::from).to_vec(),
            cwd: sandbox.work().to_owned(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            low_priority: false,
            marker: sandbox.dir().display().to_string(),
        }
    }

    #[test]
    fn an_emergency_ends_everything_and_leaves_nothing() {
        nested("targets::cleanup::tests::emergency_alone");
    }

    #[test]
    #[ignore = "run by an_emergency_ends_everything_and_leaves_nothing"]
    fn emergency_alone() {
        if !alone() {
            return;
        }
        become_subreaper();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        let (one, two) = (sandbox(), sandbox());
        std::fs::write(one.work().join("f"), "x").unwrap();
        std::fs::set_permissions(one.work(), std::fs::Permissions::from_mode(0o500)).unwrap();
        let kept = Sandbox::create(&SandboxSettings { enabled: true, dir: None, keep: true }).unwrap();
        let child = Child::spawn(&stubborn(&one)).unwrap();
        while descendants::count(&descendants::Mine { everything: true, ..Default::default() }) < 3 {
            thread::sleep(Duration::from_millis(10));
        }
        let begun = Instant::now();
        let elsewhere = thread::spawn(|| emergency(Duration::from_secs(15)));
        assert_eq!(elsewhere.join().unwrap(), Vec::<PathBuf>::new());
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        assert!(!one.dir().exists() && !two.dir().exists());
        assert!(kept.dir().exists(), "a kept sandbox survives");
        assert_eq!(descendants::count(&descendants::Mine { everything: true, ..Default::default() }), 0);
        assert!(matches!(Child::spawn(&stubborn(&kept)), Err(TargetError::Ending)));
        drop(child);
        Tree::at(kept.dir().to_owned()).remove(REMOVAL_LIMIT).unwrap();
    }

    #[test]
    fn a_panic_that_ends_the_program_cleans_up_and_one_in_a_task_does_not() {
        nested("targets::cleanup::tests::panics_alone");
    }

    #[test]
    #[ignore = "run by a_panic_that_ends_the_program_cleans_up_and_one_in_a_task_does_not"]
    fn panics_alone() {
        if !alone() {
            return;
        }
        install_panic_cleanup();
        let sandbox = sandbox();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(async { tokio::spawn(async { panic!("in a task") }).await }).is_err());
        assert!(runtime.block_on(async { tokio::task::spawn_blocking(|| panic!("blocking")).await }).is_err());
        assert!(sandbox.dir().exists());
        assert!(panic::catch_unwind(|| panic!("on the way out")).is_err());
        assert!(!sandbox.dir().exists());
    }
}
