//! What entries about transactions change.

use std::collections::{BTreeMap, BTreeSet};

use super::super::entry::{
    EndReason, Enlisted, PositionsStaged, ProducerBound, SealReason, StreamNamed, TransactionEnded,
};
use super::super::feed::{Feed, Partition};
use super::super::history::{AbortReason, ManifestTransaction, Sibling, StreamFact};
use super::super::ids::{FeedId, Offset, PartitionId, ProducerId, StreamId, Timestamp};
use super::super::producers::Room;
use super::super::seal::SealWish;
use super::super::state::State;
use super::super::subscription::Subscription;
use super::super::transaction::{OpenTransaction, Transactional};
use super::super::writes::{AbortedRow, TailWrite, Told};
use super::append::Placing;
use super::seal::{InManifest, sequenced};
use crate::batch::{Marker, marker_batch};

/// There is one coordinator, and it never moves.
const COORDINATOR_EPOCH: i32 = 0;

impl State {
    pub(super) fn bind_producer(&mut self, bound: &ProducerBound) {
        self.give_out(bound.identity.producer);
        self.transactions.change(&bound.id, |before| {
            assert!(before.is_none_or(|before| before.open().is_none()), "{:?} is bound while it is open", bound.id);
            Some(Transactional::bound(bound))
        });
    }

    pub(super) fn enlist(&mut self, enlisted: &Enlisted, writes: &mut Vec<TailWrite>) {
        let (id, open) = self.open_of(enlisted.producer);
        let mut feeds: BTreeSet<FeedId> = enlisted.partitions.iter().map(|(feed, _)| *feed).collect();
        feeds.extend(&enlisted.seals);
        feeds.retain(|feed| open.is_none_or(|open| open.stream_on(*feed).is_none()));
        let mut streams = BTreeMap::new();
        for feed in feeds {
            let known = self.feed_mut(feed);
            let stream = known.next_stream;
            known.open_stream_now(stream, None, Some(&id), enlisted.at, writes);
            streams.insert(feed, stream);
        }
        self.change_open(&id, enlisted.at, |open| {
            open.streams.extend(streams);
            open.partitions.extend(&enlisted.partitions);
            open.seals.extend(&enlisted.seals);
            open.groups.extend(enlisted.groups.iter().cloned());
        });
    }

    pub(super) fn stage_positions(&mut self, staged: &PositionsStaged) {
        let (id, _) = self.open_of(staged.producer);
        let moved = &staged.moved;
        self.change_open(&id, moved.at, |open| {
            let positions = open.staged.entry(moved.group.clone()).or_default();
            moved.positions.iter().for_each(|position| positions.move_to(moved.at, position));
        });
    }

    pub(super) fn name_stream(&mut self, named: &StreamNamed) {
        let (id, open) = self.open_of(named.by.producer);
        let stream = open.and_then(|open| open.stream_on(named.feed));
        let stream = stream.unwrap_or_else(|| panic!("{id:?} names a stream on feed {}, and has none", named.feed));
        let room = self.room_for(named.feed, None, named.by.producer);
        self.change_feed(named.feed, |feed| feed.name_stream(stream, named, &room));
    }

    pub(super) fn end_transaction(&mut self, ended: &TransactionEnded, writes: &mut Vec<TailWrite>) {
        let mut open = None;
        self.transactions.change(&ended.id, |known| {
            let mut known = known.unwrap_or_else(|| panic!("{:?} ends a transaction and is not known", ended.id));
            open = known.open.take();
            Some(known.after(ended))
        });
        self.give_out(ended.next.producer);
        let Some(open) = open else { return };
        self.mark(&open, ended, writes);
        self.seal_all(ended, writes);
        for (feed, stream) in open.streams() {
            self.change_feed(feed, |feed| {
                feed.abort(stream, ended, writes);
                0
            });
        }
        if ended.reason.commits() {
            open.staged.iter().for_each(|(group, positions)| self.move_staged(group, positions, ended.at));
        }
    }

    pub(super) fn forget_transactional_ids(&mut self, before: Timestamp) {
        let old: Vec<String> = self.transactions.unused_since(before).map(str::to_owned).collect();
        old.iter().for_each(|id| self.transactions.change(id, |_| None));
    }

    /// A transaction goes on without a feed that is deleted.
    pub(super) fn forget_in_transactions(&mut self, feed: &Feed) {
        let mut touching: BTreeSet<String> =
            feed.open.values().filter_map(|stream| stream.owner()).map(str::to_owned).collect();
        touching.extend(self.transactions.staging_on(&feed.name).map(str::to_owned));
        for id in touching {
            self.transactions.change(&id, |known| {
                let mut known = known?;
                known.open.iter_mut().for_each(|open| open.forget_feed(feed.id, &feed.name));
                Some(known)
            });
        }
    }

    /// The id that has a producer, and its open transaction.
    fn open_of(&self, producer: ProducerId) -> (String, Option<&OpenTransaction>) {
        let found = self.transactions.of_producer(producer);
        let (id, known) = found.unwrap_or_else(|| panic!("producer {producer} has no transactional id"));
        (id.to_owned(), known.open())
    }

    /// Changes the open transaction of an id, which begins with that if it is not there.
    fn change_open(&mut self, id: &str, at: Timestamp, change: impl FnOnce(&mut OpenTransaction)) {
        self.transactions.change(id, |known| {
            let mut known = known?;
            change(known.open.get_or_insert_with(|| OpenTransaction::new(at)));
            known.at = known.at.max(at);
            known.ended = None;
            Some(known)
        });
    }

    /// A marker on every partition that the transaction touches.
    fn mark(&mut self, open: &OpenTransaction, ended: &TransactionEnded, writes: &mut Vec<TailWrite>) {
        let rolls: BTreeSet<(FeedId, PartitionId)> = ended.rolls.iter().copied().collect();
        for (feed, partition) in open.partitions() {
            let stream = open.stream_on(feed).expect("each feed of a transaction has its stream");
            self.feed_mut(feed).mark(partition, stream, ended, rolls.contains(&(feed, partition)), writes);
        }
    }

    fn seal_all(&mut self, ended: &TransactionEnded, writes: &mut Vec<TailWrite>) {
        let commits = self.commits_of(ended);
        let transaction = ManifestTransaction {
            transactional_id: ended.id.clone(),
            producer_id: ended.by.producer.0,
            epoch: ended.by.epoch,
        };
        for stream in &ended.seals {
            let siblings = || commits.iter().filter(|(feed, _)| *feed != stream.feed).map(|(_, commit)| commit.clone());
            let in_manifest = match stream.reason {
                SealReason::Transaction => {
                    InManifest { transaction: Some(transaction.clone()), siblings: siblings().collect() }
                }
                _ => InManifest::default(),
            };
            let room = Room::default();
            self.change_feed(stream.feed, |feed| feed.seal(ended.at, stream, in_manifest, &room, writes));
        }
    }

    /// The commits that the transaction is going to make.
    fn commits_of(&self, ended: &TransactionEnded) -> Vec<(FeedId, Sibling)> {
        let mut next: BTreeMap<FeedId, i64> = BTreeMap::new();
        let mut commits = Vec::new();
        for stream in &ended.seals {
            let feed = self.feed(stream.feed).expect("an entry seals streams of feeds that exist");
            let commit = next.entry(stream.feed).or_insert(feed.next_commit.0);
            if stream.reason == SealReason::Transaction {
                commits.push((stream.feed, Sibling { feed: feed.name.clone(), commit: *commit }));
            }
            *commit += 1;
        }
        commits
    }

    fn move_staged(&mut self, group: &str, positions: &Subscription, at: Timestamp) {
        self.change_subscription(group, |subscription| {
            for (topic, partition, position) in positions.positions() {
                subscription.put(topic, partition, super::super::subscription::Position { at, ..position.clone() });
            }
        });
    }

    fn give_out(&mut self, producer: ProducerId) {
        self.next_producer = self.next_producer.max(ProducerId(producer.0 + 1));
    }
}

impl Feed {
    /// Returns by how many the remembered producers grew.
    fn name_stream(&mut self, stream: StreamId, named: &StreamNamed, room: &Room) -> u64 {
        let open = self.open.get_mut(&stream).filter(|stream| stream.transaction.is_some());
        let open = open.unwrap_or_else(|| panic!("stream {stream} is not one of a transaction"));
        let before = open.named_bytes();
        let wish = SealWish { label: named.label.clone(), metadata: named.metadata.clone() };
        open.transaction.as_mut().expect("just looked at").named = Some(wish);
        self.named_bytes = self.named_bytes + open.named_bytes() - before;
        self.seal_producers.append(&sequenced(&named.by), named.at, self.next_commit.0, room)
    }

    fn mark(
        &mut self,
        id: PartitionId,
        stream: StreamId,
        ended: &TransactionEnded,
        roll: bool,
        writes: &mut Vec<TailWrite>,
    ) {
        let feed = self.id;
        let first = self.open.get(&stream).and_then(|stream| stream.extents(id).first()).map(|extent| extent.base);
        let partition = self.partition_mut(id);
        partition.producers.end_transaction(ended.by.producer, ended.marker_epoch, ended.at);
        let marker_at = partition.log_end;
        writes.push(partition.mark(feed, id, (first, stream), ended, roll));
        let aborted = first.filter(|_| !ended.reason.commits());
        writes.extend(aborted.map(|first| partition.note_aborted(feed, id, ended.by.producer, first, marker_at)));
    }

    /// Ends the stream unless it was sealed: it becomes no commit.
    fn abort(&mut self, id: StreamId, ended: &TransactionEnded, writes: &mut Vec<TailWrite>) {
        let Some(stream) = self.close(id) else { return };
        for (partition, part) in stream.parts() {
            self.partition_mut(partition).transactions.get_or_insert_default().unplaced += part.records;
        }
        let label = stream.label().map(str::to_owned);
        let reason = abort_reason(ended.reason);
        let fact = StreamFact::Aborted { reason, label, records: stream.records, bytes: stream.bytes };
        self.tell(id, ended.at, Told::Aborted, fact, writes);
    }
}

impl Partition {
    fn mark(
        &mut self,
        feed: FeedId,
        partition: PartitionId,
        (first, stream): (Option<Offset>, StreamId),
        ended: &TransactionEnded,
        roll: bool,
    ) -> TailWrite {
        let transactions = self.transactions.get_or_insert_default();
        transactions.unplaced += 1;
        if let Some(first) = first {
            transactions.open.remove(&(first, stream));
        }
        let marker = if ended.reason.commits() { Marker::Commit } else { Marker::Abort };
        let (offset, producer) = (self.log_end, ended.by.producer);
        let batch = marker_batch(offset.0, ended.at.0, producer.0, ended.marker_epoch, marker, COORDINATOR_EPOCH);
        self.place_batch(Placing { feed, partition, roll, at: ended.at, count: 1, max_timestamp: ended.at, batch })
    }

    fn note_aborted(
        &mut self,
        feed: FeedId,
        partition: PartitionId,
        producer: ProducerId,
        first: Offset,
        last: Offset,
    ) -> TailWrite {
        let last_stable = self.last_stable();
        let transactions = self.transactions.get_or_insert_default();
        let row = transactions.num_aborted;
        transactions.num_aborted += 1;
        TailWrite::Aborted { feed, partition, row, aborted: AbortedRow { producer, first, last, last_stable } }
    }
}

fn abort_reason(reason: EndReason) -> AbortReason {
    match reason {
        EndReason::Committed | EndReason::CommittedNext => AbortReason::Empty,
        EndReason::Aborted | EndReason::AbortedNext => AbortReason::Client,
        EndReason::Fenced => AbortReason::Fenced,
        EndReason::TimedOut => AbortReason::Timeout,
        EndReason::Operator => AbortReason::Operator,
    }
}
