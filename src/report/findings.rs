//! Failed and partial checks as findings: one per check and tool, with a place and an identity. Shared by every format that
//! feeds a platform's list of findings.

use std::{collections::BTreeMap, fmt::Write as _};

use sha2::{Digest, Sha256};

use super::{
    places::{Place, Places},
    result::{CheckResult, EvidenceFacts, RunResult},
};
use crate::{
    model::{Severity, Verdict},
    text::excerpt,
};

/// Tools of one check that get a finding of their own; the rest share one.
pub(super) const MAX_TOOLS: usize = 100;
/// The place of a run without a configuration file, in a repository of which no file is known: where one would stand.
const DEFAULT_PATH: &str = "sealmark.yaml";

/// One thing to act on.
#[derive(Debug, Clone)]
pub(super) struct Finding<'a> {
    /// The run it belongs to.
    pub run: &'a RunResult,
    /// The check's pack.
    pub pack: &'a str,
    /// The check.
    pub check: &'a CheckResult,
    /// The tool, when the evidence names one.
    pub tool: Option<&'a str>,
    /// The evidence.
    pub lines: Vec<&'a EvidenceFacts>,
    /// Tools that share this finding because there are too many.
    pub more_tools: usize,
    /// `Fail` or `Part`: a line may say less than its check, never more.
    pub verdict: Verdict,
}

/// Where a finding points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The best line to act on.
    pub place: Place,
    /// The server's line in the configuration, when `place` is a line of the sources.
    pub configuration: Option<Place>,
}

/// The findings of a run, in the order of its packs and checks.
pub(super) fn findings(run: &RunResult) -> Vec<Finding<'_>> {
    let checks = run.packs.0.iter().flat_map(|(id, pack)| pack.checks.iter().map(move |check| (id.as_str(), check)));
    checks.flat_map(|(pack, check)| of_check(run, pack, check)).collect()
}

/// One per tool that the evidence names, and one for what names none.
fn of_check<'a>(run: &'a RunResult, pack: &'a str, check: &'a CheckResult) -> Vec<Finding<'a>> {
    if !matches!(check.verdict, Verdict::Fail | Verdict::Part) {
        return Vec::new();
    }
    let mut tools: Vec<(&str, Vec<&EvidenceFacts>)> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut general: Vec<&EvidenceFacts> = Vec::new();
    for line in check.evidence.iter().filter(|line| matches!(line.verdict, Verdict::Fail | Verdict::Part)) {
        match line.tool.as_deref() {
            Some(tool) => {
                let at = *index.entry(tool).or_insert_with(|| {
                    tools.push((tool, Vec::new()));
                    tools.len() - 1
                });
                tools[at].1.push(line);
            }
            None => general.push(line),
        }
    }
    let finding = |tool, lines: Vec<&'a EvidenceFacts>, more_tools| {
        let verdict = lines.iter().map(|line| line.verdict).min().unwrap_or(check.verdict).max(check.verdict);
        Finding { run, pack, check, tool, lines, more_tools, verdict }
    };
    let rest = tools.split_off(tools.len().min(MAX_TOOLS));
    let mut found: Vec<Finding<'_>> = tools.into_iter().map(|(tool, lines)| finding(Some(tool), lines, 0)).collect();
    if !general.is_empty() || !rest.is_empty() || found.is_empty() {
        let more = rest.len();
        general.extend(rest.into_iter().flat_map(|(_, lines)| lines));
        found.push(finding(None, general, more));
    }
    found
}

impl Finding<'_> {
    /// Identity: check, server and tool, whatever line it points at.
    pub fn fingerprint(&self) -> String {
        let mut parts = vec![self.check.id.as_str(), self.run.name.as_str()];
        parts.extend(self.tool);
        hash(&parts)[..32].to_owned()
    }

    /// How bad it is, 0 the worst: a failed critical check; each step down in severity or verdict adds one.
    pub fn rank(&self) -> u8 {
        let severity = match self.check.severity {
            Severity::Critical => 0,
            Severity::Scored => 1,
            Severity::Advisory => 2,
        };
        severity + u8::from(self.verdict != Verdict::Fail)
    }

    /// Where it points: the line that registers the tool when the sources show it, else the server's line in the
    /// configuration.
    pub fn spot(&self, places: &Places) -> Spot {
        let configuration = configured(self.run, places);
        let registered = self.tool.and_then(|tool| places.of(&self.run.name, tool));
        match registered.and_then(|place| Some(Place { path: relative(&place.path)?, line: place.line.max(1) })) {
            Some(place) => Spot { place, configuration: Some(configuration) },
            None => Spot { place: configuration, configuration: None },
        }
    }
}

/// Identities that were given out: two findings of one identity would be one to a platform, so the second gets another.
/// It happens to servers of one name and to checks that share an id.
#[derive(Debug, Default)]
pub(super) struct Identities(BTreeMap<String, usize>);

impl Identities {
    /// The fingerprint, or one made from it when it was given out before.
    pub fn unique(&mut self, print: String) -> String {
        let count = self.0.entry(print.clone()).or_default();
        *count += 1;
        if *count == 1 { print } else { hash(&[&print, &count.to_string()])[..32].to_owned() }
    }
}

/// The server's line in the configuration.
pub(super) fn configured(run: &RunResult, places: &Places) -> Place {
    if let (None, Some(path)) = (&run.config.path, &places.stand_in) {
        return Place { path: path.clone(), line: 1 };
    }
    let path = run.config.path.as_deref().unwrap_or(DEFAULT_PATH);
    let path = below(&places.directory, path).as_deref().and_then(relative).unwrap_or_else(|| DEFAULT_PATH.to_owned());
    Place { path, line: run.config.line.unwrap_or(1).max(1) }
}

/// A path that starts in a directory of the repository as one that starts at its root; `None` when it leads out of it.
fn below(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || directory.is_empty() {
        return Some(path.to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')).filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

/// A path below the repository's root without `./`; one that leads elsewhere is reduced to its name.
fn relative(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let outside = path.starts_with('/') || path.chars().nth(1) == Some(':') || parts.contains(&"..");
    let kept = if outside { parts.last().copied().filter(|name| *name != "..").into_iter().collect() } else { parts };
    let kept: Vec<String> = kept.iter().take(64).map(|part| excerpt(part, 255)).collect();
    (!kept.is_empty()).then(|| kept.join("/"))
}

/// A relative path as a URI reference.
pub(super) fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "%{byte:02X}"); // writing to a String cannot fail
            }
        }
    }
    out
}

/// SHA-256 of the parts, each ended by a zero byte, in hex.
pub(super) fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // writing to a String cannot fail
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn paths_are_relative() {
        let mut run = sample::clean();
        for (path, expected) in [
            (None, "sealmark.yaml"),
            (Some("./a b/ü.yaml"), "a b/ü.yaml"),
            (Some("/home/me/x.yaml"), "x.yaml"),
            (Some("../other/x.yaml"), "x.yaml"),
            (Some("C:\\me\\x.yaml"), "x.yaml"),
            (Some(".."), "sealmark.yaml"),
            (Some("a\n::error::/b"), "a\\n::error::/b"),
        ] {
            run.config.path = path.map(str::to_owned);
            assert_eq!(configured(&run, &Places::default()).path, expected, "{path:?}");
        }
        let places = Places { directory: "packages/api".to_owned(), ..Places::default() };
        for (path, expected) in [
            ("sealmark.yaml", "packages/api/sealmark.yaml"),
            ("../../conf/x.yaml", "conf/x.yaml"),
            ("../../../x.yaml", "sealmark.yaml"),
        ] {
            run.config.path = Some(path.to_owned());
            assert_eq!(configured(&run, &places).path, expected, "{path:?}");
        }
        let places = Places { stand_in: Some(".gitlab-ci.yml".to_owned()), ..places };
        assert_eq!(configured(&run, &places).path, "sealmark.yaml", "what is configured has a file of its own");
        run.config.path = None;
        assert_eq!(configured(&run, &places).path, ".gitlab-ci.yml");
        assert_eq!(uri("a b/ü.yaml"), "a%20b/%C3%BC.yaml");
    }

    #[test]
    fn the_place_is_the_tools_line_and_the_identity_does_not_depend_on_it() {
        let run = sample::graded();
        let place = Place { path: "src/query.ts".to_owned(), line: 12 };
        let places = Places {
            registered: BTreeMap::from([(("shop".to_owned(), "query".to_owned()), place.clone())]),
            ..Places::default()
        };
        let all = findings(&run);
        let query = all.iter().find(|finding| finding.tool == Some("query")).expect("a finding");
        let configuration = Place { path: "conf/sealmark.yaml".to_owned(), line: 7 };
        assert_eq!(query.spot(&places), Spot { place, configuration: Some(configuration.clone()) });
        assert_eq!(query.spot(&Places::default()), Spot { place: configuration, configuration: None });
        // A tool without a name is not the same as no tool.
        let of = |tool| Finding { tool, ..query.clone() }.fingerprint();
        assert_ne!(of(None), of(Some("")));
        assert_ne!(of(Some("a")), of(Some("b")));
    }
}
