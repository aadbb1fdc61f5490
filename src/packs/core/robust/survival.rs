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

/// Judges the `stress` acts: an input is survived when the next sign of life after it in its session was answered.
pub(in super::super) fn stress(view: &View<'_>, sessions: &Sessions) -> Stress {
    let acts: Vec<ActView<'_>> = view.acts("stress").collect();
    let mut stress = Stress::default();
    let mut alive: HashSet<&str> = HashSet::new();
    let mut replayed: HashMap<&str, Fate> = HashMap::new();
    let mut dead: Vec<(Vec<ActView<'_>>, ActView<'_>, Fate)> = Vec::new();
    // Inputs since the last sign of life, by session.
    let mut pending: HashMap<SessionId, Vec<ActView<'_>>> = HashMap::new();
    for act in &acts {
        let waiting = pending.entry(act.act.session).or_default();
        match act.act.role {
            Role::Stress => match sessions.fate(act) {
                Fate::NotSent(why) => {
                    if !stress.not_sent.contains(&why) {
                        stress.not_sent.push(why);
                    }
                }
                _ => waiting.push(*act),
            },
            Role::Alive if waiting.is_empty() => {}
            Role::Alive => {
                let inputs = std::mem::take(waiting);
                let fate = sessions.fate(act);
                let answered = matches!(fate, Fate::Answered | Fate::Status(_));
                if act.act.replay || inputs.iter().any(|input| input.act.replay) {
                    replayed.extend(inputs.iter().map(|input| (input.act.variant.as_str(), fate.clone())));
                }
                // An endpoint that limits its rate has answered, only not this: whether the server lives is not known.
                if let Fate::NotSent(why) = &fate
                    && act.events().any(|(_, event)| matches!(event.kind, EventKind::Http { .. }))
                {
                    if !stress.not_sent.contains(why) {
                        stress.not_sent.push(why.clone());
                    }
                } else if answered {
                    alive.extend(inputs.iter().map(|input| input.act.variant.as_str()));
                } else if !matches!(fate, Fate::Open) {
                    // Not even the sign of life was sent: the session had ended before.
                    dead.push((inputs, *act, fate));
                }
            }
            _ => {}
        }
    }
    dead.sort_by_key(|(inputs, ..)| inputs.first().map(|input| input.id));
    let named: HashSet<&str> = replayed
        .iter()
        .filter(|(_, fate)| !matches!(fate, Fate::Answered | Fate::Status(_)))
        .map(|(variant, _)| *variant)
        .collect();
    let mut told: HashSet<&str> = HashSet::new();
    for (inputs, sign, fate) in &dead {
        // A culprit that a repetition named speaks for the group it was in.
        let replay = inputs.iter().any(|input| input.act.replay);
        if !replay && inputs.iter().any(|input| named.contains(input.act.variant.as_str())) {
            continue;
        }
        let alone = inputs.len() == 1;
        let names: Vec<&str> = inputs.iter().map(|input| input.act.variant.as_str()).collect();
        if !names.iter().any(|name| told.insert(name)) {
            continue;
        }
        let (rule, what) = match fate {
            Fate::Lost(how) => ("robust.stress-crash", format!("the server ended ({how})")),
            Fate::NotSent(why) => ("robust.stress-crash", format!("the server was gone ({why})")),
            Fate::Hung(after_ms) => {
                ("robust.stress-silent", format!("the server no longer answered within {} s", after_ms.div_ceil(1000)))
            }
            _ => continue,
        };
        let cause = if alone {
            format!("after `{}`", names[0])
        } else {
            format!(
                "after one of {} ({})",
                listed(&names),
                if names.iter().all(|name| replayed.contains_key(name)) {
                    "none does it alone"
                } else {
                    "not told apart"
                }
            )
        };
        stress.lines.push(Line {
            probe: if alone { names[0].to_owned() } else { "stress".to_owned() },
            tool: inputs[0].act.tool.clone(),
            sent: inputs[0].sent(),
            received: sign.reply().map(|(at, _)| at),
            observed: format!("{what} {cause}"),
            rule,
            verdict: Verdict::Fail,
        });
    }
    let fallen: HashSet<&str> =
        dead.iter().flat_map(|(inputs, ..)| inputs.iter().map(|input| input.act.variant.as_str())).collect();
    // In a group that fell, what a repetition survived has survived.
    let cleared = |variant: &str| matches!(replayed.get(variant), Some(Fate::Answered | Fate::Status(_)));
    stress.survived = alive.iter().filter(|variant| !fallen.contains(*variant) || cleared(variant)).count();
    stress
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
