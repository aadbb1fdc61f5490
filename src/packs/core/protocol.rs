//! `protocol`: valid mcp handshake and tool schemas.

use crate::{
    check::{Check, Explain, Scope, View},
    model::{Judgement, Severity, Verdict},
};

/// The check.
pub static CHECK: Check = Check {
    id: "protocol",
    title: "Valid MCP handshake and tool schemas",
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
    needs: &["handshake", "inventory", "invalid-calls", "no-argument-calls", "stress"],
    judge,
};

fn judge(_view: &View<'_>) -> Judgement {
    Judgement::bare(Verdict::Inconclusive, "not written yet")
}
