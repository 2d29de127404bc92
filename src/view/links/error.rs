//! Why a feed's index is not kept up.

use super::row::{OFFSETS_MAX, PARTITIONS_MAX};
use crate::batch::RecordsError;
use crate::store::{FileError, ReadError};

/// An index could not be opened, built or stored. It is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum LinksError {
    /// The disk failed; it may be tried again.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it is built from could not be read.
    #[error(transparent)]
    History(#[from] ReadError),
    #[error("offset {offset} of partition {partition} cannot be indexed: {error}")]
    Batch { partition: u32, offset: i64, error: RecordsError },
    #[error("offset {offset} of partition {partition} is sealed, but no batch holds it")]
    Hole { partition: u32, offset: i64 },
    #[error("the feed has {num} partitions, and views other than raw ones take at most {PARTITIONS_MAX}")]
    Partitions { num: u32 },
    #[error("partition {partition} has {num} sealed records, and views other than raw ones take at most {OFFSETS_MAX}")]
    Offsets { partition: u32, num: i64 },
    /// What was stored is lost or damaged, and was given up: opened again, the index is built anew.
    #[error("the index is lost ({0}): it is built anew when it is opened again")]
    Lost(FileError),
    /// Opened again, it is built anew, of what is left.
    #[error("records between others were deleted: the index leads through them, and is to be opened again")]
    Outdated,
    #[error("the feed was deleted")]
    Gone,
}
