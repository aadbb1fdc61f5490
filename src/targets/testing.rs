//! Runs a test of this binary in a process of its own, for what acts on a whole process or needs another user.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::Command,
};

/// Set in the process of a nested test.
const ALONE: &str = "SEALMARK_TEST_ALONE";

/// Whether this process was started by [`nested`]; a nested test does nothing elsewhere (`--include-ignored`).
pub(super) fn alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs the ignored test `name` alone in a new process.
pub(super) fn nested(name: &str) {
    run(Command::new(std::env::current_exe().unwrap()), name);
}

/// Runs the ignored test `name` alone in a new process, as an ordinary user when this one is root.
pub(super) fn nested_as_nobody(name: &str) {
    if !rustix::process::geteuid().is_root() {
        return nested(name);
    }
    // The build directory may lie where only root can go.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = dir.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut command = Command::new(copy);
    command.uid(65534).gid(65534).env("TMPDIR", "/tmp").current_dir("/");
    run(command, name);
}

fn run(mut command: Command, name: &str) {
    let output = command.args(["--exact", name, "--ignored", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{name}: {:?}\n{stdout}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}
