//! Sealing a feed's stream: at somebody's wish, by its age, and at which time.

use serde_json::value::RawValue;

use super::decision::Decision;
use super::entry::{Entry, SealProducer, SealReason, Sealed, StreamSealed};
use super::feed::Feed;
use super::ids::{CommitNumber, FeedId, ProducerId, StreamId, Timestamp};
use super::producers::{Sequence, SequenceError, Sequenced};
use super::share::Share;
use super::state::State;
use super::stream::OpenStream;

/// Seals that one batch to `..seal` may ask for. Each publishes a commit with a manifest, all in one entry.
pub const SEALS_MAX: usize = 1_000;

/// Longest label.
pub const LABEL_BYTES_MAX: usize = 1_024;

/// Longest metadata of one seal. It is kept in the commit's manifest.
pub const METADATA_BYTES_MAX: usize = 1 << 20;

/// Metadata of all seals of one batch.
pub const METADATA_TOTAL_BYTES_MAX: usize = 4 << 20;

/// A wish to seal: a batch sent to `<feed>..seal`, or the operator's command.
#[derive(Clone, Debug)]
pub struct Seal {
    pub feed: FeedId,
    /// Each seals one stream: the first what is open, the others nothing, which gives empty commits.
    pub wishes: Vec<SealWish>,
    /// Who sent the batch, if it was an idempotent producer.
    pub producer: Option<SealingProducer>,
    /// `SealReason::Control` or `SealReason::Operator`.
    pub reason: SealReason,
    /// `producer.id.expiration.ms`, of the broker.
    pub producer_expiration_ms: i64,
    pub now: Timestamp,
}

/// What one record to `..seal` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealWish {
    /// Names the stream, unless its first record did.
    pub label: Option<String>,
    /// JSON.
    pub metadata: Option<String>,
}

/// The producer facts of a batch to `..seal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealingProducer {
    pub producer: ProducerId,
    pub epoch: i16,
    /// Of the batch's first record.
    pub sequence: i32,
}

/// The commits that a wish made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealOutcome {
    pub first: CommitNumber,
    pub count: u32,
    /// They were there before.
    pub duplicate: bool,
}

/// Why a wish is not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("a batch to ..seal holds 1 to {SEALS_MAX} records, and this one holds {found}")]
    Count { found: usize },
    #[error("the key of record {index} is {len} bytes long, and {LABEL_BYTES_MAX} is the most for a label")]
    Label { index: usize, len: usize },
    #[error("the value of record {index} is {len} bytes long, and {METADATA_BYTES_MAX} is the most for metadata")]
    MetadataLength { index: usize, len: usize },
    #[error(
        "the values of the batch are {found} bytes long together, and {METADATA_TOTAL_BYTES_MAX} is the most for metadata"
    )]
    MetadataTotal { found: usize },
    #[error("the value of record {index} is not JSON: {fault}")]
    Metadata { index: usize, fault: String },
    #[error(transparent)]
    Sequence(#[from] SequenceError),
}

impl State {
    /// Decides a seal at somebody's wish.
    pub fn decide_seal(&self, seal: Seal) -> Result<Decision<SealOutcome>, SealError> {
        let feed = self.feed(seal.feed).ok_or(SealError::UnknownFeed { feed: seal.feed })?;
        let count = check_wishes(&seal.wishes)?;
        let outcome = |first, duplicate| SealOutcome { first, count, duplicate };
        let expired = Timestamp(seal.now.0.saturating_sub(seal.producer_expiration_ms));
        let mut entries = Vec::with_capacity(1);
        if let Some(producer) = &seal.producer {
            match feed.seal_producers.check(&producer.sequenced(count), expired)? {
                Sequence::Repeated { base } => return Ok(Decision::nothing(outcome(CommitNumber(base), true))),
                Sequence::Next => {}
            }
            if feed.seal_producers.has_expired(producer.producer, expired) {
                entries.push(Entry::ProducersForgotten { feed: feed.id, partition: None, before: expired });
            }
        }
        let at = self.seal_time(feed, seal.now);
        entries.push(Entry::Sealed(Sealed { at, streams: streams(feed, seal, count) }));
        Ok(Decision { entries, outcome: outcome(feed.next_commit, false) })
    }

    /// Seals the streams whose time has come, a share of them.
    pub fn decide_due(&self, now: Timestamp) -> Decision<()> {
        let mut share = Share::new();
        let due = self.due.iter().take_while(|(at, _)| *at <= now).map(|(_, feed)| &self.feeds[feed]);
        let due = due.take_while(|feed| share.takes(feed.open_stream().map_or(0, OpenStream::num_extents)));
        let entries = due.map(|feed| self.sealed_by_age(feed, now)).collect();
        Decision { entries, outcome: () }
    }

    /// From here on no seal carries a time below `at`, so that what was answered for the time before it stays true.
    /// `at` is a time that has passed.
    pub fn decide_time_floor(&self, at: Timestamp) -> Decision<()> {
        if at <= self.time_floor { Decision::nothing(()) } else { Decision::one(Entry::TimeFloor { at }, ()) }
    }

    fn sealed_by_age(&self, feed: &Feed, now: Timestamp) -> Entry {
        let stream = StreamSealed {
            feed: feed.id,
            stream: feed.current_stream(),
            reason: SealReason::Time,
            label: None,
            metadata: None,
            sealed_by: None,
        };
        Entry::Sealed(Sealed { at: self.seal_time(feed, now), streams: vec![stream] })
    }

    /// Seal times of a feed never go back, whatever the clock does.
    pub(super) fn seal_time(&self, feed: &Feed, now: Timestamp) -> Timestamp {
        now.max(feed.last_sealed_at).max(self.time_floor)
    }
}

impl SealingProducer {
    pub(super) fn sequenced(&self, count: u32) -> Sequenced {
        let SealingProducer { producer, epoch, sequence } = *self;
        Sequenced { producer, epoch, first: sequence, count: count.into() }
    }
}

impl Feed {
    /// The stream that the next plain record belongs to.
    pub(super) fn current_stream(&self) -> StreamId {
        self.implicit.unwrap_or(self.next_stream)
    }

    /// The stream that is current once `ahead` streams more are sealed.
    fn stream_after(&self, ahead: usize) -> StreamId {
        match (self.implicit, ahead as i64) {
            (Some(open), 0) => open,
            (Some(_), ahead) => StreamId(self.next_stream.0 + ahead - 1),
            (None, ahead) => StreamId(self.next_stream.0 + ahead),
        }
    }
}

fn streams(feed: &Feed, seal: Seal, count: u32) -> Vec<StreamSealed> {
    let sealed_by = seal.producer.map(|producer| SealProducer {
        producer: producer.producer,
        epoch: producer.epoch,
        sequence: producer.sequence,
        records: count,
    });
    let reason = seal.reason;
    let stream = |(index, wish): (usize, SealWish)| StreamSealed {
        feed: feed.id,
        stream: feed.stream_after(index),
        reason,
        label: wish.label,
        metadata: wish.metadata,
        sealed_by: sealed_by.filter(|_| index == 0),
    };
    seal.wishes.into_iter().enumerate().map(stream).collect()
}

pub(super) fn check_wishes(wishes: &[SealWish]) -> Result<u32, SealError> {
    if wishes.is_empty() || wishes.len() > SEALS_MAX {
        return Err(SealError::Count { found: wishes.len() });
    }
    for (index, wish) in wishes.iter().enumerate() {
        check_wish(index, wish)?;
    }
    let total = wishes.iter().filter_map(|wish| wish.metadata.as_ref()).map(String::len).sum();
    if total > METADATA_TOTAL_BYTES_MAX {
        return Err(SealError::MetadataTotal { found: total });
    }
    Ok(wishes.len() as u32)
}

fn check_wish(index: usize, wish: &SealWish) -> Result<(), SealError> {
    if let Some(len) = wish.label.as_ref().map(String::len).filter(|len| *len > LABEL_BYTES_MAX) {
        return Err(SealError::Label { index, len });
    }
    let Some(metadata) = &wish.metadata else { return Ok(()) };
    if metadata.len() > METADATA_BYTES_MAX {
        return Err(SealError::MetadataLength { index, len: metadata.len() });
    }
    match serde_json::from_str::<&RawValue>(metadata) {
        Ok(_) => Ok(()),
        Err(fault) => Err(SealError::Metadata { index, fault: fault.to_string() }),
    }
}
