//! Deleting from the front: records of one partition's log, or whole commits of a feed.
//!
//! Where runs and manifests lie is stored in files, which are not known here. Whoever asks has looked it up in what is
//! published; since runs are only added, what was found stays true, whatever is sealed meanwhile.

use super::decision::Decision;
use super::entry::{Entry, PartitionStart, Trimmed};
use super::feed::{Feed, HistoryStart, Partition};
use super::ids::{CommitNumber, FeedId, FeedOffset, Offset, PartitionId, Timestamp};
use super::state::State;

/// Records of a partition's log are to go, as DeleteRecords asks on a plain topic.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRecords {
    pub feed: FeedId,
    pub partition: PartitionId,
    /// The first offset that stays.
    pub below: Offset,
    /// Where `below` lies in feed space, unless some record below it belongs to a stream that is open.
    pub sealed: Option<SealedPlace>,
    pub now: Timestamp,
}

/// A log offset as a place in feed space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedPlace {
    /// One past the last place in feed space of a record below it. Feed space begins there when the log begins at the
    /// offset: streams that were sealed in another order than they were written in lose more there than in the log.
    pub feed: FeedOffset,
    /// The newest commit with a record before it; none if there is no such record.
    pub last_before: Option<CommitNumber>,
}

/// Whole commits are to go, as retention or DeleteRecords on `..commits` asks.
#[derive(Clone, Debug)]
pub struct DropCommits {
    pub feed: FeedId,
    /// Where the history is to begin. What has begun later already stays so.
    pub start: HistoryStart,
    /// Where the partitions then begin.
    pub partitions: Vec<PartitionStart>,
    pub now: Timestamp,
}

/// Why nothing is deleted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrimError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("the feed has {partitions} partitions, and partition {partition} is asked for")]
    UnknownPartition { partition: PartitionId, partitions: u32 },
    #[error("the log ends at {end}; records below {below} cannot be deleted")]
    AboveEnd { below: Offset, end: Offset },
    #[error("the feed has {commits} commits; those below {below} cannot be dropped")]
    AboveCommits { below: CommitNumber, commits: CommitNumber },
    #[error("a transaction is open since offset {first}; records below {below} cannot be deleted before it ends")]
    InTransaction { below: Offset, first: Offset },
    /// A seal was decided since the runs were looked at: look again once it is durable.
    #[error("the feed was sealed meanwhile")]
    Behind,
}

impl State {
    /// Decides that the records below an offset are gone; the outcome is the log's start.
    pub fn decide_delete_records(&self, wish: DeleteRecords) -> Result<Decision<Offset>, TrimError> {
        let feed = self.feed(wish.feed).ok_or(TrimError::UnknownFeed { feed: wish.feed })?;
        let partition = feed.partition(wish.partition).ok_or(TrimError::UnknownPartition {
            partition: wish.partition,
            partitions: feed.partitions.len() as u32,
        })?;
        if wish.below > partition.log_end {
            return Err(TrimError::AboveEnd { below: wish.below, end: partition.log_end });
        }
        if wish.below <= partition.log_start {
            return Ok(Decision::nothing(partition.log_start));
        }
        if wish.below > partition.last_stable() {
            return Err(TrimError::InTransaction { below: wish.below, first: partition.last_stable() });
        }
        let (start, whole) = place(feed, partition, &wish)?;
        let start = PartitionStart {
            partition: wish.partition,
            log: wish.below,
            feed: start.max(partition.feed_start),
            run: partition.first_run,
        };
        let trimmed = Trimmed {
            feed: wish.feed,
            at: wish.now,
            start: HistoryStart { whole: whole.max(feed.history.whole), ..feed.history },
            partitions: vec![start],
        };
        Ok(Decision::one(Entry::Trimmed(trimmed), wish.below))
    }

    /// Decides that commits are dropped; the outcome is where the history begins then.
    pub fn decide_drop_commits(&self, wish: DropCommits) -> Result<Decision<HistoryStart>, TrimError> {
        let feed = self.feed(wish.feed).ok_or(TrimError::UnknownFeed { feed: wish.feed })?;
        if wish.start.commit > feed.next_commit {
            return Err(TrimError::AboveCommits { below: wish.start.commit, commits: feed.next_commit });
        }
        let start = feed.history.later(wish.start);
        let mut partitions = Vec::new();
        for wished in wish.partitions {
            let partition = feed.partition(wished.partition).ok_or(TrimError::UnknownPartition {
                partition: wished.partition,
                partitions: feed.partitions.len() as u32,
            })?;
            // Whatever was looked up, no record of an open stream goes.
            let log = feed.open_start(wished.partition).map_or(wished.log, |open| wished.log.min(open));
            partitions.extend(partition.later(PartitionStart { log, ..wished }));
        }
        if start == feed.history && partitions.is_empty() {
            return Ok(Decision::nothing(start));
        }
        Ok(Decision::one(Entry::Trimmed(Trimmed { feed: wish.feed, at: wish.now, start, partitions }), start))
    }
}

/// Where feed space begins then, and from which commit on nothing is lost.
fn place(feed: &Feed, partition: &Partition, wish: &DeleteRecords) -> Result<(FeedOffset, CommitNumber), TrimError> {
    if let Some(sealed) = wish.sealed {
        return Ok((sealed.feed, sealed.last_before.map_or(CommitNumber(0), |commit| CommitNumber(commit.0 + 1))));
    }
    match feed.open_start(wish.partition) {
        // What is lost of an open stream is noted when it is sealed, and then goes behind all that is sealed now.
        Some(open) if open < wish.below => Ok((partition.feed_end, feed.next_commit)),
        _ => Err(TrimError::Behind),
    }
}

impl Feed {
    /// The first log offset in a partition that belongs to a stream not sealed yet.
    pub(super) fn open_start(&self, partition: PartitionId) -> Option<Offset> {
        self.open.values().filter_map(|stream| stream.extents(partition).first()).map(|extent| extent.base).min()
    }
}

impl Partition {
    /// The wished start where it is later than the present one; none if it nowhere is.
    fn later(&self, wished: PartitionStart) -> Option<PartitionStart> {
        let later = PartitionStart {
            partition: wished.partition,
            log: wished.log.max(self.log_start),
            feed: wished.feed.max(self.feed_start),
            run: wished.run.max(self.first_run),
        };
        let same = (later.log, later.feed, later.run) == (self.log_start, self.feed_start, self.first_run);
        (!same).then_some(later)
    }
}
