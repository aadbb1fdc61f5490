//! `explain`: everything the registry says about one check.

use super::{Exit, console, list_checks::Row, nearest::Unknown};
use crate::{
    check::{Check, KnobDefault, Pack},
    cli::ExplainArgs,
    packs,
};

/// Prints the text about the check.
pub fn explain(args: &ExplainArgs) -> Exit {
    match packs::check(&args.check) {
        Some((pack, check)) => {
            let columns = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
            console::answer(&text(pack, check, columns.clamp(40, 100)))
        }
        None => {
            let unknown = Unknown::check(&args.check);
            console::mistake(&unknown, Some(&unknown.hint()))
        }
    }
}

/// The text, wrapped at that many columns.
pub fn text(pack: &Pack, check: &Check, columns: usize) -> String {
    let row = Row::of(pack, check);
    let explain = &check.explain;
    let mut page = Page { text: String::new(), columns };
    page.paragraph(&format!("{}: {}", check.id, check.title), "", "  ");
    page.text.push('\n');
    let weight = if row.candidate {
        format!("{} (candidate: not yet part of the published methodology)", check.severity.as_str())
    } else {
        check.severity.as_str().to_owned()
    };
    page.field("pack", &format!("{} ({})", pack.id, pack.title));
    page.field("weight", &weight);
    page.field("scope", row.scope);
    page.field("since", check.since);
    page.section("What it measures", explain.what);
    page.section("Why it matters", explain.why);
    page.entries("Probes", explain.probes);
    page.entries("How the verdict follows", explain.verdicts);
    page.entries("Rules that can stand in the evidence", explain.rules);
    let settings: Vec<_> = settings(check);
    page.entries("Settings", &settings.iter().map(|(key, help)| (key.as_str(), help.as_str())).collect::<Vec<_>>());
    page.section("What to fix", explain.fix);
    page.section("Known false positives", explain.false_positives);
    page.section("Known false negatives", explain.false_negatives);
    page.heading("References");
    explain.references.iter().for_each(|reference| page.paragraph(reference, "  ", "    "));
    page.text
}

/// The configuration keys of a check, each with its default and what it does.
pub fn settings(check: &Check) -> Vec<(String, String)> {
    let severity =
        format!("default {}. How much the check weighs: critical, scored or advisory.", check.severity.as_str());
    let common = [
        ("enabled", "default true. Whether the check runs; switching it off makes the run CUSTOM.".to_owned()),
        ("severity", severity),
    ];
    let knobs = check.knobs.iter().map(|knob| {
        let custom = if knob.locked { " Changing it makes the run CUSTOM." } else { "" };
        (knob.key, format!("default {}. {}{custom}", default(knob.default), knob.help))
    });
    common.into_iter().chain(knobs).map(|(key, help)| (format!("checks.{}.{key}", check.id), help)).collect()
}

fn default(default: KnobDefault) -> String {
    match default {
        KnobDefault::Integer(number) => number.to_string(),
        KnobDefault::Texts(texts) => serde_json::json!(texts).to_string(),
    }
}

struct Page {
    text: String,
    columns: usize,
}

impl Page {
    fn field(&mut self, name: &str, value: &str) {
        self.paragraph(&format!("{name}: {value}"), "  ", "      ");
    }

    fn heading(&mut self, title: &str) {
        self.text.push_str(&format!("\n{title}\n"));
    }

    fn section(&mut self, title: &str, prose: &str) {
        self.heading(title);
        prose.split("\n\n").for_each(|paragraph| self.paragraph(paragraph, "  ", "  "));
    }

    fn entries(&mut self, title: &str, entries: &[(&str, &str)]) {
        if !entries.is_empty() {
            self.heading(title);
            entries.iter().for_each(|(name, prose)| self.paragraph(&format!("{name}: {prose}"), "  ", "      "));
        }
    }

    /// Breaks at spaces only: our own prose has no word that is wider than a terminal.
    fn paragraph(&mut self, prose: &str, first: &str, rest: &str) {
        let mut line = first.to_owned();
        let mut bare = true;
        for word in prose.split(' ').filter(|word| !word.is_empty()) {
            if !bare && line.chars().count() + 1 + word.chars().count() > self.columns {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
                line = rest.to_owned();
                bare = true;
            }
            if !bare {
                line.push(' ');
            }
            line.push_str(word);
            bare = false;
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_every_setting_and_fits_the_columns() {
        for (pack, check) in packs::checks() {
            let text = text(pack, check, 60);
            for (key, _) in settings(check) {
                assert!(text.contains(&key), "{key} is missing:\n{text}");
            }
            let wide = text.lines().find(|line| line.chars().count() > 60 && line.trim().contains(' '));
            assert_eq!(wide, None, "too wide");
        }
    }

    #[test]
    fn a_paragraph_keeps_its_indentation_and_loses_nothing() {
        let mut page = Page { text: String::new(), columns: 20 };
        page.paragraph("one two three four five six", "  ", "    ");
        assert_eq!(page.text, "  one two three four\n    five six\n");
    }
}
