//! SIGHUP, SIGINT and SIGTERM: the run ends, what it owns is taken down, the exit code says which it was.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Exit;

/// The three signals, caught from the moment this is made.
pub struct Signals(Option<[Signal; 3]>);

impl Signals {
    /// Catches them; to be called before anything is made that a signal must take down. Needs a tokio runtime. When
    /// handlers cannot be installed the default action stays.
    pub fn catch() -> Self {
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let [Ok(hangup), Ok(interrupt), Ok(terminate)] = kinds.map(signal) else { return Self(None) };
        Self(Some([hangup, interrupt, terminate]))
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Exit {
        let Some([hangup, interrupt, terminate]) = &mut self.0 else { return std::future::pending().await };
        tokio::select! {
            _ = hangup.recv() => Exit::HungUp,
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        }
    }
}

/// The last line on standard error for that end.
pub fn last_line(exit: Exit) -> String {
    let word = if exit == Exit::Interrupted { "interrupted" } else { "stopped" };
    format!("sealmark exit {}: {word}", exit.code())
}
