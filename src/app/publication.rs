//! The publishing half of `ci` and `publish`: the baseline, the adapters, the platform's files and what became of each.

use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    Exit,
    compared::{self, Compared},
    conclude::Concluded,
    console, detect,
};
use crate::{
    ci::{
        self, BadgePlace, BaselineFrom, Capability, Context, Event, Notice, Options, Platform, Publication, Published,
        When, Written,
    },
    cli::{CommentWhen, PublishArgs, SarifWhere},
    compare::{self, Comparison},
    config::{Settings, settings::Format},
    gate::Decision,
    report::{GateFacts, Places, RunResult},
};

/// The artifact and the directory of its report, unless something else is said.
pub(super) const ARTIFACT: &str = "sealmark-report";

/// What a run was compared with, beside its report (GitLab).
const BASELINE: &str = "sealmark-baseline.json";

/// The grades as variables of later jobs (GitLab), beside the report.
const DOTENV: &str = "sealmark.env";

/// One job: where it runs and what is wanted of it.
pub(super) struct Job {
    /// Where it runs.
    pub context: Context,
    /// What is to be published.
    pub options: Options,
    /// Where the baseline comes from.
    pub baseline: BaselineFrom,
    /// Whether something that was asked for and not published fails the job.
    require: bool,
    /// Whether a platform is talked to; else its files and the log are all.
    network: bool,
    /// Where the baseline goes that the run was compared with (GitLab): the job with the gate must compare with the same.
    kept: Option<PathBuf>,
}

/// What became of the search for a baseline.
pub(super) enum Fetched {
    /// Nobody asked for one.
    Off,
    /// There is none, and why.
    Missing(String),
    /// The baseline.
    Found(Vec<RunResult>),
}

impl Fetched {
    /// What a run is compared with, and why it is compared with nothing.
    pub fn into_compared(self, otherwise: Compared) -> (Compared, Option<String>) {
        match self {
            Self::Found(baseline) => (otherwise.with(baseline), None),
            Self::Missing(why) => (otherwise, Some(why)),
            Self::Off => (otherwise, None),
        }
    }
}

impl Job {
    /// Reads the job's surroundings; the flags say what is wanted.
    pub fn of(args: &PublishArgs, baseline: Option<&Path>) -> Result<Self, Exit> {
        let context = detect::context();
        let baseline = match baseline.map(|path| (path, path.to_str())) {
            None | Some((_, Some("auto"))) => BaselineFrom::Auto,
            Some((_, Some("off"))) => BaselineFrom::Off,
            Some((path, _)) => BaselineFrom::File(path.to_owned()),
        };
        let options = Options {
            comment: match args.comment {
                CommentWhen::Auto => When::Auto,
                CommentWhen::Always => When::Always,
                CommentWhen::OnChange => When::OnChange,
                CommentWhen::Off => When::Off,
            },
            comment_key: args.comment_key.as_ref().map_or_else(|| "sealmark".to_owned(), |key| key.0.clone()),
            upload_sarif: args.sarif == SarifWhere::Upload,
            annotations: !args.no_annotations,
            summary: !args.no_summary,
            badge: badge(args.badge.as_deref())?,
            artifact_name: artifact_name(args.artifact_name.as_deref())?,
            baseline_job: args.baseline_job.clone(),
        };
        Ok(Self { context, options, baseline, require: args.require_publish, network: true, kept: None })
    }

    /// What `run` does in CI by itself: a job summary and annotations, without a token and without a network.
    pub fn local() -> Self {
        let options = Options {
            comment: When::Off,
            comment_key: String::new(),
            upload_sarif: false,
            annotations: true,
            summary: true,
            badge: BadgePlace::Off,
            artifact_name: ARTIFACT.to_owned(),
            baseline_job: None,
        };
        Self {
            context: detect::context(),
            options,
            baseline: BaselineFrom::Off,
            require: false,
            network: false,
            kept: None,
        }
    }

    /// Fits the settings of a run to the job, or says why nothing may be graded in it.
    pub fn fit(&mut self, settings: &mut Settings, sarif: SarifWhere) -> Result<(), Exit> {
        let starts = settings.servers.iter().any(|server| !server.command.is_empty());
        if let Some(refused) = ci::github::refuse_grading(self.context.event, starts) {
            console::line(&refused.line());
            return Err(Exit::Usage);
        }
        let output = &mut settings.output;
        if output.out.is_some() {
            console::line("error: `sealmark ci` writes several reports, and --out names one file");
            console::line("hint: use --out-dir DIR, which gets one file per format");
            return Err(Exit::Usage);
        }
        let reports = output.out_dir.get_or_insert_with(|| ARTIFACT.into());
        self.kept = (self.context.platform == Platform::GitLab && self.network).then(|| reports.join(BASELINE));
        let mut wanted = vec![Format::Summary, Format::Json];
        wanted.extend((sarif != SarifWhere::Off && self.context.platform == Platform::GitHub).then_some(Format::Sarif));
        wanted.extend((self.context.platform == Platform::GitLab).then_some(Format::Codequality));
        wanted.retain(|format| !output.formats.contains(format));
        output.formats.extend(wanted);
        if let (BaselineFrom::Auto, Some(path)) = (&self.baseline, &output.baseline) {
            self.baseline = BaselineFrom::File(path.clone());
        }
        // Nothing that is written may hold it, whatever a server or a platform says.
        settings.secrets.extend(token(&self.context).into_iter().chain(job_token(&self.context)));
        Ok(())
    }

    /// What the log is told before a server can write to it, and after.
    pub fn bracket(&self) -> (String, String) {
        match self.context.platform {
            Platform::GitHub | Platform::Gitea => {
                ci::log::Stop::new().map(|stop| (stop.open(), stop.close())).unwrap_or_default()
            }
            Platform::GitLab => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
                (ci::sections::open("sealmark", "Grade the servers", false, now), ci::sections::close("sealmark", now))
            }
            _ => Default::default(),
        }
    }

    /// Everything after the reports: publishes, writes the platform's files and says how the job ends.
    pub async fn finish(&self, runs: &[RunResult], concluded: &Concluded, missing: Option<&str>) -> Exit {
        let comparison = concluded.comparison.as_ref();
        let publication = self.publication(runs, comparison, missing, &concluded.decision, &concluded.gate);
        let mut published = match self.network {
            true => self.publish(&publication, &concluded.places).await,
            false => Published::default(),
        };
        let report = concluded.file(Format::Json);
        let dotenv = report.filter(|_| self.network).map(|report| report.with_file_name(DOTENV));
        let written = Written {
            report,
            sarif: concluded.file(Format::Sarif),
            comment_url: published.comment_url.as_deref(),
            dotenv: dotenv.as_deref(),
        };
        published.notices.extend(self.local_files(&publication, &written));
        self.conclude(&published.notices, concluded.exit)
    }

    /// Whether the baseline is the platform's to give.
    pub fn fetches(&self) -> bool {
        self.baseline == BaselineFrom::Auto
    }

    /// The report that the default branch left behind. That there is none is no error: it is the first run.
    pub async fn fetch(&self) -> Fetched {
        if !self.fetches() {
            return Fetched::Off;
        }
        match baseline(&self.context, &self.options.artifact_name, self.options.baseline_job.as_deref()).await {
            Ok(runs) => self.keep(runs),
            Err(notice) => {
                let (Notice::Skipped { why, .. } | Notice::Failed { cause: why, .. }) = &notice else {
                    return Fetched::Missing("none was found".to_owned());
                };
                console::line(&notice.line());
                Fetched::Missing(why.clone())
            }
        }
    }

    /// Keeps the baseline beside the report. What cannot be kept is not used: the gate could not know of it.
    fn keep(&self, runs: Vec<RunResult>) -> Fetched {
        match self.kept.as_deref().map(|path| (path, compared::save(path, &runs))) {
            Some((path, Err(error))) => {
                let why = format!("the baseline could not be written to {}: {error}", path.display());
                console::line(&format!("warning: no baseline: {why}"));
                Fetched::Missing(why)
            }
            _ => Fetched::Found(runs),
        }
    }

    /// Publishes what platform, event and token allow. Every adapter has its own deadline.
    pub async fn publish(&self, publication: &Publication<'_>, places: &Places) -> Published {
        let (token, job_token) = (token(&self.context), job_token(&self.context));
        match (&self.context.platform, token) {
            (Platform::GitHub, Some(token)) => {
                let comment = ci::page::comment(publication);
                let content = ci::github::Content { comment: &comment, places };
                ci::github::publish(publication, &content, &token, ci::github::Limits::default()).await
            }
            (Platform::GitLab, token) => {
                let tokens = ci::gitlab::Tokens { job: job_token.as_deref(), personal: token.as_deref() };
                ci::gitlab::publish(publication, tokens, &ci::page::note(publication)).await
            }
            (Platform::GitHub, None) => Published { notices: self.unpublished(), comment_url: None },
            _ => Published::default(),
        }
    }

    /// Writes the platform's own files and prints the annotations: what needs no network.
    pub fn local_files(&self, publication: &Publication<'_>, written: &Written<'_>) -> Vec<Notice> {
        let wanted = self.options.summary && self.context.summary_file.is_some();
        let summary = wanted.then(|| ci::page::summary(publication));
        let local = ci::local(publication, summary.as_deref(), written);
        if !local.annotations.is_empty() {
            // A reader that went away is no failure of ours, and nothing can be said to it.
            let _ = console::stdout(format!("{}\n", local.annotations.join("\n")).as_bytes());
        }
        local.notices
    }

    /// What is wanted and cannot be done, one line each.
    fn unpublished(&self) -> Vec<Notice> {
        let can = &self.context.capabilities;
        let wanted = [
            (self.options.comment != When::Off && self.context.pull_request.is_some(), "no comment", &can.comment),
            (
                self.options.badge != BadgePlace::Off && self.context.event == Event::DefaultBranch,
                "no badge",
                &can.badge,
            ),
            (self.options.upload_sarif, "no code scanning upload", &can.sarif),
        ];
        let skipped = wanted.into_iter().filter(|(wanted, ..)| *wanted).filter_map(|(_, what, can)| match can {
            Capability::Yes => None,
            Capability::No { why, remedy } => {
                Some(Notice::Skipped { what: what.to_owned(), why: why.clone(), remedy: remedy.clone() })
            }
        });
        skipped.collect()
    }

    /// Says what became of it; the exit code stands unless everything had to be published.
    pub fn conclude(&self, notices: &[Notice], exit: Exit) -> Exit {
        notices.iter().for_each(|notice| console::line(&notice.line()));
        let missed = notices.iter().any(|notice| !matches!(notice, Notice::Done { .. }));
        if self.require && missed {
            console::line("error: something that was asked for could not be published (--require-publish)");
            return exit.worst(Exit::Failure);
        }
        exit
    }

    /// Everything the adapters read, put together.
    pub fn publication<'a>(
        &'a self,
        runs: &'a [RunResult],
        comparison: Option<&'a Comparison>,
        no_baseline: Option<&'a str>,
        decision: &'a Decision,
        gate: &'a GateFacts,
    ) -> Publication<'a> {
        Publication { context: &self.context, runs, comparison, no_baseline, decision, gate, options: &self.options }
    }
}

/// Asks the platform for the baseline.
pub(super) async fn baseline(context: &Context, artifact: &str, job: Option<&str>) -> Result<Vec<RunResult>, Notice> {
    if let Capability::No { why, remedy } = &context.capabilities.baseline {
        return Err(Notice::Skipped { what: "no baseline".to_owned(), why: why.clone(), remedy: remedy.clone() });
    }
    let (token, job_token) = (token(context), job_token(context));
    let bytes = match context.platform {
        Platform::GitHub => {
            let token = token.unwrap_or_default();
            ci::github::baseline(context, &token, artifact, ci::github::Limits::default()).await?
        }
        Platform::GitLab => {
            let tokens = ci::gitlab::Tokens { job: job_token.as_deref(), personal: token.as_deref() };
            ci::gitlab::baseline(context, tokens, job, artifact).await?
        }
        _ => {
            return Err(Notice::Skipped {
                what: "no baseline".to_owned(),
                why: "this platform keeps none that sealmark can read".to_owned(),
                remedy: "give one with --baseline FILE".to_owned(),
            });
        }
    };
    compare::read_reports(&bytes).map_err(|error| Notice::Failed {
        what: "no baseline".to_owned(),
        cause: format!("the report of the default branch cannot be used: {error}"),
        remedy: error.hint().to_owned(),
    })
}

/// The report of the workflow run that triggered this one.
pub(super) async fn triggering_report(job: &Job) -> Result<Vec<RunResult>, Notice> {
    let refused = |why: &str, remedy: &str| Notice::Failed {
        what: "nothing was published".to_owned(),
        cause: why.to_owned(),
        remedy: remedy.to_owned(),
    };
    if job.context.platform != Platform::GitHub || job.context.event != Event::WorkflowRun {
        return Err(refused(
            "--artifact takes the report from the run that triggered a workflow_run workflow, and this is none",
            "name a report with --report FILE",
        ));
    }
    let token =
        token(&job.context).ok_or_else(|| refused("there is no token", "set GITHUB_TOKEN in the step's env"))?;
    let limits = ci::github::Limits::default();
    let bytes = ci::github::triggering_report(&job.context, &token, &job.options.artifact_name, limits).await?;
    compare::read_reports(&bytes)
        .map_err(|error| refused(&format!("the report in the artifact cannot be used: {error}"), &error.hint()))
}

/// A runtime for commands that talk to a platform and to nothing else.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Exit> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        console::line(&format!("error: the runtime could not be started: {error}"));
        Exit::Failure
    })
}

/// The publishing token, read where it is needed and nowhere kept.
fn token(context: &Context) -> Option<String> {
    variable(context.token_variable.as_deref())
}

/// The token of a GitLab job, which reads baselines.
fn job_token(context: &Context) -> Option<String> {
    variable(context.job_token_variable.as_deref())
}

fn variable(name: Option<&str>) -> Option<String> {
    let name = name?;
    std::env::var(name).ok().map(|token| token.trim().to_owned()).filter(|token| !token.is_empty())
}

fn badge(asked: Option<&str>) -> Result<BadgePlace, Exit> {
    let refuse = |why: &str| {
        console::line(&format!("error: --badge: {why}"));
        console::line(
            "hint: --badge badges commits to the branch `badges`, --badge ./badges to a directory, --badge off to neither",
        );
        Exit::Usage
    };
    match asked {
        None | Some("off" | "") => Ok(BadgePlace::Off),
        Some(path) if path.starts_with("./") => {
            let below = path.trim_start_matches("./").trim_end_matches('/');
            let plain =
                |part: &str| !part.is_empty() && part != ".." && part != "." && !part.eq_ignore_ascii_case(".git");
            match !below.is_empty() && below.split('/').all(plain) && !below.contains(['\\', '\n', '\r', '\0']) {
                true => Ok(BadgePlace::Directory(below.to_owned())),
                false => Err(refuse("not a directory below the repository's root")),
            }
        }
        Some(branch) => {
            // git check-ref-format, as far as a name can break a URL or a ref.
            let bad = branch.starts_with(['-', '/', '.'])
                || branch.ends_with(['/', '.'])
                || branch.ends_with(".lock")
                || branch.contains("..")
                || branch.contains("//")
                || branch.contains("@{")
                || branch.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c));
            if bad { Err(refuse("not a branch name")) } else { Ok(BadgePlace::Branch(branch.to_owned())) }
        }
    }
}

/// An artifact's name as GitHub takes it.
pub(super) fn artifact_name(asked: Option<&str>) -> Result<String, Exit> {
    let name = asked.filter(|name| !name.is_empty()).unwrap_or(ARTIFACT);
    if name.len() <= 255 && !name.chars().any(|c| c.is_control() || "\":<>|*?\\/".contains(c)) {
        return Ok(name.to_owned());
    }
    console::line(
        "error: --artifact-name: an artifact's name has at most 255 characters and none of \" : < > | * ? \\ /",
    );
    console::line("hint: leave it out for `sealmark-report`");
    Err(Exit::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_goes_to_a_branch_or_to_a_directory() {
        assert_eq!(badge(None), Ok(BadgePlace::Off));
        assert_eq!(badge(Some("off")), Ok(BadgePlace::Off));
        assert_eq!(badge(Some("badges")), Ok(BadgePlace::Branch("badges".to_owned())));
        assert_eq!(badge(Some("ci/badges")), Ok(BadgePlace::Branch("ci/badges".to_owned())));
        assert_eq!(badge(Some("./docs/badges/")), Ok(BadgePlace::Directory("docs/badges".to_owned())));
        for wrong in ["../x", "./../x", "./", "./.git/x", "a..b", "-x", "a b", "x.lock", "a\nb"] {
            assert_eq!(badge(Some(wrong)), Err(Exit::Usage), "{wrong:?}");
        }
    }

    #[test]
    fn an_artifact_has_a_name_that_the_platform_takes() {
        assert_eq!(artifact_name(None), Ok("sealmark-report".to_owned()));
        assert_eq!(artifact_name(Some("report linux")), Ok("report linux".to_owned()));
        assert_eq!(artifact_name(Some("a/b")), Err(Exit::Usage));
    }
}
