//! `init`: prints a CI job.

use std::{fs, path::Path};

use super::{Exit, console};
use crate::{
    ci::jobs::{self, Project},
    cli::{CiWord, InitArgs},
};

/// Runs the command.
pub fn init(args: &InitArgs) -> Exit {
    let project = look(Path::new("."));
    console::answer(&match args.ci {
        CiWord::Github => jobs::github_workflow(&project),
        CiWord::Gitlab => jobs::gitlab_include(&project),
    })
}

/// What the files of a project tell. What cannot be read is not known: the job is a draft to be looked at.
fn look(root: &Path) -> Project {
    Project {
        configured: root.join("sealmark.yaml").is_file(),
        default_branch: default_branch(root),
        manifest: Project::manifests().find(|name| root.join(name).is_file()),
    }
}

/// The branch that the remote's `HEAD` names, which a clone writes down.
fn default_branch(root: &Path) -> Option<String> {
    let head = fs::read_to_string(root.join(".git/refs/remotes/origin/HEAD")).ok()?;
    let branch = head.trim().strip_prefix("ref: refs/remotes/origin/")?;
    (!branch.is_empty() && !branch.chars().any(char::is_control)).then(|| branch.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(look(root.path()), Project::default());
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("package.json", "{}");
        write("pyproject.toml", "");
        write("sealmark.yaml", "server: {command: x}\n");
        write(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/release/next\n");
        let expected = Project {
            configured: true,
            default_branch: Some("release/next".to_owned()),
            manifest: Some("package.json"),
        };
        assert_eq!(look(root.path()), expected);
        write(".git/refs/remotes/origin/HEAD", "0123456789\n");
        assert_eq!(look(root.path()).default_branch, None);
    }
}
