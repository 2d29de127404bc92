//! Writing batches: the history topics, control batches, views that re-encode, tests.

use bytes::Bytes;

use super::attributes::{Attributes, Compression, TimestampType};
use super::codec;
use super::header::{BatchHeader, HEADER_LEN, checksum};
use super::records::Header;
use super::varint::{put_varint, put_varlong};

/// A record to be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewRecord<'a> {
    pub timestamp: i64,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    /// Written in this order; keys may repeat.
    pub headers: &'a [Header<'a>],
}

/// Who writes a batch, for the deduplication of idempotent producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    pub id: i64,
    pub epoch: i16,
    pub base_sequence: i32,
}

impl Producer {
    /// No idempotent producer.
    pub const NONE: Producer = Producer { id: -1, epoch: -1, base_sequence: -1 };
}

/// Builds one batch, record by record.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    base_offset: i64,
    attributes: Attributes,
    compression: Compression,
    producer: Producer,
    base_timestamp: i64,
    max_timestamp: i64,
    /// Offset delta of a record appended next.
    next_delta: i32,
    last_offset_delta: Option<i32>,
    num_records: i32,
    body: Vec<u8>,
    /// One record at a time, since its length stands before it.
    scratch: Vec<u8>,
}

impl BatchBuilder {
    /// A batch whose offsets start at `base_offset`.
    pub fn new(base_offset: i64) -> BatchBuilder {
        BatchBuilder {
            base_offset,
            attributes: Attributes::default(),
            compression: Compression::None,
            producer: Producer::NONE,
            base_timestamp: -1,
            max_timestamp: -1,
            next_delta: 0,
            last_offset_delta: None,
            num_records: 0,
            body: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Compresses the records.
    pub fn compression(mut self, compression: Compression) -> BatchBuilder {
        self.compression = compression;
        self
    }

    /// Who sets the timestamps; with [`TimestampType::LogAppend`] readers see the greatest one on every record.
    pub fn timestamp_type(mut self, timestamp_type: TimestampType) -> BatchBuilder {
        self.attributes = self.attributes.with_timestamp_type(timestamp_type);
        self
    }

    /// Writes as an idempotent producer does.
    pub fn producer(mut self, producer: Producer) -> BatchBuilder {
        self.producer = producer;
        self
    }

    /// Marks the batch as part of a transaction.
    pub fn transactional(mut self) -> BatchBuilder {
        self.attributes = self.attributes.with_transactional();
        self
    }

    pub(super) fn control(mut self) -> BatchBuilder {
        self.attributes = self.attributes.with_control();
        self
    }

    /// Lets the batch reach to `delta`, beyond its last record: the offsets between are a hole.
    pub fn last_offset_delta(mut self, delta: i32) -> BatchBuilder {
        self.last_offset_delta = Some(delta);
        self
    }

    /// Appends a record at the offset after the last one.
    pub fn record(self, record: NewRecord<'_>) -> BatchBuilder {
        let delta = self.next_delta;
        self.record_at(delta, record)
    }

    /// Appends a record at `base offset + delta`; deltas rise, with holes if need be.
    pub fn record_at(mut self, delta: i32, record: NewRecord<'_>) -> BatchBuilder {
        self.push_at(delta, record);
        self
    }

    /// [`BatchBuilder::record`] in a loop.
    pub fn push(&mut self, record: NewRecord<'_>) {
        self.push_at(self.next_delta, record);
    }

    /// [`BatchBuilder::record_at`] in a loop.
    pub fn push_at(&mut self, delta: i32, record: NewRecord<'_>) {
        assert!(delta >= self.next_delta, "offset delta {delta} after {}", self.next_delta - 1);
        if self.num_records == 0 {
            self.base_timestamp = record.timestamp;
        }
        self.scratch.clear();
        put_record(&mut self.scratch, record.timestamp.wrapping_sub(self.base_timestamp), delta, &record);
        put_varint(&mut self.body, int(self.scratch.len()));
        self.body.extend_from_slice(&self.scratch);
        self.max_timestamp = self.max_timestamp.max(record.timestamp);
        self.next_delta = delta + 1;
        self.num_records += 1;
    }

    /// Bytes of the batch so far, uncompressed.
    pub fn len(&self) -> usize {
        HEADER_LEN + self.body.len()
    }

    /// Records so far.
    pub fn num_records(&self) -> i32 {
        self.num_records
    }

    /// No record yet.
    pub fn is_empty(&self) -> bool {
        self.num_records == 0
    }

    /// The batch. It must hold a record: consumers do not get past a batch without any.
    pub fn build(self) -> Bytes {
        assert!(self.num_records > 0, "a batch at offset {} without records", self.base_offset);
        let last = self.next_delta - 1;
        let last_offset_delta = self.last_offset_delta.unwrap_or(last);
        assert!(last_offset_delta >= last, "last offset delta {last_offset_delta} before the last record's {last}");
        let records = match self.compression {
            Compression::None => self.body,
            codec => codec::compress(codec, &self.body),
        };
        let mut header = BatchHeader {
            base_offset: self.base_offset,
            length: int(HEADER_LEN - 12 + records.len()),
            leader_epoch: 0,
            crc: 0,
            attributes: self.attributes.with_compression(self.compression),
            last_offset_delta,
            base_timestamp: self.base_timestamp,
            max_timestamp: self.max_timestamp,
            producer_id: self.producer.id,
            producer_epoch: self.producer.epoch,
            base_sequence: self.producer.base_sequence,
            record_count: self.num_records,
        };
        let mut batch = Vec::with_capacity(HEADER_LEN + records.len());
        batch.extend_from_slice(&header.encode());
        batch.extend_from_slice(&records);
        header.crc = checksum(&batch);
        batch[..HEADER_LEN].copy_from_slice(&header.encode());
        Bytes::from(batch)
    }
}

fn put_record(out: &mut Vec<u8>, timestamp_delta: i64, offset_delta: i32, record: &NewRecord<'_>) {
    const UNUSED_ATTRIBUTES: u8 = 0;
    out.push(UNUSED_ATTRIBUTES);
    put_varlong(out, timestamp_delta);
    put_varint(out, offset_delta);
    put_nullable(out, record.key);
    put_nullable(out, record.value);
    put_varint(out, int(record.headers.len()));
    for header in record.headers {
        put_nullable(out, Some(header.key));
        put_nullable(out, header.value);
    }
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            put_varint(out, int(bytes.len()));
            out.extend_from_slice(bytes);
        }
        None => put_varint(out, -1),
    }
}

fn int(len: usize) -> i32 {
    i32::try_from(len).expect("a batch is smaller than 2 GiB")
}
