//! What applying an entry asks of the disk. The same list comes out live and at recovery, with the
//! same positions, so that replay rewrites every tail exactly.

use bytes::Bytes;

use super::entry::PartitionStart;
use super::feed::HistoryStart;
use super::ids::{CommitNumber, FeedId, FeedOffset, Offset, PartitionId, ProducerId, StreamId, Timestamp};

/// One write to a tail file, or a change of the set of files.
#[derive(Clone, Debug, PartialEq)]
pub enum TailWrite {
    /// The feed's folder with `partitions` partitions exists.
    FeedCreated { feed: FeedId, partitions: u32 },
    /// The feed's folder is gone.
    FeedDeleted { feed: FeedId },
    /// Partitions up to `partitions` exist.
    PartitionsAdded { feed: FeedId, partitions: u32 },
    /// `batch` goes to `position` of the segment that starts at offset `segment` (a new file when position is 0).
    Batch {
        feed: FeedId,
        partition: PartitionId,
        segment: Offset,
        position: u64,
        base_offset: Offset,
        /// One past the batch's last offset.
        end_offset: Offset,
        max_timestamp: Timestamp,
        /// What lies below is decided once the batch is there: no open transaction holds any of it.
        last_stable: Offset,
        batch: Bytes,
    },
    /// Row number `row` of the partition's `aborted.index`.
    Aborted { feed: FeedId, partition: PartitionId, row: u64, aborted: AbortedRow },
    /// Rows of the partition's `.runs` file, from row number `row`.
    Runs { feed: FeedId, partition: PartitionId, row: u64, runs: Vec<RunRow> },
    /// A manifest: one record batch for `commits.log` at `position`, and its index row (row number = commit).
    Commit { feed: FeedId, position: u64, row: CommitRow, batch: Bytes },
    /// A stream event: one record batch for `streams.log` at `position`, at event number `event`.
    StreamEvent { feed: FeedId, event: i64, position: u64, at: Timestamp, stream: StreamId, told: Told, batch: Bytes },
    /// What lies before these starts is gone for readers, and its files may go.
    Trimmed { feed: FeedId, start: HistoryStart, partitions: Vec<TrimmedLog> },
}

/// Where a trimmed partition begins now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimmedLog {
    pub start: PartitionStart,
    /// Nothing is left of its log: the next batch starts a segment.
    pub emptied: bool,
}

/// What a stream event tells, for those who keep track of open streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// By a transaction, if a transactional id is named.
    Opened {
        owner: Option<String>,
    },
    Sealed,
    /// It is gone and became no commit.
    Aborted,
}

/// An aborted transaction in one partition. On disk: 4 big-endian i64 in this order, 32 bytes; rows are in the order
/// of their markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedRow {
    pub producer: ProducerId,
    /// Its first record.
    pub first: Offset,
    /// Its marker.
    pub last: Offset,
    /// What lay below was decided then: no later row begins before it.
    pub last_stable: Offset,
}

/// `[feed_base, feed_base + count)` of a partition's feed space lies at `[log_base, log_base + count)` of its log.
/// On disk: 4 big-endian i64 in this order, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub commit: CommitNumber,
    pub feed_base: FeedOffset,
    pub log_base: Offset,
    pub count: i64,
}

/// Where commit `commit`'s manifest lies in `commits.log`. On disk 4 big-endian i64:
/// position, stream, sealed, label_hash; 32 bytes, row number = commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitRow {
    pub commit: CommitNumber,
    pub position: u64,
    pub stream: StreamId,
    pub sealed: Timestamp,
    /// Hash of the stream's label (0 when it has none); equal labels have equal hashes, the manifest decides.
    pub label_hash: u64,
}
