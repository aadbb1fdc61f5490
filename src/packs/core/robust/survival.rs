//! Whether the server survived: pings, listings again, and stress inputs.

use std::collections::{HashMap, HashSet};

use super::outcome::{Fate, Sessions};
use crate::{
    check::{ActView, View},
    model::{EventKind, Line, Outcome, Role, SessionId, Verdict},
};

/// What the stress inputs came to.
#[derive(Debug, Default)]
pub(in super::super) struct Stress {
    /// Inputs after which the server still answered.
    pub(in super::super) survived: usize,
    /// Lines of those after which it did not.
    pub(in super::super) lines: Vec<Line>,
    /// Why inputs were not sent.
    pub(in super::super) not_sent: Vec<String>,
}

/// Inputs with the sign of life that followed them in their session.
struct Group<'t> {
    inputs: Vec<ActView<'t>>,
    sign: ActView<'t>,
    fate: Fate,
}

impl Group<'_> {
    fn answered(&self) -> bool {
        matches!(self.fate, Fate::Answered | Fate::Status(_))
    }

    /// What became of the server, and by which rule; none when it answered or nothing is known.
    fn fall(&self) -> Option<(&'static str, String)> {
        match &self.fate {
            Fate::Lost(how) => Some(("robust.stress-crash", format!("the server ended ({how})"))),
            Fate::NotSent(why) => Some(("robust.stress-crash", format!("the server was gone ({why})"))),
            Fate::Hung(after_ms) => Some((
                "robust.stress-silent",
                format!("the server no longer answered within {} s", after_ms.div_ceil(1000)),
            )),
            _ => None,
        }
    }

    fn line(&self, sent: &ActView<'_>, probe: &str, cause: &str) -> Option<Line> {
        let (rule, what) = self.fall()?;
        Some(Line {
            probe: probe.to_owned(),
            tool: sent.act.tool.clone(),
            sent: sent.sent(),
            received: self.sign.reply().map(|(at, _)| at),
            observed: format!("{what} {cause}"),
            rule,
            verdict: Verdict::Fail,
        })
    }
}

/// Judges the `stress` acts: an input is survived when the next sign of life after it in its session was answered. Where
/// inputs were repeated alone, the last repetition decides: in a row, what is answered before the server falls is a
/// matter of speed.
pub(in super::super) fn stress(view: &View<'_>, sessions: &Sessions) -> Stress {
    let mut stress = Stress::default();
    let groups = groups(view, sessions, &mut stress.not_sent);
    let mut variants: Vec<&str> = Vec::new();
    let mut alone: HashMap<&str, &Group<'_>> = HashMap::new();
    let mut rows: Vec<(SessionId, Vec<&Group<'_>>)> = Vec::new();
    for group in &groups {
        for input in &group.inputs {
            let variant = input.act.variant.as_str();
            if !variants.contains(&variant) {
                variants.push(variant);
            }
            if input.act.replay {
                alone.insert(variant, group);
            }
        }
        if !group.inputs.iter().any(|input| input.act.replay) {
            let session = group.sign.act.session;
            match rows.iter_mut().find(|(known, _)| *known == session) {
                Some((_, row)) => row.push(group),
                None => rows.push((session, vec![group])),
            }
        }
    }
    // An end that comes without any input accuses none.
    let fell = |group: &Group<'_>| {
        group.fall().is_some()
            && !(matches!(group.fate, Fate::Lost(_)) && sessions.ended_by_itself(group.sign.act.session))
    };
    for variant in &variants {
        let Some(group) = alone.get(variant).filter(|group| fell(group)) else { continue };
        let Some(input) = group.inputs.iter().rfind(|input| input.act.variant == *variant) else { continue };
        stress.lines.extend(group.line(input, variant, &format!("after `{variant}`")));
    }
    let mut survived: HashSet<&str> =
        alone.iter().filter(|(_, group)| group.answered()).map(|(variant, _)| *variant).collect();
    for (_, row) in &rows {
        let fallen = row.iter().position(|group| fell(group));
        let (before, rest) = row.split_at(fallen.unwrap_or(row.len()));
        let answered = before.iter().filter(|group| group.answered()).flat_map(|group| &group.inputs);
        let unrepeated =
            answered.map(|input| input.act.variant.as_str()).filter(|variant| !alone.contains_key(variant));
        survived.extend(unrepeated);
        let Some(first) = rest.first() else { continue };
        let of_row = || row.iter().flat_map(|group| &group.inputs).map(|input| input.act.variant.as_str());
        if of_row().any(|variant| alone.get(variant).is_some_and(|group| fell(group))) {
            // The culprit has a line of its own.
            continue;
        }
        let suspects: Vec<&ActView<'_>> = rest.iter().flat_map(|group| &group.inputs).collect();
        let names: Vec<&str> = suspects.iter().map(|input| input.act.variant.as_str()).collect();
        let cleared = of_row().all(|variant| alone.contains_key(variant));
        let (probe, cause) = match (&names[..], cleared) {
            (_, true) => ("stress", "after a row of stress inputs, none of which does it alone".to_owned()),
            ([name], false) => (*name, format!("after `{name}`")),
            (_, false) => ("stress", format!("after one of {} (not told apart)", listed(&names))),
        };
        stress.lines.extend(first.line(suspects[0], probe, &cause));
    }
    stress.survived = survived.len();
    stress
}

/// The inputs in the order they were sent, each group with its sign of life. `not_sent` takes the reasons of the rest.
fn groups<'t>(view: &View<'t>, sessions: &Sessions, not_sent: &mut Vec<String>) -> Vec<Group<'t>> {
    let mut pending: HashMap<SessionId, Vec<ActView<'t>>> = HashMap::new();
    let mut groups = Vec::new();
    for act in view.acts("stress") {
        let waiting = pending.entry(act.act.session).or_default();
        match act.act.role {
            Role::Stress => match sessions.fate(&act) {
                Fate::NotSent(why) => {
                    if !not_sent.contains(&why) {
                        not_sent.push(why);
                    }
                }
                _ => waiting.push(act),
            },
            Role::Alive if !waiting.is_empty() => {
                let inputs = std::mem::take(waiting);
                let fate = sessions.fate(&act);
                // An endpoint that limits its rate has answered, only not this: whether the server lives is not known.
                match &fate {
                    Fate::NotSent(why)
                        if act.events().any(|(_, event)| matches!(event.kind, EventKind::Http { .. })) =>
                    {
                        if !not_sent.contains(why) {
                            not_sent.push(why.clone());
                        }
                    }
                    _ => groups.push(Group { inputs, sign: act, fate }),
                }
            }
            _ => {}
        }
    }
    groups
}

/// Pings and listings between batches of invalid calls. `told` are sessions whose end is explained already.
pub(in super::super) fn between_batches(
    view: &View<'_>,
    sessions: &Sessions,
    told: &mut HashSet<SessionId>,
) -> (usize, Vec<Line>) {
    let mut lines = Vec::new();
    let mut relisted = 0;
    for act in view.acts("invalid-calls") {
        let (rule, what) = match act.act.role {
            Role::Alive => ("robust.hang", "answer a ping"),
            Role::Relist => ("robust.relist", "list its tools"),
            _ => continue,
        };
        let fate = sessions.fate(&act);
        if matches!(fate, Fate::Lost(_)) && sessions.ended_by_itself(act.act.session) {
            continue;
        }
        let (rule, observed) = match fate {
            Fate::Answered if act.act.role == Role::Relist => match lists_nothing(view, &act) {
                Some(why) => (rule, format!("after the invalid calls the tools are no longer listed: {why}")),
                None => {
                    relisted += 1;
                    continue;
                }
            },
            Fate::Status(status) if act.act.role == Role::Relist => {
                (rule, format!("after the invalid calls `tools/list` got HTTP {status}"))
            }
            Fate::Hung(after_ms) if !told.contains(&act.act.session) => (
                rule,
                format!("after the invalid calls the server did not {what} within {} s", after_ms.div_ceil(1000)),
            ),
            Fate::Lost(how) if !told.contains(&act.act.session) => {
                ("robust.crash", format!("the server ended ({how}) after the invalid calls, before it could {what}"))
            }
            _ => continue,
        };
        told.insert(act.act.session);
        lines.push(Line {
            probe: if act.act.role == Role::Relist { "relist" } else { "alive" }.to_owned(),
            tool: act.act.tool.clone(),
            sent: act.sent(),
            received: act.reply().map(|(at, _)| at),
            observed,
            rule,
            verdict: Verdict::Fail,
        });
    }
    (relisted, lines)
}

/// Why an answer to `tools/list` does not list tools any more.
fn lists_nothing(view: &View<'_>, act: &ActView<'_>) -> Option<String> {
    let (at, outcome) = act.reply()?;
    match outcome {
        Outcome::Error { message, .. } => return Some(format!("error {}", cut(message))),
        Outcome::Malformed { why } => return Some(why.clone()),
        Outcome::Result { .. } => {}
    }
    let EventKind::Received { frame, .. } = &view.trace.event(at)?.kind else { return None };
    // A listing too large to keep was at least a result.
    let value = frame.json()?;
    match value.get("result")?.get("tools").and_then(|tools| tools.as_array()) {
        None => Some("the result has no `tools` array".to_owned()),
        Some(tools) if tools.is_empty() && !view.surface.tools.entries.is_empty() => {
            Some("the list is empty".to_owned())
        }
        Some(_) => None,
    }
}

/// Names in a sentence, at most six.
pub(in super::super) fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{}`", cut(name))).collect();
    let rest = names.len().saturating_sub(shown.len());
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}

/// A quotation of at most 160 characters on one line; the report escapes it.
pub(in super::super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 160 { line } else { line.chars().take(159).chain(['…']).collect() }
}
