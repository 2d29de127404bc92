//! What an appended batch changes in its feed.

use bytes::Bytes;

use super::super::entry::Appended;
use super::super::feed::{Feed, Partition, Segment};
use super::super::history::{StreamEvent, StreamFact, StreamKind};
use super::super::ids::{FeedId, PartitionId, StreamId, Timestamp};
use super::super::producers::{Room, Sequenced};
use super::super::stream::{Appending, Extent, OpenStream, StreamOfTransaction};
use super::super::writes::{TailWrite, Told};
use crate::batch::BatchHeader;

impl Feed {
    /// Returns by how many the remembered producers grew.
    pub(super) fn append(&mut self, entry: &Appended, room: &Room, writes: &mut Vec<TailWrite>) -> u64 {
        let header = BatchHeader::parse(&entry.batch).expect("a batch is checked before it becomes an entry");
        let count = i64::from(header.last_offset_delta) + 1;
        let max_timestamp = Timestamp(header.max_timestamp);
        let stream = self.stream_of(entry, writes);
        let in_transaction = stream.transaction.is_some();
        let begins = in_transaction && stream.extents(entry.partition).is_empty();
        let num_extents = stream.num_extents;
        stream.append(
            entry.partition,
            Appending {
                at: entry.at,
                extent: Extent { base: entry.base_offset, count },
                bytes: entry.batch.len() as u64,
                tombstones: entry.tombstones,
                timestamp_min: entry.timestamp_min,
                timestamp_max: max_timestamp,
            },
        );
        stream.due = entry.due;
        let more_extents = stream.num_extents - num_extents;
        self.num_extents += if in_transaction { more_extents } else { 0 };
        let feed = self.id;
        let partition = self.partition_mut(entry.partition);
        partition.check_place(entry);
        if begins {
            let place = (entry.base_offset, entry.stream);
            partition.transactions.get_or_insert_default().open.insert(place);
        }
        let (roll, at, batch) = (entry.roll, entry.at, entry.batch.clone());
        let placing = Placing { feed, partition: entry.partition, roll, at, count, max_timestamp, batch };
        writes.push(partition.place_batch(placing));
        match Sequenced::of(&header) {
            Some(batch) => partition.producers.append(&batch, entry.at, entry.base_offset.0, room),
            None => 0,
        }
    }

    /// The batch's stream, opened if it is new.
    fn stream_of(&mut self, entry: &Appended, writes: &mut Vec<TailWrite>) -> &mut OpenStream {
        if !self.open.contains_key(&entry.stream) {
            self.open_stream_now(entry.stream, entry.label.clone(), None, entry.at, writes);
            self.implicit = Some(entry.stream);
        }
        let stream = self.open.get_mut(&entry.stream).expect("it was there or is there now");
        if stream.records == 0 {
            // The stream of a transaction was opened before its first record.
            stream.label.clone_from(&entry.label);
        }
        stream
    }

    /// Opens a stream, of the transaction of `owner` if there is one, and tells the history of streams.
    pub(super) fn open_stream_now(
        &mut self,
        id: StreamId,
        label: Option<String>,
        owner: Option<&str>,
        at: Timestamp,
        writes: &mut Vec<TailWrite>,
    ) {
        assert!(id == self.next_stream, "stream {id} of feed {} opens where {} is next", self.id, self.next_stream);
        self.next_stream = StreamId(id.0 + 1);
        let owner = owner.map(str::to_owned);
        let kind = if owner.is_some() { StreamKind::Transaction } else { StreamKind::Implicit };
        let fact = StreamFact::Opened { kind, label: label.clone(), transactional_id: owner.clone() };
        self.tell(id, at, Told::Opened { owner: owner.clone() }, fact, writes);
        let transaction = owner.map(|owner| Box::new(StreamOfTransaction { owner, named: None }));
        self.open.insert(id, OpenStream { transaction, ..OpenStream::new(id, label, at) });
    }

    /// Adds an event to the history of streams.
    pub(super) fn tell(
        &mut self,
        stream: StreamId,
        at: Timestamp,
        told: Told,
        event: StreamFact,
        writes: &mut Vec<TailWrite>,
    ) {
        let number = self.streams.next;
        let event = StreamEvent { feed: self.name.clone(), stream: stream.0, at: at.0, event };
        let batch = event.to_batch(number);
        let position = self.streams.bytes;
        self.streams.bytes += batch.len() as u64;
        self.streams.next += 1;
        writes.push(TailWrite::StreamEvent { feed: self.id, event: number, position, at, stream, told, batch });
    }
}

/// A batch that comes to stand at the end of a log.
pub(super) struct Placing {
    pub feed: FeedId,
    pub partition: PartitionId,
    pub roll: bool,
    pub at: Timestamp,
    pub count: i64,
    pub max_timestamp: Timestamp,
    pub batch: Bytes,
}

impl Partition {
    fn check_place(&self, entry: &Appended) {
        assert!(
            entry.base_offset == self.log_end,
            "a batch for partition {} of feed {} is placed at {} where {} is next",
            entry.partition,
            entry.feed,
            entry.base_offset,
            self.log_end
        );
    }

    /// Puts a batch at the end of the log.
    pub(super) fn place_batch(&mut self, placing: Placing) -> TailWrite {
        let Placing { feed, partition, roll, at, count, max_timestamp, batch } = placing;
        let base_offset = self.log_end;
        if roll || self.segment.bytes == 0 {
            self.segment = Segment { base: base_offset, bytes: 0, first_at: at };
        }
        let position = self.segment.bytes;
        self.segment.bytes += batch.len() as u64;
        self.log_end = base_offset.plus(count);
        TailWrite::Batch {
            feed,
            partition,
            segment: self.segment.base,
            position,
            base_offset,
            end_offset: self.log_end,
            max_timestamp,
            last_stable: self.last_stable(),
            batch,
        }
    }
}
