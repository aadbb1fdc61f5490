//! The JSON Schema of `sealmark.report/1`.

use serde_json::{Value, json};

use super::result::SCHEMA;

/// The schema (draft 2020-12) of a report: one run, or `{"schema", "runs": […]}`. Unknown members are allowed: fields may
/// be added.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/report.schema.json"),
        "title": SCHEMA,
        "description": "What one invocation of sealmark found: one run, or several under `runs`.",
        "oneOf": [{ "$ref": "#/$defs/run" }, { "$ref": "#/$defs/runs" }],
        "$defs": {
            "runs": runs(),
            "run": run(),
            "server": server(),
            "surface": surface(),
            "tool": tool(),
            "prompt": prompt(),
            "resource": resource(),
            "text": text(),
            "config": config(),
            "classified": classified(),
            "pack": pack(),
            "check": check(),
            "evidence": evidence(),
            "sha256": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
            "verdict": { "enum": ["pass", "part", "fail", "inconclusive", "na"] },
        },
    })
}

/// An object with those members, all required but those in `optional`.
fn object(description: &str, required: Value, optional: Value) -> Value {
    let names: Vec<String> = required.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut members = required;
    if let (Some(all), Value::Object(more)) = (members.as_object_mut(), optional) {
        all.extend(more);
    }
    json!({ "type": "object", "description": description, "properties": members, "required": names })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn string(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn nullable(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn list(items: Value, description: &str) -> Value {
    json!({ "type": "array", "items": items, "description": description })
}

fn map(values: Value, description: &str) -> Value {
    json!({ "type": "object", "additionalProperties": values, "description": description })
}

fn texts(description: &str) -> Value {
    list(json!({ "type": "string" }), description)
}

fn runs() -> Value {
    object(
        "Several servers.",
        json!({ "schema": { "const": SCHEMA }, "runs": list(reference("run"), "One run per server.") }),
        json!({}),
    )
}

fn run() -> Value {
    object(
        "One run against one server.",
        json!({
            "schema": { "const": SCHEMA },
            "sealmark": object(
                "The build.",
                json!({ "version": string("Its version."), "methodology": string("The methodology it implements.") }),
                json!({}),
            ),
            "name": string("The server's display name."),
            "version": nullable("The server's version: as configured, else as it reports itself."),
            "status": { "enum": ["graded", "nothing-graded", "failed", "interrupted"], "description": "What the run came to." },
            "startedAt": { "type": "string", "format": "date-time", "description": "When it started, in UTC." },
            "durationMs": count("Wall time in milliseconds."),
            "server": reference("server"),
            "config": reference("config"),
            "sandbox": object(
                "The sandbox.",
                json!({
                    "used": flag("Whether the server ran in one."),
                    "dir": nullable("Its path when it was kept, else a placeholder."),
                    "cleanup": string("What became of it."),
                    "inherited": texts("Environment variables that were passed on, by name."),
                }),
                json!({}),
            ),
            "classification": list(reference("classified"), "The tools' classes, in listing order."),
            "packs": map(reference("pack"), "Packs by id, in registry order."),
            "coverage": object(
                "How much of the server was exercised.",
                json!({
                    "toolsCalledValid": count("Tools called with valid arguments that the server processed."),
                    "tools": count("Tools listed."),
                    "label": string("`hygiene only`, `partial` or `full`; empty when nothing ran."),
                }),
                json!({}),
            ),
            "badge": object(
                "Whether a badge may show letters.",
                json!({
                    "eligible": flag("Whether it may."),
                    "reason": string("Why not, or `standard run`."),
                    "message": string("What it shows."),
                }),
                json!({}),
            ),
            "notCovered": texts("What the run does not cover."),
            "warnings": texts("What the user should know."),
            "interrupted": flag("Whether a signal ended the run."),
        }),
        json!({
            "error": string("Why a failed run failed."),
            "stderrFile": string("Where the failed server's stderr was saved."),
        }),
    )
}

fn server() -> Value {
    object(
        "What is known of the server.",
        json!({
            "transport": { "enum": ["stdio", "http-launched", "http"], "description": "How it was reached." },
            "command": texts("Program and arguments as written; empty for a bare URL."),
            "env": map(json!({ "type": "string" }), "Environment as written, secrets redacted."),
            "surface": reference("surface"),
        }),
        json!({
            "url": string("The endpoint as written."),
            "headers": list(
                json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 }),
                "Names and values of HTTP headers as written, secrets redacted.",
            ),
            "reportedName": string("The name it reports."),
            "reportedVersion": string("The version it reports."),
            "protocolVersion": string("The revision it was graded in."),
            "era": { "enum": ["legacy", "modern"], "description": "The era of that revision." },
            "otherEra": string("What the other era's handshake gave."),
        }),
    )
}

fn surface() -> Value {
    object(
        "What the server offers an agent. Its texts are not stored, only their hashes and lengths.",
        json!({
            "tools": list(reference("tool"), "Tools in listing order."),
            "prompts": map(reference("prompt"), "Prompts by name."),
            "resources": map(reference("resource"), "Resources by URI."),
            "resourceTemplates": map(reference("resource"), "Resource templates by URI template."),
        }),
        json!({
            "instructions": reference("text"),
            "otherInstructions": reference("text"),
            "capabilities": { "description": "Capabilities as sent." },
            "revisions": texts("Protocol revisions it is known to speak; a legacy handshake tells one."),
            "title": reference("text"),
            "info": hashes("Further members of serverInfo to the hash of their value."),
            "unread": map(json!({ "type": "string" }), "Lists that could not be read whole, with the reason."),
        }),
    )
}

fn hashes(description: &str) -> Value {
    map(reference("sha256"), description)
}

fn prompt() -> Value {
    object(
        "One prompt.",
        json!({}),
        json!({
            "title": reference("text"),
            "description": reference("text"),
            "arguments": map(json!({ "type": "boolean" }), "Argument to whether it is required."),
            "argumentDescriptions": map(reference("text"), "Argument to its description."),
            "other": hashes("Further members to the hash of their value."),
        }),
    )
}

fn resource() -> Value {
    object(
        "One resource or resource template.",
        json!({}),
        json!({
            "title": reference("text"),
            "description": reference("text"),
            "mimeType": string("Its media type."),
            "other": hashes("Further members to the hash of their value."),
        }),
    )
}

fn tool() -> Value {
    object(
        "One tool.",
        json!({
            "name": string("Its name."),
            "inputSchema": { "description": "Its input schema as sent." },
            "inputSchemaSha256": reference("sha256"),
            "required": texts("Required parameters, sorted."),
            "parameters": map(json!({ "type": "string" }), "Parameter to the word of its type."),
        }),
        json!({
            "title": reference("text"),
            "description": reference("text"),
            "outputSchema": { "description": "Its output schema as sent." },
            "outputSchemaSha256": reference("sha256"),
            "annotations": { "description": "Its annotations as sent." },
            "meta": reference("sha256"),
            "other": hashes("Further members of the entry to the hash of their value."),
        }),
    )
}

fn text() -> Value {
    object(
        "A text without the text.",
        json!({ "sha256": reference("sha256"), "chars": count("Its length.") }),
        json!({}),
    )
}

fn config() -> Value {
    let difference = object(
        "One difference from the standard profile.",
        json!({
            "key": string("The setting."),
            "standard": { "description": "Its standard value." },
            "effective": { "description": "Its value in this run." },
            "origin": string("Where that came from."),
        }),
        json!({}),
    );
    object(
        "The configuration.",
        json!({
            "hash": string("SHA-256 of the settings that affect a grade."),
            "standard": flag("Whether the run is the published methodology."),
            "standardDiff": list(difference, "What differs."),
            "path": nullable("The configuration file, relative to the working directory."),
            "locked": map(json!({}), "The locked settings as they took effect."),
        }),
        json!({ "line": { "type": "integer", "minimum": 1, "description": "The line that names the server." } }),
    )
}

fn classified() -> Value {
    object(
        "A tool's class.",
        json!({
            "tool": string("The tool."),
            "class": { "enum": ["path", "url", "command", "sql", "git", "text", "opaque"], "description": "What it takes." },
            "confidence": { "enum": ["high", "medium", "low", "set"], "description": "How sure that is; `set` by the configuration." },
            "reason": string("Why."),
        }),
        json!({
            "parameter": string("The parameter that decides it."),
            "secondary": string("A second class, with its parameter."),
        }),
    )
}

fn pack() -> Value {
    object(
        "What a pack came to.",
        json!({
            "status": { "enum": ["graded", "inconclusive", "na", "skipped"], "description": "Whether it has a letter." },
            "grade": { "enum": ["A", "B", "C", "D", "F", null], "description": "Its letter." },
            "provisional": flag("Whether a critical check was inconclusive."),
            "capped": texts("The critical checks that capped the letter."),
            "points": { "type": "number", "minimum": 0, "description": "Points reached." },
            "scored": count("Checks that were scored."),
            "total": count("Checks that would be scored if all could be judged."),
            "candidate": flag("Whether it is a candidate pack."),
            "checks": list(reference("check"), "Its checks in registry order."),
        }),
        json!({ "reason": string("Why it has no letter.") }),
    )
}

fn check() -> Value {
    object(
        "What a check came to.",
        json!({
            "id": string("Its id."),
            "title": string("Its title."),
            "verdict": reference("verdict"),
            "severity": { "enum": ["critical", "scored", "advisory"], "description": "How much it weighs in this run." },
            "critical": flag("Whether a fail caps the pack's letter."),
            "candidate": flag("Whether it is a candidate check."),
            "scope": string("What it looks at."),
            "summary": string("One sentence."),
            "evidence": list(reference("evidence"), "What supports it, worst first."),
        }),
        json!({}),
    )
}

fn evidence() -> Value {
    object(
        "One line of evidence.",
        json!({
            "probe": string("The probe's short name."),
            "observed": string("What was observed."),
            "rule": string("The rule that decided."),
            "verdict": reference("verdict"),
        }),
        json!({
            "tool": string("The tool."),
            "sent": string("What was sent."),
            "received": string("What came back."),
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Format;
    use crate::report::{RenderOptions, render, sample};

    fn document(runs: &[crate::report::RunResult]) -> Value {
        serde_json::from_slice(&render(Format::Json, runs, &RenderOptions::default()).expect("JSON")).expect("JSON")
    }

    #[test]
    fn every_report_is_valid() {
        let validator = jsonschema::validator_for(&schema()).expect("a schema");
        let mut documents: Vec<Value> = sample::all().iter().map(|run| document(std::slice::from_ref(run))).collect();
        documents.push(document(&sample::all()));
        documents.push(document(&[sample::large(50)]));
        for document in documents {
            let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }

    #[test]
    fn unknown_words_and_missing_members_are_not_valid() {
        let validator = jsonschema::validator_for(&schema()).expect("a schema");
        let pointers = [
            "/status",
            "/schema",
            "/server/transport",
            "/server/era",
            "/packs/core/status",
            "/packs/core/grade",
            "/packs/core/checks/0/verdict",
            "/packs/core/checks/0/severity",
            "/packs/core/checks/0/evidence/0/verdict",
            "/classification/0/class",
            "/classification/0/confidence",
        ];
        for pointer in pointers {
            let mut document = document(&[sample::clean()]);
            assert!(validator.is_valid(&document));
            *document.pointer_mut(pointer).expect("a member") = json!("nosuch");
            assert!(!validator.is_valid(&document), "{pointer}");
        }
        for member in ["status", "packs", "warnings", "config"] {
            let mut document = document(&[sample::clean()]);
            document.as_object_mut().expect("an object").remove(member);
            assert!(!validator.is_valid(&document), "{member}");
        }
    }

    #[test]
    fn every_member_that_is_written_is_described() {
        let schema = schema();
        let mut run = sample::hostile("x");
        run.config.line = Some(3);
        let document = document(&[run]);
        for (pointer, name) in [
            ("", "run"),
            ("/server", "server"),
            ("/server/surface", "surface"),
            ("/server/surface/tools/0", "tool"),
            ("/config", "config"),
            ("/classification/0", "classified"),
            ("/packs/core", "pack"),
            ("/packs/core/checks/0", "check"),
            ("/packs/core/checks/0/evidence/0", "evidence"),
        ] {
            for key in document.pointer(pointer).and_then(Value::as_object).expect("an object").keys() {
                assert!(schema["$defs"][name]["properties"].get(key).is_some(), "{name}.{key}");
            }
        }
    }
}
