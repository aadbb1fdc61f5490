//! Trace → verdicts: runs every check's judge over one record. Pure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::{
    check::{Check, Index, Pack, View},
    model::{Judgement, Severity, Surface, Trace, Verdict},
    packs,
};

/// One judged check.
#[derive(Debug)]
pub struct Judged {
    /// The check.
    pub check: &'static Check,
    /// Its effective severity.
    pub severity: Severity,
    /// Whether it was switched off.
    pub enabled: bool,
    /// What it decided.
    pub judgement: Judgement,
}

/// One judged pack.
#[derive(Debug)]
pub struct JudgedPack {
    /// The pack.
    pub pack: &'static Pack,
    /// Its checks in registry order.
    pub checks: Vec<Judged>,
}

/// Judges every pack the trace's header names.
pub fn judge(trace: &Trace, surface: &Surface) -> Vec<JudgedPack> {
    let index = Index::of(trace);
    let asked = |pack: &&&'static Pack| trace.header.packs.iter().any(|id| id == pack.id);
    packs::ALL
        .iter()
        .filter(asked)
        .map(|pack| JudgedPack {
            pack,
            checks: pack.checks.iter().map(|check| judge_one(trace, surface, &index, check)).collect(),
        })
        .collect()
}

fn judge_one(trace: &Trace, surface: &Surface, index: &Index, check: &'static Check) -> Judged {
    let setting = |key: &str| trace.header.settings.get(check.id).and_then(|keys| keys.get(key));
    let severity = match setting("severity").and_then(Value::as_str) {
        Some("critical") => Severity::Critical,
        Some("scored") => Severity::Scored,
        Some("advisory") => Severity::Advisory,
        _ if check.candidate => Severity::Advisory,
        _ => check.severity,
    };
    let enabled = setting("enabled").and_then(Value::as_bool).unwrap_or(true);
    let judgement = if !enabled {
        Judgement::bare(Verdict::Na, format!("switched off by checks.{}.enabled: false", check.id))
    } else if let Some(failure) = &trace.header.failure {
        Judgement::bare(Verdict::Inconclusive, format!("the run did not get this far: {failure}"))
    } else {
        // A judge reads what a stranger wrote; a defect of ours in one must cost that check alone, and never pass.
        let view = View { trace, surface, check, index };
        catch_unwind(AssertUnwindSafe(|| (check.judge)(&view))).unwrap_or_else(|_| {
            Judgement::bare(
                Verdict::Inconclusive,
                "this check failed on the recording: a defect of sealmark, please report it",
            )
        })
    };
    Judged { check, severity, enabled, judgement }
}
