//! A stream between its first record and its seal.

use std::collections::BTreeMap;

use super::ids::{Offset, PartitionId, StreamId, Timestamp};

/// A stream that is open. It opens with its first record.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenStream {
    pub(super) id: StreamId,
    pub(super) label: Option<String>,
    pub(super) opened: Timestamp,
    pub(super) appended: Option<AppendSpan>,
    /// When its age seals it.
    pub(super) due: Timestamp,
    pub(super) records: i64,
    pub(super) bytes: u64,
    pub(super) tombstones: u64,
    pub(super) parts: BTreeMap<PartitionId, StreamPart>,
}

/// When a stream got its first and its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendSpan {
    pub first: Timestamp,
    pub last: Timestamp,
}

/// What a stream holds in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPart {
    /// Where its records lie in the log, in append order, no two touching.
    pub extents: Vec<Extent>,
    pub records: i64,
    pub bytes: u64,
    pub timestamp_min: Timestamp,
    pub timestamp_max: Timestamp,
}

/// `[base, base + count)` of a partition's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub base: Offset,
    pub count: i64,
}

impl Extent {
    /// One past its last offset.
    pub fn end(self) -> Offset {
        self.base.plus(self.count)
    }
}

/// A batch, as far as its stream counts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Appending {
    pub at: Timestamp,
    pub extent: Extent,
    pub bytes: u64,
    pub tombstones: u32,
    pub timestamp_min: Timestamp,
    pub timestamp_max: Timestamp,
}

impl OpenStream {
    pub(super) fn new(id: StreamId, label: Option<String>, opened: Timestamp) -> OpenStream {
        OpenStream {
            id,
            label,
            opened,
            appended: None,
            due: opened,
            records: 0,
            bytes: 0,
            tombstones: 0,
            parts: BTreeMap::new(),
        }
    }

    /// Its number.
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// The name that its first record gave it.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// When it was opened.
    pub fn opened(&self) -> Timestamp {
        self.opened
    }

    /// When it got its first and its last record.
    pub fn appended(&self) -> Option<AppendSpan> {
        self.appended
    }

    /// Records in all partitions.
    pub fn records(&self) -> i64 {
        self.records
    }

    /// Bytes of batches in all partitions.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it holds, partition by partition.
    pub fn parts(&self) -> impl Iterator<Item = (PartitionId, &StreamPart)> {
        self.parts.iter().map(|(partition, part)| (*partition, part))
    }

    /// Where its records lie in a partition's log, in append order.
    pub fn extents(&self, partition: PartitionId) -> &[Extent] {
        self.parts.get(&partition).map_or(&[], |part| part.extents.as_slice())
    }

    pub(super) fn append(&mut self, partition: PartitionId, batch: Appending) {
        let first = self.appended.map_or(batch.at, |span| span.first);
        self.appended = Some(AppendSpan { first, last: batch.at });
        self.records += batch.extent.count;
        self.bytes += batch.bytes;
        self.tombstones += u64::from(batch.tombstones);
        self.parts.entry(partition).or_insert_with(StreamPart::empty).append(batch);
    }
}

impl StreamPart {
    fn empty() -> StreamPart {
        StreamPart {
            extents: Vec::new(),
            records: 0,
            bytes: 0,
            timestamp_min: Timestamp(i64::MAX),
            timestamp_max: Timestamp(i64::MIN),
        }
    }

    fn append(&mut self, batch: Appending) {
        match self.extents.last_mut() {
            Some(last) if last.end() == batch.extent.base => last.count += batch.extent.count,
            _ => self.extents.push(batch.extent),
        }
        self.records += batch.extent.count;
        self.bytes += batch.bytes;
        self.timestamp_min = self.timestamp_min.min(batch.timestamp_min);
        self.timestamp_max = self.timestamp_max.max(batch.timestamp_max);
    }
}
