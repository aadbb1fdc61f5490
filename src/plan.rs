//! What will run: packs and probes of one server, from settings and registry alone.

use std::collections::BTreeMap;

use serde_json::Value;

mod shares;

pub use shares::{balanced, share};

use crate::{
    check::Pack,
    config::Settings,
    packs,
    probes::{self, Probe},
};

/// One server's plan.
#[derive(Debug)]
pub struct Plan {
    /// The packs to judge, in registry order.
    pub packs: Vec<&'static Pack>,
    /// The probes their enabled checks read, in driving order.
    pub probes: Vec<&'static Probe>,
    /// Effective settings of every check, as the trace's header keeps them.
    pub settings: BTreeMap<String, BTreeMap<String, Value>>,
}

/// Plans a run.
pub fn plan(settings: &Settings) -> Plan {
    let packs: Vec<_> =
        packs::ALL.iter().copied().filter(|pack| settings.packs.iter().any(|id| id == pack.id)).collect();
    let enabled = |id: &str| settings.checks.get(id).is_none_or(|check| check.enabled);
    let needed: Vec<_> = packs
        .iter()
        .flat_map(|pack| pack.checks)
        .filter(|check| enabled(check.id))
        .flat_map(|check| check.needs.iter().copied())
        .collect();
    let probes = probes::ALL.iter().filter(|probe| needed.contains(&probe.id)).collect();
    Plan { packs, probes, settings: check_settings(settings) }
}

/// Plans a look at what a server offers: no pack, and the one probe that lists it.
pub fn survey() -> Plan {
    Plan { packs: Vec::new(), probes: probes::probe("inventory").into_iter().collect(), settings: BTreeMap::new() }
}

fn check_settings(settings: &Settings) -> BTreeMap<String, BTreeMap<String, Value>> {
    let flat = |check: &crate::config::settings::CheckSettings| {
        let mut keys = check.knobs.clone();
        keys.insert("enabled".to_owned(), Value::Bool(check.enabled));
        keys.insert("severity".to_owned(), Value::from(check.severity.as_str()));
        keys
    };
    settings.checks.iter().map(|(id, check)| (id.clone(), flat(check))).collect()
}
