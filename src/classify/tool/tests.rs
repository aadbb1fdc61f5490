use serde_json::{Value, json};

use super::*;
use crate::model::EventRef;

fn tool(name: &str, description: &str, properties: Value) -> Tool {
    let raw =
        json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": properties}});
    Tool { name: name.to_owned(), raw, listed_in: EventRef(0) }
}

fn class(tool: &Tool) -> String {
    let class = classify(tool, &BTreeMap::new());
    let secondary =
        class.secondary.map(|(kind, parameter)| format!(" +{} {parameter}", kind.as_str())).unwrap_or_default();
    format!(
        "{} {} {}{secondary}",
        class.kind.as_str(),
        class.confidence.as_str(),
        class.parameter.as_deref().unwrap_or("-")
    )
}

#[test]
fn every_tool_of_the_pinned_servers_has_the_class_found_by_hand() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut files: Vec<_> =
        std::fs::read_dir(format!("{folder}/listings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut seen = String::new();
    for file in files {
        let listing: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        seen.push_str(&format!("# {}\n", file.file_stem().unwrap().to_str().unwrap()));
        for raw in listing["tools"].as_array().unwrap() {
            let tool =
                Tool { name: raw["name"].as_str().unwrap().to_owned(), raw: raw.clone(), listed_in: EventRef(0) };
            seen.push_str(&format!("{}: {}\n", tool.name, class(&tool)));
        }
    }
    let table = format!("{folder}/classes.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&table, &seen).unwrap();
    }
    assert_eq!(
        seen,
        std::fs::read_to_string(&table).unwrap(),
        "a class changed: check it by hand, then run with UPDATE=1"
    );
}

#[test]
fn parameters_decide_and_words_around_them_support() {
    let text = json!({"type": "string"});
    let told = |description: &str| json!({"type": "string", "description": description});
    for (name, description, properties, expected) in [
        // paths
        ("read", "", json!({"filePath": text}), "path high filePath"),
        ("read", "", json!({"file-path": text}), "path high file-path"),
        ("read", "", json!({"paths": {"type": "array", "items": text}}), "path high paths"),
        ("read", "", json!({"path": {"anyOf": [text, {"type": "null"}]}}), "path high path"),
        ("read", "", json!({"params": {"type": "object", "properties": {"path": text}}}), "path high params.path"),
        ("open", "", json!({"uri": told("A file:// address of the document")}), "path high uri"),
        ("load", "", json!({"doc": told("Absolute path to the document")}), "path medium doc"),
        ("pick", "", json!({"jsonPath": text}), "path low jsonPath"),
        ("call_api", "", json!({"path": told("API path below the base")}), "path low path"),
        ("open_thing", "", json!({"file_id": text}), "text low -"),
        ("set_mode", "", json!({"path": {"type": "string", "enum": ["a", "b"]}}), "opaque low -"),
        ("ship", "", json!({"source": text, "destination": text}), "text low -"),
        ("copy_file", "", json!({"source": text, "destination": text}), "path high source"),
        // URLs
        ("get", "", json!({"target": {"type": "string", "format": "uri"}}), "url high target"),
        ("save", "", json!({"url": text, "output_path": text}), "path high output_path +url url"),
        ("read_resource", "", json!({"uri": told("The resource's URI")}), "url low uri"),
        ("greet", "", json!({"host": text}), "text low -"),
        ("get", "", json!({"page": told("URL of the page to read")}), "url medium page"),
        // SQL
        ("find", "", json!({"sqlQuery": text}), "sql high sqlQuery"),
        ("find", "", json!({"query": told("SELECT statement to run")}), "sql high query"),
        ("query_database", "", json!({"query": text}), "sql medium query"),
        ("search_database", "", json!({"query": told("Search terms")}), "sql low query"),
        ("search", "", json!({"query": told("What to select from the shop")}), "text low -"),
        ("query_db", "", json!({"db_path": text, "sql": text}), "sql high sql +path db_path"),
        // git
        ("git_log", "", json!({"repo": text}), "git medium repo"),
        ("get_issues", "", json!({"owner": text, "repo": text}), "text low -"),
        ("git-status", "", json!({"directory": text}), "git high directory"),
        ("status", "", json!({"repo": text}), "git low repo"),
        // commands
        ("run", "", json!({"cmd": text}), "command high cmd"),
        ("device", "Sends a command to the lamp", json!({"command": text}), "command medium command"),
        ("explain_command", "", json!({"command": text}), "command low command"),
        ("run_python", "", json!({"code": text}), "command medium code"),
        ("translate", "", json!({"code": text}), "text low -"),
        ("run", "", json!({"cmd": text, "cwd": text}), "command high cmd"),
        // neither
        ("echo", "", json!({"message": text}), "text low -"),
        ("add", "", json!({"a": {"type": "number"}, "b": {"type": "number"}}), "opaque low -"),
    ] {
        let properties_shown = properties.to_string();
        assert_eq!(class(&tool(name, description, properties)), expected, "{name} {properties_shown}");
    }
}

#[test]
fn an_override_wins_and_finds_its_parameter() {
    let tool = tool("legacy", "", json!({"url": {"type": "string"}, "where": {"type": "string"}}));
    let with = |word: &str| {
        classify(
            &tool,
            &BTreeMap::from([("legacy".to_owned(), Override { class: word.to_owned(), ..Override::default() })]),
        )
    };
    assert_eq!(
        (with("opaque").kind, with("opaque").confidence, with("opaque").parameter),
        (ToolClass::Opaque, Confidence::Set, None)
    );
    assert_eq!(with("url").parameter.as_deref(), Some("url"));
    assert_eq!(with("sql").parameter.as_deref(), Some("url"), "no parameter claims it: the first text parameter");
    assert_eq!(with("nonsense").confidence, Confidence::High, "an unknown word is no override");
}

#[test]
fn references_are_followed_and_hostile_schemas_end() {
    let referred = json!({"name": "t", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"type": "object", "properties": {"path": {"type": "string"}}}}}});
    let tool = Tool { name: "t".into(), raw: referred, listed_in: EventRef(0) };
    assert_eq!(class(&tool), "path high x.path");
    let cyclic = json!({"name": "t", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#"}, "y": {"anyOf": [{"$ref": "#/properties/y"}, {"$ref": "#/properties/y"}]}}}});
    let tool = Tool { name: "t".into(), raw: cyclic, listed_in: EventRef(0) };
    assert_eq!(class(&tool), "opaque low -");
}
