//! The generated pages of `docs/`: one per check, their index, and the command line.

use super::{command_line, exit::Exit, explain, list_checks::Row};
use crate::{
    check::{Check, Pack},
    packs,
};

const NOTICE: &str = "<!-- Generated from the source by `UPDATE=1 cargo test --test docs`; do not edit. -->\n\n";

/// Every generated page that this room can make: path below `docs/`, content.
pub fn all() -> Vec<(String, String)> {
    let mut pages = vec![("cli.md".to_owned(), command_line()), ("checks/README.md".to_owned(), index())];
    pages.extend(packs::checks().map(|(pack, check)| (format!("checks/{}.md", check.id), check_page(pack, check))));
    pages
}

/// The page of one check.
pub fn check_page(pack: &Pack, check: &Check) -> String {
    let row = Row::of(pack, check);
    let explain = &check.explain;
    let mut page = format!("{NOTICE}# `{}`: {}\n\n", check.id, check.title);
    page.push_str(&format!(
        "| pack | weight | scope | since |\n|---|---|---|---|\n| {} | {} | {} | {} |\n\n",
        pack.id,
        weight(&row),
        row.scope,
        check.since
    ));
    page.push_str(&format!("{}\n\n", prose(explain.what)));
    section(&mut page, "Why it matters", &prose(explain.why));
    section(&mut page, "Probes", &list(explain.probes));
    section(&mut page, "How the verdict follows", &verdicts(explain.verdicts));
    section(&mut page, "Rules", &list(explain.rules));
    let settings = explain::settings(check);
    section(&mut page, "Settings", &list(&settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>()));
    section(&mut page, "What to fix", &prose(explain.fix));
    section(&mut page, "Known false positives", &prose(explain.false_positives));
    section(&mut page, "Known false negatives", &prose(explain.false_negatives));
    let references: Vec<_> = explain.references.iter().map(|line| format!("- {}", prose(line))).collect();
    section(&mut page, "References", &references.join("\n"));
    ended(page)
}

/// The list of all checks, by pack.
pub fn index() -> String {
    let mut page = format!("{NOTICE}# Checks (methodology {})\n\n", packs::METHODOLOGY);
    for pack in packs::ALL {
        let candidate = if pack.candidate { " (candidate pack)" } else { "" };
        page.push_str(&format!("## {}: {}{candidate}\n\n", pack.id, pack.title));
        page.push_str(&format!("Applies: {}. Needs: {}.\n\n", prose(pack.applies), prose(pack.needs)));
        page.push_str("| check | weight | scope | title |\n|---|---|---|---|\n");
        for check in pack.checks {
            let row = Row::of(pack, check);
            let (id, title) = (check.id, prose(check.title));
            page.push_str(&format!("| [`{id}`]({id}.md) | {} | {} | {title} |\n", weight(&row), row.scope));
        }
        page.push('\n');
    }
    ended(page)
}

/// The command line: every command's long help, and the exit codes.
pub fn command_line() -> String {
    let mut root = command_line::command().term_width(100).disable_help_subcommand(true);
    root.build();
    let mut page = format!("{NOTICE}# The command line\n\n");
    commands(&mut root, "", &mut page);
    page.push_str("## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for exit in Exit::FIXED {
        page.push_str(&format!("| {} | {} |\n", exit.code(), exit.meaning()));
    }
    page.push_str(&format!("\nAny other code: {}.\n", Exit::CriticalFail(0).meaning()));
    ended(page)
}

fn commands(command: &mut clap::Command, parent: &str, page: &mut String) {
    if command.is_hide_set() {
        return;
    }
    let name = format!("{parent}{}", command.get_name());
    let help = command.render_long_help().to_string();
    let help: Vec<_> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("## `{name}`\n\n```text\n{}\n```\n\n", help.join("\n").trim_end()));
    for sub in command.get_subcommands_mut() {
        commands(sub, &format!("{name} "), page);
    }
}

fn weight(row: &Row) -> String {
    if row.candidate { format!("{} (candidate)", row.severity.as_str()) } else { row.severity.as_str().to_owned() }
}

fn section(page: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        page.push_str(&format!("## {title}\n\n{body}\n\n"));
    }
}

fn list(entries: &[(&str, &str)]) -> String {
    entries.iter().map(|(id, text)| format!("- `{id}`: {}", prose(text))).collect::<Vec<_>>().join("\n")
}

fn verdicts(entries: &[(&str, &str)]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows: Vec<_> =
        entries.iter().map(|(verdict, when)| format!("| {verdict} | {} |", prose(when).replace('|', "\\|"))).collect();
    format!("| verdict | when |\n|---|---|\n{}", rows.join("\n"))
}

/// Prose as Markdown: code spans stay, everything outside them is escaped where Markdown or HTML would read it.
fn prose(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(at, piece)| {
        if at % 2 == 1 {
            return piece.to_owned();
        }
        piece.chars().fold(String::new(), |mut out, c| {
            match c {
                '<' => out.push_str("&lt;"),
                '*' | '[' | ']' | '\\' => out.extend(['\\', c]),
                _ => out.push(c),
            }
            out
        })
    });
    pieces.collect::<Vec<_>>().join("`")
}

fn ended(page: String) -> String {
    format!("{}\n", page.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_keeps_code_and_escapes_markup() {
        assert_eq!(prose("say `<b>` or <b> [x]"), "say `<b>` or &lt;b> \\[x\\]");
    }

    #[test]
    fn there_is_a_page_per_check_and_the_index_links_it() {
        let pages = all();
        let index = &pages.iter().find(|(path, _)| path == "checks/README.md").unwrap().1;
        for (_, check) in packs::checks() {
            assert!(pages.iter().any(|(path, _)| *path == format!("checks/{}.md", check.id)));
            assert!(index.contains(&format!("({}.md)", check.id)));
        }
    }

    #[test]
    fn the_command_line_page_shows_commands_and_no_hidden_one() {
        let page = command_line();
        assert!(page.contains("## `sealmark config show`") && page.contains("| 143 |"));
        assert!(!page.contains("demo-server"));
    }
}
