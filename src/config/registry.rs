//! The one place where the configuration looks at the registry: packs, checks and their knobs as settings.

use serde_json::{Value, json};

use crate::{
    check::{KnobDefault, Pack},
    model::Severity,
};

use super::keys::{Kind, SEVERITIES};

/// Knobs whose texts are regular expressions.
const PATTERN_KNOBS: &[(&str, &str)] = &[("refusal-quality", "patterns"), ("instructions-hygiene", "deny")];

/// What the configuration needs to know of the registry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    /// In report order.
    pub packs: Vec<PackFacts>,
    /// In report order.
    pub checks: Vec<CheckFacts>,
    /// The methodology's id.
    pub methodology: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct PackFacts {
    pub id: &'static str,
    pub candidate: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct CheckFacts {
    pub id: &'static str,
    pub title: &'static str,
    pub severity: Severity,
    /// Not part of the standard hash unless it was changed.
    pub candidate: bool,
    pub knobs: Vec<KnobFacts>,
}

#[derive(Debug, Clone)]
pub(crate) struct KnobFacts {
    pub key: &'static str,
    pub kind: Kind,
    pub default: Value,
    pub locked: bool,
    pub help: &'static str,
}

impl Registry {
    /// This build's registry.
    pub fn built_in() -> Self {
        Self::of(crate::packs::ALL, crate::packs::METHODOLOGY)
    }

    /// Any registry.
    pub fn of(packs: &[&'static Pack], methodology: &'static str) -> Self {
        let checks = packs.iter().flat_map(|pack| {
            pack.checks.iter().map(|check| CheckFacts {
                id: check.id,
                title: check.title,
                severity: check.severity,
                candidate: check.candidate || pack.candidate,
                knobs: check
                    .knobs
                    .iter()
                    .map(|knob| {
                        let (kind, default) = match knob.default {
                            KnobDefault::Integer(number) => {
                                (Kind::Integer { min: 0, max: i64::MAX, unit: "" }, json!(number))
                            }
                            KnobDefault::Texts(texts) if PATTERN_KNOBS.contains(&(check.id, knob.key)) => {
                                (Kind::Patterns, json!(texts))
                            }
                            KnobDefault::Texts(texts) => (Kind::Texts, json!(texts)),
                        };
                        KnobFacts { key: knob.key, kind, default, locked: knob.locked, help: knob.help }
                    })
                    .collect(),
            })
        });
        Self {
            packs: packs.iter().map(|pack| PackFacts { id: pack.id, candidate: pack.candidate }).collect(),
            checks: checks.collect(),
            methodology,
        }
    }

    /// Every pack's id.
    pub fn pack_ids(&self) -> Vec<&'static str> {
        self.packs.iter().map(|pack| pack.id).collect()
    }

    /// The packs of the published methodology.
    pub fn standard_packs(&self) -> Vec<&'static str> {
        self.packs.iter().filter(|pack| !pack.candidate).map(|pack| pack.id).collect()
    }
}

/// The severity with that word.
pub(crate) fn severity(word: &str) -> Option<Severity> {
    debug_assert!(SEVERITIES.len() == 3);
    [Severity::Critical, Severity::Scored, Severity::Advisory].into_iter().find(|severity| severity.as_str() == word)
}
