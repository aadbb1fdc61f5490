//! `surface`: what the servers offer, without grading; and the snapshots that `run` writes and compares with.

use std::{path::Path, sync::Arc};

use super::{
    Exit, conclude, config_cmd, console, detect, grading,
    reviewed::Reviewed,
    run,
    signals::{self, Signals},
};
use crate::{
    cli::SurfaceArgs,
    compare::{self, Comparison, ServerSurface, Snapshot},
    config::{
        self, Resolved,
        settings::{FailOn, OutputSettings},
    },
    files,
    model::{Surface, Trace},
    plan,
    report::RunResult,
    run::Impossible,
    text::Redactor,
};

/// Runs the command.
pub fn surface(args: &SurfaceArgs) -> Exit {
    let asked = args.values().map_err(|error| super::command_line::refuse(&error));
    let resolved = asked.and_then(|values| {
        let request = config_cmd::request(&args.source, values)?;
        let resolved = config::resolve(&request).and_then(|resolved| resolved.require_servers().map(|()| resolved));
        let resolved = resolved.map_err(|error| config_cmd::mistake(&error))?;
        detect::refuse_to_start(&resolved.settings).map(|()| resolved)
    });
    let mut resolved = match resolved {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    let reviewed = match args.check.as_deref().map(Reviewed::read).transpose() {
        Ok(reviewed) => reviewed,
        Err(exit) => return exit,
    };
    if let Some(Err(exit)) = args.out.as_deref().map(replaceable) {
        return exit;
    }
    let out = args.out.as_deref().map(files::resolved);
    // Nothing is graded and no report is written: what says how is left alone.
    let settings = &mut resolved.settings;
    let output = &mut settings.output;
    (output.out, output.out_dir) = (None, None);
    output.formats.clear();
    settings.sandbox.keep = false;
    settings.packs.clear();
    settings.tools_exclude.clear();
    settings.tools_overrides.clear();
    let secrets = settings.secrets.clone();
    survey(&resolved, |runs| {
        let failed = runs.iter().any(|run| run.server.offers.is_none());
        let exit = match (&out, &reviewed) {
            (_, Some(reviewed)) => checked(runs, reviewed, &secrets),
            (Some(path), None) => write(path, runs).err().unwrap_or(Exit::Ok),
            _ if failed => Exit::Failure,
            _ => console::answer(&of(runs).render()),
        };
        if failed { exit.worst(Exit::Failure) } else { exit }
    })
}

/// Starts every server, side by side, and only lists what it offers.
fn survey(resolved: &Resolved, conclude: impl FnOnce(&[RunResult]) -> Exit) -> Exit {
    let runtime = match run::ready(&resolved.settings) {
        Ok(runtime) => runtime,
        Err(exit) => return exit,
    };
    let settings = Arc::new(resolved.settings.clone());
    let ended = runtime.block_on(async {
        let mut signals = Signals::catch();
        grading::all(resolved, &settings, &plan::survey(), None, &mut signals).await
    });
    runtime.shutdown_background();
    match ended {
        Ok((_, Some(stopped))) => {
            console::line(&signals::last_line(stopped));
            stopped
        }
        Ok((runs, None)) => {
            let exit = conclude(&runs);
            if runs.len() == settings.servers.len() { exit } else { exit.worst(Exit::Failure) }
        }
        Err(Impossible { tool, class, takes_text }) => {
            config_cmd::mistake(&resolved.override_without_parameter(&tool, &class, &takes_text))
        }
    }
}

/// Compares and says so. A server that the snapshot does not hold is one that nobody reviewed.
fn checked(runs: &[RunResult], reviewed: &Reviewed, secrets: &[String]) -> Exit {
    let mut comparison = Comparison::default();
    reviewed.merge(&mut comparison, runs);
    for line in compare::lines(&comparison, FailOn { drift: true, ..FailOn::default() }) {
        console::line(&line);
    }
    if reviewed.differs(runs) {
        console::line(&reviewed.acceptance(secrets));
    }
    let unknown = of(runs).servers.keys().any(|name| !reviewed.holds(name));
    if unknown || comparison.drifted() { Exit::BelowGate } else { Exit::Ok }
}

/// Whether a snapshot can be written there: it is a place for files, and what is there is a snapshot.
pub(super) fn replaceable(path: &Path) -> Result<(), Exit> {
    files::writable(path).map_err(|error| conclude::refuse_place("surface", path, &error))?;
    if std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
        && let Err(error) = Snapshot::read_file(path)
    {
        console::line(&format!("error: {error}"));
        console::line("hint: it is not overwritten; remove it to have it written anew, or name another file");
        return Err(Exit::Usage);
    }
    Ok(())
}

/// The surfaces that the runs met.
fn of(runs: &[RunResult]) -> Snapshot {
    let met = runs.iter().filter_map(|run| Some((run.name.clone(), run.server.offers.as_deref()?.clone())));
    Snapshot { servers: met.collect() }
}

/// Writes the surfaces of the runs. Servers of the file that did not run stay as they are; a server that could not be met
/// leaves the whole file as it is, so that it never loses one in silence.
pub(super) fn write(path: &Path, runs: &[RunResult]) -> Result<(), Exit> {
    if let Some(run) = runs.iter().find(|run| run.server.offers.is_none()) {
        console::line(&format!("surface: {} is left as it is, because {} was not met", path.display(), run.name));
        return Ok(());
    }
    let mut snapshot = of(runs);
    let earlier = Snapshot::read_file(path).unwrap_or_default();
    for (name, surface) in earlier.servers {
        snapshot.servers.entry(name).or_insert_with_key(|name| {
            console::line(&format!(
                "surface: {name} was not among the servers and is kept as {} has it",
                path.display()
            ));
            surface
        });
    }
    for (name, surface) in &of(runs).servers {
        for (list, why) in &surface.unread {
            console::line(&format!("surface: {name}: {list} could not be read whole: {why}"));
        }
    }
    files::write(path, snapshot.render().as_bytes()).map_err(|error| {
        console::line(&format!("error: the surface could not be written to {}: {error}", path.display()));
        Exit::Failure
    })
}

/// What a server offers with its texts, where a snapshot is written or compared with, or nothing else is wanted. None of
/// a server that was not met. A snapshot is committed: what would differ from run to run is always rewritten.
pub(super) fn offers(
    output: &OutputSettings,
    trace: &Trace,
    surface: &Surface,
    secrets: &[String],
) -> Option<Box<ServerSurface>> {
    let wanted = output.surface.is_some() || output.write_surface.is_some() || trace.header.packs.is_empty();
    let met = trace.header.failure.is_none() && surface.handshake.is_some();
    (wanted && met).then(|| {
        let redactor = Redactor::new(&trace.header.placeholders, secrets, true);
        Box::new(ServerSurface::read(surface, &redactor))
    })
}
