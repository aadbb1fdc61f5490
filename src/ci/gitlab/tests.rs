//! The adapter against a GitLab that remembers notes and knows who asks.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::{
    ci::{
        BadgePlace, Capabilities, Capability, Context, Event, Notice, Options, Platform, Publication, Published,
        PullRequest, When,
    },
    compare::{Change, Comparison, ServerComparison},
    gate::Decision,
    report::GateFacts,
};

const PERSONAL: &str = "glpat-personal-secret";
const JOB: &str = "glcbt-64_job-secret";
const MARKER: &str = "<!-- sealmark:sealmark -->";
const OURS: u64 = 40;

/// What the fake knows; a test changes it.
#[derive(Default)]
struct World {
    notes: Vec<Value>,
    /// Method and path (decoded only as far as the client encoded it), with the credential's header.
    calls: Vec<String>,
    /// The whole requests.
    seen: String,
    /// Path fragment → status and body, for refusals and files.
    answers: Vec<(&'static str, u16, String)>,
    /// A note that another job creates at the moment of the next creation.
    rival: Option<Value>,
}

struct Fake {
    url: String,
    world: Arc<Mutex<World>>,
}

impl Fake {
    async fn start(world: World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/api/v4", listener.local_addr().unwrap());
        let world = Arc::new(Mutex::new(world));
        let shared = Arc::clone(&world);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = Vec::new();
                let (head, body) = loop {
                    let mut piece = [0; 4096];
                    let count = stream.read(&mut piece).await.unwrap();
                    bytes.extend_from_slice(&piece[..count]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head
                        .to_lowercase()
                        .split("content-length: ")
                        .nth(1)
                        .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse().unwrap());
                    if body.len() >= length {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                let (status, headers, answer) = shared.lock().unwrap().answer(&head, &body);
                let length = answer.len();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{answer}"
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        Self { url, world }
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.world.lock().unwrap().calls)
    }

    fn bodies(&self) -> Vec<String> {
        let world = self.world.lock().unwrap();
        world.notes.iter().map(|note| note["body"].as_str().unwrap().to_owned()).collect()
    }
}

impl World {
    fn answer(&mut self, head: &str, body: &str) -> (u16, String, String) {
        self.seen.push_str(head);
        let line = head.lines().next().unwrap();
        let (method, path) = (line.split(' ').next().unwrap(), line.split(' ').nth(1).unwrap());
        let who = head
            .lines()
            .find_map(|line| line.to_lowercase().starts_with("private-token: ").then_some("personal"))
            .or_else(|| head.lines().find_map(|line| line.to_lowercase().starts_with("job-token: ").then_some("job")))
            .unwrap_or("nobody");
        self.calls.push(format!("{method} {} as {who}", path.trim_start_matches("/api/v4")));
        let refusal = self.answers.iter().find(|(part, ..)| format!("{method} {path} as {who}").contains(part));
        if let Some((_, status, text)) = refusal {
            return (*status, String::new(), text.clone());
        }
        let ok = |value: Value| (200, String::new(), value.to_string());
        let note_id = path.rsplit('/').next().unwrap().parse::<u64>().ok();
        let note =
            |body: &Value, id: u64| json!({"id": id, "body": body["body"], "system": false, "author": {"id": OURS}});
        match (method, path) {
            ("GET", path) if path.ends_with("/user") => ok(json!({"id": OURS, "username": "bot"})),
            ("GET", path) if path.contains("/notes?") => {
                let page: usize = path.split("&page=").nth(1).unwrap().parse().unwrap();
                let pages: Vec<_> = self.notes.chunks(100).collect();
                let next = if page < pages.len() { (page + 1).to_string() } else { String::new() };
                let notes = pages.get(page - 1).copied().unwrap_or_default();
                (200, format!("x-next-page: {next}\r\n"), json!(notes).to_string())
            }
            ("POST", _) => {
                self.notes.extend(self.rival.take());
                let id = self.notes.iter().map(|note| note["id"].as_u64().unwrap()).max().unwrap_or(0) + 1;
                let created = note(&serde_json::from_str(body).unwrap(), id);
                self.notes.push(created.clone());
                (201, String::new(), created.to_string())
            }
            ("PUT", _) => {
                let new: Value = serde_json::from_str(body).unwrap();
                let found = self.notes.iter_mut().find(|note| note["id"].as_u64() == note_id).unwrap();
                found["body"] = new["body"].clone();
                ok(found.clone())
            }
            ("DELETE", _) => {
                self.notes.retain(|note| note["id"].as_u64() != note_id);
                (204, String::new(), String::new())
            }
            _ => (404, String::new(), r#"{"message":"404 Not found"}"#.to_owned()),
        }
    }
}

fn context(url: &str) -> Context {
    let request = PullRequest {
        number: Some(7),
        head: None,
        head_sha: None,
        base_branch: Some("release/1.x".to_owned()),
        project: None,
    };
    Context {
        platform: Platform::GitLab,
        event: Event::PullRequest,
        repository: Some("11".to_owned()),
        default_branch: Some("main".to_owned()),
        base_branch: request.base_branch.clone(),
        pull_request: Some(request),
        run_url: Some("https://gitlab.example/acme/mcp/-/jobs/99".to_owned()),
        job: Some("sealmark".to_owned()),
        api_url: Some(url.to_owned()),
        token_variable: Some("SEALMARK_GITLAB_TOKEN".to_owned()),
        capabilities: Capabilities { comment: Capability::Yes, ..Context::default().capabilities },
        ..Context::default()
    }
}

fn options(comment: When) -> Options {
    Options {
        comment,
        comment_key: "sealmark".to_owned(),
        upload_sarif: false,
        annotations: false,
        summary: false,
        badge: BadgePlace::Off,
        artifact_name: "sealmark-report".to_owned(),
        baseline_job: None,
    }
}

const BOTH: Tokens<'_> = Tokens { job: Some(JOB), personal: Some(PERSONAL) };

async fn publish_with(
    context: &Context,
    options: &Options,
    comparison: Option<&Comparison>,
    tokens: Tokens<'_>,
    body: &str,
) -> Published {
    let decision = Decision::default();
    let gate = GateFacts::default();
    let publication = Publication {
        context,
        runs: &[],
        comparison,
        no_baseline: None,
        decision: &decision,
        gate: &gate,
        options,
        unpublished: false,
    };
    publish(&publication, tokens, body).await
}

async fn comment(fake: &Fake, body: &str) -> String {
    let published =
        publish_with(&context(&fake.url), &options(When::Auto), None, BOTH, &format!("{MARKER}\n{body}")).await;
    assert_eq!(published.notices.len(), 1);
    published.notices[0].line()
}

fn note(id: u64, author: u64, body: &str) -> Value {
    json!({"id": id, "body": body, "system": false, "author": {"id": author}})
}

#[tokio::test]
async fn a_note_is_created_then_updated_then_left_alone() {
    let fake = Fake::start(World::default()).await;
    let page = "https://gitlab.example/acme/mcp/-/merge_requests/7#note_1";
    let notes = "/projects/11/merge_requests/7/notes";
    let list = format!("GET {notes}?sort=asc&order_by=created_at&per_page=100&page=1 as personal");
    assert_eq!(comment(&fake, "one").await, format!("comment created: {page}"));
    assert_eq!(fake.calls(), [list.clone(), format!("POST {notes} as personal"), list.clone()]);
    assert_eq!(comment(&fake, "two").await, format!("comment updated: {page}"));
    assert_eq!(fake.calls(), [list.clone(), "GET /user as personal".to_owned(), format!("PUT {notes}/1 as personal")]);
    assert_eq!(comment(&fake, "two\r\n").await, format!("comment unchanged: {page}"));
    assert_eq!(fake.calls(), [list, "GET /user as personal".to_owned()]);
    assert_eq!(fake.bodies(), [format!("{MARKER}\ntwo")]);
    assert!(!fake.world.lock().unwrap().seen.contains(JOB), "a note is never written as the job");
}

#[tokio::test]
async fn a_planted_marker_and_a_system_note_are_not_ours() {
    let mut system = note(2, OURS, MARKER);
    system["system"] = json!(true);
    let other = note(3, OURS, "<!-- sealmark:other -->");
    let fake = Fake::start(World { notes: vec![note(1, 666, MARKER), system, other], ..World::default() }).await;
    assert!(comment(&fake, "x").await.starts_with("comment created"));
    assert_eq!(
        fake.bodies(),
        [MARKER.to_owned(), MARKER.to_owned(), "<!-- sealmark:other -->".to_owned(), format!("{MARKER}\nx")]
    );
}

#[tokio::test]
async fn a_note_on_the_third_page_is_found() {
    let mut notes: Vec<_> = (1..=250).map(|id| note(id, 5, "talk")).collect();
    notes[240] = note(241, OURS, MARKER);
    let fake = Fake::start(World { notes, ..World::default() }).await;
    assert!(comment(&fake, "x").await.ends_with("#note_241"));
    assert_eq!(fake.calls().len(), 5);
}

#[tokio::test]
async fn too_many_notes_are_an_end_and_no_second_comment() {
    let notes = (1..=3100).map(|id| note(id, 5, "talk")).collect();
    let fake = Fake::start(World { notes, ..World::default() }).await;
    let line = comment(&fake, "x").await;
    assert!(
        line.starts_with("warning: the comment was not written: the earlier comment is not among the first 3000 notes"),
        "{line}"
    );
    assert_eq!(fake.bodies().len(), 3100);
}

#[tokio::test]
async fn of_two_notes_made_at_once_the_older_stays_with_the_new_text() {
    let rival = Some(note(1, OURS, &format!("{MARKER}\nrival")));
    let fake = Fake::start(World { rival, ..World::default() }).await;
    assert!(comment(&fake, "x").await.ends_with("#note_1"));
    assert_eq!(fake.bodies(), [format!("{MARKER}\nx")]);
    // Somebody else's note with the marker is not a duplicate.
    let rival = Some(note(1, 666, MARKER));
    let fake = Fake::start(World { rival, ..World::default() }).await;
    assert!(comment(&fake, "x").await.ends_with("#note_2"));
    assert_eq!(fake.bodies().len(), 2);
    // One that was left over goes with the next run.
    let notes = vec![note(3, OURS, MARKER), note(4, 666, MARKER), note(5, OURS, MARKER)];
    let fake = Fake::start(World { notes, ..World::default() }).await;
    assert!(comment(&fake, "x").await.ends_with("#note_3"));
    assert_eq!(fake.bodies(), [format!("{MARKER}\nx"), MARKER.to_owned()]);
}

#[tokio::test]
async fn a_fork_is_commented_on_in_the_target_project() {
    let fake = Fake::start(World::default()).await;
    let mut context = context(&fake.url);
    context.event = Event::ForkPullRequest;
    context.pull_request.as_mut().unwrap().project = Some("22".to_owned());
    let published = publish_with(&context, &options(When::Auto), None, BOTH, "x").await;
    assert_eq!(published.notices, [Notice::Done { what: "comment created".to_owned(), url: None }]);
    assert!(fake.calls().iter().all(|call| call.contains("/projects/22/")));
    assert_eq!(fake.bodies(), [format!("{MARKER}\nx")], "a body without its marker gets one");
}

#[tokio::test]
async fn refusals_are_one_line_with_a_remedy_each() {
    let said = |text: &str| json!({"message": text}).to_string();
    let cases = [
        ("GET", 401, said("401 Unauthorized"), "the token in SEALMARK_GITLAB_TOKEN has expired"),
        (
            "POST",
            403,
            json!({"error": "insufficient_scope"}).to_string(),
            "the scope api and its user at least the role Reporter in project 11",
        ),
        ("GET", 404, said("404 Project Not Found"), "must be a member of project 11"),
        ("POST", 429, said("This endpoint has been requested too many times."), "the platform limits its rate"),
        ("POST", 500, "<html>\n::error::x".to_owned(), "the fault is on the platform's side"),
        ("GET", 200, "<html>login</html>".to_owned(), "a login page or a proxy may stand before it"),
        ("POST", 302, String::new(), "a proxy or a login page may stand before it"),
    ];
    for (method, status, body, remedy) in cases {
        let fake = Fake::start(World { answers: vec![(method, status, body)], ..World::default() }).await;
        let line = comment(&fake, "x").await;
        assert!(line.starts_with("warning: the comment was not written: ") && line.contains(remedy), "{line}");
        assert!(!line.contains('\n') && !line.contains(PERSONAL), "{line}");
        assert!(fake.bodies().is_empty());
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_asked_and_the_remedy_is_told() {
    let fake = Fake::start(World::default()).await;
    let context = context(&fake.url);
    let skipped = |published: Published| published.notices[0].line();
    let none = Tokens { job: Some(JOB), personal: None };
    let line = skipped(publish_with(&context, &options(When::Auto), None, none, "x").await);
    assert!(
        line.starts_with(
            "note: no comment: no token is set, and a job token cannot write notes (set SEALMARK_GITLAB_TOKEN "
        ),
        "{line}"
    );
    let disguised = Tokens { job: Some(JOB), personal: Some(JOB) };
    let line = skipped(publish_with(&context, &options(When::Always), None, disguised, "x").await);
    assert!(line.starts_with("warning: no comment: SEALMARK_GITLAB_TOKEN holds a job token"), "{line}");
    let mut train = context.clone();
    train.capabilities.comment = Capability::no("a merge train", "x");
    let line = skipped(publish_with(&train, &options(When::Auto), None, BOTH, "x").await);
    assert_eq!(line, "note: no comment: a merge train (x)");
    assert!(fake.calls().is_empty());
}

#[tokio::test]
async fn on_change_writes_when_it_got_worse_or_a_note_is_there() {
    let fake = Fake::start(World::default()).await;
    let (context, options) = (context(&fake.url), options(When::OnChange));
    let same = Comparison::default();
    let quiet = publish_with(&context, &options, Some(&same), BOTH, "x").await;
    assert_eq!((quiet.notices.len(), fake.bodies().len()), (0, 0));
    let change = Change { pack: "core".to_owned(), check: None, before: "A".to_owned(), after: "B".to_owned() };
    let worse = ServerComparison { regressions: vec![change], ..ServerComparison::default() };
    let worse = Comparison { servers: vec![worse], ..Comparison::default() };
    assert_eq!(publish_with(&context, &options, Some(&worse), BOTH, "x").await.notices.len(), 1);
    publish_with(&context, &options, Some(&same), BOTH, "better").await;
    assert_eq!(fake.bodies(), [format!("{MARKER}\nbetter")]);
    let mut elsewhere = context.clone();
    elsewhere.pull_request = None;
    assert!(publish_with(&elsewhere, &options, Some(&worse), BOTH, "x").await.notices.is_empty());
}

#[tokio::test]
async fn a_quick_action_in_a_body_is_no_command() {
    let fake = Fake::start(World::default()).await;
    comment(&fake, "/merge\n  /assign @x\n/tmp/path\ntext /close\r/approve\n/").await;
    assert_eq!(fake.bodies(), [format!("{MARKER}\n\\/merge\n  \\/assign @x\n/tmp/path\ntext /close\r\\/approve\n/")]);
}

const RAW: &str = "/projects/11/jobs/artifacts/release%2F1.x/raw/sealmark-report/sealmark-report.json?job=sealmark";
const LIST: &str = "/projects/11/jobs?scope%5B%5D=success&per_page=100";

#[tokio::test]
async fn the_baseline_is_the_target_branchs_artifact() {
    let answers = vec![("/raw/", 200, "report".to_owned())];
    let fake = Fake::start(World { answers, ..World::default() }).await;
    let found = baseline(&context(&fake.url), BOTH, None, "sealmark-report").await;
    assert_eq!(found.unwrap(), b"report");
    assert_eq!(fake.calls(), [format!("GET {RAW} as job")]);
}

#[tokio::test]
async fn a_branch_whose_pipelines_fail_still_has_a_baseline() {
    let job = |id: u64, name: &str, branch: &str, tag: bool| json!({"id": id, "name": name, "ref": branch, "tag": tag});
    let jobs = json!([
        job(9, "sealmark", "refs/merge-requests/3/head", false),
        job(8, "sealmark", "release/1.x", true),
        job(7, "other", "release/1.x", false),
        job(5, "sealmark", "release/1.x", false),
        job(4, "sealmark", "release/1.x", false),
    ]);
    let answers = vec![
        ("/jobs?", 200, jobs.to_string()),
        ("/jobs/5/artifacts/sealmark-report/sealmark-report.json", 200, "five".to_owned()),
    ];
    let fake = Fake::start(World { answers, ..World::default() }).await;
    let found = baseline(&context(&fake.url), BOTH, Some("sealmark"), "./sealmark-report/").await;
    assert_eq!(found.unwrap(), b"five");
    assert_eq!(fake.calls()[..2], [format!("GET {RAW} as job"), format!("GET {LIST} as job")]);
}

#[tokio::test]
async fn a_first_run_is_a_note() {
    let fake = Fake::start(World::default()).await;
    let mut context = context(&fake.url);
    (context.pull_request, context.base_branch) = (None, None);
    let notice = baseline(&context, BOTH, None, "sealmark-report").await.unwrap_err();
    let expected = "note: no baseline: no successful job sealmark of branch main has kept sealmark-report/sealmark-report.json (it is there after the first run on that branch)";
    assert_eq!(notice.line(), expected);
    assert!(fake.calls().iter().all(|call| call.ends_with("as job")));
}

#[tokio::test]
async fn refused_artifacts_are_asked_for_as_a_person_and_then_as_a_package() {
    let forbidden = || json!({"message": "403 Forbidden"}).to_string();
    let answers = vec![("as job", 403, forbidden()), ("/raw/", 200, "as a person".to_owned())];
    let fake = Fake::start(World { answers, ..World::default() }).await;
    let context_of = |fake: &Fake| context(&fake.url);
    assert_eq!(baseline(&context_of(&fake), BOTH, None, "sealmark-report").await.unwrap(), b"as a person");
    let package = "/packages/generic/sealmark-baseline/release-1-x-";
    let answers = vec![(package, 200, "package".to_owned()), ("jobs", 403, forbidden())];
    let fake = Fake::start(World { answers, ..World::default() }).await;
    assert_eq!(baseline(&context_of(&fake), BOTH, None, "sealmark-report").await.unwrap(), b"package");
    let fake = Fake::start(World { answers: vec![("jobs", 403, forbidden())], ..World::default() }).await;
    let line = baseline(&context_of(&fake), BOTH, None, "sealmark-report").await.unwrap_err().line();
    assert!(line.starts_with("warning: the baseline was not fetched: ") && line.contains("artifacts:access"), "{line}");
}

#[tokio::test]
async fn a_fork_reads_the_parent_without_its_own_job_token() {
    let answers = vec![("/projects/22/jobs/artifacts/", 200, "public".to_owned())];
    let fake = Fake::start(World { answers, ..World::default() }).await;
    let mut context = context(&fake.url);
    context.pull_request.as_mut().unwrap().project = Some("22".to_owned());
    let fork = Tokens { job: Some(JOB), personal: None };
    assert_eq!(baseline(&context, fork, None, "sealmark-report").await.unwrap(), b"public");
    fake.world.lock().unwrap().answers.clear();
    let notice = baseline(&context, fork, None, "sealmark-report").await.unwrap_err();
    assert!(
        notice.line().starts_with("note: no baseline: the artifacts of the project it was forked from"),
        "{}",
        notice.line()
    );
    assert!(fake.calls().iter().all(|call| call.ends_with("as nobody")));
}

#[tokio::test]
async fn the_default_branch_keeps_a_package_where_artifacts_are_refused() {
    let forbidden = json!({"message": "403 Forbidden"}).to_string();
    let package = "PUT /api/v4/projects/11/packages/generic/sealmark-baseline/main/sealmark.json as job";
    for (status, expected) in [(403, 1), (404, 0), (200, 0)] {
        let answers = vec![("/raw/", status, forbidden.clone()), (package, 201, "{}".to_owned())];
        let fake = Fake::start(World { answers, ..World::default() }).await;
        let mut context = context(&fake.url);
        (context.event, context.pull_request) = (Event::DefaultBranch, None);
        let published = publish_with(&context, &options(When::Auto), Some(&Comparison::default()), BOTH, "x").await;
        assert_eq!(published.notices.len(), expected, "{status}");
        assert!(published.notices.iter().all(|notice| !notice.failed()), "{published:?}");
        assert_eq!(fake.calls().len(), 1 + expected);
    }
}

#[test]
fn tokens_are_not_shown() {
    let shown = format!("{BOTH:?}");
    assert!(!shown.contains("secret"), "{shown}");
}
