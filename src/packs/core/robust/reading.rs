//! One reply to a call that must be refused, read.

use super::{
    leaks::{Leak, leak},
    refusals::reads_as_refusal,
    used::used,
};
use crate::{
    check::ActView,
    model::{EventKind, Outcome, Trace},
};

/// How a reply takes a call that must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Manner {
    /// A JSON-RPC error, `isError: true`, or an HTTP status.
    Refused,
    /// A success whose text reads as a refusal.
    RefusedInText,
    /// As if it were valid.
    Accepted,
    /// A response that is neither a result nor an error.
    Malformed,
}

/// A reply with everything that counts in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Reading {
    /// How it takes the call.
    pub(in super::super) manner: Manner,
    /// Its text.
    pub(in super::super) text: String,
    /// What a refusal gives away.
    pub(in super::super) leak: Option<Leak>,
    /// What shows that the call was carried out before the error.
    pub(in super::super) used: Option<String>,
}

/// Reads the reply of a graded act; none when there is no reply.
pub(in super::super) fn read(trace: &Trace, act: &ActView<'_>) -> Option<Reading> {
    let (_, outcome) = act.reply()?;
    let (manner, text) = match outcome {
        Outcome::Error { message, .. } => (Manner::Refused, message.as_str()),
        Outcome::Result { is_error: Some(true), text } => (Manner::Refused, text.as_str()),
        Outcome::Result { text, .. } if reads_as_refusal(text) => (Manner::RefusedInText, text.as_str()),
        Outcome::Result { text, .. } => (Manner::Accepted, text.as_str()),
        Outcome::Malformed { why } => (Manner::Malformed, why.as_str()),
    };
    // Before anything is quoted: a cut path of ours could no longer be told from the server's.
    let text = trace.header.placeholders.iter().filter(|(value, _)| value.len() > 3).fold(
        text.to_owned(),
        |text, (value, placeholder)| {
            if text.contains(value.as_str()) { text.replace(value.as_str(), placeholder) } else { text }
        },
    );
    let refused = matches!(manner, Manner::Refused | Manner::RefusedInText);
    // An unknown tool has nothing to carry out.
    let used =
        if refused && act.act.variant != "unknown-tool" { used(&text, wrong_value(act).as_deref()) } else { None };
    Some(Reading { manner, leak: refused.then(|| leak(&text)).flatten(), used, text })
}

/// The value of another type that the call carried, as a server would write it after taking it for text.
fn wrong_value(act: &ActView<'_>) -> Option<String> {
    let parameter = act.act.variant.strip_prefix("wrong-type:")?;
    let frame = act.events().find_map(|(_, event)| match &event.kind {
        EventKind::Sent { frame, .. } => frame.json(),
        _ => None,
    })?;
    let mut value = frame.get("params")?.get("arguments")?;
    for key in parameter.split('.') {
        value = value.get(key)?;
    }
    match value {
        serde_json::Value::Number(number) => Some(number.to_string()),
        serde_json::Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
