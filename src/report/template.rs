//! The user's own layout for text and Markdown. A template only reads: nothing a server wrote is ever interpreted.

use handlebars::{
    Context, Handlebars, Helper, HelperResult, Output, RenderContext, RenderErrorReason, TemplateErrorReason,
    template::{Template, TemplateElement},
};
use serde_json::{Map, Value, json};

use super::{grade_line::grade_line, json as writer, options::ReportError, result::RunResult, wording};
use crate::{
    config::settings::Format,
    text::{markdown, terminal},
};

/// Fields of a report that are left out when they are empty: a template may ask for them all the same.
const OPTIONAL: [&str; 2] = ["error", "stderrFile"];
/// The same of `server`.
const OPTIONAL_SERVER: [&str; 7] =
    ["url", "headers", "reportedName", "reportedVersion", "protocolVersion", "era", "otherEra"];
/// Characters that Markdown reads inside the JSON of `{{json …}}`.
const MARKDOWN_SPECIAL: &str = "`<>|&@#*_~$![]:^";

/// Whether the template can be used at all, asked before a server is started.
///
/// # Errors
/// It does not parse, or uses what a template may not; the error names its line.
pub fn check_template(name: &str, source: &str) -> Result<(), ReportError> {
    compile(name, source).map(drop)
}

fn compile(name: &str, source: &str) -> Result<Template, ReportError> {
    let fail = |line: Option<usize>, reason: String| ReportError::Template { name: name.to_owned(), line, reason };
    let template =
        Template::compile(source).map_err(|error| fail(error.pos().map(|(line, _)| line), syntax(error.reason())))?;
    refuse(&template).map_err(|(line, reason)| fail(Some(line), reason.to_owned()))?;
    Ok(template)
}

/// Every run through the template, each between its integrity header and the closing sentence.
pub(super) fn render(format: Format, runs: &[RunResult], name: &str, source: &str) -> Result<String, ReportError> {
    let fail = |line: Option<usize>, reason: String| ReportError::Template { name: name.to_owned(), line, reason };
    let template = compile(name, source)?;
    let markdown = format == Format::Markdown;
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(if markdown { markdown::inline } else { terminal::line });
    let special = if markdown { MARKDOWN_SPECIAL } else { "" };
    engine.register_helper(
        "json",
        Box::new(
            move |call: &Helper<'_>,
                  _: &Handlebars<'_>,
                  _: &Context,
                  _: &mut RenderContext<'_, '_>,
                  out: &mut dyn Output| { json_helper(call, special, out) },
        ),
    );
    engine.register_template(name, template);
    let mut pages = Vec::new();
    for run in runs {
        let context = context(run)?;
        let body = engine.render(name, &context).map_err(|error| {
            let reason = match error.reason() {
                RenderErrorReason::MissingVariable(Some(path)) => format!("there is no value {path:?}"),
                RenderErrorReason::MissingVariable(None) => "a value that does not exist is used".to_owned(),
                RenderErrorReason::HelperNotFound(helper) => format!("there is no helper {helper:?}"),
                reason => reason.to_string(),
            };
            fail(error.line_no, terminal::line(&reason))
        })?;
        pages.push(framed(run, body.trim_matches('\n'), markdown));
    }
    Ok(pages.join("\n"))
}

/// What is wrong with a template's syntax, in words; the parser's own list what its grammar could go on with.
fn syntax(reason: &TemplateErrorReason) -> String {
    match reason {
        TemplateErrorReason::MismatchingClosedHelper(opened, closed) => {
            format!("{{{{/{closed}}}}} closes {{{{#{opened}}}}}")
        }
        TemplateErrorReason::InvalidSyntax(said) if said.contains("helper_block_end") => {
            "it cannot be read on from here: a {{#…}} block is not closed, or braces do not match".to_owned()
        }
        TemplateErrorReason::InvalidSyntax(_) => "it cannot be read on from here: check the braces".to_owned(),
        other => terminal::line(&other.to_string()),
    }
}

/// What a template may not do, with the line: write unescaped text, or define and call other templates (which can recurse).
fn refuse(template: &Template) -> Result<(), (usize, &'static str)> {
    for (element, at) in template.elements.iter().zip(&template.mapping) {
        match element {
            TemplateElement::HtmlExpression(_) => {
                return Err((at.0, "{{{…}}} and {{&…}} are not supported: a value is always escaped, write {{…}}"));
            }
            TemplateElement::HelperBlock(block) => {
                for inner in block.template.iter().chain(&block.inverse) {
                    refuse(inner)?;
                }
            }
            TemplateElement::RawString(_) | TemplateElement::Expression(_) | TemplateElement::Comment(_) => {}
            _ => return Err((at.0, "partials and decorators are not supported")),
        }
    }
    Ok(())
}

fn json_helper(call: &Helper<'_>, special: &'static str, out: &mut dyn Output) -> HelperResult {
    let value = call.param(0).ok_or(RenderErrorReason::ParamNotFoundForIndex("json", 0))?;
    if value.is_value_missing() {
        return Err(RenderErrorReason::MissingVariable(value.relative_path().cloned()).into());
    }
    let text = writer::one_line(value.value(), special).map_err(|error| RenderErrorReason::Other(error.to_string()))?;
    out.write(&text)?;
    Ok(())
}

/// The report's fields, with `header`, `standardLabel`, `summary` and `packList` beside them, and the server's name and
/// version also where the rest of what is known of it stands.
fn context(run: &RunResult) -> Result<Value, ReportError> {
    let mut context = serde_json::to_value(run)?;
    if let Some(members) = context.as_object_mut() {
        nulls(members, &OPTIONAL);
        let (name, version) = (json!(run.name), json!(run.version));
        if let Some(server) = members.get_mut("server").and_then(Value::as_object_mut) {
            nulls(server, &OPTIONAL_SERVER);
            server.extend([("name".to_owned(), name), ("version".to_owned(), version)]);
        }
        members.insert("header".to_owned(), json!(wording::header(run)));
        members.insert("standardLabel".to_owned(), json!(wording::label(run)));
        members.insert("summary".to_owned(), json!(grade_line(run)));
        members.insert("packList".to_owned(), pack_list(run)?);
    }
    Ok(context)
}

fn nulls(members: &mut Map<String, Value>, keys: &[&str]) {
    for key in keys {
        members.entry(*key).or_insert(Value::Null);
    }
}

/// Each pack with its id, its letter in full, its fraction and its checks, worst first.
fn pack_list(run: &RunResult) -> Result<Value, ReportError> {
    let mut list = Vec::new();
    for (id, pack) in &run.packs.0 {
        let mut entry = serde_json::to_value(pack)?;
        if let Some(members) = entry.as_object_mut() {
            nulls(members, &["reason"]);
            members.insert("id".to_owned(), json!(id));
            members.insert("letter".to_owned(), json!(wording::letter(pack)));
            members.insert("fraction".to_owned(), json!(wording::fraction(pack)));
            members.insert("remarks".to_owned(), json!(wording::remarks(run, id, pack)));
            let mut checks = serde_json::to_value(wording::worst_first(pack))?;
            let lines = checks
                .as_array_mut()
                .into_iter()
                .flatten()
                .filter_map(|check| check.get_mut("evidence")?.as_array_mut());
            for line in lines.flatten().filter_map(Value::as_object_mut) {
                nulls(line, &["tool", "sent", "received"]);
            }
            members.insert("checks".to_owned(), checks);
        }
        list.push(entry);
    }
    Ok(Value::Array(list))
}

/// The header and the closing sentence, which no template can remove.
fn framed(run: &RunResult, body: &str, markdown: bool) -> String {
    let header = wording::header(run);
    let differences = run.config.standard_diff.iter().map(wording::difference);
    if markdown {
        let lines: String = differences.map(|line| format!("- {}\n", markdown::inline(&line))).collect();
        let gap = if lines.is_empty() { "" } else { "\n" };
        return format!("{}\n\n{lines}{gap}{body}\n\n_{}_\n", markdown::inline(&header), wording::CLOSING);
    }
    let lines: String = differences.map(|line| format!("  {}\n", terminal::line(&line))).collect();
    format!("{}\n{lines}\n{body}\n\n{}\n", terminal::line(&header), wording::CLOSING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn text(source: &str) -> Result<String, ReportError> {
        render(Format::Text, &[sample::graded()], "my.hbs", source)
    }

    #[test]
    fn fields_loops_and_conditions_work() {
        let source = "{{! a comment }}{{server.name}} {{server.transport}} {{standardLabel}} {{summary}}\n\
                      {{#each packList}}{{@index}} {{id}} {{#if letter}}{{letter}} {{fraction}}{{else}}{{reason}}{{/if}}\
                      {{#unless @last}};{{/unless}}\n{{#each checks}}  {{id}}={{verdict}}\n{{/each}}{{/each}}\
                      {{#each server.env}}{{@key}}={{this}}{{/each}}{{#if error}}never{{/if}}\n{{json coverage}}";
        insta::assert_snapshot!(text(source).expect("a template"));
    }

    #[test]
    fn header_and_closing_are_always_there() {
        for format in [Format::Text, Format::Markdown] {
            let out = render(format, &[sample::graded()], "t", "x").expect("a template");
            assert!(out.starts_with("sealmark 0.1.0 · methodology 0.3-draft · CUSTOM"), "{out}");
            assert!(out.contains("timeout"), "{out}");
            assert!(out.trim_end().trim_end_matches('_').ends_with(wording::CLOSING), "{out}");
        }
    }

    #[test]
    fn mistakes_name_the_file_and_the_line() {
        for (source, message) in [
            ("a\n{{nosuch}}", "template my.hbs:2: there is no value \"nosuch\""),
            ("a\nb\n{{#each packList}}\n{{nosuch}}{{/each}}", "template my.hbs:4: there is no value \"nosuch\""),
            ("{{json nosuch}}", "template my.hbs:1: there is no value \"nosuch\""),
            ("{{shout name}}", "template my.hbs:1: there is no helper \"shout\""),
            ("\n{{> other}}", "template my.hbs:2: partials and decorators are not supported"),
            (
                "{{#if name}}\n{{{name}}}{{/if}}",
                "template my.hbs:2: {{{…}}} and {{&…}} are not supported: a value is always escaped, write {{…}}",
            ),
            (
                "{{& name}}",
                "template my.hbs:1: {{{…}}} and {{&…}} are not supported: a value is always escaped, write {{…}}",
            ),
        ] {
            assert_eq!(text(source).expect_err(source).to_string(), message);
        }
        let error = text("a\n{{#if name}}").expect_err("unclosed");
        assert_eq!(
            error.to_string(),
            "template my.hbs:2: it cannot be read on from here: a {{#…}} block is not closed, or braces do not match"
        );
        let error = text("{{#if name}}{{/each}}").expect_err("mismatched");
        assert_eq!(error.to_string(), "template my.hbs:1: {{/each}} closes {{#if}}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn a_servers_text_is_never_interpreted() {
        let run = sample::hostile("{{json packs}} {{{x}}} @octocat [l](u) <b> ```\n::error::x");
        let source = "{{name}}\n{{json name}}\n```\n{{json server}}\n```\n{{#each packList}}{{id}}{{/each}}";
        let markdown = render(Format::Markdown, std::slice::from_ref(&run), "t", source).expect("a template");
        assert!(markdown.contains("`{{json` `packs}}`"), "{markdown}");
        assert_eq!(markdown.matches("```").count(), 2, "{markdown}");
        assert!(!markdown.contains("<b>") && !markdown.contains("\n::"), "{markdown}");
        let text = render(Format::Text, &[run], "t", source).expect("a template");
        assert!(text.contains("{{json packs}} {{{x}}}"), "{text}");
    }

    #[test]
    fn json_reads_back_as_the_same_value() {
        let run = sample::hostile(sample::HOSTILE);
        for format in [Format::Text, Format::Markdown] {
            let out = render(format, std::slice::from_ref(&run), "t", "{{json name}}").expect("a template");
            let line = out.lines().find(|line| line.starts_with('"')).expect("a string");
            assert_eq!(serde_json::from_str::<String>(line).expect("JSON"), run.name);
        }
    }
}
