//! `robust-input` judged from literal traces: for each rule a case that must fail and a near miss that must pass.

use serde_json::json;

use super::{
    super::robust::script::{Script, error, exit, reply, silence},
    *,
};
use crate::model::{EventKind, Outcome};

fn rules(judgement: &Judgement) -> Vec<&'static str> {
    judgement.evidence.iter().map(|line| line.rule).collect()
}

/// `count` calls that are refused as they should be.
fn clean(tools: &[&str], count: usize) -> Script {
    let mut script = Script::new(tools);
    for at in 0..count {
        script.refused(tools[at % tools.len()], &format!("missing:p{at}"), "Invalid arguments: expected string");
    }
    script
}

fn stressed(script: &mut Script, session: u16, variant: &str, alive: Vec<EventKind>) {
    script.then(session, "stress", Role::Stress, None, variant, vec![]);
    script.then(session, "stress", Role::Alive, None, variant, alive);
}

#[test]
fn a_server_that_refuses_everything_passes() {
    let mut script = clean(&["a", "b"], 3);
    script.call("a", "unknown-tool", json!({}), error("Unknown tool"));
    script.then(
        0,
        "invalid-calls",
        Role::Relist,
        None,
        "relist",
        vec![reply(json!({"tools": [{"name": "a"}, {"name": "b"}]}))],
    );
    script.then(0, "invalid-calls", Role::Alive, None, "alive", vec![reply(json!({}))]);
    for variant in ["long-string", "not-json"] {
        stressed(&mut script, 1, variant, vec![reply(json!({}))]);
    }
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:#?}");
    assert_eq!(judgement.summary, "4 of 4 invalid calls refused, 2 stress inputs survived");
    assert_eq!(rules(&judgement), ["robust.refused", "robust.refused", "robust.relist", "robust.survived"]);
}

#[test]
fn a_sign_of_life_that_a_rate_limit_held_back_is_no_death_and_one_that_found_nobody_is() {
    let limit = || EventKind::NotSent { why: "the endpoint limits its rate: HTTP 429".to_owned() };
    let mut script = clean(&["a"], 2);
    stressed(&mut script, 0, "long-string", vec![reply(json!({}))]);
    stressed(&mut script, 0, "not-json", vec![EventKind::Http { status: 429, headers: Vec::new() }, limit()]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:#?}");
    assert!(judgement.summary.contains("1 stress input survived"), "{}", judgement.summary);
    stressed(&mut script, 0, "batch", vec![EventKind::NotSent { why: "connection refused".to_owned() }]);
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
}

#[test]
fn acceptance_is_part_and_more_than_half_is_fail() {
    let mut script = clean(&["a"], 2);
    script.accepted("a", "unknown-key", "done");
    script.accepted("a", "null:x", "done");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Part);
    assert_eq!(judgement.summary, "2 of 4 invalid calls refused, 2 carried out or accepted");
    script.accepted("a", "null:y", "done");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(judgement.evidence[1].observed, "accepted as if it were valid (`x`, `y`)", "one line per tool and kind");
}

#[test]
fn a_plain_text_refusal_is_a_refusal() {
    let mut script = clean(&["a"], 1);
    script.accepted("a", "unknown-tool", "Error: Missing arguments");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert!(rules(&judgement).contains(&"robust.refusal-text"));
    script.accepted("a", "null:x", "Errors found: 0");
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Part);
}

#[test]
fn a_leak_is_part_and_a_path_of_ours_is_none() {
    let mut script = clean(&["a"], 1);
    script.trace.header.placeholders = vec![("/tmp/box/work".to_owned(), "{sandbox}".to_owned())];
    script.refused("a", "null:x", "cannot read /tmp/box/work/a.py:3 as a list");
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
    script.refused("a", "null:y", "TypeError: Cannot read properties of undefined (reading 'split')");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Part);
    assert_eq!(judgement.evidence[0].rule, "robust.leak");
    assert_eq!(judgement.summary, "3 of 3 invalid calls refused, 1 with internals in the refusal");
}

#[test]
fn an_error_after_the_value_was_used_is_leniency() {
    let mut script = clean(&["a"], 1);
    script.call("a", "wrong-type:url", json!({"url": 4242}), error("fetch failed"));
    let judgement = script.judge(&CHECK);
    assert_eq!((judgement.verdict, judgement.evidence[0].rule), (Verdict::Part, "robust.used"));
    let mut script = clean(&["a"], 1);
    script.call("a", "wrong-type:zone", json!({"zone": 4242}), error("zone 4242 not found"));
    assert_eq!(script.judge(&CHECK).evidence[0].rule, "robust.used");
    // Near misses: the unknown tool is not found, and a validator quotes the value.
    let mut script = clean(&["a"], 1);
    script.call("a", "unknown-tool", json!({}), error("No such file or tool"));
    script.call("a", "wrong-type:zone", json!({"zone": 4242}), error("expected string, got 4242; zone not found"));
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
}

#[test]
fn a_file_that_changed_is_evidence_and_a_cache_is_not() {
    let mut script = clean(&["a"], 1);
    let call = script.refused("a", "missing:content", "content is required");
    let changed = |path: &str| EventKind::FileChanged { path: path.to_owned(), change: "created".to_owned() };
    script.happened(call, changed("{sandbox}/__pycache__/x.pyc"));
    script.happened(call, changed("{sandbox_home}/.config/state"));
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
    script.happened(call, changed("{sandbox}/sealmark-probe"));
    let judgement = script.judge(&CHECK);
    assert_eq!((judgement.verdict, judgement.evidence[0].rule), (Verdict::Part, "robust.wrote"));
    assert!(judgement.evidence[0].observed.contains("{sandbox}/sealmark-probe (created)"));
}

#[test]
fn a_hanging_call_fails_and_silence_on_arguments_that_are_no_object_does_not() {
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "arguments-array", vec![silence()]);
    script.then(0, "invalid-calls", Role::Alive, None, "alive", vec![reply(json!({}))]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert_eq!(judgement.summary, "1 of 2 invalid calls refused, 1 met with silence");
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![silence()]);
    script.then(0, "invalid-calls", Role::Alive, None, "alive", vec![reply(json!({}))]);
    let judgement = script.judge(&CHECK);
    assert_eq!((judgement.verdict, judgement.evidence[0].rule), (Verdict::Fail, "robust.hang"));
    assert_eq!(
        judgement.summary,
        "null of `a`: no answer within 5 s; the server answers on (`x`), 1 of 2 invalid calls refused"
    );
    // Silence that the server does not come back from is a hang, whatever was sent.
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "arguments-array", vec![silence()]);
    script.then(0, "invalid-calls", Role::Alive, None, "alive", vec![silence()]);
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
}

#[test]
fn a_crash_is_laid_at_the_call_that_repeats_it() {
    let mut script = clean(&["a"], 1);
    for variant in ["null:x", "null:y"] {
        script.then(0, "invalid-calls", Role::Graded, Some("a"), variant, vec![exit(1)]);
    }
    let refused = || EventKind::Received {
        frame: crate::model::trace::Payload::Text("{}".into()),
        outcome: error("no"),
        schema: vec![],
        sdk: None,
        hits: vec![],
        elapsed_ms: 1,
    };
    script.again(2, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![refused()]);
    script.again(3, "invalid-calls", Role::Graded, Some("a"), "null:y", vec![exit(1)]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let failing: Vec<&Line> = judgement.evidence.iter().filter(|line| line.verdict == Verdict::Fail).collect();
    assert_eq!(failing.len(), 1, "{failing:#?}");
    assert_eq!(
        (failing[0].rule, failing[0].observed.as_str()),
        ("robust.crash", "the server ended instead of an answer (exit code 1) (`y`)")
    );

    // No call ends it alone: the end itself still counts.
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![exit(1)]);
    script.again(2, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![refused()]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert!(judgement.evidence[0].observed.contains("no call repeated alone ends it"));

    // Slow in a row and refused alone is neither hang nor crash.
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![silence()]);
    script.again(2, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![refused()]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert!(rules(&judgement).contains(&"robust.slow"));
}

#[test]
fn the_end_of_a_process_we_closed_is_no_crash() {
    let mut script = clean(&["a"], 1);
    let last = script.refused("a", "null:x", "Invalid");
    script.happened(last, exit(0));
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
}

#[test]
fn tools_that_are_no_longer_listed_fail() {
    for (answer, verdict) in [
        (reply(json!({"tools": [{"name": "a"}]})), Verdict::Pass),
        (reply(json!({"tools": []})), Verdict::Fail),
        (reply(json!({})), Verdict::Fail),
        (silence(), Verdict::Fail),
        (exit(1), Verdict::Fail),
    ] {
        let mut script = clean(&["a"], 1);
        script.then(0, "invalid-calls", Role::Relist, None, "relist", vec![answer.clone()]);
        assert_eq!(script.judge(&CHECK).verdict, verdict, "{answer:?}");
    }
}

#[test]
fn stress_counts_for_survival_only() {
    let mut script = clean(&["a"], 1);
    stressed(&mut script, 1, "not-json", vec![reply(json!({}))]);
    stressed(&mut script, 1, "blank-lines", vec![exit(1)]);
    let judgement = script.judge(&CHECK);
    assert_eq!((judgement.verdict, judgement.evidence[0].rule), (Verdict::Fail, "robust.stress-crash"));
    assert_eq!(judgement.evidence[0].observed, "the server ended (exit code 1) after `blank-lines`");
    let mut script = clean(&["a"], 1);
    stressed(&mut script, 1, "deep-nesting", vec![silence()]);
    assert_eq!(script.judge(&CHECK).evidence[0].rule, "robust.stress-silent");
    // An answer of any kind is a sign of life, and silence on the input itself is no fault.
    let mut script = clean(&["a"], 1);
    script.then(1, "stress", Role::Stress, None, "id-null", vec![silence()]);
    let alive = EventKind::Received {
        frame: crate::model::trace::Payload::Text("{}".into()),
        outcome: error("no ping"),
        schema: vec![],
        sdk: None,
        hits: vec![],
        elapsed_ms: 1,
    };
    script.then(1, "stress", Role::Alive, None, "id-null", vec![alive]);
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
}

#[test]
fn a_stress_culprit_is_named_by_repetition() {
    let mut script = clean(&["a"], 1);
    script.then(0, "stress", Role::Stress, None, "truncated-json", vec![]);
    script.then(0, "stress", Role::Stress, None, "not-json", vec![]);
    script.then(0, "stress", Role::Alive, None, "alive", vec![exit(1)]);
    for (session, variant, alive) in [(1, "truncated-json", reply(json!({}))), (2, "not-json", exit(1))] {
        script.again(session, "stress", Role::Stress, None, variant, vec![]);
        script.again(session, "stress", Role::Alive, None, variant, vec![alive]);
    }
    let judgement = script.judge(&CHECK);
    let failing: Vec<&str> = judgement
        .evidence
        .iter()
        .filter(|line| line.verdict == Verdict::Fail)
        .map(|line| line.observed.as_str())
        .collect();
    assert_eq!(failing, ["the server ended (exit code 1) after `not-json`"]);
    assert!(judgement.evidence.iter().any(|line| line.observed == "1 stress input survived"), "{judgement:#?}");
}

/// Sent alone after a row had fallen.
fn repeated(script: &mut Script, session: u16, variant: &str, alive: EventKind) {
    script.again(session, "stress", Role::Stress, None, variant, vec![]);
    script.again(session, "stress", Role::Alive, None, variant, vec![alive]);
}

#[test]
fn what_a_row_answered_before_it_fell_is_no_evidence() {
    // How far the server came before it fell is a matter of speed: the row accuses none that passes alone, and clears
    // none that falls alone.
    for answered in 0..=2 {
        let mut script = clean(&["a"], 1);
        for (at, variant) in ["long-string", "deep-nesting", "id-null"].into_iter().enumerate() {
            stressed(&mut script, 0, variant, vec![if at < answered { reply(json!({})) } else { exit(1) }]);
        }
        repeated(&mut script, 2, "long-string", reply(json!({})));
        repeated(&mut script, 2, "deep-nesting", exit(1));
        repeated(&mut script, 3, "deep-nesting", exit(1));
        repeated(&mut script, 4, "id-null", reply(json!({})));
        let judgement = script.judge(&CHECK);
        let failing: Vec<&str> = judgement
            .evidence
            .iter()
            .filter(|line| line.verdict == Verdict::Fail)
            .map(|line| line.observed.as_str())
            .collect();
        assert_eq!(failing, ["the server ended (exit code 1) after `deep-nesting`"], "{answered}");
        assert!(judgement.summary.ends_with("2 stress inputs survived"), "{}", judgement.summary);
    }
}

#[test]
fn a_fall_in_a_used_process_is_laid_at_the_input_that_falls_alone() {
    let mut script = clean(&["a"], 1);
    stressed(&mut script, 0, "batch", vec![exit(1)]);
    repeated(&mut script, 2, "batch", exit(1));
    repeated(&mut script, 3, "batch", reply(json!({})));
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(
        judgement.evidence[0].observed,
        "the server ended (exit code 1) after a row of stress inputs, none of which does it alone"
    );
}

#[test]
fn an_end_that_comes_without_any_call_accuses_none() {
    let ends = |script: &mut Script, session| {
        script.then(session, "invalid-calls", Role::Control, None, crate::model::ENDED_BY_ITSELF, vec![]);
    };
    let mut script = clean(&["a"], 1);
    script.then(0, "invalid-calls", Role::Graded, Some("a"), "null:x", vec![exit(1)]);
    script.then(0, "invalid-calls", Role::Relist, None, "tools/list", vec![exit(1)]);
    script.then(2, "invalid-calls", Role::Control, None, "left-alone", vec![exit(1)]);
    ends(&mut script, 0);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:#?}");
    let line = judgement.evidence.iter().find(|line| line.rule == "robust.ended").unwrap();
    assert!(line.observed.contains("(exit code 1)") && line.observed.contains("1 call lost"), "{}", line.observed);
    assert!(judgement.summary.ends_with("; the server ends by itself some time after its start"));
    // It falls in a row of stress inputs too.
    stressed(&mut script, 3, "batch", vec![exit(1)]);
    ends(&mut script, 3);
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
    // A crash elsewhere is still one.
    script.then(4, "invalid-calls", Role::Graded, Some("a"), "null:y", vec![exit(1)]);
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Fail);
}

#[test]
fn what_was_not_sent_is_said_and_nothing_judged_is_inconclusive() {
    let mut script = clean(&["a"], 1);
    script.not_sent(Some("b"), "missing:x", "the server is not ours and the tool is not declared read-only");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert_eq!(
        judgement.summary,
        "1 of 1 invalid call refused; 1 tool left out: the server is not ours and the tool is not declared read-only"
    );
    assert!(rules(&judgement).contains(&"robust.not-sent"));
    let mut script = Script::new(&["a"]);
    script.not_sent(Some("a"), "missing:x", "the server was gone");
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.summary.contains("the server was gone"));
    assert_eq!(Script::new(&["a"]).judge(&CHECK).verdict, Verdict::Inconclusive);
}

#[test]
fn no_tools_and_a_rejected_listing_have_verdicts_of_their_own() {
    assert_eq!(Script::new(&[]).judge(&CHECK).verdict, Verdict::Na);
    let mut script = Script::new(&[]);
    script.surface.tools.rejected = Some("`tools` is not an array".to_owned());
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.summary.ends_with("`tools` is not an array"));
}

#[test]
fn an_http_status_refuses_and_a_server_error_without_a_response_does_not() {
    let mut script = clean(&["a"], 1);
    script.then(
        0,
        "invalid-calls",
        Role::Graded,
        Some("a"),
        "arguments-string",
        vec![EventKind::Http { status: 400, headers: vec![] }],
    );
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Pass);
    script.then(
        0,
        "invalid-calls",
        Role::Graded,
        Some("a"),
        "null:x",
        vec![EventKind::Http { status: 500, headers: vec![] }],
    );
    assert_eq!(script.judge(&CHECK).verdict, Verdict::Part);
}

#[test]
fn an_answer_that_is_neither_is_part() {
    let mut script = clean(&["a"], 1);
    script.call("a", "null:x", json!({}), Outcome::Malformed { why: "both result and error".to_owned() });
    let judgement = script.judge(&CHECK);
    assert_eq!((judgement.verdict, judgement.evidence[0].rule), (Verdict::Part, "robust.malformed"));
}

#[test]
fn evidence_is_bounded_worst_first() {
    let mut script = Script::new(&["a"]);
    for at in 0..100 {
        script.accepted(&format!("tool{at}"), "null:x", "ok");
    }
    script.then(0, "invalid-calls", Role::Graded, Some("zz"), "null:x", vec![exit(1)]);
    let judgement = script.judge(&CHECK);
    assert_eq!(judgement.evidence[0].rule, "robust.crash");
    assert_eq!(judgement.evidence.len(), MAX_LINES + 1);
    assert_eq!(judgement.evidence.last().unwrap().observed, "61 more lines like these");
}
