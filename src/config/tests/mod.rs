//! The configuration as a whole, from files, variables and flags in a directory of the test's own.

mod errors;
mod hostile;
mod layers;
mod output;
mod servers;
mod standing;

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    ConfigError, FlagValue, Request, Resolved,
    keys::Kind,
    registry::{CheckFacts, KnobFacts, PackFacts, Registry},
    resolve::resolve_with,
};
use crate::model::Severity;

/// An invocation in a fresh directory.
pub(super) struct Case {
    dir: TempDir,
    request: Request,
}

impl Case {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let request = Request { cwd: dir.path().to_owned(), ..Request::default() };
        Self { dir, request }
    }

    /// With a `sealmark.yaml`.
    pub fn yaml(text: &str) -> Self {
        Self::new().file("sealmark.yaml", text)
    }

    /// With a server by flags.
    pub fn started() -> Self {
        Self::new().flag("--start", "server.command", "server-x").flag("--start", "server.args", json!([]))
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn flag(mut self, flag: &'static str, key: &str, value: impl Into<Value>) -> Self {
        self.request.flags.push(FlagValue { flag, key: key.to_owned(), value: value.into() });
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.request.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.request);
        self
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn run(&self) -> Result<Resolved, ConfigError> {
        resolve_with(&self.request, registry())
    }

    pub fn resolve(&self) -> Resolved {
        self.run().unwrap_or_else(|error| panic!("{error} ({:?})", error.hint()))
    }

    pub fn error(&self) -> ConfigError {
        self.run().map(|_| ()).expect_err("a mistake")
    }

    pub fn env_map(&self) -> &BTreeMap<String, String> {
        &self.request.env
    }
}

/// Small and stable: two standard packs, a candidate pack, knobs of every type.
pub(super) fn registry() -> Registry {
    let check = |id, severity, candidate, knobs| CheckFacts { id, title: "A title", severity, candidate, knobs };
    let knob = |key, kind, default, locked| KnobFacts { key, kind, default, locked, help: "A knob." };
    let count = Kind::Integer { min: 0, max: i64::MAX, unit: "" };
    Registry {
        packs: vec![
            PackFacts { id: "core", candidate: false },
            PackFacts { id: "extra", candidate: false },
            PackFacts { id: "trial", candidate: true },
        ],
        checks: vec![
            check("protocol", Severity::Scored, false, vec![knob("limit", count, json!(50), true)]),
            check("secret-echo", Severity::Critical, false, vec![knob("note", Kind::Texts, json!([]), false)]),
            check("audit", Severity::Advisory, false, vec![]),
            check(
                "refusal-quality",
                Severity::Advisory,
                true,
                vec![knob("patterns", Kind::Patterns, json!(["use"]), true)],
            ),
        ],
        methodology: "0.3-draft",
    }
}
