//! Results → report files, console and exit code: the same end for `run`, `demo` and `judge`.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use super::{
    Exit,
    compared::{self, Compared},
    console, places, surface,
};
use crate::{
    cli::ColorWhen,
    compare::{self, Comparison},
    config::{
        Settings,
        settings::{Format, OutputSettings},
    },
    files, gate,
    report::{self, GateFacts, Places, RenderOptions, RunResult, result::Status},
    text::{excerpt, terminal},
};

/// Longest name of a server in a line, in characters.
const NAME: usize = 80;
/// Where several formats go when nothing else is said.
pub(super) const REPORTS: &str = "sealmark-report";

/// Mistakes that are known before a server is started: formats for one server alone, an unreadable template, places that
/// cannot be written. Nobody should wait for a grading whose report is lost.
pub(super) fn precheck(settings: &Settings, record: Option<&Path>) -> Result<(), Exit> {
    let output = &settings.output;
    let single = output.formats.iter().find(|format| matches!(format, Format::Badge | Format::Shields));
    if let (Some(format), true) = (single, settings.servers.len() > 1) {
        console::line(&format!("error: {} shows one server, and several are configured", format.as_str()));
        console::line("hint: choose one with --server NAME");
        return Err(Exit::Usage);
    }
    if output.out.is_some() && output.formats.iter().filter(|format| **format != Format::Summary).count() > 1 {
        console::line("error: --out names one file, and several formats are asked for");
        console::line("hint: use --out-dir DIR, which gets one file per format");
        return Err(Exit::Usage);
    }
    let template = template(output)?;
    if let Some((name, source)) = &template {
        report::check_template(name, source).map_err(|error| console::mistake(&error, error.hint()))?;
    }
    for path in output.formats.iter().filter_map(|format| target(output, *format)) {
        files::writable(&path).map_err(|error| refuse_place("report", &path, &error))?;
    }
    if let Some(path) = record {
        files::writable(path).map_err(|error| refuse_place("recording", path, &error))?;
    }
    Ok(())
}

pub(super) fn refuse_place(what: &str, path: &Path, error: &std::io::Error) -> Exit {
    console::line(&format!("error: the {what} could not be written to {}: {error}", path.display()));
    console::line("hint: name a file in a directory that you may write to");
    Exit::Usage
}

/// What an invocation came to.
#[derive(Debug)]
pub(super) struct Concluded {
    /// How the process ends: the gate's code, or a failure when a report was lost.
    pub(super) exit: Exit,
    /// The gate's decision.
    pub(super) decision: gate::Decision,
    /// The gate, as the reports have it.
    pub(super) gate: GateFacts,
    /// The comparison with the baseline, when there is one.
    pub(super) comparison: Option<Comparison>,
    /// The lines of the sources that findings point at.
    pub(super) places: Places,
    /// The reports that were written to files.
    pub(super) files: Vec<(Format, PathBuf)>,
}

impl Concluded {
    /// The file of a format, when it was written to one.
    pub(super) fn file(&self, format: Format) -> Option<&Path> {
        self.files.iter().find(|(written, _)| *written == format).map(|(_, path)| path.as_path())
    }
}

/// Compares, decides the exit code, writes every report and the baseline, and says on standard error what no report shows.
/// A signal that stopped the run decides how it ends, whatever the gate says of what there is.
pub(super) fn conclude(
    runs: &[RunResult],
    settings: &Settings,
    color: ColorWhen,
    compared: &Compared,
    stopped: Option<Exit>,
) -> Concluded {
    let output = &settings.output;
    let comparison = compared.comparison(runs, settings.partial);
    let decision = match (runs, &settings.servers[..]) {
        // An empty share of the servers: there was nothing to grade, which is not the same as grading nothing.
        ([], []) => gate::Decision::nothing_due(),
        _ => gate::decide(runs, output, comparison.as_ref()),
    };
    let mut gate = decision.facts(output);
    gate.exit_code = stopped.map_or(gate.exit_code, Exit::code);
    let places = places::places(runs, output);
    let mut files = Vec::new();
    let lost = reports(runs, output, &gate, &places, color, &mut files);
    for line in comparison.iter().flat_map(|comparison| compare::lines(comparison, output.fail_on)) {
        console::line(&line);
    }
    if let Some(line) = compared.acceptance(runs, &settings.secrets) {
        console::line(&line);
    }
    for line in &decision.lines {
        console::line(line);
    }
    let kept = compared::write_baseline(output, runs, comparison.as_ref());
    let seen = output.write_surface.as_deref().map_or(Ok(()), |path| surface::write(path, runs));
    let lost = lost.or(kept.err()).or(seen.err());
    Concluded { exit: lost.unwrap_or_else(|| exit(&decision, runs)), decision, gate, comparison, places, files }
}

/// Writes every report, and the grades to standard error when no report shows them there. Returns how a lost one ends it.
fn reports(
    runs: &[RunResult],
    output: &OutputSettings,
    gate: &GateFacts,
    places: &Places,
    color: ColorWhen,
    files: &mut Vec<(Format, PathBuf)>,
) -> Option<Exit> {
    let template = match template(output) {
        Ok(template) => template,
        Err(exit) => return Some(exit),
    };
    let options = RenderOptions {
        verbosity: output.verbosity,
        width: width(),
        color: colored(color) && output.out.is_none() && output.out_dir.is_none(),
        template,
        gate: gate.clone(),
        places: places.clone(),
    };
    let mut on_console = false;
    let mut lost = None;
    for format in &output.formats {
        let bytes = match report::render(*format, runs, &options) {
            Ok(bytes) => bytes,
            Err(error) => {
                lost = Some(console::mistake(&error, error.hint()));
                continue;
            }
        };
        let file = target(output, *format);
        let written = match &file {
            Some(path) => files::write(path, &bytes).map_err(|error| (path.display().to_string(), error)),
            None => console::stdout(&bytes).map_err(|error| ("standard output".to_owned(), error)),
        };
        let human = matches!(format, Format::Text | Format::Markdown | Format::Summary);
        on_console |= file.is_none() && human && written.is_ok();
        if let (Some(path), Ok(())) = (&file, &written) {
            files.push((*format, path.clone()));
        }
        if let Err((place, error)) = written {
            console::line(&format!("error: the {} report could not be written to {place}: {error}", format.as_str()));
            if file.is_some() {
                console::line("hint: name a place that can be written with --out FILE or --out-dir DIR");
            }
            lost = Some(Exit::Failure);
        }
    }
    // Lost with the report or written elsewhere: the grades are said all the same.
    if !on_console {
        for run in runs {
            console::line(&grades(run, runs.len()));
        }
    }
    lost
}

/// The grades of a run on one line, with its name among several.
pub(super) fn grades(run: &RunResult, servers: usize) -> String {
    let name = if servers > 1 { format!("{}: ", excerpt(&run.name, NAME)) } else { String::new() };
    terminal::line(&format!("{name}{}", report::grade_line(run)))
}

/// How a process ends that did what the gate decided.
pub(super) fn exit(decision: &gate::Decision, runs: &[RunResult]) -> Exit {
    match decision.code {
        0 => Exit::Ok,
        4 if runs.iter().any(|run| matches!(run.status, Status::Failed | Status::Interrupted)) => Exit::Failure,
        3 if runs.iter().any(|run| run.status == Status::NothingGraded) => Exit::NothingGraded,
        1 => Exit::BelowGate,
        code => Exit::CriticalFail(code),
    }
}

/// Where a format goes: `--out`, a file in the directory, or standard output. With several formats the summary stays on the console.
fn target(output: &OutputSettings, format: Format) -> Option<std::path::PathBuf> {
    if let Some(out) = &output.out {
        return Some(out.clone()).filter(|_| output.formats.len() == 1 || format != Format::Summary);
    }
    let several = output.formats.len() > 1;
    match (&output.out_dir, several, format) {
        (_, true, Format::Summary) => None,
        (Some(dir), _, _) => Some(dir.join(format.file_name())),
        (None, true, _) => Some(Path::new(REPORTS).join(format.file_name())),
        (None, false, _) => None,
    }
}

/// What is shown here and what goes to which files, in words.
pub(super) fn reports_go(output: &OutputSettings) -> String {
    let (mut here, mut files) = (Vec::new(), Vec::new());
    for format in &output.formats {
        match target(output, *format) {
            Some(path) => files.push(path.display().to_string()),
            None => here.push(format.as_str()),
        }
    }
    let here = (!here.is_empty()).then(|| format!("{} here", here.join(", ")));
    here.into_iter().chain(files).collect::<Vec<_>>().join(", ")
}

fn template(output: &OutputSettings) -> Result<Option<(String, String)>, Exit> {
    let Some(path) = &output.template else { return Ok(None) };
    match files::open(path).and_then(std::io::read_to_string) {
        Ok(source) => Ok(Some((path.display().to_string(), source))),
        Err(error) => {
            console::line(&format!("error: the template {} could not be read: {error}", path.display()));
            console::line("hint: --template and output.template name a text file");
            Err(Exit::Usage)
        }
    }
}

/// Columns of a terminal on standard output, at most 120; 100 elsewhere, so that files do not depend on who made them.
fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return 100;
    }
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).clamp(40, 120))
}

fn colored(when: ColorWhen) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            std::io::stdout().is_terminal()
                && !asked_not_to
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
