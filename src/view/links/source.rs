//! What the index is built from: a feed's history, as far as it is published.

use bytes::Bytes;

use crate::model::{CommitNumber, FeedOffset, Offset, PartitionId, RunRow};
use crate::store::{FileError, ReadError};
use crate::view::Published;

/// What tells a commit from any other one that could have its number: a crash without durability may take commits back that
/// were indexed, and others then get their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where its manifest stands.
    pub position: u64,
    pub stream: i64,
    pub sealed: i64,
}

/// See the module.
pub trait Source {
    /// The oldest commit that is kept.
    fn start(&self) -> CommitNumber;
    /// No commit from here on has lost a record.
    fn whole(&self) -> CommitNumber;
    /// See [`Published::losses`].
    fn losses(&self) -> u64;
    /// The number that the next commit will have.
    fn commits(&self) -> CommitNumber;
    fn partitions(&self) -> u32;
    /// The feed space of a partition: its first offset that is there, and its end.
    fn space(&self, partition: u32) -> (i64, i64);
    /// The runs that cover `[from, end)`, at most `num_max` of them: the first one holds `from`.
    fn runs(&self, partition: u32, from: i64, end: i64, num_max: usize) -> Result<Vec<RunRow>, ReadError>;
    /// Batches from the one that holds `from` on, up to `end`.
    fn read(&self, partition: u32, from: Offset, end: Offset, bytes_max: usize) -> Result<Bytes, ReadError>;
    /// None: nothing is known of the commit any more.
    fn mark(&self, commit: CommitNumber) -> Result<Option<Mark>, FileError>;
    /// The feed was deleted.
    fn is_gone(&self) -> bool;
}

impl Source for &dyn Published {
    fn start(&self) -> CommitNumber {
        self.history().commit
    }

    fn whole(&self) -> CommitNumber {
        self.history().whole
    }

    fn losses(&self) -> u64 {
        Published::losses(*self)
    }

    fn commits(&self) -> CommitNumber {
        Published::commits(*self)
    }

    fn partitions(&self) -> u32 {
        Published::partitions(*self)
    }

    fn space(&self, partition: u32) -> (i64, i64) {
        let ends = self.partition(PartitionId(partition)).unwrap_or_default();
        (ends.feed_start.0, ends.feed_end.0)
    }

    fn runs(&self, partition: u32, from: i64, end: i64, num_max: usize) -> Result<Vec<RunRow>, ReadError> {
        let partition = PartitionId(partition);
        let (Some(ends), Some(files)) = (self.partition(partition), self.files().partition(partition)) else {
            return Ok(Vec::new());
        };
        Ok(files.runs_covering(ends.first_run, FeedOffset(from), FeedOffset(end), num_max)?)
    }

    fn read(&self, partition: u32, from: Offset, end: Offset, bytes_max: usize) -> Result<Bytes, ReadError> {
        match self.files().partition(PartitionId(partition)) {
            Some(files) => Ok(files.read(from, end, bytes_max)?.bytes),
            None => Ok(Bytes::new()),
        }
    }

    fn mark(&self, commit: CommitNumber) -> Result<Option<Mark>, FileError> {
        if commit < self.history().manifest || commit >= Source::commits(self) {
            return Ok(None);
        }
        let row = self.files().commits().row(commit)?;
        Ok(Some(Mark { position: row.position, stream: row.stream.0, sealed: row.sealed.0 }))
    }

    fn is_gone(&self) -> bool {
        self.files().is_gone()
    }
}
