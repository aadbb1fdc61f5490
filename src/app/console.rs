//! The one place that writes to standard output and standard error: a reader that went away is no failure of ours.

use std::io::{self, Write};

use super::Exit;
use crate::text::terminal;

/// Writes all bytes to standard output. A closed pipe (`| head`) is a success: the reader had enough.
pub fn stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    forgive(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes a line to standard error, whatever it quotes made harmless. Nothing can be said when that fails, so nothing is.
pub fn line(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(terminal::line(text).as_bytes()).and_then(|()| err.write_all(b"\n"));
}

/// Writes an order to the platform's log viewer as it is; nothing when it is empty. It never quotes anybody.
pub fn order(line: &str) {
    if !line.is_empty() {
        // A reader that went away needs no orders.
        let _ = stdout(format!("{line}\n").as_bytes());
    }
}

/// Prints a command's answer and says how the process ends.
pub fn answer(text: &str) -> Exit {
    match stdout(text.as_bytes()) {
        Ok(()) => Exit::Ok,
        Err(error) => {
            line(&format!("error: standard output could not be written: {error}"));
            Exit::Failure
        }
    }
}

/// Reports a mistake of the user with what to do about it.
pub fn mistake(error: &dyn std::error::Error, hint: Option<&str>) -> Exit {
    line(&format!("error: {error}"));
    if let Some(hint) = hint {
        line(&format!("hint: {hint}"));
    }
    Exit::Usage
}

fn forgive(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_forgiven_and_a_full_disk_is_not() {
        assert!(forgive(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(forgive(Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
