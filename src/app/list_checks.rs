//! `list-checks`: the registry as a table or as JSON.

use serde::Serialize;

use super::{Exit, console, nearest::Unknown};
use crate::{
    check::{Check, Pack},
    cli::ListChecksArgs,
    model::Severity,
    packs,
};

/// One check of the list. Field names are part of the JSON that others read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The check.
    pub id: &'static str,
    /// Its pack.
    pub pack: &'static str,
    /// Its title.
    pub title: &'static str,
    /// `critical`, `scored` or `advisory`.
    pub severity: Severity,
    /// Whether a fail caps the pack's letter.
    pub critical: bool,
    /// Whether it is no part of the published methodology yet.
    pub candidate: bool,
    /// What it looks at.
    pub scope: &'static str,
    /// Whether the standard profile fixes its settings.
    pub locked: bool,
}

impl Row {
    /// The row of a check.
    pub fn of(pack: &Pack, check: &Check) -> Self {
        let candidate = check.candidate || pack.candidate;
        Self {
            id: check.id,
            pack: pack.id,
            title: check.title,
            severity: check.severity,
            critical: check.severity == Severity::Critical,
            candidate,
            scope: check.scope.as_str(),
            locked: !candidate,
        }
    }
}

/// Prints the list.
pub fn list_checks(args: &ListChecksArgs) -> Exit {
    if let Some(unknown) = args.pack.as_deref().filter(|id| packs::pack(id).is_none()).map(Unknown::pack) {
        return console::mistake(&unknown, Some(&unknown.hint()));
    }
    let wanted = |pack: &Pack| args.pack.as_deref().is_none_or(|id| id == pack.id);
    let rows: Vec<_> =
        packs::checks().filter(|(pack, _)| wanted(pack)).map(|(pack, check)| Row::of(pack, check)).collect();
    console::answer(&if args.json { json(&rows) } else { table(&rows) })
}

fn json(rows: &[Row]) -> String {
    format!("{:#}\n", serde_json::json!(rows))
}

fn table(rows: &[Row]) -> String {
    let head = ["CHECK", "PACK", "WEIGHT", "SCOPE", "SETTINGS", "TITLE"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(head)
        .chain(rows.iter().map(|row| {
            let locked = if row.locked { "locked" } else { "free" };
            let [id, pack, scope, title] = [row.id, row.pack, row.scope, row.title].map(str::to_owned);
            [id, pack, weight(row), scope, locked.to_owned(), title]
        }))
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for [check, pack, weight, scope, settings, title] in &lines {
        let [a, b, c, d, e] = widths;
        text.push_str(&format!("{check:<a$}  {pack:<b$}  {weight:<c$}  {scope:<d$}  {settings:<e$}  {title}\n"));
    }
    text.push_str("\nlocked: the standard profile fixes the check's settings; a run that changes one is CUSTOM\n");
    text
}

fn weight(row: &Row) -> String {
    if row.candidate { format!("{} (candidate)", row.severity.as_str()) } else { row.severity.as_str().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_has_the_fields_that_others_read() {
        let (pack, check) = packs::check("secret-echo").unwrap();
        let row = serde_json::to_value(Row::of(pack, check)).unwrap();
        let keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["id", "pack", "title", "severity", "critical", "candidate", "scope", "locked"]);
        assert_eq!(
            (&row["severity"], &row["critical"], &row["locked"]),
            (&"critical".into(), &true.into(), &true.into())
        );
    }

    #[test]
    fn the_table_lines_up() {
        let rows: Vec<_> = packs::checks().map(|(pack, check)| Row::of(pack, check)).collect();
        let text = table(&rows);
        let at = text.lines().next().unwrap().find("PACK").unwrap();
        let rows = text.lines().skip(1).take_while(|line| !line.is_empty());
        assert!(rows.clone().count() > 0 && rows.clone().all(|line| line[at..].starts_with("core")), "{text}");
        let settings = text.lines().next().unwrap().find("SETTINGS").unwrap();
        assert!(rows.clone().any(|line| line[settings..].starts_with("locked")), "{text}");
        assert!(rows.clone().any(|line| line[settings..].starts_with("free")), "{text}");
    }
}
