//! A stream between its first record and its seal.

use std::collections::BTreeMap;

use super::ids::{Offset, PartitionId, StreamId, Timestamp};
use super::seal::SealWish;

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
    /// Of the stream of a transaction.
    pub(super) transaction: Option<Box<StreamOfTransaction>>,
    pub(super) parts: BTreeMap<PartitionId, StreamPart>,
    /// Of all parts. Follows from them and is not stored.
    pub(super) num_extents: usize,
}

/// Extents of one stream. Each is a row and a line of the manifest when it is sealed, in one entry, and is kept until then.
pub const EXTENTS_MAX: usize = 500_000;

/// Extents of the streams of all open transactions together.
pub const EXTENTS_TOTAL_MAX: usize = 4_000_000;

/// What a stream of a transaction has besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamOfTransaction {
    /// The transactional id.
    pub owner: String,
    /// What a record to `..seal` said of it.
    pub named: Option<SealWish>,
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
            transaction: None,
            parts: BTreeMap::new(),
            num_extents: 0,
        }
    }

    /// Its number.
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// The name that its first record gave it, or else a record to `..seal`, or else its transactional id.
    pub fn label(&self) -> Option<&str> {
        let named = || self.named().and_then(|named| named.label.as_deref());
        self.label.as_deref().or_else(named).or_else(|| self.owner())
    }

    /// The name that its first record gave it.
    pub fn record_label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The transactional id of the transaction that it is a part of.
    pub fn owner(&self) -> Option<&str> {
        self.transaction.as_ref().map(|transaction| transaction.owner.as_str())
    }

    /// What a record to `..seal` said of it.
    pub(super) fn named(&self) -> Option<&SealWish> {
        self.transaction.as_ref()?.named.as_ref()
    }

    /// Bytes of what a record to `..seal` said of it.
    pub(super) fn named_bytes(&self) -> u64 {
        let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len) as u64;
        self.named().map_or(0, |named| bytes(&named.label) + bytes(&named.metadata))
    }

    /// A transaction that touched the feed and left nothing there makes no commit.
    pub(super) fn becomes_commit(&self) -> bool {
        self.records > 0 || self.named().is_some()
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

    /// In how many places its records lie: those of others lie between.
    pub fn num_extents(&self) -> usize {
        self.num_extents
    }

    /// A batch that comes to lie at that offset of a partition begins a new extent.
    pub(super) fn is_interrupted(&self, partition: PartitionId, base: Offset) -> bool {
        self.extents(partition).last().is_none_or(|last| last.end() != base)
    }

    pub(super) fn append(&mut self, partition: PartitionId, batch: Appending) {
        let first = self.appended.map_or(batch.at, |span| span.first);
        self.appended = Some(AppendSpan { first, last: batch.at });
        self.records += batch.extent.count;
        self.bytes += batch.bytes;
        self.tombstones += u64::from(batch.tombstones);
        self.num_extents += usize::from(self.is_interrupted(partition, batch.extent.base));
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
