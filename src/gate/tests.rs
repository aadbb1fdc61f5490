//! Tests of the gate: what misses it under which `--fail-on`.

use super::*;
use crate::{
    compare::{Offer, ServerComparison},
    report::sample,
};

fn output() -> OutputSettings {
    let request = crate::config::Request { fileless: true, ..crate::config::Request::default() };
    crate::config::resolve(&request).expect("the defaults").settings.output
}

fn on(words: &str) -> FailOn {
    let has = |word: &str| words.split(',').any(|given| given == word);
    FailOn { gate: has("any"), regressions: has("any") || has("regressions"), drift: has("drift") }
}

/// A comparison with this many regressions and one drift of a level.
fn worse(regressions: usize, level: Option<DriftLevel>) -> Comparison {
    let change = Change { pack: "core".into(), check: None, before: "A".into(), after: "B".into() };
    let drift = level.map(|level| Drift {
        level,
        offer: Offer::Tool,
        name: "search".into(),
        kind: "tool-removed",
        detail: "removed".into(),
        text: None,
    });
    let server = ServerComparison {
        name: "toy".into(),
        regressions: vec![change; regressions],
        drift: drift.into_iter().collect(),
        ..ServerComparison::default()
    };
    Comparison { servers: vec![server], notes: Vec::new(), ..Comparison::default() }
}

fn graded(letter: char) -> RunResult {
    let mut run = sample::clean();
    run.packs.0[0].1.grade = Some(letter);
    run
}

fn code(run: &RunResult, fail_on: FailOn, comparison: &Comparison) -> u8 {
    decide(std::slice::from_ref(run), &OutputSettings { fail_on, ..output() }, Some(comparison)).code
}

#[test]
fn each_word_counts_what_it_says_and_combinations_add() {
    for words in
        ["any", "regressions", "drift", "any,regressions", "any,drift", "regressions,drift", "any,regressions,drift"]
    {
        let fail_on = on(words);
        for below in [false, true] {
            for regressed in [false, true] {
                for level in [None, Some(DriftLevel::Info), Some(DriftLevel::Notable), Some(DriftLevel::Breaking)] {
                    let run = graded(if below { 'B' } else { 'A' });
                    let drifted = level.is_some_and(|level| level != DriftLevel::Info);
                    let any = words.contains("any");
                    let missed = (any && below)
                        || ((any || words.contains("regressions")) && regressed)
                        || (words.contains("drift") && drifted);
                    let found = code(&run, fail_on, &worse(usize::from(regressed), level));
                    assert_eq!(found, u8::from(missed), "{words} below {below} regressed {regressed} {level:?}");
                }
            }
        }
    }
}

#[test]
fn the_default_is_the_gate_and_regressions() {
    assert_eq!(output().fail_on, on("any"));
    assert_eq!(decide(&[graded('B')], &output(), None).code, 1);
    assert_eq!(decide(&[graded('A')], &output(), None), Decision::default());
}

#[test]
fn without_the_gate_the_bar_and_inconclusive_packs_do_not_count_and_it_is_said() {
    let mut run = graded('F');
    let mut pack = run.packs.0[0].1.clone();
    (pack.status, pack.grade) = (PackStatus::Inconclusive, None);
    run.packs.0.push(("db".to_owned(), pack));
    let settings = OutputSettings { fail_on: on("regressions"), inconclusive_fails: true, ..output() };
    let decision = decide(std::slice::from_ref(&run), &settings, Some(&worse(0, None)));
    assert_eq!((decision.code, decision.reasons.len()), (0, 0));
    assert_eq!(
        decision.lines,
        [
            "warning: pack db was inconclusive: no scored check could be judged",
            "note: treat_inconclusive_as: fail does not affect the exit code while the gate is off",
            "the gate is off (--fail-on regressions); grades do not affect the exit code",
        ]
    );
    assert_eq!(decision.facts(&settings).fail_under, None, "no report claims a gate that does not count");
    let both = OutputSettings { fail_on: on("any"), inconclusive_fails: true, ..output() };
    assert_eq!(decide(&[run], &both, Some(&worse(0, None))).reasons.len(), 2);
}

#[test]
fn a_gate_that_is_off_leaves_regressions_to_count() {
    let settings = OutputSettings { fail_under: None, ..output() };
    let decision = decide(&[graded('F')], &settings, Some(&worse(1, None)));
    assert_eq!(decision.code, 1);
    assert_eq!(
        decision.lines,
        [
            "the gate is off (--fail-under none); grades do not affect the exit code",
            "1 regression against the baseline: pack core A → B",
        ]
    );
}

#[test]
fn soft_fail_softens_regressions_and_drift_too() {
    let settings = OutputSettings { fail_on: on("any,drift"), soft_fail: true, ..output() };
    let decision = decide(&[graded('B')], &settings, Some(&worse(5, Some(DriftLevel::Breaking))));
    assert_eq!((decision.code, decision.reasons.len()), (0, 3));
    assert_eq!(
        decision.lines[1..],
        [
            "soft-fail: 5 regressions against the baseline: pack core A → B; pack core A → B; pack core A → B; and 2 more",
            "soft-fail: 1 breaking or notable change of what the server offers: tool search: removed",
        ]
    );
}

#[test]
fn a_server_that_failed_and_a_run_without_letters_keep_their_codes() {
    for words in ["any", "regressions", "drift", "regressions,drift"] {
        for soft_fail in [false, true] {
            for comparison in [worse(0, None), worse(1, Some(DriftLevel::Breaking))] {
                let settings = OutputSettings { fail_on: on(words), soft_fail, ..output() };
                let code = |runs: &[RunResult]| decide(runs, &settings, Some(&comparison)).code;
                assert_eq!(code(&[sample::failed()]), 4, "{words}");
                assert_eq!(code(&[sample::nothing_graded()]), 3, "{words}");
                assert_eq!(code(&[graded('A'), sample::nothing_graded(), sample::failed()]), 4, "{words}");
                assert_eq!(code(&[sample::interrupted()]), 4, "half a report never passes");
                assert_eq!(code(&[]), 3, "no report never passes");
            }
        }
    }
}

#[test]
fn a_critical_fail_keeps_its_own_code() {
    let mut run = graded('D');
    run.packs.0[0].1.checks[1].verdict = Verdict::Fail;
    for fail_on in [on("any"), on("regressions")] {
        for regressions in [0, 1] {
            let settings = OutputSettings { fail_on, critical_fail: 9, ..output() };
            assert_eq!(decide(std::slice::from_ref(&run), &settings, Some(&worse(regressions, None))).code, 9);
        }
    }
    let settings = OutputSettings { critical_fail: 9, ..output() };
    assert_eq!(decide(&[graded('B')], &settings, None).code, 1, "a miss without a critical fail is 1");
}

#[test]
fn among_several_every_reason_names_its_server_and_is_short() {
    let runs = [RunResult { name: "web\u{1b}".into(), ..graded('B') }, graded('A')];
    let mut comparison = worse(1, None);
    comparison.servers.push(ServerComparison { name: "x".repeat(1 << 20), ..comparison.servers[0].clone() });
    let decision = decide(&runs, &output(), Some(&comparison));
    assert_eq!(decision.reasons[0], "web\\u{1b}: pack core graded B, which does not meet --fail-under A");
    assert_eq!(decision.reasons[1], "toy: 1 regression against the baseline: pack core A → B");
    assert!(decision.reasons.len() == 3 && decision.reasons.iter().all(|reason| reason.chars().count() < 700));
}

#[test]
fn a_server_without_a_grade_is_named_first_and_hides_no_miss_of_another() {
    let named = |name: &str, run: RunResult| RunResult { name: name.into(), ..run };
    let failed = RunResult { error: Some("it exited with code 3".into()), ..named("delta", sample::failed()) };
    let decision = decide(&[named("web", graded('B')), failed.clone()], &output(), None);
    let miss = "web: pack core graded B, which does not meet --fail-under A";
    assert_eq!(decision.code, 4);
    assert_eq!(decision.reasons, ["delta: it exited with code 3", miss]);
    assert_eq!(decision.lines, [miss], "why it failed was said when it did");
    let nothing = decide(&[named("web", graded('B')), named("none", sample::nothing_graded())], &output(), None);
    assert_eq!((nothing.code, nothing.reasons[0].as_str()), (3, "none: no pack was graded"));
    assert!(nothing.lines.contains(&miss.to_owned()));
    let soft = OutputSettings { soft_fail: true, ..output() };
    assert_eq!(decide(&[named("web", graded('B')), failed], &soft, None).lines, [format!("soft-fail: {miss}")]);
}

#[test]
fn what_was_not_compared_with_a_file_that_was_named_misses_the_gate() {
    let runs = [sample::clean(), RunResult { name: "new".into(), ..sample::clean() }];
    let with = |held: &[usize]| {
        let server = |at: usize| ServerComparison {
            name: runs[at].name.clone(),
            without_grades: !held.contains(&at),
            without_surface: !held.contains(&at),
            ..ServerComparison::default()
        };
        Comparison { servers: vec![server(0), server(1)], held: Some(vec!["old".into()]), ..Comparison::default() }
    };
    let baseline = Some("base.json".into());
    for (words, held, named, missed) in [
        ("any", &[][..], true, true),
        ("drift", &[], true, true),
        ("regressions", &[], false, false),
        ("regressions,drift", &[0], true, false),
    ] {
        let settings = OutputSettings { fail_on: on(words), baseline: baseline.clone().filter(|_| named), ..output() };
        let decision = decide(&runs, &settings, Some(&with(held)));
        assert_eq!(decision.code, u8::from(missed), "{words} {held:?}: {decision:?}");
        assert_eq!(decision.uncompared.len(), if missed { 2 } else { 0 });
    }
    let settings = OutputSettings { fail_on: on("drift"), surface: Some("s.json".into()), ..output() };
    let decision = decide(&runs, &settings, Some(&with(&[0])));
    assert_eq!((decision.code, decision.uncompared), (1, vec!["new".to_owned()]), "a snapshot holds every server");
    let ended = [sample::failed()];
    let servers =
        vec![ServerComparison { name: "broken".into(), without_surface: true, ..ServerComparison::default() }];
    let decision = decide(&ended, &settings, Some(&Comparison { servers, ..Comparison::default() }));
    assert_eq!((decision.code, decision.reasons.len()), (4, 0), "it was not met: that is said already");
}
