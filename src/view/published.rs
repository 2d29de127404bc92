//! What a view may know of its feed: the durable ends, and the open streams' extents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::link::Links;
use crate::model::{CommitNumber, Extent, FeedOffset, HistoryStart, Offset, PartitionId, StreamId, Timestamp};
use crate::store::FeedFiles;

/// The durable ends of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionEnds {
    pub log_start: Offset,
    pub high_watermark: Offset,
    /// What lies below is decided: no open transaction holds any of it.
    pub last_stable: Offset,
    /// The first offset of feed space that is still there.
    pub feed_start: FeedOffset,
    /// One past the last sealed record in feed space.
    pub feed_end: FeedOffset,
    /// The first row of the runs that is still there.
    pub first_run: u64,
}

/// The durable part of a stream that is not sealed yet.
#[derive(Clone, Debug, Default)]
pub struct OpenStreamReading {
    pub label: Option<String>,
    /// The transactional id of the transaction that it is a part of.
    pub owner: Option<String>,
    extents: BTreeMap<PartitionId, Vec<Extent>>,
}

impl OpenStreamReading {
    /// The stream has these records more.
    pub fn add(&mut self, partition: PartitionId, extent: Extent, label: Option<&str>) {
        if self.extents.is_empty() && self.label.is_none() {
            self.label = label.map(str::to_owned);
        }
        let extents = self.extents.entry(partition).or_default();
        match extents.last_mut() {
            Some(last) if last.base.plus(last.count) == extent.base => last.count += extent.count,
            _ => extents.push(extent),
        }
    }

    /// The name that its first record gave it, or else its transactional id.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref().or(self.owner.as_deref())
    }

    /// The stream's extents in a partition, in append order.
    pub fn extents(&self, partition: PartitionId) -> &[Extent] {
        self.extents.get(&partition).map_or(&[], Vec::as_slice)
    }
}

/// What is there of the feed's index, which all modes but raw need.
#[derive(Clone)]
pub enum Index {
    /// Nobody has asked for a view that needs it.
    None,
    /// It is built, or kept up.
    Kept {
        links: Arc<dyn Links>,
        /// Following views are answered once the commits below are indexed: those that were there when the index was asked for.
        wanted: CommitNumber,
        /// What [`Published::losses`] said when it was built: once that differs, it leads through what is gone.
        losses: u64,
        /// Why it does not go on. What it knows can be read.
        failure: Option<Arc<str>>,
    },
    /// It cannot be had at all.
    Failed { reason: Arc<str> },
}

/// A feed as readers see it; each answer is the state at that moment and never goes back.
pub trait Published: Send + Sync {
    fn partitions(&self) -> u32;
    fn partition(&self, partition: PartitionId) -> Option<PartitionEnds>;
    /// Where the history begins. Published before the starts of the partitions.
    fn history(&self) -> HistoryStart;
    /// The number that the next commit will have.
    fn commits(&self) -> CommitNumber;
    /// The number that the next stream will have.
    fn streams(&self) -> StreamId;
    /// The number that the next stream event will have.
    fn events(&self) -> i64;
    /// Seal time of the newest commit.
    fn sealed_at(&self) -> Timestamp;
    fn open_stream(&self, stream: StreamId) -> Option<OpenStreamReading>;
    /// The newest open stream with that label.
    fn open_stream_labelled(&self, label: &str) -> Option<StreamId>;
    fn files(&self) -> &Arc<FeedFiles>;
    fn index(&self) -> Index;
    /// How often one of several partitions lost sealed records, others of whose commits are kept: no deletion of whole commits.
    /// Counted before the new starts are published.
    fn losses(&self) -> u64;
}
