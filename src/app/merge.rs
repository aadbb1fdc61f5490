//! `merge`: several shards' reports → one.

use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{
    Exit, config_cmd, console,
    found::{self, NotFound},
    grading,
};
use crate::{
    cli::{MergeArgs, SourceArgs},
    compare::{self, FileError, MAX_BYTES, MAX_RUNS, ReadError},
    config::Settings,
    files,
    report::{self, ReportError, RunResult, result::Build},
    text::excerpt,
};

/// Why reports are not merged. Names come from reports and may hold anything.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    NotFound(#[from] NotFound),
    #[error(transparent)]
    Unreadable(#[from] FileError),
    #[error("the server `{name}` is in two reports: {} and {}", first.display(), second.display())]
    Twice { name: String, first: PathBuf, second: PathBuf },
    #[error(
        "the reports are of two methodologies: {} is of {}, and {} of {}",
        first.0.display(), first.1, second.0.display(), second.1
    )]
    Methodologies { first: (PathBuf, String), second: (PathBuf, String) },
    #[error("no report holds a server: nothing was graded")]
    Empty,
    #[error("the merged report would be larger than the {} MiB that are read back", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the reports hold more than the {MAX_RUNS} servers that are read back")]
    TooMany,
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl Refused {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NotFound(error) => error.hint(),
            Self::Unreadable(error) => return Some(error.hint()),
            Self::Twice { .. } => "keep one of them: an artifact of an earlier attempt may have been downloaded too",
            Self::Methodologies { .. } => {
                "grade all of them with one version of sealmark: letters of two do not compare"
            }
            Self::Empty => "were the artifacts of all jobs downloaded?",
            Self::TooLarge | Self::TooMany => {
                "merge fewer servers at once, and publish each part with a --comment-key of its own"
            }
            Self::Report(error) => return error.hint().map(str::to_owned),
        };
        Some(text.to_owned())
    }
}

/// Runs the command.
pub fn merge(args: &MergeArgs) -> Exit {
    let settings = match args.config.clone().map(|config| configured(config, &args.server)).transpose() {
        Ok(settings) => settings,
        Err(exit) => return exit,
    };
    let merged = found::reports(&args.reports, &args.out).map_err(Refused::from).and_then(|found| {
        let mut merged = read(&found.reports)?;
        merged.said.extend(aside(&found.aside));
        if let Some(settings) = &settings {
            merged.complete(settings)?;
        }
        Ok(merged)
    });
    let merged = match merged {
        Ok(merged) => merged,
        Err(refused) => return console::mistake(&refused, refused.hint().as_deref()),
    };
    if let Err(error) = write(&args.out, &merged.lines) {
        console::line(&format!("error: the merged report could not be written to {}: {error}", args.out.display()));
        console::line("hint: name a file in a directory that you may write to");
        return Exit::Failure;
    }
    merged.said.iter().for_each(|line| console::line(line));
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (servers, reports) = (count(merged.lines.len(), "server"), count(merged.reports, "report"));
    console::line(&format!("{servers} from {reports}: {}", args.out.display()));
    Exit::Ok
}

/// JSON files that were left aside are named, the first few: a report of another name is not lost in silence.
fn aside(files: &[PathBuf]) -> Option<String> {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = files.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    if files.len() > SHOWN {
        names.push(format!("{} more", files.len() - SHOWN));
    }
    let rule = "below a directory reports are called sealmark-report.json; name others themselves";
    (!names.is_empty()).then(|| format!("note: left aside: {} ({rule})", names.join(", ")))
}

/// The configuration whose servers were graded.
fn configured(config: PathBuf, server: &[String]) -> Result<Settings, Exit> {
    let source = SourceArgs { config: Some(config), server: server.to_vec(), ..SourceArgs::default() };
    config_cmd::configured(&source).map(|resolved| resolved.settings)
}

/// What was read.
#[derive(Debug, Default)]
struct Merged {
    /// Each server's report as the line that is written later: a parsed one takes several times as much. Ordered by name,
    /// the only order that does not depend on when jobs ended and how artifacts are laid out.
    lines: BTreeMap<String, String>,
    /// How many reports there were.
    reports: usize,
    /// The bytes of the lines.
    bytes: u64,
    /// What the user should hear.
    said: Vec<String>,
}

impl Merged {
    fn add(&mut self, name: &str, line: String) -> Result<(), Refused> {
        self.bytes = self.bytes.saturating_add(line.len() as u64);
        if self.bytes > MAX_BYTES {
            return Err(Refused::TooLarge);
        }
        if self.lines.len() >= MAX_RUNS {
            return Err(Refused::TooMany);
        }
        self.lines.insert(name.to_owned(), line);
        Ok(())
    }

    /// A configured server without a report is lost, not absent: it becomes a failed run, which no gate passes.
    fn complete(&mut self, settings: &Settings) -> Result<(), Refused> {
        for (at, server) in settings.servers.iter().enumerate() {
            if !self.lines.contains_key(&server.name) {
                self.add(&server.name, report::json_line(&grading::lost(settings, at))?)?;
                self.said.push(format!("warning: no report holds the server {}: it counts as failed", server.name));
            }
        }
        let known = |name: &str| settings.servers.iter().any(|server| server.name == name);
        let strange = self.lines.keys().filter(|name| !known(name));
        let said = strange.map(|name| format!("note: the configuration has no server {}", excerpt(name, 80)));
        self.said.extend(said.collect::<Vec<_>>());
        Ok(())
    }
}

/// Reports that are read at a time.
const FILES: usize = 8;

/// Reads all of them.
fn read(paths: &[PathBuf]) -> Result<Merged, Refused> {
    let mut merged = Merged::default();
    let keep = |run: RunResult, text: &str| (report::json_line_from(&run, text), run.name, run.sealmark);
    let mut from: BTreeMap<String, &Path> = BTreeMap::new();
    let mut first: Option<(&Path, Build)> = None;
    // A few at a time: what is read of them is held until they are merged.
    let files = paths.chunks(FILES).flat_map(|some| some.iter().zip(compare::read_each(some, &keep)));
    for (path, read) in files {
        let runs = match read {
            // An empty share: there were more jobs than servers.
            Err(FileError { why: ReadError::NoRun, .. }) => Vec::new(),
            read => read?,
        };
        merged.reports += 1;
        for (line, name, build) in runs {
            let (earlier, expected) = first.get_or_insert_with(|| (path, build.clone()));
            if expected.methodology != build.methodology {
                let named = |path: &Path, build: &Build| (path.to_owned(), excerpt(&build.methodology, 40));
                let (first, second) = (named(earlier, expected), named(path, &build));
                return Err(Refused::Methodologies { first, second });
            }
            if let Some(first) = from.insert(name.clone(), path) {
                let (first, second) = (first.to_owned(), path.clone());
                return Err(Refused::Twice { name: excerpt(&name, 80), first, second });
            }
            merged.add(&name, line?)?;
        }
    }
    if merged.lines.is_empty() { Err(Refused::Empty) } else { Ok(merged) }
}

/// Written beside its place and moved there: an input may be the output, and a full disk must not cost it.
fn write(out: &Path, lines: &BTreeMap<String, String>) -> io::Result<()> {
    files::write_with(out, &|file| {
        let mut file = BufWriter::new(file);
        report::json_of_lines(lines.values().map(String::as_str), &mut file)?;
        file.flush()
    })
}
