//! The plain topic: the partition's log up to its durable end, exactly Kafka's.

use bytes::Bytes;

use super::pieces;
use super::published::PartitionEnds;
use super::reading::{Bounds, Budget, Found};
use crate::model::{Offset, Timestamp};
use crate::store::{PartitionFiles, ReadError};

/// Decompressed bytes looked through for a record's time; what was appended was checked against a smaller cap.
const INNER_BYTES_MAX: usize = 1 << 30;

pub(super) fn bounds(ends: PartitionEnds) -> Bounds {
    Bounds { start: ends.log_start.0, end: ends.high_watermark.0 }
}

pub(super) fn read(files: &PartitionFiles, from: i64, end: i64, budget: Budget) -> Result<Vec<Bytes>, ReadError> {
    let slice = pieces::read_slice(files, Offset(from), Offset(end), budget)?;
    Ok(slice.map(|slice| slice.bytes).into_iter().collect())
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
