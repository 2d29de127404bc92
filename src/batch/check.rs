//! What the broker demands of a batch that a client sends, in the order in which Kafka demands it.

use std::borrow::Cow;

use bytes::Bytes;

use super::attributes::{Attributes, Compression, TimestampType};
use super::codec;
use super::error::{BatchError, RecordError};
use super::header::{BatchHeader, HEADER_LEN, checksum};
use super::rewrite;
use super::scan::{Facts, scan};

/// What a topic takes, at this moment and over this version of Produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `max.message.bytes`: of the whole batch, as sent.
    pub max_message_bytes: usize,
    /// Of the records, decompressed.
    pub max_decompressed_bytes: usize,
    /// `cleanup.policy` has `compact`: every record needs a key.
    pub compacted: bool,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub after_max_ms: i64,
    pub now_ms: i64,
    /// Produce version 7 or later.
    pub zstd_allowed: bool,
}

impl Limits {
    /// Those of a topic that takes batches of so many bytes, compressed or not, whatever the times in them.
    pub const fn of_size(bytes_max: usize) -> Limits {
        Limits {
            max_message_bytes: bytes_max,
            max_decompressed_bytes: bytes_max,
            compacted: false,
            timestamp_type: TimestampType::Create,
            before_max_ms: i64::MAX,
            after_max_ms: i64::MAX,
            now_ms: 0,
            zstd_allowed: true,
        }
    }
}

/// A batch that may be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// As the client sent it, but for the max timestamp, which is true, and on topics with LogAppendTime the time.
    pub bytes: Bytes,
    pub header: BatchHeader,
    pub facts: Facts,
}

/// Checks the bytes that a produce request holds for one partition: one whole batch, every record of which a consumer
/// can read. On a topic with LogAppendTime the batch comes back with `now_ms` as its time.
pub fn check_produced(bytes: Bytes, limits: &Limits) -> Result<Batch, BatchError> {
    let header = one_batch(&bytes, limits)?;
    let codec = check_header(&header, limits)?;
    let stored = &bytes[HEADER_LEN..];
    let records = match codec {
        Compression::None => Cow::Borrowed(stored),
        _ => codec::decompress(codec, stored, limits.max_decompressed_bytes)
            .map(Cow::Owned)
            .map_err(|error| BatchError::of_codec(codec, error))?,
    };
    let facts = scan(&header, &records, limits)?;
    Ok(with_true_time(Batch { bytes, header, facts }, limits))
}

/// Format, length and checksum.
fn one_batch(bytes: &Bytes, limits: &Limits) -> Result<BatchHeader, BatchError> {
    if bytes.is_empty() {
        return Err(BatchError::NoBatch);
    }
    let header = BatchHeader::parse(bytes)?;
    let total = header.total_len();
    if bytes.len() < total {
        return Err(BatchError::Short { bytes: bytes.len(), needed: total });
    }
    if bytes.len() > total {
        return Err(BatchError::Trailing { bytes: bytes.len() - total });
    }
    if total > limits.max_message_bytes {
        return Err(BatchError::TooLarge { bytes: total, max: limits.max_message_bytes });
    }
    let computed = checksum(bytes);
    if computed != header.crc {
        return Err(BatchError::Crc { stored: header.crc, computed });
    }
    Ok(header)
}

/// What the header alone tells.
fn check_header(header: &BatchHeader, limits: &Limits) -> Result<Compression, BatchError> {
    let codec = header.attributes.compression().map_err(|id| BatchError::UnknownCodec { id })?;
    if codec == Compression::Zstd && !limits.zstd_allowed {
        return Err(BatchError::ZstdTooEarly);
    }
    check_attributes(header.attributes)?;
    check_producer(header)?;
    let (count, last_offset_delta) = (header.record_count, header.last_offset_delta);
    if count <= 0 {
        return Err(BatchError::Count { count });
    }
    if last_offset_delta != count - 1 {
        return Err(BatchError::LastOffsetDelta { last_offset_delta, count });
    }
    if limits.timestamp_type == TimestampType::Create && header.attributes.timestamp_type() == TimestampType::LogAppend
    {
        let message = "a producer may not set the timestamp type to LogAppendTime".to_owned();
        return Err(BatchError::InvalidTimestamps { errors: vec![RecordError { index: 0, message }] });
    }
    Ok(codec)
}

fn check_attributes(attributes: Attributes) -> Result<(), BatchError> {
    if attributes.is_control() {
        return Err(BatchError::Control);
    }
    // A delete horizon is the compactor's note.
    if attributes.unknown() != 0 || attributes.has_delete_horizon() {
        return Err(BatchError::Attributes { attributes: attributes.0 });
    }
    Ok(())
}

fn check_producer(header: &BatchHeader) -> Result<(), BatchError> {
    let (producer_id, epoch, sequence) = (header.producer_id, header.producer_epoch, header.base_sequence);
    if producer_id < -1 || (header.has_producer() && (epoch < 0 || sequence < 0)) {
        return Err(BatchError::Producer { producer_id, epoch, sequence });
    }
    if header.attributes.is_transactional() && !header.has_producer() {
        return Err(BatchError::TransactionalWithoutProducer);
    }
    Ok(())
}

/// Searches by time trust the header, so a max timestamp that is not true is put right, as Kafka does.
fn with_true_time(batch: Batch, limits: &Limits) -> Batch {
    match limits.timestamp_type {
        TimestampType::LogAppend => rewrite::with_log_append_time(batch, limits.now_ms),
        TimestampType::Create if batch.header.max_timestamp != batch.facts.max_timestamp => {
            let (attributes, max_timestamp) = (batch.header.attributes, batch.facts.max_timestamp);
            rewrite::with_time(batch, attributes, max_timestamp)
        }
        TimestampType::Create => batch,
    }
}
