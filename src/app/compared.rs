//! What the results of a run are compared with, and the baseline that they become.

use std::{fs, io, path::Path};

use super::{Exit, console, reviewed::Reviewed, surface};
use crate::{
    compare::{self, Comparison},
    config::settings::{Format, OutputSettings},
    files,
    report::{self, RenderOptions, RunResult, result::Status},
    text::excerpt,
};

/// What a job was compared with, beside its report: the gate over that report must compare with the same.
pub(super) const BASELINE: &str = "sealmark-baseline.json";

/// Longest name of a server in a line, in characters.
const NAME: usize = 80;

/// What a run is compared with. Read before the run: nobody should wait for a grading that cannot be compared.
#[derive(Debug, Default)]
pub(super) struct Compared {
    baseline: Option<Vec<RunResult>>,
    /// A committed snapshot of what the servers offer.
    surface: Option<Reviewed>,
}

impl Compared {
    /// The same with a baseline that is read already.
    pub(super) fn with(self, baseline: Vec<RunResult>) -> Self {
        Self { baseline: Some(baseline), ..self }
    }

    /// What the settings name. Refuses a baseline that cannot be read, and to fail on what there is nothing to compare with;
    /// `fetched` says that a baseline comes from elsewhere, if there is one yet.
    pub(super) fn read(output: &OutputSettings, fetched: bool) -> Result<Self, Exit> {
        let fail_on = output.fail_on;
        let compared = output.baseline.is_some() || fetched;
        // `any` includes regressions and does without a baseline: the first run has none.
        let lacking = match () {
            () if fail_on.drift && !compared && output.surface.is_none() => Some((
                "drift",
                " or a snapshot",
                ", or a snapshot with --surface FILE (--write-surface FILE makes one)",
            )),
            () if fail_on.regressions && !fail_on.gate && !compared => Some(("regressions", "", "")),
            () => None,
        };
        if let Some((word, other, hint)) = lacking {
            console::line(&format!(
                "error: --fail-on {word} (output.fail_on) needs a baseline{other}, and there is none"
            ));
            console::line(&format!(
                "hint: name an earlier JSON report with --baseline FILE (--write-baseline FILE makes one){hint}"
            ));
            return Err(Exit::Usage);
        }
        if let Some(path) = &output.write_baseline {
            replaceable(path)?;
        }
        if let Some(path) = &output.write_surface {
            surface::replaceable(path)?;
        }
        let reviewed = output.surface.as_ref().map(|path| Reviewed::read(path)).transpose()?;
        let compared = Self { baseline: None, surface: reviewed };
        match &output.baseline {
            Some(path) => compared.with_file(path),
            None => Ok(compared),
        }
    }

    /// The same with a baseline in a file.
    pub(super) fn with_file(self, path: &Path) -> Result<Self, Exit> {
        match compare::read_file(path) {
            Ok(runs) => Ok(self.with(runs)),
            Err(_) if path.file_name().is_some_and(|name| name == "auto" || name == "off") && !path.exists() => {
                console::line(&format!("error: the baseline {} is no file here", path.display()));
                console::line("hint: `auto` and `off` are for `sealmark ci`, `publish` and `gate`; name a JSON report");
                Err(Exit::Usage)
            }
            Err(error) => {
                console::line(&format!("error: the baseline {error}"));
                console::line(&format!("hint: {}", error.hint()));
                Err(Exit::Usage)
            }
        }
    }

    /// The comparison, when there is a baseline or a snapshot. Where there are both, the snapshot tells what is offered
    /// differently: it keeps the texts. `partial` says that some of the servers were left out on purpose.
    pub(super) fn comparison(&self, runs: &[RunResult], partial: bool) -> Option<Comparison> {
        let mut comparison = self.baseline.as_ref().map(|before| compare::compare(before, runs));
        if let (Some(comparison), true) = (&mut comparison, partial) {
            comparison.keep_servers(|name| runs.iter().any(|run| run.name == name));
        }
        if let Some(reviewed) = &self.surface {
            reviewed.merge(comparison.get_or_insert_default(), runs);
        }
        comparison
    }

    /// The command that accepts what is offered differently, when something is.
    pub(super) fn acceptance(&self, runs: &[RunResult], secrets: &[String]) -> Option<String> {
        self.surface.as_ref().filter(|reviewed| reviewed.differs(runs)).map(|reviewed| reviewed.acceptance(secrets))
    }
}

/// Whether a baseline can be written there. A device or a pipe is refused: the file is replaced as a whole.
fn replaceable(path: &Path) -> Result<(), Exit> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        console::line(&format!(
            "error: the baseline cannot be written to {}: it is not a regular file",
            path.display()
        ));
        console::line("hint: --write-baseline names a file, which is replaced when the run did not regress");
        return Err(Exit::Usage);
    }
    files::writable(path).map_err(|error| super::conclude::refuse_place("baseline", path, &error))
}

/// Makes the runs the baseline of later ones, unless later ones would find less with it: then the one that is there stays,
/// and it is said.
pub(super) fn write_baseline(
    output: &OutputSettings,
    runs: &[RunResult],
    comparison: Option<&Comparison>,
) -> Result<(), Exit> {
    let Some(path) = &output.write_baseline else { return Ok(()) };
    let why = match runs.iter().find_map(no_baseline) {
        None if comparison.is_some_and(Comparison::regressed) => Some("this run regressed".to_owned()),
        None => lost(path, runs),
        why => why,
    };
    if let Some(why) = why {
        let kept = if path.exists() { "is left as it is" } else { "is not written" };
        console::line(&format!("baseline: {} {kept}, because {why}", path.display()));
        return Ok(());
    }
    save(path, runs).map_err(|error| {
        console::line(&format!("error: the baseline could not be written to {}: {error}", path.display()));
        Exit::Failure
    })
}

/// Why nothing can be compared with a run.
fn no_baseline(run: &RunResult) -> Option<String> {
    let name = excerpt(&run.name, NAME);
    match run.status {
        Status::Graded => None,
        Status::NothingGraded => Some(format!("nothing of {name} was graded")),
        Status::Failed => Some(format!("{name} was not met")),
        Status::Interrupted => Some(format!("the run of {name} was interrupted")),
    }
}

/// What a baseline would lose that is replaced by these runs. What is no report is replaced.
fn lost(path: &Path, runs: &[RunResult]) -> Option<String> {
    let kept = compare::read_file(path).unwrap_or_default();
    let gone = kept.iter().find(|kept| runs.iter().all(|run| run.name != kept.name))?;
    let name = excerpt(&gone.name, NAME);
    Some(format!("it holds {name}, which was not among the servers (remove the file to have it written anew)"))
}

/// Writes the JSON report of the runs, in one step.
pub(super) fn save(path: &Path, runs: &[RunResult]) -> io::Result<()> {
    files::write(path, &rendered(runs)?)
}

/// The JSON report of the runs.
pub(super) fn rendered(runs: &[RunResult]) -> io::Result<Vec<u8>> {
    report::render(Format::Json, runs, &RenderOptions::default()).map_err(io::Error::other)
}
