//! A scenario of the fake GitHub (`fake.py`), and what is published to it.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use sealmark::{
    ci::{
        BadgePlace, Capabilities, Capability, Context, Event, Notice, Options, Platform, Publication, Published,
        PullRequest, When,
        github::{self, Content, Limits},
        http::Http,
    },
    compare::Comparison,
    gate::Decision,
    report::{GateFacts, Places, RunResult},
};
use serde_json::{Value, json};

/// The token of a job.
pub const TOKEN: &str = "ghs_Nobody_may_read_this_0123456789";
/// A commit.
pub const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

struct Fake {
    ports: Value,
    _child: Option<Child>,
}

/// The fake of this process, or the one that `run.py` has put GitHub's description in front of.
fn ports() -> &'static Value {
    static FAKE: OnceLock<Fake> = OnceLock::new();
    let fake = FAKE.get_or_init(|| {
        if let Ok(ports) = std::env::var("SEALMARK_FAKE_GITHUB") {
            return Fake { ports: serde_json::from_str(&ports).unwrap(), _child: None };
        }
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ci/github/fake.py");
        // It ends with this process, whose end of the pipe is its standard input.
        let mut child = Command::new("python3")
            .arg("-B")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("these tests need python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Fake { ports: serde_json::from_str(&line).unwrap(), _child: Some(child) }
    });
    &fake.ports
}

/// One scenario: a repository of its own.
pub struct World {
    name: &'static str,
    http: Http,
    pub context: Context,
    pub options: Options,
    pub runs: Vec<RunResult>,
    pub comparison: Option<Comparison>,
    pub decision: Decision,
    pub token: String,
    pub limits: Limits,
    pub body: String,
}

impl World {
    /// A pull request in a repository that holds what `given` says; nothing is wanted yet.
    pub async fn new(name: &'static str, given: Value) -> Self {
        let yes = || Capability::Yes;
        let context = Context {
            platform: Platform::GitHub,
            event: Event::PullRequest,
            repository: Some(format!("acme/{name}")),
            repository_id: Some(1),
            default_branch: Some("main".to_owned()),
            branch: Some("topic".to_owned()),
            git_ref: Some("refs/pull/7/merge".to_owned()),
            sha: Some("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb".to_owned()),
            pull_request: Some(PullRequest {
                number: Some(7),
                head: Some(("acme".to_owned(), "topic".to_owned())),
                head_sha: Some(HEAD.to_owned()),
                base_branch: Some("main".to_owned()),
                project: None,
            }),
            run_id: Some(99),
            api_url: Some(format!("http://127.0.0.1:{}{}", ports()["front"], prefix())),
            server_url: Some("https://github.com".to_owned()),
            capabilities: Capabilities {
                comment: yes(),
                baseline: yes(),
                badge: yes(),
                sarif: yes(),
                summary: yes(),
                annotations: yes(),
                outputs: yes(),
            },
            ..Context::default()
        };
        let options = Options {
            comment: When::Off,
            comment_key: "sealmark".to_owned(),
            upload_sarif: false,
            annotations: false,
            summary: false,
            badge: BadgePlace::Off,
            artifact_name: "sealmark-report".to_owned(),
            baseline_job: None,
        };
        let world = Self {
            name,
            http: Http::new(None).unwrap(),
            context,
            options,
            runs: vec![report()],
            comparison: None,
            decision: Decision::default(),
            token: TOKEN.to_owned(),
            limits: Limits { poll: Duration::from_millis(20), ..Limits::default() },
            body: "## Sealmark\n\nfirst".to_owned(),
        };
        world.set(given).await;
        world
    }

    /// The same with a comment wanted.
    pub async fn commenting(name: &'static str, given: Value) -> Self {
        let mut world = Self::new(name, given).await;
        world.options.comment = When::Auto;
        world
    }

    /// A push to the default branch, with badges wanted in a branch.
    pub async fn pushing(name: &'static str, given: Value) -> Self {
        let mut world = Self::new(name, given).await;
        world.context.event = Event::DefaultBranch;
        world.context.pull_request = None;
        world.context.branch = Some("main".to_owned());
        world.context.git_ref = Some("refs/heads/main".to_owned());
        world.options.badge = BadgePlace::Branch("badges".to_owned());
        world
    }

    /// Makes the repository anew.
    pub async fn set(&self, given: Value) {
        self.http.post(&self.control()).json(&given).send().await.unwrap();
    }

    fn control(&self) -> String {
        format!("http://127.0.0.1:{}/_scenario/acme/{}", ports()["back"], self.name)
    }

    /// What the repository holds now; no call may have broken GitHub's description.
    pub async fn state(&self) -> Value {
        let reply = self.http.get(&self.control()).limit(64 << 20).send().await.unwrap();
        let state: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(state["violations"], json!([]));
        state
    }

    /// Publishes, and returns the calls that were made for it. The token is in no line.
    pub async fn publish(&self) -> (Published, Vec<String>) {
        let before = self.state().await["calls"].as_array().unwrap().len();
        let gate = GateFacts::default();
        let publication = Publication {
            context: &self.context,
            runs: &self.runs,
            comparison: self.comparison.as_ref(),
            no_baseline: None,
            decision: &self.decision,
            gate: &gate,
            options: &self.options,
            unpublished: false,
        };
        let places = Places::default();
        let content = Content { comment: &self.body, places: &places };
        let published = github::publish(&publication, &content, &self.token, self.limits).await;
        assert!(!format!("{published:?}").contains(&self.token), "{published:?}");
        let state = self.state().await;
        let calls = state["calls"].as_array().unwrap()[before..].iter();
        (published, calls.map(|call| call.as_str().unwrap().to_owned()).collect())
    }

    /// Publishes one thing and returns its line and the calls.
    pub async fn line(&self) -> (String, Vec<String>) {
        let (published, calls) = self.publish().await;
        let [notice] = published.notices.as_slice() else { panic!("{published:?}") };
        (notice.line(), calls)
    }

    /// The baseline as text, or the line that says why there is none, and the calls.
    pub async fn baseline(&self) -> (Result<String, String>, Vec<String>) {
        let name = &self.options.artifact_name;
        let found = github::baseline(&self.context, &self.token, name, self.limits).await;
        self.told(found).await
    }

    /// The same for the report of the triggering run.
    pub async fn triggering_report(&self) -> (Result<String, String>, Vec<String>) {
        let name = &self.options.artifact_name;
        let found = github::triggering_report(&self.context, &self.token, name, self.limits).await;
        self.told(found).await
    }

    async fn told(&self, found: Result<Vec<u8>, Notice>) -> (Result<String, String>, Vec<String>) {
        let found = found.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|notice| notice.line());
        assert!(!format!("{found:?}").contains(&self.token));
        let calls = self.state().await["calls"].as_array().unwrap().clone();
        (found, calls.iter().map(|call| call.as_str().unwrap().to_owned()).collect())
    }

    /// The bodies of all comments, oldest first.
    pub async fn comments(&self) -> Vec<String> {
        let state = self.state().await;
        let comments = state["comments"]["7"].as_array().cloned().unwrap_or_default();
        comments.iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }

    /// The names of the files in a branch.
    pub async fn files(&self, branch: &str) -> BTreeSet<String> {
        let state = self.state().await;
        state["branches"][branch]["files"].as_object().unwrap().keys().cloned().collect()
    }
}

/// GitHub Enterprise Server has its API below a path.
fn prefix() -> &'static str {
    if std::env::var_os("SEALMARK_FAKE_ENTERPRISE").is_some() { "/api/v3" } else { "" }
}

/// A report of one server.
pub fn report() -> RunResult {
    serde_json::from_str(include_str!("report.json")).unwrap()
}

/// A comment of the job's own bot.
pub fn own(id: u64, body: &str) -> Value {
    json!({ "id": id, "body": body, "login": "github-actions[bot]", "kind": "Bot" })
}
