//! One job of a CI run: what is wanted of it, what it publishes, and how it ends.

use std::{
    cell::{Cell, OnceCell},
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    Exit,
    compared::{self, BASELINE},
    conclude::Concluded,
    console, detect,
    platform::{self, ARTIFACT, Fetched},
};
use crate::{
    ci::{
        self, BadgePlace, BaselineFrom, Capability, Context, Notice, Options, Platform, Publication, Published, When,
        Written,
    },
    cli::{BadgeTarget, CommentWhen, PublishArgs, SarifWhere},
    compare::Comparison,
    config::{Settings, settings::Format},
    files,
    gate::Decision,
    report::{GateFacts, Places, RunResult},
};

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
    /// Where the baseline goes that the run is compared with, for a gate apart: it must compare with the same.
    kept: Option<PathBuf>,
    /// What was written there: a server can reach the file while it is graded.
    keeping: OnceCell<Vec<u8>>,
    /// Whether there may be a baseline that could not be had.
    unfetched: Cell<bool>,
}

impl Job {
    /// Reads the job's surroundings; the flags say what is wanted.
    pub fn of(args: &PublishArgs, baseline: Option<&Path>) -> Self {
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
            badge: match &args.badge {
                None | Some(BadgeTarget::Off) => BadgePlace::Off,
                Some(BadgeTarget::Branch(branch)) => BadgePlace::Branch(branch.clone()),
                Some(BadgeTarget::Directory(path)) => BadgePlace::Directory(path.clone()),
            },
            artifact_name: platform::artifact(args.artifact_name.as_ref()),
            baseline_job: args.baseline_job.clone(),
        };
        let (keeping, unfetched) = Default::default();
        Self {
            context,
            options,
            baseline,
            require: args.require_publish,
            network: true,
            kept: None,
            keeping,
            unfetched,
        }
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
            keeping: OnceCell::new(),
            unfetched: Cell::new(false),
        }
    }

    /// Fits the settings of a run to the job, or says why nothing may be graded in it.
    pub fn fit(&mut self, settings: &mut Settings, sarif: SarifWhere) -> Result<(), Exit> {
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
        settings.secrets.extend(platform::token(&self.context).into_iter().chain(platform::job_token(&self.context)));
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
        let exit = if self.keeps_again() { concluded.exit } else { concluded.exit.worst(Exit::Failure) };
        let comparison = concluded.comparison.as_ref();
        let mut publication = self.publication(runs, comparison, missing, &concluded.decision, &concluded.gate);
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
            exit_code: self.exit(&published.notices, exit).code(),
        };
        publication.unpublished = self.fails(&published.notices);
        published.notices.extend(self.local_files(&publication, &written));
        self.conclude(&published.notices, exit)
    }

    /// Keeps the baseline beside a report.
    pub fn keep_beside(&mut self, report: &Path) {
        self.kept = Some(report.with_file_name(BASELINE));
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
        match platform::baseline(&self.context, &self.options.artifact_name, self.options.baseline_job.as_deref()).await
        {
            Ok(runs) => self.keep(runs),
            Err(mut notice) => {
                // What an earlier job left there is not what this one is compared with.
                let _ = self.kept.as_deref().map(std::fs::remove_file);
                let (Notice::Skipped { why, .. } | Notice::Failed { cause: why, .. }) = &notice else {
                    return Fetched::Missing("none was found".to_owned());
                };
                let why = why.clone();
                if let Notice::Failed { cause, .. } = &mut notice {
                    cause.push_str("; so no regression and no drift can be found");
                    self.unfetched.set(true);
                }
                console::line(&notice.line());
                Fetched::Missing(why)
            }
        }
    }

    /// Keeps the baseline beside the report. What cannot be kept is not used: the gate could not know of it.
    fn keep(&self, runs: Vec<RunResult>) -> Fetched {
        let keep = |path| compared::rendered(&runs).and_then(|bytes| files::write(path, &bytes).map(|()| bytes));
        match self.kept.as_deref().map(|path| (path, keep(path))) {
            Some((path, Err(error))) => {
                self.unfetched.set(true);
                let why = format!("the baseline could not be written to {}: {error}", path.display());
                console::line(&format!("warning: no baseline: {why}"));
                Fetched::Missing(why)
            }
            Some((_, Ok(bytes))) => {
                let _ = self.keeping.set(bytes); // fetched once
                Fetched::Found(runs)
            }
            None => Fetched::Found(runs),
        }
    }

    /// Puts the baseline there once more, or takes away what is none: a server may have put its own there meanwhile.
    fn keeps_again(&self) -> bool {
        let Some(path) = &self.kept else { return true };
        let done = match self.keeping.get() {
            Some(bytes) => files::write(path, bytes),
            None => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        if let Err(error) = &done {
            let place = path.display();
            console::line(&format!("error: {place} is not the baseline, and cannot be replaced: {error}"));
            console::line("hint: the server that was graded, or another process, has put it there");
        }
        done.is_ok()
    }

    /// Publishes what platform, event and token allow. Every adapter has its own deadline.
    pub async fn publish(&self, publication: &Publication<'_>, places: &Places) -> Published {
        let (token, job_token) = (platform::token(&self.context), platform::job_token(&self.context));
        let mut published = match (&self.context.platform, token) {
            (Platform::GitHub, Some(token)) => {
                let comment = ci::page::comment(publication);
                let content = ci::github::Content { comment: &comment, places };
                ci::github::publish(publication, &content, &token, ci::github::Limits::default()).await
            }
            (Platform::GitLab, token) => {
                let tokens = ci::gitlab::Tokens { job: job_token.as_deref(), personal: token.as_deref() };
                ci::gitlab::publish(publication, tokens, &ci::page::comment(publication)).await
            }
            (Platform::GitHub, None) => {
                Published { notices: ci::asked::without_a_token(&self.context, &self.options), comment_url: None }
            }
            _ => Published::default(),
        };
        published.notices.extend(ci::asked::without_a_place(&self.context, &self.options));
        published
    }

    /// What to say when a command whose only work it is published nothing at all.
    pub fn nothing_published(&self) -> Option<Notice> {
        let Capability::No { why, remedy } = &self.context.capabilities.comment else { return None };
        let (what, why, remedy) = ("nothing was published".to_owned(), why.clone(), remedy.clone());
        let wanted = self.options.comment != When::Off;
        wanted.then_some(match self.context.platform {
            Platform::GitHub | Platform::GitLab => Notice::OutOfPlace { what, why, remedy },
            _ => Notice::Skipped { what, why, remedy },
        })
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

    /// How the job ends: what was published changes nothing, unless everything had to be.
    pub fn exit(&self, notices: &[Notice], exit: Exit) -> Exit {
        if self.fails(notices) { exit.worst(Exit::Failure) } else { exit }
    }

    /// Whether something that had to be published, or to be compared with, was not.
    pub fn fails(&self, notices: &[Notice]) -> bool {
        self.require && (self.unfetched.get() || notices.iter().any(Notice::missed))
    }

    /// Says what became of it, and how the job ends.
    pub fn conclude(&self, notices: &[Notice], exit: Exit) -> Exit {
        notices.iter().for_each(|notice| console::line(&notice.line()));
        let ends = self.exit(notices, exit);
        if ends != exit {
            console::line(&format!(
                "error: exit code {} instead of {}: something that had to be published was not (--require-publish)",
                ends.code(),
                exit.code()
            ));
            console::line("hint: the notes and warnings above say what it was and what helps");
        }
        ends
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
        Publication {
            context: &self.context,
            runs,
            comparison,
            no_baseline,
            decision,
            gate,
            options: &self.options,
            unpublished: false,
        }
    }
}
