//! The directory tree a server runs in: owned by the run, private, and gone afterwards.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    cleanup,
    environment::{self, Environment},
    error::TargetError,
    fixture,
    removal::Tree,
};
use crate::config::settings::SandboxSettings;

/// How long removing a sandbox may take.
pub const REMOVAL_LIMIT: Duration = Duration::from_secs(15);

/// An owned directory tree, mode 0700 throughout. It is removed when it is dropped, on signals and on a panic, unless
/// it was made with `keep` or [`Sandbox::keep`] was called. All paths are canonical.
#[derive(Debug)]
pub struct Sandbox {
    dir: PathBuf,
    tree: Tree,
    work: PathBuf,
    home: PathBuf,
    temp: PathBuf,
    canary: PathBuf,
    /// The directory as spelled by the parent that was asked for, when that differs from the canonical path.
    spelled: Option<PathBuf>,
    /// Whether dropping removes it.
    removes: bool,
}

impl Sandbox {
    /// Why no sandbox can be made in the directory that was asked for, as far as that is known without making one.
    pub fn unusable(settings: &SandboxSettings) -> Option<TargetError> {
        let parent = settings.dir.clone().filter(|_| settings.enabled)?;
        let why = match fs::metadata(&parent) {
            Ok(found) if found.is_dir() => return None,
            Ok(_) => "it is not a directory".to_owned(),
            Err(error) => reason(&error),
        };
        Some(TargetError::Sandbox { parent, why, chosen: true })
    }

    /// Makes `sealmark-XXXXXX` under the chosen directory, else under the system's temporary directory.
    ///
    /// # Errors
    /// The parent is missing, no directory, or not writable; or the run is ending.
    pub fn create(settings: &SandboxSettings) -> Result<Self, TargetError> {
        let chosen = settings.dir.is_some();
        let parent = settings.dir.clone().unwrap_or_else(std::env::temp_dir);
        let refuse = |why: String| TargetError::Sandbox { parent: parent.clone(), why, chosen };
        let real = fs::canonicalize(&parent).map_err(|error| refuse(reason(&error)))?;
        if !real.is_dir() {
            return Err(refuse("it is not a directory".to_owned()));
        }
        let dir = tempfile::Builder::new()
            .prefix("sealmark-")
            .rand_bytes(6)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&real)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => refuse("no directory can be made in it".to_owned()),
                _ => refuse(reason(&error)),
            })?
            .keep();
        let spelled = dir.file_name().map(|name| parent.join(name)).filter(|path| *path != dir && path.is_absolute());
        let [work, home, temp, canary] = ["work", "home", "temp", "canary"].map(|name| dir.join(name));
        // From here on dropping the value removes what was made.
        let tree = Tree::at(dir.clone());
        let sandbox = Self { dir, tree, work, home, temp, canary, spelled, removes: !settings.keep };
        if sandbox.removes && !cleanup::enrol_sandbox(&sandbox.tree) {
            return Err(TargetError::Ending);
        }
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o700).recursive(true);
        let made = [sandbox.work(), sandbox.home(), sandbox.temp(), sandbox.canary()].map(Path::to_owned).into_iter();
        let in_home = [".config", ".cache", ".local/share", ".local/state", "AppData/Roaming", "AppData/Local"];
        for path in made.chain(in_home.map(|below| sandbox.home.join(below))) {
            builder.create(&path).map_err(|error| refuse(reason(&error)))?;
        }
        fixture::lay(sandbox.work()).map_err(|error| refuse(reason(&error)))?;
        Ok(sandbox)
    }

    /// The whole tree (`{sandbox_dir}`).
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The server's root and working directory (`{sandbox}`, alias `{dir}`).
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The server's home (`{sandbox_home}`).
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The server's directory for temporary files.
    pub fn temp(&self) -> &Path {
        &self.temp
    }

    /// Beside the root: files that a server must not reach (`{canary}`).
    pub fn canary(&self) -> &Path {
        &self.canary
    }

    /// The server's environment, made from the user's. Copies harmless package-registry settings into the home.
    pub fn environment(&self, outer: &BTreeMap<OsString, OsString>) -> Environment {
        environment::scrub(self, outer)
    }

    /// What a report rewrites: real path → placeholder, longest first; the last entry is the bare directory name.
    pub fn placeholders(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for base in [Some(&self.dir), self.spelled.as_ref()].into_iter().flatten() {
            for (below, placeholder) in [("work", "{sandbox}"), ("home", "{sandbox_home}"), ("canary", "{canary}")] {
                pairs.push((base.join(below).to_string_lossy().into_owned(), placeholder.to_owned()));
            }
            pairs.push((base.to_string_lossy().into_owned(), "{sandbox_dir}".to_owned()));
        }
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pairs.push((name, "{sandbox_dir}".to_owned()));
        pairs.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        pairs
    }

    /// Removes it within [`REMOVAL_LIMIT`], even where the server made directories read-only. End its processes first.
    ///
    /// # Errors
    /// What could not be removed and why, in words; the path is left behind.
    pub fn remove(mut self) -> Result<(), String> {
        // The outcome is reported here; dropping must not spend the limit again.
        self.removes = false;
        let removed = self.tree.remove(REMOVAL_LIMIT);
        cleanup::removed_sandbox(&self.tree);
        removed
    }

    /// Leaves it behind and says where it is.
    pub fn keep(mut self) -> PathBuf {
        self.removes = false;
        cleanup::dismiss_sandbox(&self.tree);
        self.dir.clone()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What an emergency has taken over is reported there, and must not cost the limit once more.
        if self.removes && cleanup::has_sandbox(&self.tree) {
            // Nobody is left to tell; `cleanup::finish` has another look.
            let _ = self.tree.remove(REMOVAL_LIMIT);
            cleanup::removed_sandbox(&self.tree);
        }
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "it is not writable".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a directory".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::targets::testing::{alone, nested_as_nobody};

    fn settings(dir: Option<&Path>, keep: bool) -> SandboxSettings {
        SandboxSettings { enabled: true, dir: dir.map(Path::to_owned), keep }
    }

    #[test]
    fn every_directory_is_private_real_and_apart() {
        let sandbox = Sandbox::create(&settings(None, false)).unwrap();
        for path in [sandbox.dir(), sandbox.work(), sandbox.home(), sandbox.temp(), sandbox.canary()] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700, "{path:?}");
            assert_eq!(fs::canonicalize(path).unwrap(), path);
        }
        let name = sandbox.dir().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("sealmark-") && name.len() == "sealmark-XXXXXX".len(), "{name}");
        assert!(!sandbox.canary().starts_with(sandbox.work()));
    }

    #[test]
    fn it_goes_when_dropped_or_removed_and_stays_when_kept() {
        let parent = tempfile::tempdir().unwrap();
        let dropped = Sandbox::create(&settings(Some(parent.path()), false)).unwrap().dir().to_owned();
        assert!(!dropped.exists());
        let sandbox = Sandbox::create(&settings(Some(parent.path()), false)).unwrap();
        fs::write(sandbox.work().join("f"), "x").unwrap();
        let removed = sandbox.dir().to_owned();
        sandbox.remove().unwrap();
        assert!(!removed.exists());
        let kept = Sandbox::create(&settings(Some(parent.path()), false)).unwrap().keep();
        assert!(kept.join("work").is_dir());
        let asked = Sandbox::create(&settings(Some(parent.path()), true)).unwrap().dir().to_owned();
        assert!(asked.is_dir(), "--keep-sandbox must survive an early return");
    }

    #[test]
    fn a_linked_parent_is_resolved_and_both_spellings_are_placeholders() {
        let parent = tempfile::tempdir().unwrap();
        let real = parent.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&real, parent.path().join("link")).unwrap();
        let sandbox = Sandbox::create(&settings(Some(&parent.path().join("link")), false)).unwrap();
        assert!(sandbox.dir().starts_with(&real));
        let pairs = sandbox.placeholders();
        let spelled = parent.path().join("link").join(sandbox.dir().file_name().unwrap()).join("work");
        assert!(pairs.contains(&(spelled.display().to_string(), "{sandbox}".to_owned())), "{pairs:?}");
        assert!(pairs.contains(&(sandbox.home().display().to_string(), "{sandbox_home}".to_owned())));
        assert!(pairs.is_sorted_by_key(|(path, _)| std::cmp::Reverse(path.len())));
    }

    #[test]
    fn a_chosen_directory_that_cannot_be_used_is_named_with_a_hint() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("file"), "x").unwrap();
        for (name, why) in [("absent", "does not exist"), ("file", "is not a directory")] {
            let error = Sandbox::create(&settings(Some(&parent.path().join(name)), false)).unwrap_err();
            assert!(error.to_string().contains(name) && error.to_string().contains(why), "{error}");
            assert!(error.hint().unwrap().contains("--sandbox-dir"));
        }
    }

    #[test]
    fn a_directory_without_write_permission_is_refused() {
        nested_as_nobody("targets::sandbox::tests::not_writable_for_an_ordinary_user");
    }

    #[test]
    #[ignore = "run by a_directory_without_write_permission_is_refused"]
    fn not_writable_for_an_ordinary_user() {
        if !alone() {
            return;
        }
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o500)).unwrap();
        let error = Sandbox::create(&settings(Some(parent.path()), false)).unwrap_err();
        assert!(error.to_string().contains("is not writable"), "{error}");
    }
}
