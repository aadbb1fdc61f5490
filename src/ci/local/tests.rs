//! Files that are appended to, and those that cannot be.

use std::fs;

use super::*;
use crate::{
    ci::{BadgePlace, Context, Options, When},
    compare::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison},
    gate::Decision,
    model::{Severity, Verdict},
    report::{GateFacts, RunResult, sample},
};

fn options() -> Options {
    Options {
        comment: When::Auto,
        comment_key: "sealmark".to_owned(),
        upload_sarif: false,
        annotations: true,
        summary: true,
        badge: BadgePlace::Off,
        artifact_name: "sealmark-report".to_owned(),
        baseline_job: None,
    }
}

fn decision(code: u8, reasons: &[&str]) -> Decision {
    let reasons: Vec<String> = reasons.iter().map(|reason| (*reason).to_owned()).collect();
    Decision { code, lines: reasons.clone(), reasons, ..Decision::default() }
}

fn github(dir: &Path) -> Context {
    Context {
        platform: Platform::GitHub,
        summary_file: Some(dir.join("summary")),
        output_file: Some(dir.join("output")),
        workspace: Some("/w".into()),
        directory: Some("packages/api".to_owned()),
        ..Context::default()
    }
}

/// Everything local of some runs.
fn run(context: &Context, runs: &[RunResult], comparison: Option<&Comparison>, decision: &Decision) -> Local {
    let (options, gate) = (options(), GateFacts { exit_code: decision.code, ..GateFacts::default() });
    let publication = Publication {
        context,
        runs,
        comparison,
        no_baseline: None,
        decision,
        gate: &gate,
        options: &options,
        unpublished: false,
    };
    local(&publication, Some("# Grades\n"), &Written::default())
}

#[test]
fn summary_and_outputs_are_appended_to_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("summary"), "another step").unwrap();
    let done = run(&github(dir.path()), &[sample::clean()], None, &decision(0, &[]));
    assert!(done.notices.iter().all(|notice| !notice.failed()), "{:?}", done.notices);
    assert_eq!(fs::read_to_string(dir.path().join("summary")).unwrap(), "another step\n# Grades\n");
    let outputs = fs::read_to_string(dir.path().join("output")).unwrap();
    assert!(outputs.starts_with("grade=A\ngrades={\"toy\":{\"core\":\"A\""), "{outputs}");
    assert!(outputs.contains("\nregressions=\ndrift=\n") && outputs.contains("\nexit-code=0\n"), "{outputs}");
}

#[test]
fn a_summary_never_grows_beyond_what_github_takes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("summary");
    append(&file, &vec![b'a'; (1 << 20) - 1], SUMMARY).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().len(), 1 << 20);
    let done = run(&github(dir.path()), &[sample::clean()], None, &decision(0, &[]));
    let notice = done.notices.iter().find(|notice| notice.failed()).unwrap().line();
    assert!(notice.contains("more than 1024 KiB"), "{notice}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 1 << 20, "nothing was added");
}

#[test]
fn files_that_cannot_be_written_are_notices() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for place in [dir.path().to_owned(), dir.path().join("no/such/dir"), fifo] {
        let context =
            Context { summary_file: Some(place.clone()), output_file: Some(place.clone()), ..github(dir.path()) };
        let done = run(&context, &[sample::clean()], None, &decision(0, &[]));
        let lines: Vec<String> = done.notices.iter().filter(|notice| notice.failed()).map(Notice::line).collect();
        assert_eq!(lines.len(), 2, "{}: {lines:?}", place.display());
        assert!(lines[0].starts_with("warning: the job summary was not written: "), "{lines:?}");
        assert!(lines[1].starts_with("warning: the outputs were not written: "), "{lines:?}");
        assert!(!done.annotations.is_empty());
    }
}

#[test]
fn gitlab_gets_a_dotenv_report_and_no_commands() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sealmark-report/grades.env");
    let context = Context { platform: Platform::GitLab, ..Context::default() };
    let (options, gate, decision) = (options(), GateFacts::default(), decision(1, &["x"]));
    let runs = [sample::graded()];
    let publication = Publication {
        context: &context,
        runs: &runs,
        comparison: None,
        no_baseline: None,
        decision: &decision,
        gate: &gate,
        options: &options,
        unpublished: false,
    };
    let done = local(&publication, Some("x"), &Written { dotenv: Some(&file), exit_code: 1, ..Written::default() });
    assert_eq!(done, Local::default());
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, "SEALMARK_GRADE=D\nSEALMARK_EXIT_CODE=1\nSEALMARK_BADGE_ELIGIBLE=false\n");
}

#[test]
fn the_summary_comes_first_and_the_nine_worst_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let context = github(dir.path());
    let mut many = sample::graded();
    let pack = &mut many.packs.0[0].1;
    pack.checks = (0..20)
        .map(|at| {
            let severity = if at == 19 { Severity::Critical } else { Severity::Scored };
            let verdict = if at % 2 == 0 { Verdict::Part } else { Verdict::Fail };
            sample::check(&format!("check-{at}"), verdict, severity, Vec::new())
        })
        .collect();
    many.packs.0.truncate(1);
    let lines = run(&context, &[many.clone()], None, &decision(1, &["pack core graded C"])).annotations;
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("::error title=sealmark%3A the gate is missed::"), "{}", lines[0]);
    assert!(lines[0].contains("pack core graded C") && lines[0].contains("11 more findings"), "{}", lines[0]);
    let place = "::error file=packages/api/conf/sealmark.yaml,line=7,title=";
    assert!(lines[1].starts_with(place) && lines[1].contains("core/check-19 failed"), "{}", lines[1]);
    assert!(lines[2..].iter().all(|line| line.contains(" failed::")), "{lines:#?}");
    // Said by two servers of one name: once.
    let twice = run(&context, &[many.clone(), many], None, &decision(1, &[])).annotations;
    assert_eq!(twice[1..], lines[1..]);
    // Let pass: nothing is an error.
    let soft = run(&context, &[sample::graded()], None, &decision(0, &["pack core graded C"])).annotations;
    assert!(soft.iter().all(|line| !line.starts_with("::error")), "{soft:#?}");
    assert!(soft[0].starts_with("::warning title=sealmark%3A the gate is missed%2C and that is let pass::"));
}

#[test]
fn a_clean_run_says_one_thing_and_a_failed_one_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let context = github(dir.path());
    let clean = run(&context, &[sample::clean()], None, &decision(0, &[])).annotations;
    assert_eq!(clean.len(), 1);
    assert!(clean[0].starts_with("::notice title=sealmark%3A the gate is met::toy: core A"), "{}", clean[0]);
    let failed = run(&context, &[sample::failed()], None, &decision(4, &[])).annotations;
    assert!(failed[1].contains("could not be graded"), "{failed:#?}");
    let gitea = Context { platform: Platform::Gitea, ..context };
    assert!(run(&gitea, &[sample::clean()], None, &decision(0, &[])).annotations.is_empty());
}

#[test]
fn regressions_and_breaking_changes_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut now = sample::clean();
    for (at, check) in now.packs.0[0].1.checks.iter_mut().enumerate() {
        check.verdict = if at == 0 || at == 2 { Verdict::Fail } else { Verdict::Pass };
    }
    let change = Change {
        pack: "core".to_owned(),
        check: Some("robust-input".to_owned()),
        before: "pass".to_owned(),
        after: "fail".to_owned(),
    };
    let drift = |level, name: &str| Drift {
        level,
        offer: Offer::Tool,
        name: name.to_owned(),
        kind: "tool-removed",
        detail: "the tool is gone".to_owned(),
        text: None,
    };
    let server = ServerComparison {
        name: "toy".to_owned(),
        regressions: vec![change],
        drift: vec![drift(DriftLevel::Breaking, "add"), drift(DriftLevel::Notable, "echo")],
        ..ServerComparison::default()
    };
    let comparison = Comparison { servers: vec![server], notes: Vec::new(), ..Comparison::default() };
    let lines = run(&github(dir.path()), &[now], Some(&comparison), &decision(1, &[])).annotations;
    assert!(lines[0].contains("1 regression, 1 breaking change"), "{}", lines[0]);
    assert!(lines[1].contains("robust-input failed%2C a regression::"), "{lines:#?}");
    assert!(lines[2].contains("core/protocol failed::"), "{lines:#?}");
    assert!(lines[3].starts_with("::warning ") && lines[3].ends_with("breaking change of add::the tool is gone"));
    assert_eq!(lines.len(), 4, "a notable change is no annotation");
    let outputs = fs::read_to_string(dir.path().join("output")).unwrap();
    assert!(outputs.contains("\nregressions=1\ndrift=2\n"), "{outputs}");
}

#[test]
fn untrusted_text_stays_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut hostile = sample::hostile(sample::HOSTILE);
    hostile.config.path = Some("a,line=1::x.yaml".to_owned());
    let code = decision(1, &[sample::HOSTILE]);
    for line in run(&github(dir.path()), &[hostile.clone(), sample::graded()], None, &code).annotations {
        let head = line.strip_prefix("::").unwrap().split("::").next().unwrap();
        assert!(["error ", "warning ", "notice "].iter().any(|level| head.starts_with(level)), "{line}");
        let names = head.split_once(' ').unwrap().1.split(',').map(|pair| pair.split('=').next().unwrap());
        assert!(names.into_iter().all(|name| ["file", "line", "title"].contains(&name)), "{line}");
        assert!(!line.contains("##[") && !line.contains("##vso[") && !line.contains("section_start:"), "{line}");
        assert!(!line.chars().any(crate::text::is_hidden), "{line}");
    }
    let outputs = fs::read_to_string(dir.path().join("output")).unwrap();
    assert!(outputs.lines().all(|line| line.contains('=')), "{outputs}");
    assert_eq!(outputs.lines().count(), 9, "{outputs}");
}
