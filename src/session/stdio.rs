//! A server on pipes: one task reads its stdout, one drains its stderr, one writes its stdin, so that none can block another.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{ChildStdin, ChildStdout},
    sync::mpsc::{self, OwnedPermit, WeakSender},
    task::JoinHandle,
    time::timeout,
};

use super::{
    error::SessionError,
    frame::Limits,
    framing::Lines,
    inbox::{Ended, Inbox, Source},
    stderr,
};
use crate::{
    model::EventKind,
    targets::{Child, Exit, Spawn},
};

/// Frames that wait to be written.
const QUEUE: usize = 64;
/// Bytes written at once, several frames together.
const BATCH: usize = 64 * 1024;
/// How long an exit status may follow the end of stdout.
const SETTLE: Duration = Duration::from_secs(1);
/// How long a server may take to exit once its stdin is closed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the rest of its output may take to arrive after its end.
const DRAIN: Duration = Duration::from_millis(300);

/// A process and the tasks on its pipes.
#[derive(Debug)]
pub(super) struct Stdio {
    child: Option<Child>,
    queue: Option<mpsc::Sender<Vec<u8>>>,
    permit: Option<OwnedPermit<Vec<u8>>>,
    stuck: bool,
    lines: Arc<Mutex<Lines>>,
    inbox: Inbox,
    ring: stderr::Ring,
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
    errors: JoinHandle<()>,
    exit: Option<Exit>,
    settled: bool,
}

impl Stdio {
    /// Starts the process.
    pub(super) fn open(spawn: &Spawn, inbox: &Inbox) -> Result<Self, SessionError> {
        // Ending one session's daemons must not end another's: each is marked as its own.
        let marker = format!("{}#{};", spawn.marker, inbox.session.0);
        let mut child = Child::spawn(&Spawn { marker, ..spawn.clone() })?;
        let (Some(stdin), Some(stdout), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            child.kill_now();
            return Err(SessionError::Pipes);
        };
        let (queue, frames) = mpsc::channel(QUEUE);
        let lines = Arc::new(Mutex::new(Lines::new(inbox.tokens.clone(), Limits::default())));
        let ring = stderr::Ring::default();
        let writer = tokio::spawn(write(stdin, frames));
        let reader = tokio::spawn(read(stdout, Arc::clone(&lines), inbox.clone(), queue.downgrade()));
        let errors = tokio::spawn(stderr::drain(errors, ring.clone(), inbox.clone()));
        let inbox = inbox.clone();
        Ok(Self {
            child: Some(child),
            queue: Some(queue),
            permit: None,
            stuck: false,
            lines,
            inbox,
            ring,
            writer,
            reader,
            errors,
            exit: None,
            settled: false,
        })
    }

    /// Makes sure that a frame can be queued within `bound`.
    pub(super) async fn reserve(&mut self, bound: Duration) -> Result<(), String> {
        let Some(queue) = &self.queue else { return Err("its stdin is closed".to_owned()) };
        // A server that did not read once is not waited for again.
        let bound = if self.stuck { Duration::ZERO } else { bound };
        match timeout(bound, queue.clone().reserve_owned()).await {
            Ok(Ok(permit)) => {
                self.permit = Some(permit);
                self.stuck = false;
                Ok(())
            }
            Ok(Err(_)) => Err("the server closed its stdin".to_owned()),
            Err(_) => {
                self.stuck = true;
                Err("the server does not read its stdin".to_owned())
            }
        }
    }

    /// Queues a frame, in the place that was reserved.
    pub(super) fn send(&mut self, mut frame: Vec<u8>) {
        frame.push(b'\n');
        if let Some(permit) = self.permit.take() {
            permit.send(frame);
        }
    }

    /// Hands on a reply that waits for its line end.
    pub(super) fn unterminated(&mut self) {
        let frame = lock(&self.lines).unterminated();
        if let Some(frame) = frame {
            let source = Source { unfinished: Some("line end"), ..Source::default() };
            self.inbox.accept(frame, &source);
        }
    }

    /// Returns once the process has ended.
    pub(super) async fn ended(&mut self) -> Exit {
        if let (None, Some(child)) = (self.exit, &mut self.child) {
            self.exit = Some(child.wait().await);
        }
        self.exit.unwrap_or_default()
    }

    /// Returns once the process has ended in a way that says it crashed.
    pub(super) async fn crashed(&mut self) {
        self.ended().await;
        if !self.has_crashed() {
            std::future::pending().await
        }
    }

    /// Whether the process ended with a failure. (A launcher that ends well may leave the server behind.)
    pub(super) fn has_crashed(&self) -> bool {
        self.exit.is_some_and(|exit| exit.code != Some(0))
    }

    /// How the process ended, if it did.
    pub(super) fn exit(&mut self) -> Option<Exit> {
        if let (None, Some(child)) = (self.exit, &mut self.child) {
            self.exit = child.try_exit();
        }
        self.exit
    }

    /// Whether the process still runs.
    pub(super) fn running(&mut self) -> bool {
        self.exit().is_none()
    }

    /// How the process ended; one that has closed its stdout gets a moment to end.
    pub(super) async fn settle(&mut self) -> Option<Exit> {
        if self.exit().is_none()
            && !self.settled
            && self.inbox.ended() == Some(Ended::Eof)
            && let Some(child) = &mut self.child
        {
            self.settled = true;
            self.exit = timeout(SETTLE, child.wait()).await.ok();
        }
        self.exit
    }

    /// The last of its stderr.
    pub(super) fn stderr(&self) -> String {
        self.ring.text()
    }

    /// Lets the rest of the output of a process that has ended arrive.
    pub(super) async fn last_words(&mut self) {
        if self.exit().is_some() {
            self.drain().await;
        }
    }

    /// Closes stdin, waits, and ends what is left of its process group.
    pub(super) async fn end(mut self) -> (Exit, Option<&'static str>) {
        self.queue = None;
        self.permit = None;
        // What is still queued for a server that does not read is dropped with the task.
        if timeout(DRAIN, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
        let ended = match self.child.take() {
            Some(child) => child.end(PATIENCE).await,
            None => (Exit { code: None, signal: None }, None),
        };
        self.drain().await;
        ended
    }

    /// Cleans up behind a process that has ended.
    pub(super) async fn discard(mut self) {
        self.drain().await;
    }

    async fn drain(&mut self) {
        let both = async {
            for task in [&mut self.reader, &mut self.errors] {
                if !task.is_finished() {
                    // A task of ours that ended badly has nothing more to say.
                    let _ = task.await;
                }
            }
        };
        let _ = timeout(DRAIN, both).await;
    }
}

impl Drop for Stdio {
    /// Ends the process group at once, unless it was ended before.
    fn drop(&mut self) {
        for task in [&self.writer, &self.reader, &self.errors] {
            task.abort();
        }
        let Some(child) = self.child.take() else { return };
        child.kill_now();
        // Looking for what it left behind takes milliseconds that others need.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || drop(child));
        }
    }
}

async fn write(mut stdin: ChildStdin, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut bytes) = frames.recv().await {
        while bytes.len() < BATCH
            && let Ok(next) = frames.try_recv()
        {
            bytes.extend_from_slice(&next);
        }
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read(mut stdout: ChildStdout, lines: Arc<Mutex<Lines>>, inbox: Inbox, queue: WeakSender<Vec<u8>>) {
    let mut piece = vec![0; 64 * 1024];
    let mut frames = Vec::new();
    loop {
        let count = match stdout.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let runaway = {
            let mut lines = lock(&lines);
            lines.push(&piece[..count], &mut frames);
            lines.runaway()
        };
        for frame in frames.drain(..) {
            reply(&inbox, &queue, inbox.accept(frame, &Source::default()));
        }
        if runaway {
            let limit = Limits::default().read;
            inbox.push(None, EventKind::Bound { what: "bytes of one line".to_owned(), limit });
            inbox.close(Ended::Runaway(limit));
            return;
        }
        // One read of a pipe can hold thousands of lines; the bounds of everything else go on meanwhile.
        tokio::task::yield_now().await;
    }
    if let Some(frame) = { lock(&lines).end() } {
        inbox.accept(frame, &Source::default());
    }
    inbox.close(Ended::Eof);
}

/// Answers requests of the server as far as it reads.
fn reply(inbox: &Inbox, queue: &WeakSender<Vec<u8>>, answers: Vec<Vec<u8>>) {
    for mut answer in answers {
        let Some(permit) = queue.upgrade().and_then(|queue| queue.try_reserve_owned().ok()) else { return };
        inbox.answered(&answer);
        answer.push(b'\n');
        permit.send(answer);
    }
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}
