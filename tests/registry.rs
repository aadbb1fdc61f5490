//! The registry's house rules: every check file is registered, described in full, and has recordings that prove it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sealmark::packs;

/// The ids of probes that acts carry.
const PROBES: &[&str] = &["handshake", "inventory", "invalid-calls", "no-argument-calls", "stress"];
const VERDICTS: &[&str] = &["pass", "part", "fail", "inconclusive", "na"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn is_kebab(id: &str) -> bool {
    !id.is_empty()
        && id
            .split('-')
            .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))
}

#[test]
fn every_folder_is_a_pack_and_every_file_a_check() {
    let folders: BTreeSet<_> =
        names(&root().join("src/packs")).into_iter().filter(|name| !name.ends_with(".rs")).collect();
    let packs: BTreeSet<_> = packs::ALL.iter().map(|pack| pack.id.replace('-', "_")).collect();
    assert_eq!(folders, packs, "folders of src/packs (left) and packs::ALL (right)");
    for pack in packs::ALL {
        let folder = root().join("src/packs").join(pack.id.replace('-', "_"));
        for check in pack.checks {
            let stem = check.id.replace('-', "_");
            let found = folder.join(format!("{stem}.rs")).is_file() || folder.join(&stem).join("mod.rs").is_file();
            assert!(found, "{} has no file of its name in {}", check.id, folder.display());
        }
        let registered: BTreeSet<_> = pack.checks.iter().map(|check| check.id.replace('-', "_")).collect();
        for name in names(&folder).into_iter().filter(|name| name != "mod.rs") {
            let path = folder.join(&name);
            let file = if path.is_dir() { path.join("mod.rs") } else { path };
            // A folder without a mod.rs holds the parts of the check whose file stands beside it.
            let Ok(source) = fs::read_to_string(&file) else {
                assert!(folder.join(format!("{name}.rs")).is_file(), "{} belongs to no check", file.display());
                continue;
            };
            let stem = name.trim_end_matches(".rs");
            // A file without a CHECK serves a check of this pack; a file with one must be in the slice.
            assert!(
                !source.contains("pub static CHECK: Check") || registered.contains(stem),
                "src/packs/{}/{name} is not registered",
                pack.id
            );
        }
    }
}

#[test]
fn ids_are_kebab_case_and_never_repeated() {
    let mut seen = BTreeSet::new();
    for (pack, check) in packs::checks() {
        assert!(is_kebab(check.id) && is_kebab(pack.id), "{} {}", pack.id, check.id);
        assert!(seen.insert(check.id), "{} is used twice", check.id);
    }
}

#[test]
fn every_check_is_described_in_full() {
    let mut missing = Vec::new();
    for (_, check) in packs::checks() {
        let explain = &check.explain;
        let texts = [
            ("title", check.title),
            ("since", check.since),
            ("what", explain.what),
            ("why", explain.why),
            ("fix", explain.fix),
            ("false_positives", explain.false_positives),
            ("false_negatives", explain.false_negatives),
        ];
        missing.extend(
            texts.iter().filter(|(_, text)| text.trim().is_empty()).map(|(name, _)| format!("{} {name}", check.id)),
        );
        let lists = [
            ("verdicts", explain.verdicts.len()),
            ("rules", explain.rules.len()),
            ("probes", explain.probes.len()),
            ("references", explain.references.len()),
        ];
        missing.extend(lists.iter().filter(|(_, length)| *length == 0).map(|(name, _)| format!("{} {name}", check.id)));
        let pairs = explain.verdicts.iter().chain(explain.rules).chain(explain.probes);
        missing.extend(
            pairs
                .filter(|(id, text)| id.trim().is_empty() || text.trim().is_empty())
                .map(|_| format!("{} empty pair", check.id)),
        );
        missing.extend(
            check
                .knobs
                .iter()
                .filter(|knob| knob.help.trim().is_empty())
                .map(|knob| format!("{} {}", check.id, knob.key)),
        );
    }
    assert!(missing.is_empty(), "empty: {missing:#?}");
}

#[test]
fn verdict_words_rules_and_probes_are_known() {
    for (_, check) in packs::checks() {
        for (verdict, _) in check.explain.verdicts {
            assert!(VERDICTS.contains(verdict), "{}: {verdict} is no verdict", check.id);
        }
        assert!(!check.needs.is_empty(), "{} reads no probe", check.id);
        for probe in check.needs {
            assert!(PROBES.contains(probe), "{}: {probe} is no probe", check.id);
        }
        let mut rules = BTreeSet::new();
        for (rule, _) in check.explain.rules {
            assert!(rules.insert(rule), "{}: {rule} is explained twice", check.id);
            assert!(rule.split('.').all(is_kebab) && rule.contains('.'), "{}: {rule} is not family.rule", check.id);
        }
    }
}

#[test]
fn every_rule_in_a_check_is_explained() {
    for (pack, check) in packs::checks() {
        let stem = check.id.replace('-', "_");
        let folder = root().join("src/packs").join(pack.id.replace('-', "_"));
        let file = [folder.join(format!("{stem}.rs")), folder.join(&stem).join("mod.rs")]
            .into_iter()
            .find(|path| path.is_file());
        let source = fs::read_to_string(file.unwrap()).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap();
        let explained: BTreeSet<_> = check.explain.rules.iter().map(|(rule, _)| *rule).collect();
        for rule in &explained {
            let family = rule.split('.').next().unwrap();
            for quoted in code.split('"').skip(1).step_by(2) {
                let is_rule = quoted.strip_prefix(family).and_then(|rest| rest.strip_prefix('.')).is_some_and(is_kebab);
                assert!(!is_rule || explained.contains(quoted), "{}: {quoted} is used and not explained", check.id);
            }
        }
    }
}

/// Recordings prove a check in both directions. Judged through the binary, as a user would.
#[test]
fn every_check_has_a_passing_and_a_failing_recording() {
    let dir = root().join("tests/recordings");
    let recordings: Vec<_> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for recording in &recordings {
        let output = Command::new(env!("CARGO_BIN_EXE_sealmark"))
            .arg("judge")
            .arg(recording)
            .args(["--format", "json", "--fail-under", "none"])
            .env_clear()
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{}: {error}: {}", recording.display(), String::from_utf8_lossy(&output.stderr))
        });
        for pack in report["packs"].as_object().unwrap().values() {
            for check in pack["checks"].as_array().unwrap() {
                let id = check["id"].as_str().unwrap().to_owned();
                seen.entry(id).or_default().insert(check["verdict"].as_str().unwrap().to_owned());
            }
        }
    }
    let mut missing = Vec::new();
    for (_, check) in packs::checks() {
        let found = seen.remove(check.id).unwrap_or_default();
        let can_fail = check.explain.verdicts.iter().any(|(verdict, _)| *verdict == "fail");
        let bad = if can_fail { "fail" } else { "part" };
        missing.extend(
            ["pass", bad].into_iter().filter(|word| !found.contains(*word)).map(|word| format!("{}: {word}", check.id)),
        );
    }
    assert!(missing.is_empty(), "no recording in {} gives: {missing:#?}", dir.display());
}
