//! What one JSON value on the wire is: a response, a request, a notification, or none of them.

use serde_json::{Map, Value};

/// A message by what it claims to be.
#[derive(Debug, PartialEq)]
pub(super) enum Message<'v> {
    /// It answers a request: it has an id and no method.
    Response { id: &'v Value, body: Body<'v> },
    /// A response without an id: legal for errors about messages that could not be read.
    Anonymous { why: &'static str, error: bool },
    /// A request to the client.
    Request { id: &'v Value, method: &'v str },
    /// A notification.
    Notification { method: &'v str },
    /// It claims to be JSON-RPC and is none of the above.
    Strange { why: String },
    /// JSON that has nothing to do with JSON-RPC.
    Foreign,
}

/// What a response holds.
#[derive(Debug, PartialEq)]
pub(super) enum Body<'v> {
    Result(&'v Value),
    Error(&'v Value),
    Malformed(String),
}

/// Reads one element of the wire.
pub(super) fn read(value: &Value) -> Message<'_> {
    let Some(object) = value.as_object() else { return Message::Foreign };
    let version = version_complaint(object);
    let answers = object.contains_key("result") || object.contains_key("error");
    match (object.get("method"), object.get("id")) {
        (Some(Value::String(method)), id) if !answers => {
            if let Some(why) = version {
                return if object.contains_key("jsonrpc") { Message::Strange { why } } else { Message::Foreign };
            }
            match id {
                None => Message::Notification { method },
                Some(id @ (Value::Number(_) | Value::String(_))) => Message::Request { id, method },
                Some(_) => Message::Strange { why: "a request whose id is neither a number nor a text".to_owned() },
            }
        }
        (Some(_), _) if !answers => {
            if object.contains_key("jsonrpc") {
                Message::Strange { why: "`method` is not a text".to_owned() }
            } else {
                Message::Foreign
            }
        }
        (_, None | Some(Value::Null)) => {
            if !object.contains_key("jsonrpc") {
                Message::Foreign
            } else if object.contains_key("error") {
                Message::Anonymous { why: "an error that names no request", error: true }
            } else {
                Message::Anonymous { why: "neither a method nor an id", error: false }
            }
        }
        (method, Some(id)) => {
            if !answers && !object.contains_key("jsonrpc") {
                return Message::Foreign;
            }
            Message::Response { id, body: body(object, version, method.is_some()) }
        }
    }
}

fn body(object: &Map<String, Value>, version: Option<String>, method: bool) -> Body<'_> {
    if let Some(why) = version {
        return Body::Malformed(why);
    }
    match (object.get("result"), object.get("error")) {
        (Some(_), Some(_)) => Body::Malformed("both `result` and `error` are present".to_owned()),
        (None, None) => Body::Malformed("neither `result` nor `error` is present".to_owned()),
        _ if method => Body::Malformed("`method` stands beside `result` or `error`".to_owned()),
        (Some(result), None) => Body::Result(result),
        (None, Some(error)) if error.is_object() => Body::Error(error),
        (None, Some(_)) => Body::Malformed("`error` is not an object".to_owned()),
    }
}

fn version_complaint(object: &Map<String, Value>) -> Option<String> {
    match object.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => None,
        Some(other) => {
            let shown: String = other.to_string().chars().take(40).collect();
            Some(format!("`jsonrpc` is {shown} instead of \"2.0\""))
        }
        None => Some("`jsonrpc` is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn malformed(value: &Value) -> bool {
        matches!(read(value), Message::Response { body: Body::Malformed(_), .. })
    }

    #[test]
    fn well_formed_messages_are_what_they_say() {
        let ok = json!({ "jsonrpc": "2.0", "id": 1, "result": null });
        assert_eq!(read(&ok), Message::Response { id: &json!(1), body: Body::Result(&Value::Null) });
        let error = json!({ "jsonrpc": "2.0", "id": "a", "error": { "code": 1.5 } });
        assert!(matches!(read(&error), Message::Response { body: Body::Error(_), .. }));
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
        assert_eq!(read(&request), Message::Request { id: &json!(0), method: "ping" });
        let notice = json!({ "jsonrpc": "2.0", "method": "x" });
        assert_eq!(read(&notice), Message::Notification { method: "x" });
    }

    #[test]
    fn defective_responses_are_malformed_and_keep_their_id() {
        assert!(malformed(&json!({ "jsonrpc": "2.0", "id": 1, "result": 1, "error": {} })));
        assert!(malformed(&json!({ "jsonrpc": "2.0", "id": 1 })));
        assert!(malformed(&json!({ "jsonrpc": "1.0", "id": 1, "result": 1 })));
        assert!(malformed(&json!({ "jsonrpc": 2.0, "id": 1, "result": 1 })));
        assert!(malformed(&json!({ "id": 1, "result": 1 })));
        assert!(malformed(&json!({ "jsonrpc": "2.0", "id": 1, "error": "no" })));
        assert!(malformed(&json!({ "jsonrpc": "2.0", "id": 1, "result": 1, "method": "x" })));
    }

    #[test]
    fn errors_without_id_are_legal_and_log_lines_are_foreign() {
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "x" } });
        assert!(matches!(read(&error), Message::Anonymous { error: true, .. }));
        for foreign in [
            json!({ "level": "info", "id": 1 }),
            json!({ "method": "GET", "path": "/", "id": 1 }),
            json!({ "error": "no" }),
            json!("x"),
            json!(1),
            json!({}),
        ] {
            assert_eq!(read(&foreign), Message::Foreign, "{foreign}");
        }
    }

    #[test]
    fn strange_messages_are_neither_answered_nor_foreign() {
        for strange in [
            json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": 5 }),
            json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }),
        ] {
            assert!(matches!(read(&strange), Message::Strange { .. }), "{strange}");
        }
    }
}
