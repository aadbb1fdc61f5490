//! Plain text that reads as a refusal although the reply says that the call succeeded.

use serde_json::Value;

use super::matcher::{Matcher, head};

/// Words a refusal starts with (after marks such as `**`, `❌`, `[`).
const HEADS: &[&str] = &[
    "error",
    "invalid",
    "missing",
    "unknown",
    "must",
    "failed",
    "failure",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "unsupported",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "required",
    "no such",
    "not found",
    "not allowed",
    "not permitted",
    "denied",
    "access denied",
    "permission denied",
    "forbidden",
    "refused",
    "rejected",
    "bad request",
    "illegal",
    "expected",
    "please provide",
    "please specify",
    "you must",
    "exception",
    "traceback",
    "mcp error",
    "validation",
    "input validation",
    "wrong type",
    "malformed",
    "tool not found",
    "command not found",
    "fatal",
];

/// The texts of known validators, wherever they stand.
static VALIDATORS: [Matcher; 4] = [
    Matcher::new(
        "pydantic, jsonschema",
        &[
            "validation error",
            "required property",
            "not of type",
            "Additional properties",
            "is not one of [",
            "Field required",
        ],
        r"\b\d+ validation errors? for |is a required property|is not of type '|Additional properties are not allowed|is not one of \[|Field required",
    ),
    Matcher::new(
        "zod",
        &["\"code\""],
        r#""code":\s*"(?:invalid_type|unrecognized_keys|invalid_union|invalid_enum_value|invalid_value|too_small|too_big|invalid_format|invalid_string)""#,
    ),
    Matcher::new(
        "ajv",
        &["must have", "must NOT", "must be", "not allowed to be"],
        r"must have required property|must NOT have additional properties|must be (?:string|number|integer|boolean|array|object)\b|is not allowed to be empty",
    ),
    Matcher::new(
        "serde, go",
        &[
            "field `",
            "invalid type: ",
            "invalid value: ",
            "variant `",
            "Error:Field",
            "into Go",
            "properties: ",
            "additional properties '",
        ],
        r"(?:missing|unknown) field `|invalid (?:type|value): .+, expected |unknown variant `|Error:Field validation for|cannot unmarshal \w+ into Go|missing properties: |additional properties '",
    ),
];

/// A short first line that says a parameter is missing or wrong.
static SAYS_SO: Matcher = Matcher::new(
    "a statement",
    &["required", "missing", "invalid", "allowed", "valid", "supported", "recognized", "must ", "unknown"],
    r"(?i)\b(?:is|are) (?:required|missing|invalid|not (?:allowed|valid|supported|recognized))\b|\bmust (?:be|have|not|provide|specify)\b|\b(?:parameters?|arguments?|field|key|property) (?:is |are )?(?:missing|required|unknown|invalid)\b|\bnot a valid\b",
);

/// Longest first line that is read as a statement about the call rather than as content.
const MAX_STATEMENT: usize = 300;

/// Whether a text that came as a success reads as a refusal: by how it starts, by a validator's words, or as JSON that says so.
pub(in super::super) fn reads_as_refusal(text: &str) -> bool {
    let text = text.trim_start();
    if let Some(refuses) = json_refuses(text, 0) {
        return refuses;
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let bare = first.trim_start_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
    let heads = HEADS.iter().any(|head| {
        bare.strip_prefix(head)
            .is_some_and(|rest| !rest.chars().next().is_some_and(|next| next.is_alphanumeric() || next == '_'))
    });
    let validated = head(text, 4096);
    heads
        || (first.len() <= MAX_STATEMENT && SAYS_SO.find(first, &first.to_lowercase()).is_some())
        || VALIDATORS.iter().any(|rule| rule.find(validated, validated).is_some())
}

/// What JSON says about the call: none when the text is no JSON object or validator's list.
fn json_refuses(text: &str, depth: u32) -> Option<bool> {
    if !text.starts_with(['{', '[']) || depth > 1 {
        return None;
    }
    // Further blocks may follow the first value.
    let value: Value = serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?;
    let Value::Object(map) = value else {
        let issues = value.as_array().is_some_and(|items| {
            !items.is_empty() && items.iter().all(|item| item.get("code").is_some() && item.get("message").is_some())
        });
        return issues.then_some(true);
    };
    let says = |key: &str, wanted: &Value| map.get(key) == Some(wanted);
    let told = |key: &str| match map.get(key) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    };
    let failed = says("isError", &true.into())
        || says("is_error", &true.into())
        || says("success", &false.into())
        || says("ok", &false.into());
    let status = map
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status.to_lowercase().as_str(), "error" | "failed" | "failure"));
    if failed || status || ((told("error") || told("errors")) && !says("success", &true.into())) {
        return Some(true);
    }
    // `structuredContent` of an SDK that wraps a text.
    let wrapped = (map.len() == 1).then(|| map.get("result").and_then(Value::as_str)).flatten();
    Some(wrapped.is_some_and(reads_as_refusal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_refusals_are_read_as_such() {
        for text in [
            "Error: Missing arguments",
            "**Error**: path is missing",
            "❌ Invalid path",
            "Unknown tool: x",
            "must be a string: path",
            "Input validation error: None is not of type 'string'",
            "Error executing tool x: 1 validation error for xArguments\npath\n  Field required",
            "Command is required, current value: undefined",
            "The path argument is missing.",
            "entity must be a string",
            "{\"success\":false,\"message\":\"files parameter is required\"}",
            "{\"error\":\"bad\"}",
            "{\"status\":\"error\",\"detail\":\"x\"}",
            "{\"content\":[{\"type\":\"text\",\"text\":\"Error: Not a git repository\"}],\"isError\":true,\"metadata\":{}}",
            "{\"content\":[{\"type\":\"text\",\"text\":\"nope\"}],\"isError\":true}\n{\"more\":1}",
            "[\n  {\n    \"code\": \"invalid_type\",\n    \"message\": \"Required\"\n  }\n]",
            "{\"result\":\"Error: no\"}",
        ] {
            assert!(reads_as_refusal(text), "{text}");
        }
    }

    #[test]
    fn ordinary_results_are_not() {
        for text in [
            "",
            "4242",
            "Echo: sealmark-probe",
            "Errors found: 0",
            "Unknowns solved: 3",
            "No results.",
            "Successfully wrote to sealmark-probe",
            "{\"error\":null,\"rows\":[]}",
            "{\"errors\":[],\"data\":1}",
            "{\"success\":true,\"error\":\"none\"}",
            "[1,2,3]",
            "[{\"code\":\"a\"}]",
            "Current configuration:\n{\"blockedCommands\": []}",
            "You sent parameters not supported by this tool, which were ignored: sealmark_probe.",
            "The weather is invalidated",
        ] {
            assert!(!reads_as_refusal(text), "{text}");
        }
    }
}
