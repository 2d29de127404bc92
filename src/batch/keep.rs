//! A batch with some of its records left out, as views and compaction write it. The records that stay keep their bytes,
//! and with them their offsets and times; so do the producer's fields and the codec.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::attributes::{Compression, TimestampType};
use super::codec;
use super::error::BatchError;
use super::header::{BatchHeader, HEADER_LEN, checksum};
use super::varint::Cursor;

/// Bytes of a batch's records on average from which on they are not copied. For smaller ones a copy costs less than a slice.
const APART_MIN: usize = 512;

/// A batch that is still to be [finished](KeptBatch::finish).
#[derive(Clone, Debug)]
#[must_use]
pub struct KeptBatch {
    stored: BatchHeader,
    kept: Kept,
    apart: Vec<Bytes>,
}

/// Appends `stored`, a whole batch, to `out` with those records only whose offset delta `keeps` names, of which there must be
/// one; the header is written when it is finished. Large records are not appended: they are [apart](KeptBatch::apart). At most
/// `bytes_max` bytes are decompressed. The checksum is verified: a new one must not cover up damage.
pub fn keep_records(
    stored: &Bytes,
    bytes_max: usize,
    keeps: impl FnMut(i32) -> bool,
    out: &mut Vec<u8>,
) -> Result<KeptBatch, BatchError> {
    let header = whole(stored)?;
    let codec = header.attributes.compression().map_err(|id| BatchError::UnknownCodec { id })?;
    let records = match codec {
        Compression::None => Cow::Borrowed(&stored[HEADER_LEN..]),
        _ => {
            let decompressed = codec::decompress(codec, &stored[HEADER_LEN..], bytes_max);
            Cow::Owned(decompressed.map_err(|error| BatchError::of_codec(codec, error))?)
        }
    };
    out.resize(out.len() + HEADER_LEN, 0);
    let is_large = records.len() >= APART_MIN * usize::try_from(header.record_count).unwrap_or(0);
    let mut apart = Vec::new();
    let kept = match codec {
        Compression::None if is_large => {
            let slice = |at: Range<usize>| stored.slice(HEADER_LEN + at.start..HEADER_LEN + at.end);
            select(&header, &records, keeps, |at| apart.push(slice(at)))?
        }
        Compression::None => select(&header, &records, keeps, |at| out.extend_from_slice(&records[at]))?,
        _ => {
            let mut plain = Vec::new();
            let kept = select(&header, &records, keeps, |at| plain.extend_from_slice(&records[at]))?;
            out.extend_from_slice(&codec::compress(codec, &plain));
            kept
        }
    };
    // Consumers do not get past a batch without records.
    assert!(kept.num_records > 0, "no record of the batch at offset {} is kept", header.base_offset);
    Ok(KeptBatch { stored: header, kept, apart })
}

impl KeptBatch {
    /// What belongs to the batch behind what was appended: slices of the stored one.
    pub fn apart(&self) -> &[Bytes] {
        &self.apart
    }

    /// Bytes of that.
    pub fn apart_len(&self) -> usize {
        self.apart.iter().map(Bytes::len).sum()
    }

    /// Writes the header of `batch`, which is what was appended. It goes to `base_offset` and reaches to `end`, behind its last
    /// record: what lies between is a hole, which readers pass over with the batch.
    pub fn finish(&self, batch: &mut [u8], base_offset: i64, end: i64) {
        let (stored, kept) = (self.stored, self.kept);
        let last_offset_delta = i32::try_from(end - 1 - base_offset).unwrap_or(i32::MAX);
        assert!(last_offset_delta >= kept.last_delta, "{base_offset} to {end} has no record {}", kept.last_delta);
        let max_timestamp = match stored.attributes.timestamp_type() {
            TimestampType::Create => stored.base_timestamp.wrapping_add(kept.max_timestamp_delta),
            TimestampType::LogAppend => stored.max_timestamp,
        };
        let length = batch.len() - LENGTH_END + self.apart_len();
        let length = i32::try_from(length).expect("a batch is smaller than 2 GiB");
        let record_count = kept.num_records;
        let mut header = BatchHeader { base_offset, length, last_offset_delta, max_timestamp, record_count, ..stored };
        batch[..HEADER_LEN].copy_from_slice(&header.encode());
        header.crc = self.apart.iter().fold(checksum(batch), |crc, part| crc32c::crc32c_append(crc, part));
        batch[..HEADER_LEN].copy_from_slice(&header.encode());
    }
}

/// What was kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    num_records: i32,
    last_delta: i32,
    max_timestamp_delta: i64,
}

fn whole(stored: &[u8]) -> Result<BatchHeader, BatchError> {
    let header = BatchHeader::parse(stored)?;
    let needed = header.total_len();
    if stored.len() != needed {
        return Err(BatchError::Short { bytes: stored.len(), needed });
    }
    let computed = checksum(stored);
    if computed != header.crc {
        return Err(BatchError::Crc { stored: header.crc, computed });
    }
    Ok(header)
}

/// Tells `take` where in `records` those are that stay, neighbours together.
fn select(
    header: &BatchHeader,
    records: &[u8],
    mut keeps: impl FnMut(i32) -> bool,
    mut take: impl FnMut(Range<usize>),
) -> Result<Kept, BatchError> {
    let mut kept = Kept { num_records: 0, last_delta: -1, max_timestamp_delta: i64::MIN };
    let mut input = Cursor::new(records);
    let (mut take_from, mut at) = (0, 0);
    for index in 0..header.record_count {
        let malformed = |reason| BatchError::MalformedRecord { index, count: header.record_count, reason };
        let head = RecordHead::read(&mut input).map_err(malformed)?;
        let end = records.len() - input.rest().len();
        if keeps(head.offset_delta) {
            kept.num_records += 1;
            kept.last_delta = head.offset_delta;
            kept.max_timestamp_delta = kept.max_timestamp_delta.max(head.timestamp_delta);
        } else {
            if take_from < at {
                take(take_from..at);
            }
            take_from = end;
        }
        at = end;
    }
    if take_from < at {
        take(take_from..at);
    }
    Ok(kept)
}

/// What a record begins with.
struct RecordHead {
    timestamp_delta: i64,
    offset_delta: i32,
}

impl RecordHead {
    /// Passes over the whole record. What follows the head was checked when the batch was produced.
    #[inline(always)]
    fn read(input: &mut Cursor<'_>) -> Result<RecordHead, &'static str> {
        let length = input.varint().and_then(|length| usize::try_from(length).ok()).ok_or("its length is wrong")?;
        let mut body = Cursor::new(input.take(length).ok_or("it reaches past the end of the batch")?);
        body.byte().ok_or("its attributes are missing")?;
        let timestamp_delta = body.varlong().ok_or("its timestamp is not a varint")?;
        let offset_delta = body.varint().ok_or("its offset is not a varint")?;
        Ok(RecordHead { timestamp_delta, offset_delta })
    }
}

/// What the length field does not count.
const LENGTH_END: usize = 12;
