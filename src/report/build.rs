//! Verdicts and facts → [`RunResult`]: redacts and cuts every text once, so that renderers only escape.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Quote, badge,
    result::{
        Badge, Build, CheckResult, Classified, ConfigFacts, Coverage, EvidenceFacts, PackResult, PackStatus, Packs,
        RunResult, SCHEMA, SandboxFacts, ServerFacts, Status,
    },
    surface::ServerSurface,
};
use crate::{
    classify::{self, Class, Confidence},
    grade::{self, Grade},
    judge::{Judged, JudgedPack},
    model::{EventKind, EventRef, Line, Outcome, Role, Surface, Tool, Trace, Verdict, trace::Transport},
    text::{Redactor, excerpt},
};

/// Longest excerpt in a line of evidence, in characters.
const EXCERPT: usize = 300;
/// How much of a frame is looked at to make an excerpt: enough for 300 characters of any encoding.
const LOOKED_AT: usize = 4 << 10;

/// What a report repeats from the configuration and the run; kept in a recording so that `judge` makes the same report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Command, URL, environment and headers as written.
    pub server: ServerFacts,
    /// The configuration.
    pub config: ConfigFacts,
    /// The sandbox.
    pub sandbox: SandboxFacts,
    /// RFC 3339, UTC, milliseconds.
    pub started_at: String,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// Sentences for the user.
    pub warnings: Vec<String>,
    /// `notCovered.extra`.
    pub not_covered: Vec<String>,
    /// Whether a signal ended the run.
    pub interrupted: bool,
    /// Where the failed server's stderr was saved.
    pub stderr_file: Option<String>,
}

/// Makes the report of one judged run.
pub fn build(trace: &Trace, surface: &Surface, judged: &[JudgedPack], facts: Facts, redactor: &Redactor) -> RunResult {
    let clean = |text: &str| redactor.apply(text);
    let classes: Vec<(String, Class)> = surface
        .tools
        .entries
        .iter()
        .map(|tool| (tool.name.clone(), classify::classify(tool, &trace.header.overrides)))
        .collect();
    let packs: Vec<(String, PackResult)> =
        judged.iter().map(|pack| (pack.pack.id.to_owned(), pack_result(trace, pack, redactor))).collect();
    let error = trace.header.failure.as_deref().map(&clean);
    let graded = packs.iter().any(|(_, pack)| pack.status == PackStatus::Graded);
    let status = match (facts.interrupted, &error, graded) {
        (true, _, _) => Status::Interrupted,
        (false, Some(_), _) => Status::Failed,
        (false, None, true) => Status::Graded,
        (false, None, false) => Status::NothingGraded,
    };
    let coverage = coverage(trace, surface, &packs);
    let reported = |key: &str| {
        let text = surface.server_info.as_ref()?.get(key)?.as_str()?;
        Some(excerpt(&clean(text), 100))
    };
    let mut server = facts.server;
    server.reported_name = reported("name");
    server.reported_version = reported("version");
    server.protocol_version = trace
        .header
        .revision_text
        .clone()
        .or_else(|| trace.header.revision.map(|revision| revision.to_string()))
        .map(|text| excerpt(&clean(&text), 40));
    server.era = trace.header.revision.map(|revision| format!("{:?}", revision.era()).to_lowercase());
    server.other_era = trace.header.other_era.as_ref().map(|(era, revision)| {
        format!("also speaks {} ({era:?} handshake answered)", excerpt(&clean(revision), 40))
            .replace("Legacy", "legacy")
            .replace("Modern", "modern")
    });
    server.surface = ServerSurface::read(surface, redactor).facts();
    let mut run = RunResult {
        schema: SCHEMA.to_owned(),
        sealmark: Build { version: trace.header.sealmark.clone(), methodology: trace.header.methodology.clone() },
        name: trace.header.name.clone(),
        version: trace.header.version.clone().or_else(|| server.reported_version.clone()),
        status,
        started_at: facts.started_at,
        duration_ms: facts.duration_ms,
        server,
        config: facts.config,
        sandbox: facts.sandbox,
        classification: classes.iter().map(|(tool, class)| classified(tool, class, redactor)).collect(),
        packs: Packs(packs),
        coverage,
        badge: Badge::default(),
        not_covered: not_covered(trace, surface, &classes, facts.not_covered, redactor),
        warnings: facts.warnings,
        interrupted: facts.interrupted,
        error,
        stderr_file: facts.stderr_file,
    };
    run.badge = badge::assess(&run);
    run
}

fn pack_result(trace: &Trace, pack: &JudgedPack, redactor: &Redactor) -> PackResult {
    let Grade { status, letter, provisional, capped, points, scored, total } = grade::grade(pack);
    let reason = (status != PackStatus::Graded).then(|| {
        let decisive = pack.checks.iter().find(|check| check.judgement.verdict == Verdict::Inconclusive);
        let decisive = decisive.or(pack.checks.first());
        decisive.map_or_else(String::new, |check| excerpt(&redactor.apply(&check.judgement.summary), EXCERPT))
    });
    PackResult {
        status,
        reason,
        grade: letter,
        provisional,
        capped,
        points,
        scored,
        total,
        candidate: pack.pack.candidate,
        checks: pack.checks.iter().map(|check| check_result(trace, check, redactor)).collect(),
    }
}

fn check_result(trace: &Trace, judged: &Judged, redactor: &Redactor) -> CheckResult {
    let check = judged.check;
    CheckResult {
        id: check.id.to_owned(),
        title: check.title.to_owned(),
        verdict: judged.judgement.verdict,
        severity: judged.severity,
        critical: judged.severity == crate::model::Severity::Critical,
        candidate: check.candidate,
        scope: check.scope.as_str().to_owned(),
        summary: excerpt(&redactor.apply(&judged.judgement.summary), 2 * EXCERPT),
        evidence: judged.judgement.evidence.iter().map(|line| evidence(trace, line, redactor)).collect(),
    }
}

fn evidence(trace: &Trace, line: &Line, redactor: &Redactor) -> EvidenceFacts {
    EvidenceFacts {
        probe: excerpt(&redactor.apply(&line.probe), 120),
        tool: line.tool.as_deref().map(|tool| excerpt(&redactor.apply(tool), 140)),
        sent: line.sent.and_then(|at| quote(trace, at, redactor)),
        received: line.received.and_then(|at| quote(trace, at, redactor)),
        observed: excerpt(&redactor.apply(&line.observed), 2 * EXCERPT),
        rule: line.rule.to_owned(),
        verdict: line.verdict,
    }
}

/// An event's bytes as an excerpt.
fn quote(trace: &Trace, at: EventRef, redactor: &Redactor) -> Option<Quote> {
    let text = match &trace.event(at)?.kind {
        EventKind::Sent { frame, .. }
        | EventKind::Received { frame, .. }
        | EventKind::Stray { frame, .. }
        | EventKind::Notification { frame, .. }
        | EventKind::ServerRequest { frame, .. } => frame.text(),
        EventKind::Noise { line, .. } => line.text(),
        EventKind::Stderr { text, .. } => text.text(),
        EventKind::NotSent { why } => {
            return Some(Quote::new(&excerpt(&redactor.apply(&format!("not sent: {why}")), EXCERPT)));
        }
        _ => return None,
    };
    let mut cut = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    Some(Quote::new(&excerpt(&redactor.apply(&text[..cut]), EXCERPT)))
}

fn classified(tool: &str, class: &Class, redactor: &Redactor) -> Classified {
    Classified {
        tool: excerpt(&redactor.apply(tool), 140),
        class: class.kind.as_str().to_owned(),
        confidence: class.confidence.as_str().to_owned(),
        reason: excerpt(&redactor.apply(&class.reason), EXCERPT),
        parameter: class.parameter.as_deref().map(|name| excerpt(&redactor.apply(name), 140)),
        secondary: class
            .secondary
            .as_ref()
            .map(|(kind, name)| format!("{}: {}", kind.as_str(), excerpt(&redactor.apply(name), 140))),
    }
}

/// Calls that exercised a tool: honest ones that worked, of packs that own a target.
fn coverage(trace: &Trace, surface: &Surface, packs: &[(String, PackResult)]) -> Coverage {
    let honest = |act: &crate::model::Act| act.role == Role::Control && act.probe != "no-argument-calls";
    let mut called = std::collections::BTreeSet::new();
    for event in &trace.events {
        let (Some(act), EventKind::Received { outcome: Outcome::Result { is_error, .. }, .. }) =
            (event.act, &event.kind)
        else {
            continue;
        };
        if let Some(act) = trace.acts.get(act.0 as usize).filter(|act| honest(act) && *is_error != Some(true)) {
            called.extend(act.tool.clone());
        }
    }
    let tools = surface.tools.entries.len() as u32;
    let called = called.len() as u32;
    let capability = packs.iter().any(|(id, pack)| id != "core" && pack.status == PackStatus::Graded);
    let label = match (capability, called) {
        (false, _) | (true, 0) => "hygiene only",
        (true, called) if called < tools => "partial",
        (true, _) => "full",
    };
    Coverage { tools_called_valid: called, tools, label: label.to_owned() }
}

/// What a renderer may cut comes last: the lines of tools, of which there can be thousands.
fn not_covered(
    trace: &Trace,
    surface: &Surface,
    classes: &[(String, Class)],
    extra: Vec<String>,
    redactor: &Redactor,
) -> Vec<String> {
    let mut lines = extra;
    if trace.header.transport == Transport::Stdio && trace.header.sandboxed {
        lines.push("The sandbox is a convention that the harness keeps, not a security boundary: a malicious server can leave it.".to_owned());
    }
    lines.push("Tools that a server lists only to clients declaring roots, sampling or elicitation are not seen: the harness declares none of them.".to_owned());
    lines.push("Prompts are listed and their text is scanned; prompts/get is never called.".to_owned());
    let named = |tool: &str| excerpt(&redactor.apply(tool), 140);
    let excluded = trace.header.excluded.iter();
    lines.extend(excluded.map(|tool| format!("tool \"{}\" was left out by tools.exclude", named(tool))));
    let by_tasks =
        |tool: &&Tool| tool.raw.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required");
    lines.extend(surface.tools.entries.iter().filter(by_tasks).map(|tool| {
        format!("tool \"{}\" requires task-based execution, which the harness does not use", named(&tool.name))
    }));
    let probed = classes.iter().filter(|(tool, _)| !trace.header.excluded.contains(tool));
    lines.extend(probed.map(|(tool, class)| {
        let why = match class.confidence {
            Confidence::Low => {
                excerpt(&redactor.apply(class.reason.strip_prefix("core only: ").unwrap_or(&class.reason)), EXCERPT)
            }
            _ => format!("its class is {}, and this version has no pack for it", class.kind.as_str()),
        };
        format!("tool \"{}\" is covered by the core checks only: {why}", named(tool))
    }));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::trace::Header;

    #[test]
    fn gaps_that_every_run_has_come_before_the_lines_of_tools() {
        let header = Header { sandboxed: true, excluded: vec!["admin".to_owned()], ..Header::default() };
        let mut surface = Surface::default();
        for raw in [json!({"name": "admin"}), json!({"name": "long", "execution": {"taskSupport": "required"}})] {
            let name = raw["name"].as_str().unwrap().to_owned();
            surface.tools.entries.push(Tool { name, raw, listed_in: EventRef(0) });
        }
        let classes: Vec<_> = (surface.tools.entries.iter())
            .map(|tool| (tool.name.clone(), classify::classify(tool, &Default::default())))
            .collect();
        let trace = Trace::new(header);
        let lines = not_covered(&trace, &surface, &classes, vec!["mine".to_owned()], &Redactor::new(&[], &[], true));
        let starts: Vec<_> = lines.iter().map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            starts,
            [
                "mine",
                "The sandbox is",
                "Tools that a",
                "Prompts are listed",
                "tool \"admin\" was",
                "tool \"long\" requires",
                "tool \"long\" is"
            ]
        );
    }
}
