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
            let hint = match (exit.code, noise.is_empty(), session.stderr().trim().is_empty()) {
                (Some(0), ..) | (_, false, _) => not_mcp,
                (Some(127), _, false) => "a program it runs was not found: look at its stderr",
                (Some(127), _, true) => "a program it runs was not found: run the same command by hand",
                (_, _, false) => "look at its stderr; run the same command by hand",
                (_, _, true) => "it wrote nothing to its stderr: run the same command by hand",
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

/// What an endpoint that shook no hands did instead.
#[derive(Debug)]
pub(super) enum Instead {
    /// The request did not get through, or its answer did not.
    Fault(Fault),
    /// An answer that is a message and no handshake.
    Refused(String),
    /// An answer that is no message.
    Unreadable(String),
    /// Nothing.
    Silent,
}

/// An endpoint that shook no hands, seen from the act that settles it.
pub(super) fn of_endpoint(
    recorder: &Recorder,
    act: ActId,
    url: &str,
    instead: Instead,
    waited: Duration,
) -> StartFailure {
    let (status, headers) = response(recorder, act).unwrap_or_default();
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| shortened(value));
    let at = address(url);
    let old = "a server that only speaks the old HTTP+SSE transport (2024-11-05) is not supported";
    let path = format!("check the path, often /mcp; {old}");
    let (reason, hint) = match (instead, status) {
        (_, 429) => (
            format!("{at} answers to fewer requests than it got: HTTP 429"),
            "wait, or raise its limit for this client".to_owned(),
        ),
        (Instead::Fault(Fault::NotSent(why)), _) => unreachable(&at, &why),
        (Instead::Fault(Fault::Broken(why)), _) => (
            format!("the connection to {at} broke before it had answered: {}", shortened(&why)),
            match (why.contains("HTTP"), url.starts_with("https:")) {
                (true, true) => "what listens there does not speak HTTP as it must: check the port",
                (true, false) => {
                    "what listens there does not speak HTTP as it must: check the port; an endpoint that speaks TLS needs \
                     an https:// address"
                }
                (false, true) => "look at the server's own log, and check the port",
                (false, false) => {
                    "look at the server's own log, and check the port; an endpoint that speaks TLS needs an https:// address"
                }
            }
            .to_owned(),
        ),
        (_, 401 | 403) => (
            format!("{at} wants credentials: it answered HTTP {status}"),
            "give them with --bearer TOKEN or --header 'Name: value'".to_owned(),
        ),
        (_, 300..=399) => (
            match header("location") {
                Some(location) => format!("{at} redirects to {location} (HTTP {status})"),
                None => format!("{at} redirects (HTTP {status})"),
            },
            "give the address it redirects to; redirects are not followed".to_owned(),
        ),
        (Instead::Refused(why), _) => (
            if status == 200 { why } else { format!("{why} (HTTP {status})") },
            if status == 400 { old.to_owned() } else { "look at the server's own log".to_owned() },
        ),
        (_, 404) => (format!("there is no MCP endpoint at {at}: it answered HTTP 404"), path),
        (_, 405) => (format!("{at} does not take POST requests: it answered HTTP 405"), path),
        (_, 500..=599) => {
            (format!("{at} failed: it answered HTTP {status}"), "look at the server's own log".to_owned())
        }
        (_, 200..=299) if header("content-type").is_some_and(|kind| kind.starts_with("text/html")) => {
            (format!("{at} answers with a web page, not with MCP"), "check the path, often /mcp".to_owned())
        }
        (Instead::Unreadable(why), 400) => (
            format!("{at} did not properly answer `initialize`: {why}"),
            format!("{path}; an endpoint that speaks TLS needs an https:// address"),
        ),
        (Instead::Unreadable(why), _) => (format!("{at} did not properly answer `initialize`: {why}"), path),
        (Instead::Silent, 0) => (
            format!("{at} did not answer within {}", seconds(waited)),
            "if it only answers slowly, raise --connect-timeout".to_owned(),
        ),
        (Instead::Silent, _) => (
            format!("{at} did not answer `initialize` (HTTP {status})"),
            "if it only answers slowly, raise --connect-timeout".to_owned(),
        ),
    };
    StartFailure { reason, hint: Some(hint), exit: None, stderr: String::new() }
}

/// The address without what may be secret in it.
fn address(url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(url) else { return "the endpoint".to_owned() };
    // Only a URL without a host refuses these, and that has no secrets there.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    shortened(url.as_str())
}

fn unreachable(at: &str, why: &str) -> (String, String) {
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
    (format!("{at} cannot be reached: {}", shortened(why)), hint.to_owned())
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
