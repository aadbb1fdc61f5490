//! Reports from disk: untrusted, so bounded before they are parsed and checked before anybody uses them.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, Metadata},
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::read_error::{FileError, ReadError};
use crate::{
    files,
    model::weight::{Weight, weigh},
    report::{
        self,
        result::{PackResult, PackStatus, RunResult, SCHEMA, Status},
    },
    text::excerpt,
};

/// Largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;
/// Most runs in one invocation.
pub const MAX_RUNS: usize = 1000;
/// Most memory that the values of one file may come to, in bytes and estimated high.
const MAX_MEMORY: u64 = 2 << 30;
/// Deepest nesting: what a message of a server may have (128) and what a report puts around it, with room to spare.
const MAX_DEPTH: u32 = 160;
/// Most threads that read one file.
const MAX_WORKERS: usize = 4;
/// How much of a file's text is read and given back at a time, in bytes.
const GIVEN_BACK: usize = 16 << 20;
/// Longest quotation of a file in a message, in characters.
const QUOTED: usize = 200;
/// Before the version of a report's schema.
const FAMILY: &str = "sealmark.report/";

/// Reads the report in a file: one run, or a list of them.
///
/// # Errors
/// Anything but a report of this version in a regular file.
pub fn read_file(path: &Path) -> Result<Vec<RunResult>, FileError> {
    read_as(path, &|run, _| run, workers())
}

/// Reads the reports in some files side by side, keeping of each run what `keep` makes of it and of its text; each file's
/// outcome is that of [`read_file`], in the order of the paths.
pub fn read_each<T: Send>(paths: &[PathBuf], keep: &Keep<'_, T>) -> Vec<Result<Vec<T>, FileError>> {
    match paths {
        [path] => vec![read_as(path, keep, workers())],
        // Threads within threads would only wait for one another.
        paths => side_by_side(paths, workers(), |_, path| read_as(path, keep, 1)),
    }
}

fn read_as<T: Send>(path: &Path, keep: &Keep<'_, T>, workers: usize) -> Result<Vec<T>, FileError> {
    let read = || read_owned(String::from_utf8(bytes(path)?).map_err(|_| not_utf8())?, keep, workers);
    read().map_err(|why| FileError { path: path.to_owned(), why })
}

/// As many threads as there are processors.
fn workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS)
}

/// What is kept of a run; called on several threads.
pub type Keep<'k, T> = dyn Fn(RunResult, &str) -> T + Sync + 'k;

/// Reads several files as one list of runs.
///
/// # Errors
/// The first file that cannot be read, holds a server that an earlier one held, was graded by another methodology, or makes
/// them too many.
pub fn read_files<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<RunResult>, FileError> {
    let mut all: Vec<RunResult> = Vec::new();
    let mut from: HashMap<String, &Path> = HashMap::new();
    for path in paths {
        let path = path.as_ref();
        let refuse = |why| Err(FileError { path: path.to_owned(), why });
        for run in read_file(path)? {
            if let Some(first) = from.insert(run.name.clone(), path) {
                let name = excerpt(&run.name, QUOTED);
                return refuse(ReadError::InAnother { name, first: first.to_owned() });
            }
            all.push(run);
        }
        one_methodology(&all).map_err(|why| FileError { path: path.to_owned(), why })?;
        if all.len() > MAX_RUNS {
            return refuse(ReadError::TooManyRuns(all.len()));
        }
    }
    Ok(all)
}

/// Reads a report: one run, or `{"runs": […]}`. Members that this version does not know are left aside.
///
/// # Errors
/// Anything but a report of this version, of at most [`MAX_RUNS`] servers with distinct names.
pub fn read_reports(bytes: &[u8]) -> Result<Vec<RunResult>, ReadError> {
    read_owned(str::from_utf8(bytes).map_err(|_| not_utf8())?.to_owned(), &|run, _| run, workers())
}

/// Reads the runs side by side, giving back their text from its end: a fleet's text and values are not held at once.
fn read_owned<T: Send>(mut text: String, keep: &Keep<'_, T>, workers: usize) -> Result<Vec<T>, ReadError> {
    let Some(mut places) = places(&text)? else {
        let text = unmarked(&text);
        bounded(&weigh(text.as_bytes()))?;
        return Ok(vec![keep(run(text, "")?, text)]);
    };
    let (mut memory, mut runs) = (0, Vec::with_capacity(places.len()));
    while let Some(last) = places.last() {
        let from = places.partition_point(|place| place.start + GIVEN_BACK < last.end).min(places.len() - 1);
        let read = side_by_side(&places[from..], workers, |at, place| listed(&text[place.clone()], from + at, keep));
        for listed in read.into_iter().rev() {
            let (weight, name, kept) = listed?;
            memory += weight.bytes;
            bounded(&Weight { bytes: memory, ..weight })?;
            runs.push((name, kept));
        }
        text.truncate(places[from].start);
        text.shrink_to_fit();
        places.truncate(from);
    }
    distinct(runs.iter().rev().map(|(name, _)| name.as_str()))?;
    Ok(runs.into_iter().rev().map(|(_, kept)| kept).collect())
}

/// Does the work on each item, on that many threads; the results stand in the order of the items.
fn side_by_side<I: Sync, T: Send>(items: &[I], workers: usize, work: impl Fn(usize, &I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(at, item)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..workers.min(items.len())).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A text that is too heavy to be parsed is not.
fn bounded(weight: &Weight) -> Result<(), ReadError> {
    match weight {
        _ if weight.bytes > MAX_MEMORY => Err(ReadError::TooHeavy),
        _ if weight.depth > MAX_DEPTH => Err(ReadError::TooDeep(weight.depth)),
        _ => Ok(()),
    }
}

/// Where the runs of a list stand; `None` when the document is one run. Everything that can be told without reading the runs
/// themselves has been checked.
fn places(whole: &str) -> Result<Option<Vec<Range<usize>>>, ReadError> {
    if whole.len() as u64 > MAX_BYTES {
        return Err(ReadError::TooLarge);
    }
    let text = unmarked(whole);
    match text.trim_start().chars().next() {
        None => return Err(ReadError::NotJson("it is empty".to_owned())),
        Some('{') => {}
        Some(other) => return Err(ReadError::NotJson(format!("it begins with {other:?} and not with `{{`"))),
    }
    // One pass for a list; what is none, or is broken, is looked at again for what is wrong with it.
    let (outside, runs) = match parse::<Listed<'_>>(text) {
        Ok(Listed { schema, sealmark, runs }) => (Outside { schema, sealmark, runs: None }, runs),
        Err(_) => {
            let outside: Outside<'_> = parse(text).map_err(|error| broken(&error))?;
            let not_a_list = |_| ReadError::Shape { place: String::new(), reason: "`runs` is not a list".to_owned() };
            let runs = outside.runs.map(|runs| parse(runs.get()).map_err(not_a_list)).transpose();
            (outside, runs?)
        }
    };
    let Some(runs) = runs else { return Ok(None) };
    // Reports of several servers say their schema once more, others leave it to the runs.
    if outside.schema.is_some() {
        outside.check("")?;
    }
    let place = |raw: &&RawValue| {
        let start = raw.get().as_ptr() as usize - whole.as_ptr() as usize;
        start..start + raw.get().len()
    };
    match runs.len() {
        0 => Err(ReadError::NoRun),
        many if many > MAX_RUNS => Err(ReadError::TooManyRuns(many)),
        _ => Ok(Some(runs.iter().map(place).collect())),
    }
}

/// Windows tools put a mark in front of UTF-8.
fn unmarked(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

fn not_utf8() -> ReadError {
    ReadError::NotJson("it is not UTF-8 text".to_owned())
}

/// The members that tell what a document is.
#[derive(Deserialize)]
struct Outside<'a> {
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
    #[serde(borrow)]
    sealmark: Option<&'a RawValue>,
    #[serde(borrow)]
    runs: Option<&'a RawValue>,
}

/// The same where `runs` is a list.
#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
    #[serde(borrow)]
    sealmark: Option<&'a RawValue>,
    #[serde(borrow)]
    runs: Option<Vec<&'a RawValue>>,
}

impl Outside<'_> {
    /// Whether it is a report of this version.
    fn check(&self, place: &str) -> Result<(), ReadError> {
        let place = place.to_owned();
        let Some(schema) = self.schema.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()) else {
            return Err(ReadError::NoSchema { place });
        };
        if schema == SCHEMA {
            return Ok(());
        }
        if let Some(version) = schema.strip_prefix(FAMILY).and_then(|version| version.parse().ok()).filter(|v| *v > 1) {
            #[derive(Deserialize)]
            struct Build {
                version: String,
            }
            let build = self.sealmark.and_then(|raw| serde_json::from_str::<Build>(raw.get()).ok());
            let written_by = build.map(|build| excerpt(&build.version, 40));
            return Err(ReadError::Newer { place, schema: version, written_by });
        }
        let (what, hint) = match schema.split('/').next().unwrap_or_default() {
            "sealmark.trace" => ("a recording".to_owned(), "`sealmark judge FILE --format json` makes a report of it"),
            "sealmark.surface" => ("a snapshot of what servers offer".to_owned(), "--surface FILE compares with it"),
            "sealmark.diff" => ("a comparison of two reports".to_owned(), "name one of the reports it was made of"),
            _ => (
                format!("a document of the schema {:?}", excerpt(&schema, 60)),
                "`sealmark run --format json --out FILE` writes a report",
            ),
        };
        Err(ReadError::OtherKind { place, what, hint })
    }
}

/// What one run of a list weighs, its name and what is kept of it.
fn listed<T>(text: &str, at: usize, keep: &Keep<'_, T>) -> Result<(Weight, String, T), ReadError> {
    let weight = weigh(text.as_bytes());
    bounded(&weight)?;
    let run = run(text, &format!("runs[{at}]: "))?;
    Ok((weight, run.name.clone(), keep(run, text)))
}

/// One run. `place` says which one of a list.
fn run(text: &str, place: &str) -> Result<RunResult, ReadError> {
    let shape = |reason| ReadError::Shape { place: place.to_owned(), reason };
    // What is sound is read once; anything else is looked at again for what it is.
    if let Ok(run) = owned::<RunResult>(text)
        && run.schema == SCHEMA
    {
        sound(&run).map_err(shape)?;
        return Ok(run);
    }
    if !text.trim_start().starts_with('{') {
        return Err(shape("a run is an object".to_owned()));
    }
    parse::<Outside<'_>>(text).map_err(|error| shape(quoted(&error, place)))?.check(place)?;
    let run: RunResult = owned(text).map_err(|error| shape(quoted(&error, place)))?;
    sound(&run).map_err(shape)?;
    Ok(run)
}

/// What types alone do not tell.
fn sound(run: &RunResult) -> Result<(), String> {
    for (id, pack) in &run.packs.0 {
        pack_is_sound(pack).map_err(|what| format!("pack {}: {what}", excerpt(id, 60)))?;
    }
    let lettered = run.packs.0.iter().any(|(_, pack)| pack.grade.is_some());
    match run.status {
        Status::Graded if !lettered => Err("its status is graded, and no pack has a letter".to_owned()),
        Status::NothingGraded if lettered => Err("its status is nothing-graded, and a pack has a letter".to_owned()),
        _ => report::contradiction(run).map_or(Ok(()), Err),
    }
}

fn pack_is_sound(pack: &PackResult) -> Result<(), String> {
    if let Some(letter) = pack.grade.filter(|letter| !matches!(letter, 'A' | 'B' | 'C' | 'D' | 'F')) {
        return Err(format!("`grade` is {letter:?} and not one of A, B, C, D and F"));
    }
    if (pack.status == PackStatus::Graded) != pack.grade.is_some() {
        return Err("`status` and `grade` contradict each other".to_owned());
    }
    if !(0.0..=f64::from(pack.scored)).contains(&pack.points) {
        return Err(format!("`points` is {:e}, of {} scored checks", pack.points, pack.scored));
    }
    Ok(())
}

/// Letters of two methodologies do not compare, and one gate or page is over all of them.
fn one_methodology(runs: &[RunResult]) -> Result<(), ReadError> {
    let mut of = runs.iter().map(|run| &run.sealmark.methodology);
    let Some(first) = of.next() else { return Ok(()) };
    of.find(|other| *other != first)
        .map_or(Ok(()), |other| Err(ReadError::Methodologies { first: excerpt(first, 40), other: excerpt(other, 40) }))
}

fn distinct<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Result<(), ReadError> {
    if names.len() > MAX_RUNS {
        return Err(ReadError::TooManyRuns(names.len()));
    }
    let mut seen = HashSet::new();
    names
        .into_iter()
        .find(|name| !seen.insert(*name))
        .map_or(Ok(()), |twice| Err(ReadError::Twice(excerpt(twice, QUOTED))))
}

/// Parses without the parser's own bound on nesting, which a report of a deep schema can exceed; ours was kept before.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

fn owned<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    parse(text)
}

fn broken(error: &serde_json::Error) -> ReadError {
    match error.classify() {
        serde_json::error::Category::Eof => ReadError::Truncated,
        serde_json::error::Category::Data => ReadError::Shape { place: String::new(), reason: quoted(error, "") },
        _ => ReadError::NotJson(quoted(error, "")),
    }
}

/// The parser's reason; its line and column count from the beginning of what it was given, which is the file or a run.
fn quoted(error: &serde_json::Error, place: &str) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let reason = excerpt(message.strip_suffix(&position).unwrap_or(&message), QUOTED);
    if place.is_empty() && error.line() > 0 { reason + &position } else { reason }
}

/// The bytes of a regular file, refused by its size before they are read and bounded while it grows.
fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Looked at before it is opened: opening a pipe waits for a writer.
    regular(&fs::metadata(path)?)?;
    let file = files::open(path)?;
    let length = regular(&file.metadata()?)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(ReadError::TooLarge),
    }
}

fn regular(metadata: &Metadata) -> Result<u64, ReadError> {
    match (files::irregular(metadata), metadata.len()) {
        (Some(kind), _) => Err(ReadError::NotAFile(kind)),
        (None, length) if length > MAX_BYTES => Err(ReadError::TooLarge),
        (None, length) => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::unix::fs::symlink};

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        config::settings::Format,
        report::{self, RenderOptions, sample},
    };

    fn written(runs: &[RunResult]) -> Vec<u8> {
        report::render(Format::Json, runs, &RenderOptions::default()).expect("JSON")
    }

    /// The message and hint of a refusal.
    fn refused(bytes: &[u8]) -> (String, String) {
        let error = read_reports(bytes).expect_err("must be refused");
        (error.to_string(), error.hint())
    }

    /// A clean report with one member changed.
    fn changed(pointer: &str, value: Value) -> Vec<u8> {
        let mut report: Value = serde_json::from_slice(&written(&[sample::clean()])).expect("JSON");
        *report.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        serde_json::to_vec(&report).expect("JSON")
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut all = sample::all();
        for (at, run) in all.iter_mut().enumerate() {
            run.name = format!("server-{at}");
        }
        assert_eq!(read_reports(&written(&all)).expect("a report"), all);
        for run in all.iter().chain([&sample::hostile(sample::HOSTILE)]) {
            // The hostile one has no valid schema: what the harness writes itself is not the server's.
            let mut run = run.clone();
            run.schema = SCHEMA.to_owned();
            assert_eq!(read_reports(&written(std::slice::from_ref(&run))).expect("a report"), [run]);
        }
    }

    #[test]
    fn a_list_needs_no_schema_of_its_own_and_a_byte_order_mark_is_no_harm() {
        let text = String::from_utf8(written(&[sample::clean()])).expect("UTF-8");
        let list = format!("\u{feff} {{\"runs\": [{text}]}}");
        assert_eq!(read_reports(list.as_bytes()).expect("a report"), [sample::clean()]);
    }

    #[test]
    fn members_of_later_versions_are_left_aside() {
        let mut report: Value = serde_json::from_slice(&written(&[sample::clean()])).expect("JSON");
        report["later"] = json!({ "deep": [[[1, 2.5, null]]] });
        report["packs"]["core"]["later"] = json!("x");
        report["server"]["surface"]["tools"][0]["later"] = json!([{}]);
        assert_eq!(read_reports(report.to_string().as_bytes()).expect("a report"), [sample::clean()]);
    }

    #[test]
    fn what_is_no_report_is_named() {
        let report = written(&[sample::clean()]);
        let cut = &report[..report.len() / 2];
        for (bytes, message, hint) in [
            (&b""[..], "it is not JSON: it is empty", "--format json"),
            (b" \n", "it is empty", "--format json"),
            (b"# Report", "it begins with '#'", "--format json"),
            (b"[1]", "it begins with '['", "--format json"),
            (b"\xff\xfe{\x00", "not UTF-8", "--format json"),
            (b"{\"a\": tru }", "it is not JSON: expected ident at line 1", "--format json"),
            (b"{} {}", "it is not JSON: trailing characters at line 1 column 4", "--format json"),
            (cut, "it is cut off", "again"),
            (b"{}", "it has no `schema`", "--format json"),
            (b"{\"schema\": 1}", "it has no `schema`", "--format json"),
            (br#"{"$schema": "https://x/sarif.json", "runs": [{"tool": {}}]}"#, "runs[0]: it has no `schema`", "json"),
            (br#"{"schema": "sealmark.trace/1", "events": []}"#, "it is a recording", "sealmark judge"),
            (br#"{"schema": "sealmark.surface/1"}"#, "it is a snapshot", "--surface"),
            (br#"{"schema": "sealmark.diff/1", "servers": []}"#, "it is a comparison", "reports it was made of"),
            (br#"{"schema": "other/7"}"#, "a document of the schema \"other/7\"", "--format json"),
            (br#"{"schema": "sealmark.report/0"}"#, "the schema \"sealmark.report/0\"", "--format json"),
            (br#"{"runs": []}"#, "it holds no server", "sealmark merge"),
            (br#"{"runs": {}}"#, "`runs` is not a list", "changed"),
            (br#"{"runs": [[]]}"#, "runs[0]: it is not a valid report: a run is an object", "changed"),
            (br#"{"schema": "sealmark.report/1"}"#, "missing field `sealmark`", "changed"),
        ] {
            let (found, help) = refused(bytes);
            assert!(found.contains(message), "{message:?} is not in {found:?}");
            assert!(help.contains(hint), "{hint:?} is not in {help:?}");
        }
    }

    #[test]
    fn a_newer_report_says_what_reads_it() {
        let newer = br#"{"schema": "sealmark.report/2", "sealmark": {"version": "3.1.4"}, "packs": []}"#;
        let (message, hint) = refused(newer);
        assert!(message.contains("sealmark.report/2, and this version reads sealmark.report/1"), "{message}");
        assert!(hint.contains("(3.1.4)"), "{hint}");
        let (message, hint) = refused(br#"{"runs": [{"schema": "sealmark.report/9"}]}"#);
        assert!(message.starts_with("runs[0]: its schema is sealmark.report/9") && hint.contains("newer"), "{message}");
    }

    #[test]
    fn wild_values_are_refused_and_their_neighbours_are_not() {
        for (pointer, wild, message) in [
            ("/packs/core/points", json!(-0.5), "pack core: `points` is -5e-1"),
            ("/packs/core/points", json!(4.5), "of 4 scored checks"),
            ("/packs/core/points", json!(null), "invalid type: null"),
            ("/packs/core/points", json!("NaN"), "invalid type: string \"NaN\""),
            ("/packs/core/points", json!(3.5), "it says A with 3.5 of 4 points"),
            ("/packs/core/grade", json!("F"), "its checks come to A"),
            ("/packs/core/checks/1/verdict", json!("fail"), "its checks come to D"),
            ("/packs/core/grade", json!("E"), "`grade` is 'E'"),
            ("/packs/core/grade", json!("a"), "`grade` is 'a'"),
            ("/packs/core/grade", json!("AA"), "expected a character"),
            ("/packs/core/grade", json!(null), "contradict"),
            ("/packs/core/status", json!("inconclusive"), "contradict"),
            ("/packs/core/scored", json!(-1), "invalid value"),
            ("/packs/core/checks/0/verdict", json!("maybe"), "unknown variant `maybe`"),
            ("/packs/core/checks/0/severity", json!("fatal"), "unknown variant `fatal`"),
            ("/packs/core/checks", json!({}), "invalid type: map"),
            ("/packs", json!({}), "no pack has a letter"),
            ("/status", json!("great"), "unknown variant `great`"),
            ("/status", json!("nothing-graded"), "a pack has a letter"),
            ("/durationMs", json!(-1), "invalid value"),
            ("/server", json!([]), "invalid length"),
        ] {
            let (found, _) = refused(&changed(pointer, wild));
            assert!(found.contains(message), "{pointer}: {message:?} is not in {found:?}");
        }
        let text = String::from_utf8(written(&[sample::clean()])).expect("UTF-8");
        for wild in ["NaN", "1e999", "Infinity"] {
            let text = text.replacen("\"points\": 4.0", &format!("\"points\": {wild}"), 1);
            assert!(text.contains(wild) && read_reports(text.as_bytes()).is_err(), "{wild}");
        }
        for (pointer, fine) in
            [("/packs/core/points", json!(4)), ("/durationMs", json!(u64::MAX)), ("/name", json!("x".repeat(1 << 20)))]
        {
            read_reports(&changed(pointer, fine)).unwrap_or_else(|error| panic!("{pointer}: {error}"));
        }
    }

    #[test]
    fn a_message_quotes_little_of_a_file() {
        let long = changed("/packs/core/checks/0/verdict", json!("\u{1b}".repeat(1 << 20)));
        let (message, _) = refused(&long);
        assert!(message.len() < 500 && !message.contains('\u{1b}'), "{} bytes", message.len());
        let (message, _) = refused(format!("{{\"schema\": \"{}\"}}", "y".repeat(1 << 20)).as_bytes());
        assert!(message.len() < 300);
    }

    #[test]
    fn a_deep_schema_is_read_and_an_absurd_one_is_not() {
        let nested = |depth: usize| {
            let mut schema = json!({});
            for _ in 0..depth {
                schema = json!({ "not": schema });
            }
            schema
        };
        let pointer = "/server/surface/tools/0/inputSchema";
        read_reports(&changed(pointer, nested(140))).expect("what a server can list can be read");
        let (message, _) = refused(&changed(pointer, nested(170)));
        assert!(message.contains("nested 176 deep"), "{message}");
        let (message, _) = refused(format!("{{\"a\": {}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20)).as_bytes());
        assert!(message.contains("nested"), "{message}");
    }

    #[test]
    fn as_many_values_as_memory_holds() {
        let many = format!("{{\"a\": [{}0]}}", "{},".repeat(5_000_000));
        assert!(matches!(read_reports(many.as_bytes()), Err(ReadError::TooHeavy)));
        let long = format!("{{\"a\": \"{}\"}}", "{},".repeat(5_000_000));
        assert!(matches!(read_reports(long.as_bytes()), Err(ReadError::NoSchema { .. })));
    }

    #[test]
    fn a_server_stands_in_it_once_and_there_is_a_most() {
        let run = |name: String| RunResult { name, ..sample::clean() };
        let (message, hint) = refused(&written(&[run("a".into()), run("b".into()), run("a".into())]));
        assert_eq!(message, "the server a is in it twice");
        assert!(hint.contains("one report of each"));
        let list = |count: usize| {
            let mut one = sample::clean();
            one.server.surface.tools.clear();
            let runs: Vec<_> = (0..count).map(|at| RunResult { name: at.to_string(), ..one.clone() }).collect();
            written(&runs)
        };
        assert_eq!(read_reports(&list(MAX_RUNS)).expect("as many as are read").len(), MAX_RUNS);
        assert_eq!(refused(&list(MAX_RUNS + 1)).0, "it holds 1001 runs, and at most 1000 are read");
    }

    #[test]
    fn a_file_is_regular_and_of_bounded_size() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        let why = |name: &str| read_file(&path(name)).expect_err("must be refused").to_string();
        fs::write(path("report.json"), written(&[sample::clean()])).expect("written");
        symlink(path("report.json"), path("link")).expect("a link");
        assert_eq!(read_file(&path("link")).expect("a report"), [sample::clean()]);
        let twice = read_files(&[path("report.json"), path("link")]).expect_err("the same server twice");
        let first = format!("the server toy is in {} too", path("report.json").display());
        assert!(twice.path == path("link") && twice.to_string().ends_with(&first), "{twice}");
        File::create(path("large")).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a sparse file");
        assert!(why("large").contains("larger than 256 MiB"));
        assert!(why("missing").contains("No such file"));
        assert!(why(".").contains("it is a directory"));
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .expect("a pipe");
        assert!(why("pipe").contains("it is a pipe or a device"));
        assert!(read_file(Path::new("/dev/zero")).is_err());
    }
}
