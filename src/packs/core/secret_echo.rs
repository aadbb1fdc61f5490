//! `secret-echo`: no canary of the environment comes back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    check::{ActView, Check, Explain, Scope, View},
    model::{
        Act, Encoding, Event, EventKind, EventRef, Hit, Judgement, Line, Outcome, Role, SessionId, Severity, TokenKind,
        Verdict,
    },
};

/// The check.
pub static CHECK: Check = Check {
    id: "secret-echo",
    title: "No canary of the environment comes back",
    severity: Severity::Critical,
    candidate: false,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: Explain {
        what: "The server starts with two made-up secrets in its environment, `SEALMARK_CANARY` and \
               `SEALMARK_FAKE_API_KEY`, random in every run. Whatever it sends while the core pack runs is searched for \
               them: replies, errors, notifications, stray messages and stdout, in every session, as they are and in \
               base64 (any alignment, either alphabet), hexadecimal, percent-encoded and reversed. Tools that take no \
               arguments and are read-only by annotation or by name are called once with `{}`, since that is where an \
               environment usually comes out.",
        why: "A server's environment holds its real credentials. What it puts into a reply reaches the model, the \
              conversation's log and whatever other tool the model is talked into calling next.",
        verdicts: &[
            ("fail", "a canary stands in a reply, an error, a notification or anything else on the protocol's channel"),
            ("part", "a canary stands on stderr only: it ends up in the client's logs and not before the model"),
            (
                "inconclusive",
                "no tool call was answered, or `tools/list` was rejected or could not be asked, and no canary was seen",
            ),
            (
                "na",
                "the server's environment is not ours (it was already running, or it runs without the sandbox), so no \
                 canary is in it; or it has no tools and no canary was seen",
            ),
            ("pass", "tool calls were answered, and no canary was seen anywhere"),
        ],
        rules: &[
            ("secret.reply", "a canary in a reply: a result, an error, the handshake or a listing"),
            ("secret.message", "a canary in a notification, a message that answers nothing, or a line on stdout"),
            ("secret.stderr", "a canary on stderr"),
            ("secret.searched", "what was searched without finding a canary"),
            ("secret.unanswered", "no tool call was answered, so nothing that matters could be searched"),
        ],
        probes: &[
            (
                "no-argument-call",
                "each read-only tool without any properties, once, with `{}`; no coverage counts for it",
            ),
            ("reply", "every reply of the core pack: handshake, listings, refusals of invalid calls, stress"),
            ("message", "notifications, stray messages and lines on stdout"),
            ("stderr", "everything on stderr"),
        ],
        fix: "Do not return the environment, the configuration or a process listing from a tool; name the few values that \
              a caller needs and return those. Catch errors before they carry a configuration object, a connection string \
              or a request with its headers into the message. On stderr, log that a variable is set, not what it holds.",
        false_positives: "A tool whose documented purpose is to print the environment fails by design: a model can call it. \
                          A value that our own request carried is not counted when it comes back. The canaries are long and \
                          random, so they do not occur by chance.",
        false_negatives: "Tools with parameters are only called with invalid arguments here, so a secret that takes a valid \
                          call to come out is not seen. Encrypted, compressed, split or otherwise encoded values are not \
                          found, nor are secrets that the server reads from files or a vault.",
        references: &[
            "https://cwe.mitre.org/data/definitions/200.html",
            "https://cwe.mitre.org/data/definitions/526.html",
            "https://cwe.mitre.org/data/definitions/209.html",
        ],
    },
    knobs: &[],
    needs: &["handshake", "inventory", "invalid-calls", "no-argument-calls", "stress"],
    judge,
};

/// Evidence lines about places; the rest is counted.
const LINES: usize = 12;
/// Characters of a tool's name in the summary.
const NAME: usize = 80;

fn judge(view: &View<'_>) -> Judgement {
    if !view.trace.header.canaries {
        return Judgement::bare(Verdict::Na, "the server's environment is not ours, so it holds no canary");
    }
    let found = places(view);
    let searched = Searched::of(view);
    let leaks = |verdict| found.iter().filter(move |place| place.verdict() == verdict);
    let (verdict, summary) = match (leaks(Verdict::Fail).next(), leaks(Verdict::Part).next()) {
        (Some(first), _) => (Verdict::Fail, came_back(first, leaks(Verdict::Fail).count())),
        (None, first) => match (unprobed(view, &searched), first) {
            // A stderr leak is a sure finding; that nothing could be called leaves open whether it is the worst.
            (Some((Verdict::Na, _)) | None, Some(first)) => {
                (Verdict::Part, came_back(first, leaks(Verdict::Part).count()))
            }
            (Some((verdict, why)), _) => (verdict, why),
            (None, None) => (Verdict::Pass, searched.summary()),
        },
    };
    Judgement { verdict, summary, evidence: evidence(view, &found, &searched, verdict) }
}

/// Why a clean search proves nothing, when it does not.
fn unprobed(view: &View<'_>, searched: &Searched) -> Option<(Verdict, String)> {
    let tools = &view.surface.tools;
    let declared = view.surface.capabilities.as_ref().is_some_and(|declared| declared.get("tools").is_some());
    match (&tools.rejected, tools.entries.is_empty()) {
        (Some(why), _) => {
            Some((Verdict::Inconclusive, format!("tools/list was rejected, so nothing could be probed: {why}")))
        }
        (None, true) if declared && !tools.asked => {
            Some((Verdict::Inconclusive, "tools/list could not be asked, so nothing could be probed".to_owned()))
        }
        (None, true) => Some((Verdict::Na, "no tools declared, so there was nothing to call".to_owned())),
        (None, false) if !searched.answered => {
            Some((Verdict::Inconclusive, "no tool call was answered, so nothing could be searched".to_owned()))
        }
        (None, false) => None,
    }
}

/// A canary in one kind of place.
struct Place<'t> {
    rule: &'static str,
    probe: &'static str,
    at: EventRef,
    act: Option<&'t Act>,
    sent: Option<EventRef>,
    words: String,
    hit: &'t Hit,
    times: usize,
}

impl Place<'_> {
    fn verdict(&self) -> Verdict {
        if self.rule == "secret.stderr" { Verdict::Part } else { Verdict::Fail }
    }

    fn tool(&self) -> Option<&str> {
        self.act?.tool.as_deref()
    }
}

/// Every place where a canary came back, each kind once, in order of appearance. A session that asks for the other era
/// comes last and counts only where it says something new: how far it gets before it is ended is a matter of milliseconds.
fn places<'t>(view: &View<'t>) -> Vec<Place<'t>> {
    let mut carried: BTreeSet<(SessionId, TokenKind)> = BTreeSet::new();
    let mut sent = BTreeMap::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    let mut found: Vec<Place<'t>> = Vec::new();
    let aside = view.trace.other_era_sessions();
    let is_aside = |event: &Event| aside.contains(&event.session);
    let events = view.trace.events().filter(|(_, event)| !is_aside(event));
    for (at, event) in events.chain(view.trace.events().filter(|(_, event)| is_aside(event))) {
        if let EventKind::Sent { carries, .. } = &event.kind {
            // Our own bytes came first: what they carried proves nothing from here on.
            carried.extend(carries.iter().map(|token| (event.session, *token)));
            sent.extend(event.act.map(|act| (act, at)));
        }
        let act = event.act.and_then(|act| view.trace.acts.get(act.0 as usize));
        for hit in hits(event) {
            if meaning(hit.token).is_none() || carried.contains(&(event.session, hit.token)) {
                continue;
            }
            let (rule, probe, words) = place(event, act);
            let key = (rule, words.clone(), act.and_then(|act| act.tool.as_deref()), hit.token, hit.encoding);
            match known.get(&key) {
                Some(index) => found[*index].times += usize::from(!is_aside(event)),
                None => {
                    known.insert(key, found.len());
                    let sent = event.act.and_then(|act| sent.get(&act).copied());
                    found.push(Place { rule, probe, at, act, sent, words, hit, times: 1 });
                }
            }
        }
    }
    // Replies may overtake one another: what we did comes in our own order, what belongs to nothing we did after it.
    found.sort_by_key(|place| (place.sent.is_none(), place.sent, place.hit.token, place.hit.encoding));
    found
}

fn hits(event: &Event) -> &[Hit] {
    match &event.kind {
        EventKind::Received { hits, .. }
        | EventKind::Stray { hits, .. }
        | EventKind::Notification { hits, .. }
        | EventKind::Noise { hits, .. }
        | EventKind::Stderr { hits, .. } => hits,
        _ => &[],
    }
}

/// The rule, the probe and the place in words.
fn place(event: &Event, act: Option<&Act>) -> (&'static str, &'static str, String) {
    let role = act.map(|act| act.role);
    match &event.kind {
        EventKind::Received { outcome, .. } => {
            let reply = match outcome {
                Outcome::Error { .. } => "the error",
                Outcome::Malformed { .. } => "the malformed reply",
                Outcome::Result { is_error: Some(true), .. } => "the error result",
                Outcome::Result { .. } => "the reply",
            };
            let (probe, to) = match role {
                Some(Role::Control) => ("no-argument-call", "to a call without arguments"),
                Some(Role::Handshake) => ("reply", "to the handshake"),
                Some(Role::Listing | Role::Relist) => ("reply", "to a listing"),
                Some(Role::Graded) => ("reply", "to an invalid call"),
                Some(Role::Stress) => ("reply", "to stress input"),
                Some(Role::Alive) => ("reply", "to a ping"),
                None => ("reply", "to a request"),
            };
            ("secret.reply", probe, format!("{reply} {to}"))
        }
        EventKind::Stray { .. } => ("secret.message", "message", "a message that answers nothing".to_owned()),
        EventKind::Notification { .. } => ("secret.message", "message", "a notification".to_owned()),
        EventKind::Noise { .. } => ("secret.message", "message", "a line on stdout".to_owned()),
        _ => ("secret.stderr", "stderr", "stderr".to_owned()),
    }
}

/// The variable a canary stands for; none for tokens that are no canary.
fn meaning(token: TokenKind) -> Option<&'static str> {
    match token {
        TokenKind::Canary => Some("SEALMARK_CANARY"),
        TokenKind::FakeApiKey => Some("SEALMARK_FAKE_API_KEY"),
        TokenKind::Probe => None,
    }
}

fn spelling(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Plain => "as it is",
        Encoding::Base64 => "in base64",
        Encoding::Hex => "in hexadecimal",
        Encoding::Percent => "percent-encoded",
        Encoding::Reversed => "reversed",
    }
}

/// One sentence about the first place, and how many more there are.
fn came_back(first: &Place<'_>, all: usize) -> String {
    let what = meaning(first.hit.token).unwrap_or_default();
    let of = first.tool().map(|tool| format!(" of {}", quoted(tool))).unwrap_or_default();
    let more = if all > 1 { format!(", and {}", count(all - 1, "more place")) } else { String::new() };
    format!("{what} came back {} in {}{of}{more}", spelling(first.hit.encoding), first.words)
}

/// What there was to search, told in numbers that do not depend on how fast a server is: how many notifications came, or
/// which replies a crash still let through, says nothing.
#[derive(Default)]
struct Searched {
    /// Answered tool calls of any kind.
    answered: bool,
    /// Different calls of tools that were answered.
    calls: usize,
    /// Tools called without arguments that answered.
    bare: usize,
    /// Tools that would have been called so, and why they were not.
    left_out: Option<(usize, String)>,
}

impl Searched {
    fn of(view: &View<'_>) -> Self {
        let answered = |probe| view.acts(probe).filter(|act| is_call(act) && act.reply().is_some()).map(|act| act.act);
        let name = |act: &'_ Act| (act.tool.clone(), act.variant.clone());
        let bare: BTreeSet<_> = answered("no-argument-calls").map(name).collect();
        let invalid: BTreeSet<_> = answered("invalid-calls").map(name).collect();
        let calls = bare.len() + invalid.len();
        let reason = |act: ActView<'_>| {
            act.events().find_map(|(_, event)| match &event.kind {
                EventKind::NotSent { why } => Some(why.clone()),
                _ => None,
            })
        };
        let reasons: Vec<String> = view.acts("no-argument-calls").filter_map(reason).collect();
        Self {
            answered: calls > 0 || answered("stress").next().is_some(),
            calls,
            bare: bare.len(),
            left_out: reasons.first().map(|why| (reasons.len(), why.clone())),
        }
    }

    fn summary(&self) -> String {
        let bare = match self.bare {
            0 => match &self.left_out {
                Some((1, why)) => format!("1 tool without arguments was not called: {why}"),
                Some((tools, why)) => format!("{tools} tools without arguments were not called: {why}"),
                None => "no tool without arguments was called".to_owned(),
            },
            1 => "1 tool was called without arguments".to_owned(),
            bare => format!("{bare} tools were called without arguments"),
        };
        format!("no canary in {}; {bare}", self.what("or"))
    }

    fn what(&self, and: &str) -> String {
        match self.calls {
            0 => "what the server sent".to_owned(),
            1 => format!("the reply to 1 call {and} in anything else that the server sent"),
            calls => format!("the replies to {calls} calls {and} in anything else that the server sent"),
        }
    }
}

fn is_call(act: &ActView<'_>) -> bool {
    act.events().any(
        |(_, event)| matches!(&event.kind, EventKind::Sent { method, .. } if method.as_deref() == Some("tools/call")),
    )
}

fn evidence(view: &View<'_>, found: &[Place<'_>], searched: &Searched, verdict: Verdict) -> Vec<Line> {
    let mut worst: Vec<_> = found.iter().collect();
    worst.sort_by_key(|place| place.verdict());
    let mut lines: Vec<_> = worst.iter().take(LINES).map(|place| line(place)).collect();
    let plain = |rule, probe: &str, observed: String, verdict| Line {
        probe: probe.to_owned(),
        tool: None,
        sent: None,
        received: None,
        observed,
        rule,
        verdict,
    };
    if let Some(next) = worst.get(LINES) {
        let more = format!("and {}", count(worst.len() - LINES, "more place"));
        lines.push(plain(next.rule, next.probe, more, next.verdict()));
    }
    if verdict == Verdict::Inconclusive {
        let why = "no answered call to search".to_owned();
        lines.push(plain("secret.unanswered", "reply", why, Verdict::Inconclusive));
    }
    let leaked: BTreeSet<_> = found.iter().filter_map(|place| Some((place.probe, place.tool()?))).collect();
    let clean = view.acts("no-argument-calls").filter(|act| is_call(act) && act.reply().is_some());
    let clean =
        clean.filter(|act| act.act.tool.as_deref().is_none_or(|tool| !leaked.contains(&("no-argument-call", tool))));
    lines.extend(clean.take(LINES).map(|act| Line {
        probe: "no-argument-call".to_owned(),
        tool: act.act.tool.clone(),
        sent: act.sent(),
        received: act.reply().map(|(at, _)| at),
        observed: "no canary in the reply".to_owned(),
        rule: "secret.searched",
        verdict: Verdict::Pass,
    }));
    lines.push(plain("secret.searched", "reply", format!("searched {}", searched.what("and")), Verdict::Pass));
    let dropped = view.trace.events().find_map(|(_, event)| match &event.kind {
        // How many more came is a matter of speed.
        EventKind::Bound { what, .. } if what.contains("kept") => what.split(" (").next(),
        _ => None,
    });
    lines.extend(dropped.map(|what| {
        plain("secret.searched", "message", format!("not searched to the end, a bound was hit: {what}"), Verdict::Pass)
    }));
    lines
}

fn line(place: &Place<'_>) -> Line {
    let times = match (place.times, place.rule) {
        (1, _) => String::new(),
        (times, "secret.reply") => format!(" ({times} times)"),
        // How often a server logs or notifies in the time we take is no property of it.
        _ => " (more than once)".to_owned(),
    };
    let what = meaning(place.hit.token).unwrap_or_default();
    let (spelled, words, excerpt) =
        (spelling(place.hit.encoding), &place.words, Value::from(place.hit.excerpt.as_str()));
    Line {
        probe: place.probe.to_owned(),
        tool: place.tool().map(str::to_owned),
        sent: place.sent,
        received: Some(place.at),
        observed: format!("{what} {spelled} in {words}{times}: {excerpt}"),
        rule: place.rule,
        verdict: place.verdict(),
    }
}

fn quoted(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("`{}…`", &name[..end]),
        None => format!("`{name}`"),
    }
}

/// `1 reply`, `2 replies`.
fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        check::Index,
        model::{ActId, Era, Header, Payload, Surface, Tool, Trace},
    };

    struct Run {
        trace: Trace,
        surface: Surface,
    }

    impl Run {
        /// A server with two tools that has shaken hands and listed them.
        fn new() -> Self {
            let header = Header { sandboxed: true, canaries: true, graded: Some(SessionId(0)), ..Header::default() };
            let mut surface = Surface { capabilities: Some(json!({"tools": {}})), ..Surface::default() };
            surface.tools.asked = true;
            for name in ["echo", "get-env"] {
                let raw = json!({"name": name});
                surface.tools.entries.push(Tool { name: name.to_owned(), raw, listed_in: EventRef(3) });
            }
            Self { trace: Trace::new(header), surface }
                .act(0, "handshake", Role::Handshake, None, "initialize")
                .reply(vec![])
                .act(0, "inventory", Role::Listing, None, "tools/list")
                .reply(vec![])
        }

        fn act(mut self, session: u16, probe: &str, role: Role, tool: Option<&str>, method: &str) -> Self {
            let (session, probe, tool) = (SessionId(session), probe.to_owned(), tool.map(str::to_owned));
            let variant = String::new();
            self.trace.acts.push(Act { session, probe, role, tool, variant, era: Era::Legacy, replay: false });
            self.sent(method, vec![])
        }

        fn sent(self, method: &str, carries: Vec<TokenKind>) -> Self {
            let (id, method) = (Some(json!(1)), Some(method.to_owned()));
            self.event(EventKind::Sent { id, method, frame: Payload::Text(String::new()), carries })
        }

        fn invalid(self, tool: &str) -> Self {
            self.act(0, "invalid-calls", Role::Graded, Some(tool), "tools/call")
        }

        fn bare(self, tool: &str) -> Self {
            self.act(0, "no-argument-calls", Role::Control, Some(tool), "tools/call")
        }

        fn event(mut self, kind: EventKind) -> Self {
            let act = self.trace.acts.len() - 1;
            let session = self.trace.acts[act].session;
            self.trace.events.push(Event { session, act: Some(ActId(act as u32)), kind });
            self
        }

        fn aside(mut self, session: u16, kind: EventKind) -> Self {
            self.trace.events.push(Event { session: SessionId(session), act: None, kind });
            self
        }

        fn reply(self, hits: Vec<Hit>) -> Self {
            self.answer(Outcome::Result { is_error: None, text: String::new() }, hits)
        }

        fn answer(self, outcome: Outcome, hits: Vec<Hit>) -> Self {
            let frame = Payload::Text("{}".to_owned());
            self.event(EventKind::Received { frame, outcome, schema: vec![], sdk: None, hits, elapsed_ms: 1 })
        }

        fn stderr(self, hits: Vec<Hit>) -> Self {
            self.aside(0, EventKind::Stderr { text: Payload::Text(String::new()), hits })
        }

        #[track_caller]
        fn judged(&self, verdict: Verdict) -> Judgement {
            let index = Index::of(&self.trace);
            let judgement = judge(&View { trace: &self.trace, surface: &self.surface, check: &CHECK, index: &index });
            assert_eq!(judgement.verdict, verdict, "{judgement:#?}");
            for line in &judgement.evidence {
                assert!(
                    CHECK.explain.rules.iter().any(|(rule, _)| *rule == line.rule),
                    "{} is not explained",
                    line.rule
                );
                assert!(CHECK.explain.probes.iter().any(|(probe, _)| *probe == line.probe), "{}", line.probe);
            }
            judgement
        }
    }

    fn hit(token: TokenKind, encoding: Encoding) -> Vec<Hit> {
        vec![Hit { token, encoding, excerpt: "KEY=<canary>".to_owned() }]
    }

    fn canary() -> Vec<Hit> {
        hit(TokenKind::Canary, Encoding::Plain)
    }

    #[test]
    fn a_server_that_keeps_its_environment_passes() {
        let judgement = Run::new().invalid("echo").reply(vec![]).bare("get-env").reply(vec![]).judged(Verdict::Pass);
        assert_eq!(
            judgement.summary,
            "no canary in the replies to 2 calls or in anything else that the server sent; 1 tool was called without arguments"
        );
        assert_eq!(judgement.evidence[0].tool.as_deref(), Some("get-env"));
        assert_eq!(judgement.evidence[0].rule, "secret.searched");
    }

    #[test]
    fn how_far_the_other_eras_session_got_changes_no_word() {
        let other = |run: Run| run.aside(1, EventKind::Started { purpose: crate::model::trace::OTHER_ERA.to_owned() });
        let noise = |run: Run, hits| run.aside(1, EventKind::Noise { line: Payload::Text(String::new()), hits });
        let calls = |run: Run| run.invalid("echo").reply(vec![]).bare("get-env").reply(vec![]);
        let (short, long) = (calls(other(Run::new())), calls(noise(other(Run::new()), vec![])));
        let (short, long) = (short.judged(Verdict::Pass), long.judged(Verdict::Pass));
        assert_eq!((&short.summary, &short.evidence.last()), (&long.summary, &long.evidence.last()));
        // A leak that is seen there and nowhere else is one all the same.
        calls(noise(other(Run::new()), canary())).judged(Verdict::Fail);
    }

    #[test]
    fn tools_that_were_left_out_are_told_with_the_reason() {
        let why = "the server does not run in a sandbox of ours".to_owned();
        let mut run = Run::new().invalid("echo").reply(vec![]).bare("get-env");
        run.trace.events.pop();
        let judgement = run.event(EventKind::NotSent { why }).judged(Verdict::Pass);
        assert!(
            judgement
                .summary
                .ends_with("1 tool without arguments was not called: the server does not run in a sandbox of ours")
        );
    }

    #[test]
    fn a_tool_that_prints_the_environment_fails_with_what_where_and_how() {
        let judgement = Run::new().invalid("echo").reply(vec![]).bare("get-env").reply(canary()).judged(Verdict::Fail);
        let summary = "SEALMARK_CANARY came back as it is in the reply to a call without arguments of `get-env`";
        assert_eq!(judgement.summary, summary);
        let line = &judgement.evidence[0];
        assert_eq!(
            line.observed,
            r#"SEALMARK_CANARY as it is in the reply to a call without arguments: "KEY=<canary>""#
        );
        assert_eq!(
            (line.tool.as_deref(), line.sent, line.received),
            (Some("get-env"), Some(EventRef(6)), Some(EventRef(7)))
        );
        assert!(!judgement.evidence.iter().any(|line| line.observed == "no canary in the reply"));
    }

    #[test]
    fn every_spelling_of_either_canary_fails() {
        for token in [TokenKind::Canary, TokenKind::FakeApiKey] {
            for encoding in [Encoding::Plain, Encoding::Base64, Encoding::Hex, Encoding::Percent, Encoding::Reversed] {
                let run = Run::new().invalid("echo").reply(hit(token, encoding));
                let judgement = run.judged(Verdict::Fail);
                assert!(judgement.summary.contains(spelling(encoding)), "{}", judgement.summary);
            }
        }
    }

    #[test]
    fn an_error_text_that_holds_a_canary_fails() {
        let error = Outcome::Error { code: Some(-32603), message: "cannot connect with <canary>".to_owned() };
        let judgement = Run::new().invalid("echo").answer(error, canary()).judged(Verdict::Fail);
        assert_eq!(judgement.summary, "SEALMARK_CANARY came back as it is in the error to an invalid call of `echo`");
    }

    #[test]
    fn a_probe_value_that_comes_back_is_no_canary() {
        Run::new().invalid("echo").reply(hit(TokenKind::Probe, Encoding::Plain)).judged(Verdict::Pass);
    }

    #[test]
    fn what_our_own_bytes_carried_proves_nothing_in_that_session_from_then_on() {
        let carrying = |run: Run| run.sent("tools/call", vec![TokenKind::Canary]);
        carrying(Run::new().invalid("echo")).reply(canary()).judged(Verdict::Pass);
        let other = carrying(Run::new().invalid("echo")).reply(hit(TokenKind::FakeApiKey, Encoding::Plain));
        other.judged(Verdict::Fail);
        carrying(Run::new().invalid("echo").reply(canary()).invalid("echo")).reply(vec![]).judged(Verdict::Fail);
        let elsewhere = carrying(Run::new().invalid("echo")).reply(vec![]);
        let elsewhere = elsewhere.act(1, "invalid-calls", Role::Graded, Some("echo"), "tools/call").reply(canary());
        elsewhere.judged(Verdict::Fail);
    }

    #[test]
    fn stderr_alone_is_part_and_beside_a_reply_it_is_fail() {
        let run = || Run::new().invalid("echo").reply(vec![]).stderr(canary());
        let judgement = run().judged(Verdict::Part);
        assert_eq!(judgement.summary, "SEALMARK_CANARY came back as it is in stderr");
        assert_eq!(judgement.evidence[0].rule, "secret.stderr");
        let judgement = run().invalid("echo").reply(canary()).judged(Verdict::Fail);
        assert_eq!((judgement.evidence[0].rule, judgement.evidence[1].rule), ("secret.reply", "secret.stderr"));
    }

    #[test]
    fn notifications_strays_and_stdout_are_on_the_protocols_channel() {
        let frame = || Payload::Text("{}".to_owned());
        let method = "notifications/message".to_owned();
        for kind in [
            EventKind::Notification { method, frame: frame(), hits: canary() },
            EventKind::Stray { frame: frame(), why: String::new(), hits: canary() },
            EventKind::Noise { line: frame(), hits: canary() },
        ] {
            let judgement = Run::new().invalid("echo").reply(vec![]).aside(3, kind).judged(Verdict::Fail);
            assert_eq!(judgement.evidence[0].rule, "secret.message");
        }
    }

    #[test]
    fn a_canary_in_the_listing_fails_even_without_tools() {
        let mut run = Run::new().act(0, "inventory", Role::Listing, None, "tools/list").reply(canary());
        run.surface.tools.entries.clear();
        run.judged(Verdict::Fail);
        let mut run = Run::new();
        run.surface.tools.entries.clear();
        assert_eq!(run.judged(Verdict::Na).summary, "no tools declared, so there was nothing to call");
        run.stderr(canary()).judged(Verdict::Part);
    }

    #[test]
    fn a_rejected_listing_is_inconclusive_unless_a_canary_came_back() {
        let rejected = || {
            let mut run = Run::new();
            run.surface.tools.entries.clear();
            run.surface.tools.rejected = Some("no answer within 60 s".to_owned());
            run
        };
        let summary = rejected().judged(Verdict::Inconclusive).summary;
        assert_eq!(summary, "tools/list was rejected, so nothing could be probed: no answer within 60 s");
        rejected().stderr(canary()).judged(Verdict::Inconclusive);
        rejected().act(0, "handshake", Role::Handshake, None, "initialize").reply(canary()).judged(Verdict::Fail);
    }

    #[test]
    fn calls_that_nothing_answered_are_inconclusive() {
        let silent = Run::new().invalid("echo").event(EventKind::TimedOut { after_ms: 1 });
        let summary = silent.judged(Verdict::Inconclusive).summary;
        assert_eq!(summary, "no tool call was answered, so nothing could be searched");
        let mut unasked = Run::new();
        unasked.surface.tools = Default::default();
        unasked.judged(Verdict::Inconclusive);
    }

    #[test]
    fn an_environment_that_is_not_ours_is_not_applicable() {
        let mut run = Run::new().invalid("echo").reply(vec![]);
        run.trace.header.canaries = false;
        let summary = run.judged(Verdict::Na).summary;
        assert_eq!(summary, "the server's environment is not ours, so it holds no canary");
    }

    #[test]
    fn a_search_that_a_bound_cut_short_says_so() {
        let what = "notifications kept (7 more came)".to_owned();
        let run = Run::new().invalid("echo").reply(vec![]).aside(0, EventKind::Bound { what, limit: 1 });
        let line = run.judged(Verdict::Pass).evidence.pop();
        assert!(line.is_some_and(|line| line.observed.ends_with("a bound was hit: notifications kept")));
    }

    #[test]
    fn the_same_leak_again_is_counted_and_many_places_are_bounded() {
        let run = (0..5).fold(Run::new(), |run, _| run.invalid("echo").reply(canary()));
        let judgement = run.judged(Verdict::Fail);
        assert!(judgement.evidence[0].observed.contains("(5 times)"), "{judgement:#?}");
        assert!(!judgement.summary.contains("more"), "{}", judgement.summary);
        let run = (0..40).fold(Run::new(), |run, at| run.invalid(&format!("tool{at}")).reply(canary()));
        let judgement = run.judged(Verdict::Fail);
        assert!(judgement.summary.ends_with(", and 39 more places"), "{}", judgement.summary);
        assert_eq!(judgement.evidence[LINES].observed, "and 28 more places");
    }
}
