//! A comparison in lines for a log: bounded, every quotation short, nothing in it that a log viewer takes for a command.

use super::{Change, Comparison, Drift, Offer, text_diff};
use crate::{
    config::settings::FailOn,
    text::{excerpt, terminal},
};

/// Lines of one kind about one server, when there are few servers.
const SHOWN: usize = 48;
/// Lines of one kind about all servers, about; each server has at least [`LEAST`].
const ALL: usize = 1000;
/// Lines of one kind that every server has, however many there are.
const LEAST: usize = 2;
/// Lines of text diffs about one server, when there are few servers.
const DIFF_LINES: usize = 200;
/// Longest name in a line, in characters.
const NAME: usize = 80;
/// Longest sentence in a line.
const SENTENCE: usize = 400;

/// The lines for standard error: what limits the comparison (`baseline:`, `snapshot:`), what got worse (`regression:`), what got better
/// (`improved:`), what the server offers differently (`drift:`), and what of it does not affect the exit code.
///
/// At most 200 lines per server, and as many of text diffs; what is left out is counted.
pub fn lines(comparison: &Comparison, fail_on: FailOn) -> Vec<String> {
    let several = comparison.servers.len() > 1;
    let shown = (ALL / comparison.servers.len().max(1)).clamp(LEAST, SHOWN);
    let mut lines = Vec::new();
    list("baseline: ", &comparison.notes, SHOWN, |note| excerpt(note, SENTENCE), &mut lines);
    for server in &comparison.servers {
        let of = |kind: &str| {
            if several { format!("{kind}: {}: ", excerpt(&server.name, NAME)) } else { format!("{kind}: ") }
        };
        list(&of("baseline"), &server.notes, shown, |note| excerpt(note, SENTENCE), &mut lines);
        list(&of("snapshot"), &server.snapshot_notes, shown, |note| excerpt(note, SENTENCE), &mut lines);
        list(&of("regression"), &server.regressions, shown, Change::line, &mut lines);
        list(&of("improved"), &server.improvements, shown, Change::line, &mut lines);
        drifts(&of("drift"), &server.drift, shown, &mut lines);
    }
    if comparison.regressed() && !fail_on.regressions {
        lines.push("note: regressions do not affect the exit code (add --fail-on regressions)".to_owned());
    }
    if comparison.drifted() && !fail_on.drift {
        lines.push("note: drift does not affect the exit code (add --fail-on drift)".to_owned());
    }
    lines
}

fn list<T>(prefix: &str, items: &[T], shown: usize, line: impl Fn(&T) -> String, lines: &mut Vec<String>) {
    lines.extend(items.iter().take(shown).map(|item| terminal::line(&format!("{prefix}{}", line(item)))));
    if items.len() > shown {
        lines.push(terminal::line(&format!("{prefix}and {} more", items.len() - shown)));
    }
}

/// Changes of the surface, each text that is known on both sides as a diff below its line.
fn drifts(prefix: &str, all: &[Drift], shown: usize, lines: &mut Vec<String>) {
    let mut room = if shown < SHOWN { 0 } else { DIFF_LINES };
    for drift in all.iter().take(shown) {
        lines.push(terminal::line(&format!("{prefix}{}: {}", drift.level.as_str(), drift.line())));
        let Some(text) = drift.text.as_ref().filter(|_| room > 0) else { continue };
        let diff = text_diff(text);
        lines.extend(diff.iter().take(room).map(|line| terminal::line(&format!("  | {line}"))));
        if diff.len() > room {
            lines.push("  | …".to_owned());
        }
        room = room.saturating_sub(diff.len());
    }
    if all.len() > shown {
        lines.push(terminal::line(&format!("{prefix}and {} more", all.len() - shown)));
    }
}

impl Change {
    /// `pack core A → B` or `check robust-input pass → fail`, quotations short and on one line.
    pub fn line(&self) -> String {
        let short = |text: &str| excerpt(text, NAME);
        let subject = match &self.check {
            Some(check) => format!("check {}", short(check)),
            None => format!("pack {}", short(&self.pack)),
        };
        format!("{subject} {} → {}", short(&self.before), short(&self.after))
    }
}

impl Drift {
    /// `tool search: parameter path: type string → integer`, quotations short and on one line.
    pub fn line(&self) -> String {
        let name = excerpt(&self.name, NAME);
        let subject = match self.offer {
            Offer::Server => "server".to_owned(),
            Offer::Tool => format!("tool {name}"),
            Offer::Prompt => format!("prompt {name}"),
            Offer::Resource => format!("resource {name}"),
            Offer::ResourceTemplate => format!("resource template {name}"),
        };
        format!("{subject}: {}", excerpt(&self.detail, SENTENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{DriftLevel, ServerComparison},
        report::sample::HOSTILE,
    };

    fn change(check: &str) -> Change {
        Change { pack: "core".into(), check: Some(check.into()), before: "pass".into(), after: "fail".into() }
    }

    fn drift(level: DriftLevel) -> Drift {
        Drift {
            level,
            offer: Offer::Tool,
            name: "search".into(),
            kind: "parameter-type",
            detail: "parameter path: type string → integer".into(),
            text: None,
        }
    }

    fn server(name: &str) -> ServerComparison {
        ServerComparison {
            name: name.into(),
            regressions: vec![Change { check: None, before: "A".into(), after: "B".into(), ..change("") }],
            improvements: vec![Change { before: "fail".into(), after: "pass".into(), ..change("protocol") }],
            notes: vec!["pack db is new: B now".into()],
            drift: vec![drift(DriftLevel::Breaking)],
            ..ServerComparison::default()
        }
    }

    #[test]
    fn every_line_says_its_kind_and_among_several_its_server() {
        let one = Comparison { servers: vec![server("a")], notes: Vec::new(), ..Comparison::default() };
        assert_eq!(
            lines(&one, FailOn::default()),
            [
                "baseline: pack db is new: B now",
                "regression: pack core A → B",
                "improved: check protocol fail → pass",
                "drift: breaking: tool search: parameter path: type string → integer",
                "note: drift does not affect the exit code (add --fail-on drift)",
            ]
        );
        let two =
            Comparison { servers: vec![server("a"), server("b")], notes: vec!["x".into()], ..Comparison::default() };
        let found = lines(&two, FailOn { drift: true, ..FailOn::default() });
        assert_eq!(found.len(), 9);
        assert_eq!((found[0].as_str(), found[6].as_str()), ("baseline: x", "regression: b: pack core A → B"));
    }

    #[test]
    fn what_does_not_count_is_said_only_where_it_could() {
        let mut quiet = server("a");
        quiet.regressions.clear();
        quiet.drift = vec![drift(DriftLevel::Info)];
        let quiet = Comparison { servers: vec![quiet], notes: Vec::new(), ..Comparison::default() };
        let neither = FailOn { regressions: false, ..FailOn::default() };
        assert!(!lines(&quiet, neither).iter().any(|line| line.starts_with("note: ")));
        let loud = Comparison { servers: vec![server("a")], notes: Vec::new(), ..Comparison::default() };
        assert_eq!(lines(&loud, neither).iter().filter(|line| line.starts_with("note: ")).count(), 2);
    }

    #[test]
    fn the_lines_are_bounded_and_what_is_left_out_is_counted() {
        let full = |name: usize| ServerComparison {
            name: name.to_string(),
            regressions: vec![change("x"); 60],
            improvements: vec![change("x"); 60],
            notes: vec!["x".repeat(1000); 60],
            drift: vec![drift(DriftLevel::Notable); 60],
            ..ServerComparison::default()
        };
        let one = lines(
            &Comparison { servers: vec![full(0)], notes: Vec::new(), ..Comparison::default() },
            FailOn::default(),
        );
        assert!(one.len() <= 200 && one.contains(&"regression: and 12 more".to_owned()), "{}", one.len());
        let many = Comparison {
            servers: (0..1000).map(full).collect(),
            notes: vec!["x".into(); 5000],
            ..Comparison::default()
        };
        let many = lines(&many, FailOn::default());
        assert!(many.len() <= 12_100 && many.contains(&"drift: 999: and 58 more".to_owned()), "{}", many.len());
    }

    #[test]
    fn hostile_words_are_one_harmless_line() {
        let bad = Comparison {
            servers: vec![ServerComparison {
                name: HOSTILE.into(),
                regressions: vec![Change {
                    pack: HOSTILE.into(),
                    check: Some(HOSTILE.into()),
                    before: HOSTILE.into(),
                    after: HOSTILE.into(),
                }],
                notes: vec![HOSTILE.into()],
                drift: vec![Drift { name: HOSTILE.into(), detail: HOSTILE.into(), ..drift(DriftLevel::Info) }],
                ..ServerComparison::default()
            }],
            notes: vec![HOSTILE.into()],
            ..Comparison::default()
        };
        let twice = Comparison { servers: [bad.servers.clone(), bad.servers.clone()].concat(), ..bad };
        for line in lines(&twice, FailOn::default()) {
            assert_eq!(terminal::line(&line), line);
            assert!(line.chars().count() < 1200, "{}", line.chars().count());
        }
    }
}
