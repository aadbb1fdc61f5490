//! `gate`: reports on disk → exit code, as the run that wrote them would have ended.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    Exit,
    compared::{BASELINE, Compared},
    conclude, config_cmd, console, grading,
};
use crate::{
    cli::GateCommandArgs,
    compare,
    config::{self, settings::FailOn},
    gate,
};

/// Runs the command.
pub fn gate_reports(args: &GateCommandArgs) -> Exit {
    let mut values = args.gate.values();
    let (word, file) = match args.baseline.as_deref().map(|path| (path.to_str(), path)) {
        Some((Some(word @ ("auto" | "off")), _)) => (Some(word), None),
        named => (None, named.map(|(_, path)| path)),
    };
    let file = file.map(|path| json!(path.to_string_lossy()));
    values.extend(file.map(|path| ("--baseline", "output.baseline".to_owned(), path)));
    if let Some(note) = args.gate.letter.note() {
        console::line(&format!("note: {note}"));
    }
    let settings = match config_cmd::request(&args.source, values).map(|request| config::resolve(&request)) {
        Ok(Ok(resolved)) => resolved.settings,
        Ok(Err(error)) => return config_cmd::mistake(&error),
        Err(exit) => return exit,
    };
    let mut output = settings.output.clone();
    // This command judges; it leaves no file behind.
    output.write_baseline = None;
    if word == Some("off") {
        output.baseline = None;
    }
    // The run that wrote the reports refused to go without a baseline, or went on its first time: this is the same run.
    let beside = args.report.first().map(|report| report.with_file_name(BASELINE));
    // As in `ci`, a file that the configuration names comes first.
    let beside = beside.filter(|path| word == Some("auto") && output.baseline.is_none() && path.exists());
    let compared = Compared::read(&output, true).and_then(|compared| match beside {
        Some(path) => compared.with_file(&path),
        None => Ok(compared),
    });
    let compared = match compared {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    let mut runs = match compare::read_files(&args.report) {
        Ok(runs) => runs,
        Err(error) => return console::mistake(&error, Some(&error.hint())),
    };
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    match config::selected(&names, &args.source.server) {
        Ok(wanted) => runs.retain(|run| wanted.contains(&&run.name)),
        Err(server) => {
            console::line(&format!("error: no report is of the server {server:?}"));
            console::line("hint: --server takes names as the reports have them; without it every server counts");
            return Exit::Usage;
        }
    }
    // Of several configured servers one without a report is lost, not absent, as in `merge`. A single one may go by another
    // name.
    let several = settings.servers.iter().enumerate().filter(|_| settings.servers.len() > 1);
    let held: BTreeSet<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (at, server) in several.filter(|(_, server)| !held.contains(&server.name)) {
        console::line(&format!("warning: no report holds the server {}: it counts as failed", server.name));
        runs.push(grading::lost(&settings, at));
    }
    let comparison = compared.comparison(&runs, !args.source.server.is_empty());
    let decision = gate::decide(&runs, &output, comparison.as_ref());
    for run in &runs {
        console::line(&conclude::grades(run, runs.len()));
    }
    for line in comparison.iter().flat_map(|comparison| compare::lines(comparison, output.fail_on)) {
        console::line(&line);
    }
    let FailOn { gate: grades, regressions, drift } = output.fail_on;
    if comparison.is_none() && (drift || (regressions && !grades)) {
        console::line("note: there is no baseline, so nothing could be found worse or different (--fail-on)");
    }
    for line in &decision.lines {
        console::line(line);
    }
    conclude::exit(&decision, &runs)
}
