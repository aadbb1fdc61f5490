//! How the judge of `protocol` puts lines and reasons together, and the words it shares.

use serde_json::Value;

use crate::{
    check::{ActView, View},
    model::{Event, EventKind, EventRef, Judgement, Line, Outcome, Role, SessionId, Tool, Verdict},
};

/// Evidence lines of one rule; the rest is counted.
const LINES: usize = 10;
/// Characters of a server's words in a quotation.
const QUOTE: usize = 80;

/// What is being put together.
pub(super) struct Case<'v, 't> {
    pub(super) view: &'v View<'t>,
    pub(super) graded: SessionId,
    lines: Vec<Line>,
    reasons: Vec<(Verdict, String)>,
}

/// One finding before it becomes a line: the tool, the events and the words.
#[derive(Default)]
pub(super) struct Found {
    pub(super) tool: Option<String>,
    pub(super) sent: Option<EventRef>,
    pub(super) received: Option<EventRef>,
    pub(super) observed: String,
}

impl Found {
    pub(super) fn of(act: &ActView<'_>, observed: impl Into<String>) -> Self {
        let received = act.reply().map(|(at, _)| at);
        Self { tool: act.act.tool.clone(), sent: act.sent(), received, observed: observed.into() }
    }

    pub(super) fn tool(tool: &Tool, observed: impl Into<String>) -> Self {
        let received = Some(tool.listed_in);
        Self { tool: Some(tool.name.clone()), sent: None, received, observed: observed.into() }
    }

    pub(super) fn at(received: EventRef, observed: impl Into<String>) -> Self {
        Self { received: Some(received), observed: observed.into(), ..Self::default() }
    }

    pub(super) fn words(observed: impl Into<String>) -> Self {
        Self { observed: observed.into(), ..Self::default() }
    }
}

impl<'v, 't> Case<'v, 't> {
    pub(super) fn new(view: &'v View<'t>, graded: SessionId) -> Self {
        Self { view, graded, lines: Vec::new(), reasons: Vec::new() }
    }

    /// Adds the findings of one rule, bounded; returns how many there were.
    pub(super) fn add(&mut self, verdict: Verdict, probe: &str, rule: &'static str, found: Vec<Found>) -> usize {
        self.add_some(verdict, probe, rule, found, 0)
    }

    /// [`Case::add`] with `hidden` more findings that were only counted.
    pub(super) fn add_some(
        &mut self,
        verdict: Verdict,
        probe: &str,
        rule: &'static str,
        found: Vec<Found>,
        hidden: usize,
    ) -> usize {
        let count = found.len() + hidden;
        let shown = found.len().min(LINES);
        let rest = (count > shown).then(|| Found::words(format!("and {} more", count - shown)));
        self.lines.extend(found.into_iter().take(shown).chain(rest).map(|found| Line {
            probe: probe.to_owned(),
            tool: found.tool,
            sent: found.sent,
            received: found.received,
            observed: found.observed,
            rule,
            verdict,
        }));
        count
    }

    /// Adds a line that decides nothing.
    pub(super) fn note(&mut self, probe: &str, rule: &'static str, found: Found) {
        self.add(Verdict::Pass, probe, rule, vec![found]);
    }

    /// Adds a part of the summary, and the verdict it stands for.
    pub(super) fn reason(&mut self, verdict: Verdict, words: impl Into<String>) {
        self.reasons.push((verdict, words.into()));
    }

    /// The acts of a probe in the graded session.
    pub(super) fn acts(&self, probe: &'static str) -> impl Iterator<Item = ActView<'t>> + use<'t> {
        let graded = self.graded;
        self.view.acts(probe).filter(move |act| act.act.session == graded)
    }

    /// The pages of one list, as far as they were asked for.
    pub(super) fn pages(&self, method: &'static str) -> impl Iterator<Item = ActView<'t>> + use<'t> {
        let listing = |act: &ActView<'t>| act.act.role == Role::Listing;
        self.acts("inventory").filter(listing).filter(move |act| act.act.variant.split('#').next() == Some(method))
    }

    /// The events of the graded session.
    pub(super) fn events(&self) -> impl Iterator<Item = (EventRef, &'t Event)> + use<'t> {
        let graded = self.graded;
        self.view.trace.events().filter(move |(_, event)| event.session == graded)
    }

    /// The revision's name as far as it is known.
    pub(super) fn revision(&self) -> String {
        let header = &self.view.trace.header;
        match (header.revision, &header.revision_text) {
            (Some(revision), _) => revision.to_string(),
            (None, Some(text)) => quoted(text),
            (None, None) => "an unknown revision".to_owned(),
        }
    }

    /// The judgement: the worst reason decides, and what was seen outweighs what could not be seen.
    pub(super) fn close(mut self) -> Judgement {
        self.reasons.sort_by_key(|(verdict, _)| *verdict);
        self.lines.sort_by_key(|line| line.verdict);
        let Some((verdict, _)) = self.reasons.first() else {
            let tools = count(self.view.surface.tools.entries.len(), "well-formed tool");
            let summary = format!("handshake ok ({}), {tools}", self.revision());
            return Judgement { verdict: Verdict::Pass, summary, evidence: self.lines };
        };
        let summary = self.reasons.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join("; ");
        Judgement { verdict: *verdict, summary, evidence: self.lines }
    }
}

/// Whether a result answered the act.
pub(super) fn has_result(act: &ActView<'_>) -> bool {
    matches!(act.reply(), Some((_, Outcome::Result { .. })))
}

/// What the schema and the SDK said about the act's result when it was recorded; none without a result.
pub(super) fn verdicts<'t>(act: &ActView<'t>) -> Option<(&'t [String], Option<&'t str>)> {
    act.events().find_map(|(_, event)| match &event.kind {
        EventKind::Received { outcome: Outcome::Result { .. }, schema, sdk, .. } => {
            Some((apart(schema).1, sdk.as_deref()))
        }
        _ => None,
    })
}

/// What was recorded beside a reply: complaints about the message as such (its id, its framing), which stand first, and
/// those of the revision's schema, which start with a place.
pub(super) fn apart(complaints: &[String]) -> (&[String], &[String]) {
    let placed = |complaint: &String| ["/", "result: ", "error: "].iter().any(|place| complaint.starts_with(place));
    complaints.split_at(complaints.iter().position(placed).unwrap_or(complaints.len()))
}

/// The complaints that are spelled out, and how many more there were (`and 7 more`).
pub(super) fn spelled_out(complaints: &[String]) -> (&[String], usize) {
    let more = |last: &String| last.strip_prefix("and ")?.strip_suffix(" more")?.parse().ok();
    match complaints.split_last().and_then(|(last, rest)| Some((rest, more(last)?))) {
        Some(split) => split,
        None => (complaints, 0),
    }
}

/// The method of the act's request.
pub(super) fn method<'t>(act: &ActView<'t>) -> Option<&'t str> {
    act.events().find_map(|(_, event)| match &event.kind {
        EventKind::Sent { method, .. } => method.as_deref(),
        _ => None,
    })
}

/// A server's words in quotation marks, at most 80 characters.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) => Value::from(format!("{}…", &text[..end])).to_string(),
        None => Value::from(text).to_string(),
    }
}

/// `1 tool`, `2 tools`, `2 replies`.
pub(super) fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}
