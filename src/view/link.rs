//! What the index of a feed knows of each sealed record: where its key and its identity stood before. All views but raw
//! ones follow from that, over any range, with no state in the reader.

use crate::model::{CommitNumber, FeedOffset, PartitionId};
use crate::store::FileError;

/// Where a sealed record stands in its feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub partition: PartitionId,
    pub offset: FeedOffset,
}

/// What is known of one sealed record. "Before" is in feed order: by commit, then partition, then offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The newest record before it with the same key; none if there is none, or if it has no key.
    pub key_before: Option<Place>,
    /// The newest record before it with the same identity; none if there is none, or if it has no identity.
    pub identity_before: Option<Place>,
    /// Its value is that of `key_before`.
    pub repeats_value: bool,
    /// It has a key and a null value.
    pub is_tombstone: bool,
}

/// Counted when the commit was indexed, against the history as it was then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// Records whose identity occurred before.
    pub duplicates: u64,
    /// Records whose key did not.
    pub new_keys: u64,
    /// Records with a key and a null value.
    pub tombstones: u64,
}

/// The links of one feed.
pub trait Links: Send + Sync {
    /// All commits below are indexed; never goes back while the process runs.
    fn indexed(&self) -> CommitNumber;
    /// One past the last record of the partition that is indexed. At least the end of what `indexed` said before.
    fn end(&self, partition: PartitionId) -> FeedOffset;
    /// The links of the records `[from, end)` of a partition, in order, which are indexed and not deleted yet.
    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError>;
    /// What was counted of a commit; none if it is not indexed, or was dropped.
    fn counts(&self, commit: CommitNumber) -> Result<Option<CommitCounts>, FileError>;
}
