//! Runs for the tests of this room: one per status, a hostile one, a large one.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Quote, result::*};
use crate::model::{Severity, Verdict};

/// An evidence line.
pub(crate) fn evidence(probe: &str, tool: Option<&str>, verdict: Verdict) -> EvidenceFacts {
    EvidenceFacts {
        probe: probe.to_owned(),
        tool: tool.map(str::to_owned),
        sent: Some(Quote::new(&format!("{{\"name\":\"{}\",\"arguments\":{{}}}}", tool.unwrap_or("none")))),
        received: Some(Quote::new("{\"content\":[{\"type\":\"text\",\"text\":\"1 row\"}]}")),
        observed: format!("{probe} was answered with a result"),
        rule: format!("sample.{probe}"),
        verdict,
    }
}

/// A check.
pub(crate) fn check(id: &str, verdict: Verdict, severity: Severity, evidence: Vec<EvidenceFacts>) -> CheckResult {
    CheckResult {
        id: id.to_owned(),
        title: format!("Title of {id}"),
        verdict,
        severity,
        critical: severity == Severity::Critical,
        candidate: severity == Severity::Advisory,
        scope: "server".to_owned(),
        summary: format!("summary of {id}"),
        evidence,
    }
}

fn pack(grade: Option<char>, points: f64, scored: u32, total: u32, checks: Vec<CheckResult>) -> PackResult {
    PackResult {
        status: if grade.is_some() { PackStatus::Graded } else { PackStatus::Inconclusive },
        reason: None,
        grade,
        provisional: false,
        capped: Vec::new(),
        points,
        scored,
        total,
        candidate: false,
        checks,
    }
}

fn tool(name: &str) -> ToolFacts {
    ToolFacts {
        name: name.to_owned(),
        title: None,
        description: Some(TextFacts { sha256: "ab".repeat(32), chars: 40 }),
        input_schema: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        input_schema_sha256: "cd".repeat(32),
        output_schema: None,
        output_schema_sha256: None,
        required: Vec::new(),
        parameters: BTreeMap::from([("text".to_owned(), "string".to_owned())]),
        annotations: Some(json!({ "readOnlyHint": true })),
        ..ToolFacts::default()
    }
}

fn classified(name: &str) -> Classified {
    Classified {
        tool: name.to_owned(),
        class: "text".to_owned(),
        confidence: "low".to_owned(),
        reason: "only string parameters, none of which names a target".to_owned(),
        parameter: None,
        secondary: None,
    }
}

/// A core-only run that passed everything.
pub(crate) fn clean() -> RunResult {
    let checks = vec![
        check("protocol", Verdict::Pass, Severity::Scored, vec![evidence("handshake", None, Verdict::Pass)]),
        check("tool-poisoning", Verdict::Pass, Severity::Critical, Vec::new()),
        check("robust-input", Verdict::Pass, Severity::Scored, Vec::new()),
        check("secret-echo", Verdict::Pass, Severity::Critical, Vec::new()),
    ];
    let mut run = RunResult {
        schema: SCHEMA.to_owned(),
        sealmark: Build { version: "0.1.0".to_owned(), methodology: "0.3-draft".to_owned() },
        name: "toy".to_owned(),
        version: Some("0.0.1".to_owned()),
        status: Status::Graded,
        started_at: "2026-03-04T05:06:07.089Z".to_owned(),
        duration_ms: 1234,
        server: ServerFacts {
            transport: "stdio".to_owned(),
            command: ["node", "server.js", "--mode", "two words"].map(str::to_owned).to_vec(),
            url: None,
            env: BTreeMap::from([("SEALMARK_CANARY".to_owned(), "<canary>".to_owned())]),
            headers: Vec::new(),
            reported_name: Some("toy".to_owned()),
            reported_version: Some("0.0.1".to_owned()),
            protocol_version: Some("2025-11-25".to_owned()),
            era: Some("legacy".to_owned()),
            other_era: None,
            surface: SurfaceFacts { tools: vec![tool("echo"), tool("add")], ..SurfaceFacts::default() },
            offers: None,
        },
        config: ConfigFacts {
            hash: "0123456789abcdef".repeat(4),
            standard: true,
            standard_diff: Vec::new(),
            path: Some("conf/sealmark.yaml".to_owned()),
            line: Some(7),
            locked: BTreeMap::from([("timeout_probe_sec".to_owned(), json!(10))]),
        },
        sandbox: SandboxFacts {
            used: true,
            dir: Some("{sandbox_dir}".to_owned()),
            cleanup: "cleaned up".to_owned(),
            inherited: vec!["PATH".to_owned(), "LANG".to_owned()],
            withheld: Vec::new(),
        },
        classification: vec![classified("echo"), classified("add")],
        packs: Packs(vec![("core".to_owned(), pack(Some('A'), 4.0, 4, 4, checks))]),
        coverage: Coverage { tools_called_valid: 0, tools: 2, label: "hygiene only".to_owned() },
        badge: Badge::default(),
        not_covered: vec!["tool \"echo\" gets the core checks only".to_owned()],
        warnings: Vec::new(),
        interrupted: false,
        error: None,
        stderr_file: None,
    };
    run.badge = super::badge::assess(&run);
    run
}

/// A custom run with every verdict, a cap, a provisional letter, an inconclusive and a not applicable pack.
pub(crate) fn graded() -> RunResult {
    let mut run = clean();
    run.name = "shop".to_owned();
    run.config.standard = false;
    run.config.standard_diff = vec![DiffFacts {
        key: "timeout_probe_sec".to_owned(),
        standard: json!(10),
        effective: json!(2),
        origin: "flag --timeout-probe".to_owned(),
    }];
    run.server.other_era = Some("also speaks 2026-07-28 (modern handshake ok)".to_owned());
    run.coverage = Coverage { tools_called_valid: 2, tools: 2, label: "partial".to_owned() };
    run.not_covered = (1..=14).map(|number| format!("gap number {number}")).collect();
    run.warnings = vec!["server.args names a real path on this machine".to_owned()];
    let mut core = pack(
        Some('A'),
        2.0,
        2,
        3,
        vec![
            check("protocol", Verdict::Pass, Severity::Scored, vec![evidence("handshake", None, Verdict::Pass)]),
            check("tool-poisoning", Verdict::Inconclusive, Severity::Critical, Vec::new()),
            check("robust-input", Verdict::Pass, Severity::Scored, Vec::new()),
            check(
                "refusal-quality",
                Verdict::Fail,
                Severity::Advisory,
                vec![evidence("refusal", Some("echo"), Verdict::Part)],
            ),
        ],
    );
    core.provisional = true;
    let lines = (0..8).map(|number| evidence(&format!("case-{number}"), Some("query"), Verdict::Fail));
    let lines = lines
        .chain([evidence("control", Some("query"), Verdict::Pass), evidence("case-9", Some("run_sql"), Verdict::Part)]);
    let mut db = pack(
        Some('D'),
        1.5,
        3,
        3,
        vec![
            check("mutating-sql", Verdict::Fail, Severity::Critical, lines.collect()),
            check("db-row-cap", Verdict::Part, Severity::Scored, vec![evidence("cap", None, Verdict::Part)]),
            check("db-timeout", Verdict::Pass, Severity::Scored, Vec::new()),
            check("db-audit", Verdict::Na, Severity::Advisory, Vec::new()),
        ],
    );
    db.capped = vec!["mutating-sql".to_owned()];
    let mut fs =
        pack(None, 0.0, 0, 2, vec![check("fs-read-escape", Verdict::Inconclusive, Severity::Critical, Vec::new())]);
    fs.reason = Some("no escape probe was answered".to_owned());
    let mut net = pack(None, 0.0, 0, 0, Vec::new());
    net.status = PackStatus::Na;
    net.reason = Some("no tool takes a URL".to_owned());
    let mut scope =
        pack(Some('A'), 1.0, 1, 1, vec![check("scope-escape", Verdict::Pass, Severity::Scored, Vec::new())]);
    scope.candidate = true;
    run.packs = Packs(
        [("core", core), ("db", db), ("fs", fs), ("net", net), ("scope", scope)]
            .map(|(id, pack)| (id.to_owned(), pack))
            .to_vec(),
    );
    run.badge = super::badge::assess(&run);
    run
}

/// A run whose server did not start.
pub(crate) fn failed() -> RunResult {
    let mut run = clean();
    run.name = "broken".to_owned();
    run.status = Status::Failed;
    run.error = Some("the server exited with code 1 before it answered `initialize`".to_owned());
    run.stderr_file = Some("report.json.stderr.log".to_owned());
    run.classification.clear();
    run.packs.0.clear();
    run.server.surface = SurfaceFacts::default();
    run.coverage = Coverage::default();
    run.badge = super::badge::assess(&run);
    run
}

/// A run that a signal ended after its first pack.
pub(crate) fn interrupted() -> RunResult {
    let mut run = clean();
    run.status = Status::Interrupted;
    run.interrupted = true;
    run.warnings = vec!["the run was interrupted; the report may be incomplete".to_owned()];
    run.badge = super::badge::assess(&run);
    run
}

/// A run that ended by itself without a letter.
pub(crate) fn nothing_graded() -> RunResult {
    let mut run = clean();
    run.status = Status::NothingGraded;
    let core = &mut run.packs.0[0].1;
    core.status = PackStatus::Inconclusive;
    core.reason = Some("tools/list was never answered".to_owned());
    core.grade = None;
    core.scored = 0;
    core.points = 0.0;
    for check in &mut core.checks {
        check.verdict = Verdict::Inconclusive;
    }
    run.badge = super::badge::assess(&run);
    run
}

/// Text that tries everything at once.
pub(crate) const HOSTILE: &str = "::error::x\n::set-output name=a::b\r##[error]y ##vso[task.complete]z \nsection_start:1:s\r\u{1b}[0K \
     @octocat <script>alert(1)</script> --> <!-- a | b ` `` ``` ![i](http://x.example/i.png) [l](javascript:x) www.evil.example \
     #1 <xmpp:foo@evil.example> \u{202e}\u{2066}\u{200b}\u{feff}\u{9b}31m\u{0}\u{7f}\u{85}\u{2028} ]]> & \" ' \\ $(x) {{name}} \t漢字";

/// Every string field of a run replaced by `text`, one after the other in its own run would be slow: all at once.
pub(crate) fn hostile(text: &str) -> RunResult {
    let mut value = serde_json::to_value(graded()).expect("serialisable");
    spoil(&mut value, text, "");
    let mut run: RunResult = serde_json::from_value(value).expect("the same shape");
    run.error = Some(text.to_owned());
    run.stderr_file = Some(text.to_owned());
    run.server.url = Some(text.to_owned());
    run.server.headers = vec![(text.to_owned(), text.to_owned())];
    run.server.env = BTreeMap::from([(text.to_owned(), text.to_owned())]);
    run.classification[0].parameter = Some(text.to_owned());
    run.classification[0].secondary = Some(text.to_owned());
    run.packs.0[1].0 = text.to_owned();
    run
}

fn spoil(value: &mut serde_json::Value, text: &str, key: &str) {
    match value {
        serde_json::Value::String(string) => {
            let word = ["verdict", "severity", "status", "grade", "startedAt"].contains(&key);
            if !word {
                *string = text.to_owned();
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, text, key)),
        serde_json::Value::Object(members) => members.iter_mut().for_each(|(key, value)| spoil(value, text, key)),
        _ => {}
    }
}

/// A run with that many tools.
pub(crate) fn large(tools: usize) -> RunResult {
    let mut run = graded();
    run.server.surface.tools = (0..tools).map(|number| tool(&format!("tool_{number}"))).collect();
    run.classification = (0..tools).map(|number| classified(&format!("tool_{number}"))).collect();
    run
}

/// One of each.
pub(crate) fn all() -> Vec<RunResult> {
    vec![clean(), graded(), failed(), interrupted(), nothing_graded()]
}
