//! Records that no commit holds: those of aborted transactions, and markers. They go with the commits around them. Where no
//! commit is kept they go by their own age and size, file by file, as all records do in Kafka.

use super::Broker;
use super::handles::FeedHandle;
use crate::config::TopicSettings;
use crate::model::{DropCommits, Lsn, Offset, PartitionId, PartitionStart, Timestamp};
use crate::store::{PartitionFiles, ReadError};
use crate::view::{PartitionEnds, Published};

/// So much of one batch is decompressed to look at its records' times.
const DECODED_BYTES_MAX: usize = 16 << 20;

impl Broker {
    /// Drops what the feed's retention lets go of a log without commits. Returns the lsn at which that is durable.
    pub(super) fn drop_uncommitted(&self, feed: &FeedHandle, settings: &TopicSettings) -> Result<Lsn, ReadError> {
        if !settings.delete || !is_without_commits(feed) {
            return Ok(Lsn(0));
        }
        let now = self.now();
        let mut partitions = Vec::new();
        for partition in (0..feed.partitions()).map(PartitionId) {
            let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
                continue;
            };
            // In this order: what is not open any more below that end is aborted, or a commit by now.
            let ends = handle.published();
            let undecided =
                feed.open_start(partition).map_or(ends.high_watermark, |open| open.min(ends.high_watermark));
            if ends.log_start < undecided {
                let log = first_kept(&files, settings, ends, undecided, now)?;
                let start = PartitionStart { partition, log, feed: ends.feed_start, run: ends.first_run };
                partitions.extend(Some(start).filter(|_| log > ends.log_start));
            }
        }
        if partitions.is_empty() || !is_without_commits(feed) {
            return Ok(Lsn(0));
        }
        let wish = DropCommits { feed: feed.id, start: feed.history(), partitions, now };
        let decided = self.submit(|state| state.decide_drop_commits(wish));
        match decided.value {
            Ok(_) => tracing::debug!(feed = feed.name, "records that no commit holds dropped"),
            // Deleted meanwhile.
            Err(error) => tracing::debug!(feed = feed.name, %error, "nothing dropped"),
        }
        Ok(decided.durable_at)
    }
}

fn is_without_commits(feed: &FeedHandle) -> bool {
    feed.history().commit == Published::commits(feed)
}

/// Where a log is to begin whose records up to `undecided` are needed by nobody.
fn first_kept(
    files: &PartitionFiles,
    settings: &TopicSettings,
    ends: PartitionEnds,
    undecided: Offset,
    now: Timestamp,
) -> Result<Offset, ReadError> {
    let mut kept = ends.log_start;
    if settings.retention_ms >= 0 {
        let oldest = Timestamp(now.0.saturating_sub(settings.retention_ms));
        let young = files.find_time(oldest, ends.log_start, undecided, DECODED_BYTES_MAX)?;
        kept = young.map_or(undecided, |record| record.offset).max(kept);
    }
    if let Ok(bytes) = u64::try_from(settings.retention_bytes) {
        kept = files.offset_before(bytes)?.map_or(kept, |offset| offset.max(kept));
    }
    if kept >= undecided && undecided == ends.high_watermark {
        return Ok(undecided);
    }
    // A part of a file gives no room.
    let bases = files.segments()?;
    let whole = bases.iter().map(|segment| segment.base).filter(|base| *base <= kept.min(undecided)).max();
    Ok(whole.map_or(ends.log_start, |base| base.max(ends.log_start)))
}
