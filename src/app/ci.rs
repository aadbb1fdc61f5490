//! `ci`: the whole job of a CI run, graded once and published from that one result.

use super::{Exit, job::Job, run};
use crate::cli::{CiArgs, ColorWhen};

/// Runs the command.
pub fn ci(args: &CiArgs, color: ColorWhen) -> Exit {
    let job = Job::of(&args.publish, args.run.settings.compare.baseline.as_deref());
    run::job(&args.run, color, job, args.publish.sarif)
}
