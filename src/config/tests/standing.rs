//! STANDARD and CUSTOM.

use serde_json::json;

use super::Case;
use crate::config::{registry::Registry, resolve::resolve_with, settings::Standing};

/// The hash of the test registry's standard profile. It moves only when what is hashed, or how, changes.
const GOLDEN: &str = "433797235cc3d61dbeb943e7181a12f964fd39d1e82bcce65e660c1f291cd78e";

fn standing(yaml: &str) -> Standing {
    Case::yaml(yaml).resolve().settings.standing
}

#[test]
fn the_standard_hash_is_golden() {
    let standing = standing("");
    assert!(standing.standard);
    assert_eq!(standing.hash, GOLDEN, "{:?}", standing.locked);
}

#[test]
fn what_does_not_affect_a_grade_keeps_the_hash() {
    let standard = standing("").hash;
    for benign in [
        "jobs: 3",
        "name: x\nversion: 2",
        "pack_timeout_sec: 10",
        "sandbox: { keep: true, dir: /tmp }",
        "output: { format: [json, sarif], fail_under: none, redact: false, exit_policy: { soft_fail: true, critical_fail: 9 } }",
        "profile: ci",
        "notCovered: { extra: [x] }",
        "server: { command: x, rootless: true, connect_timeout_sec: 9 }",
        "checks: { protocol: { enabled: true, severity: scored, limit: 50 } }",
        "checks: { secret-echo: { note: [changed] } }",
        "checks: { refusal-quality: { severity: advisory } }",
        "timeout_probe_sec: 10",
        "packs: [core, extra]",
        "packs: [trial, extra, core]",
        "tools: { exclude: [] }",
        "profile: mine\nprofiles: { mine: { extends: ci, jobs: 1 } }",
    ] {
        let standing = standing(benign);
        assert!(standing.standard && standing.diff.is_empty(), "{benign}: {:?}", standing.diff);
        assert_eq!(standing.hash, standard, "{benign}");
    }
}

#[test]
fn what_affects_a_grade_makes_the_run_custom_and_is_listed() {
    let standard = standing("").hash;
    for (yaml, lines) in [
        ("timeout_probe_sec: 2", vec!["timeout_probe_sec: standard 10, effective 2  (sealmark.yaml:1)"]),
        ("packs: [core]", vec!["packs: standard [\"core\",\"extra\"], effective [\"core\"]  (sealmark.yaml:1)"]),
        (
            "packs: [core, trial]",
            vec!["packs: standard [\"core\",\"extra\"], effective [\"core\",\"trial\"]  (sealmark.yaml:1)"],
        ),
        ("sandbox: { enabled: false }", vec!["sandbox.enabled: standard true, effective false  (sealmark.yaml:1)"]),
        ("tools: { exclude: [a] }", vec!["tools.exclude: standard [], effective [\"a\"]  (sealmark.yaml:1)"]),
        (
            "tools:\n  overrides:\n    b: { class: url }\n    a: { class: path, params: { path: p } }",
            vec![
                "tools.overrides: standard {}, effective {\"a\":{\"class\":\"path\",\"params\":{\"path\":\"p\"}},\"b\":{\"class\":\"url\"}}  (sealmark.yaml:4, sealmark.yaml:3)",
            ],
        ),
        (
            "checks: { protocol: { enabled: false } }",
            vec!["checks.protocol.enabled: standard true, effective false  (sealmark.yaml:1)"],
        ),
        (
            "checks: { secret-echo: { severity: scored } }",
            vec!["checks.secret-echo.severity: standard \"critical\", effective \"scored\"  (sealmark.yaml:1)"],
        ),
        (
            "checks: { protocol: { limit: 51 } }",
            vec!["checks.protocol.limit: standard 50, effective 51  (sealmark.yaml:1)"],
        ),
        (
            "checks: { refusal-quality: { enabled: false } }",
            vec!["checks.refusal-quality.enabled: standard true, effective false  (sealmark.yaml:1)"],
        ),
        (
            "checks: { refusal-quality: { severity: scored } }",
            vec!["checks.refusal-quality.severity: standard \"advisory\", effective \"scored\"  (sealmark.yaml:1)"],
        ),
        (
            "profile: quick",
            vec![
                "packs: standard [\"core\",\"extra\"], effective [\"core\"]  (profile quick)",
                "timeout_probe_sec: standard 10, effective 2  (profile quick)",
            ],
        ),
        (
            "profile: strict",
            vec![
                "checks.audit.severity: standard \"advisory\", effective \"scored\"  (profile strict)",
                "checks.refusal-quality.severity: standard \"advisory\", effective \"scored\"  (profile strict)",
            ],
        ),
        (
            "profile: paranoid",
            vec![
                "timeout_probe_sec: standard 10, effective 30  (profile paranoid)",
                "checks.audit.severity: standard \"advisory\", effective \"scored\"  (profile paranoid)",
                "checks.refusal-quality.severity: standard \"advisory\", effective \"scored\"  (profile paranoid)",
            ],
        ),
    ] {
        let standing = standing(yaml);
        assert!(!standing.standard, "{yaml}");
        assert_eq!(standing.diff.iter().map(ToString::to_string).collect::<Vec<_>>(), lines, "{yaml}");
        assert_ne!(standing.hash, standard, "{yaml}");
    }
    let flag = Case::new().flag("--timeout-probe", "timeout_probe_sec", 2).resolve().settings.standing;
    assert_eq!(flag.diff[0].to_string(), "timeout_probe_sec: standard 10, effective 2  (flag --timeout-probe)");
}

#[test]
fn an_untouched_candidate_is_not_hashed_and_another_methodology_is() {
    let locked = standing("").locked;
    assert!(!locked.keys().any(|key| key.contains("refusal-quality")), "{locked:?}");
    assert!(
        standing("checks: { refusal-quality: { enabled: false } }")
            .locked
            .contains_key("checks.refusal-quality.enabled")
    );
    assert_eq!(locked["packs"], json!(["core", "extra"]));
    let other = Registry { methodology: "9", ..super::registry() };
    let resolved = resolve_with(&Default::default(), other).unwrap();
    assert_ne!(resolved.settings.standing.hash, standing("").hash);
}

#[test]
fn the_order_of_what_was_written_does_not_move_the_hash() {
    let one = standing("tools: { overrides: { a: { class: path, params: { path: p, url: u } } } }");
    let two = standing("tools: { overrides: { a: { params: { url: u, path: p }, class: path } } }");
    assert_eq!(one.hash, two.hash);
}

#[test]
fn paranoid_counts_inconclusive_packs_as_failing() {
    assert!(Case::yaml("profile: paranoid").resolve().settings.output.inconclusive_fails);
    assert!(!Case::yaml("profile: strict").resolve().settings.output.inconclusive_fails);
}
