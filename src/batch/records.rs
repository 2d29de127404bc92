//! Reading the records of one batch.

use bytes::Bytes;

use super::attributes::{Compression, TimestampType};
use super::codec;
use super::error::BatchError;
use super::header::{BatchHeader, HEADER_LEN};
use super::raw::{RawRecord, read_header};
use super::varint::Cursor;

/// Why a batch's records cannot be read.
pub type RecordsError = BatchError;

/// The records of the batch at the start of `batch`, of which at most `bytes_max` bytes are decompressed. Does not
/// compute the checksum.
pub fn records(batch: &Bytes, bytes_max: usize) -> Result<Records, RecordsError> {
    let header = BatchHeader::parse(batch)?;
    let total = header.total_len();
    if batch.len() < total {
        return Err(BatchError::Short { bytes: batch.len(), needed: total });
    }
    let stored = batch.slice(HEADER_LEN..total);
    let body = match header.attributes.compression().map_err(|id| BatchError::UnknownCodec { id })? {
        Compression::None => stored,
        codec => codec::decompress(codec, &stored, bytes_max)
            .map(Bytes::from)
            .map_err(|error| BatchError::of_codec(codec, error))?,
    };
    Ok(Records { header, body })
}

/// A batch's records, decompressed.
#[derive(Clone, Debug)]
pub struct Records {
    header: BatchHeader,
    body: Bytes,
}

impl Records {
    /// The header of their batch.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The records in order. Ends after the first one that is malformed.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(Reached::default())
    }

    /// The records from where another iterator over them stopped.
    pub fn iter_from(&self, reached: Reached) -> Iter<'_> {
        Iter {
            header: &self.header,
            input: Cursor::new(&self.body[reached.bytes..]),
            index: reached.index,
            body: self.body.len(),
        }
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Result<RecordRef<'a>, RecordsError>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// See [`Records::iter`].
pub struct Iter<'a> {
    header: &'a BatchHeader,
    input: Cursor<'a>,
    index: i32,
    body: usize,
}

/// How far an iterator over a batch's records got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    index: i32,
    bytes: usize,
}

impl Iter<'_> {
    /// Where the next one is to go on.
    pub fn reached(&self) -> Reached {
        Reached { index: self.index, bytes: self.body - self.input.rest().len() }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<RecordRef<'a>, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.header.record_count;
        if self.index >= count {
            return None;
        }
        match RawRecord::read(&mut self.input) {
            Ok(raw) => {
                self.index += 1;
                Some(Ok(RecordRef::new(self.header, raw)))
            }
            Err(reason) => {
                let index = std::mem::replace(&mut self.index, count);
                Some(Err(BatchError::MalformedRecord { index, count, reason }))
            }
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRef<'a> {
    pub offset: i64,
    pub timestamp: i64,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    headers: &'a [u8],
}

impl<'a> RecordRef<'a> {
    fn new(header: &BatchHeader, raw: RawRecord<'a>) -> RecordRef<'a> {
        let timestamp = match header.attributes.timestamp_type() {
            TimestampType::Create => header.base_timestamp.wrapping_add(raw.timestamp_delta),
            TimestampType::LogAppend => header.max_timestamp,
        };
        RecordRef {
            offset: header.base_offset.wrapping_add(i64::from(raw.offset_delta)),
            timestamp,
            key: raw.key,
            value: raw.value,
            headers: raw.headers,
        }
    }

    /// The headers in order; keys may repeat.
    pub fn headers(&self) -> Headers<'a> {
        Headers { input: Cursor::new(self.headers) }
    }
}

/// One header of a record. Its key is text by convention only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    pub key: &'a [u8],
    pub value: Option<&'a [u8]>,
}

/// See [`RecordRef::headers`].
#[derive(Clone)]
pub struct Headers<'a> {
    input: Cursor<'a>,
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        // Well-formed, and nothing follows them: seen to when the record was read.
        let (key, value) = read_header(&mut self.input).ok()?;
        Some(Header { key, value })
    }
}
