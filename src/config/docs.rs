//! The text of `docs/config.md`, from the key table.

use super::{
    catalog::{Catalog, Key, by_section},
    keys::Kind,
    placeholders::PLACEHOLDERS,
    profiles::SHIPPED,
    registry::Registry,
};

const LAYERS: &str = "\
# Configuration

<!-- Generated from the key table; run the tests with UPDATE=1 to rewrite it. -->

Every setting has one place in a file, most have a variable, and the common ones have a flag. A value comes from the
highest of these layers that names it:

1. the built-in default,
2. the selected profile,
3. your user file: `$XDG_CONFIG_HOME/sealmark/config.yaml` (`%APPDATA%\\sealmark\\config.yaml` on Windows),
4. `sealmark.yaml` in the working directory, or the file of `--config`; over it `sealmark.local.yaml` beside it, which
   belongs into `.gitignore`,
5. `SEALMARK_*` variables,
6. flags.

Mappings merge. Lists replace, apart from the ones marked *appends*. `null` restores the built-in default. A key that
is not known is an error with its file, its line and the key that was probably meant. `sealmark config show --origins`
prints every value with the place it came from.

Paths of outputs (`output.out`, `output.out_dir`) start at the working directory; every other relative path in a file
starts at that file's directory. A file may be JSON. It may hold up to 1 MiB; anchors and aliases work, merge keys
(`<<`) do not.

**Variables.** The name is the key in capitals, with a double underscore for each dot and an underscore for each dash:
`SEALMARK_OUTPUT__FAIL_UNDER=B`, `SEALMARK_CHECKS__TOOL_POISONING__SEVERITY=scored`. Lists are separated by commas. An
empty variable counts as not set. The words after `SERVER__ENV__` are taken as they are; a header keeps its
underscores, so a name with a hyphen needs a file or a flag.

**Locked** settings affect a grade. A run is STANDARD when all of them are those of the published methodology, and
CUSTOM otherwise: the report then lists what differs. Adding a pack keeps a run STANDARD, leaving a standard one out
does not. A candidate check is not part of the methodology, but switching it off or scoring it makes the run CUSTOM.
";

const SERVERS: &str = "\
`server` describes one server, `servers` several by name; a configuration has one of the two. `command` and `url`
together start the server and wait for its URL; both must stand in one place (one file, all flags, or all variables).
";

/// The text of `docs/config.md`.
pub fn markdown() -> String {
    of(&Catalog::of(Registry::built_in()))
}

pub(crate) fn of(catalog: &Catalog) -> String {
    let mut out = LAYERS.to_owned();
    out.push_str("\n## Settings\n");
    // Entries of `servers` have the keys of `server`; every check has the same two.
    let listed = catalog.keys.iter().filter(|key| key.pattern[0] != "servers" && key.pattern[0] != "checks");
    for (section, keys) in by_section(listed) {
        if section.is_empty() {
            out.push_str("\n### Top level\n\n");
        } else {
            out.push_str(&format!("\n### `{section}`\n\n"));
        }
        if section == "server" {
            out.push_str(SERVERS);
            out.push('\n');
        }
        table(&keys, catalog, &mut out);
    }
    out.push_str("\n### `checks`\n\nEvery check has `enabled` (default `true`) and `severity` (`critical`, `scored` or `advisory`); both are locked.\n\n");
    out.push_str("| check | severity | its own settings |\n|---|---|---|\n");
    for check in &catalog.registry.checks {
        let knobs: Vec<String> = check
            .knobs
            .iter()
            .map(|knob| {
                format!(
                    "`{}` (default `{}`): {}",
                    knob.key,
                    code(&knob.default.to_string()),
                    cell(knob.help.trim_end_matches('.'))
                )
            })
            .collect();
        let candidate = if check.candidate { ", candidate" } else { "" };
        let knobs = if knobs.is_empty() { "none".to_owned() } else { knobs.join("; ") };
        out.push_str(&format!("| `{}` | {}{candidate} | {knobs} |\n", check.id, check.severity.as_str()));
    }
    out.push_str("\n## Profiles\n\nA profile of your own stands under `profiles:` and says what it `extends`. It holds how to grade, not what.\n\n");
    out.push_str("| profile | what it is for |\n|---|---|\n");
    for (name, about) in SHIPPED {
        out.push_str(&format!("| `{name}` | {about} |\n"));
    }
    out.push_str("\n## Placeholders\n\nIn `command`, `args`, and the values of `env`, `url`, `headers` and `files`:\n\n| placeholder | value |\n|---|---|\n");
    for (name, about) in PLACEHOLDERS {
        out.push_str(&format!("| `{{{name}}}` | {about} |\n"));
    }
    out.push_str("| `${VAR}`, `${VAR:-default}` | a variable of your environment when the run starts; it is hidden in every report. The default is taken when the variable is not set or empty |\n");
    out.push_str("| `$${` | a literal `${` |\n\nOther words in braces stay as they are, with a warning; words that stand for a target this version does not have\n(`{dsn}`, `{sqlite_path}`, `{upstream}` and their like) are errors.\n");
    out
}

fn table(keys: &[&Key], catalog: &Catalog, out: &mut String) {
    out.push_str("| key | type | default | variable | |\n|---|---|---|---|---|\n");
    for key in keys {
        let default = match &key.default {
            Some(default) if key.kind != Kind::Packs => format!("`{}`", code(&default.to_string())),
            Some(_) => "every pack".to_owned(),
            None => "not set".to_owned(),
        };
        let variable = key.variable().map_or_else(|| "file only".to_owned(), |name| format!("`{name}`"));
        let marks = [(key.locked, " *locked*"), (key.append, " *appends*")];
        let marks: String = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
        let kind = key.kind.expects(&catalog.registry.pack_ids());
        let alias = key.alias.map(|alias| format!(" (also spelled `{alias}`)")).unwrap_or_default();
        out.push_str(&format!(
            "| `{}` | {} | {default} | {variable} | {}{alias}.{marks} |\n",
            key.dotted(),
            cell(&kind),
            cell(&key.help)
        ));
    }
}

/// Text in a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// Text in a code span of a table's cell.
fn code(text: &str) -> String {
    text.replace('`', "'").replace('|', "\\|")
}
