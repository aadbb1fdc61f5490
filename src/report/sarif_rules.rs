//! The SARIF rules: one per check of the registry, with its whole explanation.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use serde_sarif::sarif::{MultiformatMessageString, PropertyBag, ReportingConfiguration, ReportingDescriptor};

use super::{
    result::CheckResult,
    wording::{self, NAME},
};
use crate::{
    check::{Check, Pack},
    model::Severity,
    packs,
    text::{excerpt, terminal},
};

/// Longest description that GitHub and GitLab read, in characters.
pub(super) const LONGEST: usize = 1000;
/// Tags of a rule that they keep.
const MAX_TAGS: usize = 10;

/// The rules of the registry.
pub(super) fn every_rule() -> Vec<ReportingDescriptor> {
    packs::checks().map(|(pack, check)| rule(pack, check)).collect()
}

/// The rule of one check of a run, which the registry need not know.
pub(super) fn rule_of(pack: &str, found: &CheckResult) -> ReportingDescriptor {
    match packs::check(&found.id) {
        Some((pack, check)) => rule(pack, check),
        None => unknown(rule_id(&found.id), pack, found),
    }
}

/// A check's id as a rule's.
pub(super) fn rule_id(check: &str) -> String {
    plain(check, NAME)
}

/// One visible line, never empty: empty strings are refused.
fn plain(text: &str, max_chars: usize) -> String {
    let text = terminal::line(&excerpt(text, max_chars));
    if text.trim().is_empty() { "not described".to_owned() } else { text }
}

fn rule(pack: &Pack, check: &Check) -> ReportingDescriptor {
    let explain = &check.explain;
    let short = plain(check.title, LONGEST);
    let full = plain(if explain.what.is_empty() { check.title } else { explain.what }, LONGEST);
    let properties = properties(pack.id, check.severity, check.candidate, &weaknesses(check));
    ReportingDescriptor::builder()
        .id(check.id)
        .name(name(check.id))
        .short_description(message(&short))
        .full_description(message(&full))
        .help(MultiformatMessageString::builder().text(help(check, false)).markdown(help(check, true)).build())
        .help_uri(wording::page_of(check))
        .default_configuration(configuration(check.severity))
        .properties(properties)
        .build()
}

fn unknown(id: String, pack: &str, check: &CheckResult) -> ReportingDescriptor {
    let title = plain(&check.title, LONGEST);
    ReportingDescriptor::builder()
        .name(name(&id))
        .id(id)
        .short_description(message(&title))
        .full_description(message(&title))
        .help(message(&title))
        .default_configuration(configuration(check.severity))
        .properties(properties(&plain(pack, NAME), check.severity, check.candidate, &[]))
        .build()
}

/// A rule's friendly name: the id's words in Pascal case, and never the id itself, as SARIF's own rules ask for.
fn name(id: &str) -> String {
    let mut name = String::from("Mcp");
    for word in id.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        name.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(chars.as_str());
    }
    name
}

fn message(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

fn configuration(severity: Severity) -> ReportingConfiguration {
    let level = if severity == Severity::Advisory { "warning" } else { "error" };
    ReportingConfiguration::builder().level(json!(level)).build()
}

/// The CWE numbers among a check's references.
pub(super) fn weaknesses(check: &Check) -> Vec<u32> {
    let number = |reference: &&str| {
        let rest = reference.split_once("cwe.mitre.org/data/definitions/")?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    check.explain.references.iter().filter_map(number).collect()
}

fn properties(pack: &str, severity: Severity, candidate: bool, weaknesses: &[u32]) -> PropertyBag {
    let security = security_severity(pack, severity);
    let subject = if security.is_some() { "security" } else { "conformance" };
    // A pack's name is prefixed: a tag may stand only once.
    let mut tags = vec!["mcp".to_owned(), subject.to_owned(), severity.as_str().to_owned(), format!("pack-{pack}")];
    if candidate {
        tags.push("candidate".to_owned());
    }
    // GitLab reads the first form as an identifier, GitHub shows the second.
    tags.extend(weaknesses.iter().map(|number| format!("cwe-{number}")));
    tags.extend(weaknesses.iter().map(|number| format!("external/cwe/cwe-{number:03}")));
    tags.truncate(MAX_TAGS);
    let mut more = BTreeMap::from([("precision".to_owned(), json!("high"))]);
    match security {
        Some(score) => more.insert("security-severity".to_owned(), json!(score)),
        None => {
            let level = if severity == Severity::Advisory { "recommendation" } else { "warning" };
            more.insert("problem.severity".to_owned(), Value::from(level))
        }
    };
    PropertyBag::builder().tags(tags).additional_properties(more).build()
}

/// How dangerous a fail is, as code scanning counts (0 to 10, high from 7.0). Critical checks are about security in every
/// pack; of the others core and spec look at hygiene and conformance.
fn security_severity(pack: &str, severity: Severity) -> Option<&'static str> {
    match (severity, pack) {
        (Severity::Critical, _) => Some("8.8"),
        (_, "core" | "spec") => None,
        (Severity::Scored, _) => Some("5.5"),
        (Severity::Advisory, _) => Some("3.0"),
    }
}

/// The whole explanation. It is our own text, with backticks in it: safe as Markdown.
fn help(check: &Check, markdown: bool) -> String {
    let explain = &check.explain;
    let mut out = String::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            let gap = if out.is_empty() { "" } else { "\n\n" };
            let title = if markdown { format!("## {title}\n\n") } else { format!("{title}\n") };
            out.push_str(&format!("{gap}{title}{body}"));
        }
    };
    let pairs = |pairs: &[(&str, &str)]| {
        let lines: Vec<String> = (pairs.iter())
            .map(|(word, text)| if markdown { format!("- `{word}`: {text}") } else { format!("- {word}: {text}") })
            .collect();
        lines.join("\n")
    };
    section("What it measures", if explain.what.is_empty() { check.title.to_owned() } else { explain.what.to_owned() });
    section("Why it matters", explain.why.to_owned());
    section("What to fix", explain.fix.to_owned());
    section("How the verdict follows", pairs(explain.verdicts));
    section("Rules in the evidence", pairs(explain.rules));
    section("Known false positives", explain.false_positives.to_owned());
    section("Known false negatives", explain.false_negatives.to_owned());
    let references: Vec<String> = explain.references.iter().map(|reference| format!("- {reference}")).collect();
    section("References", references.join("\n"));
    out
}
