//! Tests of what is a regression and what is not.

use proptest::prelude::*;

use super::*;
use crate::model::Severity;
use crate::{
    model::PackStatus,
    report::{
        result::Packs,
        sample::{self, check},
    },
};

/// The texts of changes.
fn texts(changes: &[Change]) -> Vec<String> {
    changes.iter().map(Change::line).collect()
}

fn one(before: &RunResult, after: &RunResult) -> ServerComparison {
    let mut comparison = compare(std::slice::from_ref(before), std::slice::from_ref(after));
    assert_eq!(comparison.notes, [] as [String; 0]);
    comparison.servers.remove(0)
}

/// A clean run after a change.
fn after(change: impl FnOnce(&mut RunResult)) -> RunResult {
    let mut run = sample::clean();
    change(&mut run);
    run
}

fn core(run: &mut RunResult) -> &mut PackResult {
    &mut run.packs.0[0].1
}

#[test]
fn a_verdict_that_drops_a_rank_is_a_regression_and_one_that_climbs_an_improvement() {
    let before = after(|run| core(run).checks[1].verdict = Verdict::Part);
    let later = after(|run| {
        core(run).checks[0].verdict = Verdict::Part;
        core(run).checks[2].verdict = Verdict::Fail;
    });
    let found = one(&before, &later);
    assert_eq!(texts(&found.regressions), ["check protocol pass → part", "check robust-input pass → fail"]);
    assert_eq!(texts(&found.improvements), ["check tool-poisoning part → pass"]);
    assert_eq!(found.notes, [] as [String; 0]);
}

#[test]
fn what_has_no_rank_is_noted() {
    let later = after(|run| {
        core(run).checks[0].verdict = Verdict::Inconclusive;
        core(run).checks[1].verdict = Verdict::Na;
    });
    for (found, expected) in [
        (
            one(&sample::clean(), &later),
            ["check protocol: pass then, inconclusive now", "check tool-poisoning: pass then, na now"],
        ),
        (
            one(&later, &sample::clean()),
            ["check protocol: inconclusive then, pass now", "check tool-poisoning: na then, pass now"],
        ),
    ] {
        assert_eq!((found.regressions.len(), found.improvements.len()), (0, 0));
        assert_eq!(found.notes, expected);
    }
}

#[test]
fn advisory_and_candidate_checks_count_as_well() {
    let before = after(|run| core(run).checks.push(check("extra", Verdict::Pass, Severity::Advisory, Vec::new())));
    let mut later = before.clone();
    core(&mut later).checks[4].verdict = Verdict::Fail;
    assert_eq!(texts(&one(&before, &later).regressions), ["check extra pass → fail"]);
}

#[test]
fn a_letter_that_drops_is_a_regression_before_its_checks() {
    let later = after(|run| {
        core(run).grade = Some('B');
        core(run).checks[2].verdict = Verdict::Fail;
    });
    assert_eq!(
        texts(&one(&sample::clean(), &later).regressions),
        ["pack core A → B", "check robust-input pass → fail"]
    );
    assert_eq!(
        texts(&one(&later, &sample::clean()).improvements),
        ["pack core B → A", "check robust-input fail → pass"]
    );
}

#[test]
fn a_provisional_letter_is_noted_and_shown_with_its_star() {
    let later = after(|run| core(run).provisional = true);
    let found = one(&sample::clean(), &later);
    assert_eq!((found.regressions.len(), found.improvements.len()), (0, 0));
    assert!(found.notes[0].starts_with("pack core: A then, A* now (provisional"), "{:?}", found.notes);
    assert!(one(&later, &sample::clean()).notes[0].starts_with("pack core: A* then, A now"));
    let worse = after(|run| core(run).grade = Some('C'));
    assert_eq!(texts(&one(&later, &worse).regressions), ["pack core A* → C"]);
}

#[test]
fn a_pack_that_lost_its_letter_is_one_regression_with_its_reason() {
    let later = after(|run| *run = RunResult { name: run.name.clone(), ..sample::nothing_graded() });
    let found = one(&sample::clean(), &later);
    assert_eq!(texts(&found.regressions), ["pack core A → not graded"]);
    assert_eq!(found.notes, ["no pack was graded now", "pack core is not graded now: tools/list was never answered"]);
    let back = one(&later, &sample::clean());
    assert_eq!((back.regressions.len(), back.improvements.len()), (0, 0));
    assert!(back.notes.contains(&"pack core: not graded then, A now".to_owned()), "{:?}", back.notes);
}

#[test]
fn a_server_that_failed_or_was_interrupted_lost_every_letter() {
    let before = sample::graded();
    let letters = before.packs.0.iter().filter(|(_, pack)| pack.grade.is_some()).count();
    for ended in [sample::failed(), RunResult { packs: Packs::default(), ..sample::interrupted() }] {
        let later = RunResult { name: before.name.clone(), ..ended };
        let found = one(&before, &later);
        assert_eq!(found.regressions.len(), letters, "{:?}", texts(&found.regressions));
        assert!(found.regressions.iter().all(|change| change.after == "not graded"));
        assert_eq!(found.drift, [], "a server that was not seen did not remove its tools");
        assert!(found.notes.iter().any(|note| note.starts_with("what the server offers was not compared")));
    }
    let mut interrupted = sample::interrupted();
    interrupted.name = sample::clean().name;
    assert_eq!(one(&sample::clean(), &interrupted).regressions, [], "what was graded before the signal counts");
}

#[test]
fn a_failed_baseline_makes_nothing_worse() {
    let before = RunResult { name: sample::clean().name, ..sample::failed() };
    let found = one(&before, &sample::clean());
    assert_eq!((found.regressions.len(), found.drift.len()), (0, 0));
    assert!(found.notes[0].starts_with("the run failed then"), "{:?}", found.notes);
}

#[test]
fn new_and_lost_checks_and_packs_are_noted_and_a_lost_letter_is_a_regression() {
    let more = after(|run| {
        core(run).checks.push(check("extra", Verdict::Fail, Severity::Scored, Vec::new()));
        let pack = core(run).clone();
        run.packs.0.push(("db".to_owned(), PackResult { grade: Some('D'), ..pack }));
    });
    let found = one(&sample::clean(), &more);
    assert_eq!((found.regressions.len(), found.improvements.len()), (0, 0));
    assert_eq!(found.notes, ["pack core has new checks: extra (fail)", "pack db is new: D now"]);
    let found = one(&more, &sample::clean());
    assert_eq!(texts(&found.regressions), ["pack db D → not graded"]);
    assert_eq!(found.notes, ["pack core has lost checks: extra (fail then)"]);
    let without = after(|run| {
        let mut pack = core(run).clone();
        (pack.status, pack.grade) = (PackStatus::Na, None);
        run.packs.0.push(("db".to_owned(), pack));
    });
    assert_eq!(one(&without, &sample::clean()), one(&sample::clean(), &sample::clean()).with_pack("db"));
}

impl ServerComparison {
    /// The same with a pack that had no letter.
    fn with_pack(mut self, id: &str) -> Self {
        self.before.get_or_insert_default().insert(id.to_owned(), None);
        self
    }
}

#[test]
fn servers_are_matched_by_name() {
    let named = |name: &str| RunResult { name: name.to_owned(), ..sample::clean() };
    let mut found = compare(&[named("a"), named("gone")], &[named("new"), named("a")]);
    let names: Vec<_> = found.servers.iter().map(|server| (server.name.as_str(), server.before.is_some())).collect();
    assert_eq!(names, [("new", false), ("a", true), ("gone", true)]);
    assert!(!found.regressed() && found.drifted() && !found.unchanged());
    let drift = &found.server("gone").expect("it is told").drift[..];
    assert!(matches!(drift, [Drift { level: DriftLevel::Breaking, kind: "server-removed", .. }]), "{drift:?}");
    found.keep_servers(|name| name != "gone");
    assert!(!found.drifted(), "it was left out on purpose");
    let nothing = compare(&[named("a")], &[named("b")]);
    assert!(nothing.notes[0].starts_with("nothing was compared"), "a renamed server must not pass in silence");
    assert_eq!(compare(&[], &[named("b")]).notes, [] as [String; 0]);
}

#[test]
fn what_limits_a_comparison_is_noted() {
    let later = after(|run| {
        run.config.hash = "f".repeat(64);
        run.config.standard = false;
        run.config.locked.insert("timeout_probe_sec".to_owned(), serde_json::json!(2));
    });
    assert_eq!(
        one(&sample::clean(), &later).notes,
        [
            "STANDARD then, CUSTOM now: the settings may explain what changed",
            "graded with other settings (hash 0123456789ab then, ffffffffffff now): timeout_probe_sec"
        ]
    );
    let other = after(|run| run.config.hash = "e".repeat(64));
    assert_eq!(
        one(&sample::clean(), &other).notes,
        ["graded under another configuration (hash 0123456789ab then, eeeeeeeeeeee now)"]
    );
    let newer = after(|run| {
        run.sealmark.methodology = "1.0".to_owned();
        run.config.hash = "e".repeat(64);
    });
    assert_eq!(one(&sample::clean(), &newer).notes, ["graded by another methodology: 0.3-draft then, 1.0 now"]);
}

#[test]
fn a_hostile_number_of_checks_is_compared_in_no_time() {
    let large = after(|run| {
        core(run).checks =
            (0..20_000).map(|at| check(&format!("c{at}"), Verdict::Pass, Severity::Scored, Vec::new())).collect();
    });
    let began = std::time::Instant::now();
    assert!(compare(std::slice::from_ref(&large), std::slice::from_ref(&large)).unchanged());
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![Verdict::Fail, Verdict::Part, Verdict::Inconclusive, Verdict::Pass, Verdict::Na])
}

fn pack() -> impl Strategy<Value = PackResult> {
    let letter = prop::option::of(prop::sample::select(vec!['A', 'B', 'C', 'D', 'F']));
    let checks = prop::collection::vec((prop::bool::weighted(0.8), verdict()), 4);
    (letter, any::<bool>(), checks).prop_map(|(grade, provisional, checks)| PackResult {
        status: if grade.is_some() { PackStatus::Graded } else { PackStatus::Inconclusive },
        grade,
        provisional,
        checks: (checks.into_iter().enumerate())
            .filter(|(_, (kept, _))| *kept)
            .map(|(at, (_, verdict))| check(&format!("check-{at}"), verdict, Severity::Scored, Vec::new()))
            .collect(),
        ..sample::clean().packs.0.remove(0).1
    })
}

fn run() -> impl Strategy<Value = RunResult> {
    let status = prop::sample::select(vec![Status::Graded, Status::NothingGraded, Status::Failed, Status::Interrupted]);
    (prop::sample::select(vec!["a", "b", "c"]), status, prop::collection::btree_map("[p-r]", pack(), 0..3)).prop_map(
        |(name, status, packs)| RunResult {
            name: name.to_owned(),
            status,
            packs: Packs(packs.into_iter().collect()),
            ..sample::clean()
        },
    )
}

/// Changes of checks alone, turned round.
fn reversed(changes: &[Change]) -> Vec<Change> {
    let of_checks = changes.iter().filter(|change| change.check.is_some());
    let turn =
        |change: &Change| Change { before: change.after.clone(), after: change.before.clone(), ..change.clone() };
    of_checks.map(turn).collect()
}

proptest! {
    #[test]
    fn nothing_is_worse_or_better_than_itself(runs in prop::collection::btree_map("[a-z]", run(), 0..4)) {
        let runs: Vec<_> = runs.into_iter().map(|(name, run)| RunResult { name, ..run }).collect();
        let found = compare(&runs, &runs);
        prop_assert!(!found.regressed() && !found.drifted());
        prop_assert!(found.servers.iter().all(|server| server.improvements.is_empty() && server.drift.is_empty()));
        prop_assert!(found.notes.is_empty());
    }

    #[test]
    fn what_is_worse_one_way_is_better_the_other_way(before in run(), after in run()) {
        let after = RunResult { name: before.name.clone(), ..after };
        let (there, back) = (one(&before, &after), one(&after, &before));
        let only_checks =
            |changes: &[Change]| changes.iter().filter(|change| change.check.is_some()).cloned().collect::<Vec<_>>();
        prop_assert_eq!(only_checks(&there.regressions), reversed(&back.improvements));
        prop_assert_eq!(only_checks(&there.improvements), reversed(&back.regressions));
    }

    #[test]
    fn a_lost_letter_never_passes(before in run(), after in run()) {
        let after = RunResult { name: before.name.clone(), ..after };
        let found = one(&before, &after);
        for (id, pack) in &before.packs.0 {
            let Some(then) = pack.grade else { continue };
            let now = after.packs.0.iter().find(|(other, _)| other == id).and_then(|(_, pack)| pack.grade);
            let worse = now.is_none_or(|now| now > then);
            let said = found.regressions.iter().any(|change| change.pack == *id && change.check.is_none());
            prop_assert_eq!(worse, said);
        }
    }
}
