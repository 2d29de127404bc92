//! What can go wrong with the journal.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{ReplayError, remedy};
use crate::model::Lsn;

#[derive(Debug, Error)]
pub enum JournalError {
    #[error("cannot {doing} {}: {source}", file.display())]
    Io { doing: &'static str, file: PathBuf, source: io::Error },
    /// Entries that were durable cannot be read.
    #[error("journal file {} is damaged at byte {byte}, where entry {lsn} is due: {found}; {remedy}", file.display())]
    Damaged { file: PathBuf, byte: u64, lsn: Lsn, found: String, remedy: String },
    /// The file that starts the journal, or all of it, is not there.
    #[error("no journal file in {} holds entry {lsn}: {found}; {remedy}", dir.display())]
    Missing { dir: PathBuf, lsn: Lsn, found: String, remedy: String },
    /// The frame is whole, but what it holds makes no sense to the store.
    #[error("journal file {}, byte {byte}, entry {lsn}: {source}; {remedy}", file.display())]
    Replay { file: PathBuf, byte: u64, lsn: Lsn, source: ReplayError, remedy: String },
    /// An earlier write or sync failed: what is on the disk is not known.
    #[error(
        "the journal takes nothing more, since an operation failed ({because}); restart to go on from what is on the disk"
    )]
    Poisoned { because: String },
    #[error("a group of {bytes} bytes is too large for a journal frame")]
    TooLarge { bytes: usize },
}

impl JournalError {
    pub(super) fn io(doing: &'static str, file: &Path) -> impl FnOnce(io::Error) -> JournalError {
        move |source| JournalError::Io { doing, file: file.to_owned(), source }
    }

    pub(super) fn damaged(file: &Path, byte: u64, lsn: Lsn, found: String) -> JournalError {
        let remedy = remedy(file.parent().unwrap_or(file), lsn);
        JournalError::Damaged { file: file.to_owned(), byte, lsn, found, remedy }
    }

    pub(super) fn missing(dir: &Path, lsn: Lsn, found: String) -> JournalError {
        JournalError::Missing { dir: dir.to_owned(), lsn, found, remedy: remedy(dir, lsn) }
    }

    pub(super) fn replay(file: &Path, byte: u64, lsn: Lsn, source: ReplayError) -> JournalError {
        let remedy = match is_io(&*source) {
            true => {
                "the entry itself is whole: mend that (free space, rights, file handles), then start again".to_owned()
            }
            false => remedy(file.parent().unwrap_or(file), lsn),
        };
        JournalError::Replay { file: file.to_owned(), byte, lsn, source, remedy }
    }
}

/// The system refused something; nothing stored is wrong.
fn is_io(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<std::io::Error>())
}
