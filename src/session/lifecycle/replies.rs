//! What the two handshakes' replies mean.

use serde_json::Value;

use crate::{
    model::{Era, Outcome, Revision},
    session::Reply,
};

/// What `server/discover` was answered with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Discovery {
    /// The server speaks that modern revision.
    Modern(Revision),
    /// It is modern, and speaks no revision this build knows.
    Unknown(Vec<String>),
    /// It does not know the modern era.
    Unsupported,
}

/// What `initialize` was answered with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Initialization {
    /// A handshake.
    Done {
        /// The revision to grade in.
        revision: Revision,
        /// The revision as the server spelled it.
        word: String,
    },
    /// A message that is no handshake, and why not.
    Refused(String),
    /// No message at all.
    Unreadable(String),
}

impl Initialization {
    /// Why there is no handshake.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::Done { .. } => None,
            Self::Refused(why) => Some(why.clone()),
            Self::Unreadable(why) => Some(format!("`initialize` was not properly answered: {why}")),
        }
    }
}

/// The error codes that only modern servers use.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];

/// Reads a reply to `server/discover`.
pub(super) fn discovery(reply: &Reply, outcome: &Outcome) -> Discovery {
    let Some(value) = &reply.value else { return Discovery::Unsupported };
    match outcome {
        Outcome::Result { .. } => {
            let result = value.get("result").unwrap_or(&Value::Null);
            match result.get("supportedVersions") {
                Some(Value::Array(versions)) => choose(versions),
                // A defect, yet nothing but a modern server answers like this.
                _ if result.get("resultType").is_some() && result.get("capabilities").is_some() => {
                    Discovery::Modern(Revision::NEWEST_MODERN)
                }
                _ => Discovery::Unsupported,
            }
        }
        Outcome::Error { code: Some(code), .. } if MODERN_ERRORS.contains(code) => {
            match value.pointer("/error/data/supported") {
                Some(Value::Array(versions)) => choose(versions),
                _ => Discovery::Unknown(Vec::new()),
            }
        }
        _ => Discovery::Unsupported,
    }
}

fn choose(versions: &[Value]) -> Discovery {
    let words = || versions.iter().filter_map(Value::as_str);
    let known = words().filter_map(Revision::parse).filter(|revision| revision.era() == Era::Modern).max();
    let unknown: Vec<String> =
        words().filter(|word| *word > Revision::NEWEST_LEGACY.as_str()).take(10).map(shortened).collect();
    match known {
        Some(revision) => Discovery::Modern(revision),
        None if unknown.is_empty() => Discovery::Unsupported,
        None => Discovery::Unknown(unknown),
    }
}

/// Reads a reply to `initialize`: only what makes a session impossible refuses it, other defects are complaints.
pub(super) fn initialization(reply: &Reply, outcome: &Outcome) -> Initialization {
    let refused = |why: String| Initialization::Refused(why);
    match outcome {
        Outcome::Error { code, message } => {
            let code = code.map_or("without a code".to_owned(), |code| code.to_string());
            refused(format!("the server refused `initialize`: error {code}: {}", shortened(message)))
        }
        Outcome::Malformed { why } => Initialization::Unreadable(shortened(why)),
        Outcome::Result { .. } => {
            let result = reply.value.as_ref().and_then(|value| value.get("result")).unwrap_or(&Value::Null);
            match result.get("protocolVersion") {
                _ if !result.is_object() => {
                    refused("`initialize` was not properly answered: its result is not an object".to_owned())
                }
                Some(Value::String(word)) => {
                    Initialization::Done { revision: nearest(word), word: word.chars().take(100).collect() }
                }
                Some(_) => {
                    refused("`initialize` was not properly answered: `protocolVersion` is not a text".to_owned())
                }
                None => {
                    refused("`initialize` was not properly answered: its result has no `protocolVersion`".to_owned())
                }
            }
        }
    }
}

/// The legacy revision whose schema fits best: unknown ones are held against the newest.
fn nearest(word: &str) -> Revision {
    match Revision::parse(word) {
        Some(revision) if revision.era() == Era::Legacy => revision,
        // 2024-10-07, the only revision that came before the first final one.
        None if word == "2024-10-07" => Revision::ALL[0],
        _ => Revision::NEWEST_LEGACY,
    }
}

/// A server's words in a sentence of ours.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EventRef;
    use serde_json::json;

    fn result(result: Value) -> (Reply, Outcome) {
        let outcome = Outcome::Result { is_error: None, text: String::new() };
        (Reply { at: EventRef(0), value: Some(json!({ "result": result })) }, outcome)
    }

    fn discover(value: Value) -> Discovery {
        let (reply, outcome) = result(value);
        discovery(&reply, &outcome)
    }

    fn discover_error(code: i64, data: Value) -> Discovery {
        let value = Some(json!({ "error": { "code": code, "message": "x", "data": data } }));
        discovery(&Reply { at: EventRef(0), value }, &Outcome::Error { code: Some(code), message: "x".to_owned() })
    }

    fn init(value: Value) -> Initialization {
        let (reply, outcome) = result(value);
        initialization(&reply, &outcome)
    }

    #[test]
    fn the_newest_known_modern_revision_is_chosen() {
        let modern = Discovery::Modern(Revision::V2026_07_28);
        assert_eq!(discover(json!({ "supportedVersions": ["2027-01-01", "2026-07-28", "2025-11-25"] })), modern);
        assert_eq!(discover(json!({ "resultType": "complete", "capabilities": {} })), modern);
        assert_eq!(discover_error(-32022, json!({ "supported": ["2026-07-28"] })), modern);
    }

    #[test]
    fn only_unknown_modern_revisions_are_named() {
        let unknown = Discovery::Unknown(vec!["2027-01-01".to_owned()]);
        assert_eq!(discover(json!({ "supportedVersions": ["2027-01-01", 5] })), unknown);
        assert_eq!(discover_error(-32022, json!({ "supported": ["2027-01-01"] })), unknown);
        assert_eq!(discover_error(-32021, json!({ "requiredCapabilities": {} })), Discovery::Unknown(Vec::new()));
    }

    #[test]
    fn an_answer_to_everything_is_no_discovery() {
        for value in [json!({}), json!({ "content": [] }), json!({ "supportedVersions": ["2025-11-25"] }), json!(null)]
        {
            assert_eq!(discover(value), Discovery::Unsupported);
        }
        assert_eq!(discover_error(-32601, json!(null)), Discovery::Unsupported);
    }

    #[test]
    fn revisions_we_do_not_know_are_graded_with_the_newest() {
        for (word, revision) in [
            ("2024-11-05", Revision::V2024_11_05),
            ("2025-11-25", Revision::V2025_11_25),
            ("2024-10-07", Revision::V2024_11_05),
            ("2099-01-01", Revision::V2025_11_25),
            ("2026-07-28", Revision::V2025_11_25),
        ] {
            let done = Initialization::Done { revision, word: word.to_owned() };
            assert_eq!(init(json!({ "protocolVersion": word })), done, "other members are the schema's business");
        }
    }

    #[test]
    fn an_initialize_result_needs_a_revision() {
        for value in [json!(null), json!("x"), json!({}), json!({ "protocolVersion": 5 })] {
            assert!(matches!(init(value), Initialization::Refused(_)));
        }
    }
}
