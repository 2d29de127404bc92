//! Why a produced batch is refused. The Kafka code that each refusal is answered with stands in its doc; `wire` maps them.

use super::attributes::Compression;
use super::codec::CodecError;

/// A batch that is not taken. Nothing of it was appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// INVALID_RECORD.
    #[error("the request holds no record batch for this partition")]
    NoBatch,
    /// CORRUPT_MESSAGE.
    #[error("the record batch has {bytes} bytes, needs {needed}")]
    Short { bytes: usize, needed: usize },
    /// CORRUPT_MESSAGE.
    #[error("the record batch says that its length is {length}, less than its header")]
    Length { length: i32 },
    /// INVALID_RECORD.
    #[error("the record batch is of format {found}, only 2 is taken")]
    Magic { found: i8 },
    /// INVALID_RECORD.
    #[error("{bytes} bytes follow the record batch; a request holds exactly one batch for a partition")]
    Trailing { bytes: usize },
    /// MESSAGE_TOO_LARGE.
    #[error("the record batch has {bytes} bytes, max.message.bytes is {max}")]
    TooLarge { bytes: usize, max: usize },
    /// CORRUPT_MESSAGE.
    #[error("the record batch's checksum is {computed:08x}, its header says {stored:08x}")]
    Crc { stored: u32, computed: u32 },
    /// UNSUPPORTED_COMPRESSION_TYPE.
    #[error("there is no compression type {id}")]
    UnknownCodec { id: u8 },
    /// UNSUPPORTED_COMPRESSION_TYPE.
    #[error("zstd needs Produce version 7 or later")]
    ZstdTooEarly,
    /// INVALID_RECORD.
    #[error("clients may not write control records")]
    Control,
    /// INVALID_RECORD.
    #[error("the record batch's attributes have bits without a meaning: {attributes:#06x}")]
    Attributes { attributes: i16 },
    /// INVALID_RECORD.
    #[error("producer id {producer_id} with epoch {epoch} and sequence {sequence} is no producer")]
    Producer { producer_id: i64, epoch: i16, sequence: i32 },
    /// INVALID_RECORD.
    #[error("a transactional record batch has no producer id")]
    TransactionalWithoutProducer,
    /// INVALID_RECORD.
    #[error("the record batch says that it holds {count} records")]
    Count { count: i32 },
    /// INVALID_RECORD.
    #[error("the record batch's last offset delta is {last_offset_delta}, with {count} records it must be {}", .count - 1)]
    LastOffsetDelta { last_offset_delta: i32, count: i32 },
    /// MESSAGE_TOO_LARGE: a producer that can split its batch then does so.
    #[error("the records have more than {max} bytes when decompressed")]
    DecompressedTooLarge { max: usize },
    /// INVALID_RECORD: the checksum holds, so that sending it again gives the same.
    #[error("the records are not valid {}: {reason}", .codec.name())]
    Undecodable { codec: Compression, reason: String },
    /// INVALID_RECORD.
    #[error("record {index} of {count}: {reason}")]
    MalformedRecord { index: i32, count: i32, reason: &'static str },
    /// INVALID_RECORD.
    #[error("{bytes} bytes follow the last of {count} records")]
    TrailingRecords { bytes: usize, count: i32 },
    /// INVALID_RECORD, with record errors.
    #[error("one or more records have been rejected")]
    InvalidRecords { errors: Vec<RecordError> },
    /// INVALID_TIMESTAMP, with record errors.
    #[error("one or more records have been rejected due to invalid timestamp")]
    InvalidTimestamps { errors: Vec<RecordError> },
    /// INVALID_RECORD.
    #[error("record {index}: the label in header {header} {reason}")]
    Label { index: i32, header: &'static str, reason: &'static str },
}

/// What is wrong with one record of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Its place in the batch, from 0.
    pub index: i32,
    pub message: String,
}

impl BatchError {
    /// The faults of single records, if the refusal is about single records.
    pub fn record_errors(&self) -> &[RecordError] {
        match self {
            BatchError::InvalidRecords { errors } | BatchError::InvalidTimestamps { errors } => errors,
            _ => &[],
        }
    }

    pub(super) fn of_codec(codec: Compression, error: CodecError) -> BatchError {
        match error {
            CodecError::TooLarge { max } => BatchError::DecompressedTooLarge { max },
            CodecError::Broken(reason) => BatchError::Undecodable { codec, reason },
        }
    }
}
