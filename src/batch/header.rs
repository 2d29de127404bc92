//! The 61 bytes before a batch's records, and walking over batches by their lengths.

use super::attributes::Attributes;
use super::error::BatchError;

/// Bytes before the records.
pub const HEADER_LEN: usize = 61;
/// Bytes at the start that the broker writes anew: base offset, length, leader epoch.
pub const PLACED_HEAD_LEN: usize = 16;

/// Base offset and length field: what the length field does not count.
const LENGTH_END: usize = 12;
const CRC_FROM: usize = 21;
const MAGIC: i8 = 2;

/// All fields of a batch's header. See the module above for the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    pub base_offset: i64,
    /// Bytes after the length field.
    pub length: i32,
    pub leader_epoch: i32,
    pub crc: u32,
    pub attributes: Attributes,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub record_count: i32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`. Sees to it that the format is 2 and that the length covers a header;
    /// does not ask whether the rest of the batch is there, nor for its checksum.
    pub fn parse(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
        if let Some(&magic) = bytes.get(16).filter(|&&m| m as i8 != MAGIC) {
            return Err(BatchError::Magic { found: magic as i8 });
        }
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(BatchError::Short { bytes: bytes.len(), needed: HEADER_LEN });
        };
        let header = BatchHeader {
            base_offset: i64_at(header, 0),
            length: i32_at(header, 8),
            leader_epoch: i32_at(header, 12),
            crc: i32_at(header, 17) as u32,
            attributes: Attributes(i16_at(header, 21)),
            last_offset_delta: i32_at(header, 23),
            base_timestamp: i64_at(header, 27),
            max_timestamp: i64_at(header, 35),
            producer_id: i64_at(header, 43),
            producer_epoch: i16_at(header, 51),
            base_sequence: i32_at(header, 53),
            record_count: i32_at(header, 57),
        };
        if header.length < (HEADER_LEN - LENGTH_END) as i32 {
            return Err(BatchError::Length { length: header.length });
        }
        Ok(header)
    }

    /// Bytes of the whole batch.
    pub fn total_len(&self) -> usize {
        self.length as usize + LENGTH_END
    }

    /// Offset of the last record (or of the hole after it, where a re-written batch reaches further).
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// One past the last offset.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// Written by an idempotent or transactional producer.
    pub fn has_producer(&self) -> bool {
        self.producer_id >= 0
    }

    pub(super) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[0..8].copy_from_slice(&self.base_offset.to_be_bytes());
        out[8..12].copy_from_slice(&self.length.to_be_bytes());
        out[12..16].copy_from_slice(&self.leader_epoch.to_be_bytes());
        out[16] = MAGIC as u8;
        out[17..21].copy_from_slice(&self.crc.to_be_bytes());
        out[21..23].copy_from_slice(&self.attributes.0.to_be_bytes());
        out[23..27].copy_from_slice(&self.last_offset_delta.to_be_bytes());
        out[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        out[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        out[43..51].copy_from_slice(&self.producer_id.to_be_bytes());
        out[51..53].copy_from_slice(&self.producer_epoch.to_be_bytes());
        out[53..57].copy_from_slice(&self.base_sequence.to_be_bytes());
        out[57..61].copy_from_slice(&self.record_count.to_be_bytes());
        out
    }
}

/// The first 16 bytes of `batch` as the broker stores them: its own base offset, the batch's length, leader epoch 0.
/// They lie outside the checksum, so the rest of the batch stays as it is.
pub fn placed_head(batch: &[u8], base_offset: i64) -> [u8; PLACED_HEAD_LEN] {
    let mut head = [0; PLACED_HEAD_LEN];
    head[..8].copy_from_slice(&base_offset.to_be_bytes());
    head[8..LENGTH_END].copy_from_slice(&batch[8..LENGTH_END]);
    head
}

/// The crc32c that belongs into bytes 17 to 20 of `batch`, a whole batch.
pub fn checksum(batch: &[u8]) -> u32 {
    crc32c::crc32c(&batch[CRC_FROM..])
}

/// Length of the whole batch that `bytes` starts with; none if it is not there to its last byte.
#[inline]
pub fn next_batch(bytes: &[u8]) -> Option<usize> {
    let field = bytes.get(8..LENGTH_END)?;
    let length = u32::from_be_bytes(field.try_into().expect("the slice has four bytes")) as usize;
    let total = length + LENGTH_END;
    (total >= HEADER_LEN && total <= bytes.len()).then_some(total)
}

/// Lengths of the whole batches in `bytes`, one after another. Ends at the first one that is not whole.
pub fn batch_lengths(bytes: &[u8]) -> impl Iterator<Item = usize> + use<'_> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = next_batch(rest)?;
        rest = &rest[length..];
        Some(length)
    })
}

/// How many offsets a batch takes: its last offset delta + 1. `batch` holds at least the header.
pub fn record_span(batch: &[u8]) -> i64 {
    i64::from(i32_at(batch, 23)) + 1
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(bytes[at..at + 8].try_into().expect("the slice has eight bytes"))
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().expect("the slice has four bytes"))
}

fn i16_at(bytes: &[u8], at: usize) -> i16 {
    i16::from_be_bytes(bytes[at..at + 2].try_into().expect("the slice has two bytes"))
}
