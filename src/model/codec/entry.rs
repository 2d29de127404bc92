//! Entries as bytes. Each kind has its number and its version; the fields stand in the order in which they are put.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::value::RawValue;

use super::super::entry::{
    Appended, Entry, FeedCreated, PartitionStart, SealProducer, SealReason, Sealed, StreamSealed, Trimmed,
};
use super::super::ids::{FeedId, FeedOffset, Offset, PartitionId, ProducerId, StreamId, Timestamp};
use super::CodecError;
use super::apart::{Apart, Bodies, Place};
use super::fields::{Reader, put_count, put_history, put_map, put_option, put_text, read_history};
use super::subscription::{
    put_group_kept, put_positions_forgotten, put_positions_moved, read_group_kept, read_positions_forgotten,
    read_positions_moved,
};
use super::transaction::{
    put_enlisted, put_positions_staged, put_producer_bound, put_stream_named, put_transaction_ended, read_enlisted,
    read_positions_staged, read_producer_bound, read_stream_named, read_transaction_ended,
};
use crate::batch::{BatchHeader, HEADER_LEN, PLACED_HEAD_LEN, placed_head};

/// Kind, version and length.
pub(super) const HEAD_BYTES: usize = 6;

/// All kinds are in their first version.
const VERSION: u8 = 1;

/// Of an append whose batch stands in its segment.
const VERSION_APART: u8 = 2;

/// Of positions of which some expire.
const VERSION_EXPIRING: u8 = 2;

const FEED_CREATED: u8 = 1;
const FEED_DELETED: u8 = 2;
const PARTITIONS_ADDED: u8 = 3;
const FEED_CONFIGURED: u8 = 4;
const BROKER_CONFIGURED: u8 = 5;
const PRODUCER_OPENED: u8 = 6;
const PRODUCERS_FORGOTTEN: u8 = 7;
const APPENDED: u8 = 8;
const SEALED: u8 = 9;
const TIME_FLOOR: u8 = 10;
const TRIMMED: u8 = 11;
const POSITIONS_MOVED: u8 = 12;
const POSITIONS_FORGOTTEN: u8 = 13;
const GROUP_KEPT: u8 = 14;
const GROUP_DELETED: u8 = 15;
const PRODUCER_BOUND: u8 = 16;
const ENLISTED: u8 = 17;
const POSITIONS_STAGED: u8 = 18;
const STREAM_NAMED: u8 = 19;
const TRANSACTION_ENDED: u8 = 20;
const TRANSACTIONAL_IDS_FORGOTTEN: u8 = 21;
const GROUP_CONFIGURED: u8 = 22;

/// Puts the entry's head, its length still to be filled in, and its fields, but for the tail, which is returned.
/// With a `place`, which only an append has, its batch is left out.
pub(super) fn put(out: &mut BytesMut, entry: &Entry, place: Option<Place>) -> Bytes {
    out.put_slice(&[kind(entry), version(entry, place), 0, 0, 0, 0]);
    match entry {
        Entry::FeedCreated(created) => put_created(out, created),
        Entry::FeedDeleted { feed, at } => {
            out.put_u32(feed.0);
            out.put_i64(at.0);
        }
        Entry::PartitionsAdded { feed, partitions, at } => {
            out.put_u32(feed.0);
            out.put_u32(*partitions);
            out.put_i64(at.0);
        }
        Entry::FeedConfigured { feed, overrides } => {
            out.put_u32(feed.0);
            put_map(out, overrides);
        }
        Entry::BrokerConfigured { broker, overrides } => {
            put_option(out, *broker, BytesMut::put_i32);
            put_map(out, overrides);
        }
        Entry::ProducerOpened { producer } => out.put_i64(producer.0),
        Entry::ProducersForgotten { feed, partition, before } => {
            out.put_u32(feed.0);
            put_option(out, partition.map(|p| p.0), BytesMut::put_u32);
            out.put_i64(before.0);
        }
        Entry::Appended(appended) => return put_appended(out, appended, place),
        Entry::Sealed(sealed) => put_sealed(out, sealed),
        Entry::TimeFloor { at } => out.put_i64(at.0),
        Entry::Trimmed(trimmed) => put_trimmed(out, trimmed),
        Entry::PositionsMoved(moved) => put_positions_moved(out, moved),
        Entry::PositionsForgotten { group, positions } => put_positions_forgotten(out, group, positions),
        Entry::GroupKept(kept) => put_group_kept(out, kept),
        Entry::GroupDeleted { group } => put_text(out, group),
        Entry::ProducerBound(bound) => put_producer_bound(out, bound),
        Entry::Enlisted(enlisted) => put_enlisted(out, enlisted),
        Entry::PositionsStaged(staged) => put_positions_staged(out, staged),
        Entry::StreamNamed(named) => put_stream_named(out, named),
        Entry::TransactionEnded(ended) => put_transaction_ended(out, ended),
        Entry::TransactionalIdsForgotten { before } => out.put_i64(before.0),
        Entry::GroupConfigured { group, overrides } => {
            put_text(out, group);
            put_map(out, overrides);
        }
    }
    Bytes::new()
}

fn version(entry: &Entry, place: Option<Place>) -> u8 {
    match entry {
        Entry::Appended(_) if place.is_some() => VERSION_APART,
        Entry::PositionsMoved(moved) if moved.some_expire() => VERSION_EXPIRING,
        _ => VERSION,
    }
}

/// Takes one entry.
pub(super) fn read(reader: &mut Reader, bodies: Bodies<'_>) -> Result<Entry, CodecError> {
    let at = reader.at();
    let (kind, version) = (reader.u8("an entry's kind")?, reader.u8("an entry's version")?);
    let len = reader.u32("an entry's length")? as usize;
    let mut fields = reader.part(len, "an entry")?;
    if !(FEED_CREATED..=GROUP_CONFIGURED).contains(&kind) {
        return Err(CodecError::Kind { at, kind });
    }
    let entry = match (kind, version) {
        (APPENDED, VERSION_APART) => Entry::Appended(read_appended(&mut fields, Some(bodies))?),
        (POSITIONS_MOVED, VERSION_EXPIRING) => Entry::PositionsMoved(read_positions_moved(&mut fields, true)?),
        (_, VERSION) => read_fields(kind, &mut fields)?,
        _ => return Err(CodecError::Version { at, what: "an entry", version }),
    };
    fields.finish()?;
    Ok(entry)
}

fn kind(entry: &Entry) -> u8 {
    match entry {
        Entry::FeedCreated(_) => FEED_CREATED,
        Entry::FeedDeleted { .. } => FEED_DELETED,
        Entry::PartitionsAdded { .. } => PARTITIONS_ADDED,
        Entry::FeedConfigured { .. } => FEED_CONFIGURED,
        Entry::BrokerConfigured { .. } => BROKER_CONFIGURED,
        Entry::ProducerOpened { .. } => PRODUCER_OPENED,
        Entry::ProducersForgotten { .. } => PRODUCERS_FORGOTTEN,
        Entry::Appended(_) => APPENDED,
        Entry::Sealed(_) => SEALED,
        Entry::TimeFloor { .. } => TIME_FLOOR,
        Entry::Trimmed(_) => TRIMMED,
        Entry::PositionsMoved(_) => POSITIONS_MOVED,
        Entry::PositionsForgotten { .. } => POSITIONS_FORGOTTEN,
        Entry::GroupKept(_) => GROUP_KEPT,
        Entry::GroupDeleted { .. } => GROUP_DELETED,
        Entry::ProducerBound(_) => PRODUCER_BOUND,
        Entry::Enlisted(_) => ENLISTED,
        Entry::PositionsStaged(_) => POSITIONS_STAGED,
        Entry::StreamNamed(_) => STREAM_NAMED,
        Entry::TransactionEnded(_) => TRANSACTION_ENDED,
        Entry::TransactionalIdsForgotten { .. } => TRANSACTIONAL_IDS_FORGOTTEN,
        Entry::GroupConfigured { .. } => GROUP_CONFIGURED,
    }
}

fn read_fields(kind: u8, r: &mut Reader) -> Result<Entry, CodecError> {
    Ok(match kind {
        FEED_CREATED => Entry::FeedCreated(read_created(r)?),
        FEED_DELETED => Entry::FeedDeleted { feed: feed(r)?, at: time(r)? },
        PARTITIONS_ADDED => Entry::PartitionsAdded { feed: feed(r)?, partitions: r.u32("partitions")?, at: time(r)? },
        FEED_CONFIGURED => Entry::FeedConfigured { feed: feed(r)?, overrides: r.map("configs")? },
        BROKER_CONFIGURED => {
            Entry::BrokerConfigured { broker: r.option("a broker", Reader::i32)?, overrides: r.map("configs")? }
        }
        PRODUCER_OPENED => Entry::ProducerOpened { producer: producer(r)? },
        PRODUCERS_FORGOTTEN => Entry::ProducersForgotten {
            feed: feed(r)?,
            partition: r.option("a partition", Reader::u32)?.map(PartitionId),
            before: time(r)?,
        },
        APPENDED => Entry::Appended(read_appended(r, None)?),
        SEALED => Entry::Sealed(read_sealed(r)?),
        TIME_FLOOR => Entry::TimeFloor { at: time(r)? },
        TRIMMED => Entry::Trimmed(read_trimmed(r)?),
        POSITIONS_MOVED => Entry::PositionsMoved(read_positions_moved(r, false)?),
        POSITIONS_FORGOTTEN => read_positions_forgotten(r)?,
        GROUP_KEPT => Entry::GroupKept(read_group_kept(r)?),
        GROUP_DELETED => Entry::GroupDeleted { group: r.text("a group")? },
        PRODUCER_BOUND => Entry::ProducerBound(read_producer_bound(r)?),
        ENLISTED => Entry::Enlisted(read_enlisted(r)?),
        POSITIONS_STAGED => Entry::PositionsStaged(read_positions_staged(r)?),
        STREAM_NAMED => Entry::StreamNamed(read_stream_named(r)?),
        TRANSACTION_ENDED => Entry::TransactionEnded(read_transaction_ended(r)?),
        TRANSACTIONAL_IDS_FORGOTTEN => Entry::TransactionalIdsForgotten { before: time(r)? },
        GROUP_CONFIGURED => Entry::GroupConfigured { group: r.text("a group")?, overrides: r.map("configs")? },
        _ => return Err(CodecError::Kind { at: r.at(), kind }),
    })
}

fn put_created(out: &mut BytesMut, created: &FeedCreated) {
    out.put_u32(created.feed.0);
    put_text(out, &created.name);
    out.put_slice(created.topic_id.as_bytes());
    out.put_u32(created.partitions);
    put_map(out, &created.overrides);
    out.put_i64(created.at.0);
}

fn read_created(r: &mut Reader) -> Result<FeedCreated, CodecError> {
    Ok(FeedCreated {
        feed: feed(r)?,
        name: r.text("a feed's name")?,
        topic_id: r.uuid("a topic id")?,
        partitions: r.u32("partitions")?,
        overrides: r.map("configs")?,
        at: time(r)?,
    })
}

/// The batch is the last field. Its first bytes are put as they are placed; the rest is the tail. Of one that stands
/// apart only the header is put, behind its place.
fn put_appended(out: &mut BytesMut, appended: &Appended, place: Option<Place>) -> Bytes {
    out.put_u32(appended.feed.0);
    out.put_u32(appended.partition.0);
    out.put_i64(appended.at.0);
    out.put_i64(appended.stream.0);
    out.put_u8(appended.roll.into());
    out.put_i64(appended.due.0);
    out.put_i64(appended.timestamp_min.0);
    out.put_u32(appended.tombstones);
    put_option(out, appended.label.as_deref(), put_text);
    if let Some(place) = place {
        out.put_i64(place.segment.0);
        out.put_u64(place.position);
    }
    out.put_slice(&placed_head(&appended.batch, appended.base_offset.0));
    match place {
        Some(_) => appended.batch.slice(PLACED_HEAD_LEN..HEADER_LEN),
        None => appended.batch.slice(PLACED_HEAD_LEN..),
    }
}

fn read_appended(r: &mut Reader, bodies: Option<Bodies<'_>>) -> Result<Appended, CodecError> {
    let (feed, partition, at) = (feed(r)?, PartitionId(r.u32("a partition")?), time(r)?);
    let (stream, roll, due, timestamp_min) = (stream(r)?, r.bool("a roll")?, time(r)?, time(r)?);
    let (tombstones, label) = (r.u32("tombstones")?, r.option("a label", Reader::text)?);
    let batch_at = r.at();
    let batch = match bodies {
        None => r.rest(),
        Some(bodies) => {
            let (segment, position) = (Offset(r.i64("a segment")?), r.u64("a position")?);
            let head = r.rest();
            let header = BatchHeader::parse(&head)
                .map_err(|fault| CodecError::Batch { at: batch_at, fault: fault.to_string() })?;
            let apart = Apart { feed, partition, segment, position, head, header };
            bodies(&apart).map_err(|fault| CodecError::Apart { at: batch_at, fault: fault.to_string() })?
        }
    };
    let base_offset = check_batch(&batch, batch_at)?;
    Ok(Appended { feed, partition, base_offset, at, stream, roll, due, timestamp_min, tombstones, label, batch })
}

/// What `apply` relies on. The rest of the batch is covered by its own checksum and by the journal's.
fn check_batch(batch: &Bytes, at: usize) -> Result<Offset, CodecError> {
    let header = BatchHeader::parse(batch).map_err(|fault| CodecError::Batch { at, fault: fault.to_string() })?;
    if header.total_len() != batch.len() {
        let fault = format!("it says that it is {} bytes long, and it is {}", header.total_len(), batch.len());
        return Err(CodecError::Batch { at, fault });
    }
    if header.last_offset_delta < 0 || header.base_offset < 0 {
        let fault = format!("offset {} and {} more", header.base_offset, header.last_offset_delta);
        return Err(CodecError::Batch { at, fault });
    }
    Ok(Offset(header.base_offset))
}

fn put_sealed(out: &mut BytesMut, sealed: &Sealed) {
    out.put_i64(sealed.at.0);
    put_count(out, sealed.streams.len());
    for stream in &sealed.streams {
        put_stream_sealed(out, stream);
    }
}

pub(super) fn put_stream_sealed(out: &mut BytesMut, sealed: &StreamSealed) {
    out.put_u32(sealed.feed.0);
    out.put_i64(sealed.stream.0);
    out.put_u8(reason_number(sealed.reason));
    put_option(out, sealed.label.as_deref(), put_text);
    put_option(out, sealed.metadata.as_deref(), put_text);
    put_option(out, sealed.sealed_by, put_seal_producer);
}

pub(super) fn put_seal_producer(out: &mut BytesMut, by: SealProducer) {
    out.put_i64(by.producer.0);
    out.put_i16(by.epoch);
    out.put_i32(by.sequence);
    out.put_u32(by.records);
}

fn read_sealed(r: &mut Reader) -> Result<Sealed, CodecError> {
    Ok(Sealed { at: time(r)?, streams: r.list("streams", read_stream_sealed)? })
}

pub(super) fn read_stream_sealed(r: &mut Reader) -> Result<StreamSealed, CodecError> {
    Ok(StreamSealed {
        feed: feed(r)?,
        stream: stream(r)?,
        reason: read_reason(r)?,
        label: r.option("a label", Reader::text)?,
        metadata: r.option("metadata", read_metadata)?,
        sealed_by: r.option("a producer", read_seal_producer)?,
    })
}

pub(super) fn read_metadata(r: &mut Reader, what: &'static str) -> Result<String, CodecError> {
    let at = r.at();
    let text = r.text(what)?;
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(CodecError::Metadata { at }),
    }
}

pub(super) fn read_seal_producer(r: &mut Reader, what: &'static str) -> Result<SealProducer, CodecError> {
    let producer =
        SealProducer { producer: producer(r)?, epoch: r.i16(what)?, sequence: r.i32(what)?, records: r.u32(what)? };
    match producer.records {
        0 => Err(CodecError::Value { at: r.at(), what: "a number of seals", found: 0 }),
        _ => Ok(producer),
    }
}

fn put_trimmed(out: &mut BytesMut, trimmed: &Trimmed) {
    out.put_u32(trimmed.feed.0);
    out.put_i64(trimmed.at.0);
    put_history(out, &trimmed.start);
    put_count(out, trimmed.partitions.len());
    for start in &trimmed.partitions {
        out.put_u32(start.partition.0);
        out.put_i64(start.log.0);
        out.put_i64(start.feed.0);
        out.put_u64(start.run);
    }
}

fn read_trimmed(r: &mut Reader) -> Result<Trimmed, CodecError> {
    Ok(Trimmed {
        feed: feed(r)?,
        at: time(r)?,
        start: read_history(r)?,
        partitions: r.list("partitions", |r| {
            Ok(PartitionStart {
                partition: PartitionId(r.u32("a partition")?),
                log: Offset(r.i64("an offset")?),
                feed: FeedOffset(r.i64("a feed offset")?),
                run: r.u64("a run")?,
            })
        })?,
    })
}

fn reason_number(reason: SealReason) -> u8 {
    match reason {
        SealReason::Time => 1,
        SealReason::Records => 2,
        SealReason::Bytes => 3,
        SealReason::Header => 4,
        SealReason::Control => 5,
        SealReason::Operator => 6,
        SealReason::Cut => 7,
        SealReason::Transaction => 8,
    }
}

fn read_reason(r: &mut Reader) -> Result<SealReason, CodecError> {
    let at = r.at();
    Ok(match r.u8("a reason")? {
        1 => SealReason::Time,
        2 => SealReason::Records,
        3 => SealReason::Bytes,
        4 => SealReason::Header,
        5 => SealReason::Control,
        6 => SealReason::Operator,
        7 => SealReason::Cut,
        8 => SealReason::Transaction,
        found => return Err(CodecError::Value { at, what: "a reason", found: found.into() }),
    })
}

fn feed(r: &mut Reader) -> Result<FeedId, CodecError> {
    r.u32("a feed").map(FeedId)
}

fn stream(r: &mut Reader) -> Result<StreamId, CodecError> {
    r.i64("a stream").map(StreamId)
}

fn producer(r: &mut Reader) -> Result<ProducerId, CodecError> {
    r.i64("a producer").map(ProducerId)
}

fn time(r: &mut Reader) -> Result<Timestamp, CodecError> {
    r.i64("a time").map(Timestamp)
}
