//! `robust-input`: malformed input is refused and survived.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::robust::{
    lines::{Lines, changed, split},
    outcome::{Fate, Sessions},
    reading::{Manner, Reading, read},
    survival::{Stress, between_batches, cut, listed, stress},
};
use crate::{
    check::{ActView, Check, Explain, Scope, View},
    model::{Judgement, Line, Role, SessionId, Severity, Verdict},
};

/// Evidence lines that are not clean; what is beyond is counted.
const MAX_LINES: usize = 40;

/// The check.
pub static CHECK: Check = Check {
    id: "robust-input",
    title: "Malformed input is refused and survived",
    severity: Severity::Scored,
    candidate: false,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: EXPLAIN,
    knobs: &[],
    needs: &["inventory", "invalid-calls", "stress"],
    judge,
};

const EXPLAIN: Explain = Explain {
    what: "Calls that a tool's own input schema refuses, and a tool that does not exist: each must be answered by an error, without \
           showing internals and without having been carried out. Then inputs that no client should send (one very long text, deep \
           nesting, broken frames): the server need not answer them, but it must still answer afterwards. After each batch of calls it \
           must still list its tools.",
    why: "A model fills arguments by guesswork. A server that carries out what its schema forbids does something nobody asked for, one \
          that answers with a stack trace tells an attacker where it runs, and one that dies takes every other tool with it.",
    verdicts: &[
        (
            "pass",
            "every graded call was refused without a leak, the tools are still listed, and every stress input was survived",
        ),
        (
            "part",
            "a call was accepted as if valid or carried out before it failed, a refusal shows internals, or an answer is neither result nor error",
        ),
        (
            "fail",
            "a crash or a hang anywhere, the tools are no longer listed, or more than half of the graded calls were accepted or carried out",
        ),
        ("inconclusive", "the listing was rejected, or no graded call could be judged"),
        ("na", "the server declares no tools"),
    ],
    rules: &[
        ("robust.refused", "answered by a JSON-RPC error, by `isError: true`, or by an HTTP status from 400 to 499"),
        ("robust.refusal-text", "answered as a success whose text, or JSON, reads as a refusal"),
        ("robust.lenient", "accepted as if it were valid"),
        (
            "robust.used",
            "the error shows that the call was carried out first: a request, a file, a program or a statement failed",
        ),
        ("robust.wrote", "a file in the sandbox changed during a call that must be refused"),
        (
            "robust.leak",
            "the refusal shows a stack trace, an absolute source path, or the text of an exception that the language's own runtime raised \
             (`The \"command\" argument must be of type string. Received type number`): the value got past the tool's own checks",
        ),
        ("robust.malformed", "the response is neither a result nor an error"),
        (
            "robust.silent",
            "no answer to `arguments` that are no object, and the server answers on: silence on a malformed frame is no fault",
        ),
        ("robust.slow", "no answer within the bound in a row of calls, answered when repeated alone"),
        ("robust.hang", "no answer within the bound"),
        ("robust.crash", "the process ended, or the connection closed, instead of an answer"),
        (
            "robust.ended",
            "the process ends by itself, as one did that was started and sent nothing: no call is to blame, and what is lost to it is not judged",
        ),
        ("robust.relist", "whether the tools are still listed after the calls"),
        ("robust.survived", "the server still answered after a stress input"),
        ("robust.stress-crash", "the process ended after a stress input"),
        ("robust.stress-silent", "no answer to `ping` (or `server/discover`) after a stress input"),
        ("robust.not-sent", "calls that were not sent, with the reason"),
    ],
    probes: &[
        ("missing", "a required parameter left out"),
        ("wrong-type", "a parameter of another JSON type"),
        ("null", "a parameter that is null where null is not allowed"),
        ("unknown-key", "an extra key where the schema closes them"),
        ("out-of-range", "a number outside its bounds"),
        ("not-in-enum", "a value that is none of those listed"),
        ("too-short", "a text or list below its least length"),
        ("too-long", "a text or list above its greatest length"),
        ("arguments-array", "`arguments` is an array"),
        ("arguments-string", "`arguments` is a string"),
        ("unknown-tool", "a tool that is not listed"),
        (
            "stress",
            "a 1 MiB text, deep nesting, escaped lone surrogates, broken and empty lines, a batch, a null id, invalid UTF-8: survival only",
        ),
    ],
    fix: "Validate arguments against the schema you declare before you use any of them, extra keys included where you close them, and \
          answer with `isError: true` and a sentence that names the parameter. Catch everything at the edge of a tool: log the \
          exception, return the sentence. A broken line on stdin is an error reply or nothing, never the end of the process.",
    false_positives: "A tool that coerces on purpose (a number taken for a text) is lenient by the letter of its own schema: declare both \
                      types. A schema generator that closes extra keys while the validator drops them makes the schema stricter than the \
                      server. A text that merely quotes a runtime's error counts as a leak.",
    false_negatives: "At most 24 calls per tool, one level deep, and none where a pattern, a format or a remote reference decides. A tool \
                      that declares that it acts on the outside world gets no call that is complete but for its fault. Plain text is \
                      read by English words. An invalid value that was used without a trace in the reply or the sandbox is not seen.",
    references: &[
        "MCP specification, server/tools, Error Handling",
        "JSON-RPC 2.0, section 5.1",
        "OWASP: Improper Error Handling",
    ],
};

/// A graded call with what finally became of it.
struct Graded<'t> {
    act: ActView<'t>,
    fate: Fate,
    /// What became of the original, where a repetition stands for it.
    before: Option<(ActView<'t>, Fate)>,
}

/// What the graded calls came to.
#[derive(Default)]
struct Tally {
    judged: usize,
    clean: usize,
    lenient: usize,
    leaks: usize,
    malformed: usize,
    lost: usize,
    silent: usize,
    /// Lost to an end that comes without any call.
    unjudged: usize,
}

fn judge(view: &View<'_>) -> Judgement {
    let tools = &view.surface.tools;
    if let Some(reason) = &tools.rejected {
        return Judgement::bare(
            Verdict::Inconclusive,
            format!("the client could not read the `tools/list` reply, so no call was made: {}", cut(reason)),
        );
    }
    if tools.entries.is_empty() {
        return Judgement::bare(Verdict::Na, "the server declares no tools");
    }
    let sessions = Sessions::of(view.trace);
    let (graded, mut told) = graded(view, &sessions);
    told.extend(sessions.ends_by_themselves().map(|(session, _)| session));
    let carried_out = carried_out(view, &graded);
    let (mut lines, mut tally) = (Lines::default(), Tally::default());
    let mut clean: BTreeMap<(&str, &'static str), (usize, ActView<'_>)> = BTreeMap::new();
    let mut not_sent: BTreeMap<&str, HashSet<Option<&str>>> = BTreeMap::new();
    for call in &graded {
        match &call.fate {
            Fate::NotSent(why) => {
                not_sent.entry(why).or_default().insert(call.act.act.tool.as_deref());
                continue;
            }
            Fate::Open => continue,
            Fate::Lost(_) if sessions.ended_by_itself(call.act.act.session) => {
                tally.unjudged += 1;
                continue;
            }
            _ => tally.judged += 1,
        }
        if let Some(rule) = grade(view, &sessions, call, &carried_out, &mut lines, &mut tally, &mut told) {
            let kind = split(&call.act.act.variant).0;
            clean.entry((kind, rule)).or_insert((0, call.act)).0 += 1;
        }
    }
    let crashes = unnamed_ends(&graded, &told);
    told.extend(crashes.iter().map(|(session, _)| *session));
    let (relisted, between) = between_batches(view, &sessions, &mut told);
    let stress = stress(view, &sessions);

    let mut evidence = lines.finish();
    evidence.extend(crashes.into_iter().map(|(_, line)| line));
    evidence.extend(between);
    evidence.extend(stress.lines.iter().cloned());
    evidence.sort_by_key(|line| line.verdict);
    let verdict = verdict(&evidence, &tally);
    let mut summary = summary(&evidence, &tally, &stress, &not_sent, verdict);
    if sessions.ends_by_themselves().next().is_some() {
        summary.push_str("; the server ends by itself some time after its start");
    }
    cap(&mut evidence);
    for ((kind, rule), (count, first)) in clean {
        let as_text = if rule == "robust.refusal-text" { "in the text of a success" } else { "by an error" };
        let observed = match rule {
            "robust.silent" => format!("{count} not answered, and the server answers on"),
            "robust.slow" => format!("{count} refused when repeated alone; in a row they took longer than the bound"),
            _ => format!("{count} refused {as_text}"),
        };
        evidence.push(informing(kind, Some(&first), observed, rule));
    }
    if relisted > 0 {
        evidence.push(informing(
            "relist",
            None,
            // How often depends on how fast a server that falls is.
            "the tools were still listed whenever they were asked for after the calls".to_owned(),
            "robust.relist",
        ));
    }
    if stress.survived > 0 {
        evidence.push(informing(
            "stress",
            None,
            format!("{} survived", plural(stress.survived, "stress input")),
            "robust.survived",
        ));
    }
    let mut by_itself: Vec<(SessionId, Option<&str>)> = sessions.ends_by_themselves().collect();
    by_itself.sort_unstable();
    if let Some((_, how)) = by_itself.first() {
        let how = how.map_or(String::new(), |how| format!(" ({how})"));
        let lost = match tally.unjudged {
            0 => String::new(),
            lost => format!("; {} lost to that, also when repeated", plural(lost, "call")),
        };
        let observed =
            format!("the server ends by itself some time after its start{how}, also when it is sent nothing{lost}");
        evidence.push(informing("left-alone", None, observed, "robust.ended"));
    }
    for (why, tools) in &not_sent {
        let names: Vec<&str> = tools.iter().flatten().copied().collect();
        let of = if names.is_empty() { String::new() } else { format!(" to {}", plural(names.len(), "tool")) };
        evidence.push(informing("invalid-calls", None, format!("calls not sent{of}: {why}"), "robust.not-sent"));
    }
    Judgement { verdict, summary, evidence }
}

/// The graded calls with what finally became of each, and the sessions whose end a repetition explains.
fn graded<'t>(view: &View<'t>, sessions: &Sessions) -> (Vec<Graded<'t>>, HashSet<SessionId>) {
    let acts: Vec<ActView<'t>> = view.acts("invalid-calls").filter(|act| act.act.role == Role::Graded).collect();
    let mut repeated: HashMap<(Option<&str>, &str), ActView<'t>> = HashMap::new();
    for act in acts.iter().filter(|act| act.act.replay) {
        repeated.insert((act.act.tool.as_deref(), &act.act.variant), *act);
    }
    let mut told = HashSet::new();
    let calls = acts.into_iter().filter(|act| !act.act.replay).map(|act| {
        let fate = sessions.fate(&act);
        let again = matches!(fate, Fate::Hung(_) | Fate::Lost(_) | Fate::Open)
            .then(|| repeated.get(&(act.act.tool.as_deref(), act.act.variant.as_str())))
            .flatten();
        match again.map(|again| (*again, sessions.fate(again))) {
            Some((again, after)) if !matches!(after, Fate::NotSent(_) | Fate::Open) => {
                if matches!(after, Fate::Hung(_) | Fate::Lost(_)) {
                    told.extend([act.act.session, again.act.session]);
                }
                Graded { act: again, fate: after, before: Some((act, fate)) }
            }
            _ => Graded { act, fate, before: None },
        }
    });
    let calls = calls.collect();
    (calls, told)
}

/// Tools of which at least one invalid call was carried out.
fn carried_out<'t>(view: &View<'t>, graded: &[Graded<'t>]) -> HashSet<&'t str> {
    let done = |call: &&Graded<'t>| {
        read(view.trace, &call.act).is_some_and(|reading| reading.manner == Manner::Accepted || reading.used.is_some())
    };
    graded.iter().filter(done).filter_map(|call| call.act.act.tool.as_deref()).collect()
}

/// Grades one call. Returns the rule of a clean one.
fn grade(
    view: &View<'_>,
    sessions: &Sessions,
    call: &Graded<'_>,
    carried_out: &HashSet<&str>,
    lines: &mut Lines,
    tally: &mut Tally,
    told: &mut HashSet<SessionId>,
) -> Option<&'static str> {
    let act = &call.act;
    match &call.fate {
        Fate::Hung(after_ms) => {
            let no_object = act.act.variant.starts_with("arguments-");
            if no_object && sessions.answered_after(act) {
                tally.silent += 1;
                return Some("robust.silent");
            }
            tally.lost += 1;
            told.insert(act.act.session);
            let later = if sessions.answered_after(act) { "; the server answers on" } else { "" };
            lines.add(
                act,
                "robust.hang",
                Verdict::Fail,
                format!("no answer within {} s{later}", after_ms.div_ceil(1000)),
            );
            return None;
        }
        Fate::Lost(how) => {
            tally.lost += 1;
            told.insert(act.act.session);
            lines.add(act, "robust.crash", Verdict::Fail, format!("the server ended instead of an answer ({how})"));
            return None;
        }
        Fate::Status(status) if *status < 500 => {
            tally.clean += 1;
            return Some("robust.refused");
        }
        Fate::Status(status) => {
            tally.malformed += 1;
            lines.add(act, "robust.malformed", Verdict::Part, format!("HTTP {status} without a JSON-RPC response"));
            return None;
        }
        _ => {}
    }
    let reading = read(view.trace, act)?;
    // Changes are seen per batch of one tool's calls: one that was carried out accounts for them.
    let wrote =
        if act.act.tool.as_deref().is_some_and(|tool| carried_out.contains(tool)) { Vec::new() } else { changed(act) };
    let found = faults(act, &reading, &wrote, lines, tally);
    if found {
        return None;
    }
    tally.clean += 1;
    Some(match reading.manner {
        _ if matches!(call.before, Some((_, Fate::Hung(_)))) => "robust.slow",
        Manner::RefusedInText => "robust.refusal-text",
        _ => "robust.refused",
    })
}

/// Adds a line for every fault of one answer; whether there was one.
fn faults(act: &ActView<'_>, reading: &Reading, wrote: &[String], lines: &mut Lines, tally: &mut Tally) -> bool {
    let names: Vec<&str> = wrote.iter().map(String::as_str).collect();
    let mut lenient = true;
    match (reading.manner, &reading.used) {
        (Manner::Malformed, _) => {
            tally.malformed += 1;
            lines.add(
                act,
                "robust.malformed",
                Verdict::Part,
                format!("neither a result nor an error: {}", cut(&reading.text)),
            );
            lenient = false;
        }
        (Manner::Accepted, _) if names.is_empty() => {
            lines.add(act, "robust.lenient", Verdict::Part, "accepted as if it were valid".to_owned())
        }
        (Manner::Accepted, _) => lines.add(
            act,
            "robust.wrote",
            Verdict::Part,
            format!("accepted as if it were valid, and changed {}", listed(&names)),
        ),
        (_, Some(shown)) => {
            lines.add(act, "robust.used", Verdict::Part, format!("carried out before the error: {}", cut(shown)))
        }
        (_, None) if !names.is_empty() => {
            lines.add(act, "robust.wrote", Verdict::Part, format!("refused, and yet changed {}", listed(&names)))
        }
        _ => lenient = false,
    }
    tally.lenient += usize::from(lenient);
    if let Some(leak) = &reading.leak {
        tally.leaks += 1;
        lines.add(act, "robust.leak", Verdict::Part, format!("the refusal shows {}: {}", leak.what, cut(&leak.shown)));
    }
    lenient || reading.leak.is_some() || reading.manner == Manner::Malformed
}

/// Sessions that ended under calls which, repeated alone, end nothing.
fn unnamed_ends(graded: &[Graded<'_>], told: &HashSet<SessionId>) -> Vec<(SessionId, Line)> {
    let mut found: Vec<(SessionId, Line)> = Vec::new();
    for (original, fate) in graded.iter().filter_map(|call| call.before.as_ref()) {
        let session = original.act.session;
        let Fate::Lost(how) = fate else { continue };
        if told.contains(&session) || found.iter().any(|(known, _)| *known == session) {
            continue;
        }
        let observed =
            format!("the server ended during a row of invalid calls ({how}); no call repeated alone ends it");
        let tool = original.act.tool.clone();
        let line = Line {
            probe: "invalid-calls".to_owned(),
            tool,
            sent: original.sent(),
            received: None,
            observed,
            rule: "robust.crash",
            verdict: Verdict::Fail,
        };
        found.push((session, line));
    }
    found
}

fn verdict(evidence: &[Line], tally: &Tally) -> Verdict {
    let worst = evidence.iter().map(|line| line.verdict).min();
    if worst == Some(Verdict::Fail) {
        return Verdict::Fail;
    }
    if tally.judged == 0 {
        return Verdict::Inconclusive;
    }
    if tally.lenient * 2 > tally.judged {
        return Verdict::Fail;
    }
    if worst == Some(Verdict::Part) { Verdict::Part } else { Verdict::Pass }
}

fn summary(
    evidence: &[Line],
    tally: &Tally,
    stress: &Stress,
    not_sent: &BTreeMap<&str, HashSet<Option<&str>>>,
    verdict: Verdict,
) -> String {
    let mut parts = Vec::new();
    if let Some(line) = evidence.first().filter(|line| line.verdict == Verdict::Fail) {
        let tool = line.tool.as_deref().map_or(String::new(), |tool| format!(" of `{}`", cut(tool)));
        parts.push(format!("{}{tool}: {}", line.probe, line.observed));
    }
    if tally.judged > 0 {
        parts.push(format!(
            "{} of {} refused",
            tally.judged - tally.lenient - tally.malformed - tally.lost - tally.silent,
            plural(tally.judged, "invalid call")
        ));
        for (count, what) in [
            (tally.lenient, "carried out or accepted"),
            (tally.leaks, "with internals in the refusal"),
            (tally.malformed, "answered by neither result nor error"),
            (tally.silent, "met with silence"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
    }
    if stress.survived > 0 {
        parts.push(format!("{} survived", plural(stress.survived, "stress input")));
    }
    if verdict == Verdict::Inconclusive {
        parts.insert(0, "no invalid call could be judged".to_owned());
    }
    let mut summary = parts.join(", ");
    let whole: HashSet<&str> = not_sent.values().flatten().flatten().copied().collect();
    if let Some(why) = not_sent.keys().next().copied().or(stress
        .not_sent
        .first()
        .map(String::as_str)
        .filter(|_| verdict == Verdict::Inconclusive))
    {
        let whom = if whole.is_empty() { "some calls".to_owned() } else { plural(whole.len(), "tool") };
        summary.push_str(&format!("; {whom} left out: {}", cut(why)));
    }
    summary
}

/// Keeps the worst lines and says how many more there are.
fn cap(evidence: &mut Vec<Line>) {
    let more = evidence.len().saturating_sub(MAX_LINES);
    evidence.truncate(MAX_LINES);
    if more > 0 {
        let last = evidence.last().map_or(("robust.lenient", Verdict::Part), |line| (line.rule, line.verdict));
        let observed = format!("{more} more lines like these");
        evidence.push(Line {
            probe: "invalid-calls".to_owned(),
            tool: None,
            sent: None,
            received: None,
            observed,
            rule: last.0,
            verdict: last.1,
        });
    }
}

fn informing(probe: &str, act: Option<&ActView<'_>>, observed: String, rule: &'static str) -> Line {
    let (sent, received) = (act.and_then(ActView::sent), act.and_then(ActView::reply).map(|(at, _)| at));
    Line { probe: probe.to_owned(), tool: None, sent, received, observed, rule, verdict: Verdict::Pass }
}

fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
#[path = "robust/input_tests.rs"]
mod tests;
