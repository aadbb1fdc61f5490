//! `robust-input`: malformed input is refused and survived.

use crate::{
    check::{Check, Explain, Scope, View},
    model::{Judgement, Severity, Verdict},
};

/// The check.
pub static CHECK: Check = Check {
    id: "robust-input",
    title: "Malformed input is refused and survived",
    severity: Severity::Scored,
    candidate: false,
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
    needs: &["inventory", "invalid-calls", "stress"],
    judge,
};

fn judge(_view: &View<'_>) -> Judgement {
    Judgement::bare(Verdict::Inconclusive, "not written yet")
}
