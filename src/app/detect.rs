//! `ci detect`: where this job runs and what it may do; and the context that every other command of CI asks for.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{Exit, config_cmd, console};
use crate::{
    ci::{self, Capability, Context, Event, Platform},
    cli::CiDetectArgs,
    config::Settings,
    text::{excerpt, is_hidden, terminal},
};

/// Bytes of an event payload, GitHub's own limit.
const PAYLOAD: u64 = 25 << 20;
/// Characters of a value that are shown.
const SHOWN: usize = 200;

/// Runs the command.
pub fn detect(args: &CiDetectArgs) -> Exit {
    let context = context();
    if args.json {
        return console::answer(&printable(&format!("{:#}\n", document(&context))));
    }
    console::answer(&page(&context))
}

/// Where this process runs: reads the environment, the working directory and the event's file, each once.
///
/// A payload that cannot be read is a note of the context; what rests on it is then not possible.
pub(super) fn context() -> Context {
    let mut env = config_cmd::environment();
    // A shell's PWD is its own word for the directory, and a program that changed it leaves it stale.
    let workspace = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].iter().find_map(|name| env.get(*name)).map(PathBuf::from);
    match std::env::current_dir().ok().and_then(|here| seen_from(&here, workspace.as_deref())) {
        Some(here) => env.insert("PWD".to_owned(), here),
        None => env.remove("PWD"),
    };
    let (event, note) = match env.get("GITHUB_EVENT_PATH").filter(|path| !path.is_empty()) {
        None => (None, None),
        Some(path) => match payload(Path::new(path)) {
            Ok(event) => (Some(event), None),
            Err(why) => (None, Some(format!("The event payload {path} {why}."))),
        },
    };
    let mut context = ci::detect(&env, event.as_ref());
    if matches!(context.platform, Platform::GitHub | Platform::Gitea) {
        let unset = || event.is_none().then(|| "GITHUB_EVENT_PATH names no event payload.".to_owned());
        context.notes.extend(note.or_else(unset));
    }
    context
}

/// Refuses to start a server where a stranger's code would get the rights of the repository: `pull_request_target` gives a
/// job the base's rights and secrets, and a server may be the pull request's code.
pub(super) fn refuse_to_start(settings: &Settings) -> Result<(), Exit> {
    let starts = settings.servers.iter().any(|server| !server.command.is_empty());
    if !starts || context().event != Event::PullRequestTarget {
        return Ok(());
    }
    console::line(
        "error: no server is started here: pull_request_target runs with the rights of the base repository, and the server \
         may be the pull request's code",
    );
    console::line(
        "hint: grade on pull_request, and publish from a workflow_run workflow with `sealmark publish --artifact`",
    );
    Err(Exit::Usage)
}

/// The working directory as the platform spells it: below the workspace whatever links lead there.
fn seen_from(here: &Path, workspace: Option<&Path>) -> Option<String> {
    let below = workspace.and_then(|workspace| {
        let real = workspace.canonicalize().ok()?;
        let below = here.canonicalize().ok()?.strip_prefix(real).ok()?.to_owned();
        Some(if below.as_os_str().is_empty() { workspace.to_owned() } else { workspace.join(below) })
    });
    below.unwrap_or_else(|| here.to_owned()).to_str().map(str::to_owned)
}

/// Reads a payload, or says in a sentence's second half why it could not be read.
fn payload(path: &Path) -> Result<Value, String> {
    let unreadable = |error: std::io::Error| format!("could not be read: {error}");
    // A pipe without a writer would hold us for ever.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(PAYLOAD + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > PAYLOAD {
        return Err(format!("has more than {} MiB", PAYLOAD >> 20));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("is no JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("is no JSON object".to_owned()) }
}

/// `sealmark.context/1`.
fn document(context: &Context) -> Value {
    let mut document = json!({ "schema": "sealmark.context/1" });
    if let (Some(members), Value::Object(facts)) = (document.as_object_mut(), json!(context)) {
        members.extend(facts);
    }
    document
}

/// JSON in which nothing is hidden and nothing is a log command. Outside of its strings JSON has neither.
fn printable(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '#' || (is_hidden(c) && c != '\n') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The page for people.
fn page(context: &Context) -> String {
    let mut lines = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name:<12} {}", excerpt(&value, SHOWN))));
    };
    if context.platform == Platform::None {
        fact("platform", Some("no CI detected".to_owned()));
    } else {
        let kind = if context.enterprise { " (Enterprise Server)" } else { "" };
        fact("platform", Some(format!("{}{kind}", context.platform.name())));
        let gitlab = context.platform == Platform::GitLab;
        let words = context.event.words();
        let words = if gitlab { words.replace("pull request", "merge request") } else { words.to_owned() };
        fact("event", Some(named(&words, &context.event_name)));
        match context.repository.clone() {
            Some(id) if gitlab => fact("project", Some(project(context, &id))),
            repository => fact("repository", repository),
        }
        fact("branch", branches(context));
        fact("commit", context.sha.clone());
        fact("compared to", context.base_sha.clone());
        fact("request", context.pull_request.as_ref().map(|asked| request(asked, gitlab)));
        fact("triggered by", context.triggering_run_id.map(|run| format!("run {run}")));
        fact("run", context.run_url.clone());
        fact("API", context.api_url.clone());
        let tokens = [&context.token_variable, &context.job_token_variable].map(Option::as_deref);
        let tokens: Vec<&str> = tokens.into_iter().flatten().collect();
        fact("token", Some(if tokens.is_empty() { "none".to_owned() } else { tokens.join(", ") }));
    }
    lines.push(String::new());
    let all = &context.capabilities;
    for (name, capability) in [
        ("comment", &all.comment),
        ("baseline", &all.baseline),
        ("badge", &all.badge),
        ("SARIF", &all.sarif),
        ("summary", &all.summary),
        ("annotations", &all.annotations),
        ("outputs", &all.outputs),
    ] {
        match capability {
            Capability::Yes => lines.push(format!("{name:<12} yes")),
            Capability::No { why, remedy } => {
                lines.push(format!("{name:<12} no: {}", excerpt(why, SHOWN)));
                lines.push(format!("{:<12}     {}", "", excerpt(remedy, SHOWN)));
            }
        }
    }
    if !context.notes.is_empty() {
        lines.push(String::new());
        lines.extend(context.notes.iter().map(|note| format!("note: {}", excerpt(note, 2 * SHOWN))));
    }
    let lines: Vec<String> = lines.iter().map(|line| terminal::line(line)).collect();
    format!("{}\n", lines.join("\n"))
}

fn named(words: &str, name: &str) -> String {
    if name.is_empty() { words.to_owned() } else { format!("{words} ({name})") }
}

/// A project of GitLab by its path, as the address of the job has it, and its number.
fn project(context: &Context, id: &str) -> String {
    let addresses = context.run_url.as_deref().zip(context.server_url.as_deref());
    let below = addresses.and_then(|(run, server)| run.strip_prefix(server)).and_then(|below| below.split_once("/-/"));
    match below {
        Some((path, _)) => format!("{} ({id})", path.trim_matches('/')),
        None => id.to_owned(),
    }
}

fn branches(context: &Context) -> Option<String> {
    let branch = context.branch.as_deref().or(context.git_ref.as_deref())?;
    let into = context.base_branch.as_deref().map(|base| format!(" → {base}")).unwrap_or_default();
    let default = context.default_branch.as_deref().map(|name| format!(" (default: {name})")).unwrap_or_default();
    Some(format!("{branch}{into}{default}"))
}

fn request(request: &ci::PullRequest, gitlab: bool) -> String {
    let mut parts = vec![match request.number {
        Some(number) => format!("{}{number}", if gitlab { "!" } else { "#" }),
        None => "to be looked up".to_owned(),
    }];
    parts.extend(request.project.as_ref().map(|project| format!("in project {project}")));
    parts.extend(request.head.as_ref().map(|(owner, branch)| format!("from {owner}:{branch}")));
    parts.extend(request.head_sha.as_ref().map(|sha| format!("at {sha}")));
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_a_bounded_regular_file_with_an_object() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("event.json");
        let write = |content: &[u8]| {
            std::fs::write(&file, content).unwrap();
            payload(&file)
        };
        assert_eq!(write(b"\xef\xbb\xbf{\"a\": 1}").unwrap(), json!({ "a": 1 }));
        assert!(write(b"").unwrap_err().starts_with("is no JSON"));
        assert!(write(b"{\"a\"").unwrap_err().starts_with("is no JSON"));
        assert!(write(&b"[".repeat(1 << 20)).unwrap_err().starts_with("is no JSON"));
        assert_eq!(write(b"[]").unwrap_err(), "is no JSON object");
        assert_eq!(write(&vec![b' '; (25 << 20) + 1]).unwrap_err(), "has more than 25 MiB");
        assert_eq!(payload(dir.path()).unwrap_err(), "is no regular file");
        assert!(payload(&dir.path().join("none")).unwrap_err().starts_with("could not be read"));
    }

    #[test]
    fn what_is_printed_is_the_same_json_without_orders_for_a_log() {
        let value = json!({ "job": "##[error]x\u{1b}\u{202e}\n::error::y", "branch": "漢字#1" });
        let text = printable(&format!("{value:#}\n"));
        assert!(!text.contains('#') && !text.contains('\u{202e}'), "{text}");
        assert!(text.lines().all(|line| !line.trim_start().starts_with("::")));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_working_directory_is_spelled_as_the_workspace_is() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("real");
        std::fs::create_dir_all(real.join("packages/api")).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let seen = |here: &Path| seen_from(here, Some(&link)).unwrap();
        assert_eq!(seen(&real.join("packages/api")), link.join("packages/api").display().to_string());
        assert_eq!(seen(&real), link.display().to_string());
        let outside = dir.path().canonicalize().unwrap();
        assert_eq!(seen(&outside), outside.display().to_string());
    }
}
