//! The results of the methods a grading run uses, and what the revision's schema has to say about one.

use serde_json::Value;

use super::{
    content::{BLOCK, IMPLEMENTATION, OBJECT, PROMPT, RESOURCE, STRUCTURED, TEMPLATE, TOOL},
    input::INPUT_REQUESTS,
    rule::{
        Member,
        Rule::{Flag, List, Map, Object, Text, Whole, Word},
        may, must,
    },
    walk,
};
use crate::model::{
    Era, Revision,
    Revision::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28},
};

/// What the schema of `revision` says is wrong with a result of `method`; empty when nothing is.
///
/// Each complaint is one short sentence that starts with the JSON pointer into the result (`result` for the whole of
/// it). At most 20 are given; a 21st says how many more there are. A method the revision does not know is held to what
/// every result must be.
pub fn complaints(revision: Revision, method: &str, result: &Value) -> Vec<String> {
    walk::complaints(revision, "result", members(revision, method, result), result)
}

/// What the schema of `revision` says is wrong with the `error` member of a reply; bounded like [`complaints`].
pub fn error_complaints(revision: Revision, error: &Value) -> Vec<String> {
    walk::complaints(revision, "error", &[must("code", Whole(None)), must("message", Text)], error)
}

fn members(revision: Revision, method: &str, result: &Value) -> &'static [Member] {
    let modern = revision.era() == Era::Modern;
    match method {
        "initialize" if !modern => INITIALIZE,
        "server/discover" if modern => DISCOVER,
        "tools/list" => const { &page(must("tools", List(&TOOL))) },
        "prompts/list" => const { &page(must("prompts", List(&PROMPT))) },
        "resources/list" => const { &page(must("resources", List(&RESOURCE))) },
        "resources/templates/list" => const { &page(must("resourceTemplates", List(&TEMPLATE))) },
        "tools/call" if modern && asks_for_input(result) => INPUT_REQUIRED,
        "tools/call" => CALL,
        _ => ANY_RESULT,
    }
}

/// Whether a modern result asks the client for something before it can be completed.
pub(super) fn asks_for_input(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

const META: Member =
    may("_meta", Object(&[may("io.modelcontextprotocol/serverInfo", IMPLEMENTATION).since(V2026_07_28)]));
const KIND: Member = must("resultType", Text).since(V2026_07_28);
const TTL: Member = must("ttlMs", Whole(Some(0))).since(V2026_07_28);
const SCOPE: Member = must("cacheScope", Word(&["public", "private"])).since(V2026_07_28);
const INSTRUCTIONS: Member = may("instructions", Text);

const ANY_RESULT: &[Member] = &[META, KIND];

const INITIALIZE: &[Member] = &[
    must("protocolVersion", Text),
    must("capabilities", Object(CAPABILITIES)),
    must("serverInfo", IMPLEMENTATION),
    INSTRUCTIONS,
    META,
];

const DISCOVER: &[Member] = &[
    must("supportedVersions", List(&Text)),
    must("capabilities", Object(CAPABILITIES)),
    INSTRUCTIONS,
    KIND,
    TTL,
    SCOPE,
    META,
];

/// `ServerCapabilities`. Values of `experimental` and `extensions` are objects; what they hold is free, although the
/// published schema of 2026-07-28 forgets null and fractions in `JSONValue` (its TypeScript source has them).
const CAPABILITIES: &[Member] = &[
    may("tools", Object(&[CHANGES])),
    may("prompts", Object(&[CHANGES])),
    may("resources", Object(&[CHANGES, may("subscribe", Flag)])),
    may("logging", OBJECT),
    may("completions", OBJECT).since(V2025_03_26),
    may("experimental", Map(&OBJECT)),
    may("extensions", Map(&OBJECT)).since(V2026_07_28),
    may(
        "tasks",
        Object(&[
            may("list", OBJECT),
            may("cancel", OBJECT),
            may("requests", Object(&[may("tools", Object(&[may("call", OBJECT)]))])),
        ]),
    )
    .since(V2025_11_25)
    .until(V2026_07_28),
];

const CHANGES: Member = may("listChanged", Flag);

const CALL: &[Member] = &[
    must("content", List(&BLOCK)),
    may("isError", Flag),
    may("structuredContent", STRUCTURED).since(V2025_06_18),
    KIND,
    META,
];

const INPUT_REQUIRED: &[Member] = &[KIND, META, may("requestState", Text), may("inputRequests", INPUT_REQUESTS)];

/// One page of a list.
const fn page(entries: Member) -> [Member; 6] {
    [entries, may("nextCursor", Text), KIND, TTL, SCOPE, META]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Revision::V2024_11_05;

    fn tools(revision: Revision, tools: Value) -> Vec<String> {
        complaints(
            revision,
            "tools/list",
            &json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}),
        )
    }

    #[test]
    fn a_schema_without_a_type_is_named_with_its_pointer() {
        let said = tools(
            V2024_11_05,
            json!([{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {}}]),
        );
        assert_eq!(said, [r#"/tools/1/inputSchema: "type" is missing (must be "object")"#]);
    }

    #[test]
    fn members_count_from_the_revision_that_introduced_them() {
        let odd = json!([{"name": "a", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "yes"},
            "execution": {"taskSupport": "maybe"}, "outputSchema": true}]);
        assert_eq!(tools(V2024_11_05, odd.clone()), Vec::<String>::new());
        assert_eq!(
            tools(V2025_03_26, odd.clone()),
            [r#"/tools/0/annotations/readOnlyHint: must be a boolean, is "yes""#]
        );
        assert_eq!(tools(V2025_11_25, odd.clone()).len(), 3);
        assert_eq!(
            tools(V2026_07_28, odd),
            [
                r#"/tools/0/annotations/readOnlyHint: must be a boolean, is "yes""#,
                "/tools/0/outputSchema: must be an object, is true",
            ]
        );
    }

    #[test]
    fn the_handshakes_are_held_to_their_own_members() {
        assert_eq!(
            complaints(V2025_11_25, "initialize", &json!({"protocolVersion": 1, "serverInfo": {"name": "x"}})),
            [
                "/protocolVersion: must be a string, is 1",
                r#"result: "capabilities" is missing (must be an object)"#,
                r#"/serverInfo: "version" is missing (must be a string)"#,
            ]
        );
        let discover = json!({"supportedVersions": [], "capabilities": {}, "resultType": "complete", "ttlMs": -1,
            "cacheScope": "shared"});
        assert_eq!(
            complaints(V2026_07_28, "server/discover", &discover),
            [
                "/ttlMs: must be a whole number of at least 0, is -1",
                r#"/cacheScope: must be "public" or "private", is "shared""#,
            ]
        );
    }

    #[test]
    fn blocks_are_told_apart_by_their_type_and_revision() {
        let call = |revision, block: Value| complaints(revision, "tools/call", &json!({"content": [block]}));
        assert_eq!(call(V2025_11_25, json!({"type": "text"})), [r#"/content/0: "text" is missing (must be a string)"#]);
        assert_eq!(
            call(V2025_03_26, json!({"type": "resource_link", "uri": "a:b", "name": "n"})),
            [r#"/content/0/type: must be "text", "image", "audio" or "resource", is "resource_link""#]
        );
        assert_eq!(
            call(V2025_06_18, json!({"type": "resource_link", "uri": "a:b", "name": "n"})),
            Vec::<String>::new()
        );
        assert_eq!(
            call(V2025_11_25, json!({"text": "x"})),
            [r#"/content/0: "type" is missing (must be "text", "image", "audio", "resource_link" or "resource")"#]
        );
        assert_eq!(
            call(V2025_11_25, json!({"type": "resource", "resource": {"uri": "a:b", "text": 5}})),
            [
                r#"/content/0/resource: must be an object with a "uri" and a "text" or a "blob", all strings, is an object"#
            ]
        );
    }

    #[test]
    fn complaints_are_bounded_in_number_and_length() {
        let long = "ä".repeat(5_000);
        let many: Vec<_> = (0..1_000).map(|_| json!({"name": long, "inputSchema": {"type": long, &long: 1}})).collect();
        let said = tools(V2025_11_25, Value::from(many));
        assert_eq!(said.len(), 21);
        assert_eq!(said[20], "and 980 more");
        assert!(said[0].chars().count() < 200, "{}", said[0]);
        let keys = json!([{"name": "a", "inputSchema": {"type": "object", "properties": {&long: 1, "a/b~c": 2}}}]);
        let said = tools(V2025_11_25, keys);
        assert!(said[0].chars().count() < 200, "{}", said[0]);
        assert_eq!(said[1], "/tools/0/inputSchema/properties/a~1b~0c: must be an object, is 2");
    }

    #[test]
    fn twenty_complaints_are_all_given() {
        let said = tools(V2025_11_25, Value::from(vec![json!(1); 20]));
        assert_eq!((said.len(), said[19].as_str()), (20, "/tools/19: must be an object, is 1"));
    }

    #[test]
    fn null_is_no_result() {
        assert_eq!(complaints(V2025_11_25, "ping", &Value::Null), ["result: must be an object, is null"]);
        assert_eq!(error_complaints(V2025_11_25, &json!({"code": "x"})).len(), 2);
    }
}
