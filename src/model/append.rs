//! Appending a batch: whether it may, where it goes, and whether it ends its stream.

use super::decision::Decision;
use super::entry::{Appended, Entry, SealReason, Sealed, StreamSealed};
use super::feed::{Feed, Partition, Segment};
use super::ids::{FeedId, Offset, PartitionId, Timestamp};
use super::producers::{Sequence, SequenceError, Sequenced};
use super::state::State;
use crate::batch::Batch;

/// The settings of a feed that decide how batches lie in its files and when its stream is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedSettings {
    /// `segment.bytes`
    pub segment_bytes: u64,
    /// `segment.ms`
    pub segment_ms: i64,
    /// `streamstack.seal.ms`
    pub seal_ms: i64,
    /// `streamstack.seal.records`
    pub seal_records: i64,
    /// `streamstack.seal.bytes`
    pub seal_bytes: i64,
    /// `producer.id.expiration.ms`, of the broker.
    pub producer_expiration_ms: i64,
}

/// A checked batch for a partition.
#[derive(Clone, Debug)]
pub struct Append<'a> {
    pub feed: FeedId,
    pub partition: PartitionId,
    pub batch: Batch,
    pub settings: &'a FeedSettings,
    pub now: Timestamp,
}

/// Where a batch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendOutcome {
    /// The offset of its first record.
    pub base_offset: Offset,
    pub log_start: Offset,
    /// It was there before and was not stored again.
    pub duplicate: bool,
}

/// Why a batch is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("the feed has {partitions} partitions, and the batch is for partition {partition}")]
    UnknownPartition { partition: PartitionId, partitions: u32 },
    #[error("the batch is part of a transaction, and transactions are not served yet")]
    Transactional,
    #[error(transparent)]
    Sequence(#[from] SequenceError),
}

impl State {
    /// Decides where a batch goes. What ends with it is sealed by the same decision.
    pub fn decide_append(&self, append: Append<'_>) -> Result<Decision<AppendOutcome>, AppendError> {
        let (feed, partition) = self.place_for(&append)?;
        let outcome = |base_offset, duplicate| AppendOutcome { base_offset, log_start: partition.log_start, duplicate };
        let expired = append.expired();
        let sequenced = Sequenced::of(&append.batch.header);
        if let Some(batch) = &sequenced {
            match partition.producers.check(batch, expired)? {
                Sequence::Repeated { base } => return Ok(Decision::nothing(outcome(Offset(base), true))),
                Sequence::Next => {}
            }
        }
        let mut entries = Vec::with_capacity(1);
        if sequenced.is_some_and(|batch| partition.producers.has_expired(batch.producer, expired)) {
            let partition = Some(append.partition);
            entries.push(Entry::ProducersForgotten { feed: append.feed, partition, before: expired });
        }
        let sealed = self.sealed_with(feed, &append);
        let base_offset = partition.log_end;
        entries.push(Entry::Appended(appended(feed, partition, append)));
        entries.extend(sealed.map(Entry::Sealed));
        Ok(Decision { entries, outcome: outcome(base_offset, false) })
    }

    fn place_for(&self, append: &Append<'_>) -> Result<(&Feed, &Partition), AppendError> {
        let feed = self.feed(append.feed).ok_or(AppendError::UnknownFeed { feed: append.feed })?;
        let partition = feed.partition(append.partition).ok_or(AppendError::UnknownPartition {
            partition: append.partition,
            partitions: feed.partitions.len() as u32,
        })?;
        match append.batch.header.attributes.is_transactional() {
            true => Err(AppendError::Transactional),
            false => Ok((feed, partition)),
        }
    }

    /// The seal that comes with the batch, if it ends its stream.
    fn sealed_with(&self, feed: &Feed, append: &Append<'_>) -> Option<Sealed> {
        let wish = append.batch.facts.seal.as_ref();
        let reason = match wish {
            Some(_) => SealReason::Header,
            None => reached(feed, append)?,
        };
        let stream = StreamSealed {
            feed: feed.id,
            stream: feed.current_stream(),
            reason,
            label: wish.and_then(|seal| seal.label.clone()),
            metadata: None,
            sealed_by: None,
        };
        Some(Sealed { at: self.seal_time(feed, append.now), streams: vec![stream] })
    }
}

impl Append<'_> {
    fn count(&self) -> i64 {
        i64::from(self.batch.header.last_offset_delta) + 1
    }

    /// Producers that were silent since before this are forgotten.
    fn expired(&self) -> Timestamp {
        Timestamp(self.now.0.saturating_sub(self.settings.producer_expiration_ms))
    }
}

/// The limit that the stream reaches with the batch.
fn reached(feed: &Feed, append: &Append<'_>) -> Option<SealReason> {
    let (records, bytes) = feed.open_stream().map_or((0, 0), |stream| (stream.records, stream.bytes));
    let bytes = bytes + append.batch.bytes.len() as u64;
    if records + append.count() >= append.settings.seal_records {
        return Some(SealReason::Records);
    }
    (bytes >= append.settings.seal_bytes.unsigned_abs()).then_some(SealReason::Bytes)
}

fn appended(feed: &Feed, partition: &Partition, append: Append<'_>) -> Appended {
    let now = append.now;
    // After a clock that went back, the stream is not kept open until the clock has caught up.
    let opened = feed.open_stream().map_or(now, |stream| stream.opened.min(now));
    Appended {
        feed: append.feed,
        partition: append.partition,
        base_offset: partition.log_end,
        at: now,
        stream: feed.current_stream(),
        roll: rolls(&partition.segment, partition.log_end, &append),
        due: Timestamp(opened.0.saturating_add(append.settings.seal_ms)),
        timestamp_min: Timestamp(append.batch.facts.min_timestamp),
        tombstones: append.batch.facts.tombstones,
        label: append.batch.facts.label,
        batch: append.batch.bytes,
    }
}

/// A segment ends when it is full, when it is old, and before its offsets outgrow the 4 bytes that an index has for them.
fn rolls(segment: &Segment, log_end: Offset, append: &Append<'_>) -> bool {
    let settings = append.settings;
    let full = segment.bytes + append.batch.bytes.len() as u64 > settings.segment_bytes;
    let old = append.now.0.saturating_sub(segment.first_at.0) >= settings.segment_ms;
    let wide = log_end.0 + append.count() - segment.base.0 > i64::from(i32::MAX);
    segment.bytes > 0 && (full || old || wide)
}
