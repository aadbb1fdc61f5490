//! `baseline fetch`: the report that the default branch left behind.

use super::{Exit, compared, console, detect, platform};
use crate::{
    ci::{Capability, Notice},
    cli::BaselineFetchArgs,
    files,
    report::RunResult,
};

/// Runs the command. That there is no baseline yet is no error: nothing is written then, and the log says why. That this job
/// cannot ask for one is a mistake.
pub fn fetch(args: &BaselineFetchArgs) -> Exit {
    let artifact = platform::artifact(args.artifact_name.as_ref());
    let context = detect::context();
    if let Capability::No { why, remedy } = &context.capabilities.baseline {
        console::line(&format!("error: the baseline cannot be fetched here: {why}"));
        console::line(&format!("hint: {remedy}"));
        return Exit::Usage;
    }
    let fetched = match platform::runtime() {
        Ok(runtime) => {
            let fetched = runtime.block_on(platform::baseline(&context, &artifact, args.baseline_job.as_deref()));
            runtime.shutdown_background();
            fetched
        }
        Err(exit) => return exit,
    };
    match fetched {
        Ok(runs) => write(args, &runs),
        Err(notice) => {
            console::line(&notice.line());
            if matches!(notice, Notice::Failed { .. }) { Exit::Failure } else { Exit::Ok }
        }
    }
}

fn write(args: &BaselineFetchArgs, runs: &[RunResult]) -> Exit {
    match compared::save(&files::resolved(&args.out), runs) {
        Ok(()) => {
            console::line(&format!("the baseline ({}) is in {}", servers(runs), args.out.display()));
            Exit::Ok
        }
        Err(error) => {
            console::line(&format!("error: the baseline could not be written to {}: {error}", args.out.display()));
            console::line("hint: name a file in a directory that you may write to");
            Exit::Failure
        }
    }
}

fn servers(runs: &[RunResult]) -> String {
    match runs {
        [run] => run.name.clone(),
        runs => format!("{} servers", runs.len()),
    }
}
