//! `publish`: reports on disk → comment, badges, code scanning. The reports are untrusted; nothing is graded.

use super::{Exit, compared::Compared, config_cmd, console, job::Job, platform};
use crate::{
    ci::{BaselineFrom, Written},
    cli::{PublishCommandArgs, SourceArgs},
    compare,
    config::{self, settings::OutputSettings},
    gate,
    report::Places,
};

/// Runs the command. The gate decides what the comment says, never how this command ends.
pub fn publish(args: &PublishCommandArgs) -> Exit {
    match prepared(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn prepared(args: &PublishCommandArgs) -> Result<Exit, Exit> {
    let mut job = Job::of(&args.publish, args.baseline.as_deref());
    if let Some(report) = args.report.first() {
        job.keep_beside(report);
    }
    let mut output = gate_settings(args)?;
    if let BaselineFrom::File(path) = &job.baseline {
        output.baseline = Some(path.clone());
    }
    let compared = Compared::read(&output, job.fetches())?;
    let read = compare::read_files(&args.report);
    let mut runs = read.map_err(|error| console::mistake(&error, Some(&error.hint())))?;
    let runtime = platform::runtime()?;
    let exit = runtime.block_on(async {
        if args.artifact {
            match platform::triggering_report(&job).await {
                Ok(found) => runs = found,
                Err(notice) => return job.conclude(&[notice], Exit::Ok),
            }
        }
        let (compared, missing) = job.fetch().await.into_compared(compared);
        let comparison = compared.comparison(&runs, false);
        let decision = gate::decide(&runs, &output, comparison.as_ref());
        let gate = decision.facts(&output);
        let mut publication = job.publication(&runs, comparison.as_ref(), missing.as_deref(), &decision, &gate);
        let mut published = job.publish(&publication, &Places::default()).await;
        if published.notices.is_empty() {
            published.notices.extend(job.nothing_published());
        }
        let written = Written {
            report: args.report.first().map(std::path::PathBuf::as_path),
            comment_url: published.comment_url.as_deref(),
            exit_code: job.exit(&published.notices, Exit::Ok).code(),
            ..Written::default()
        };
        publication.unpublished = job.fails(&published.notices);
        published.notices.extend(job.local_files(&publication, &written));
        job.conclude(&published.notices, Exit::Ok)
    });
    runtime.shutdown_background();
    Ok(exit)
}

/// The gate of the flags over the ci profile. Files of the checkout decide nothing: it may be anybody's.
fn gate_settings(args: &PublishCommandArgs) -> Result<OutputSettings, Exit> {
    let mut request = config_cmd::request(&SourceArgs::default(), args.gate.values())?;
    request.fileless = true;
    request.ci = true;
    let resolved = config::resolve(&request).map_err(|error| config_cmd::mistake(&error))?;
    Ok(resolved.settings.output)
}
