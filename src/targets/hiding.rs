//! Keeps a server from reading this process: its environment holds what the server's own was scrubbed of.

/// Makes this process's environment and memory unreadable for other processes of the same user (root reads all the
/// same). Call it once, at the start. Does nothing where the system has no such thing.
pub fn hide() {
    #[cfg(target_os = "linux")]
    {
        // A comfort that no verdict rests on: the sandbox is a convention either way.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::targets::testing::{alone, nested_as_nobody};

    #[test]
    fn a_child_of_the_same_user_cannot_read_our_environment() {
        nested_as_nobody("targets::hiding::tests::environment_of_an_ordinary_user");
    }

    #[test]
    #[ignore = "run by a_child_of_the_same_user_cannot_read_our_environment"]
    fn environment_of_an_ordinary_user() {
        if !alone() {
            return;
        }
        let read = || Command::new("sh").args(["-c", "cat /proc/$PPID/environ"]).output().unwrap().status.success();
        assert!(read(), "otherwise the test shows nothing");
        hide();
        assert!(!read());
    }
}
