//! Transaction markers: control batches of one record, by which readers know how a producer's transaction ended.
//!
//! ```text
//! key:    version i16 (0), type i16 (0 abort, 1 commit)
//! value:  version i16 (0), coordinator epoch i32
//! ```

use bytes::Bytes;

use super::builder::{BatchBuilder, NewRecord, Producer};
use super::error::BatchError;
use super::records::records;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Abort,
    Commit,
}

/// Bytes that a marker's record may have; it is never compressed.
const MARKER_BYTES_MAX: usize = 1024;

/// The control batch that ends the transaction of a producer in one partition, byte for byte Kafka's.
pub fn marker_batch(
    base_offset: i64,
    timestamp: i64,
    producer_id: i64,
    producer_epoch: i16,
    marker: Marker,
    coordinator_epoch: i32,
) -> Bytes {
    let key = match marker {
        Marker::Abort => [0, 0, 0, 0],
        Marker::Commit => [0, 0, 0, 1],
    };
    let mut value = [0; 6];
    value[2..].copy_from_slice(&coordinator_epoch.to_be_bytes());
    BatchBuilder::new(base_offset)
        .control()
        .transactional()
        .producer(Producer { id: producer_id, epoch: producer_epoch, base_sequence: -1 })
        .record(NewRecord { timestamp, key: Some(&key), value: Some(&value), headers: &[] })
        .build()
}

/// The marker that a control batch holds; none if it is a control batch of another kind, or no control batch.
pub fn read_marker(batch: &Bytes) -> Result<Option<Marker>, BatchError> {
    let records = records(batch, MARKER_BYTES_MAX)?;
    if !records.header().attributes.is_control() {
        return Ok(None);
    }
    let key = records.iter().next().transpose()?.and_then(|record| record.key);
    Ok(match key {
        Some([_, _, 0, 0, ..]) => Some(Marker::Abort),
        Some([_, _, 0, 1, ..]) => Some(Marker::Commit),
        _ => None,
    })
}
