//! `--start` with `--url`: launch a server, wait until its URL gives a real answer, stop it in the end.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::AsyncReadExt, time::Instant};

use super::{Failure, PATIENCE};
use crate::{
    model::{EventKind, Payload, SessionId},
    session::{Recorder, Tokens, http_status},
    targets::{Child, Spawn},
};

/// What to launch and where it is expected to answer.
pub(super) struct Launch {
    pub(super) spawn: Spawn,
    pub(super) url: String,
}

/// A launched server.
pub(super) struct Launched {
    child: Child,
    output: Arc<Mutex<String>>,
    session: SessionId,
    recorder: Recorder,
    tokens: Tokens,
}

/// How much of its output is kept for a failure's report.
const KEPT: usize = 64 << 10;
/// Between two questions to a server that is not up yet: short beside any server's start, long beside a connection.
const PAUSE: Duration = Duration::from_millis(40);

pub(super) async fn launch(
    launch: Launch,
    within: Duration,
    recorder: &Recorder,
    tokens: &Tokens,
) -> Result<Launched, Failure> {
    if let Some(status) = http_status(&launch.url).await {
        let message =
            format!("something already answers at {} (HTTP {status}) before the server was started", launch.url);
        let hint = "stop it, or leave out --start to test the server that is running";
        return Err(Failure::harness(&message).with_hint(Some(hint.to_owned())));
    }
    let session = recorder.session();
    recorder.push(session, None, EventKind::Started { purpose: "launched".to_owned() });
    let mut child = Child::spawn(&launch.spawn).map_err(|error| Failure::harness(&error).with_hint(error.hint()))?;
    let output = Arc::new(Mutex::new(String::new()));
    if let Some(pipe) = child.stdout.take() {
        tokio::spawn(drain(pipe, Arc::clone(&output)));
    }
    if let Some(pipe) = child.stderr.take() {
        tokio::spawn(drain(pipe, Arc::clone(&output)));
    }
    let mut launched = Launched { child, output, session, recorder: recorder.clone(), tokens: tokens.clone() };
    let deadline = Instant::now() + within;
    let mut last = None;
    loop {
        if let Some(how) = launched.ended() {
            let message = format!("the server {how} before {} answered", launch.url);
            let hint = if how == WELL {
                "start it in the foreground: what leaves for the background cannot be watched"
            } else {
                "look at what it wrote; run the same command by hand"
            };
            return Err(Failure::harness(&message).with_hint(Some(hint.to_owned())).with_stderr(launched.stop().await));
        }
        match http_status(&launch.url).await {
            // A wrong path or another service is not our server; a 5xx is one that is still starting.
            Some(status @ (404 | 500..=599)) => last = Some(status),
            Some(_) => return Ok(launched),
            None => {}
        }
        if Instant::now() >= deadline {
            let seen = last.map_or_else(String::new, |status| format!(" (the last answer was HTTP {status})"));
            let message =
                format!("{} gave no usable answer within {} s of the start{seen}", launch.url, within.as_secs());
            let hint = match last {
                Some(404) => "the path may be wrong: MCP endpoints are often /mcp",
                _ => "check the port and path, or raise --start-timeout",
            };
            return Err(Failure::harness(&message).with_hint(Some(hint.to_owned())).with_stderr(launched.stop().await));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// How a launcher ends that leaves its server in the background.
const WELL: &str = "exited with code 0";

impl Launched {
    /// How it ended by itself, in words, when it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        let exit = self.child.try_exit()?;
        Some(match (exit.code, exit.signal) {
            (Some(0), _) => WELL.to_owned(),
            (Some(code), _) => format!("exited with code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        })
    }

    /// Ends the server and everything it started; returns the end of what it wrote.
    pub(super) async fn stop(self) -> String {
        let _ = self.child.end(PATIENCE).await;
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !output.is_empty() {
            let hits = self.tokens.scan(output.as_bytes());
            let text = Payload::Text(output.clone());
            self.recorder.push(self.session, None, EventKind::Stderr { text, hits });
        }
        output
    }
}

/// Reads a pipe to its end so that the server is never blocked by it; the last [`KEPT`] bytes stay.
async fn drain(mut pipe: impl tokio::io::AsyncRead + Unpin, output: Arc<Mutex<String>>) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.push_str(&String::from_utf8_lossy(&buffer[..read]));
        if output.len() > 2 * KEPT {
            let mut cut = output.len() - KEPT;
            while !output.is_char_boundary(cut) {
                cut += 1;
            }
            output.drain(..cut);
        }
    }
}
