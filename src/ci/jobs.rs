//! Jobs as text: the matrix of a fleet, and the first job of a project. Pure.

use std::{fmt::Write, path::Path};

use serde_json::json;

mod first;

pub use first::{Project, github_workflow, gitlab_include};

/// Most jobs of one matrix on GitHub.
pub const GITHUB_JOBS: usize = 256;
/// Most jobs of one matrix on GitLab.
pub const GITLAB_JOBS: usize = 200;

/// The version that printed jobs name: this one, so that a job does not change by itself.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The value of `strategy.matrix`, on one line for `GITHUB_OUTPUT`: per job its number, their count, and the servers as
/// `--server` takes them.
pub fn github_matrix(jobs: &[Vec<&str>]) -> String {
    let job = |(at, servers): (usize, &Vec<&str>)| json!({ "index": at + 1, "total": jobs.len(), "servers": servers.join(",") });
    format!("{}\n", json!({ "include": jobs.iter().enumerate().map(job).collect::<Vec<_>>() }))
}

/// A child pipeline: one job per share, one that merges and publishes, and one that decides: what GitLab keeps as a baseline
/// are the artifacts of jobs that succeeded.
///
/// Stages and not `needs`, which takes 50 jobs at most. The shares may fail: what they found is decided once, over all of
/// them, and a share that left no report behind is found by `merge`. `chosen` is what `--server` chose of the servers.
pub fn gitlab_pipeline(jobs: &[Vec<&str>], config: Option<&Path>, chosen: &[String]) -> String {
    let servers: usize = jobs.iter().map(Vec::len).sum();
    let config = config.map(|path| path.display().to_string());
    let flag = config.as_deref().map_or(String::new(), |path| format!(" {}", word("--config=", path)));
    // The scripts of a project know one file without being told.
    let mut complete = word("--config=", config.as_deref().unwrap_or("sealmark.yaml"));
    if !chosen.is_empty() {
        complete = format!("{complete} {}", word("--server=", &chosen.join(",")));
    }
    let mut text = format!(
        "# sealmark {VERSION}, `sealmark ci matrix --for gitlab`: {servers} servers, {} jobs.\n{PIPELINE}",
        jobs.len(),
    )
    .replace("@VERSION@", VERSION);
    for (at, servers) in jobs.iter().enumerate() {
        let (index, total) = (at + 1, jobs.len());
        let script = format!(
            "sealmark run{flag} {} --profile ci --out-dir sealmark-report/{index} --format summary,json,junit",
            word("--server=", &servers.join(","))
        );
        let _ = write!(
            text,
            "\nsealmark {index}/{total}:\n  extends: .sealmark\n  stage: grade\n  allow_failure: true\n  script:\n    - {}\n  \
             artifacts:\n    when: always\n    paths: [sealmark-report/{index}/]\n    reports:\n      \
             junit: sealmark-report/{index}/sealmark-report.junit.xml\n",
            json!(script)
        );
    }
    let merge = format!("sealmark merge sealmark-report {complete} --out sealmark-report/sealmark-report.json");
    let gate = format!("sealmark gate{flag} --report sealmark-report/sealmark-report.json --baseline auto");
    let _ = write!(
        text,
        "\nsealmark:\n  extends: .sealmark\n  stage: report\n  when: always\n  script:\n    - {}\n    \
         - sealmark publish --report sealmark-report/sealmark-report.json --baseline-job sealmark\n  artifacts:\n    \
         when: always\n    paths: [sealmark-report/sealmark-report.json, sealmark-report/sealmark-baseline.json]\n\n\
         sealmark-gate:\n  extends: .sealmark\n  stage: gate\n  script:\n    - {}\n",
        json!(merge),
        json!(gate)
    );
    text
}

/// A flag with its value as one word of a shell.
fn word(flag: &str, value: &str) -> String {
    format!("{flag}{}", shell_words::quote(value))
}

const PIPELINE: &str = r#"#
# A job of .gitlab-ci.yml writes this file in every pipeline, another one runs it. Both files of `include` are merged: the
# second one says what `.sealmark` needs beside sealmark itself (another image, the tokens, what installs your servers).
#
#   sealmark matrix:
#     script: sealmark ci matrix --for gitlab > sealmark-matrix.yml
#     artifacts: { paths: [sealmark-matrix.yml] }
#   sealmark fleet:
#     trigger:
#       include:
#         - { artifact: sealmark-matrix.yml, job: sealmark matrix }
#         - { local: .gitlab/sealmark.yml }
#       strategy: depend

workflow:
  rules:
    - when: always

stages: [grade, report, gate]

.sealmark:
  image: node:24
  before_script:
    - curl -fsSL https://raw.githubusercontent.com/sealmark/action/v@VERSION@/ci/install.sh |
      SEALMARK_VERSION=@VERSION@ SEALMARK_INSTALL_DIR=/usr/local/bin sh
"#;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_matrix_is_one_line_of_json_whatever_the_names_hold() {
        let text = github_matrix(&[vec!["a", "b \"c\" ${{ x }}"], vec!["d\\n"]]);
        assert_eq!(text.lines().count(), 1);
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            read["include"],
            json!([
                { "index": 1, "total": 2, "servers": "a,b \"c\" ${{ x }}" },
                { "index": 2, "total": 2, "servers": "d\\n" },
            ])
        );
    }

    #[test]
    fn a_name_is_one_word_of_the_shell_and_one_string_of_yaml() {
        let text = gitlab_pipeline(&[vec!["it's", "$(id)"]], Some(Path::new("a b.yaml")), &[]);
        let line = text.lines().find(|line| line.contains("sealmark run")).expect("a script").trim_start();
        let script: String = serde_json::from_str(line.trim_start_matches("- ")).expect("a JSON string");
        let words = shell_words::split(&script).expect("words");
        assert_eq!(words[2..4], ["--config=a b.yaml", "--server=it's,$(id)"]);
        assert!(script.contains("--server='"), "{script}");
    }
}
