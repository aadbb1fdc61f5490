//! `instructions-hygiene`: instructions name only what the server offers.

use std::collections::HashSet;

use serde_json::Value;

use super::poison::{self, Lexicon};
use crate::{
    check::{Check, Explain, Knob, KnobDefault, Scope, View},
    model::{Judgement, Line, Severity, Surface, Verdict},
};

/// The check.
pub static CHECK: Check = Check {
    id: "instructions-hygiene",
    title: "Instructions name only what the server offers",
    severity: Severity::Advisory,
    candidate: true,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: Explain {
        what: "Compares the instructions that the server sends in its handshake with what it lists: a tool that they tell the \
               model to use must be among its tools. With `checks.instructions-hygiene.deny` you add patterns of your own \
               that instructions must not match (an internal host name, a product you renamed).",
        why: "A model that is told to call a tool which does not exist wastes a turn, invents its result or calls another \
              server's tool of that name. Instructions usually outlive the tools they were written for.",
        verdicts: &[
            ("fail", "the instructions match a pattern of `checks.instructions-hygiene.deny`"),
            ("part", "they name a tool that the server does not list"),
            ("inconclusive", "tools/list was rejected, so that names could not be compared, and no pattern matched"),
            ("na", "the server sends no instructions"),
            ("pass", "every tool they name is listed and no pattern matches"),
        ],
        rules: &[
            ("instructions.denied", "the text matches a pattern that the configuration denies"),
            ("instructions.unknown-tool", "a name that the text uses as a tool's is not listed"),
        ],
        probes: &[
            ("handshake", "the server's instructions"),
            ("inventory", "the names of its tools, parameters, prompts and resources"),
        ],
        fix: "Correct the name or drop the sentence. If a tool is listed only under some configuration, write the \
              instructions for the configuration that runs.",
        false_positives: "Only a name with joined parts (`get_weather`, `get-weather`, `getWeather`) counts, and only where it \
                          is used as a tool: in backticks after a word such as use or call, before the word tool, or with \
                          an opening parenthesis. Names of parameters, their values, prompts, resources and of the server \
                          never count. What remains: functions of a programming language, tools of the client, and tools \
                          that are listed only to clients with more capabilities than the harness declares (it declares none).",
        false_negatives: "One-word names and names in plain prose are not looked for; neither are names inside the \
                          descriptions of tools. Patterns see the instructions only.",
        references: &["https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization"],
    },
    knobs: &[Knob {
        key: "deny",
        default: KnobDefault::Texts(&[]),
        locked: false,
        help: "Regular expressions that the server's instructions must not match.",
    }],
    needs: &["handshake", "inventory"],
    judge,
};

/// Names that are shown; the summary counts the rest.
const LINES: usize = 20;

fn judge(view: &View<'_>) -> Judgement {
    let surface = view.surface;
    let Some(text) = surface.instructions.as_deref().filter(|text| !text.trim().is_empty()) else {
        return Judgement::bare(Verdict::Na, "the server sends no instructions");
    };
    let line = |probe: &str, observed, rule, verdict| Line {
        probe: probe.to_owned(),
        tool: None,
        sent: None,
        received: surface.handshake,
        observed,
        rule,
        verdict,
    };
    let mut evidence = Vec::new();
    let denied = denied(text, &view.texts("deny"));
    for (pattern, at) in denied.iter().take(LINES) {
        let observed = format!("matches the denied pattern {pattern:?}: {}", poison::shown(text, at));
        evidence.push(line("deny", observed, "instructions.denied", Verdict::Fail));
    }
    if let (Some(why), true) = (&surface.tools.rejected, denied.is_empty()) {
        let why = poison::shown(why, &(0..why.len()));
        return Judgement::bare(
            Verdict::Inconclusive,
            format!("tools/list was rejected, so no name could be compared: {why}"),
        );
    }
    let unknown = if surface.tools.rejected.is_none() { unknown(text, &Known::of(surface)) } else { Vec::new() };
    for (name, at) in unknown.iter().take(LINES) {
        let observed = format!("`{name}` is used as a tool and is not listed: {}", poison::shown(text, at));
        evidence.push(line("named tools", observed, "instructions.unknown-tool", Verdict::Part));
    }
    let (verdict, summary) = match (denied.len(), unknown.len()) {
        (0, 0) => (Verdict::Pass, "every tool that the instructions name is listed".to_owned()),
        (0, count) => {
            let names: Vec<_> = unknown.iter().take(5).map(|(name, _)| format!("`{name}`")).collect();
            let more = if count > 5 { ", …" } else { "" };
            (
                Verdict::Part,
                format!("the instructions name {count} tool(s) that are not listed: {}{more}", names.join(", ")),
            )
        }
        (count, _) => (Verdict::Fail, format!("the instructions match {count} denied pattern(s)")),
    };
    Judgement { verdict, summary, evidence }
}

/// The patterns that match, each with its first match. A pattern that is no regular expression matches nothing (the configuration refuses it).
fn denied(text: &str, patterns: &[String]) -> Vec<(String, std::ops::Range<usize>)> {
    let found = patterns.iter().filter_map(|pattern| {
        let regex = regex_lite::Regex::new(pattern).ok()?;
        Some((pattern.clone(), regex.find(text)?.range()))
    });
    found.collect()
}

/// Every name of the server's own, in lower case.
struct Known<'s> {
    tools: HashSet<&'s str>,
    others: HashSet<String>,
}

impl<'s> Known<'s> {
    fn of(surface: &'s Surface) -> Self {
        let mut known = Self { tools: HashSet::new(), others: HashSet::new() };
        for tool in &surface.tools.entries {
            known.tools.insert(&tool.name);
            known.words(&tool.raw, 0);
        }
        for list in [&surface.prompts, &surface.resources, &surface.templates] {
            list.entries.iter().for_each(|(_, raw)| known.words(raw, 0));
        }
        if let Some(info) = &surface.server_info {
            known.words(info, 0);
        }
        if let Some(capabilities) = &surface.capabilities {
            known.words(capabilities, 0);
        }
        known
    }

    /// Member names and short texts: parameters, values, prompts, resources, the server.
    fn words(&mut self, value: &Value, depth: usize) {
        const DEEPEST: usize = 100;
        const LONGEST: usize = 100;
        match value {
            Value::String(text) if text.len() <= LONGEST => {
                self.others.insert(text.to_lowercase());
            }
            Value::Array(items) if depth < DEEPEST => items.iter().for_each(|item| self.words(item, depth + 1)),
            Value::Object(members) if depth < DEEPEST => {
                for (key, member) in members {
                    self.others.insert(key.to_lowercase());
                    self.words(member, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn holds(&self, name: &str) -> bool {
        // A client may prefix a name (`mcp__weather__get`), and texts then do so too.
        let prefixed = || name.match_indices("__").any(|(at, cut)| self.tools.contains(&name[at + cut.len()..]));
        self.tools.contains(name) || self.others.contains(&name.to_lowercase()) || prefixed()
    }
}

/// Words before a backticked name that make it a tool.
static USES: Lexicon =
    Lexicon::new("use using call calling invoke invoking run running via try prefer execute check enable");
/// Words after or before a name that make it something else.
static OTHER_THINGS: Lexicon = Lexicon::new(
    "parameter parameters argument arguments field fields column columns flag option options header headers value \
     values key keys mode variable variables type types format prefix suffix syntax names style naming table \
     tables class property properties package library module command setting prompt resource environment \
     attribute element schema file files directory branch convention case",
);

/// Names used as tools that the server does not list, each once with its place.
fn unknown<'t>(text: &'t str, known: &Known<'_>) -> Vec<(&'t str, std::ops::Range<usize>)> {
    let mut seen = HashSet::new();
    let mut unknown = Vec::new();
    let name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = text.as_bytes();
    let mut at = 0;
    // Whether the last name was used as a tool: `use `a`, `b` and `c``.
    let mut listing = false;
    while at < bytes.len() {
        if !name_byte(bytes[at]) {
            listing &= !matches!(bytes[at], b'.' | b'\n' | b';');
            at += 1;
            continue;
        }
        let end = (at..bytes.len()).find(|at| !name_byte(bytes[*at])).unwrap_or(bytes.len());
        let name = &text[at..end];
        let used = like_a_tool(name) && (used_as_a_tool(text, at, end) || (listing && text[..at].ends_with('`')));
        if used && !other_thing(text, at, end) {
            listing = true;
            if !known.holds(name) && seen.insert(name) {
                unknown.push((name, at..end));
            }
        } else if !matches!(name, "and" | "or" | "then") {
            listing &= text[..at].ends_with('`');
        }
        at = end;
    }
    unknown
}

/// Spelling styles: they look like what they describe.
const STYLES: [&str; 6] = ["snake_case", "camelCase", "kebab-case", "lower_case", "lowerCamelCase", "dash-case"];

/// Parts joined by `_`, `-` or case; no constant, no flag, no spelling style.
fn like_a_tool(name: &str) -> bool {
    if STYLES.contains(&name) {
        return false;
    }
    let joined = name.contains(['_', '-'])
        || name.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    joined
        && name.len() > 3
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
}

fn used_as_a_tool(text: &str, at: usize, end: usize) -> bool {
    let (before, after) = (&text[..at], &text[end..]);
    let joined = before.ends_with(['.', '/', ':', '@', '$', '%', '#', '\\', '<', '{'])
        || after.starts_with(['/', '@', '\\', '=', '>', '}']);
    let extension = after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    if joined || extension {
        return false;
    }
    let code = before.ends_with('`');
    let called = after.starts_with('(') && !text[at..end].contains('-');
    let next = word_after(after.trim_start_matches('`'));
    let previous = word_before(before.trim_end_matches('`'));
    let tool = next == "tool" || (code && matches!(previous.as_str(), "tool" | "tools"));
    let plain_kebab = !code && text[at..end].contains('-');
    (tool && !plain_kebab)
        || called
        || (code && (after.starts_with('`') || after.starts_with('(')) && USES.holds(&previous))
}

fn other_thing(text: &str, at: usize, end: usize) -> bool {
    let next = word_after(text[end..].trim_start_matches('`'));
    let previous = word_before(text[..at].trim_end_matches('`'));
    OTHER_THINGS.holds(&next) || OTHER_THINGS.holds(&previous)
}

/// The next word when only blanks stand between.
fn word_after(text: &str) -> String {
    let text = text.trim_start_matches([' ', '\n', '*']);
    text.chars().take_while(|c| c.is_alphanumeric()).take(20).collect::<String>().to_lowercase()
}

/// The word before, articles left out, when only blanks stand between.
fn word_before(text: &str) -> String {
    let mut text = text;
    loop {
        let trimmed = text.trim_end_matches([' ', '\n', '*', ':']);
        let start = trimmed
            .char_indices()
            .rev()
            .take_while(|(_, c)| c.is_alphanumeric())
            .take(20)
            .last()
            .map_or(trimmed.len(), |(at, _)| at);
        let word = trimmed[start..].to_lowercase();
        if !matches!(word.as_str(), "the" | "a" | "first" | "either" | "both") {
            return word;
        }
        text = &trimmed[..start];
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::{
        check::Index,
        model::{EventRef, Header, Tool, Trace},
    };

    fn judged(instructions: Option<&str>, deny: &[&str], rejected: Option<&str>) -> Judgement {
        let settings = BTreeMap::from([("deny".to_owned(), json!(deny))]);
        let header = Header { settings: BTreeMap::from([(CHECK.id.to_owned(), settings)]), ..Header::default() };
        let trace = Trace::new(header);
        let mut surface = Surface {
            handshake: Some(EventRef(1)),
            instructions: instructions.map(str::to_owned),
            server_info: Some(json!({"name": "weather-server"})),
            ..Surface::default()
        };
        surface.tools.asked = true;
        surface.tools.rejected = rejected.map(str::to_owned);
        for name in ["get_weather", "list-cities", "findCity"] {
            let schema = json!({"properties": {"city_name": {"enum": ["new_york"]}}});
            let raw = json!({"name": name, "inputSchema": schema});
            surface.tools.entries.push(Tool { name: name.to_owned(), raw, listed_in: EventRef(2) });
        }
        surface.prompts.entries.push((EventRef(3), json!({"name": "daily_report"})));
        judge(&View { trace: &trace, surface: &surface, check: &CHECK, index: &Index::of(&trace) })
    }

    fn verdict(instructions: &str) -> Verdict {
        judged(Some(instructions), &[], None).verdict
    }

    #[test]
    fn a_tool_that_is_not_listed_is_part() {
        for text in [
            "Use `get_forecast` for tomorrow.",
            "First call the `get-forecast` tool.",
            "The get_forecast tool knows more.",
            "Call get_forecast(city) before anything.",
            "Use `get_weather`, `list-cities` or `get_forecast`.",
            "Use `getForecast` to look ahead.",
        ] {
            let judgement = judged(Some(text), &[], None);
            assert_eq!(judgement.verdict, Verdict::Part, "{text}");
            assert_eq!(judgement.evidence[0].rule, "instructions.unknown-tool");
            assert_eq!(judgement.evidence[0].received, Some(EventRef(1)));
        }
    }

    #[test]
    fn spelling_styles_are_no_tools() {
        assert_eq!(verdict("Results are rounded; use `snake_case` for names and `camelCase` for keys."), Verdict::Pass);
    }

    #[test]
    fn listed_tools_and_names_of_other_things_pass() {
        for text in [
            "Use `get_weather`, then `list-cities` and `findCity`.",
            "Call get_weather(city_name) for `new_york`.",
            "Use `mcp__weather__get_weather` in this client.",
            "Use `daily_report` for a summary.",
            "Use `city_name` to narrow the search.",
            "Set `max_results` to 10.",
            "Use the `page_size` parameter.",
            "Use `snake_case` names.",
            "Limited by `GZIP_MAX_FETCH_SIZE` (default 10MB).",
            "Use `weather-server` with care.",
            "See docs/getting_started.md and use https://example.com/get_forecast for more.",
            "A well-known tool for long-term forecasts.",
            "Use the right tool (see below).",
            "Run `npm install` first.",
        ] {
            let judgement = judged(Some(text), &[], None);
            assert_eq!(judgement.verdict, Verdict::Pass, "{text}: {judgement:?}");
        }
    }

    #[test]
    fn a_denied_pattern_fails_and_an_invalid_one_matches_nothing() {
        let judgement = judged(Some("Ask at intern.example."), &["intern[.]example", "("], None);
        assert_eq!((judgement.verdict, judgement.evidence.len()), (Verdict::Fail, 1));
        assert_eq!(judged(Some("Be kind."), &["intern[.]example", "("], None).verdict, Verdict::Pass);
    }

    #[test]
    fn no_instructions_are_not_applicable() {
        assert_eq!(judged(None, &["x"], None).verdict, Verdict::Na);
        assert_eq!(judged(Some(" \n"), &[], None).verdict, Verdict::Na);
    }

    #[test]
    fn without_a_list_nothing_is_compared_but_patterns_count() {
        let judgement = judged(Some("Use `get_forecast`."), &[], Some("no answer"));
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert!(judgement.summary.ends_with("no answer"));
        assert_eq!(judged(Some("Use `get_forecast`."), &["forecast"], Some("no answer")).verdict, Verdict::Fail);
    }

    #[test]
    fn texts_without_any_name_pass() {
        assert_eq!(verdict("This server knows the weather of every city."), Verdict::Pass);
    }
}
