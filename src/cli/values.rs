//! The values flags can take, parsed and refused with a reason at the command line.

use std::str::FromStr;

use clap::ValueEnum;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A report format's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatWord {
    /// For people, on a terminal
    Text,
    /// The full record, for programs
    Json,
    /// For a comment or a wiki
    Markdown,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0
    Sarif,
    /// GitLab Code Quality JSON
    Codequality,
    /// GitLab SAST report JSON
    Sast,
    /// The short view for a CI log
    Summary,
    /// An SVG badge for one server
    Badge,
    /// A shields.io endpoint document for one server
    Shields,
}

/// A verbosity's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerbosityWord {
    /// Grades and failures only
    Quiet,
    /// The default
    Normal,
    /// Every line of evidence and every argument
    Verbose,
}

/// What decides exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOnWord {
    /// The gate, and regressions
    Any,
    /// Regressions alone
    Regressions,
    /// Breaking and notable changes of the tool surface
    Drift,
}

/// When a comment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CommentWhen {
    /// On every pull or merge request that the token may comment on
    #[default]
    Auto,
    /// The same, and a request that cannot be commented on is a warning instead of a line in the log
    Always,
    /// Only when something is worse or different, or an earlier comment is there to be updated
    OnChange,
    /// Never
    Off,
}

/// What becomes of SARIF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SarifWhere {
    /// Write the file; an upload step or `upload` does the rest
    #[default]
    File,
    /// Write it and send it to code scanning
    Upload,
    /// Neither
    Off,
}

/// A CI platform that has files of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiWord {
    /// GitHub Actions
    Github,
    /// GitLab CI/CD
    Gitlab,
}

/// One share of several: the `index`th of `count`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `count`.
    pub index: u32,
    /// At least 1, at most 1000.
    pub count: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=1000).contains(&count) && (1..=count).contains(&index) => {
                Ok(Self { index, count })
            }
            _ => Err("expected I/N with 1 ≤ I ≤ N ≤ 1000, such as 2/5".to_owned()),
        }
    }
}

/// The key of a comment: it stands in a hidden marker, so it is one plain word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentKey(pub String);

impl FromStr for CommentKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.len() > 64 || !text.chars().all(plain) || text.contains("--") {
            return Err("expected at most 64 letters, digits, dots, underscores or single dashes".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

/// Where badges are committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadgeTarget {
    /// Nowhere.
    Off,
    /// To this branch.
    Branch(String),
    /// To this directory of the default branch, without `./`.
    Directory(String),
}

impl FromStr for BadgeTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        if text.starts_with("./") {
            let below = text.trim_start_matches("./").trim_end_matches('/');
            let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
            let odd = below.contains('\\') || below.chars().any(char::is_control);
            return match below.split('/').all(plain) && !odd {
                true => Ok(Self::Directory(below.to_owned())),
                false => Err("expected a directory below the repository's root, such as ./badges".to_owned()),
            };
        }
        // git check-ref-format, as far as a name can break a URL or a ref.
        let bad = text.is_empty()
            || text.starts_with(['-', '/', '.'])
            || text.ends_with(['/', '.'])
            || text.ends_with(".lock")
            || text.contains("..")
            || text.contains("//")
            || text.contains("@{")
            || text.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c));
        match bad {
            true => Err("expected a branch such as badges, a directory such as ./badges, or off".to_owned()),
            false => Ok(Self::Branch(text.to_owned())),
        }
    }
}

/// The name of an artifact, as GitHub takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactName(pub String);

impl FromStr for ArtifactName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |c: char| c.is_control() || "\":<>|*?\\/".contains(c);
        if text.is_empty() || text.len() > 255 || text.chars().any(bad) {
            return Err("expected at most 255 characters and none of \" : < > | * ? \\ /".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

/// The word a value enum is written with.
pub(super) fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// What `--fail-under` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The lowest letter that passes, upper-case; `None` turns the gate off.
    pub letter: Option<char>,
    /// The letter as it was typed, when that was lower-case.
    pub typed_lower: Option<char>,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("none") {
            return Ok(Self { letter: None, typed_lower: None });
        }
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(typed), None) if matches!(typed.to_ascii_uppercase(), 'A' | 'B' | 'C' | 'D' | 'F') => Ok(Self {
                letter: Some(typed.to_ascii_uppercase()),
                typed_lower: typed.is_ascii_lowercase().then_some(typed),
            }),
            _ => Err("expected A, B, C, D, F or none".to_owned()),
        }
    }
}

/// A command line split into words, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(pub Vec<String>);

impl FromStr for CommandLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = shell_words::split(text).map_err(|_| "a quote is not closed".to_owned())?;
        let first = words.first().filter(|word| !word.is_empty()).ok_or("the command line is empty")?;
        if is_assignment(first) {
            return Err(format!(
                "`{first}` would be set by a shell, and no shell takes part; put it in the environment, or use sh -c '...'"
            ));
        }
        if let Some(operator) = words.iter().find(|word| matches!(word.as_str(), "&&" | "||" | "|" | ";" | "&")) {
            return Err(format!(
                "`{operator}` needs a shell, and no shell takes part; use sh -c '...', or give the words after `--`"
            ));
        }
        Ok(Self(words))
    }
}

/// `NAME=value`, as a shell would read it before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// An HTTP header as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderLine {
    /// Its name as typed.
    pub name: String,
    /// Its value without the space around it, references unexpanded.
    pub value: String,
}

impl FromStr for HeaderLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("expected \"Name: value\"")?;
        let name = name.trim();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            return Err("the part before the colon is not a header name".to_owned());
        }
        let value = value.trim();
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(format!("the value of {name} holds a control character"));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_like_a_shell_would() {
        let words = "node 'my server.js' --name \"a b\" {sandbox}".parse::<CommandLine>().unwrap();
        assert_eq!(words.0, ["node", "my server.js", "--name", "a b", "{sandbox}"]);
    }

    #[test]
    fn what_only_a_shell_could_do_is_refused() {
        for text in ["A=1 node x", "npm i && node x", "a | b", "", "  ", "''", "node 'x"] {
            assert!(text.parse::<CommandLine>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_equals_sign_elsewhere_is_an_ordinary_word() {
        for text in ["node --port=8000", "./a=b", "sh -c 'A=1 node x && y'"] {
            assert!(text.parse::<CommandLine>().is_ok(), "{text}");
        }
    }

    #[test]
    fn a_gate_is_a_letter_in_either_case_or_none() {
        assert_eq!("b".parse::<Gate>().unwrap(), Gate { letter: Some('B'), typed_lower: Some('b') });
        assert_eq!("A".parse::<Gate>().unwrap(), Gate { letter: Some('A'), typed_lower: None });
        assert_eq!("NONE".parse::<Gate>().unwrap().letter, None);
        assert!(["E", "", "AB", "ä"].iter().all(|text| text.parse::<Gate>().is_err()));
    }

    #[test]
    fn a_header_needs_a_name_and_no_line_break() {
        let header = "X-Api-Key:  ${KEY} ".parse::<HeaderLine>().unwrap();
        assert_eq!((header.name.as_str(), header.value.as_str()), ("X-Api-Key", "${KEY}"));
        for text in ["no colon", ": value", "a b: c", "X: a\r\nY: b"] {
            assert!(text.parse::<HeaderLine>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_badge_goes_to_a_branch_or_to_a_directory() {
        assert_eq!("off".parse(), Ok(BadgeTarget::Off));
        assert_eq!("badges".parse(), Ok(BadgeTarget::Branch("badges".to_owned())));
        assert_eq!("ci/badges".parse(), Ok(BadgeTarget::Branch("ci/badges".to_owned())));
        assert_eq!("./docs/badges/".parse(), Ok(BadgeTarget::Directory("docs/badges".to_owned())));
        for wrong in ["", "../x", "./../x", "./", "./.git/x", "a..b", "-x", "a b", "x.lock", "a\nb"] {
            assert!(wrong.parse::<BadgeTarget>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn an_artifact_has_a_name_that_the_platform_takes() {
        assert_eq!("report linux".parse(), Ok(ArtifactName("report linux".to_owned())));
        assert!("a/b".parse::<ArtifactName>().is_err());
    }

    #[test]
    fn the_key_of_a_comment_cannot_close_it() {
        assert_eq!("linux-x64".parse(), Ok(CommentKey("linux-x64".to_owned())));
        for wrong in ["", "a--b", "a b", "-->", "é"] {
            assert!(wrong.parse::<CommentKey>().is_err(), "{wrong:?}");
        }
    }
}
