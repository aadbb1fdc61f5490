//! `diff`: two reports → what changed.

use std::path::Path;

use super::{Exit, console};
use crate::{cli::DiffArgs, compare, config::settings::FailOn, report::RunResult};

/// Runs the command.
pub fn diff(args: &DiffArgs) -> Exit {
    match (read(&args.before), read(&args.after)) {
        (Ok(before), Ok(after)) => answer(&before, &after, args.json),
        (Err(exit), _) | (_, Err(exit)) => exit,
    }
}

fn answer(before: &[RunResult], after: &[RunResult], json: bool) -> Exit {
    let comparison = compare::compare(before, after);
    let text = if json {
        match compare::document(before, after, &comparison) {
            Ok(bytes) => bytes,
            Err(error) => {
                console::line(&format!("error: {error}"));
                return Exit::Failure;
            }
        }
    } else {
        // Both count here, so nothing is said of what does not.
        let all = FailOn { gate: false, regressions: true, drift: true };
        let mut lines = compare::lines(&comparison, all);
        if comparison.unchanged() {
            lines.push("no check, no letter and nothing that is offered changed".to_owned());
        }
        lines.into_iter().flat_map(|line| line.into_bytes().into_iter().chain(*b"\n")).collect()
    };
    if let Err(error) = console::stdout(&text) {
        console::line(&format!("error: standard output could not be written: {error}"));
        return Exit::Failure;
    }
    // What was not compared is no pass: the two files were named to be compared.
    let told = comparison.has_grades() && comparison.has_surface();
    if comparison.regressed() || comparison.drifted() || !told { Exit::BelowGate } else { Exit::Ok }
}

fn read(path: &Path) -> Result<Vec<RunResult>, Exit> {
    compare::read_file(path).map_err(|error| console::mistake(&error, Some(&error.hint())))
}
