//! GitLab SAST report: vulnerabilities for the security widgets, in the shape of its schema 15.0.4.

use chrono::{DateTime, TimeDelta};
use serde::Serialize;

use super::{
    findings::{Finding, Identities, findings},
    json as writer,
    options::{RenderOptions, ReportError},
    result::{RunResult, Status},
    sarif_rules::weaknesses,
    wording::{self, NAME, QUOTE, SENTENCE},
};
use crate::{
    model::{Severity, Verdict},
    packs,
    text::{excerpt, markdown, terminal},
};

/// The version that the oldest instances we write for read.
const VERSION: &str = "15.0.4";
/// Longest name of a vulnerability, in characters.
const LONGEST_NAME: usize = 255;
/// Vulnerabilities of a report: more would only be refused by size.
const MAX_VULNERABILITIES: usize = 5_000;

#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    scan: Scan,
    vulnerabilities: Vec<Vulnerability>,
}

#[derive(Debug, Serialize)]
struct Scan {
    analyzer: Program,
    scanner: Program,
    start_time: String,
    end_time: String,
    status: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Note>,
}

#[derive(Debug, Clone, Serialize)]
struct Program {
    id: &'static str,
    name: &'static str,
    version: String,
    vendor: Vendor,
    url: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct Vendor {
    name: &'static str,
}

#[derive(Debug, Serialize)]
struct Note {
    level: &'static str,
    value: String,
}

#[derive(Debug, Serialize)]
struct Vulnerability {
    id: String,
    name: String,
    description: String,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<&'static str>,
    identifiers: Vec<Identifier>,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Identifier {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

#[derive(Debug, Serialize)]
struct Location {
    file: String,
    start_line: u32,
}

/// Every failed or partial check, the worst first when there are too many.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    let mut found: Vec<Finding<'_>> = runs.iter().flat_map(findings).collect();
    let cut = found.len().saturating_sub(MAX_VULNERABILITIES);
    if cut > 0 {
        found.sort_by_key(Finding::rank);
        found.truncate(MAX_VULNERABILITIES);
    }
    let mut identities = Identities::default();
    let vulnerabilities = (found.iter())
        .map(|finding| vulnerability(finding, &identities.unique(finding.fingerprint()), options))
        .collect();
    writer::bytes(&Report { version: VERSION, scan: scan(runs, cut), vulnerabilities })
}

fn plain(text: &str, max_chars: usize) -> String {
    terminal::line(&excerpt(text, max_chars))
}

fn scan(runs: &[RunResult], cut: usize) -> Scan {
    let program = Program {
        id: "sealmark",
        name: "sealmark",
        version: plain(runs.first().map_or(env!("CARGO_PKG_VERSION"), |run| &run.sealmark.version), NAME),
        vendor: Vendor { name: "Sealmark" },
        url: env!("CARGO_PKG_REPOSITORY"),
    };
    let starts: Vec<_> = runs.iter().filter_map(|run| DateTime::parse_from_rfc3339(&run.started_at).ok()).collect();
    let ends = (runs.iter()).filter_map(|run| {
        let start = DateTime::parse_from_rfc3339(&run.started_at).ok()?;
        start.checked_add_signed(TimeDelta::try_milliseconds(i64::try_from(run.duration_ms).ok()?)?)
    });
    let start = starts.iter().min().copied().unwrap_or_default();
    let end = ends.max().unwrap_or(start);
    let ended = runs.iter().filter(|run| matches!(run.status, Status::Failed | Status::Interrupted));
    let mut messages: Vec<Note> = ended
        .take(100)
        .map(|run| {
            let ending = wording::ending(run).unwrap_or_default();
            Note { level: "fatal", value: format!("{}: {}", plain(&run.name, NAME), plain(&ending, SENTENCE)) }
        })
        .collect();
    let status = if messages.is_empty() { "success" } else { "failure" };
    if cut > 0 {
        let value = format!("{} left out, the least severe ones", wording::counted(cut, "finding"));
        messages.push(Note { level: "warn", value });
    }
    Scan {
        analyzer: program.clone(),
        scanner: program,
        start_time: time(start),
        end_time: time(end),
        status,
        kind: "sast",
        messages,
    }
}

/// UTC without its letter, as the schema demands: four digits of the year, whatever a report says.
fn time(at: DateTime<chrono::FixedOffset>) -> String {
    let text = at.to_utc().format("%Y-%m-%dT%H:%M:%S").to_string();
    if text.len() == 19 && text.starts_with(|c: char| c.is_ascii_digit()) {
        text
    } else {
        "1970-01-01T00:00:00".to_owned()
    }
}

fn vulnerability(finding: &Finding<'_>, print: &str, options: &RenderOptions) -> Vulnerability {
    let known = packs::check(&finding.check.id).map(|(_, check)| check);
    let check = plain(&finding.check.id, NAME);
    let server = plain(&finding.run.name, NAME);
    let whose = match finding.tool {
        Some(tool) => format!("{server}, tool {}", plain(tool, NAME)),
        None => server,
    };
    // GitLab reads a description as Markdown.
    let shown = |text: &str, most| markdown::inline(&excerpt(text, most));
    let mut description = format!("{}: {}", markdown::inline(&whose), shown(&finding.check.summary, SENTENCE));
    if finding.more_tools > 0 {
        description.push_str(&format!(" (and {})", wording::counted(finding.more_tools, "more tool")));
    }
    for line in finding.lines.iter().take(3) {
        let (probe, rule) = (shown(&line.probe, NAME), shown(&line.rule, NAME));
        // Lines of one paragraph would run together.
        description.push_str(&format!("\n\n{probe}: {} ({rule})", shown(&line.observed, QUOTE)));
    }
    // GitLab takes findings of one first identifier on one line for the same: the first one is the finding's own.
    let own = Identifier {
        kind: "sealmark_finding_id",
        name: excerpt(&format!("{check} ({whose})"), LONGEST_NAME),
        value: print.to_owned(),
        url: None,
    };
    let rule =
        Identifier { kind: "sealmark_check_id", name: check.clone(), value: check, url: known.map(wording::page_of) };
    let cwe = known.map(weaknesses).unwrap_or_default().into_iter().map(|number| Identifier {
        kind: "cwe",
        name: format!("CWE-{number}"),
        value: number.to_string(),
        url: Some(format!("https://cwe.mitre.org/data/definitions/{number}.html")),
    });
    let place = finding.spot(&options.places).place;
    Vulnerability {
        id: uuid(print),
        name: excerpt(&format!("{whose}: {}", plain(&finding.check.title, QUOTE)), LONGEST_NAME),
        description,
        severity: severity(finding.verdict, finding.check.severity),
        solution: known.map(|check| check.explain.fix).filter(|fix| !fix.is_empty()),
        identifiers: [own, rule].into_iter().chain(cwe).collect(),
        location: Location { file: place.path, start_line: place.line },
    }
}

fn severity(verdict: Verdict, severity: Severity) -> &'static str {
    match (verdict, severity) {
        (Verdict::Fail, Severity::Critical) => "High",
        (Verdict::Fail, Severity::Scored) | (_, Severity::Critical) => "Medium",
        (Verdict::Fail, Severity::Advisory) | (_, Severity::Scored) => "Low",
        _ => "Info",
    }
}

/// A fingerprint of 32 hex digits in the form of a UUID.
fn uuid(print: &str) -> String {
    let parts = [&print[..8], &print[8..12], &print[12..16], &print[16..20], &print[20..32]];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::sample;

    fn rendered(runs: &[RunResult]) -> Value {
        serde_json::from_slice(&render(runs, &RenderOptions::default()).expect("a report")).expect("JSON")
    }

    #[test]
    fn times_have_no_zone_letter_and_survive_nonsense() {
        let report = rendered(&[sample::graded()]);
        assert_eq!(report["scan"]["start_time"], "2026-03-04T05:06:07");
        assert_eq!(report["scan"]["end_time"], "2026-03-04T05:06:08");
        for nonsense in ["", "::error::", "2026-03-04", "+123456-01-01T00:00:00Z"] {
            let mut run = sample::graded();
            run.started_at = nonsense.to_owned();
            run.duration_ms = u64::MAX;
            assert_eq!(rendered(&[run])["scan"]["start_time"], "1970-01-01T00:00:00");
        }
    }

    #[test]
    fn a_finding_is_identified_by_itself_and_its_check() {
        let mut run = sample::graded();
        run.packs.0[0].1.checks[0] = sample::check("secret-echo", Verdict::Fail, Severity::Critical, Vec::new());
        let report = rendered(&[run]);
        let first = &report["vulnerabilities"][0];
        assert_eq!(first["severity"], "High");
        let of: Vec<(&str, &str)> = (first["identifiers"].as_array().expect("identifiers").iter())
            .map(|identifier| {
                (identifier["type"].as_str().expect("type"), identifier["value"].as_str().expect("value"))
            })
            .collect();
        assert_eq!(of[1..], [("sealmark_check_id", "secret-echo"), ("cwe", "200"), ("cwe", "526"), ("cwe", "209")]);
        assert_eq!(first["id"].as_str().expect("id").replace('-', ""), of[0].1);
    }

    #[test]
    fn a_server_that_did_not_start_fails_the_scan() {
        let report = rendered(&[sample::graded(), sample::failed()]);
        assert_eq!(report["scan"]["status"], "failure");
        assert_eq!(report["scan"]["messages"][0]["level"], "fatal");
        assert_eq!(rendered(&[sample::clean()])["scan"]["status"], "success");
    }

    #[test]
    fn what_a_server_wrote_is_no_markdown_in_a_description() {
        let mut run = sample::graded();
        let check = &mut run.packs.0[1].1.checks[0];
        check.summary = "see https://evil.example/x @octocat ![x](y) <img src=x>".to_owned();
        check.evidence[0].observed = "/merge [l](https://evil.example) #1 user@evil.example".to_owned();
        run.name = "a [b](c)".to_owned();
        let report = rendered(&[run]);
        let found = |word: &str| {
            let all = report["vulnerabilities"].as_array().expect("a list");
            let all = all.iter().map(|item| item["description"].as_str().expect("text"));
            all.filter(|text| text.contains(word)).map(str::to_owned).collect::<Vec<_>>().join("\n")
        };
        let description = found("octocat");
        assert!(description.starts_with("a `[b](c),`"), "{description}");
        for code in ["`https://evil.example/x`", "`@octocat`", "`![x](y)`", "`#1`", "`[l](https://evil.example)`"] {
            assert!(description.contains(code), "{code}: {description}");
        }
        assert!(!description.contains("<img"), "{description}");
    }

    #[test]
    fn ids_are_unique_even_for_servers_of_one_name() {
        let report = rendered(&[sample::graded(), sample::graded()]);
        let ids: std::collections::BTreeSet<String> =
            (report["vulnerabilities"].as_array().expect("a list").iter()).map(|item| item["id"].to_string()).collect();
        assert_eq!(ids.len(), 8);
    }
}
