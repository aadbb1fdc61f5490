//! What every format owes: stable bytes, and nothing of a server's text that acts.

use proptest::prelude::*;

use super::*;
use crate::{config::settings::Verbosity, text::is_hidden};

const HUMAN: [Format; 3] = [Format::Text, Format::Markdown, Format::Summary];
const EVERY: [Format; 8] = [
    Format::Text,
    Format::Json,
    Format::Markdown,
    Format::Junit,
    Format::Sarif,
    Format::Summary,
    Format::Codequality,
    Format::Sast,
];

fn options(verbosity: Verbosity) -> RenderOptions {
    RenderOptions { verbosity, ..RenderOptions::default() }
}

fn rendered(format: Format, runs: &[RunResult], options: &RenderOptions) -> String {
    String::from_utf8(render(format, runs, options).expect("a report")).expect("UTF-8")
}

/// What may stand in a terminal or a log, whatever the format.
fn assert_harmless(out: &str, what: &str) {
    for (number, line) in out.split('\n').enumerate() {
        let place = format!("{what}, line {}: {}", number + 1, line.chars().take(200).collect::<String>());
        assert!(!line.chars().any(is_hidden), "hidden character in {place:?}");
        assert!(!line.trim_start().starts_with("::"), "command in {place}");
        for marker in ["##[", "##vso[", "section_start:", "section_end:"] {
            assert!(!line.contains(marker), "{marker} in {place}");
        }
    }
}

/// What may stand in Markdown outside of code: no tag but ours, no mention, no link, no image.
fn assert_inert_markdown(out: &str, what: &str) {
    for line in out.lines() {
        let mut outside = String::new();
        let mut rest = line.to_owned();
        for tag in ["<details><summary>", "</summary>", "</details>"] {
            rest = rest.replace(tag, "");
        }
        while let Some(at) = rest.find("<code>") {
            let end = rest[at..].find("</code>").expect("closed") + at;
            assert!(!rest[at + 6..end].replace("<wbr>", "").contains(['<', '>', '|']), "{what}: {line}");
            rest.replace_range(at..end + 7, "");
        }
        for (number, part) in rest.split('`').enumerate() {
            if number % 2 == 0 {
                outside.push_str(part);
            }
        }
        assert!(rest.matches('`').count() % 2 == 0, "{what}: {line}");
        assert!(!outside.contains(['@', '<', '>', '[', ']', '!', '$', '~']), "{what}: {line}");
        assert!(!outside.contains("://") && !outside.to_lowercase().contains("www."), "{what}: {line}");
        assert!(!line.contains("-->") && !line.contains("<!--"), "{what}: {line}");
    }
}

/// Rows of one table have the same number of cells.
fn assert_whole_tables(out: &str) {
    let mut columns = None;
    for line in out.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        assert!(line.ends_with('|'), "{line}");
        let bars = line.matches('|').count();
        assert_eq!(*columns.get_or_insert(bars), bars, "{line}");
    }
}

#[test]
fn the_text_report() {
    insta::assert_snapshot!("text_clean", rendered(Format::Text, &[sample::clean()], &options(Verbosity::Normal)));
    insta::assert_snapshot!("text_graded", rendered(Format::Text, &[sample::graded()], &options(Verbosity::Normal)));
    insta::assert_snapshot!("text_quiet", rendered(Format::Text, &[sample::graded()], &options(Verbosity::Quiet)));
    insta::assert_snapshot!("text_verbose", rendered(Format::Text, &[sample::graded()], &options(Verbosity::Verbose)));
    insta::assert_snapshot!("text_several", rendered(Format::Text, &sample::all(), &options(Verbosity::Quiet)));
}

#[test]
fn the_markdown_report() {
    insta::assert_snapshot!(
        "markdown_graded",
        rendered(Format::Markdown, &[sample::graded()], &options(Verbosity::Normal))
    );
    insta::assert_snapshot!("markdown_several", rendered(Format::Markdown, &sample::all(), &options(Verbosity::Quiet)));
}

#[test]
fn the_summary() {
    let mut missed = options(Verbosity::Normal);
    missed.gate.exit_code = 1;
    missed.gate.reasons = vec!["pack db graded D, which does not meet --fail-under A".to_owned()];
    insta::assert_snapshot!(
        "summary_clean",
        rendered(Format::Summary, &[sample::clean()], &options(Verbosity::Normal))
    );
    insta::assert_snapshot!("summary_graded", rendered(Format::Summary, &[sample::graded()], &missed));
    missed.gate.exit_code = 4;
    missed.gate.reasons = vec!["server broken could not be started".to_owned()];
    insta::assert_snapshot!("summary_failed", rendered(Format::Summary, &[sample::failed()], &missed));
}

#[test]
fn a_failed_run_says_why_once() {
    let mut run = sample::failed();
    run.packs = sample::clean().packs;
    for (_, pack) in &mut run.packs.0 {
        pack.status = crate::report::result::PackStatus::Inconclusive;
        pack.reason = run.error.clone();
        pack.checks.iter_mut().for_each(|check| check.summary = run.error.clone().unwrap_or_default());
    }
    for format in [Format::Text, Format::Summary] {
        let out = rendered(format, std::slice::from_ref(&run), &options(Verbosity::Normal));
        assert_eq!(out.matches("before it answered `initialize`").count(), 1, "{out}");
        assert!(out.contains("PACK core  not graded: the run did not get this far"), "{out}");
    }
}

#[test]
fn a_provisional_letter_is_said_to_miss_an_a_gate() {
    let mut run = sample::clean();
    run.packs.0[0].1.provisional = true;
    let banner = |gate: GateFacts| {
        let out =
            rendered(Format::Summary, std::slice::from_ref(&run), &RenderOptions { gate, ..RenderOptions::default() });
        out.lines().nth(1).expect("a banner").to_owned()
    };
    assert!(banner(GateFacts::default()).contains("GRADED core A*, BUT PROVISIONAL"));
    assert!(
        banner(GateFacts { fail_under: Some('B'), ..GateFacts::default() }).contains("MEETS THE GATE (B): core A*")
    );
    assert!(banner(GateFacts { fail_under: None, ..GateFacts::default() }).contains("(the gate is off)"));
}

#[test]
fn a_run_that_got_worse_where_that_counts_is_not_said_to_pass() {
    let run = sample::clean();
    let banner = |fail_under, worse: &[&str]| {
        let worse = worse.iter().map(|name| (*name).to_owned()).collect();
        let gate = GateFacts { fail_under, worse, ..GateFacts::default() };
        let options = RenderOptions { gate, ..RenderOptions::default() };
        let out = rendered(Format::Summary, std::slice::from_ref(&run), &options);
        out.lines().nth(1).expect("a banner").to_owned()
    };
    assert!(banner(Some('A'), &[&run.name]).contains("MEETS A, BUT WORSE THAN BEFORE: core A"));
    assert!(banner(None, &[&run.name]).contains("WORSE THAN BEFORE: core A"));
    assert!(banner(Some('A'), &["another"]).contains("MEETS THE GATE (A): core A"));
}

#[test]
fn an_inconclusive_pack_that_counts_as_failing_is_named() {
    let mut run = sample::graded();
    run.packs.0.remove(1);
    run.packs.0[0].1.provisional = false;
    run.packs.0.retain(|(_, pack)| !pack.candidate);
    let gate = GateFacts { inconclusive_fails: true, exit_code: 1, ..GateFacts::default() };
    let out = rendered(Format::Summary, &[run], &RenderOptions { gate, ..RenderOptions::default() });
    assert!(out.contains("INCONCLUSIVE: core A · pack fs counts as failing"), "{out}");
}

#[test]
fn the_summary_ignores_verbosity() {
    let run = [sample::graded()];
    let quiet = rendered(Format::Summary, &run, &options(Verbosity::Quiet));
    assert_eq!(quiet, rendered(Format::Summary, &run, &options(Verbosity::Verbose)));
}

#[test]
fn the_junit_report() {
    insta::assert_snapshot!("junit_all", rendered(Format::Junit, &sample::all(), &RenderOptions::default()));
}

#[test]
fn clocks_stand_in_machine_formats_only() {
    let (before, mut after) = (sample::graded(), sample::graded());
    after.started_at = "2027-01-01T00:00:00.000Z".to_owned();
    after.duration_ms = 9_999;
    for format in HUMAN.into_iter().chain([Format::Badge, Format::Shields]) {
        for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
            let of = |run: &RunResult| rendered(format, std::slice::from_ref(run), &options(verbosity));
            assert_eq!(of(&before), of(&after), "{format:?}");
        }
    }
}

#[test]
fn nothing_a_server_wrote_acts_in_any_format() {
    let long = sample::HOSTILE.repeat(40).chars().take(10_000).collect::<String>();
    for text in
        [sample::HOSTILE, &long, "::error::", "##[error]", "| a | b |", "`", "`a``b`", "a|", "\\", "- x", "[INST]"]
    {
        let run = sample::hostile(text);
        for runs in [vec![run.clone()], vec![run, sample::clean()]] {
            for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
                for format in EVERY {
                    assert_harmless(
                        &rendered(format, &runs, &options(verbosity)),
                        &format!("{format:?} of {text:.20}"),
                    );
                }
                let markdown = rendered(Format::Markdown, &runs, &options(verbosity));
                assert_inert_markdown(&markdown, text);
                assert_whole_tables(&markdown);
            }
            assert_harmless(&grade_line(&runs[0]), "grade line");
        }
    }
}

#[test]
fn nothing_a_server_wrote_reaches_a_badge() {
    let text = "SERVERTEXT";
    let mut run = sample::hostile(text);
    run.config.standard = true;
    run.packs.0[0].1.provisional = false;
    run.badge.eligible = true;
    for format in [Format::Badge, Format::Shields] {
        assert!(!rendered(format, std::slice::from_ref(&run), &RenderOptions::default()).contains(text));
    }
}

#[test]
fn colours_are_the_only_control_characters() {
    let colored = RenderOptions { color: true, verbosity: Verbosity::Verbose, ..RenderOptions::default() };
    for format in [Format::Text, Format::Summary] {
        let out = rendered(format, &[sample::hostile(sample::HOSTILE)], &colored);
        assert!(out.contains("\u{1b}[1;31m"));
        let mut plain = out.clone();
        for code in ["0", "1", "2", "32", "33", "1;31"] {
            plain = plain.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_harmless(&plain, "coloured");
    }
    let out = rendered(Format::Markdown, &[sample::graded()], &colored);
    assert!(!out.contains('\u{1b}'));
}

#[test]
fn lines_keep_to_the_width_where_words_allow() {
    use unicode_width::UnicodeWidthStr;
    let narrow = RenderOptions { width: 60, verbosity: Verbosity::Verbose, ..RenderOptions::default() };
    for format in [Format::Text, Format::Summary] {
        // The header is one line whatever the width.
        for line in rendered(format, &[sample::graded()], &narrow).lines().skip(1) {
            // A table's leading columns are as wide as their cells; only the last one wraps.
            assert!(line.width() <= 76, "{line}");
        }
    }
}

#[test]
fn five_thousand_tools_are_rendered_in_no_time() {
    let run = [sample::large(5_000)];
    let started = std::time::Instant::now();
    for format in EVERY {
        let out = rendered(format, &run, &options(Verbosity::Normal));
        assert!(
            format == Format::Summary
                || format == Format::Junit
                || format == Format::Sarif
                || format == Format::Codequality
                || format == Format::Sast
                || out.contains("tool_4999")
        );
    }
    // Unoptimised and on a shared machine: optimised it takes a fraction of the 200 ms that it may take.
    eprintln!("eight formats of 5 000 tools: {:?}", started.elapsed());
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text_is_harmless_everywhere(text in "[a-z0-9:#\\[\\]|`<>@!*_~$&^=+{}() \\\\\n\r\t\u{1b}\u{202e}\u{feff}.-]{1,60}") {
        let run = [sample::hostile(&text)];
        for format in EVERY {
            assert_harmless(&rendered(format, &run, &options(Verbosity::Verbose)), &text);
        }
        let markdown = rendered(Format::Markdown, &run, &options(Verbosity::Verbose));
        assert_inert_markdown(&markdown, &text);
        assert_whole_tables(&markdown);
    }

    #[test]
    fn any_text_can_be_read_back_from_machine_formats(text in any::<String>()) {
        let run = [sample::hostile(&text)];
        for format in [Format::Json, Format::Sarif, Format::Codequality, Format::Sast] {
            let out = render(format, &run, &RenderOptions::default()).expect("a report");
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
        }
        let junit = rendered(Format::Junit, &run, &RenderOptions::default());
        prop_assert!(quick_junit::Report::deserialize_from_str(&junit).is_ok());
    }
}

/// Files for `tests/validators/`, which asks other programs about them.
#[test]
#[ignore = "writes target/report-samples"]
fn write_samples() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-samples");
    std::fs::create_dir_all(&folder).expect("a folder");
    let hostile = sample::hostile(sample::HOSTILE);
    let fleet = (0..40).map(|number| RunResult { name: format!("shop-{number}"), ..sample::graded() }).collect();
    let place = Place { path: "src/query tool.ts".to_owned(), line: 12 };
    let places =
        Places { registered: [(("shop-1".to_owned(), "query".to_owned()), place)].into(), ..Places::default() };
    let options = RenderOptions { places, ..RenderOptions::default() };
    for (name, runs) in [
        ("several", several()),
        ("clean", vec![sample::clean()]),
        ("hostile", vec![hostile]),
        ("large", vec![sample::large(5_000)]),
        ("fleet", fleet),
    ] {
        for (format, end) in [
            (Format::Sarif, "sarif"),
            (Format::Junit, "junit.xml"),
            (Format::Json, "json"),
            (Format::Codequality, "codequality.json"),
            (Format::Sast, "sast.json"),
        ] {
            std::fs::write(folder.join(format!("{name}.{end}")), rendered(format, &runs, &options)).expect("a file");
        }
    }
}

/// One run of each status, under different names as in a configuration.
fn several() -> Vec<RunResult> {
    let mut runs = sample::all();
    for (number, run) in runs.iter_mut().enumerate() {
        run.name = format!("{}-{number}", run.name);
    }
    runs
}
