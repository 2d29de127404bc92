//! What can go wrong with stored files: facts that name the file, the byte and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::Offset;

use super::directory::WriteError;
use super::journal::JournalError;
use super::meta::MetaError;

/// A tail file could not be read or written as the state says it stands.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is missing; {expected} bytes of it are known to be stored: restore the file from a backup", .path.display())]
    Missing { path: PathBuf, expected: u64 },
    #[error("{} ends at byte {size}; {expected} bytes of it are known to be stored: restore the file from a backup", .path.display())]
    Short { path: PathBuf, size: u64, expected: u64 },
    #[error("{} is damaged at byte {at}: {what}", .path.display())]
    Damaged { path: PathBuf, at: u64, what: String },
    #[error("{} ends at byte {end}, but a write asks for byte {position}", .path.display())]
    NotAtEnd { path: PathBuf, end: u64, position: u64 },
}

impl FileError {
    /// Names the file that an I/O error came from.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
        move |source| FileError::Io { path: path.to_owned(), source }
    }

    pub fn damaged(path: &Path, at: u64, what: impl Into<String>) -> FileError {
        FileError::Damaged { path: path.to_owned(), at, what: what.into() }
    }

    /// True when the file was absent or too short: what a later deletion of its feed explains.
    pub fn is_absence(&self) -> bool {
        match self {
            FileError::Missing { .. } | FileError::Short { .. } => true,
            FileError::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

impl FileError {
    /// True when the file does not hold what was stored, so that it is to be had from elsewhere or not at all. A disk that
    /// cannot read now is no loss.
    pub fn is_loss(&self) -> bool {
        match self {
            FileError::Damaged { .. } => true,
            // It was cut while it was mapped.
            FileError::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => true,
            _ => self.is_absence(),
        }
    }
}

/// A read of a partition's log, runs or a history log.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("offset {from} lies below the log's start {start}")]
    BelowStart { from: Offset, start: Offset },
    #[error(transparent)]
    File(#[from] FileError),
}

/// The store could not be opened, written or checkpointed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Meta(#[from] MetaError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{}: another process uses this data folder: stop it first, or name another folder", .path.display())]
    InUse { path: PathBuf },
    #[error("{} holds no data: name the data folder of a broker", .dir.display())]
    NoData { dir: PathBuf },
    #[error("{} holds data but no meta.properties: restore that file, or give streamstack a folder of its own", .dir.display())]
    NoMeta { dir: PathBuf },
    #[error("{}: {what} is missing though the folder was in use: restore it from a backup", .dir.display())]
    Emptied { dir: PathBuf, what: &'static str },
    #[error(
        "no manifest can be used ({newest}); the older ones need journal entries that are gone: restore the manifest from a backup"
    )]
    NoManifest { newest: String },
    #[error("{} belongs to no feed that the manifest or the journal knows: they are not those of this data; restore them, or move the folder away", .path.display())]
    Unplaced { path: PathBuf },
    #[error(
        "the store takes nothing more, since an operation failed ({because}); restart to go on from what is on the disk"
    )]
    Poisoned { because: String },
}
