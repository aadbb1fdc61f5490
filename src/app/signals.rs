//! SIGHUP, SIGINT and SIGTERM: the run ends, what it owns is taken down, the exit code says which it was.

use tokio::signal::unix::{SignalKind, signal};

use super::Exit;

/// Waits for the first of the three signals. When handlers cannot be installed it waits for ever: the default action stays.
pub async fn stopped() -> Exit {
    let (Ok(mut hangup), Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::hangup()), signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = hangup.recv() => Exit::HungUp,
        _ = interrupt.recv() => Exit::Interrupted,
        _ = terminate.recv() => Exit::Terminated,
    }
}

/// The last line on standard error for that end.
pub fn last_line(exit: Exit) -> String {
    let word = if exit == Exit::Interrupted { "interrupted" } else { "stopped" };
    format!("sealmark exit {}: {word}", exit.code())
}
