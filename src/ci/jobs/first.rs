//! What `init --ci` prints: a job to start from, with what is known of the project filled in.

use serde_json::json;

use super::VERSION;

/// What is known of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Project {
    /// Its configuration file is there.
    pub configured: bool,
    /// Its default branch, when the checkout says so.
    pub default_branch: Option<String>,
    /// The file at its root that says how it is installed (`package-lock.json`).
    pub manifest: Option<&'static str>,
}

/// How a project is installed: file at its root, command on GitHub's runners, command and image on GitLab.
const INSTALL: &[(&str, &str, &str, &str)] = &[
    ("package-lock.json", "npm ci", "npm ci", "node:24"),
    ("package.json", "npm install", "npm install", "node:24"),
    ("pyproject.toml", "pipx install .", "pip install .", "python:3.14"),
    ("go.mod", "go install ./...", "go install ./...", "golang:1.26"),
    ("Cargo.toml", "cargo install --locked --path .", "cargo install --locked --path .", "rust:1"),
];

impl Project {
    /// The files that are looked for, the telling ones first.
    pub fn manifests() -> impl Iterator<Item = &'static str> {
        INSTALL.iter().map(|(manifest, ..)| *manifest)
    }

    fn install(&self) -> Option<&'static (&'static str, &'static str, &'static str, &'static str)> {
        INSTALL.iter().find(|(manifest, ..)| Some(*manifest) == self.manifest)
    }

    fn target(&self, indent: &str) -> String {
        if self.configured {
            return format!("{indent}config: sealmark.yaml\n");
        }
        format!(
            "{indent}# The command that starts your server. A server that listens needs its address as well.\n\
             {indent}start: my-server --stdio\n{indent}# url: http://127.0.0.1:8000/mcp\n"
        )
    }
}

/// A workflow, and behind it as a comment the one that publishes for pull requests from forks.
pub fn github_workflow(project: &Project) -> String {
    let branch = json!(project.default_branch.as_deref().unwrap_or("main")).to_string();
    let install = match project.install() {
        Some((manifest, command, ..)) => {
            format!("      - name: Install the server # {manifest} is here\n        run: {command}\n")
        }
        None => {
            "      # Install your server here, with a step of its own: sealmark starts it and does not install it.\n"
                .to_owned()
        }
    };
    let forks: String =
        FORKS.lines().map(|line| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") }).collect();
    format!("{WORKFLOW}\n{forks}")
        .replace("@BRANCH@", &branch)
        .replace("@INSTALL@", &install)
        .replace("@TARGET@", &project.target("          "))
        .replace("@VERSION@", VERSION)
}

/// An include of the component, and what its job needs besides.
pub fn gitlab_include(project: &Project) -> String {
    let (image, install) = match project.install() {
        Some((manifest, _, command, image)) => (
            format!("      image: {image}\n"),
            format!("sealmark:\n  before_script:\n    - {command} # {manifest} is here\n"),
        ),
        None => (String::new(), "# sealmark:\n#   before_script:\n#     - npm ci\n".to_owned()),
    };
    COMPONENT
        .replace("@IMAGE@", &image)
        .replace("@INSTALL@", &install)
        .replace("@TARGET@", &project.target("      "))
        .replace("@VERSION@", VERSION)
}

/// `actions/checkout` v7.0.1.
const WORKFLOW: &str = r#"# Save as .github/workflows/sealmark.yml. Printed by sealmark @VERSION@; that version is named below, on purpose.
name: Sealmark

on:
  push:
    branches: [@BRANCH@] # its report is what pull requests are compared with
  pull_request:
  merge_group:

permissions: {}

concurrency:
  group: sealmark-${{ github.ref }}
  cancel-in-progress: ${{ github.event_name == 'pull_request' }}

jobs:
  sealmark:
    name: Sealmark
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read # to check out; `write` for `badge:`
      actions: read # the baseline
      pull-requests: write # the comment
      # security-events: write # for `sarif: upload`
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
@INSTALL@      # A tag: the program that it downloads is verified against checksums. Put the tag's commit here where
      # your policy asks for that.
      - uses: sealmark/action@v@VERSION@ # zizmor: ignore[unpinned-uses]
        with:
@TARGET@"#;

const FORKS: &str = r#"Pull requests from forks, and those of Dependabot, run without rights: they are graded, and nothing is published. To
comment on them as well, save the rest, without the `# ` in front, as .github/workflows/sealmark-forks.yml.

name: Sealmark, forks

on:
  # Reads the report of the other workflow as data; nothing of the fork is checked out or run.
  workflow_run: # zizmor: ignore[dangerous-triggers]
    workflows: [Sealmark]
    types: [completed]

permissions: {}

concurrency:
  group: sealmark-forks-${{ github.event.workflow_run.head_repository.full_name }}-${{ github.event.workflow_run.head_branch }}

jobs:
  publish:
    name: Publish
    # Skipped where the other workflow had the rights itself.
    if: >-
      github.event.workflow_run.event == 'pull_request' &&
      (github.event.workflow_run.head_repository.full_name != github.repository ||
      github.event.workflow_run.actor.login == 'dependabot[bot]')
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      actions: read # the report
      pull-requests: write # the comment
    steps:
      - uses: sealmark/action@v@VERSION@ # zizmor: ignore[unpinned-uses]
        with:
          command: publish
"#;

const COMPONENT: &str = r#"# Part of .gitlab-ci.yml. Printed by sealmark @VERSION@; that version is named below, on purpose.
include:
  # Of this instance: a self-managed one needs a mirror of gitlab.com/sealmark/action.
  - component: $CI_SERVER_FQDN/sealmark/action/sealmark@@VERSION@
    inputs:
@IMAGE@@TARGET@
# Is merged with the job of the component: what installs the server, which sealmark starts and does not install.
@INSTALL@
# A note on merge requests needs a masked variable SEALMARK_GITLAB_TOKEN: a project access token of the scope `api`, for
# the job's own token cannot write one. Reports, artifacts and the gate need nothing.
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_filled_in_and_nothing_else_is_left() {
        let known = Project {
            configured: true,
            default_branch: Some("trunk: #1".to_owned()),
            manifest: Some("pyproject.toml"),
        };
        let text = github_workflow(&known);
        assert!(text.contains("branches: [\"trunk: #1\"]") && text.contains("run: pipx install ."), "{text}");
        assert!(text.contains("          config: sealmark.yaml\n") && !text.contains("start:"), "{text}");
        let unknown = github_workflow(&Project::default());
        assert!(
            unknown.contains("branches: [\"main\"]") && unknown.contains("          start: my-server"),
            "{unknown}"
        );
        assert!(gitlab_include(&known).contains("      config: sealmark.yaml\n"));
        for text in [text, unknown, gitlab_include(&known), gitlab_include(&Project::default())] {
            assert!(!text.contains("@V") && !text.contains("@B") && !text.contains("@I") && !text.contains("@T"));
            assert!(
                text.contains(&format!("@v{VERSION}")) || text.contains(&format!("sealmark@{VERSION}\n")),
                "{text}"
            );
        }
    }
}
