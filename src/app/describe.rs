//! `describe`: this build for other programs, generated from the registry and the clap command.

use serde_json::{Value, json};

use super::{Exit, command_line, console, explain, list_checks::Row};
use crate::{
    check::{Check, KnobDefault, Pack},
    packs,
};

/// The format's name, the first member of the document.
pub const SCHEMA: &str = "sealmark.describe/1";

/// Prints a JSON document.
pub fn print(document: &Value) -> Exit {
    console::answer(&format!("{document:#}\n"))
}

/// The description. `config_keys` is what the configuration says about its own keys.
pub fn document(config_keys: Value) -> Value {
    json!({
        "schema": SCHEMA,
        "sealmark": { "version": env!("CARGO_PKG_VERSION"), "methodology": packs::METHODOLOGY },
        "packs": packs::ALL.iter().map(|pack| pack_facts(pack)).collect::<Vec<_>>(),
        "checks": packs::checks().map(|(pack, check)| check_facts(pack, check)).collect::<Vec<_>>(),
        "configKeys": config_keys,
        "commands": commands(),
        "exitCodes": Exit::FIXED.iter().map(|exit| json!({ "code": exit.code(), "meaning": exit.meaning() })).collect::<Vec<_>>(),
    })
}

fn pack_facts(pack: &Pack) -> Value {
    json!({
        "id": pack.id,
        "title": pack.title,
        "candidate": pack.candidate,
        "applies": pack.applies,
        "needs": pack.needs,
        "checks": pack.checks.iter().map(|check| check.id).collect::<Vec<_>>(),
    })
}

fn check_facts(pack: &Pack, check: &Check) -> Value {
    let row = Row::of(pack, check);
    let explain = &check.explain;
    let pairs = |pairs: &[(&str, &str)], name: &str, text: &str| {
        pairs.iter().map(|(id, prose)| json!({ name: id, text: prose })).collect::<Vec<_>>()
    };
    let knobs = check.knobs.iter().map(|knob| {
        let default = match knob.default {
            KnobDefault::Integer(number) => json!(number),
            KnobDefault::Texts(texts) => json!(texts),
        };
        json!({ "key": format!("checks.{}.{}", check.id, knob.key), "default": default, "locked": knob.locked, "help": knob.help })
    });
    json!({
        "id": row.id,
        "pack": row.pack,
        "title": row.title,
        "severity": row.severity,
        "critical": row.critical,
        "candidate": row.candidate,
        "scope": row.scope,
        "locked": row.locked,
        "since": check.since,
        "what": explain.what,
        "why": explain.why,
        "probes": pairs(explain.probes, "id", "does"),
        "verdicts": pairs(explain.verdicts, "verdict", "when"),
        "rules": pairs(explain.rules, "id", "meaning"),
        "fix": explain.fix,
        "falsePositives": explain.false_positives,
        "falseNegatives": explain.false_negatives,
        "references": explain.references,
        "configKeys": explain::settings(check).into_iter().map(|(key, _)| key).collect::<Vec<_>>(),
        "knobs": knobs.collect::<Vec<_>>(),
    })
}

fn commands() -> Vec<Value> {
    let mut root = command_line::command();
    root.build();
    let mut found = Vec::new();
    root.get_subcommands().for_each(|command| collect(command, "", &mut found));
    found
}

fn collect(command: &clap::Command, parent: &str, found: &mut Vec<Value>) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name =
        if parent.is_empty() { command.get_name().to_owned() } else { format!("{parent} {}", command.get_name()) };
    let arguments = |positional: bool| {
        let shown = command.get_arguments().filter(move |argument| {
            argument.is_positional() == positional && !matches!(argument.get_id().as_str(), "help" | "version")
        });
        shown.map(argument).collect::<Vec<_>>()
    };
    found.push(json!({
        "name": name,
        "about": command.get_about().map(ToString::to_string),
        "arguments": arguments(true),
        "flags": arguments(false),
    }));
    command.get_subcommands().for_each(|sub| collect(sub, &name, found));
}

fn argument(argument: &clap::Arg) -> Value {
    let takes_value = argument.get_action().takes_values();
    let values: Vec<_> = argument
        .get_possible_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| value.get_name().to_owned())
        .collect();
    let name = argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| format!("--{long}"));
    json!({
        "name": name,
        "value": takes_value.then(|| argument.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))),
        "values": values,
        "required": argument.is_required_set(),
        "repeats": matches!(argument.get_action(), clap::ArgAction::Append),
        "default": argument.get_default_values().first().map(|value| value.to_string_lossy().into_owned()),
        "help": argument.get_help().map(ToString::to_string),
        "more": argument.get_long_help().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_holds_every_check_command_and_exit_code() {
        let document = document(json!([{ "key": "packs" }]));
        let text = document.to_string();
        for (_, check) in packs::checks() {
            assert!(text.contains(&format!("\"id\":\"{}\"", check.id)));
        }
        let names: Vec<_> =
            document["commands"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        assert!(
            names.contains(&"run") && names.contains(&"config show") && !names.contains(&"demo-server"),
            "{names:?}"
        );
        assert_eq!(document["exitCodes"].as_array().unwrap().len(), 8);
        assert_eq!(document["configKeys"][0]["key"], "packs");
    }

    #[test]
    fn a_flag_says_what_it_takes() {
        let all = commands();
        let run = all.iter().find(|command| command["name"] == "run").unwrap();
        let flag =
            |name: &str| run["flags"].as_array().unwrap().iter().find(|flag| flag["name"] == name).unwrap().clone();
        assert_eq!(flag("--format")["values"][0], "text");
        assert_eq!(flag("--format")["repeats"], true);
        assert_eq!(flag("--soft-fail")["value"], Value::Null);
        assert_eq!(flag("--color")["default"], "auto");
    }
}
