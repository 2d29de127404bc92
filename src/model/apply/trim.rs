//! What a deletion from the front changes in its feed.

use super::super::entry::{PartitionStart, Trimmed};
use super::super::feed::{Feed, Partition, Segment};
use super::super::ids::{CommitNumber, FeedId, PartitionId, Timestamp};
use super::super::stream::OpenStream;
use super::super::writes::{TailWrite, TrimmedLog};

impl Feed {
    pub(super) fn trim(&mut self, trimmed: &Trimmed, writes: &mut Vec<TailWrite>) {
        let (feed, before) = (self.id, self.history);
        let start = before.later(trimmed.start);
        assert!(start == trimmed.start, "the history of feed {feed} goes back from {before:?} to {:?}", trimmed.start);
        self.history = start;
        let partitions = trimmed.partitions.iter().map(|start| self.partition_mut(start.partition).trim(feed, *start));
        let partitions = partitions.collect();
        writes.push(TailWrite::Trimmed { feed, start, partitions });
    }

    /// Takes note of the records that were deleted from a stream before its seal as `commit`: they take their places in
    /// feed space and are gone from it at once. Call it before they are placed.
    pub(super) fn trim_with_seal(&mut self, commit: CommitNumber, stream: &OpenStream, writes: &mut Vec<TailWrite>) {
        let lost = |(partition, _)| self.lost(partition, stream);
        let partitions: Vec<TrimmedLog> = stream.parts().filter_map(lost).collect();
        if partitions.is_empty() {
            return;
        }
        for log in &partitions {
            self.partition_mut(log.start.partition).feed_start = log.start.feed;
        }
        self.history.whole = CommitNumber(commit.0 + 1);
        writes.push(TailWrite::Trimmed { feed: self.id, start: self.history, partitions });
    }

    fn lost(&self, id: PartitionId, stream: &OpenStream) -> Option<TrimmedLog> {
        let partition = self.partition(id)?;
        let below =
            |extent: &super::super::stream::Extent| (partition.log_start.0 - extent.base.0).clamp(0, extent.count);
        let count: i64 = stream.extents(id).iter().map(below).sum();
        (count > 0).then(|| TrimmedLog {
            start: PartitionStart {
                partition: id,
                log: partition.log_start,
                feed: partition.feed_end.plus(count),
                run: partition.first_run,
            },
            emptied: partition.segment.bytes == 0,
        })
    }
}

impl Partition {
    fn trim(&mut self, feed: FeedId, start: PartitionStart) -> TrimmedLog {
        let PartitionStart { partition, log, feed: feed_start, run } = start;
        assert!(
            self.log_start <= log && log <= self.log_end,
            "partition {partition} of feed {feed} is to begin at {log}, and it holds {} to {}",
            self.log_start,
            self.log_end
        );
        assert!(
            self.feed_start <= feed_start
                && feed_start <= self.feed_end
                && self.first_run <= run
                && run <= self.num_runs,
            "the feed space of partition {partition} of feed {feed} is to begin at {feed_start}, run {run}"
        );
        (self.log_start, self.feed_start, self.first_run) = (log, feed_start, run);
        let emptied = log == self.log_end;
        if emptied {
            self.segment = Segment { base: log, bytes: 0, first_at: Timestamp(0) };
        }
        TrimmedLog { start, emptied }
    }
}
