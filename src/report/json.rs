//! The frozen JSON report, and the JSON writer of every format: what it writes can stand in a CI log as it is.

use std::io;

use serde::Serialize;
use serde_json::{
    Serializer,
    ser::{CompactFormatter, Formatter, PrettyFormatter},
};

use super::{
    options::ReportError,
    result::{RunResult, SCHEMA},
};
use crate::{model::weight::string_end, text::is_hidden};

/// Several servers.
#[derive(Debug, Serialize)]
struct Runs<'a> {
    schema: &'static str,
    runs: &'a [RunResult],
}

/// One run as it is, several as `{"schema", "runs": […]}`.
pub(super) fn render(runs: &[RunResult]) -> Result<Vec<u8>, ReportError> {
    match runs {
        [run] => bytes(run),
        runs => bytes(&Runs { schema: SCHEMA, runs }),
    }
}

/// One run of several, on one line: a merged report of hundreds of servers is made of these without holding them all.
pub fn line(run: &RunResult) -> Result<String, ReportError> {
    one_line(run, "")
}

/// The same of a run and the text that it was read from: copied where it can stand in a CI log, which is nearly always and
/// takes a fraction of the time. Members that this version does not know stay.
pub fn line_from(run: &RunResult, text: &str) -> Result<String, ReportError> {
    match String::from_utf8(without_spaces(text.as_bytes())) {
        Ok(copied) if is_visible(&copied) => Ok(copied),
        _ => line(run),
    }
}

/// A JSON text without the white space between its tokens.
fn without_spaces(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut rest = json;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' => {
                let (string, behind) = tail.split_at(string_end(tail));
                out.push(b'"');
                out.extend_from_slice(string);
                rest = behind;
            }
            other => out.push(*other),
        }
    }
    out.shrink_to_fit();
    out
}

/// The report that holds those lines, each of them made by [`line`] or [`line_from`].
pub fn several<'l>(lines: impl Iterator<Item = &'l str>, out: &mut impl io::Write) -> io::Result<()> {
    write!(out, "{{\"schema\":\"{SCHEMA}\",\"runs\":[")?;
    for (at, line) in lines.enumerate() {
        write!(out, "{}\n{line}", if at > 0 { "," } else { "" })?;
    }
    out.write_all(b"\n]}\n")
}

/// An indented document with a final line feed, fit for a CI log: nothing in it is hidden and nothing a log command.
pub fn bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, ReportError> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Visible { inner: PrettyFormatter::new(), extra: "" }))?;
    out.push(b'\n');
    Ok(out)
}

/// One line, with the ASCII characters in `extra` written as escapes wherever they stand in a string.
pub(super) fn one_line<T: Serialize>(value: &T, extra: &'static str) -> Result<String, ReportError> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Visible { inner: CompactFormatter, extra }))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Writes strings so that nothing in them is hidden and nothing is a log command; a parser reads back the same string.
struct Visible<F> {
    inner: F,
    extra: &'static str,
}

impl<F: Formatter> Formatter for Visible<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Nearly every string: a listing of 30 MiB, or a fleet's report, is written in no time.
        if self.extra.is_empty() && is_plain(fragment.as_bytes()) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut copied = 0;
        for (at, c) in fragment.char_indices() {
            let before = &fragment[..at];
            let command = match c {
                '#' => fragment[at + 1..].starts_with('#'),
                ':' => before.ends_with("section_start") || before.ends_with("section_end"),
                // `www.` and `GH-1` are links in Markdown.
                '.' => !self.extra.is_empty() && ends_with(before, b"www"),
                '-' => !self.extra.is_empty() && ends_with(before, b"gh"),
                _ => false,
            };
            if command || is_hidden(c) || self.extra.contains(c) {
                writer.write_all(&fragment.as_bytes()[copied..at])?;
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
                copied = at + c.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[copied..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_value(writer)
    }
}

/// The same for a text that may hold more than ASCII.
fn is_visible(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !(b' '..=b'~').contains(&byte)) {
        let mut behind = rest[at..].chars();
        if behind.next().is_some_and(is_hidden) {
            return false;
        }
        rest = behind.as_str();
    }
    names_no_command(text.as_bytes())
}

/// Whether nothing in a text is hidden, begins a log command or marks a section; `false` when that takes a closer look.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b' '..=b'~').contains(byte)) && names_no_command(text)
}

fn names_no_command(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"##").is_none()
        && (!text.contains(&b':') || memchr::memmem::find(text, b"section_").is_none())
}

fn ends_with(text: &str, end: &[u8]) -> bool {
    text.len() >= end.len() && text.as_bytes()[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::report::sample;

    #[test]
    fn one_run_is_plain_and_several_are_a_list() {
        let one: Value = serde_json::from_slice(&render(&[sample::clean()]).expect("JSON")).expect("JSON");
        assert_eq!(one["schema"], SCHEMA);
        assert_eq!(one["packs"]["core"]["grade"], "A");
        let two: Value = serde_json::from_slice(&render(&sample::all()).expect("JSON")).expect("JSON");
        assert_eq!(two["runs"].as_array().map(Vec::len), Some(5));
    }

    #[test]
    fn lines_make_the_report_of_the_same_runs() {
        for runs in [sample::all(), vec![sample::hostile(sample::HOSTILE)], Vec::new()] {
            let lines: Vec<String> = runs.iter().map(|run| line(run).expect("JSON")).collect();
            assert!(lines.iter().all(|line| !line.contains('\n')));
            let mut out = Vec::new();
            several(lines.iter().map(String::as_str), &mut out).expect("written");
            let read: Value = serde_json::from_slice(&out).expect("JSON");
            assert_eq!(read["schema"], SCHEMA);
            assert_eq!(serde_json::from_value::<Vec<RunResult>>(read["runs"].clone()).expect("runs"), runs);
        }
    }

    #[test]
    fn a_line_is_copied_from_its_text_or_written_anew() {
        for run in sample::all().into_iter().chain([sample::hostile(sample::HOSTILE)]) {
            let indented = String::from_utf8(render(std::slice::from_ref(&run)).expect("JSON")).expect("UTF-8");
            assert_eq!(line_from(&run, &indented).expect("JSON"), line(&run).expect("JSON"));
        }
        let run = sample::clean();
        let raw = line(&run).expect("JSON");
        let shown = raw.replacen("\"name\":\"", "\"name\": \"… é 漢 \\u202e ", 1);
        assert_eq!(line_from(&run, &shown).expect("JSON"), shown.replacen(": \"", ":\"", 1));
        for planted in ["##[error]", "section_start:1:x", "\u{202e}", "\\u0023# \u{7f}"] {
            let written = raw.replacen("\"name\":\"", &format!("\"name\":\"{planted}"), 1);
            let run: RunResult = serde_json::from_str(&written).expect("a run");
            assert_eq!(line_from(&run, &written).expect("JSON"), line(&run).expect("JSON"), "{planted}");
        }
    }

    #[test]
    fn white_space_goes_and_what_stands_in_strings_stays() {
        let spaced = b"{ \"a b\" :\t[1 , \"c \\\" d\\\\\" ,\r\n{ } ] }\n";
        assert_eq!(without_spaces(spaced), b"{\"a b\":[1,\"c \\\" d\\\\\",{}]}");
        assert_eq!(without_spaces(b"\"never ended \\"), b"\"never ended \\");
    }

    #[test]
    fn a_report_reads_back_as_it_was() {
        for run in sample::all().into_iter().chain([sample::hostile(sample::HOSTILE)]) {
            let bytes = render(std::slice::from_ref(&run)).expect("JSON");
            assert_eq!(serde_json::from_slice::<RunResult>(&bytes).expect("the same shape"), run);
        }
    }

    proptest! {
        #[test]
        fn any_string_reads_back_and_is_visible(text in any::<String>(), tail in "[#\\[:a-z_]{0,12}") {
            let text = format!("{text}{tail}##[x]section_start:1");
            let bytes = bytes(&text).expect("JSON");
            let written = String::from_utf8(bytes.clone()).expect("UTF-8");
            prop_assert!(!written.trim_end_matches('\n').chars().any(is_hidden));
            prop_assert!(!written.contains("##") && !written.contains("section_start:"));
            prop_assert_eq!(serde_json::from_slice::<String>(&bytes).expect("JSON"), text);
        }
    }
}
