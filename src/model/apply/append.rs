//! What an appended batch changes in its feed.

use super::super::entry::Appended;
use super::super::feed::{Feed, Partition, Segment};
use super::super::history::{StreamEvent, StreamFact, StreamKind};
use super::super::ids::{StreamId, Timestamp};
use super::super::producers::Sequenced;
use super::super::stream::{Appending, Extent, OpenStream};
use super::super::writes::TailWrite;
use crate::batch::BatchHeader;

impl Feed {
    /// Returns by how many the remembered producers grew.
    pub(super) fn append(&mut self, entry: &Appended, crowded: bool, writes: &mut Vec<TailWrite>) -> u64 {
        let header = BatchHeader::parse(&entry.batch).expect("a batch is checked before it becomes an entry");
        let count = i64::from(header.last_offset_delta) + 1;
        let stream = self.stream_of(entry, writes);
        stream.append(
            entry.partition,
            Appending {
                at: entry.at,
                extent: Extent { base: entry.base_offset, count },
                bytes: entry.batch.len() as u64,
                tombstones: entry.tombstones,
                timestamp_min: entry.timestamp_min,
                timestamp_max: Timestamp(header.max_timestamp),
            },
        );
        stream.due = entry.due;
        let partition = self.partition_mut(entry.partition);
        writes.push(partition.append(entry, count, header.max_timestamp));
        match Sequenced::of(&header) {
            Some(batch) => partition.producers.append(&batch, entry.at, entry.base_offset.0, crowded),
            None => 0,
        }
    }

    /// The batch's stream, opened if it is new.
    fn stream_of(&mut self, entry: &Appended, writes: &mut Vec<TailWrite>) -> &mut OpenStream {
        if !self.open.contains_key(&entry.stream) {
            self.open_stream_now(entry.stream, entry.label.clone(), entry.at, writes);
            self.implicit = Some(entry.stream);
        }
        self.open.get_mut(&entry.stream).expect("it was there or is there now")
    }

    /// Opens a stream and tells the history of streams.
    pub(super) fn open_stream_now(
        &mut self,
        id: StreamId,
        label: Option<String>,
        at: Timestamp,
        writes: &mut Vec<TailWrite>,
    ) {
        assert!(id == self.next_stream, "stream {id} of feed {} opens where {} is next", self.id, self.next_stream);
        self.next_stream = StreamId(id.0 + 1);
        let fact = StreamFact::Opened { kind: StreamKind::Implicit, label: label.clone() };
        self.tell(id, at, fact, writes);
        self.open.insert(id, OpenStream::new(id, label, at));
    }

    /// Adds an event to the history of streams.
    pub(super) fn tell(&mut self, stream: StreamId, at: Timestamp, event: StreamFact, writes: &mut Vec<TailWrite>) {
        let number = self.streams.next;
        let event = StreamEvent { feed: self.name.clone(), stream: stream.0, at: at.0, event };
        let batch = event.to_batch(number);
        let position = self.streams.bytes;
        self.streams.bytes += batch.len() as u64;
        self.streams.next += 1;
        writes.push(TailWrite::StreamEvent { feed: self.id, event: number, position, at, batch });
    }
}

impl Partition {
    fn append(&mut self, entry: &Appended, count: i64, max_timestamp: i64) -> TailWrite {
        let base_offset = entry.base_offset;
        assert!(
            base_offset == self.log_end,
            "a batch for partition {} of feed {} is placed at {base_offset} where {} is next",
            entry.partition,
            entry.feed,
            self.log_end
        );
        if entry.roll || self.segment.bytes == 0 {
            self.segment = Segment { base: base_offset, bytes: 0, first_at: entry.at };
        }
        let position = self.segment.bytes;
        self.segment.bytes += entry.batch.len() as u64;
        self.log_end = base_offset.plus(count);
        TailWrite::Batch {
            feed: entry.feed,
            partition: entry.partition,
            segment: self.segment.base,
            position,
            base_offset,
            end_offset: self.log_end,
            max_timestamp: Timestamp(max_timestamp),
            batch: entry.batch.clone(),
        }
    }
}
