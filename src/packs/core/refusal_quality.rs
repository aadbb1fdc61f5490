//! `refusal-quality`: refusals say what to do instead.

use std::collections::BTreeMap;

use regex_lite::{Regex, RegexBuilder};

use super::robust::{
    reading::{Manner, read},
    survival::{cut, listed},
};
use crate::{
    check::{ActView, Check, Explain, Knob, KnobDefault, Scope, View},
    model::{Judgement, Line, Role, Severity, Verdict},
};

/// Evidence lines of tools whose refusals do not help; what is beyond is counted.
const MAX_LINES: usize = 20;
/// Characters of a refusal that are matched.
const MAX_TEXT: usize = 4_000;

/// The check.
pub static CHECK: Check = Check {
    id: "refusal-quality",
    title: "Refusals say what to do instead",
    severity: Severity::Advisory,
    candidate: true,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: Explain {
        what: "Whether the refusals that `robust-input` provokes help the caller: a tool passes when at least one of its refusals names the \
               parameter that is wrong, or says what would be right (`checks.refusal-quality.patterns`).",
        why: "The caller is a model that reads the refusal and tries again. A refusal that names the parameter is mended in one step; \
              `Invalid input` is retried the same way until the conversation is full.",
        verdicts: &[
            ("pass", "every tool that refused a call has a refusal that names the parameter or matches a pattern"),
            ("part", "some tools have one"),
            ("fail", "no tool has one"),
            ("na", "no tool refused a call"),
        ],
        rules: &[
            ("refusal.names", "a refusal names the wrong parameter"),
            ("refusal.routes", "a refusal matches one of the patterns"),
            ("refusal.bare", "no refusal of the tool does either"),
        ],
        probes: &[(
            "invalid-calls",
            "the calls of `robust-input` that a tool refused; left out are the unknown tool and `arguments` that are no object, which the SDK answers",
        )],
        fix: "Say which parameter is wrong, what was expected, and what to use instead: `depth must be between 1 and 5`, `use list_files to \
              find the path first`.",
        false_positives: "A refusal in another language than English, or one that gives the remedy only in a link, is not recognised: add a \
                          pattern.",
        false_negatives: "A refusal that echoes all arguments names the parameter without explaining anything.",
        references: &["MCP specification, server/tools, Error Handling"],
    },
    knobs: &[Knob {
        key: "patterns",
        default: KnobDefault::Texts(&[
            r"\buse\b",
            r"\binstead\b",
            r"\bmust\b",
            r"\bexpected\b",
            r"\brequired\b",
            r"\bshould be\b",
            r"\bvalid (?:values|options)\b",
            r"\bone of\b",
            r"\ballowed\b",
            r"\bof type\b",
            r"\bsupported\b",
            r"\bsee\b",
            r"\btry\b",
            r"\bprovide\b",
            r"(?:^|[.!?;:(]\s*|\bplease\s+)(?:add|check|choose|pass|run|set|specify)\b",
        ]),
        locked: false,
        help: "Regular expressions, case ignored; a refusal that matches one says what to do. What is no regular expression is taken as text.",
    }],
    needs: &["invalid-calls"],
    judge,
};

/// What a tool's refusals are worth.
struct Refusals<'t> {
    count: usize,
    first: ActView<'t>,
    text: String,
    helps: Option<(&'static str, ActView<'t>)>,
}

fn judge(view: &View<'_>) -> Judgement {
    let patterns: Vec<Regex> = view.texts("patterns").iter().filter_map(|pattern| compiled(pattern)).collect();
    let mut tools: BTreeMap<&str, Refusals<'_>> = BTreeMap::new();
    for act in view.acts("invalid-calls").filter(|act| about_a_parameter(act)) {
        let (Some(tool), Some(reading)) = (act.act.tool.as_deref(), read(view.trace, &act)) else { continue };
        // A call that was carried out was not refused, whatever its error says.
        if !matches!(reading.manner, Manner::Refused | Manner::RefusedInText) || reading.used.is_some() {
            continue;
        }
        let text: String = reading.text.chars().take(MAX_TEXT).collect();
        let rule = helps(&act.act.variant, &text, &patterns).map(|rule| (rule, act));
        let refusals = tools.entry(tool).or_insert_with(|| Refusals { count: 0, first: act, text, helps: None });
        refusals.count += 1;
        refusals.helps = refusals.helps.or(rule);
    }
    if tools.is_empty() {
        return Judgement::bare(Verdict::Na, "no tool refused a call");
    }
    let helped = tools.values().filter(|refusals| refusals.helps.is_some()).count();
    let verdict = match helped {
        0 => Verdict::Fail,
        _ if helped == tools.len() => Verdict::Pass,
        _ => Verdict::Part,
    };
    let mut evidence = Vec::new();
    let bare: Vec<(&&str, &Refusals<'_>)> = tools.iter().filter(|(_, refusals)| refusals.helps.is_none()).collect();
    for (tool, refusals) in bare.iter().take(MAX_LINES) {
        let observed =
            format!("{} refused calls, none says what is wrong or what to do: {}", refusals.count, cut(&refusals.text));
        evidence.push(line(Some(tool), &refusals.first, observed, "refusal.bare", verdict));
    }
    if bare.len() > MAX_LINES {
        let names: Vec<&str> = bare.iter().skip(MAX_LINES).map(|(tool, _)| **tool).collect();
        evidence.push(line(
            None,
            &bare[MAX_LINES].1.first,
            format!("the same holds for {}", listed(&names)),
            "refusal.bare",
            verdict,
        ));
    }
    for rule in ["refusal.names", "refusal.routes"] {
        let good: Vec<(&str, ActView<'_>)> = tools
            .iter()
            .filter_map(|(tool, refusals)| refusals.helps.filter(|(how, _)| *how == rule).map(|(_, act)| (*tool, act)))
            .collect();
        if let Some((_, first)) = good.first() {
            let names: Vec<&str> = good.iter().map(|(tool, _)| *tool).collect();
            let what =
                if rule == "refusal.names" { "a refusal names the parameter" } else { "a refusal says what to do" };
            evidence.push(line(None, first, format!("{what}: {}", listed(&names)), rule, Verdict::Pass));
        }
    }
    let all = tools.len();
    let summary = match verdict {
        Verdict::Pass => format!("the refusals of {helped} of {all} tools say what is wrong or what to do"),
        _ => format!("the refusals of {} of {all} tools do not say what is wrong or what to do", all - helped),
    };
    Judgement { verdict, summary, evidence }
}

fn line(tool: Option<&str>, act: &ActView<'_>, observed: String, rule: &'static str, verdict: Verdict) -> Line {
    Line {
        probe: "invalid-calls".to_owned(),
        tool: tool.map(str::to_owned),
        sent: act.sent(),
        received: act.reply().map(|(at, _)| at),
        observed,
        rule,
        verdict,
    }
}

/// Whether a call is wrong in a parameter, so that the tool and not the SDK words the refusal.
fn about_a_parameter(act: &ActView<'_>) -> bool {
    act.act.role == Role::Graded && act.act.variant != "unknown-tool" && !act.act.variant.starts_with("arguments-")
}

/// How a refusal helps, if it does.
fn helps(variant: &str, text: &str, patterns: &[Regex]) -> Option<&'static str> {
    let parameter = variant.split_once(':').map(|(_, parameter)| parameter.rsplit('.').next().unwrap_or(parameter));
    let parameter = if variant.starts_with("unknown-key") { Some(crate::classify::EXTRA_KEY) } else { parameter };
    if parameter.is_some_and(|parameter| names(text, parameter)) {
        return Some("refusal.names");
    }
    patterns.iter().any(|pattern| pattern.is_match(text)).then_some("refusal.routes")
}

/// Whether the parameter stands in the text as a word of its own.
fn names(text: &str, parameter: &str) -> bool {
    !parameter.is_empty()
        && text.match_indices(parameter).any(|(at, found)| {
            let edge = |character: Option<char>| {
                !character.is_some_and(|character| character.is_alphanumeric() || character == '_')
            };
            edge(text[..at].chars().next_back()) && edge(text[at + found.len()..].chars().next())
        })
}

fn compiled(pattern: &str) -> Option<Regex> {
    let build = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).size_limit(1 << 20).build().ok();
    build(pattern).or_else(|| build(&regex_lite::escape(pattern)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::robust::script::Script, *};

    #[test]
    fn a_refusal_that_names_the_parameter_or_the_way_passes() {
        let mut script = Script::new(&["a", "b", "c", "d"]);
        script.refused("a", "missing:path", "Invalid arguments");
        script.refused("a", "wrong-type:path", "path is wrong");
        script.refused("b", "missing:path", "Use list_files first");
        script.refused("c", "null:directory", "No remote repository configured. Add one with `git remote add`");
        script.refused("d", "null:directory", "Sync failed.\nPlease specify which branch you want");
        let judgement = script.judge(&CHECK);
        assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:?}");
        let rules: Vec<&str> = judgement.evidence.iter().map(|line| line.rule).collect();
        assert_eq!(rules, ["refusal.names", "refusal.routes"]);
    }

    #[test]
    fn bare_refusals_fail_and_some_are_part() {
        let mut script = Script::new(&["a", "b"]);
        script.refused("a", "missing:path", "Invalid input");
        script.refused("a", "missing:path", "Failed to run");
        assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
        // The parameter's name inside another word is no naming.
        script.refused("a", "wrong-type:path", "bad pathology");
        assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
        script.refused("b", "missing:path", "path is missing");
        let judgement = script.judge(&CHECK);
        assert_eq!(judgement.verdict, Verdict::Part);
        assert_eq!(judgement.evidence[0].tool.as_deref(), Some("a"));
    }

    #[test]
    fn without_refusals_there_is_nothing_to_judge() {
        let mut script = Script::new(&["a"]);
        script.accepted("a", "missing:path", "fine");
        script.refused("a", "unknown-tool", "Unknown tool, see the list");
        script.refused("a", "arguments-array", "Invalid request parameters");
        script.refused("a", "unknown-key", "ENOENT: no such file or directory, use another");
        assert_eq!(script.judge(&CHECK).verdict, Verdict::Na);
    }

    #[test]
    fn own_patterns_replace_the_default_and_need_not_be_regular_expressions() {
        let mut script = Script::new(&["a"]);
        script.refused("a", "missing:path", "Nein (siehe Hilfe");
        assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
        let settings = script.trace.header.settings.entry("refusal-quality".to_owned()).or_default();
        settings.insert("patterns".to_owned(), json!(["(siehe"]));
        assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
    }
}
