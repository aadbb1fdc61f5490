//! Where in the checked-out sources findings point.

use crate::{
    ci,
    config::settings::{Format, OutputSettings},
    model::Verdict,
    report::{Places, RunResult, result::CheckResult},
};

/// The lines of the checked-out sources that register the tools, for formats that point at lines.
pub(super) fn places(runs: &[RunResult], output: &OutputSettings) -> Places {
    let points = |format: &Format| matches!(format, Format::Sarif | Format::Codequality | Format::Sast);
    let here = std::env::current_dir();
    let (true, Ok(here)) = (output.formats.iter().any(points), here) else { return Places::default() };
    let root = here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(&here);
    let directory = here.strip_prefix(root).map(|below| below.to_string_lossy().replace('\\', "/")).unwrap_or_default();
    let failing = |run: &&RunResult| run.packs.0.iter().any(|(_, pack)| pack.checks.iter().any(finds));
    let tools = |run: &RunResult| {
        let name = run.name.clone();
        run.server.surface.tools.iter().map(move |tool| (name.clone(), tool.name.clone())).collect::<Vec<_>>()
    };
    let tools: Vec<_> = runs.iter().filter(failing).flat_map(tools).collect();
    let stand_in = STAND_INS.iter().find(|name| root.join(name).is_file()).map(|name| (*name).to_owned());
    Places { directory, stand_in, ..ci::places::find(root, &tools) }
}

/// Files that tell how a server is started, where no configuration does: a platform drops findings in files that it does not
/// know.
const STAND_INS: [&str; 6] = [".gitlab-ci.yml", "package.json", "pyproject.toml", "go.mod", "Cargo.toml", "README.md"];

fn finds(check: &CheckResult) -> bool {
    matches!(check.verdict, Verdict::Fail | Verdict::Part)
}
