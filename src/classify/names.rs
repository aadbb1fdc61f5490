//! What a tool's name says about it.

use serde_json::Value;

use crate::model::Tool;

/// Words that announce reading wherever they stand in a name.
const READING: &[&str] = &[
    "get", "list", "read", "show", "search", "describe", "find", "view", "lookup", "count", "inspect", "browse",
    "peek", "info", "status", "stats", "version", "whoami", "help", "health",
];

/// Words that announce an effect.
const WRITING: &[&str] = &[
    "accept",
    "activate",
    "add",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "block",
    "book",
    "buy",
    "call",
    "cancel",
    "change",
    "checkout",
    "clean",
    "cleanup",
    "clear",
    "clone",
    "close",
    "configure",
    "connect",
    "consume",
    "convert",
    "copy",
    "create",
    "deactivate",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "discard",
    "disconnect",
    "dismiss",
    "download",
    "drop",
    "edit",
    "enable",
    "enqueue",
    "erase",
    "eval",
    "exec",
    "execute",
    "extend",
    "fix",
    "flush",
    "force",
    "format",
    "generate",
    "give",
    "grant",
    "import",
    "init",
    "initialize",
    "insert",
    "install",
    "interact",
    "invoke",
    "join",
    "kill",
    "launch",
    "login",
    "logout",
    "make",
    "mark",
    "merge",
    "migrate",
    "mkdir",
    "modify",
    "move",
    "mutate",
    "notify",
    "optimize",
    "overwrite",
    "patch",
    "pause",
    "pay",
    "perform",
    "pop",
    "prune",
    "publish",
    "pull",
    "purchase",
    "purge",
    "push",
    "put",
    "rebase",
    "reboot",
    "rebuild",
    "refresh",
    "register",
    "reindex",
    "reject",
    "reload",
    "remove",
    "rename",
    "repair",
    "replace",
    "reply",
    "reset",
    "resolve",
    "respond",
    "restart",
    "restore",
    "resume",
    "retry",
    "revert",
    "revoke",
    "rm",
    "rollback",
    "rotate",
    "save",
    "scale",
    "send",
    "shutdown",
    "sign",
    "spawn",
    "start",
    "stash",
    "stop",
    "store",
    "submit",
    "subscribe",
    "switch",
    "sync",
    "take",
    "terminate",
    "toggle",
    "touch",
    "transfer",
    "trigger",
    "truncate",
    "uninstall",
    "unlock",
    "unset",
    "unsubscribe",
    "unzip",
    "update",
    "upgrade",
    "upload",
    "upsert",
    "vacuum",
    "wipe",
    "write",
    "zip",
];

/// Words that are an effect at the head of a name (`post_message`) and a thing behind a reading word (`get_post`).
const EITHER: &[&str] = &[
    "commit", "export", "issue", "job", "lock", "log", "open", "order", "post", "record", "release", "request", "run",
    "schedule", "script", "set", "stage", "tag",
];

/// Splits a name in snake, camel, kebab or dotted case into lower-case words.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = name.chars().take(256).collect();
    for (at, character) in characters.iter().copied().enumerate() {
        if !character.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let after = characters.get(at + 1).copied();
        let starts = character.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase)));
        if starts && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.extend(character.to_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Whether a name announces reading and nothing else. In doubt it does not.
pub fn reads_by_name(name: &str) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let head_reads = words.first().is_some_and(|word| READING.contains(&word.as_str()));
    let joined = words.iter().any(|word| matches!(word.as_str(), "and" | "or" | "then"));
    has(READING) && !has(WRITING) && ((head_reads && !joined) || !has(EITHER))
}

/// Whether a tool declares an object without any property. A schema that says less than that is no such declaration.
pub fn takes_nothing(tool: &Tool) -> bool {
    let Some(schema) = tool.input_schema() else { return false };
    let empty = |key: &str| match schema.get(key) {
        None => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    };
    let nothing_else =
        ["$ref", "allOf", "anyOf", "oneOf", "if", "$dynamicRef", "not"].iter().all(|key| schema.get(key).is_none());
    let closed_or_silent = schema.get("additionalProperties").is_none_or(Value::is_boolean);
    schema.get("type").and_then(Value::as_str) == Some("object")
        && empty("properties")
        && empty("required")
        && empty("patternProperties")
        && nothing_else
        && closed_or_silent
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::EventRef;

    #[test]
    fn names_split_in_every_case() {
        for (name, expected) in [
            ("get-env", "get env"),
            ("listAllFiles", "list all files"),
            ("fileAbsolutePath", "file absolute path"),
            ("parseJSONPath", "parse json path"),
            ("fs.read_file", "fs read file"),
            ("URL", "url"),
            ("sha256Sum", "sha256 sum"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn reading_is_told_from_writing_by_name() {
        for name in [
            "get-env",
            "list_sessions",
            "bash_get_cwd",
            "db_info",
            "get_post",
            "list_open_issues",
            "search_objects",
            "show_security_rules",
            "git_status",
        ] {
            assert!(reads_by_name(name), "{name}");
        }
        for name in [
            "delete_file",
            "get_or_create_user",
            "list_and_run",
            "post_message",
            "bash_reset",
            "find_and_replace",
            "toggle-list",
            "pop_list",
            "run_list",
            "echo",
            "clear_status",
            "set_status",
        ] {
            assert!(!reads_by_name(name), "{name}");
        }
    }

    #[test]
    fn a_tool_takes_nothing_only_when_it_says_so() {
        let tool = |schema: serde_json::Value| Tool {
            name: "t".into(),
            raw: json!({"name": "t", "inputSchema": schema}),
            listed_in: EventRef(0),
        };
        assert!(takes_nothing(&tool(json!({"type": "object"}))));
        assert!(takes_nothing(&tool(
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
        )));
        for schema in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({"type": "object", "properties": {"a": {}}}),
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "anyOf": [{"required": ["a"]}]}),
            json!(true),
        ] {
            assert!(!takes_nothing(&tool(schema.clone())), "{schema}");
        }
    }
}
