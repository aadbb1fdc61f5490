//! What later steps and jobs can read: GitHub's output file and GitLab's dotenv report.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Publication, log};
use crate::{
    compare::DriftLevel,
    report::result::{PackResult, PackStatus, RunResult, Status},
};

/// Bytes of `grades`: a script is given it in a variable, and Linux takes 128 KiB in one.
const GRADES: usize = 64 << 10;
/// Bytes of a dotenv report, GitLab's limit.
const DOTENV: usize = 5 << 10;

/// One output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name (`exit-code`).
    pub name: &'static str,
    /// Its value, as it is.
    pub value: String,
}

/// What a publication made that outputs point at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Written<'a> {
    /// The JSON report.
    pub report: Option<&'a Path>,
    /// The SARIF file.
    pub sarif: Option<&'a Path>,
    /// The comment's address.
    pub comment_url: Option<&'a str>,
    /// Where the dotenv report goes (GitLab).
    pub dotenv: Option<&'a Path>,
    /// What the process ends with.
    pub exit_code: u8,
}

/// The outputs, always all of them and in this order. What is not known is empty: `regressions` and `drift` where nothing
/// was compared, `grade` when a server has no letter.
///
/// `grade` is the worst letter, with a star when it is provisional. `drift` counts breaking and notable changes.
pub fn outputs(publication: &Publication<'_>, written: &Written<'_>) -> Vec<Output> {
    let runs = publication.runs;
    let number = |count: Option<usize>| count.map(|count| count.to_string()).unwrap_or_default();
    let path = |path: Option<&Path>| path.map(|path| path.display().to_string()).unwrap_or_default();
    let comparison = publication.comparison;
    let regressions = comparison.filter(|comparison| comparison.has_grades());
    let regressions =
        regressions.map(|comparison| comparison.servers.iter().map(|server| server.regressions.len()).sum());
    let drift = comparison.filter(|comparison| comparison.has_surface()).map(|comparison| {
        let drift = comparison.servers.iter().flat_map(|server| &server.drift);
        drift.filter(|drift| drift.level < DriftLevel::Info).count()
    });
    let eligible = !runs.is_empty() && runs.iter().all(|run| run.badge.eligible);
    [
        ("grade", worst(runs).unwrap_or_default()),
        ("grades", grades(runs)),
        ("regressions", number(regressions)),
        ("drift", number(drift)),
        ("report", path(written.report)),
        ("sarif", path(written.sarif)),
        ("exit-code", written.exit_code.to_string()),
        ("comment-url", written.comment_url.unwrap_or_default().to_owned()),
        ("badge-eligible", eligible.to_string()),
    ]
    .map(|(name, value)| Output { name, value })
    .into()
}

/// The letter of a pack, with its star.
fn letter(pack: &PackResult) -> Option<(char, bool)> {
    pack.grade.filter(|_| pack.status == PackStatus::Graded).map(|grade| (grade, pack.provisional))
}

fn shown((grade, provisional): (char, bool)) -> String {
    if provisional { format!("{grade}*") } else { grade.to_string() }
}

/// The worst letter of a run.
fn worst_of(run: &RunResult) -> Option<(char, bool)> {
    run.packs.0.iter().filter_map(|(_, pack)| letter(pack)).max()
}

/// The worst letter of all; none as soon as one server has none, so that a good letter never hides a server that failed.
fn worst(runs: &[RunResult]) -> Option<String> {
    let mut letters = Vec::new();
    for run in runs {
        letters.push(worst_of(run).filter(|_| run.status == Status::Graded)?);
    }
    letters.into_iter().max().map(shown)
}

/// Server → pack → letter; server → worst letter when that would be too long, of the worst servers when even that is, and
/// then `…` says how many more there are.
fn grades(runs: &[RunResult]) -> String {
    let of_packs = |run: &RunResult| -> Value {
        let packs = run.packs.0.iter().map(|(id, pack)| (id.clone(), json!(letter(pack).map(shown))));
        packs.collect::<Map<_, _>>().into()
    };
    let table = |of: &dyn Fn(&RunResult) -> Value| -> String {
        let servers: Map<String, Value> = runs.iter().map(|run| (run.name.clone(), of(run))).collect();
        Value::Object(servers).to_string()
    };
    let full = table(&of_packs);
    if full.len() <= GRADES {
        return full;
    }
    let mut left: Vec<&RunResult> = runs.iter().collect();
    // One without a letter first, then the worst ones.
    left.sort_by_key(|run| std::cmp::Reverse(worst_of(run).unwrap_or(('Z', true))));
    let (mut short, mut bytes) = (Map::new(), CUT.len() + 20);
    for run in &left {
        let entry = json!({ run.name.clone(): worst_of(run).map(shown) });
        bytes += entry.to_string().len();
        if bytes > GRADES {
            short.insert(
                CUT.to_owned(),
                format!("{} more servers, in the JSON report", left.len() - short.len()).into(),
            );
            break;
        }
        short.extend(entry.as_object().cloned().unwrap_or_default());
    }
    Value::Object(short).to_string()
}

/// The name of what says what was cut; no letter stands there.
const CUT: &str = "…";

/// Why outputs cannot be written.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OutputError {
    /// No word could be made that nobody can guess.
    #[error("the system gives no randomness for a delimiter")]
    NoRandomness,
    /// A value holds the word that would end it.
    #[error("the output {0} holds its own delimiter")]
    Delimiter(&'static str),
}

/// The outputs as GitHub's output file takes them.
///
/// # Errors
/// A value holds its delimiter, which a server could only have guessed; or there is no randomness.
pub fn github_lines(outputs: &[Output]) -> Result<String, OutputError> {
    let word = log::random_word().ok_or(OutputError::NoRandomness)?;
    delimited(outputs, &format!("ghadelimiter_{word}"))
}

fn delimited(outputs: &[Output], delimiter: &str) -> Result<String, OutputError> {
    let mut text = String::new();
    for Output { name, value } in outputs {
        if name.contains(delimiter) || value.contains(delimiter) {
            return Err(OutputError::Delimiter(name));
        }
        if value.contains(['\n', '\r']) {
            text.push_str(&format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"));
        } else {
            text.push_str(&format!("{name}={value}\n"));
        }
    }
    Ok(text)
}

/// The outputs of few plain characters as a dotenv report: `SEALMARK_GRADE=B`, one line each, no quoting.
///
/// A value that could mean something to whoever reads it (a blank, a quote, a dollar sign) is left out, and so is what
/// does not fit into GitLab's limit.
pub fn dotenv(outputs: &[Output]) -> Vec<u8> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "*./:_-".contains(c);
    let mut text = String::new();
    for Output { name, value } in outputs {
        let line = format!("SEALMARK_{}={value}\n", name.to_ascii_uppercase().replace('-', "_"));
        if !value.is_empty() && value.chars().all(plain) && text.len() + line.len() <= DOTENV {
            text.push_str(&line);
        }
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::sample;

    /// An output file as the runner reads it (`EnvFileKeyValuePairs`); `None` for what fails the step.
    fn parsed(text: &str) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n')?;
            rest = after;
            if line.is_empty() {
                continue;
            }
            let (equals, heredoc) = (line.find('='), line.find("<<"));
            match (equals, heredoc) {
                (Some(at), None) => drop(values.insert(line[..at].to_owned(), line[at + 1..].to_owned())),
                (Some(at), Some(other)) if at < other => {
                    values.insert(line[..at].to_owned(), line[at + 1..].to_owned());
                }
                (_, Some(at)) => {
                    let (name, delimiter) = (&line[..at], &line[at + 2..]);
                    let mut value: Vec<&str> = Vec::new();
                    loop {
                        let (line, after) = rest.split_once('\n')?;
                        rest = after;
                        if line == delimiter {
                            break;
                        }
                        value.push(line);
                    }
                    values.insert(name.to_owned(), value.join("\n"));
                }
                (None, None) => return None,
            }
        }
        Some(values)
    }

    fn output(name: &'static str, value: &str) -> Output {
        Output { name, value: value.to_owned() }
    }

    #[test]
    fn the_runner_reads_back_what_was_written() {
        let values = ["", "B", "a=b", "a<<EOF\nx\nEOF", "x\ngrade=A\n", "\r\n", "x<<y", "=", "ümlaut"];
        for value in values {
            let lines = github_lines(&[output("grade", value), output("exit-code", "1")]).unwrap();
            let read = parsed(&lines).unwrap();
            assert_eq!(read["grade"], value, "{lines:?}");
            assert_eq!((read.len(), read["exit-code"].as_str()), (2, "1"), "{lines:?}");
        }
    }

    #[test]
    fn a_value_that_holds_the_delimiter_is_refused() {
        let hostile = output("grades", "x\nghadelimiter_7\ngrade=A");
        assert_eq!(delimited(std::slice::from_ref(&hostile), "ghadelimiter_7"), Err(OutputError::Delimiter("grades")));
        assert!(delimited(&[hostile], "ghadelimiter_8").is_ok());
    }

    #[test]
    fn the_worst_letter_counts_and_a_star_is_kept() {
        let (clean, graded) = (sample::clean(), sample::graded());
        assert_eq!(worst(std::slice::from_ref(&clean)).as_deref(), Some("A"));
        assert_eq!(worst(&[clean.clone(), graded]).as_deref(), Some("D"));
        let mut provisional = clean.clone();
        provisional.packs.0[0].1.provisional = true;
        assert_eq!(worst(&[clean.clone(), provisional]).as_deref(), Some("A*"));
        for without in [sample::failed(), sample::nothing_graded(), sample::interrupted()] {
            assert_eq!(worst(&[clean.clone(), without]), None);
        }
        assert_eq!(worst(&[]), None);
    }

    #[test]
    fn grades_are_one_line_of_json_within_their_bound() {
        let read: Value = serde_json::from_str(&grades(&[sample::clean(), sample::failed()])).unwrap();
        assert_eq!(read["toy"]["core"], json!("A"));
        let hostile = grades(&[sample::hostile(sample::HOSTILE)]);
        assert!(!hostile.contains('\n') && serde_json::from_str::<Value>(&hostile).is_ok());
        let many = |letters: usize| -> Vec<RunResult> {
            let name = |at: usize| format!("{at}{}", "n".repeat(letters));
            (0..300).map(|at| RunResult { name: name(at), ..sample::graded() }).collect()
        };
        let short: Value = serde_json::from_str(&grades(&many(180))).unwrap();
        assert_eq!(short.as_object().unwrap().len(), 300);
        assert!(short.as_object().unwrap().values().all(|worst| worst == "D"));
        let mut runs = many(2000);
        runs.push(sample::failed());
        let cut = grades(&runs);
        let read: Map<String, Value> = serde_json::from_str(&cut).unwrap();
        assert!(cut.len() <= GRADES && cut.len() > GRADES - 4000, "{}", cut.len());
        assert_eq!(read["broken"], Value::Null, "the worst one is not cut");
        assert_eq!(read["…"], format!("{} more servers, in the JSON report", 301 - (read.len() - 1)));
    }

    #[test]
    fn a_dotenv_report_has_plain_lines_alone() {
        let url = "https://gitlab.example/a/b/-/merge_requests/7";
        let outputs = [
            output("grade", "A*"),
            output("grades", "{\"a\":\"b\"}"),
            output("report", "a b"),
            output("sarif", "$HOME/x"),
            output("exit-code", "1"),
            output("regressions", ""),
            output("comment-url", url),
            output("drift", "1\nPATH=/tmp"),
        ];
        let text = String::from_utf8(dotenv(&outputs)).unwrap();
        assert_eq!(text, format!("SEALMARK_GRADE=A*\nSEALMARK_EXIT_CODE=1\nSEALMARK_COMMENT_URL={url}\n"));
        let long = [output("report", &"a".repeat(DOTENV)), output("grade", "B")];
        assert_eq!(dotenv(&long), b"SEALMARK_GRADE=B\n");
    }
}
