//! Transactions in a history: over several feeds, with positions, ended in every way.

use std::collections::BTreeMap;

use streamstack::batch::{BatchBuilder, NewRecord, Producer, check_produced};
use streamstack::disk::FaultyDisk;
use streamstack::model::{
    Append, Bind, EndTransaction, Entry, FeedId, Identity, InTransaction, MovedPosition, NameStream, PartitionId,
    Rolling, SealWish, SealingProducer, StagePositions, Timestamp,
};
use streamstack::store::Durability;
use uuid::Uuid;

use super::{LIMITS, Machine, Ran, SETTINGS, run_groups};

const IDS: [&str; 2] = ["loader-a", "loader-b"];
const ROLLING: Rolling<'static> = &|_| (SETTINGS.segment_bytes, SETTINGS.segment_ms);

/// Groups of [`run_wide`].
pub const WIDE_GROUPS: usize = 6;

/// A transaction over five partitions of three feeds that moves a position. The last group is its end.
pub fn run_wide(disk: &FaultyDisk, durability: Durability, seed: u64) -> Ran {
    run_groups(disk, durability, seed, WIDE_GROUPS, |machine, group| {
        machine.now += 10;
        match group {
            0 => machine.create_three(),
            1 => machine.apply(machine.bind(IDS[0], None)),
            2 | 3 => machine.append_to_all(),
            4 => machine.apply(machine.stage(IDS[0], machine.identity(), FeedId(0))),
            _ => machine.apply(machine.commit()),
        }
        machine.take_image();
    })
}

impl Machine {
    fn create_three(&mut self) {
        for (number, partitions) in [(1, 2), (2, 2), (3, 1)] {
            let (name, id, at) = (format!("feed-{number}"), Uuid::from_u128(number), Timestamp(self.now));
            let created = self.state.decide_create(&name, id, partitions, BTreeMap::new(), at).unwrap();
            self.apply(created.entries);
        }
    }

    fn append_to_all(&mut self) {
        for (feed, partition) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)] {
            let entries = self.append_within(IDS[0], self.identity(), FeedId(feed), PartitionId(partition));
            self.apply(entries);
        }
    }

    fn identity(&self) -> Identity {
        self.state.transactions().get(IDS[0]).unwrap().identity()
    }

    fn commit(&self) -> Vec<Entry> {
        let (identity, now) = (self.identity(), Timestamp(self.now));
        let wish = EndTransaction { id: IDS[0].into(), identity, commit: true, bumps: true, now };
        self.state.decide_end(wish, ROLLING).unwrap().entries
    }

    pub(super) fn transact(&mut self, feed: FeedId) -> Vec<Entry> {
        let id = IDS[self.random.below(2) as usize];
        let Some(known) = self.state.transactions().get(id) else { return self.bind(id, None) };
        let (identity, is_open) = (known.identity(), known.open().is_some());
        match self.random.below(12) {
            0 => self.bind(id, None),
            1 => self.bind(id, Some(identity)),
            2 | 3 if is_open => self.end(id, identity),
            4 | 5 => self.stage(id, identity, feed),
            6 => self.name(id, identity, feed),
            _ => self.append_in(id, identity, feed),
        }
    }

    /// Aborts what was open for too long.
    pub(super) fn time_out(&self) -> Vec<Entry> {
        self.state.decide_timeouts(Timestamp(self.now), ROLLING).entries
    }

    fn bind(&self, id: &str, current: Option<Identity>) -> Vec<Entry> {
        let now = Timestamp(self.now);
        let wish = Bind { id: id.into(), timeout_ms: 2_000, timeout_max_ms: 2_000, current, now };
        self.state.decide_bind(wish, ROLLING).unwrap().entries
    }

    fn end(&mut self, id: &str, identity: Identity) -> Vec<Entry> {
        let (commit, bumps) = (self.random.chance(3, 4), self.random.chance(1, 2));
        let wish = EndTransaction { id: id.into(), identity, commit, bumps, now: Timestamp(self.now) };
        self.state.decide_end(wish, ROLLING).unwrap().entries
    }

    /// Further than ever before, in a group of its own: the position that lasts never goes back.
    fn stage(&self, id: &str, identity: Identity, feed: FeedId) -> Vec<Entry> {
        let position = MovedPosition {
            topic: self.state.feed(feed).unwrap().name().to_owned(),
            partition: PartitionId(0),
            offset: self.now,
            leader_epoch: 0,
            metadata: "with a transaction".to_owned(),
            expires: None,
        };
        let (group, positions) = (format!("group of {id}"), vec![position]);
        let (id, now) = (id.into(), Timestamp(self.now));
        let wish = StagePositions { id, identity, group, positions, enlists: true, now };
        self.state.decide_stage_positions(wish).unwrap().entries
    }

    fn name(&self, id: &str, identity: Identity, feed: FeedId) -> Vec<Entry> {
        let known = self.state.feed(feed).unwrap().seal_producers().get(identity.producer);
        let sequence = known.filter(|known| known.epoch() == identity.epoch).and_then(|known| known.last_sequence());
        let Identity { producer, epoch } = identity;
        let wish = NameStream {
            feed,
            transaction: InTransaction { id, enlists: true },
            producer: SealingProducer { producer, epoch, sequence: sequence.map_or(0, |last| last + 1) },
            wishes: vec![SealWish { label: Some("hourly".to_owned()), metadata: Some("[1]".to_owned()) }],
            now: Timestamp(self.now),
        };
        self.state.decide_name_stream(wish).unwrap().entries
    }

    fn append_in(&mut self, id: &str, identity: Identity, feed: FeedId) -> Vec<Entry> {
        let partition = self.partition_of(feed);
        self.append_within(id, identity, feed, partition)
    }

    fn append_within(&mut self, id: &str, identity: Identity, feed: FeedId, partition: PartitionId) -> Vec<Entry> {
        let known = self.state.feed(feed).unwrap().partition(partition).unwrap().producers().get(identity.producer);
        let last = known.filter(|known| known.epoch() == identity.epoch).and_then(|known| known.last_sequence());
        let base_sequence = last.map_or(0, |last| last + 1);
        let producer = Producer { id: identity.producer.0, epoch: identity.epoch, base_sequence };
        let mut builder = BatchBuilder::new(0).transactional().producer(producer);
        for _ in 0..1 + self.random.below(3) {
            let value = vec![self.random.below(256) as u8; self.random.below(200) as usize];
            builder.push(NewRecord { timestamp: self.now, key: Some(b"t"), value: Some(&value), headers: &[] });
        }
        let batch = check_produced(builder.build(), &LIMITS).unwrap();
        let transaction = Some(InTransaction { id, enlists: true });
        let append = Append { feed, partition, batch, settings: &SETTINGS, transaction, now: Timestamp(self.now) };
        self.state.decide_append(append).unwrap().entries
    }
}
