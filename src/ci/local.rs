//! What is published without the network: job summary, outputs, annotations.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use super::{Capability, Notice, Output, Platform, Publication, Written, annotations, dotenv, github_lines, outputs};
use crate::files;

/// Bytes of a step's summary that GitHub takes; one more and it takes nothing.
const SUMMARY: u64 = 1 << 20;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Local {
    /// One line each.
    pub notices: Vec<Notice>,
    /// Lines to print as they are, each a finished workflow command.
    pub annotations: Vec<String>,
}

/// Appends to the platform's files and makes the annotations. A file that cannot be written is a notice.
///
/// `summary` is the finished Markdown of the job summary. Nothing is done that the options or the platform exclude.
pub fn local(publication: &Publication<'_>, summary: Option<&str>, written: &Written<'_>) -> Local {
    let (context, options) = (publication.context, publication.options);
    let mut done = Local::default();
    if let Some(text) = summary.filter(|_| options.summary) {
        done.notices.extend(self::summary(publication, text));
    }
    let outputs = outputs(publication, written);
    let missed = match (&context.output_file, written.dotenv) {
        (Some(file), _) => set(file, &outputs).err().map(|cause| (file.as_path(), cause)),
        (None, Some(file)) if context.platform == Platform::GitLab => {
            files::write(file, &dotenv(&outputs)).err().map(|cause| (file, cause.to_string()))
        }
        _ => None,
    };
    if let Some((file, cause)) = missed {
        done.notices.push(Notice::Failed {
            what: "the outputs were not written".to_owned(),
            cause: format!("{}: {cause}", file.display()),
            remedy: "later steps have to read the JSON report".to_owned(),
        });
    }
    if options.annotations {
        done.annotations = annotations(publication);
    }
    done
}

fn summary(publication: &Publication<'_>, text: &str) -> Option<Notice> {
    let context = publication.context;
    let failed = |cause: String| Notice::Failed {
        what: "the job summary was not written".to_owned(),
        cause,
        remedy: "the log and the report have it all".to_owned(),
    };
    match (&context.summary_file, &context.capabilities.summary) {
        (Some(file), _) => Some(match append(file, text.as_bytes(), SUMMARY) {
            Ok(()) => Notice::Done { what: "job summary written".to_owned(), url: context.run_url.clone() },
            Err(cause) => failed(format!("{}: {cause}", file.display())),
        }),
        (None, Capability::No { why, remedy }) if context.platform == Platform::GitHub => {
            Some(Notice::Skipped { what: "no job summary".to_owned(), why: why.clone(), remedy: remedy.clone() })
        }
        (None, _) => None,
    }
}

fn set(file: &Path, outputs: &[Output]) -> Result<(), String> {
    let lines = github_lines(outputs).map_err(|error| error.to_string())?;
    append(file, lines.as_bytes(), u64::MAX).map_err(|error| error.to_string())
}

/// Appends whole lines, unless the file would grow beyond `limit`.
fn append(file: &Path, bytes: &[u8], limit: u64) -> io::Result<()> {
    // A pipe without a reader would hold us for ever.
    let size = match fs::metadata(file) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(io::Error::other("it is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let ended = size == 0 || last_byte(file)? == b'\n';
    let mut whole = Vec::with_capacity(bytes.len() + 2);
    if !ended {
        whole.push(b'\n');
    }
    whole.extend_from_slice(bytes);
    if !whole.ends_with(b"\n") {
        whole.push(b'\n');
    }
    if size.saturating_add(whole.len() as u64) > limit {
        let (is, may) = ((size + whole.len() as u64).div_ceil(1024), limit / 1024);
        return Err(io::Error::other(format!("it would have {is} KiB, and more than {may} KiB are not taken")));
    }
    OpenOptions::new().append(true).create(true).open(file)?.write_all(&whole)
}

fn last_byte(file: &Path) -> io::Result<u8> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests;
