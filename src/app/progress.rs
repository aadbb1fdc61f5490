//! What is going on, while it goes on: one live line on a terminal, a plain line every 15 s elsewhere.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{IsTerminal, Write},
    rc::Rc,
    time::{Duration, Instant},
};

use super::console;
use crate::text::terminal;

/// Between two plain lines where nobody watches.
const PLAIN: Duration = Duration::from_secs(15);
/// Between two redraws of the live line.
const LIVE: Duration = Duration::from_millis(120);
/// A run that is over by then never shows a live line.
const QUIET: Duration = Duration::from_millis(400);

/// What every running server is doing.
#[derive(Clone)]
pub struct Progress {
    doing: Rc<RefCell<BTreeMap<String, (String, Instant)>>>,
    live: bool,
}

impl Progress {
    /// Live when standard error is a terminal that can erase a line.
    pub fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { doing: Rc::default(), live: std::io::stderr().is_terminal() && !dumb }
    }

    /// The function through which one server's run says what it does.
    pub fn reporter(&self, server: &str) -> Rc<dyn Fn(&str)> {
        let (doing, server) = (Rc::clone(&self.doing), server.to_owned());
        Rc::new(move |what| {
            doing.borrow_mut().insert(server.clone(), (what.to_owned(), Instant::now()));
        })
    }

    /// A server's run is over.
    pub fn done(&self, server: &str) {
        self.doing.borrow_mut().remove(server);
        if self.live {
            erase();
        }
    }

    /// Shows the state until it is dropped.
    pub async fn show(&self) -> std::convert::Infallible {
        let (pause, first) = if self.live { (LIVE, QUIET) } else { (PLAIN, PLAIN) };
        tokio::time::sleep(first).await;
        loop {
            self.print();
            tokio::time::sleep(pause).await;
        }
    }

    fn print(&self) {
        let doing = self.doing.borrow();
        let line = |(server, (what, since)): (&String, &(String, Instant))| {
            format!("{}: {} ({} s)", terminal::line(server), terminal::line(what), since.elapsed().as_secs())
        };
        if self.live {
            let line = doing.iter().map(line).collect::<Vec<_>>().join(" · ");
            let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
            let cut: String = line.chars().take(width.saturating_sub(1)).collect();
            let mut err = std::io::stderr().lock();
            // Nothing can be said when the terminal is gone, so nothing is.
            let _ = write!(err, "\r\x1b[2K{cut}").and_then(|()| err.flush());
        } else {
            doing.iter().map(line).for_each(|line| console::line(&format!("sealmark: still running: {line}")));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.live && Rc::strong_count(&self.doing) == 1 {
            erase();
        }
    }
}

fn erase() {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\x1b[2K").and_then(|()| err.flush());
}
