//! What a check and a pack are. Read this file first: everything that describes a check is generated from these statics.

use serde_json::Value;

use crate::model::{Act, ActId, Event, EventKind, EventRef, Judgement, Outcome, Severity, Surface, Trace};

/// Whether a check looks at the server's own behaviour or at a control reached through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The server itself.
    Server,
    /// A control (a database's, a file system's) tested through the server.
    ThroughServer,
}

impl Scope {
    /// The words of the report's scope line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::ThroughServer => "control tested through the server",
        }
    }
}

/// One check: data with one function pointer. The file's stem is the id, its folder is the pack.
#[derive(Debug)]
pub struct Check {
    /// Kebab-case property that should hold; the same for pass and fail, never reused.
    pub id: &'static str,
    /// The report's line.
    pub title: &'static str,
    /// How much it weighs in the standard methodology.
    pub severity: Severity,
    /// Advisory in a standard pack because it is not yet part of the published methodology.
    pub candidate: bool,
    /// What it looks at.
    pub scope: Scope,
    /// The methodology that introduced it.
    pub since: &'static str,
    /// The prose of `explain`, the docs, SARIF rules and the schema.
    pub explain: Explain,
    /// Its settings beyond `enabled` and `severity`.
    pub knobs: &'static [Knob],
    /// The ids of the probes (`probes::ALL`) whose acts it reads.
    pub needs: &'static [&'static str],
    /// Reads the record and decides.
    pub judge: fn(&View<'_>) -> Judgement,
}

/// The prose about one check. Every field is plain text (backticks allowed); `tests/registry.rs` demands all of them.
#[derive(Debug)]
pub struct Explain {
    /// What it measures, in a paragraph.
    pub what: &'static str,
    /// Why that matters to a user of the server.
    pub why: &'static str,
    /// How the verdict follows: one `(verdict word, when)` per rule.
    pub verdicts: &'static [(&'static str, &'static str)],
    /// Rule ids that can stand in evidence, with their meaning.
    pub rules: &'static [(&'static str, &'static str)],
    /// The probes or variants, one per line: `(short name, what it does)`.
    pub probes: &'static [(&'static str, &'static str)],
    /// What to do about a fail or a part.
    pub fix: &'static str,
    /// Known false positives.
    pub false_positives: &'static str,
    /// Known false negatives.
    pub false_negatives: &'static str,
    /// Specification sections, CVEs or pages it rests on.
    pub references: &'static [&'static str],
}

/// A setting of a check: `checks.<id>.<key>`.
#[derive(Debug)]
pub struct Knob {
    /// Its key.
    pub key: &'static str,
    /// Its default.
    pub default: KnobDefault,
    /// Whether changing it makes the run CUSTOM.
    pub locked: bool,
    /// One sentence for help, docs and schema.
    pub help: &'static str,
}

/// A knob's type and default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnobDefault {
    /// A whole number.
    Integer(i64),
    /// A list of texts.
    Texts(&'static [&'static str]),
}

/// A pack: checks that share an owned target.
#[derive(Debug)]
pub struct Pack {
    /// Its id, the folder's name.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Scored inside itself but never part of the standard methodology.
    pub candidate: bool,
    /// When it applies, in words.
    pub applies: &'static str,
    /// What it needs, in words.
    pub needs: &'static str,
    /// Its checks in report order: the registry.
    pub checks: &'static [&'static Check],
}

/// What a judge is handed: the record, what the server offers, and the check's own settings. It can do no I/O.
pub struct View<'t> {
    /// The recorded run.
    pub trace: &'t Trace,
    /// What the server offers, read once from the trace.
    pub surface: &'t Surface,
    /// The check being judged.
    pub check: &'static Check,
    /// Which events belong to which act.
    pub index: &'t Index,
}

/// The events of each act, made once per trace.
#[derive(Debug, Default)]
pub struct Index(Vec<Vec<EventRef>>);

impl Index {
    /// Reads the trace once.
    pub fn of(trace: &Trace) -> Self {
        let mut acts = vec![Vec::new(); trace.acts.len()];
        for (at, event) in trace.events() {
            if let Some(events) = event.act.and_then(|act| acts.get_mut(act.0 as usize)) {
                events.push(at);
            }
        }
        Self(acts)
    }
}

/// One act with the events that belong to it.
#[derive(Debug, Clone, Copy)]
pub struct ActView<'t> {
    /// Its id.
    pub id: ActId,
    /// The act.
    pub act: &'t Act,
    trace: &'t Trace,
    index: &'t Index,
}

impl<'t> View<'t> {
    /// The acts of the probes this check declared, in order. `probe` must be one of `check.needs`.
    pub fn acts(&self, probe: &'static str) -> impl Iterator<Item = ActView<'t>> + use<'t> {
        debug_assert!(self.check.needs.contains(&probe), "{} does not declare {probe}", self.check.id);
        let (trace, index) = (self.trace, self.index);
        trace.acts().filter(move |(_, act)| act.probe == probe).map(move |(id, act)| ActView { id, act, trace, index })
    }

    /// A list knob's effective value.
    pub fn texts(&self, key: &str) -> Vec<String> {
        match self.setting(key) {
            Some(Value::Array(items)) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => match self.knob_default(key) {
                Some(KnobDefault::Texts(texts)) => texts.iter().map(|text| (*text).to_owned()).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// A numeric knob's effective value.
    pub fn integer(&self, key: &str) -> i64 {
        match (self.setting(key).and_then(Value::as_i64), self.knob_default(key)) {
            (Some(value), _) => value,
            (None, Some(KnobDefault::Integer(value))) => value,
            _ => 0,
        }
    }

    fn setting(&self, key: &str) -> Option<&'t Value> {
        self.trace.header.settings.get(self.check.id)?.get(key)
    }

    fn knob_default(&self, key: &str) -> Option<KnobDefault> {
        self.check.knobs.iter().find(|knob| knob.key == key).map(|knob| knob.default)
    }
}

impl<'t> ActView<'t> {
    /// The act's events in order.
    pub fn events(&self) -> impl Iterator<Item = (EventRef, &'t Event)> + use<'t> {
        let trace = self.trace;
        let events = self.index.0.get(self.id.0 as usize).map(Vec::as_slice).unwrap_or_default();
        events.iter().filter_map(move |at| Some((*at, trace.event(*at)?)))
    }

    /// The event that sent it.
    pub fn sent(&self) -> Option<EventRef> {
        self.events().find(|(_, event)| matches!(event.kind, EventKind::Sent { .. })).map(|(at, _)| at)
    }

    /// The reply and what it amounts to.
    pub fn reply(&self) -> Option<(EventRef, &'t Outcome)> {
        self.events().find_map(|(at, event)| match &event.kind {
            EventKind::Received { outcome, .. } => Some((at, outcome)),
            _ => None,
        })
    }
}
