//! The only place where state changes. It depends on the state and the entry alone: live, at recovery and on any
//! other machine, the same entries give the same state and the same writes.

mod append;
mod seal;
mod subscription;
mod transaction;
mod trim;

use super::entry::{Appended, Entry, FeedCreated, Sealed};
use super::feed::{Feed, Partition};
use super::ids::{FeedId, PartitionId, ProducerId, Timestamp};
use super::producers::{PRODUCERS_TOTAL_MAX, Room};
use super::state::{Overrides, State};
use super::writes::TailWrite;
use crate::batch::BatchHeader;
use seal::InManifest;

impl State {
    /// Applies an entry that was decided on this very state, and adds what it asks of the disk to `writes`.
    pub fn apply(&mut self, entry: &Entry, writes: &mut Vec<TailWrite>) {
        match entry {
            Entry::FeedCreated(created) => self.create_feed(created, writes),
            Entry::FeedDeleted { feed, .. } => self.delete_feed(*feed, writes),
            Entry::PartitionsAdded { feed, partitions, .. } => self.add_partitions(*feed, *partitions, writes),
            Entry::FeedConfigured { feed, overrides } => self.feed_mut(*feed).overrides = overrides.clone(),
            Entry::BrokerConfigured { broker, overrides } => self.configure_broker(*broker, overrides),
            Entry::ProducerOpened { producer } => self.open_producer(*producer),
            Entry::ProducersForgotten { feed, partition, before } => self.forget_producers(*feed, *partition, *before),
            Entry::Appended(appended) => {
                let room = self.room_for_batch(appended);
                self.change_feed(appended.feed, |feed| feed.append(appended, &room, writes));
            }
            Entry::Sealed(sealed) => self.seal(sealed, writes),
            Entry::TimeFloor { at } => self.time_floor = self.time_floor.max(*at),
            Entry::Trimmed(trimmed) => self.feed_mut(trimmed.feed).trim(trimmed, writes),
            Entry::PositionsMoved(moved) => self.move_positions(moved),
            Entry::PositionsForgotten { group, positions } => self.forget_positions(group, positions),
            Entry::GroupKept(kept) => self.keep_group(kept),
            Entry::GroupDeleted { group } => self.delete_group(group),
            Entry::ProducerBound(bound) => self.bind_producer(bound),
            Entry::Enlisted(enlisted) => self.enlist(enlisted, writes),
            Entry::PositionsStaged(staged) => self.stage_positions(staged),
            Entry::StreamNamed(named) => self.name_stream(named),
            Entry::TransactionEnded(ended) => self.end_transaction(ended, writes),
            Entry::TransactionalIdsForgotten { before } => self.forget_transactional_ids(*before),
            Entry::GroupConfigured { group, overrides } => self.configure_group(group, overrides),
        }
    }

    fn create_feed(&mut self, created: &FeedCreated, writes: &mut Vec<TailWrite>) {
        let FeedCreated { feed: id, partitions, .. } = *created;
        assert!(id == self.next_feed, "feed {id} is made where feed {} is next", self.next_feed);
        let mut feed = Feed::new(id, created.name.clone(), created.topic_id, created.at);
        feed.overrides = created.overrides.clone();
        feed.partitions.resize(partitions as usize, Partition::default());
        self.names.insert(&feed);
        self.feeds.insert(id, feed);
        self.next_feed = FeedId(id.0 + 1);
        self.num_partitions += u64::from(partitions);
        writes.push(TailWrite::FeedCreated { feed: id, partitions });
    }

    fn delete_feed(&mut self, id: FeedId, writes: &mut Vec<TailWrite>) {
        let feed = self.feeds.remove(&id).unwrap_or_else(|| panic!("feed {id} is deleted and does not exist"));
        self.names.remove(&feed);
        self.forget_positions_on(feed.name());
        self.forget_in_transactions(&feed);
        if let Some(due) = feed.due() {
            self.due.remove(&(due, id));
        }
        self.num_partitions -= feed.partitions.len() as u64;
        self.num_producers -= feed.num_producers();
        self.num_extents -= feed.num_extents;
        self.named_bytes -= feed.named_bytes;
        writes.push(TailWrite::FeedDeleted { feed: id });
    }

    fn add_partitions(&mut self, id: FeedId, partitions: u32, writes: &mut Vec<TailWrite>) {
        let feed = self.feed_mut(id);
        let current = feed.partitions.len() as u32;
        assert!(partitions > current, "feed {id} has {current} partitions and is to have {partitions}");
        feed.partitions.resize(partitions as usize, Partition::default());
        self.num_partitions += u64::from(partitions - current);
        writes.push(TailWrite::PartitionsAdded { feed: id, partitions });
    }

    fn configure_broker(&mut self, broker: Option<i32>, overrides: &Overrides) {
        if overrides.is_empty() {
            self.brokers.remove(&broker);
        } else {
            self.brokers.insert(broker, overrides.clone());
        }
    }

    fn configure_group(&mut self, group: &str, overrides: &Overrides) {
        if overrides.is_empty() {
            self.groups.remove(group);
        } else {
            self.groups.insert(group.to_owned(), overrides.clone());
        }
    }

    fn open_producer(&mut self, producer: ProducerId) {
        let next = self.next_producer;
        assert!(producer >= next, "producer id {producer} is given out where {next} is next");
        self.next_producer = ProducerId(producer.0 + 1);
    }

    fn forget_producers(&mut self, feed: FeedId, partition: Option<PartitionId>, before: Timestamp) {
        let State { feeds, transactions, .. } = self;
        let feed =
            feeds.get_mut(&feed).unwrap_or_else(|| panic!("producers of feed {feed} are forgotten, which is gone"));
        let producers = match partition {
            Some(partition) => &mut feed.partition_mut(partition).producers,
            None => &mut feed.seal_producers,
        };
        // A transaction may be open for longer than silent producers are remembered.
        let is_open = |id| transactions.of_producer(id).is_some_and(|(_, known)| known.open().is_some());
        self.num_producers -= producers.forget(before, is_open);
    }

    /// Most batches meet no full partition, and need not be parsed for it.
    fn room_for_batch(&self, appended: &Appended) -> Room {
        let crowded = self.num_producers >= PRODUCERS_TOTAL_MAX;
        let partition = self.feed(appended.feed).and_then(|feed| feed.partition(appended.partition));
        if !partition.is_some_and(|partition| partition.producers().is_full(crowded)) {
            return Room { crowded, ..Room::default() };
        }
        let header = BatchHeader::parse(&appended.batch).expect("a batch is checked before it becomes an entry");
        match header.has_producer() {
            true => self.room_for(appended.feed, Some(appended.partition), ProducerId(header.producer_id)),
            false => Room::default(),
        }
    }

    /// What room there is for a producer in a partition of a feed, or in its control topic.
    fn room_for(&self, feed: FeedId, partition: Option<PartitionId>, producer: ProducerId) -> Room {
        let crowded = self.num_producers >= PRODUCERS_TOTAL_MAX;
        let producers = self.feed(feed).and_then(|feed| match partition {
            Some(partition) => feed.partition(partition).map(Partition::producers),
            None => Some(feed.seal_producers()),
        });
        let full = producers.filter(|producers| producers.is_full_for(producer, crowded));
        let is_open =
            |id: &ProducerId| self.transactions.of_producer(*id).is_some_and(|(_, known)| known.open().is_some());
        let busy = full.map(|producers| producers.iter().map(|(id, _)| id).filter(is_open).collect());
        Room { crowded, busy: busy.unwrap_or_default() }
    }

    fn seal(&mut self, sealed: &Sealed, writes: &mut Vec<TailWrite>) {
        for stream in &sealed.streams {
            let room = match &stream.sealed_by {
                Some(by) => self.room_for(stream.feed, None, by.producer),
                None => Room::default(),
            };
            self.change_feed(stream.feed, |feed| feed.seal(sealed.at, stream, InManifest::default(), &room, writes));
        }
    }

    /// Changes a feed and keeps in step what follows from all of them. `change` says by how many the
    /// producers grew.
    fn change_feed(&mut self, id: FeedId, change: impl FnOnce(&mut Feed) -> u64) {
        let feed = self.feed_mut(id);
        let (before, extents_before, named_before) = (feed.due(), feed.num_extents, feed.named_bytes);
        let more_producers = change(feed);
        let (after, extents_after, named_after) = (feed.due(), feed.num_extents, feed.named_bytes);
        self.num_producers += more_producers;
        self.num_extents = self.num_extents + extents_after - extents_before;
        self.named_bytes = self.named_bytes + named_after - named_before;
        if before != after {
            before.map(|at| self.due.remove(&(at, id)));
            after.map(|at| self.due.insert((at, id)));
        }
    }

    fn feed_mut(&mut self, id: FeedId) -> &mut Feed {
        self.feeds.get_mut(&id).unwrap_or_else(|| panic!("an entry is about feed {id}, which does not exist"))
    }
}

impl Feed {
    fn partition_mut(&mut self, id: PartitionId) -> &mut Partition {
        let (feed, len) = (self.id, self.partitions.len());
        let partition = self.partitions.get_mut(id.0 as usize);
        partition.unwrap_or_else(|| panic!("an entry is about partition {id} of feed {feed}, which has {len}"))
    }

    /// Producers that its partitions and its control topic remember.
    pub(super) fn num_producers(&self) -> u64 {
        let of_partitions: usize = self.partitions.iter().map(|partition| partition.producers.len()).sum();
        (of_partitions + self.seal_producers.len()) as u64
    }
}
