//! The plain topic: the partition's log up to its durable end, exactly Kafka's.

use super::pieces;
use super::published::PartitionEnds;
use super::reading::{Bounds, Budget, Found, Isolation, Reading};
use crate::model::{Offset, Timestamp};
use crate::store::{PartitionFiles, ReadError};

/// Decompressed bytes looked through for a record's time; what was appended was checked against a smaller cap.
const INNER_BYTES_MAX: usize = 1 << 30;

/// Readers of committed records are shown nothing of what lies behind the first record of an open transaction.
pub(super) fn bounds(ends: PartitionEnds, isolation: Isolation) -> Bounds {
    let end = match isolation {
        Isolation::ReadUncommitted => ends.high_watermark,
        Isolation::ReadCommitted => ends.last_stable,
    };
    Bounds { start: ends.log_start.0, end: end.0 }
}

/// Whole batches as stored, of aborted transactions too: readers of committed records are told which to pass over.
pub(super) fn read(
    files: &PartitionFiles,
    from: i64,
    end: i64,
    budget: Budget,
    isolation: Isolation,
) -> Result<Reading, ReadError> {
    let Some(slice) = pieces::read_slice(files, Offset(from), Offset(end), budget)? else {
        return Ok(Reading::default());
    };
    let aborted = match isolation {
        Isolation::ReadUncommitted => Vec::new(),
        Isolation::ReadCommitted => files.aborted().within(slice.base_offset, slice.next_offset)?,
    };
    Ok(Reading { parts: vec![slice.bytes], aborted })
}

/// The first record whose time is `time` or later.
pub(super) fn find_time(files: &PartitionFiles, bounds: Bounds, time: Timestamp) -> Result<Option<Found>, ReadError> {
    let found = files.find_time(time, Offset(bounds.start), Offset(bounds.end), INNER_BYTES_MAX)?;
    Ok(found.map(|record| Found { offset: record.offset.0, timestamp: record.timestamp }))
}

/// The greatest time and the first record that has it.
pub(super) fn newest(files: &PartitionFiles, bounds: Bounds) -> Result<Option<Found>, ReadError> {
    match files.max_timestamp(Offset(bounds.start), Offset(bounds.end))? {
        Some(time) => find_time(files, bounds, time),
        None => Ok(None),
    }
}
