//! SARIF 2.1.0 for code scanning: one run per server, one result per failed or partial check and tool.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::json;
use serde_sarif::sarif::{
    self, ArtifactLocation, Invocation, Location, Message, Notification, PhysicalLocation, PropertyBag, Region,
    ReportingDescriptor, ResultLevel, Run, RunAutomationDetails, Sarif, Tool, ToolComponent,
};
use sha2::{Digest, Sha256};

use super::{
    json as writer,
    options::{RenderOptions, ReportError},
    result::{CheckResult, EvidenceFacts, RunResult, Status},
    sarif_rules::{LONGEST, rule_id, rules},
    wording::{self, NAME, QUOTE},
};
use crate::{
    model::{Severity, Verdict},
    text::{excerpt, terminal},
};

/// Runs that code scanning reads from one file.
const MAX_RUNS: usize = 20;
/// Tools of one check that get a result of their own; the rest share one.
const MAX_TOOLS: usize = 100;
/// The schema that the document names.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The place of a run without a configuration file: where one would stand.
const DEFAULT_PATH: &str = "sealmark.yaml";

/// All runs in one document.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    if runs.len() > MAX_RUNS {
        return Err(ReportError::TooManyRuns { servers: runs.len(), limit: MAX_RUNS });
    }
    let log = Sarif::builder()
        .schema(SCHEMA)
        .version(json!("2.1.0"))
        .runs(runs.iter().map(|run| self::run(run, options)).collect::<Vec<_>>())
        .build();
    writer::bytes(&log)
}

fn run(run: &RunResult, options: &RenderOptions) -> Run {
    let rules = rules(run);
    let results: Vec<sarif::Result> =
        run.packs.0.iter().flat_map(|(_, pack)| &pack.checks).flat_map(|check| results(run, check, &rules)).collect();
    let version = plain(&run.sealmark.version, NAME);
    let driver = ToolComponent::builder()
        .name("sealmark")
        .version(version.clone())
        .semantic_version(version)
        .information_uri(env!("CARGO_PKG_REPOSITORY"))
        .rules(rules)
        .build();
    Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .automation_details(RunAutomationDetails::builder().id(category(&run.name)).build())
        .invocations(vec![invocation(run, options)])
        .column_kind(json!("unicodeCodePoints"))
        .results(results)
        .properties(properties(run))
        .build()
}

/// One visible line in SARIF's plain text, where square brackets are links unless escaped (§ 3.11.6).
fn plain(text: &str, max_chars: usize) -> String {
    terminal::line(&excerpt(text, max_chars)).replace('[', "\\[").replace(']', "\\]")
}

/// The stable category of a server's results: everything before the last slash.
fn category(server: &str) -> String {
    let short = excerpt(server, 100);
    let mut name: String = terminal::line(&short).chars().map(|c| if c == '/' { '-' } else { c }).collect();
    if short != server || server.contains('/') {
        // What was changed may fall together with another name.
        name.push_str(&format!("-{}", &hash(&[server])[..8]));
    }
    format!("sealmark/{name}/")
}

fn invocation(run: &RunResult, options: &RenderOptions) -> Invocation {
    let mut invocation = Invocation::builder()
        .execution_successful(matches!(run.status, Status::Graded | Status::NothingGraded))
        .exit_code(i64::from(options.gate.exit_code))
        .start_time_utc(plain(&run.started_at, NAME))
        .build();
    if let Some(ending) = wording::ending(run) {
        let level = if run.status == Status::NothingGraded { "warning" } else { "error" };
        let message = Message::builder().text(plain(&ending, LONGEST)).build();
        invocation.tool_execution_notifications =
            Some(vec![Notification::builder().level(json!(level)).message(message).build()]);
    }
    invocation
}

fn properties(run: &RunResult) -> PropertyBag {
    let grades: serde_json::Map<String, serde_json::Value> = (run.packs.0.iter())
        .filter_map(|(id, pack)| Some((terminal::line(&excerpt(id, NAME)), json!(wording::letter(pack)?))))
        .collect();
    let more = BTreeMap::from([
        ("standing".to_owned(), json!(wording::label(run))),
        ("methodology".to_owned(), json!(plain(&run.sealmark.methodology, NAME))),
        ("configHash".to_owned(), json!(plain(&run.config.hash, NAME))),
        ("server".to_owned(), json!(plain(&run.name, NAME))),
        ("grades".to_owned(), json!(grades)),
        ("durationMs".to_owned(), json!(run.duration_ms)),
    ]);
    PropertyBag::builder().additional_properties(more).build()
}

/// The results of one check: one per tool that its evidence names, and one for what names none.
fn results(run: &RunResult, check: &CheckResult, rules: &[ReportingDescriptor]) -> Vec<sarif::Result> {
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
    let rest = tools.split_off(tools.len().min(MAX_TOOLS));
    let mut results: Vec<sarif::Result> =
        tools.into_iter().map(|(tool, lines)| result(run, check, rules, Some(tool), &lines, 0)).collect();
    if !general.is_empty() || !rest.is_empty() || results.is_empty() {
        let more = rest.len();
        general.extend(rest.into_iter().flat_map(|(_, lines)| lines));
        results.push(result(run, check, rules, None, &general, more));
    }
    results
}

fn result(
    run: &RunResult,
    check: &CheckResult,
    rules: &[ReportingDescriptor],
    tool: Option<&str>,
    lines: &[&EvidenceFacts],
    more_tools: usize,
) -> sarif::Result {
    // A line may say less than its check, never more.
    let verdict = lines.iter().map(|line| line.verdict).min().unwrap_or(check.verdict).max(check.verdict);
    let level = match (verdict, check.severity) {
        (Verdict::Fail, Severity::Advisory) => ResultLevel::Warning,
        (Verdict::Fail, _) => ResultLevel::Error,
        (_, Severity::Advisory) => ResultLevel::Note,
        _ => ResultLevel::Warning,
    };
    let id = rule_id(&check.id);
    let index = rules.iter().position(|rule| rule.id == id).unwrap_or_default();
    let fingerprint = format!("{}:1", &hash(&[&check.id, &run.name, tool.unwrap_or_default()])[..32]);
    let mut built = sarif::Result::builder()
        .rule_id(id)
        .rule_index(index as i64)
        .level(level)
        .message(Message::builder().text(message(run, check, tool, lines, more_tools)).build())
        .locations(vec![location(run)])
        .partial_fingerprints(BTreeMap::from([("primaryLocationLineHash".to_owned(), fingerprint)]))
        .build();
    let mut more = BTreeMap::from([("verdict".to_owned(), json!(verdict.as_str()))]);
    more.extend(tool.map(|tool| ("tool".to_owned(), json!(plain(tool, NAME)))));
    built.properties = Some(PropertyBag::builder().additional_properties(more).build());
    built
}

/// The first sentence is the alert's title: which server, which tool, what is wrong.
fn message(
    run: &RunResult,
    check: &CheckResult,
    tool: Option<&str>,
    lines: &[&EvidenceFacts],
    more_tools: usize,
) -> String {
    let place = match tool {
        Some(tool) => format!("{}, tool {}", plain(&run.name, NAME), plain(tool, NAME)),
        None => plain(&run.name, NAME),
    };
    let mut text = format!("{place}: {}", plain(&check.summary, QUOTE));
    if more_tools > 0 {
        let _ = write!(text, " (and {})", wording::counted(more_tools, "more tool")); // writing to a String cannot fail
    }
    for line in lines.iter().take(3) {
        let _ = write!(
            text,
            "\n{}: {} ({})",
            plain(&line.probe, NAME),
            plain(&line.observed, QUOTE),
            plain(&line.rule, NAME)
        );
    }
    // Escapes lengthen the pieces: cut once more, at a character.
    if text.chars().count() > LONGEST { text.chars().take(LONGEST - 1).chain(['…']).collect() } else { text }
}

fn location(run: &RunResult) -> Location {
    let region = Region::builder().start_line(i64::from(run.config.line.unwrap_or(1).max(1))).start_column(1).build();
    let artifact = ArtifactLocation::builder().uri(uri(run.config.path.as_deref())).build();
    let place = PhysicalLocation::builder().artifact_location(artifact).region(region).build();
    Location::builder().physical_location(place).build()
}

/// A path below the working directory as a relative reference; one that leads elsewhere is reduced to its name.
fn uri(path: Option<&str>) -> String {
    let path = path.unwrap_or(DEFAULT_PATH).replace('\\', "/");
    let path = path.trim_start_matches("./");
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let outside = path.starts_with('/') || path.chars().nth(1) == Some(':') || parts.contains(&"..");
    let kept = if outside { parts.last().copied().filter(|name| *name != "..").into_iter().collect() } else { parts };
    let mut out = String::new();
    for (number, part) in kept.iter().enumerate() {
        if number > 0 {
            out.push('/');
        }
        for byte in excerpt(part, 255).bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
                byte => {
                    let _ = write!(out, "%{byte:02X}"); // writing to a String cannot fail
                }
            }
        }
    }
    if out.is_empty() { DEFAULT_PATH.to_owned() } else { out }
}

/// SHA-256 of the parts, each ended by a zero byte, in hex.
fn hash(parts: &[&str]) -> String {
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
    use serde_json::Value;

    use super::*;
    use crate::report::sample;

    fn document(runs: &[RunResult]) -> Value {
        serde_json::from_slice(&render(runs, &RenderOptions::default()).expect("SARIF")).expect("JSON")
    }

    #[test]
    fn a_failed_check_has_one_result_per_tool() {
        let document = document(&[sample::graded()]);
        let results = document["runs"][0]["results"].as_array().expect("results");
        let of: Vec<(&str, &str, Option<&str>)> = (results.iter())
            .map(|result| {
                let word = |value: &Value| value.as_str().map(str::to_owned).map(|word| &*word.leak());
                let tool = word(&result["properties"]["tool"]);
                (word(&result["ruleId"]).expect("rule"), word(&result["level"]).expect("level"), tool)
            })
            .collect();
        assert_eq!(
            of,
            [
                ("refusal-quality", "note", Some("echo")),
                ("mutating-sql", "error", Some("query")),
                ("mutating-sql", "warning", Some("run_sql")),
                ("db-row-cap", "warning", None),
            ]
        );
    }

    #[test]
    fn every_result_points_at_its_rule_and_at_the_configuration() {
        for run in [sample::graded(), sample::hostile(sample::HOSTILE)] {
            let document = document(&[run]);
            let run = &document["runs"][0];
            let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
            assert!(rules.len() >= crate::packs::checks().count());
            let results = run["results"].as_array().expect("results");
            assert!(!results.is_empty());
            let mut prints = std::collections::BTreeSet::new();
            for result in results {
                let at = result["ruleIndex"].as_u64().expect("index") as usize;
                assert_eq!(rules[at]["id"], result["ruleId"]);
                let place = &result["locations"][0]["physicalLocation"];
                let uri = place["artifactLocation"]["uri"].as_str().expect("uri");
                assert!(!uri.is_empty() && !uri.starts_with('/') && !uri.contains(".."), "{uri}");
                assert_eq!(place["region"]["startLine"], 7);
                assert!(result["message"]["text"].as_str().expect("text").chars().count() <= LONGEST);
                prints.insert(
                    result["partialFingerprints"]["primaryLocationLineHash"].as_str().expect("hash").to_owned(),
                );
            }
            assert!(prints.len() > 1);
        }
    }

    #[test]
    fn rules_stay_within_the_platforms_limits() {
        for rule in rules(&sample::hostile(&"x".repeat(10_000))) {
            let chars = |message: &Option<serde_sarif::sarif::MultiformatMessageString>| {
                message.as_ref().map_or(0, |message| message.text.chars().count())
            };
            assert!((1..=1024).contains(&chars(&rule.short_description)));
            assert!((1..=1024).contains(&chars(&rule.full_description)));
            assert!(chars(&rule.help) > 0);
            assert!(rule.name.as_ref().is_some_and(|name| name.len() <= 255));
            let bag = rule.properties.as_ref().expect("properties");
            assert!(bag.tags.as_ref().is_some_and(|tags| tags.len() <= 10));
            if let Some(score) = bag.additional_properties.get("security-severity") {
                let score: f64 = score.as_str().expect("text").parse().expect("a number");
                assert!(score > 0.0 && score <= 10.0);
            }
        }
    }

    #[test]
    fn many_tools_are_bounded_and_counted() {
        let mut run = sample::graded();
        let lines = (0..250).map(|number| sample::evidence("case", Some(&format!("tool_{number}")), Verdict::Fail));
        run.packs.0[1].1.checks[0].evidence = lines.collect();
        let document = document(&[run]);
        let results: Vec<&Value> = (document["runs"][0]["results"].as_array().expect("results").iter())
            .filter(|result| result["ruleId"] == "mutating-sql")
            .collect();
        assert_eq!(results.len(), MAX_TOOLS + 1);
        assert!(results[MAX_TOOLS]["message"]["text"].as_str().is_some_and(|text| text.contains("and 150 more tools")));
    }

    #[test]
    fn a_failed_run_is_a_notification() {
        let document = document(&[sample::failed()]);
        let invocation = &document["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
        assert_eq!(document["runs"][0]["results"], json!([]));
    }

    #[test]
    fn categories_end_with_a_slash_and_stay_apart() {
        assert_eq!(category("shop"), "sealmark/shop/");
        assert_ne!(category("a/b"), category("a-b"));
        assert_ne!(category(&"x".repeat(200)), category(&"x".repeat(201)));
    }

    #[test]
    fn paths_are_relative_references() {
        for (path, expected) in [
            (None, "sealmark.yaml"),
            (Some("./a b/ü.yaml"), "a%20b/%C3%BC.yaml"),
            (Some("/home/me/x.yaml"), "x.yaml"),
            (Some("../other/x.yaml"), "x.yaml"),
            (Some("C:\\me\\x.yaml"), "x.yaml"),
            (Some(".."), "sealmark.yaml"),
        ] {
            assert_eq!(uri(path), expected, "{path:?}");
        }
    }

    #[test]
    fn more_servers_than_a_file_holds_are_refused() {
        let runs = vec![sample::clean(); MAX_RUNS + 1];
        let error = render(&runs, &RenderOptions::default()).expect_err("too many");
        assert_eq!(error.to_string(), "a SARIF file holds at most 20 servers, and this run has 21");
    }
}
