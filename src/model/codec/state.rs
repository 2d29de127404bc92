//! The state as bytes: the body of a manifest. What follows from the feeds (names, deadlines, sums) is not in it.

use bytes::{BufMut, Bytes};

use super::super::feed::{EventLog, Feed, Partition, Segment};
use super::super::ids::{CommitNumber, FeedId, FeedOffset, Offset, PartitionId, ProducerId, StreamId, Timestamp};
use super::super::producers::{KnownBatch, Producer, Producers};
use super::super::state::{Overrides, State};
use super::super::stream::{AppendSpan, Extent, OpenStream, StreamPart};
use super::super::transaction::Transactional;
use super::CodecError;
use super::fields::{Reader, put_count, put_history, put_map, put_option, put_text, read_history};
use super::open_streams::{is_touched, put_touched, read_touched};
use super::subscription::{put_subscription, read_subscription};
use super::transaction::{put_transactional, read_transactional};

const VERSION: u8 = 5;

/// Before positions could expire at a time of their own, and groups had configs.
const VERSION_WITHOUT_GROUP_CONFIGS: u8 = 4;

/// Before there were transactions.
const VERSION_WITHOUT_TRANSACTIONS: u8 = 3;

/// Before there were subscriptions.
const VERSION_WITHOUT_SUBSCRIPTIONS: u8 = 2;

/// About what an idle partition takes, so that room is made once.
const PARTITION_BYTES: usize = 80;

impl State {
    /// The state as bytes, for [`State::decode`].
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(4096 + PARTITION_BYTES * self.num_partitions as usize);
        out.put_u8(VERSION);
        out.put_u32(self.next_feed.0);
        out.put_i64(self.next_producer.0);
        out.put_i64(self.time_floor.0);
        put_count(&mut out, self.brokers.len());
        for (broker, overrides) in &self.brokers {
            put_option(&mut out, *broker, Vec::put_i32);
            put_map(&mut out, overrides);
        }
        put_count(&mut out, self.feeds.len());
        for feed in self.feeds.values() {
            put_feed(&mut out, feed);
        }
        put_count(&mut out, self.subscriptions.len());
        for (group, subscription) in &self.subscriptions {
            put_subscription(&mut out, group, subscription, true);
        }
        put_count(&mut out, self.transactions.len());
        for (id, known) in self.transactions.iter() {
            put_transactional(&mut out, id, known);
        }
        put_count(&mut out, self.feeds.values().filter(|feed| is_touched(feed)).count());
        for feed in self.feeds.values().filter(|feed| is_touched(feed)) {
            put_touched(&mut out, feed);
        }
        put_count(&mut out, self.groups.len());
        for (group, overrides) in &self.groups {
            put_text(&mut out, group);
            put_map(&mut out, overrides);
        }
        Bytes::from(out)
    }

    /// The state that [`State::encode`] wrote.
    pub fn decode(bytes: &Bytes) -> Result<State, CodecError> {
        let mut r = Reader::new(bytes.clone());
        let version = r.u8("the version")?;
        if !(VERSION_WITHOUT_SUBSCRIPTIONS..=VERSION).contains(&version) {
            return Err(CodecError::Version { at: 0, what: "the state", version });
        }
        let mut state = State {
            next_feed: FeedId(r.u32("the next feed")?),
            next_producer: ProducerId(r.i64("the next producer")?),
            time_floor: time(&mut r)?,
            brokers: r.list("brokers", read_broker)?,
            ..State::default()
        };
        let feeds: Vec<Feed> = r.list("feeds", read_feed)?;
        let has_group_configs = version > VERSION_WITHOUT_GROUP_CONFIGS;
        if version > VERSION_WITHOUT_SUBSCRIPTIONS {
            state.subscriptions = r.list("groups", |r| read_subscription(r, has_group_configs))?;
        }
        state.num_positions = state.subscriptions.values().map(|subscription| subscription.num_positions).sum();
        state.metadata_bytes = state.subscriptions.values().map(|subscription| subscription.metadata_bytes).sum();
        feeds.into_iter().for_each(|feed| state.insert(feed));
        if version > VERSION_WITHOUT_TRANSACTIONS {
            state.read_transactions(&mut r)?;
        }
        if has_group_configs {
            state.groups = r.list("groups", |r| Ok((r.text("a group")?, r.map("configs")?)))?;
        }
        r.finish()?;
        Ok(state)
    }

    fn read_transactions(&mut self, r: &mut Reader) -> Result<(), CodecError> {
        let all: Vec<(String, Transactional)> = r.list("transactional ids", read_transactional)?;
        all.into_iter().for_each(|(id, known)| self.transactions.insert(id, known));
        for _ in 0..r.u32("feeds")? {
            read_touched(r, &mut self.feeds)?;
        }
        self.num_extents = self.feeds.values().map(|feed| feed.num_extents).sum();
        self.named_bytes = self.feeds.values().map(|feed| feed.named_bytes).sum();
        Ok(())
    }

    fn insert(&mut self, feed: Feed) {
        self.names.insert(&feed);
        self.due.extend(feed.due().map(|at| (at, feed.id)));
        self.num_partitions += feed.partitions.len() as u64;
        self.num_producers += feed.num_producers();
        self.feeds.insert(feed.id, feed);
    }
}

fn read_broker(r: &mut Reader) -> Result<(Option<i32>, Overrides), CodecError> {
    Ok((r.option("a broker", Reader::i32)?, r.map("configs")?))
}

fn put_feed(out: &mut Vec<u8>, feed: &Feed) {
    out.put_u32(feed.id.0);
    put_text(out, &feed.name);
    out.put_slice(feed.topic_id.as_bytes());
    put_map(out, &feed.overrides);
    out.put_i64(feed.created_at.0);
    out.put_i64(feed.next_stream.0);
    out.put_i64(feed.next_commit.0);
    out.put_i64(feed.last_sealed_at.0);
    out.put_u64(feed.commits_bytes);
    out.put_u64(feed.streams.bytes);
    out.put_i64(feed.streams.next);
    put_history(out, &feed.history);
    put_producers(out, &feed.seal_producers);
    put_count(out, feed.partitions.len());
    for partition in &feed.partitions {
        put_partition(out, partition);
    }
    put_option(out, feed.implicit.map(|stream| stream.0), Vec::put_i64);
    put_count(out, feed.open.len());
    for stream in feed.open.values() {
        put_stream(out, stream);
    }
}

fn read_feed(r: &mut Reader) -> Result<Feed, CodecError> {
    let id = FeedId(r.u32("a feed")?);
    let (name, topic_id, overrides) = (r.text("a feed's name")?, r.uuid("a topic id")?, r.map("configs")?);
    let mut feed = Feed::new(id, name, topic_id, time(r)?);
    feed.overrides = overrides;
    feed.next_stream = StreamId(r.i64("the next stream")?);
    feed.next_commit = CommitNumber(r.i64("the next commit")?);
    feed.last_sealed_at = time(r)?;
    feed.commits_bytes = r.u64("the commits' length")?;
    feed.streams = EventLog { bytes: r.u64("the events' length")?, next: r.i64("the next event")? };
    feed.history = read_history(r)?;
    feed.seal_producers = read_producers(r)?;
    feed.partitions = r.list("partitions", read_partition)?;
    feed.implicit = r.option("a stream", Reader::i64)?.map(StreamId);
    let at = r.at();
    feed.open = r.list("streams", |r| read_stream(r).map(|stream| (stream.id, stream)))?;
    match feed.implicit {
        Some(id) if !feed.open.contains_key(&id) => Err(CodecError::Value { at, what: "a stream", found: id.0 }),
        _ => Ok(feed),
    }
}

fn put_partition(out: &mut Vec<u8>, partition: &Partition) {
    out.put_i64(partition.log_start.0);
    out.put_i64(partition.log_end.0);
    out.put_i64(partition.segment.base.0);
    out.put_u64(partition.segment.bytes);
    out.put_i64(partition.segment.first_at.0);
    out.put_i64(partition.feed_start.0);
    out.put_i64(partition.feed_end.0);
    out.put_u64(partition.first_run);
    out.put_u64(partition.num_runs);
    put_producers(out, &partition.producers);
}

fn read_partition(r: &mut Reader) -> Result<Partition, CodecError> {
    Ok(Partition {
        log_start: offset(r)?,
        log_end: offset(r)?,
        segment: Segment { base: offset(r)?, bytes: r.u64("a segment's length")?, first_at: time(r)? },
        feed_start: FeedOffset(r.i64("a feed offset")?),
        feed_end: FeedOffset(r.i64("a feed offset")?),
        first_run: r.u64("a number of runs")?,
        num_runs: r.u64("a number of runs")?,
        producers: read_producers(r)?,
        transactions: None,
    })
}

fn put_producers(out: &mut Vec<u8>, producers: &Producers) {
    put_count(out, producers.len());
    for (id, producer) in producers.iter() {
        out.put_i64(id.0);
        out.put_i16(producer.epoch);
        out.put_i64(producer.last_at.0);
        out.put_i64(producer.run);
        put_count(out, producer.batches.len());
        for batch in &producer.batches {
            out.put_i32(batch.first);
            out.put_i32(batch.last);
            out.put_i64(batch.base);
        }
    }
}

fn read_producers(r: &mut Reader) -> Result<Producers, CodecError> {
    let all: Vec<(ProducerId, Producer)> = r.list("producers", read_producer)?;
    let mut producers = Producers::default();
    all.into_iter().for_each(|(id, producer)| producers.insert(id, producer));
    Ok(producers)
}

fn read_producer(r: &mut Reader) -> Result<(ProducerId, Producer), CodecError> {
    let id = ProducerId(r.i64("a producer")?);
    let producer = Producer {
        epoch: r.i16("an epoch")?,
        last_at: time(r)?,
        run: r.i64("a run of sequences")?,
        batches: r.list("batches", |r| {
            Ok(KnownBatch { first: r.i32("a sequence")?, last: r.i32("a sequence")?, base: r.i64("an offset")? })
        })?,
    };
    Ok((id, producer))
}

fn put_stream(out: &mut Vec<u8>, stream: &OpenStream) {
    out.put_i64(stream.id.0);
    put_option(out, stream.label.as_deref(), put_text);
    out.put_i64(stream.opened.0);
    put_option(out, stream.appended, |out, span| {
        out.put_i64(span.first.0);
        out.put_i64(span.last.0);
    });
    out.put_i64(stream.due.0);
    out.put_i64(stream.records);
    out.put_u64(stream.bytes);
    out.put_u64(stream.tombstones);
    put_count(out, stream.parts.len());
    for (partition, part) in &stream.parts {
        out.put_u32(partition.0);
        put_part(out, part);
    }
}

fn read_stream(r: &mut Reader) -> Result<OpenStream, CodecError> {
    let mut stream = OpenStream {
        id: StreamId(r.i64("a stream")?),
        label: r.option("a label", Reader::text)?,
        opened: time(r)?,
        appended: r.option("appends", |r, _| Ok(AppendSpan { first: time(r)?, last: time(r)? }))?,
        due: time(r)?,
        records: r.i64("records")?,
        bytes: r.u64("bytes")?,
        tombstones: r.u64("tombstones")?,
        transaction: None,
        parts: r.list("partitions", |r| Ok((PartitionId(r.u32("a partition")?), read_part(r)?)))?,
        num_extents: 0,
    };
    stream.num_extents = stream.parts.values().map(|part| part.extents.len()).sum();
    Ok(stream)
}

fn put_part(out: &mut Vec<u8>, part: &StreamPart) {
    out.put_i64(part.records);
    out.put_u64(part.bytes);
    out.put_i64(part.timestamp_min.0);
    out.put_i64(part.timestamp_max.0);
    put_count(out, part.extents.len());
    for extent in &part.extents {
        out.put_i64(extent.base.0);
        out.put_i64(extent.count);
    }
}

fn read_part(r: &mut Reader) -> Result<StreamPart, CodecError> {
    Ok(StreamPart {
        records: r.i64("records")?,
        bytes: r.u64("bytes")?,
        timestamp_min: time(r)?,
        timestamp_max: time(r)?,
        extents: r.list("extents", |r| Ok(Extent { base: offset(r)?, count: r.i64("a count")? }))?,
    })
}

fn offset(r: &mut Reader) -> Result<Offset, CodecError> {
    r.i64("an offset").map(Offset)
}

fn time(r: &mut Reader) -> Result<Timestamp, CodecError> {
    r.i64("a time").map(Timestamp)
}
