//! Appending a batch: whether it may, where it goes, and whether it ends its stream.

use super::decision::Decision;
use super::entry::{Appended, Entry, SealReason, Sealed, StreamSealed};
use super::feed::{Feed, Partition, Segment, VIEW};
use super::ids::{FeedId, Offset, PartitionId, ProducerId, StreamId, Timestamp};
use super::producers::{Sequence, SequenceError, Sequenced};
use super::state::State;
use super::stream::{EXTENTS_MAX, EXTENTS_TOTAL_MAX, OpenStream};
use super::transaction::{Enlist, EnlistError, Identity, InTransaction};
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
    /// What the request says of the batch's transaction, if the batch is part of one.
    pub transaction: Option<InTransaction<'a>>,
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
    #[error("the topic is a name of a view ({view}), which can only be read")]
    ReadOnly { view: String },
    #[error("the batch is part of a transaction, and the request names no transactional id")]
    NoTransactionalId,
    #[error("the batch of producer {producer} is not part of its transaction, which touches this partition")]
    OutsideTransaction { producer: ProducerId },
    #[error(
        "records of open transactions lie in {extents} places between those of others, and {max} is the most for {whose}; \
         end the transaction, and write larger batches"
    )]
    TooScattered { extents: usize, max: usize, whose: &'static str },
    #[error(transparent)]
    Transaction(#[from] EnlistError),
    #[error(transparent)]
    Sequence(#[from] SequenceError),
}

impl State {
    /// Decides where a batch goes. What ends with it is sealed by the same decision.
    pub fn decide_append(&self, append: Append<'_>) -> Result<Decision<AppendOutcome>, AppendError> {
        let (feed, partition) = self.place_for(&append)?;
        let joining = self.joining(feed, &append)?;
        let outcome = |base_offset, duplicate| AppendOutcome { base_offset, log_start: partition.log_start, duplicate };
        let sequenced = Sequenced::of(&append.batch.header);
        if let Some(batch) = &sequenced {
            let own_epoch = append.transaction.is_some_and(|transaction| transaction.enlists);
            let sequence = match joining {
                Some(_) => partition.producers.check_in_transaction(batch, own_epoch)?,
                None => partition.producers.check(batch, append.expired())?,
            };
            match sequence {
                Sequence::Repeated { base } => return Ok(Decision::nothing(outcome(Offset(base), true))),
                Sequence::Next => {}
            }
        }
        let expired = append.expired();
        let forgets = |batch: Sequenced| {
            let is_kept = joining.is_some() && partition.producers.get(batch.producer).is_some();
            !is_kept && partition.producers.has_expired(batch.producer, expired)
        };
        let mut entries = Vec::with_capacity(1);
        if sequenced.is_some_and(forgets) {
            let partition = Some(append.partition);
            entries.push(Entry::ProducersForgotten { feed: append.feed, partition, before: expired });
        }
        let base_offset = partition.log_end;
        let sealed = match joining {
            Some(Joining { stream, enlisted }) => {
                self.check_extents(feed, partition, append.partition, stream)?;
                entries.extend(enlisted);
                entries.push(Entry::Appended(appended(partition, append, stream, None)));
                None
            }
            None => {
                let sealed = self.sealed_with(feed, &append);
                let opened = feed.open_stream().map(|stream| stream.opened);
                entries.push(Entry::Appended(appended(partition, append, feed.current_stream(), opened)));
                sealed
            }
        };
        entries.extend(sealed.map(Entry::Sealed));
        Ok(Decision { entries, outcome: outcome(base_offset, false) })
    }

    fn place_for(&self, append: &Append<'_>) -> Result<(&Feed, &Partition), AppendError> {
        let feed = self.feed(append.feed).ok_or(AppendError::UnknownFeed { feed: append.feed })?;
        let partition = feed.partition(append.partition).ok_or(AppendError::UnknownPartition {
            partition: append.partition,
            partitions: feed.partitions.len() as u32,
        })?;
        match feed.overrides.get(VIEW) {
            Some(view) => Err(AppendError::ReadOnly { view: view.clone() }),
            None => Ok((feed, partition)),
        }
    }

    /// The transaction that the batch is part of; none if it is part of none, as it then has to be.
    fn joining(&self, feed: &Feed, append: &Append<'_>) -> Result<Option<Joining>, AppendError> {
        let header = &append.batch.header;
        let (producer, place) = (ProducerId(header.producer_id), (append.feed, append.partition));
        if !header.attributes.is_transactional() {
            let known = self.transactions.of_producer(producer).and_then(|(_, known)| known.open());
            return match known.is_some_and(|open| open.has_partition(place.0, place.1)) {
                true => Err(AppendError::OutsideTransaction { producer }),
                false => Ok(None),
            };
        }
        let InTransaction { id, enlists } = append.transaction.ok_or(AppendError::NoTransactionalId)?;
        let identity = Identity { producer, epoch: header.producer_epoch };
        let known = self.admit(id, identity)?;
        let stream = known.open().and_then(|open| open.stream_on(feed.id)).unwrap_or(feed.next_stream);
        if known.open().is_some_and(|open| open.has_partition(place.0, place.1)) {
            return Ok(Some(Joining { stream, enlisted: Vec::new() }));
        }
        let id = id.to_owned();
        if !enlists {
            return Err(EnlistError::PartitionNotEnlisted { id, feed: place.0, partition: place.1 }.into());
        }
        let (partitions, now) = (vec![place], append.now);
        let wish = Enlist { id, identity, partitions, seals: Vec::new(), groups: Vec::new(), now };
        Ok(Some(Joining { stream, enlisted: self.decide_enlist(wish)?.entries }))
    }

    /// There is room to remember where the batch will lie.
    fn check_extents(
        &self,
        feed: &Feed,
        partition: &Partition,
        id: PartitionId,
        stream: StreamId,
    ) -> Result<(), AppendError> {
        let open = feed.open.get(&stream);
        if open.is_some_and(|open| !open.is_interrupted(id, partition.log_end)) {
            return Ok(());
        }
        let of_stream = open.map_or(0, OpenStream::num_extents);
        let bounds =
            [(of_stream, EXTENTS_MAX, "one of them on one feed"), (self.num_extents, EXTENTS_TOTAL_MAX, "all")];
        match bounds.into_iter().find(|(extents, max, _)| extents >= max) {
            Some((extents, max, whose)) => Err(AppendError::TooScattered { extents, max, whose }),
            None => Ok(()),
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

/// The transaction that a batch becomes part of.
struct Joining {
    /// The transaction's on the feed.
    stream: StreamId,
    /// What has to come first.
    enlisted: Vec<Entry>,
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
    let open = feed.open_stream();
    let (records, bytes) = open.map_or((0, 0), |stream| (stream.records, stream.bytes));
    let bytes = bytes + append.batch.bytes.len() as u64;
    let scattered = open.is_some_and(|stream| stream.num_extents >= EXTENTS_MAX);
    if scattered || records + append.count() >= append.settings.seal_records {
        return Some(SealReason::Records);
    }
    (bytes >= append.settings.seal_bytes.unsigned_abs()).then_some(SealReason::Bytes)
}

fn appended(partition: &Partition, append: Append<'_>, stream: StreamId, opened: Option<Timestamp>) -> Appended {
    let now = append.now;
    // After a clock that went back, the stream is not kept open until the clock has caught up.
    let opened = opened.map_or(now, |opened| opened.min(now));
    Appended {
        feed: append.feed,
        partition: append.partition,
        base_offset: partition.log_end,
        at: now,
        stream,
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
