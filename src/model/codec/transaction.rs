//! Transactions as bytes: the entries about them, and their part of the state.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{BufMut, BytesMut};

use super::super::entry::{
    EndReason, Enlisted, PositionsStaged, ProducerBound, SealProducer, StreamNamed, TransactionEnded,
};
use super::super::ids::{FeedId, PartitionId, ProducerId, StreamId, Timestamp};
use super::super::transaction::{Ending, Identity, OpenTransaction, Transactional};
use super::CodecError;
use super::entry::{put_seal_producer, put_stream_sealed, read_metadata, read_seal_producer, read_stream_sealed};
use super::fields::{Reader, put_count, put_option, put_text};
use super::subscription::{put_positions_moved, put_subscription, read_positions_moved, read_subscription};

/// A transaction that no producer ended.
const NOBODY: Identity = Identity { producer: ProducerId(-1), epoch: -1 };

pub(super) fn put_producer_bound(out: &mut BytesMut, bound: &ProducerBound) {
    put_text(out, &bound.id);
    put_identity(out, bound.identity);
    put_option(out, bound.previous, put_identity);
    out.put_i32(bound.timeout_ms);
    out.put_i64(bound.at.0);
}

pub(super) fn read_producer_bound(r: &mut Reader) -> Result<ProducerBound, CodecError> {
    Ok(ProducerBound {
        id: r.text("a transactional id")?,
        identity: read_identity(r)?,
        previous: r.option("an identity", |r, _| read_identity(r))?,
        timeout_ms: r.i32("a timeout")?,
        at: time(r)?,
    })
}

pub(super) fn put_enlisted(out: &mut BytesMut, enlisted: &Enlisted) {
    out.put_i64(enlisted.producer.0);
    out.put_i64(enlisted.at.0);
    put_places(out, enlisted.partitions.iter());
    put_feeds(out, enlisted.seals.iter());
    put_count(out, enlisted.groups.len());
    enlisted.groups.iter().for_each(|group| put_text(out, group));
}

pub(super) fn read_enlisted(r: &mut Reader) -> Result<Enlisted, CodecError> {
    Ok(Enlisted {
        producer: producer(r)?,
        at: time(r)?,
        partitions: r.list("partitions", read_place)?,
        seals: r.list("feeds", feed)?,
        groups: r.list("groups", |r| r.text("a group"))?,
    })
}

pub(super) fn put_positions_staged(out: &mut BytesMut, staged: &PositionsStaged) {
    out.put_i64(staged.producer.0);
    put_positions_moved(out, &staged.moved);
}

pub(super) fn read_positions_staged(r: &mut Reader) -> Result<PositionsStaged, CodecError> {
    Ok(PositionsStaged { producer: producer(r)?, moved: read_positions_moved(r, false)? })
}

pub(super) fn put_stream_named(out: &mut BytesMut, named: &StreamNamed) {
    out.put_u32(named.feed.0);
    out.put_i64(named.at.0);
    put_seal_producer(out, named.by);
    put_option(out, named.label.as_deref(), put_text);
    put_option(out, named.metadata.as_deref(), put_text);
}

pub(super) fn read_stream_named(r: &mut Reader) -> Result<StreamNamed, CodecError> {
    let (feed, at) = (feed(r)?, time(r)?);
    let by: SealProducer = read_seal_producer(r, "a producer")?;
    let label = r.option("a label", Reader::text)?;
    Ok(StreamNamed { feed, at, by, label, metadata: r.option("metadata", read_metadata)? })
}

pub(super) fn put_transaction_ended(out: &mut BytesMut, ended: &TransactionEnded) {
    put_text(out, &ended.id);
    put_identity(out, ended.by);
    out.put_i64(ended.at.0);
    out.put_u8(reason_number(ended.reason));
    put_count(out, ended.seals.len());
    ended.seals.iter().for_each(|sealed| put_stream_sealed(out, sealed));
    put_places(out, ended.rolls.iter());
    out.put_i16(ended.marker_epoch);
    put_identity(out, ended.next);
}

pub(super) fn read_transaction_ended(r: &mut Reader) -> Result<TransactionEnded, CodecError> {
    Ok(TransactionEnded {
        id: r.text("a transactional id")?,
        by: read_identity(r)?,
        at: time(r)?,
        reason: read_reason(r)?,
        seals: r.list("streams", read_stream_sealed)?,
        rolls: r.list("partitions", read_place)?,
        marker_epoch: r.i16("an epoch")?,
        next: read_identity(r)?,
    })
}

pub(super) fn put_transactional(out: &mut Vec<u8>, id: &str, known: &Transactional) {
    put_text(out, id);
    put_identity(out, known.identity());
    put_option(out, known.previous, put_identity);
    out.put_i32(known.timeout_ms);
    out.put_i64(known.at.0);
    put_option(out, known.open.as_ref(), put_open);
    put_option(out, known.ended, |out, ended| {
        put_identity(out, ended.by.unwrap_or(NOBODY));
        out.put_u8(ended.committed.into());
    });
}

pub(super) fn read_transactional(r: &mut Reader) -> Result<(String, Transactional), CodecError> {
    let id = r.text("a transactional id")?;
    let Identity { producer, epoch } = read_identity(r)?;
    let known = Transactional {
        producer,
        epoch,
        previous: r.option("an identity", |r, _| read_identity(r))?,
        timeout_ms: r.i32("a timeout")?,
        at: time(r)?,
        open: r.option("a transaction", |r, _| read_open(r))?,
        ended: r.option("an end", |r, what| {
            let by = Some(read_identity(r)?).filter(|by| *by != NOBODY);
            Ok(Ending { by, committed: r.bool(what)? })
        })?,
    };
    Ok((id, known))
}

fn put_open(out: &mut Vec<u8>, open: &OpenTransaction) {
    out.put_i64(open.begun.0);
    put_count(out, open.streams.len());
    for (feed, stream) in &open.streams {
        out.put_u32(feed.0);
        out.put_i64(stream.0);
    }
    put_places(out, open.partitions.iter());
    put_feeds(out, open.seals.iter());
    put_count(out, open.groups.len());
    open.groups.iter().for_each(|group| put_text(out, group));
    put_count(out, open.staged.len());
    // No client says of them when they expire.
    open.staged.iter().for_each(|(group, positions)| put_subscription(out, group, positions, false));
}

fn read_open(r: &mut Reader) -> Result<OpenTransaction, CodecError> {
    let begun = time(r)?;
    let streams: BTreeMap<_, _> = r.list("streams", |r| Ok((feed(r)?, StreamId(r.i64("a stream")?))))?;
    let at = r.at();
    let partitions: BTreeSet<_> = r.list("partitions", read_place)?;
    let seals: BTreeSet<_> = r.list("feeds", feed)?;
    let touched = partitions.iter().map(|(feed, _)| feed).chain(&seals);
    if let Some(lost) = touched.into_iter().find(|feed| !streams.contains_key(feed)) {
        return Err(CodecError::Value { at, what: "a feed without a stream", found: lost.0.into() });
    }
    let (groups, staged) =
        (r.list("groups", |r| r.text("a group"))?, r.list("positions", |r| read_subscription(r, false))?);
    Ok(OpenTransaction { begun, streams, partitions, seals, groups, staged })
}

fn put_identity(out: &mut impl BufMut, identity: Identity) {
    out.put_i64(identity.producer.0);
    out.put_i16(identity.epoch);
}

fn read_identity(r: &mut Reader) -> Result<Identity, CodecError> {
    Ok(Identity { producer: producer(r)?, epoch: r.i16("an epoch")? })
}

fn put_places<'a>(out: &mut impl BufMut, places: impl ExactSizeIterator<Item = &'a (FeedId, PartitionId)>) {
    put_count(out, places.len());
    for (feed, partition) in places {
        out.put_u32(feed.0);
        out.put_u32(partition.0);
    }
}

fn read_place(r: &mut Reader) -> Result<(FeedId, PartitionId), CodecError> {
    Ok((feed(r)?, PartitionId(r.u32("a partition")?)))
}

fn put_feeds<'a>(out: &mut impl BufMut, feeds: impl ExactSizeIterator<Item = &'a FeedId>) {
    put_count(out, feeds.len());
    feeds.for_each(|feed| out.put_u32(feed.0));
}

fn reason_number(reason: EndReason) -> u8 {
    match reason {
        EndReason::Committed => 1,
        EndReason::Aborted => 2,
        EndReason::CommittedNext => 3,
        EndReason::AbortedNext => 4,
        EndReason::Fenced => 5,
        EndReason::TimedOut => 6,
        EndReason::Operator => 7,
    }
}

fn read_reason(r: &mut Reader) -> Result<EndReason, CodecError> {
    let at = r.at();
    Ok(match r.u8("a reason")? {
        1 => EndReason::Committed,
        2 => EndReason::Aborted,
        3 => EndReason::CommittedNext,
        4 => EndReason::AbortedNext,
        5 => EndReason::Fenced,
        6 => EndReason::TimedOut,
        7 => EndReason::Operator,
        found => return Err(CodecError::Value { at, what: "a reason", found: found.into() }),
    })
}

fn feed(r: &mut Reader) -> Result<FeedId, CodecError> {
    r.u32("a feed").map(FeedId)
}

fn producer(r: &mut Reader) -> Result<ProducerId, CodecError> {
    r.i64("a producer").map(ProducerId)
}

fn time(r: &mut Reader) -> Result<Timestamp, CodecError> {
    r.i64("a time").map(Timestamp)
}
