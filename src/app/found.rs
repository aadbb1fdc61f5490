//! Reports on disk, named one by one or found below directories.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use super::compared::BASELINE;
use crate::config::settings::Format;

/// How deep a directory is searched: artifacts lie two or three levels down.
const DEPTH: usize = 16;
/// How many entries of directories are looked at, and how many reports are taken: somebody named the wrong directory.
const ENTRIES: usize = 200_000;
const REPORTS: usize = 10_000;

/// Why the reports were not found.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotFound {
    /// It is not there, or may not be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// A directory without one.
    #[error("there is no {} below {}", Format::Json.file_name(), path.display())]
    NoneBelow { path: PathBuf },
    /// One of the bounds was hit.
    #[error("{} holds more than {what}", path.display())]
    TooMany { path: PathBuf, what: String },
}

impl NotFound {
    /// What to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "name a JSON report, or a directory that holds some",
            Self::NoneBelow { .. } => {
                "reports are found below a directory by that name; name files that are called otherwise themselves"
            }
            Self::TooMany { .. } => "name the directory that the artifacts were downloaded to",
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files to read, each once, ordered by their paths so that the order of arguments and directories does not matter.
    pub(super) reports: Vec<PathBuf>,
    /// JSON files below directories that may be reports under another name, and are not taken.
    pub(super) aside: Vec<PathBuf>,
}

/// The reports among what was named.
///
/// Below directories `out` is left out: it is what an earlier merge wrote there. Links below directories are not followed.
pub(super) fn reports(named: &[PathBuf], out: &Path) -> Result<Found, NotFound> {
    let mut seen = BTreeSet::new();
    let mut all = Found::default();
    let out = fs::canonicalize(out).ok();
    for path in named {
        let unreadable = |error| NotFound::Unreadable { path: path.clone(), error };
        let real = fs::canonicalize(path).map_err(unreadable)?;
        if !real.is_dir() {
            if seen.insert(real) {
                all.reports.push(path.clone());
            }
            continue;
        }
        let below = below(path)?;
        if below.reports.is_empty() {
            return Err(NotFound::NoneBelow { path: path.clone() });
        }
        for file in below.reports {
            let real = fs::canonicalize(&file).map_err(unreadable)?;
            if Some(&real) != out.as_ref() && seen.insert(real) {
                all.reports.push(file);
            }
        }
        all.aside.extend(below.aside);
    }
    // What is named by itself is taken, wherever it lies.
    all.aside
        .retain(|path| fs::canonicalize(path).is_ok_and(|real| !seen.contains(&real) && Some(&real) != out.as_ref()));
    all.reports.sort();
    all.aside.sort();
    all.aside.dedup();
    Ok(all)
}

/// Whether a file may be a report under another name: it is JSON, and none of those that stand beside a report.
fn is_another(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".json") && !name.starts_with("sealmark-report.") && name != BASELINE
}

/// The files below a directory that are named like a report, and other JSON files.
fn below(root: &Path) -> Result<Found, NotFound> {
    let too_many = |what: String| NotFound::TooMany { path: root.to_owned(), what };
    let (mut found, mut entries) = (Found::default(), 0);
    let mut dirs = vec![(root.to_owned(), 0)];
    while let Some((dir, depth)) = dirs.pop() {
        let unreadable = |error| NotFound::Unreadable { path: dir.clone(), error };
        for entry in fs::read_dir(&dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            entries += 1;
            if entries > ENTRIES {
                return Err(too_many(format!("{ENTRIES} files")));
            }
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_dir() && depth < DEPTH {
                dirs.push((entry.path(), depth + 1));
            } else if kind.is_file() && entry.file_name() == Format::Json.file_name() {
                found.reports.push(entry.path());
            } else if kind.is_file() && is_another(&entry.file_name()) {
                found.aside.push(entry.path());
            }
        }
    }
    if found.reports.len() > REPORTS {
        return Err(too_many(format!("{REPORTS} reports")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        root
    }

    #[test]
    fn reports_are_found_at_any_depth_each_once_and_in_one_order() {
        let root = tree(&["b/sealmark-report.json", "a/x/y/sealmark-report.json", "a/other.json", "own.json"]);
        let at = |name: &str| root.path().join(name);
        let expected = [at("a/x/y/sealmark-report.json"), at("b/sealmark-report.json"), at("own.json")];
        let nowhere = at("out.json");
        for named in [
            vec![at("own.json"), at("a"), at("b")],
            vec![root.path().to_owned(), at("own.json"), at("b/sealmark-report.json")],
        ] {
            assert_eq!(reports(&named, &nowhere).unwrap().reports, expected);
        }
    }

    #[test]
    fn a_json_file_of_another_name_is_left_aside_and_known() {
        let root = tree(&[
            "a/sealmark-report.json",
            "a/sealmark-report.codequality.json",
            "a/sealmark-baseline.json",
            "a/mine.json",
            "a/named.json",
            "a/notes.txt",
        ]);
        let at = |name: &str| root.path().join(name);
        let found = reports(&[at("a"), at("a/named.json")], &at("a/out.json")).unwrap();
        assert_eq!(found.reports, [at("a/named.json"), at("a/sealmark-report.json")]);
        assert_eq!(found.aside, [at("a/mine.json")]);
    }

    #[test]
    fn what_an_earlier_merge_wrote_is_left_out_unless_it_is_named() {
        let root = tree(&["a/sealmark-report.json", "sealmark-report.json"]);
        let at = |name: &str| root.path().join(name);
        let out = at("sealmark-report.json");
        assert_eq!(reports(&[root.path().to_owned()], &out).unwrap().reports, [at("a/sealmark-report.json")]);
        assert_eq!(reports(&[at("a"), out.clone()], &out).unwrap().reports.len(), 2);
    }

    #[test]
    fn a_missing_file_and_an_empty_directory_are_mistakes() {
        let root = tree(&["a/report.json"]);
        let out = root.path().join("out.json");
        let missing = reports(&[root.path().join("b.json")], &out).unwrap_err();
        assert!(matches!(missing, NotFound::Unreadable { .. }), "{missing}");
        assert!(matches!(reports(&[root.path().join("a")], &out).unwrap_err(), NotFound::NoneBelow { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn links_below_a_directory_are_not_followed_and_a_named_link_is() {
        let root = tree(&["real/sealmark-report.json", "links/none"]);
        let at = |name: &str| root.path().join(name);
        std::os::unix::fs::symlink(at("real"), at("links/dir")).unwrap();
        std::os::unix::fs::symlink(at("real/sealmark-report.json"), at("links/sealmark-report.json")).unwrap();
        assert!(matches!(reports(&[at("links")], &at("out")).unwrap_err(), NotFound::NoneBelow { .. }));
        assert_eq!(reports(&[at("links/dir")], &at("out")).unwrap().reports.len(), 1);
        // A loop does not hang it.
        std::os::unix::fs::symlink(root.path(), at("real/loop")).unwrap();
        assert_eq!(reports(&[root.path().to_owned()], &at("out")).unwrap().reports.len(), 1);
    }
}
