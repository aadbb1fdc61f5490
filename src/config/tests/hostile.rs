//! Files that nobody should write.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::Case;
use crate::config::yaml::{Content, parse};

fn message(yaml: &str) -> String {
    Case::yaml(yaml).error().to_string()
}

#[test]
fn deep_nesting_is_refused_early() {
    for deep in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), format!("x: {}", "[".repeat(200))] {
        let error = message(&deep);
        assert!(error.starts_with("sealmark.yaml:1: "), "{}", &error[..error.len().min(200)]);
    }
    let mut block = String::new();
    for depth in 0..400 {
        writeln!(block, "{}a:", " ".repeat(depth)).unwrap();
    }
    assert_eq!(message(&block), "sealmark.yaml:33: nested more than 32 levels deep");
    let json = format!("{}{}", "{\"a\":".repeat(120), "1") + &"}".repeat(120);
    assert_eq!(message(&json), "sealmark.yaml:1: nested more than 32 levels deep");
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    assert_eq!(message(&bomb), "sealmark.yaml:5: more than 50000 values, aliases counted each time");
    // Depth through aliases.
    let mut deep = String::from("a0: &a0 [x]\n");
    for level in 1..60 {
        writeln!(deep, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert!(message(&deep).ends_with("nested more than 32 levels deep"), "{}", message(&deep));
    assert_eq!(message("a: &a [*a]"), "sealmark.yaml:1: an alias inside the value it names");
}

#[test]
fn ordinary_anchors_work() {
    let yaml = "servers:\n  a: { command: x, env: &shared { A: '1', B: &b two } }\n  b: { command: y, env: *shared, args: [*b] }\n";
    let servers = Case::yaml(yaml).resolve().settings.servers;
    assert_eq!(servers[0].env, servers[1].env);
    assert_eq!(servers[1].command, ["y", "two"]);
}

#[test]
fn huge_scalars_are_read_and_cut_in_messages() {
    let long = "x".repeat(500_000);
    let error = message(&format!("jobs: {long}"));
    assert!(error.len() < 300, "{}", error.len());
    assert!(message(&format!("\"{}\": 1", "k".repeat(900))).len() < 300);
    let settings = Case::yaml(&format!("server: {{ command: x, args: [{long}] }}")).resolve().settings;
    assert_eq!(settings.servers[0].command[1].len(), 500_000);
    let braces = "{".repeat(400_000) + &"${A:-".repeat(50);
    assert!(Case::yaml(&format!("server: {{ command: x, args: ['{braces}'] }}")).run().is_err());
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_ordinary() {
    let settings =
        Case::yaml("\u{feff}jobs: 2\r\nserver:\r\n  command: x\r\n  args:\r\n    - a\r\n").resolve().settings;
    assert_eq!((settings.jobs, settings.servers[0].command.as_slice()), (2, &["x".to_owned(), "a".to_owned()][..]));
    assert_eq!(settings.servers[0].line, Some(3));
}

#[test]
fn what_yaml_refuses_is_refused_with_its_line() {
    for (yaml, line) in [
        ("server:\n\tcommand: x", 2),
        ("jobs: 1\nname: \"open", 2),
        ("jobs: 1\n  bad: indent", 2),
        ("a: b: c", 1),
        ("[a, b", 1),
        ("jobs: 1\n---\njobs: 2", 2),
        ("jobs: !!int x", 1),
        ("jobs: !custom 3", 1),
        ("? [a]\n: b", 1),
        ("? {a: b}\n: c", 1),
        ("~: x", 1),
        ("jobs: *nowhere", 1),
        ("jobs: @x", 1),
        ("name: \"\\ud800\"", 1),
    ] {
        let error = Case::yaml(yaml).run().map(|_| ()).expect_err(yaml).to_string();
        let place: u32 = error
            .strip_prefix("sealmark.yaml:")
            .and_then(|rest| rest.split(':').next()?.parse().ok())
            .unwrap_or_default();
        assert!(place >= 1 && place.abs_diff(line) <= 1, "{yaml:?}: {error}");
        assert!(!error.chars().any(char::is_control), "{error:?}");
    }
}

#[test]
fn an_empty_file_is_no_settings() {
    for empty in ["", "\n", "# only a comment\n", "---\n", "---\n...\n", "null", "\u{feff}"] {
        assert!(Case::yaml(empty).run().is_ok(), "{empty:?}");
    }
}

#[test]
fn scalars_are_typed_as_in_yaml_1_2() {
    for (text, expected) in [
        ("yes", Content::Text("yes".to_owned())),
        ("'1'", Content::Text("1".to_owned())),
        ("!!str 1", Content::Text("1".to_owned())),
        ("1", Content::Integer(1, "1".to_owned())),
        ("1.10", Content::Float("1.10".to_owned())),
        ("TRUE", Content::Bool(true, "TRUE".to_owned())),
        ("", Content::Null),
        ("''", Content::Text(String::new())),
        ("99999999999999999999", Content::Float("99999999999999999999".to_owned())),
    ] {
        assert_eq!(parse(text).unwrap().content, expected, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}:,\\-&*!?|>'\"#%@`a0 \\t\\n\\r~<\\\\]{0,80}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_file_makes_the_resolver_panic(text in "(server|servers|checks|output|profiles|tools|: |\\n|  |\\{|\\}|\\[|\\]|, |a|\\$\\{|~){0,24}") {
        let _ = Case::yaml(&text).run();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives_printing(text in any::<String>()) {
        let yaml = format!("server: {{ command: x, args: [{}] }}", serde_json::to_string(&text).unwrap());
        if let Ok(resolved) = Case::yaml(&yaml).run() {
            let printed = crate::config::show(&resolved, true);
            let again = Case::yaml(&printed).resolve();
            prop_assert_eq!(&again.settings.servers[0].command, &resolved.settings.servers[0].command);
        }
    }
}
