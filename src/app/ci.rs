//! `ci`: the whole job of a CI run, graded once and published from that one result.

use super::{Exit, publication::Job, run};
use crate::cli::{CiArgs, ColorWhen};

/// Runs the command.
pub fn ci(args: &CiArgs, color: ColorWhen) -> Exit {
    let job = match Job::of(&args.publish, args.run.settings.compare.baseline.as_deref()) {
        Ok(job) => job,
        Err(exit) => return exit,
    };
    run::job(&args.run, color, job, args.publish.sarif)
}
