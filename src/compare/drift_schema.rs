//! Findings about a tool's schemas → changes with a level and a sentence fragment, the sides of an output reversed.

use serde_json::{Value, json};

use super::{
    DriftLevel, TextChange,
    drift::{Changes, Place, text_detail},
    schema::{Budget, Class, Finding, Path, TextFinding, What, compare, texts},
};
use crate::{report::text_facts, text::excerpt};

/// Longest value and keyword that a detail shows, in characters.
const SHOWN: usize = 40;
/// Values that a detail names.
const VALUES: usize = 3;

/// Which schema it is: what one accepts may be sent, what the other accepts may come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// An input schema: a call that was accepted must still be.
pub(super) fn input(changes: &mut Changes, place: Place<'_>, (old, new): (&Value, &Value), budget: &mut Budget) {
    schemas(changes, place, Side::Input, (old, new), budget);
}

/// An output schema: a reply that comes now must be one that was promised before.
pub(super) fn output(changes: &mut Changes, place: Place<'_>, (old, new): (&Value, &Value), budget: &mut Budget) {
    schemas(changes, place, Side::Output, (old, new), budget);
}

fn schemas(changes: &mut Changes, place: Place<'_>, side: Side, (old, new): (&Value, &Value), budget: &mut Budget) {
    if old == new {
        return;
    }
    // A tool without a schema accepts anything; what is no schema is told as a change of the whole.
    let nothing = json!({});
    let or_nothing = |schema: &Value| if schema.is_null() { nothing.clone() } else { schema.clone() };
    let (old, new) = (or_nothing(old), or_nothing(new));
    let found = match side {
        Side::Input => compare(&old, &new, budget),
        Side::Output => compare(&new, &old, budget),
    };
    let mut unread = false;
    for finding in found {
        unread |= finding.what == What::Unread;
        let (level, kind, detail) = say(side, &finding);
        changes.push(level, place, kind, detail);
    }
    match texts(&old, &new, budget) {
        Some(found) => found.into_iter().for_each(|finding| say_text(changes, place, side, finding)),
        None if unread => {}
        None => {
            let (level, kind, detail) =
                say(side, &Finding { class: Class::Unsure, path: Path::default(), what: What::Unread });
            changes.push(level, place, kind, detail);
        }
    }
}

fn say(side: Side, finding: &Finding) -> (DriftLevel, &'static str, String) {
    let Finding { class, path, what } = finding;
    let input = side == Side::Input;
    let subject = subject(side, path);
    let level = match class {
        Class::Refuses => DriftLevel::Breaking,
        Class::Unsure => DriftLevel::Notable,
        Class::Accepts => DriftLevel::Info,
    };
    // The stricter way is worse for what is sent, and milder for what comes back.
    let changed = |what: &str| match (side, class) {
        (Side::Input, Class::Refuses) => ("parameter-narrowed", format!("{subject}: {what}")),
        (Side::Input, Class::Accepts) => ("parameter-widened", format!("{subject}: {what}")),
        (Side::Input, Class::Unsure) => ("schema-changed", format!("{subject}: {what}")),
        (Side::Output, Class::Refuses) => ("output-widened", format!("{subject}: {what}")),
        (Side::Output, Class::Accepts) => ("output-narrowed", format!("{subject}: {what}")),
        (Side::Output, Class::Unsure) => ("output-schema-changed", format!("{subject}: {what}")),
    };
    let (kind, detail) = match what {
        What::Required { unlisted: true } if input => ("parameter-required", format!("required {subject} added")),
        What::Required { unlisted: false } if input => ("parameter-required", format!("{subject} is required now")),
        What::Required { unlisted: true } => {
            ("output-member-removed", format!("{subject} removed, which was always there"))
        }
        What::Required { unlisted: false } => ("output-member-optional", format!("{subject} is not always there now")),
        What::Optional if input => ("parameter-optional", format!("{subject} is optional now")),
        What::Optional => ("output-member-required", format!("{subject} is always there now")),
        // Whether it is refused or ignored: what a call asked for with it is not done.
        What::Gone { .. } if input => return (DriftLevel::Breaking, "parameter-removed", format!("{subject} removed")),
        What::Gone { free } => {
            // A client that holds the old schema may refuse what it did not allow.
            let level = if *free { DriftLevel::Info } else { DriftLevel::Notable };
            return (level, "output-member-added", format!("{subject} added"));
        }
        What::Listed if input => ("parameter-added", format!("optional {subject} added")),
        What::Listed => return (DriftLevel::Notable, "output-member-removed", format!("{subject} removed")),
        What::Types { old, new } => {
            let (old, new) = in_order(side, old, new);
            let kind = if input { "parameter-type-changed" } else { "output-type-changed" };
            (kind, format!("{subject}: type {old} → {new}"))
        }
        What::Keyword { word: "integer", old, .. } => {
            let whole = |it: bool| if it { "integer" } else { "number" };
            let (old, new) = in_order(side, whole(old.is_some()), whole(old.is_none()));
            let kind = if input { "parameter-type-changed" } else { "output-type-changed" };
            (kind, format!("{subject}: type {old} → {new}"))
        }
        What::Values { lost, gained } => {
            let (lost, gained) = in_order(side, lost, gained);
            let parts = [("no longer", lost), ("now also", gained)];
            let parts = parts.iter().filter(|(_, values)| !values.is_empty());
            let parts: Vec<String> = parts.map(|(word, values)| format!("{word} {}", some(values))).collect();
            changed(&parts.join(", "))
        }
        What::Listing { listed } => {
            let listed = *listed == input;
            changed(if listed { "only listed values now" } else { "not only listed values now" })
        }
        What::Keyword { word, old, new } => {
            let (old, new) = in_order(side, old, new);
            changed(&keyword(word, old.as_deref(), new.as_deref()))
        }
        What::Closed if input => ("parameters-closed", format!("{subject}: unlisted members are refused now")),
        What::Opened if input => ("parameters-opened", format!("{subject}: unlisted members are accepted now")),
        What::Closed => ("output-opened", format!("{subject}: unlisted members may come now")),
        What::Opened => ("output-closed", format!("{subject}: no unlisted members come any more")),
        What::Other(word) => changed(&format!("`{}` changed", excerpt(word, SHOWN))),
        What::Unread => {
            let kind = if input { "schema-not-analysed" } else { "output-schema-not-analysed" };
            (kind, format!("{subject}: changed, not analysed further"))
        }
    };
    (level, kind, detail)
}

fn subject(side: Side, path: &Path) -> String {
    match (side, path.is_root()) {
        (Side::Input, true) => "parameters".to_owned(),
        (Side::Input, false) => format!("parameter {path}"),
        (Side::Output, true) => "output".to_owned(),
        (Side::Output, false) => format!("output member {path}"),
    }
}

/// The sides in the order of time.
fn in_order<T>(side: Side, old: T, new: T) -> (T, T) {
    if side == Side::Input { (old, new) } else { (new, old) }
}

fn keyword(word: &str, old: Option<&str>, new: Option<&str>) -> String {
    // A pattern is the server's text: only that it changed is said.
    if word == "pattern" {
        return format!("pattern {}", super::drift::change(old.is_some(), new.is_some()));
    }
    let shown = |side: Option<&str>| side.map_or_else(|| "unset".to_owned(), |text| excerpt(text, SHOWN));
    format!("{word} {} → {}", shown(old), shown(new))
}

fn some(values: &[String]) -> String {
    let shown: Vec<String> = values.iter().take(VALUES).map(|value| excerpt(value, SHOWN)).collect();
    let more = values.len().saturating_sub(VALUES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn say_text(changes: &mut Changes, place: Place<'_>, side: Side, finding: TextFinding) {
    let TextFinding { path, word, old, new } = finding;
    let what = format!("{}: {}", subject(side, &path), excerpt(&word, SHOWN));
    let facts = |text: &Option<String>| text.as_deref().map(text_facts);
    let detail = text_detail(&what, facts(&old).as_ref(), facts(&new).as_ref());
    let text = TextChange { before: old.unwrap_or_default(), after: new.unwrap_or_default() };
    let kind = if side == Side::Input { "parameter-description-changed" } else { "output-description-changed" };
    changes.push_text(place, kind, detail, text);
}
