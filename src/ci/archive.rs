//! One file out of a zip archive that may come from anywhere: bounded in entries, bytes and ratio, nothing is written.

use std::io::{Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use crate::{config::settings::Format, text::excerpt};

/// How much of an entry's name a message shows.
const NAME: usize = 80;
/// Below this many bytes a ratio says nothing.
const SMALL: u64 = 1 << 20;
/// What every entry of the central directory opens with.
const ENTRY: &[u8] = b"PK\x01\x02";

/// Bounds of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries, directories included.
    pub entries: usize,
    /// Bytes of all entries together, unpacked.
    pub bytes: u64,
    /// How many times larger an entry may be than what it is unpacked from.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 100, bytes: 256 << 20, ratio: 200 }
    }
}

/// Why an archive is refused. Nothing of a refused archive is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It is no archive, or a broken one.
    #[error("the archive cannot be read: {0}")]
    Broken(String),
    /// Too many entries.
    #[error("the archive has more than {0} entries")]
    Entries(usize),
    /// Too many bytes.
    #[error("the archive unpacks to more than {0} bytes")]
    Bytes(u64),
    /// An entry unpacks to far more than it is packed in.
    #[error("{0} in the archive unpacks to more than {1} times its size")]
    Ratio(String, u64),
    /// Two entries share bytes.
    #[error("entries of the archive overlap")]
    Overlap,
    /// A name that leads elsewhere.
    #[error("{0} in the archive is no plain path")]
    Path(String),
    /// A link or something else that is no file.
    #[error("{0} in the archive is a link")]
    Link(String),
    /// An encrypted entry.
    #[error("{0} in the archive is encrypted")]
    Encrypted(String),
    /// No report in it.
    #[error("the archive holds no {0}")]
    Missing(&'static str),
    /// Several reports at the same depth or below.
    #[error("the archive holds several {0}, and none at its root")]
    Several(&'static str),
}

impl From<ZipError> for ArchiveError {
    fn from(error: ZipError) -> Self {
        Self::Broken(excerpt(&error.to_string(), NAME))
    }
}

/// Whether these bytes open as a zip archive does.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// The JSON report in an archive: the one at its root, else the only one anywhere.
///
/// # Errors
/// Anything in the archive that a report has no need of, and every bound that is passed.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, ArchiveError> {
    // Before the library makes something of each.
    if memchr::memmem::find_iter(bytes, ENTRY).take(limits.entries + 1).count() > limits.entries {
        return Err(ArchiveError::Entries(limits.entries));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let wanted = Format::Json.file_name();
    let (mut at_root, mut below) = (None, Vec::new());
    let (mut total, mut taken) = (0u64, Vec::new());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        let name = || excerpt(&String::from_utf8_lossy(entry.name_raw()), NAME);
        let path = entry.name();
        if entry.enclosed_name().is_none() || path.starts_with(['/', '\\']) || path.contains(['\\', ':', '\0']) {
            return Err(ArchiveError::Path(name()));
        }
        let kind = entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
        if entry.is_symlink() || !matches!(kind, 0 | 0o100_000 | 0o040_000) {
            return Err(ArchiveError::Link(name()));
        }
        if entry.encrypted() {
            return Err(ArchiveError::Encrypted(name()));
        }
        // The start is known as soon as the entry is looked at; a size can be any number.
        if let (Some(start), size @ 1..) = (entry.data_start(), entry.compressed_size()) {
            let end = start.checked_add(size).ok_or(ArchiveError::Overlap)?;
            if taken.iter().any(|(from, to)| *from < end && start < *to) {
                return Err(ArchiveError::Overlap);
            }
            taken.push((start, end));
        }
        total = total.saturating_add(entry.size());
        if total > limits.bytes {
            return Err(ArchiveError::Bytes(limits.bytes));
        }
        if entry.size() > SMALL && entry.size() / entry.compressed_size().max(1) > limits.ratio {
            return Err(ArchiveError::Ratio(name(), limits.ratio));
        }
        if entry.is_file() {
            match path.rsplit_once('/') {
                None if path == wanted => at_root = Some(index),
                Some((_, file)) if file == wanted => below.push(index),
                _ => {}
            }
        }
    }
    let index = match (at_root, below.as_slice()) {
        (Some(index), _) => index,
        (None, [index]) => *index,
        (None, []) => return Err(ArchiveError::Missing(wanted)),
        (None, _) => return Err(ArchiveError::Several(wanted)),
    };
    unpack(&mut archive, index, limits)
}

/// The sizes that an archive declares may be lies: what comes out is counted.
fn unpack(archive: &mut ZipArchive<Cursor<&[u8]>>, index: usize, limits: &Limits) -> Result<Vec<u8>, ArchiveError> {
    let entry = archive.by_index(index)?;
    let packed = entry.compressed_size().max(1);
    let name = entry.name().to_owned();
    let allowed = limits.bytes.min(SMALL.max(packed.saturating_mul(limits.ratio)));
    let mut content = Vec::new();
    entry
        .take(allowed + 1)
        .read_to_end(&mut content)
        .map_err(|error| ArchiveError::Broken(excerpt(&error.to_string(), NAME)))?;
    if content.len() as u64 > allowed {
        return Err(if allowed == limits.bytes {
            ArchiveError::Bytes(limits.bytes)
        } else {
            ArchiveError::Ratio(excerpt(&name, NAME), limits.ratio)
        });
    }
    Ok(content)
}

#[cfg(test)]
mod tests;
