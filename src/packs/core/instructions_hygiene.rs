//! `instructions-hygiene`: instructions name only what the server offers.

use crate::{
    check::{Check, Explain, Scope, View},
    model::{Judgement, Severity, Verdict},
};

/// The check.
pub static CHECK: Check = Check {
    id: "instructions-hygiene",
    title: "Instructions name only what the server offers",
    severity: Severity::Advisory,
    candidate: true,
    scope: Scope::Server,
    since: "0.1-draft",
    explain: Explain {
        what: "",
        why: "",
        verdicts: &[],
        rules: &[],
        probes: &[],
        fix: "",
        false_positives: "",
        false_negatives: "",
        references: &[],
    },
    knobs: &[],
    needs: &["handshake", "inventory"],
    judge,
};

fn judge(_view: &View<'_>) -> Judgement {
    Judgement::bare(Verdict::Inconclusive, "not written yet")
}
