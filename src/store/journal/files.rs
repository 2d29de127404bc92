//! The folder of the journal: which files are there, and what their names say.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::JournalError;
use super::header::{FileHeader, HEADER_BYTES};
use crate::disk::{Disk, OpenMode};
use crate::model::Lsn;

/// A `.journal` file by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedFile {
    pub(super) first: Lsn,
    pub(super) path: PathBuf,
}

/// What the folder holds.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By first lsn.
    pub(super) files: Vec<NamedFile>,
    pub(super) spares: Vec<PathBuf>,
    pub(super) leftovers: Vec<PathBuf>,
    /// From where on the operator gives the entries up.
    pub(super) given_up: Vec<Lsn>,
}

impl Listing {
    pub(super) fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for name in disk.list(dir)? {
            let path = dir.join(&name);
            if let Some(first) = name.strip_suffix(".journal").and_then(lsn) {
                listing.files.push(NamedFile { first, path });
            } else if let Some(from) = name.strip_prefix("give-up-from-").and_then(lsn) {
                listing.given_up.push(from);
            } else if name.ends_with(".spare") {
                listing.spares.push(path);
            } else if name.ends_with(".tmp") {
                listing.leftovers.push(path);
            }
        }
        listing.files.sort_unstable_by_key(|file| file.first);
        Ok(listing)
    }
}

pub(super) fn journal_path(dir: &Path, first: Lsn) -> PathBuf {
    dir.join(format!("{:020}.journal", first.0))
}

/// The 20 digits of a name.
fn lsn(digits: &str) -> Option<Lsn> {
    let plain = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok().map(Lsn))?
}

/// The whole content of a file, mapped: it is mostly passed over, and a start should not need the memory.
pub(super) fn read_file(disk: &dyn Disk, path: &Path) -> Result<Bytes, JournalError> {
    let whole = || {
        let file = disk.open(path, OpenMode::Read)?;
        let size = file.size()?;
        if size == 0 {
            return Ok(Bytes::new());
        }
        let map = file.map(size)?;
        map.prefault(0, size)?;
        map.slice(0, size)
    };
    whole().map_err(JournalError::io("read", path))
}

/// The header of a file, if it has a valid one.
pub(super) fn read_header(disk: &dyn Disk, path: &Path) -> Result<Option<FileHeader>, JournalError> {
    let bytes = read_range(disk, path, 0, HEADER_BYTES as u64).map_err(JournalError::io("read", path))?;
    Ok(FileHeader::decode(&bytes).ok())
}

/// The bytes `[start, end)`, or up to the end of the file.
pub(super) fn read_range(disk: &dyn Disk, path: &Path, start: u64, end: u64) -> io::Result<Bytes> {
    let file = disk.open(path, OpenMode::Read)?;
    let end = file.size()?.min(end);
    let mut bytes = vec![0; end.saturating_sub(start) as usize];
    let count = file.read_at(&mut bytes, start)?;
    bytes.truncate(count);
    Ok(bytes.into())
}
