//! What is remembered of idempotent producers, so that a batch sent twice is stored once and a lost one is missed.
//!
//! The rules are Kafka's (`ProducerAppendInfo`), with one addition: what is older than the remembered batches and was
//! surely appended is called a duplicate, so that the producer goes on instead of giving up.

use std::collections::{BTreeMap, BTreeSet};

use super::ids::{ProducerId, Timestamp};
use crate::batch::BatchHeader;

/// Batches remembered of each producer: as many as a Java producer has in flight.
pub const BATCHES_MAX: usize = 5;

/// Producers remembered of one partition; beyond it the one that was silent for longest goes.
pub const PRODUCERS_MAX: usize = 5_000;

/// Producers remembered in all; beyond it each partition that gets a new one loses one.
pub const PRODUCERS_TOTAL_MAX: u64 = 1_000_000;

/// Sequences go from 0 to 2^31 - 1, and then from 0 again.
const SEQUENCES: i64 = 1 << 31;

/// The producers of one partition, or of a control topic. Takes a word when there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Producers {
    // Most partitions of a large broker have none.
    #[expect(clippy::box_collection, reason = "an empty one takes 8 bytes instead of 24")]
    by_id: Option<Box<BTreeMap<ProducerId, Producer>>>,
}

/// One producer, as one partition knows it. It has appended at least once, though not always in its present epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Producer {
    pub(super) epoch: i16,
    pub(super) last_at: Timestamp,
    /// Records appended in an unbroken run of sequences, up to the last one.
    pub(super) run: i64,
    /// The newest batches of that run, oldest first.
    pub(super) batches: Vec<KnownBatch>,
}

/// A batch that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBatch {
    pub first: i32,
    pub last: i32,
    /// The offset (on a control topic: the commit) that was answered.
    pub base: i64,
}

/// A batch by an idempotent producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequenced {
    pub producer: ProducerId,
    pub epoch: i16,
    pub first: i32,
    pub count: i64,
}

/// What a batch in order may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    Next,
    /// It is there already; its first offset was `base`.
    Repeated {
        base: i64,
    },
}

/// Why a batch does not follow the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    #[error("producer {producer} has epoch {current} here, and the batch is of epoch {found}")]
    OlderEpoch { producer: ProducerId, found: i16, current: i16 },
    #[error("the first batch of producer {producer} with epoch {epoch} has sequence {found} instead of 0")]
    NewEpoch { producer: ProducerId, epoch: i16, found: i32 },
    #[error("the batch of producer {producer} has sequence {found}, and {expected} comes next")]
    Gap { producer: ProducerId, found: i32, expected: i32 },
    #[error(
        "the batch of producer {producer} with sequence {found} was appended so long ago that its offset is forgotten"
    )]
    Forgotten { producer: ProducerId, found: i32 },
}

impl Producers {
    /// Holds a batch against what is remembered. Producers silent since before `expired` count as unknown, and an
    /// unknown one may start with any sequence (KIP-360): its earlier batches may have been deleted.
    pub(super) fn check(&self, batch: &Sequenced, expired: Timestamp) -> Result<Sequence, SequenceError> {
        match self.get(batch.producer).filter(|producer| producer.last_at >= expired) {
            Some(producer) => producer.check(batch),
            None => Ok(Sequence::Next),
        }
    }

    /// The same for a batch in a transaction, which may be open for longer than silent producers are remembered. With an
    /// epoch for each transaction (`own_epoch`, KIP-890) the sequences of an unknown producer start at 0.
    pub(super) fn check_in_transaction(&self, batch: &Sequenced, own_epoch: bool) -> Result<Sequence, SequenceError> {
        match self.get(batch.producer) {
            Some(producer) => producer.check(batch),
            None if own_epoch && batch.first != 0 => {
                Err(SequenceError::Gap { producer: batch.producer, found: batch.first, expected: 0 })
            }
            None => Ok(Sequence::Next),
        }
    }

    /// True when producers should be forgotten before `producer` appends: itself, lest the new batches be held against
    /// the old ones, or any when it needs room as a new one.
    pub(super) fn has_expired(&self, producer: ProducerId, expired: Timestamp) -> bool {
        match self.get(producer) {
            Some(known) => known.last_at < expired,
            None => self.iter().any(|(_, other)| other.last_at < expired),
        }
    }

    /// True when a new producer makes another one be forgotten. `crowded`: too many are remembered in all.
    pub(super) fn is_full(&self, crowded: bool) -> bool {
        let len = self.len();
        len >= PRODUCERS_MAX || (crowded && len > 0)
    }

    /// True when a batch of that producer makes another one be forgotten.
    pub(super) fn is_full_for(&self, producer: ProducerId, crowded: bool) -> bool {
        self.is_full(crowded) && self.get(producer).is_none()
    }

    /// Remembers a batch. Returns by how many the number of producers grew: 1 or 0.
    pub(super) fn append(&mut self, batch: &Sequenced, at: Timestamp, base: i64, room: &Room) -> u64 {
        let is_full = self.is_full_for(batch.producer, room.crowded);
        let producers = self.by_id.get_or_insert_default();
        let len = producers.len();
        if is_full {
            remove_most_silent(producers, &room.busy);
        }
        producers.entry(batch.producer).or_insert_with(|| Producer::new(batch, at)).append(batch, at, base);
        producers.len().saturating_sub(len) as u64
    }

    /// A transaction of the producer ended, with a marker of this epoch. What it sends after a marker of a higher epoch
    /// starts anew.
    pub(super) fn end_transaction(&mut self, producer: ProducerId, epoch: i16, at: Timestamp) {
        let known = self.by_id.as_mut().and_then(|producers| producers.get_mut(&producer));
        let Some(known) = known else { return };
        known.last_at = known.last_at.max(at);
        if epoch > known.epoch {
            (known.epoch, known.run) = (epoch, 0);
            known.batches.clear();
        }
    }

    /// Forgets the producers silent since before `before`, but for those that `are_busy`; returns how many.
    pub(super) fn forget(&mut self, before: Timestamp, are_busy: impl Fn(ProducerId) -> bool) -> u64 {
        let len = self.len();
        if let Some(producers) = &mut self.by_id {
            producers.retain(|id, producer| producer.last_at >= before || are_busy(*id));
            if producers.is_empty() {
                self.by_id = None;
            }
        }
        (len - self.len()) as u64
    }

    /// What is remembered of a producer.
    pub fn get(&self, producer: ProducerId) -> Option<&Producer> {
        self.by_id.as_ref()?.get(&producer)
    }

    /// All that are remembered, by id.
    pub fn iter(&self) -> impl Iterator<Item = (ProducerId, &Producer)> {
        self.by_id.iter().flat_map(|producers| producers.iter()).map(|(id, producer)| (*id, producer))
    }

    /// How many are remembered.
    pub fn len(&self) -> usize {
        self.by_id.as_ref().map_or(0, |producers| producers.len())
    }

    /// None is remembered.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_none()
    }

    pub(super) fn insert(&mut self, id: ProducerId, producer: Producer) {
        self.by_id.get_or_insert_default().insert(id, producer);
    }
}

fn remove_most_silent(producers: &mut BTreeMap<ProducerId, Producer>, busy: &BTreeSet<ProducerId>) {
    let idle = producers.iter().filter(|(id, _)| !busy.contains(id));
    if let Some(id) = idle.min_by_key(|(id, producer)| (producer.last_at, **id)).map(|(id, _)| *id) {
        producers.remove(&id);
    }
}

/// What there is room for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// Too many producers are remembered in all.
    pub crowded: bool,
    /// Those of open transactions are not forgotten for others: their batches would be taken a second time.
    pub busy: BTreeSet<ProducerId>,
}

impl Producer {
    fn new(batch: &Sequenced, at: Timestamp) -> Producer {
        Producer { epoch: batch.epoch, last_at: at, run: 0, batches: Vec::with_capacity(1) }
    }

    /// The epoch of its newest batch.
    pub fn epoch(&self) -> i16 {
        self.epoch
    }

    /// When it last appended.
    pub fn last_at(&self) -> Timestamp {
        self.last_at
    }

    /// The sequence of its newest record.
    pub fn last_sequence(&self) -> Option<i32> {
        self.batches.last().map(|known| known.last)
    }

    fn check(&self, batch: &Sequenced) -> Result<Sequence, SequenceError> {
        let Sequenced { producer, epoch, first: found, .. } = *batch;
        if epoch < self.epoch {
            return Err(SequenceError::OlderEpoch { producer, found: epoch, current: self.epoch });
        }
        if epoch > self.epoch {
            return if found == 0 {
                Ok(Sequence::Next)
            } else {
                Err(SequenceError::NewEpoch { producer, epoch, found })
            };
        }
        if let Some(known) = self.batches.iter().find(|known| known.first == found && known.last == batch.last()) {
            return Ok(Sequence::Repeated { base: known.base });
        }
        let expected = self.expected();
        if found == expected {
            Ok(Sequence::Next)
        } else if self.surely_holds(batch) {
            Err(SequenceError::Forgotten { producer, found })
        } else {
            Err(SequenceError::Gap { producer, found, expected })
        }
    }

    /// A producer takes the word "duplicate" for success, so it is said only when every record of the batch lies in
    /// the unbroken run. The half of the sequences ahead is never taken for the past.
    fn surely_holds(&self, batch: &Sequenced) -> bool {
        let behind = (i64::from(self.expected()) - i64::from(batch.first)).rem_euclid(SEQUENCES);
        behind < SEQUENCES / 2 && behind <= self.run && batch.count <= behind
    }

    /// The sequence that comes next.
    fn expected(&self) -> i32 {
        self.batches.last().map_or(0, |known| after(known.last, 1))
    }

    fn append(&mut self, batch: &Sequenced, at: Timestamp, base: i64) {
        if batch.epoch != self.epoch || batch.first != self.expected() {
            self.epoch = batch.epoch;
            self.run = 0;
            self.batches.clear();
        }
        if self.batches.len() == BATCHES_MAX {
            self.batches.remove(0);
        }
        self.batches.push(KnownBatch { first: batch.first, last: batch.last(), base });
        self.run = self.run.saturating_add(batch.count);
        self.last_at = at;
    }
}

impl Sequenced {
    /// The batch with this header, if an idempotent producer sent it.
    pub(super) fn of(header: &BatchHeader) -> Option<Sequenced> {
        let count = i64::from(header.last_offset_delta) + 1;
        let BatchHeader { producer_id, producer_epoch: epoch, base_sequence: first, .. } = *header;
        (producer_id >= 0).then_some(Sequenced { producer: ProducerId(producer_id), epoch, first, count })
    }

    fn last(&self) -> i32 {
        after(self.first, self.count - 1)
    }
}

fn after(sequence: i32, count: i64) -> i32 {
    i32::try_from((i64::from(sequence) + count) % SEQUENCES).expect("what is left of a division by 2^31 fits")
}

#[cfg(test)]
#[path = "tests/producers.rs"]
mod tests;
