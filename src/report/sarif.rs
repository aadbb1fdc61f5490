//! SARIF 2.1.0 for code scanning: one run per server, one result per failed or partial check and tool.
//!
//! A file with more servers than code scanning reads runs of holds one run for all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::json;
use serde_sarif::sarif::{
    self, ArtifactLocation, Invocation, Location, Message, Notification, PhysicalLocation, PropertyBag, Region,
    ReportingDescriptor, ResultLevel, Run, RunAutomationDetails, Sarif, Tool, ToolComponent,
};

use super::{
    findings::{Finding, Identities, findings, hash, uri},
    json as writer,
    options::{RenderOptions, ReportError},
    places::Place,
    result::{RunResult, Status},
    sarif_rules::{LONGEST, every_rule, rule_id, rule_of},
    wording::{self, NAME, QUOTE},
};
use crate::{
    model::{Severity, Verdict},
    packs,
    text::{excerpt, terminal},
};

/// Runs that code scanning reads from one file.
const MAX_RUNS: usize = 20;
/// Results of a run that GitHub keeps and that GitLab takes at all.
const MAX_RESULTS: usize = 5_000;
/// Bytes of all results: with rules and the rest the file stays below GitLab's 10 MB, and far below that compressed.
const MAX_BYTES: usize = 9_000_000;
/// Notifications about servers that were not graded.
const MAX_NOTIFICATIONS: usize = 100;
/// The schema that the document names.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// All runs in one document.
pub(super) fn render(runs: &[RunResult], options: &RenderOptions) -> Result<Vec<u8>, ReportError> {
    let groups: Vec<Vec<&RunResult>> =
        if runs.len() > MAX_RUNS { vec![runs.iter().collect()] } else { runs.iter().map(|run| vec![run]).collect() };
    let mut drafts: Vec<Draft<'_>> = groups.into_iter().map(|runs| Draft::new(runs, options)).collect();
    cut(&mut drafts)?;
    let mut categories = BTreeSet::new();
    let runs = drafts.into_iter().enumerate().map(|(number, draft)| {
        let mut category = draft.category();
        if !categories.insert(category.clone()) {
            // A delivery with one category twice is refused as a whole.
            category = format!("{}-{number}/", category.trim_end_matches('/'));
            categories.insert(category.clone());
        }
        draft.finish(category, number == 0, options)
    });
    let log = Sarif::builder().schema(SCHEMA).version(json!("2.1.0")).runs(runs.collect::<Vec<_>>()).build();
    writer::bytes(&log)
}

/// A run with its results before anything is cut.
struct Draft<'a> {
    runs: Vec<&'a RunResult>,
    results: Vec<(Finding<'a>, sarif::Result)>,
    cut: usize,
}

/// Leaves the worst results, as many as a run and a file may hold. What stays keeps its order.
fn cut(drafts: &mut [Draft<'_>]) -> Result<(), ReportError> {
    let mut all = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        for (at, (finding, result)) in draft.results.iter().enumerate() {
            // What indentation adds: at most ten levels of two, over some fifty lines.
            let mut bytes = serde_json::to_vec(result)?.len() + 1_000;
            if packs::check(&finding.check.id).is_none() {
                bytes += serde_json::to_vec(&rule_of(finding.pack, finding.check))?.len() + 500;
            }
            all.push((finding.rank(), at, number, bytes));
        }
    }
    all.sort();
    let (mut bytes, mut kept) = (0, vec![BTreeSet::new(); drafts.len()]);
    for (_, at, number, size) in all {
        if kept[number].len() < MAX_RESULTS && bytes + size <= MAX_BYTES {
            bytes += size;
            kept[number].insert(at);
        }
    }
    for (draft, kept) in drafts.iter_mut().zip(kept) {
        draft.cut = draft.results.len() - kept.len();
        let mut at = 0;
        draft.results.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
    }
    Ok(())
}

impl<'a> Draft<'a> {
    fn new(runs: Vec<&'a RunResult>, options: &RenderOptions) -> Self {
        let mut identities = Identities::default();
        let results = (runs.iter().flat_map(|run| findings(run)))
            .map(|finding| {
                let result = result(&finding, identities.unique(finding.fingerprint()), options);
                (finding, result)
            })
            .collect();
        Self { runs, results, cut: 0 }
    }

    /// The stable category of the results: everything before the last slash.
    fn category(&self) -> String {
        match self.runs.as_slice() {
            [run] => category(&run.name),
            _ => "sealmark/".to_owned(),
        }
    }

    /// The first run of a file lists every rule; the others what they refer to, or twenty servers would be twenty copies.
    fn finish(self, category: String, every: bool, options: &RenderOptions) -> Run {
        let mut rules: Vec<ReportingDescriptor> = if every { every_rule() } else { Vec::new() };
        let mut index: BTreeMap<String, usize> =
            rules.iter().enumerate().map(|(at, rule)| (rule.id.clone(), at)).collect();
        let (runs, cut) = (self.runs, self.cut);
        let results = self.results.into_iter().map(|(finding, mut result)| {
            let at = *index.entry(rule_id(&finding.check.id)).or_insert_with(|| {
                rules.push(rule_of(finding.pack, finding.check));
                rules.len() - 1
            });
            result.rule_index = Some(at as i64);
            result
        });
        let results: Vec<sarif::Result> = results.collect();
        let version = plain(runs.first().map_or(env!("CARGO_PKG_VERSION"), |run| &run.sealmark.version), NAME);
        let driver = ToolComponent::builder()
            .name("sealmark")
            .version(version.clone())
            .semantic_version(version)
            .information_uri(env!("CARGO_PKG_REPOSITORY"))
            .rules(rules)
            .build();
        Run::builder()
            .tool(Tool::builder().driver(driver).build())
            .automation_details(RunAutomationDetails::builder().id(category).build())
            .invocations(vec![invocation(&runs, cut, options)])
            .column_kind(json!("unicodeCodePoints"))
            .results(results)
            .properties(properties(&runs))
            .build()
    }
}

/// One visible line in SARIF's plain text, where square brackets are links unless escaped (§ 3.11.6).
fn plain(text: &str, max_chars: usize) -> String {
    terminal::line(&excerpt(text, max_chars)).replace('[', "\\[").replace(']', "\\]")
}

fn category(server: &str) -> String {
    let short = excerpt(server, 100);
    let mut name: String = terminal::line(&short).chars().map(|c| if c == '/' { '-' } else { c }).collect();
    if short != server || server.contains('/') {
        // What was changed may fall together with another name.
        name.push_str(&format!("-{}", &hash(&[server])[..8]));
    }
    format!("sealmark/{name}/")
}

/// How the runs went. A server that was not graded makes the execution unsuccessful: that it has no results is no news.
fn invocation(runs: &[&RunResult], cut: usize, options: &RenderOptions) -> Invocation {
    let graded = |run: &&RunResult| matches!(run.status, Status::Graded | Status::NothingGraded);
    let start = runs.iter().map(|run| run.started_at.as_str()).min().unwrap_or_default();
    let mut invocation = Invocation::builder()
        .execution_successful(runs.iter().all(graded))
        .exit_code(i64::from(options.gate.exit_code))
        .start_time_utc(plain(start, NAME))
        .build();
    let several = runs.len() > 1;
    let ended = runs.iter().filter_map(|run| {
        let level = if run.status == Status::NothingGraded { "warning" } else { "error" };
        let server = if several { format!("{}: ", run.name) } else { String::new() };
        Some((level, format!("{server}{}", wording::ending(run)?)))
    });
    let mut notes: Vec<(&str, String)> = ended.collect();
    if notes.len() > MAX_NOTIFICATIONS {
        let more = notes.split_off(MAX_NOTIFICATIONS).len();
        notes.push(("error", format!("{} not graded either", wording::counted(more, "more server"))));
    }
    if cut > 0 {
        let cut = wording::counted(cut, "result");
        let text = format!("{cut} did not fit into this file, the least severe ones; the JSON report has all of them");
        notes.push(("warning", text));
    }
    if !notes.is_empty() {
        let built = notes.into_iter().map(|(level, text)| {
            let message = Message::builder().text(plain(&text, LONGEST)).build();
            Notification::builder().level(json!(level)).message(message).build()
        });
        invocation.tool_execution_notifications = Some(built.collect());
    }
    invocation
}

fn properties(runs: &[&RunResult]) -> PropertyBag {
    let mut more = BTreeMap::new();
    match runs {
        [run] => {
            let grades: serde_json::Map<String, serde_json::Value> = (run.packs.0.iter())
                .filter_map(|(id, pack)| Some((terminal::line(&excerpt(id, NAME)), json!(wording::letter(pack)?))))
                .collect();
            more.insert("standing".to_owned(), json!(wording::label(run)));
            more.insert("methodology".to_owned(), json!(plain(&run.sealmark.methodology, NAME)));
            more.insert("configHash".to_owned(), json!(plain(&run.config.hash, NAME)));
            more.insert("server".to_owned(), json!(plain(&run.name, NAME)));
            more.insert("grades".to_owned(), json!(grades));
            more.insert("durationMs".to_owned(), json!(run.duration_ms));
        }
        runs => {
            let standard = runs.iter().filter(|run| run.config.standard).count();
            more.insert("servers".to_owned(), json!(runs.len()));
            more.insert("standardServers".to_owned(), json!(standard));
        }
    }
    PropertyBag::builder().additional_properties(more).build()
}

fn result(finding: &Finding<'_>, print: String, options: &RenderOptions) -> sarif::Result {
    let level = match (finding.verdict, finding.check.severity) {
        (Verdict::Fail, Severity::Advisory) => ResultLevel::Warning,
        (Verdict::Fail, _) => ResultLevel::Error,
        (_, Severity::Advisory) => ResultLevel::Note,
        _ => ResultLevel::Warning,
    };
    let spot = finding.spot(&options.places);
    let mut built = sarif::Result::builder()
        .rule_id(rule_id(&finding.check.id))
        .level(level)
        .message(Message::builder().text(message(finding)).build())
        .locations(vec![location(&spot.place)])
        .partial_fingerprints(BTreeMap::from([("primaryLocationLineHash".to_owned(), format!("{print}:1"))]))
        .build();
    // The first location is the one that is shown; both are named, so that the other one is a click away.
    let mut related = Vec::new();
    if let (Some(configuration), Some(tool)) = (&spot.configuration, finding.tool) {
        related.push((&spot.place, format!("the line that registers {}", plain(tool, NAME))));
        related.push((configuration, format!("the configuration of {}", plain(&finding.run.name, NAME))));
    }
    if !related.is_empty() {
        let related = related.into_iter().enumerate().map(|(number, (place, text))| {
            let mut location = location(place);
            location.id = Some(number as i64 + 1);
            location.message = Some(Message::builder().text(text).build());
            location
        });
        built.related_locations = Some(related.collect());
    }
    let mut more = BTreeMap::from([
        ("verdict".to_owned(), json!(finding.verdict.as_str())),
        ("server".to_owned(), json!(plain(&finding.run.name, NAME))),
    ]);
    more.extend(finding.tool.map(|tool| ("tool".to_owned(), json!(plain(tool, NAME)))));
    built.properties = Some(PropertyBag::builder().additional_properties(more).build());
    built
}

/// The first sentence is the alert's title: which server, which tool, what is wrong.
fn message(finding: &Finding<'_>) -> String {
    let server = plain(&finding.run.name, NAME);
    let place = match finding.tool {
        Some(tool) => format!("{server}, tool {}", plain(tool, NAME)),
        None => server,
    };
    let mut text = format!("{place}: {}", plain(&finding.check.summary, QUOTE));
    if finding.more_tools > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, " (and {})", wording::counted(finding.more_tools, "more tool"));
    }
    for line in finding.lines.iter().take(3) {
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

fn location(place: &Place) -> Location {
    let region = Region::builder().start_line(i64::from(place.line)).start_column(1).build();
    let artifact = ArtifactLocation::builder().uri(uri(&place.path)).build();
    let place = PhysicalLocation::builder().artifact_location(artifact).region(region).build();
    Location::builder().physical_location(place).build()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::{findings, sample};

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
        let hostile = sample::hostile(&"x".repeat(10_000));
        let found = findings(&hostile);
        let unknown = found.iter().map(|finding| rule_of(finding.pack, finding.check));
        for rule in every_rule().into_iter().chain(unknown) {
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
        assert_eq!(results.len(), findings::MAX_TOOLS + 1);
        assert!(
            results[findings::MAX_TOOLS]["message"]["text"]
                .as_str()
                .is_some_and(|text| text.contains("and 150 more tools"))
        );
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
    fn a_tool_is_pointed_at_where_it_is_registered() {
        let place = Place { path: "src/a b.ts".to_owned(), line: 12 };
        let places = crate::report::Places {
            registered: BTreeMap::from([(("shop".to_owned(), "query".to_owned()), place)]),
            ..Default::default()
        };
        let options = RenderOptions { places, ..RenderOptions::default() };
        let of = |options: &RenderOptions| -> Value {
            serde_json::from_slice(&render(&[sample::graded()], options).expect("SARIF")).expect("JSON")
        };
        let (with, without) = (of(&options), of(&RenderOptions::default()));
        let at = |value: &Value| {
            let place = &value["physicalLocation"];
            let line = place["region"]["startLine"].as_u64().expect("a line");
            format!("{}:{line}", place["artifactLocation"]["uri"].as_str().expect("uri"))
        };
        for (moved, fallen_back) in (with["runs"][0]["results"].as_array().expect("results").iter())
            .zip(without["runs"][0]["results"].as_array().expect("results"))
        {
            assert_eq!(moved["partialFingerprints"], fallen_back["partialFingerprints"]);
            assert_eq!(at(&fallen_back["locations"][0]), "conf/sealmark.yaml:7");
            assert_eq!(fallen_back["relatedLocations"], Value::Null);
            if moved["properties"]["tool"] == "query" {
                assert_eq!(at(&moved["locations"][0]), "src/a%20b.ts:12");
                assert_eq!(at(&moved["relatedLocations"][0]), "src/a%20b.ts:12");
                assert_eq!(at(&moved["relatedLocations"][1]), "conf/sealmark.yaml:7");
            } else {
                assert_eq!(at(&moved["locations"][0]), "conf/sealmark.yaml:7");
            }
        }
    }

    #[test]
    fn more_servers_than_a_file_holds_share_one_run() {
        let runs: Vec<RunResult> =
            (0..=MAX_RUNS).map(|number| RunResult { name: format!("shop-{number}"), ..sample::graded() }).collect();
        assert_eq!(document(&runs[..MAX_RUNS])["runs"].as_array().map(Vec::len), Some(MAX_RUNS));
        let document = document(&runs);
        assert_eq!(document["runs"].as_array().map(Vec::len), Some(1));
        assert_eq!(document["runs"][0]["automationDetails"]["id"], "sealmark/");
        let results = document["runs"][0]["results"].as_array().expect("results");
        assert_eq!(results.len(), 4 * runs.len());
        let prints: BTreeSet<String> = results.iter().map(|result| result["partialFingerprints"].to_string()).collect();
        assert_eq!(prints.len(), results.len());
    }

    #[test]
    fn later_runs_list_the_rules_they_refer_to() {
        let runs: Vec<RunResult> =
            (0..3).map(|number| RunResult { name: format!("shop-{number}"), ..sample::graded() }).collect();
        let document = document(&runs);
        for (number, run) in document["runs"].as_array().expect("runs").iter().enumerate() {
            let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
            assert_eq!(rules.len() >= crate::packs::checks().count(), number == 0);
            for result in run["results"].as_array().expect("results") {
                assert_eq!(rules[result["ruleIndex"].as_u64().expect("index") as usize]["id"], result["ruleId"]);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_the_least_severe_and_is_counted() {
        let mut run = sample::graded();
        // 40 critical fails come last and must stay; the advisory ones before them go first.
        let lines = |start: usize, count: usize| -> Vec<_> {
            (start..start + count)
                .map(|number| sample::evidence("case", Some(&format!("tool_{number}")), Verdict::Fail))
                .collect()
        };
        let mut checks: Vec<_> = (0..60)
            .map(|number| sample::check(&format!("advice-{number}"), Verdict::Fail, Severity::Advisory, lines(0, 100)))
            .collect();
        checks.push(sample::check("grave", Verdict::Fail, Severity::Critical, lines(0, 40)));
        run.packs.0.truncate(1);
        run.packs.0[0].1.checks = checks;
        let rendered = render(&[run], &RenderOptions::default()).expect("SARIF");
        assert!(rendered.len() < 10_000_000, "{}", rendered.len());
        let document: Value = serde_json::from_slice(&rendered).expect("JSON");
        let results = document["runs"][0]["results"].as_array().expect("results");
        assert!(results.len() <= MAX_RESULTS);
        assert_eq!(results.iter().filter(|result| result["ruleId"] == "grave").count(), 40);
        let notes = document["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes");
        let gone = 60 * 100 + 40 - results.len();
        assert!(
            notes[0]["message"]["text"].as_str().expect("text").starts_with(&format!("{gone} results did not fit"))
        );
    }

    #[test]
    fn twenty_loud_servers_stay_below_every_size() {
        let loud = |number: usize| {
            let mut run = sample::graded();
            run.name = format!("{number}-{}", "é".repeat(90));
            let check = |number: usize| {
                let long = "ü\"".repeat(200);
                let lines = (0..100).map(|number| {
                    let mut line = sample::evidence(&long, Some(&format!("{long}{number}")), Verdict::Fail);
                    line.observed = long.clone();
                    line
                });
                sample::check(&format!("own-{number}"), Verdict::Fail, Severity::Scored, lines.collect())
            };
            run.packs.0[0].1.checks = (0..10).map(check).collect();
            run
        };
        let runs: Vec<RunResult> = (0..20).map(loud).collect();
        let rendered = render(&runs, &RenderOptions::default()).expect("SARIF");
        assert!(rendered.len() < 10_000_000, "{}", rendered.len());
    }

    #[test]
    fn servers_of_one_name_have_categories_of_their_own() {
        let document = document(&[sample::clean(), sample::clean()]);
        let of = |number: usize| document["runs"][number]["automationDetails"]["id"].clone();
        assert_eq!(of(0), "sealmark/toy/");
        assert_eq!(of(1), "sealmark/toy-1/");
    }
}
