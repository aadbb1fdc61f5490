//! The bundled demo server: a small MCP server on stdio, honest or broken on purpose, so that a first run needs nothing else.

mod broken;
mod catalog;
mod server;
mod tools;

use std::{
    io::{self, BufRead, Read, Write},
    str::FromStr,
};

use server::Server;

/// Longest message that is read, in bytes; a longer line is refused and skipped.
const MAX_LINE: u64 = 4 * 1024 * 1024;

/// How the demo server behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As a careful author would write it.
    #[default]
    Honest,
    /// With one defect for each kind of finding in `core`.
    Broken,
}

impl Mode {
    /// Every mode, in the order they are listed to users.
    pub const ALL: [Self; 2] = [Self::Honest, Self::Broken];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Broken => "broken",
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no mode of the demo server; it is `honest` or `broken`"))
    }
}

/// Answers messages from `input`, one a line, on `output` until `input` ends or nobody reads `output`.
/// `secret` is what the broken server gives away (`SEALMARK_CANARY` of its environment); the honest one ignores it.
///
/// # Errors
/// Reading or writing failed for another reason than a closed pipe.
pub fn serve(mode: Mode, secret: Option<&str>, input: impl BufRead, output: impl Write) -> io::Result<()> {
    match talk(mode, secret, input, output) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

fn talk(mode: Mode, secret: Option<&str>, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut server = Server::new(mode, secret);
    if mode == Mode::Broken {
        writeln!(output, "{}", broken::BANNER)?;
        output.flush()?;
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let whole = line.last() == Some(&b'\n');
        let answer = if !whole && line.len() as u64 == MAX_LINE {
            skip_line(&mut input)?;
            Some(server.too_long(MAX_LINE))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            server.answer(&line)
        };
        if let Some(answer) = answer {
            serde_json::to_writer(&mut output, &answer)?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let piece = input.fill_buf()?;
        let (used, done) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
