//! Changing a checked batch's time. It is copied, since the bytes may be shared and the checksum changes.

use bytes::Bytes;

use super::attributes::{Attributes, TimestampType};
use super::check::Batch;
use super::header::{BatchHeader, HEADER_LEN, checksum};

/// The batch with the broker's time `now_ms` on every record (which needs only the header changed).
pub fn with_log_append_time(batch: Batch, now_ms: i64) -> Batch {
    let attributes = batch.header.attributes.with_timestamp_type(TimestampType::LogAppend);
    let mut batch = with_time(batch, attributes, now_ms);
    batch.facts.min_timestamp = now_ms;
    batch
}

pub(super) fn with_time(batch: Batch, attributes: Attributes, max_timestamp: i64) -> Batch {
    let mut bytes = batch.bytes.to_vec();
    let mut header = BatchHeader { attributes, max_timestamp, ..batch.header };
    bytes[..HEADER_LEN].copy_from_slice(&header.encode());
    header.crc = checksum(&bytes);
    bytes[..HEADER_LEN].copy_from_slice(&header.encode());
    let mut facts = batch.facts;
    facts.max_timestamp = max_timestamp;
    Batch { bytes: Bytes::from(bytes), header, facts }
}
