//! Tests of the machine: one situation a test, through [`Machine`], and a seeded walk against a simple model.

mod append;
mod encoding;
mod expiry;
mod feeds;
mod files;
mod golden;
mod oracle;
mod seal;
mod subscription;
mod transaction;
mod trim;
mod walk;

use bytes::Bytes;
use uuid::Uuid;

use super::*;
use crate::batch::{Batch, BatchBuilder, Header, Limits, NewRecord, Producer, check_produced, records};

/// A state with its journal and the writes that came of it. Time stands still unless a test moves it.
pub struct Machine {
    pub state: State,
    pub journal: Vec<Entry>,
    pub writes: Vec<TailWrite>,
    pub now: Timestamp,
    pub settings: FeedSettings,
}

/// Nothing is rolled, sealed or forgotten by itself.
pub const QUIET: FeedSettings = FeedSettings {
    segment_bytes: 1 << 30,
    segment_ms: i64::MAX,
    seal_ms: 5_000,
    seal_records: i64::MAX,
    seal_bytes: i64::MAX,
    producer_expiration_ms: 1_000_000,
};

impl Machine {
    /// With one feed, `orders`, of 2 partitions.
    pub fn new() -> Machine {
        let mut machine = Machine {
            state: State::default(),
            journal: Vec::new(),
            writes: Vec::new(),
            now: Timestamp(1_000_000),
            settings: QUIET,
        };
        machine.create("orders", 2).unwrap();
        machine
    }

    pub fn create(&mut self, name: &str, partitions: u32) -> Result<FeedId, CreateFeedError> {
        let topic_id = Uuid::from_u128(u128::from(self.state.next_feed().0) + 1);
        let decision = self.state.decide_create(name, topic_id, partitions, Overrides::new(), self.now)?;
        Ok(self.take(decision))
    }

    /// Applies what was decided.
    pub fn take<T>(&mut self, decision: Decision<T>) -> T {
        for entry in decision.entries {
            self.state.apply(&entry, &mut self.writes);
            self.state.check();
            self.journal.push(entry);
        }
        decision.outcome
    }

    /// Appends to partition 0 of feed 0.
    pub fn append(&mut self, batch: Batch) -> Result<AppendOutcome, AppendError> {
        self.append_to(FeedId(0), PartitionId(0), batch)
    }

    pub fn append_to(
        &mut self,
        feed: FeedId,
        partition: PartitionId,
        batch: Batch,
    ) -> Result<AppendOutcome, AppendError> {
        let append = Append { feed, partition, batch, settings: &self.settings, transaction: None, now: self.now };
        let decision = self.state.decide_append(append)?;
        Ok(self.take(decision))
    }

    /// Sends wishes to `orders..seal`.
    pub fn seal(&mut self, wishes: Vec<SealWish>, producer: Option<SealingProducer>) -> Result<SealOutcome, SealError> {
        let decision = self.state.decide_seal(Seal {
            feed: FeedId(0),
            wishes,
            producer,
            reason: SealReason::Control,
            producer_expiration_ms: self.settings.producer_expiration_ms,
            now: self.now,
        })?;
        Ok(self.take(decision))
    }

    pub fn seal_due(&mut self) {
        let decision = self.state.decide_due(self.now);
        self.take(decision);
    }

    pub fn later(&mut self, ms: i64) {
        self.now.0 += ms;
    }

    pub fn feed(&self) -> &Feed {
        self.state.feed(FeedId(0)).unwrap()
    }

    /// The manifests of all feeds, in the order of their seals.
    pub fn manifests(&self) -> Vec<Manifest> {
        let commit = |write: &TailWrite| match write {
            TailWrite::Commit { batch, .. } => Some(Manifest::parse(&one_value(batch)).unwrap()),
            _ => None,
        };
        self.writes.iter().filter_map(commit).collect()
    }

    /// The stream events of all feeds.
    pub fn events(&self) -> Vec<StreamEvent> {
        let event = |write: &TailWrite| match write {
            TailWrite::StreamEvent { batch, .. } => Some(StreamEvent::parse(&one_value(batch)).unwrap()),
            _ => None,
        };
        self.writes.iter().filter_map(event).collect()
    }
}

/// The value of the one record in a batch.
pub fn one_value(batch: &Bytes) -> Bytes {
    let records = records(batch, usize::MAX).unwrap();
    let mut values = records.iter().map(|record| Bytes::copy_from_slice(record.unwrap().value.unwrap()));
    let value = values.next().unwrap();
    assert_eq!(values.next(), None);
    value
}

/// A batch without a producer, one record a value.
pub fn plain(values: &[&str]) -> Batch {
    numbered(Producer::NONE, values)
}

/// A batch of an idempotent producer.
pub fn by(id: i64, epoch: i16, base_sequence: i32, values: &[&str]) -> Batch {
    numbered(Producer { id, epoch, base_sequence }, values)
}

/// A batch whose one record carries a header.
pub fn with_header(key: &str, value: &str) -> Batch {
    let headers = [Header { key: key.as_bytes(), value: Some(value.as_bytes()) }];
    let record = NewRecord { timestamp: 10, key: None, value: Some(b"v"), headers: &headers };
    checked(BatchBuilder::new(0).record(record).build())
}

fn numbered(producer: Producer, values: &[&str]) -> Batch {
    let mut builder = BatchBuilder::new(0).producer(producer);
    for (index, value) in values.iter().enumerate() {
        let value = Some(value.as_bytes());
        builder.push(NewRecord { timestamp: 100 + index as i64, value, ..NewRecord::default() });
    }
    checked(builder.build())
}

/// As it comes out of a produce request.
pub fn checked(batch: Bytes) -> Batch {
    let limits = Limits::of_size(usize::MAX);
    check_produced(batch, &limits).unwrap()
}

/// The entries of a group that holds its batches.
fn decode(group: Bytes) -> Result<Vec<Entry>, codec::CodecError> {
    codec::decode_group(group, &mut |apart| Err(codec::NoBody(format!("{apart:?} in a group that holds its batches"))))
}
