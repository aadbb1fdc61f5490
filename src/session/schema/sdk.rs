//! Whether the types of the Rust SDK (`rmcp::model`) accept a result, in the SDK's own words.

use std::{fmt::Display, sync::LazyLock};

use rmcp::model::{
    CallToolResult, DiscoverResult, InitializeResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, Resource, ResourceTemplate, Tool,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, value::MapDeserializer},
};
use serde_json::{Map, Value};

use super::result::asks_for_input;

/// Characters of an SDK's message that are kept.
const MESSAGE: usize = 300;

static NO_ENTRIES: Value = Value::Array(Vec::new());
static NO_MEMBERS: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

/// Members that the SDK takes as any object: read as empty ones, so that megabytes of schemas are not copied.
const FREE: &[&str] = &["inputSchema", "outputSchema", "_meta"];

/// Why the SDK's type for results of `method` refuses `result`; none when it accepts it or has no type of its own.
///
/// The types are more lenient than the schema in places (`content` may be left out, `inputSchema` may be any object) and
/// stricter in few. Of a list each entry is read alone and the first refusal is given, with the pointer of its entry.
pub fn sdk_complaint(method: &str, result: &Value) -> Option<String> {
    match method {
        "initialize" => whole::<InitializeResult>(result),
        "server/discover" => whole::<DiscoverResult>(result),
        "tools/call" if asks_for_input(result) => whole::<InputRequiredResult>(result),
        "tools/call" => whole::<CallToolResult>(result),
        "tools/list" => list::<ListToolsResult, Tool>(result, "tools"),
        "prompts/list" => list::<ListPromptsResult, Prompt>(result, "prompts"),
        "resources/list" => list::<ListResourcesResult, Resource>(result, "resources"),
        "resources/templates/list" => {
            list::<ListResourceTemplatesResult, ResourceTemplate>(result, "resourceTemplates")
        }
        _ => None,
    }
}

fn whole<'v, T: Deserialize<'v>>(result: &'v Value) -> Option<String> {
    T::deserialize(result).err().map(|error| said("result", error))
}

/// Reads the page without its entries, then the entries one by one, so that a large listing is never copied.
fn list<Page: DeserializeOwned, Entry: DeserializeOwned>(result: &Value, key: &str) -> Option<String> {
    let Value::Object(members) = result else { return whole::<Page>(result) };
    let page = without(members, &NO_ENTRIES, |name, value| name == key && value.is_array());
    if let Err(error) = Page::deserialize(page) {
        return Some(said("result", error));
    }
    let entries = members.get(key).and_then(Value::as_array)?;
    let mut refusals = entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry_error::<Entry>(entry)?)));
    let (at, error) = refusals.next()?;
    let first = said(&format!("/{key}/{at}"), error);
    match refusals.count() {
        0 => Some(first),
        more => Some(format!("{first} (and {more} more of {} entries)", entries.len())),
    }
}

fn entry_error<Entry: DeserializeOwned>(entry: &Value) -> Option<serde_json::Error> {
    match entry {
        Value::Object(members) => {
            let free = |name: &str, value: &Value| FREE.contains(&name) && value.is_object();
            Entry::deserialize(without(members, &NO_MEMBERS, free)).err()
        }
        _ => Entry::deserialize(entry).err(),
    }
}

/// A view of an object in which some members are replaced.
fn without<'v>(
    members: &'v Map<String, Value>,
    instead: &'static Value,
    left_out: impl Fn(&str, &Value) -> bool + 'v,
) -> impl Deserializer<'v, Error = serde_json::Error> {
    MapDeserializer::new(members.iter().map(move |(name, value)| match left_out(name, value) {
        true => (name.as_str(), instead),
        false => (name.as_str(), value),
    }))
}

fn said(place: &str, error: impl Display) -> String {
    let message = error.to_string();
    match message.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{place}: {}…", &message[..end]),
        None => format!("{place}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(result: Value) -> Option<String> {
        sdk_complaint("tools/call", &result)
    }

    #[test]
    fn the_sdks_own_message_names_what_it_refuses() {
        let audience = json!({"content": [{"type": "text", "text": "t", "annotations": {"audience": ["system"]}}]});
        let said = call(audience).expect("refused");
        assert!(said.starts_with("result: ") && said.contains("unknown variant `system`"), "{said}");
        for refused in [
            json!({}),
            json!({"content": [], "isError": "true"}),
            json!({"content": [{"type": "image", "data": ""}]}),
            json!({"content": [{"type": "video", "data": ""}]}),
            json!({"content": [{"type": "text", "text": null}]}),
        ] {
            assert!(call(refused.clone()).is_some(), "{refused}");
        }
    }

    #[test]
    fn the_sdk_is_more_lenient_than_the_schema_in_places() {
        for accepted in [
            json!({"structuredContent": {}}),
            json!({"content": [{"type": "text", "text": "t", "annotations": {"priority": 2}}]}),
            json!({"resultType": "input_required", "requestState": "s"}),
        ] {
            assert_eq!(call(accepted.clone()), None, "{accepted}");
        }
        let untyped = json!({"tools": [{"name": "a", "inputSchema": {}, "description": null}], "ttlMs": -1});
        assert_eq!(sdk_complaint("tools/list", &untyped), None);
    }

    #[test]
    fn entries_are_read_one_by_one_and_the_first_refusal_is_placed() {
        let listing = json!({"tools": [
            {"name": "a", "inputSchema": {}},
            {"name": "b", "inputSchema": null},
            {"name": "c", "inputSchema": {}, "annotations": {"readOnlyHint": "yes"}},
        ]});
        let said = sdk_complaint("tools/list", &listing).expect("refused");
        assert!(said.starts_with("/tools/1: invalid type: null"), "{said}");
        assert!(said.ends_with("(and 1 more of 3 entries)"), "{said}");
    }

    #[test]
    fn the_page_around_the_entries_is_read_too() {
        let refused = |value: Value| sdk_complaint("tools/list", &value).expect("refused");
        assert!(refused(json!({"tools": [], "nextCursor": 5})).starts_with("result: invalid type: integer `5`"));
        assert!(refused(json!({"tools": {"a": 1}})).contains("expected a sequence"));
        assert!(refused(json!({})).contains("missing field `tools`"));
        assert!(refused(json!(null)).starts_with("result: "));
        assert_eq!(sdk_complaint("prompts/list", &json!({"prompts": [{"name": "p"}]})), None);
        assert_eq!(sdk_complaint("resources/list", &json!({"resources": [{"uri": "a:b", "name": "n"}]})), None);
        let templates = json!({"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "n"}]});
        assert_eq!(sdk_complaint("resources/templates/list", &templates), None);
    }

    #[test]
    fn handshakes_are_read_with_the_type_of_their_era() {
        let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x"}});
        let said = sdk_complaint("initialize", &initialize).expect("refused");
        assert!(said.contains("missing field `version`"), "{said}");
        let discover = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete",
            "ttlMs": 0, "cacheScope": "shared"});
        assert!(sdk_complaint("server/discover", &discover).is_some_and(|said| said.contains("shared")));
        assert_eq!(sdk_complaint("ping", &json!(7)), None);
    }

    #[test]
    fn a_message_that_quotes_the_server_is_cut() {
        let said = call(json!({"content": "x".repeat(100_000)})).expect("refused");
        assert!(said.chars().count() <= MESSAGE + 10, "{}", said.len());
    }
}
