//! Evidence lines of graded calls, one for each tool, kind and rule.

use std::collections::HashMap;

use super::survival::listed;
use crate::{
    check::ActView,
    model::{EventKind, Line, Verdict},
};

/// Lines under construction: one per tool, kind and rule.
#[derive(Default)]
pub(in super::super) struct Lines {
    found: Vec<(Line, Vec<String>, String)>,
    at: HashMap<(Option<String>, String, &'static str), usize>,
}

impl Lines {
    /// Adds a call to the line of its tool, kind and rule.
    pub(in super::super) fn add(&mut self, act: &ActView<'_>, rule: &'static str, verdict: Verdict, observed: String) {
        let (kind, parameter) = split(&act.act.variant);
        let key = (act.act.tool.clone(), kind.to_owned(), rule);
        let at = *self.at.entry(key).or_insert_with(|| {
            let received = act.reply().map(|(at, _)| at);
            let line = Line {
                probe: kind.to_owned(),
                tool: act.act.tool.clone(),
                sent: act.sent(),
                received,
                observed: String::new(),
                rule,
                verdict,
            };
            self.found.push((line, Vec::new(), observed));
            self.found.len() - 1
        });
        self.found[at].1.push(parameter.to_owned());
    }

    /// The lines in the order they were begun.
    pub(in super::super) fn finish(self) -> Vec<Line> {
        let told = |(mut line, parameters, observed): (Line, Vec<String>, String)| {
            let named: Vec<&str> =
                parameters.iter().map(String::as_str).filter(|parameter| !parameter.is_empty()).collect();
            line.observed = if named.is_empty() { observed } else { format!("{observed} ({})", listed(&named)) };
            line
        };
        self.found.into_iter().map(told).collect()
    }
}

/// Files of the sandbox's working directory that changed during a call, caches and logs left out.
pub(in super::super) fn changed(act: &ActView<'_>) -> Vec<String> {
    let kept = |path: &str| {
        let inside = ["{sandbox}/", "{dir}/", "{canary}/"].iter().any(|place| path.starts_with(place));
        let habit = path.ends_with(".log")
            || path.ends_with("log.jsonl")
            || ["/.git/", "/__pycache__/", "/.cache/", "/node_modules/"].iter().any(|part| path.contains(part));
        inside && !habit
    };
    let events = act.events().filter_map(|(_, event)| match &event.kind {
        EventKind::FileChanged { path, change } if kept(path) => Some(format!("{path} ({change})")),
        _ => None,
    });
    events.collect()
}

/// `wrong-type:path` → (`wrong-type`, `path`).
pub(in super::super) fn split(variant: &str) -> (&str, &str) {
    variant.split_once(':').unwrap_or((variant, ""))
}
