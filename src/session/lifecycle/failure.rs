//! Why a server could not be started, in a sentence, with the next step.

use std::time::Duration;

use super::replies::shortened;
use crate::{
    model::{ActId, EventKind, SessionId},
    session::{Recorder, Session, StartFailure, inbox::Fault},
    targets::Exit,
};

/// Lines of noise that are quoted.
const QUOTED: usize = 3;

/// A process that shook no hands. `refusal` is what a reply said, when there was one.
pub(super) async fn of_process(
    recorder: &Recorder,
    mut session: Session,
    refusal: Option<String>,
    waited: Duration,
) -> StartFailure {
    let exit = session.exit().await;
    let closed = !session.open_still();
    session.last_words().await;
    let noise = noise(recorder, session.id());
    let quoted = if noise.is_empty() { String::new() } else { format!("; it printed {noise}") };
    let not_mcp = "check the command: what was started does not look like an MCP server on stdio";
    let (reason, hint) = match (refusal, exit) {
        _ if echoes(recorder, session.id()) => {
            ("what was started repeats its input: it is no MCP server".to_owned(), Some(not_mcp))
        }
        (Some(refusal), _) => (refusal, None),
        (None, Some(exit)) => {
            let how = ended(exit);
            let hint = match (exit.code, noise.is_empty()) {
                (Some(0), _) | (_, false) => not_mcp,
                (Some(127), true) => "a program it runs was not found: look at its stderr",
                _ => "look at its stderr; run the same command by hand",
            };
            (format!("the server {how} before it answered `initialize`{quoted}"), Some(hint))
        }
        (None, None) if closed => (
            format!("the server closed its stdout without answering `initialize` and goes on running{quoted}"),
            Some("it must answer on stdout and stay attached to it"),
        ),
        (None, None) if !noise.is_empty() => (format!("what the server prints is not MCP: {noise}"), Some(not_mcp)),
        (None, None) => (
            format!("the server did not answer `initialize` within {}", seconds(waited)),
            Some("if it only starts slowly, raise --connect-timeout; if it speaks HTTP, give its address with --url"),
        ),
    };
    let stderr = session.stderr();
    session.kill();
    StartFailure { reason, hint: hint.map(str::to_owned), exit, stderr }
}

/// A server that had shaken hands before and does not do so again.
pub(super) fn again(session: Session, reason: String) -> StartFailure {
    let stderr = session.stderr();
    session.kill();
    StartFailure { reason, hint: None, exit: None, stderr }
}

/// An endpoint that shook no hands, seen from the act that settles it.
pub(super) fn of_endpoint(
    recorder: &Recorder,
    url: &str,
    act: ActId,
    fault: Option<Fault>,
    refusal: Option<String>,
    waited: Duration,
) -> StartFailure {
    let place = place(url);
    let (status, headers) = response(recorder, act).unwrap_or_default();
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| shortened(value));
    let old = "a server that only speaks the old HTTP+SSE transport (2024-11-05) is not supported";
    let (reason, hint) = match (fault, status) {
        (_, 429) => (
            format!("{place} answers to fewer requests than it got: HTTP 429"),
            Some("wait, or raise its limit for this client".to_owned()),
        ),
        (Some(Fault::NotSent(why)), _) => unreachable(&place, &why),
        (Some(Fault::Broken(why)), _) => {
            let hint = if why.contains("HTTP") {
                "what listens there does not speak HTTP as it must: check the port, and http or https"
            } else {
                "look at the server's own log; check the port, and http or https"
            };
            (
                format!("the connection to {place} broke before it had answered: {}", shortened(&why)),
                Some(hint.to_owned()),
            )
        }
        (None, 401 | 403) => (
            format!("{place} wants credentials: it answered HTTP {status}"),
            Some("give them with --bearer TOKEN or --header 'Name: value'".to_owned()),
        ),
        (None, 300..=399) => (
            match header("location") {
                Some(location) => format!("{place} redirects to {location} (HTTP {status})"),
                None => format!("{place} redirects (HTTP {status})"),
            },
            Some("give the address it redirects to; redirects are not followed".to_owned()),
        ),
        (None, 404) if !is_json(&header("content-type")) => (
            format!("there is no MCP endpoint at {place}: it answered HTTP 404"),
            Some(format!("check the path, often /mcp; {old}")),
        ),
        (None, 405) => (
            format!("{place} does not take POST requests: it answered HTTP 405"),
            Some(format!("check the path, often /mcp; {old}")),
        ),
        (None, 500..=599) => {
            (format!("{place} failed: it answered HTTP {status}"), Some("look at the server's own log".to_owned()))
        }
        (None, 200..=299) if header("content-type").is_some_and(|kind| kind.starts_with("text/html")) => {
            (format!("{place} answers with a web page, not with MCP"), Some("check the path, often /mcp".to_owned()))
        }
        (None, 0) => (
            format!("{place} did not answer within {}", seconds(waited)),
            Some("if it only answers slowly, raise --connect-timeout".to_owned()),
        ),
        (None, 400) => (with_status(&place, refusal, status), Some(old.to_owned())),
        (None, _) => (
            with_status(&place, refusal, status),
            Some("check the path, often /mcp, and look at the server's own log".to_owned()),
        ),
    };
    StartFailure { reason, hint, exit: None, stderr: String::new() }
}

fn with_status(place: &str, refusal: Option<String>, status: u16) -> String {
    match refusal {
        Some(refusal) => format!("{refusal} (HTTP {status} from {place})"),
        None => format!("{place} did not answer `initialize` (HTTP {status})"),
    }
}

fn is_json(kind: &Option<String>) -> bool {
    kind.as_deref().is_some_and(|kind| kind.starts_with("application/json"))
}

fn unreachable(place: &str, why: &str) -> (String, Option<String>) {
    let lower = why.to_lowercase();
    let hint = if lower.contains("refused") {
        "start the server first, or let sealmark start it with --start"
    } else if ["certificate", "tls", "handshake", "corrupt message"].iter().any(|word| lower.contains(word)) {
        "the TLS connection failed: check the certificate, or whether the server speaks plain http"
    } else if ["dns", "resolve", "lookup", "name or service"].iter().any(|word| lower.contains(word)) {
        "check the host's name"
    } else {
        "check the address and the network"
    };
    (format!("{place} cannot be reached: {}", shortened(why)), Some(hint.to_owned()))
}

/// An address without what may be a secret in it: no user, no query.
fn place(url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(url) else { return "the endpoint".to_owned() };
    // Only an address without a host refuses it, and that has no user.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// The first response that belongs to an act.
pub(super) fn response(recorder: &Recorder, act: ActId) -> Option<(u16, Vec<(String, String)>)> {
    recorder.read(|trace| {
        trace.events.iter().filter(|event| event.act == Some(act)).find_map(|event| match &event.kind {
            EventKind::Http { status, headers } => Some((*status, headers.clone())),
            _ => None,
        })
    })
}

/// Whether the server sent us a handshake: what a program like `cat` does, and no server.
fn echoes(recorder: &Recorder, session: SessionId) -> bool {
    recorder.read(|trace| {
        trace.events.iter().any(|event| match &event.kind {
            EventKind::ServerRequest { method, .. } => event.session == session && method == "initialize",
            _ => false,
        })
    })
}

/// The first lines that are no messages, quoted.
fn noise(recorder: &Recorder, session: SessionId) -> String {
    let lines: Vec<String> = recorder.read(|trace| {
        let ours = trace.events.iter().filter(|event| event.session == session);
        let lines = ours.filter_map(|event| match &event.kind {
            EventKind::Noise { line, .. } => Some(line.text()),
            _ => None,
        });
        lines.take(QUOTED).map(|line| format!("{:?}", line.chars().take(120).collect::<String>())).collect()
    });
    lines.join(", ")
}

fn ended(exit: Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64().round().max(1.0))
}
