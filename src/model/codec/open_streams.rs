//! What transactions did in a feed, as bytes: a part of the state behind the feeds themselves, whose format is older.

use std::collections::BTreeMap;

use bytes::BufMut;

use super::super::feed::{Feed, Partition, PartitionTransactions};
use super::super::ids::{FeedId, StreamId};
use super::super::seal::SealWish;
use super::super::stream::StreamOfTransaction;
use super::CodecError;
use super::fields::{Reader, put_count, put_option, put_text};

/// True when there is anything to put.
pub(super) fn is_touched(feed: &Feed) -> bool {
    feed.partitions.iter().any(|partition| partition.transactions.is_some())
        || feed.open.values().any(|stream| stream.transaction.is_some())
}

pub(super) fn put_touched(out: &mut Vec<u8>, feed: &Feed) {
    out.put_u32(feed.id.0);
    let streams = || feed.open.values().filter_map(|stream| Some((stream.id, stream.transaction.as_ref()?)));
    put_count(out, streams().count());
    for (stream, transaction) in streams() {
        out.put_i64(stream.0);
        put_text(out, &transaction.owner);
        put_option(out, transaction.named.as_ref(), |out, named| {
            put_option(out, named.label.as_deref(), put_text);
            put_option(out, named.metadata.as_deref(), put_text);
        });
    }
    let with_number = |(number, partition): (usize, &Partition)| {
        partition.transactions.as_ref().map(|known| (number as u32, known.num_aborted, known.unplaced))
    };
    let partitions = || feed.partitions.iter().enumerate().filter_map(with_number);
    put_count(out, partitions().count());
    for (partition, num_aborted, unplaced) in partitions() {
        out.put_u32(partition);
        out.put_u64(num_aborted);
        out.put_i64(unplaced);
    }
}

/// Takes the part of one of the feeds.
pub(super) fn read_touched(r: &mut Reader, feeds: &mut BTreeMap<FeedId, Feed>) -> Result<(), CodecError> {
    let wrong = |at, what, found| CodecError::Value { at, what, found };
    let at = r.at();
    let id = FeedId(r.u32("a feed")?);
    let feed = feeds.get_mut(&id).ok_or(wrong(at, "a feed", id.0.into()))?;
    for _ in 0..r.u32("streams")? {
        let (at, id) = (r.at(), StreamId(r.i64("a stream")?));
        let transaction = StreamOfTransaction { owner: r.text("a transactional id")?, named: read_named(r)? };
        let stream = feed.open.get_mut(&id).ok_or(wrong(at, "a stream", id.0))?;
        stream.transaction = Some(Box::new(transaction));
    }
    for _ in 0..r.u32("partitions")? {
        let (at, id) = (r.at(), r.u32("a partition")?);
        let (num_aborted, unplaced) = (r.u64("a number of aborted transactions")?, r.i64("a number of records")?);
        let partition = feed.partitions.get_mut(id as usize).ok_or(wrong(at, "a partition", id.into()))?;
        let known = PartitionTransactions { num_aborted, unplaced, ..PartitionTransactions::default() };
        partition.transactions = Some(Box::new(known));
    }
    note_open(feed);
    Ok(())
}

fn read_named(r: &mut Reader) -> Result<Option<SealWish>, CodecError> {
    r.option("a name", |r, _| {
        Ok(SealWish { label: r.option("a label", Reader::text)?, metadata: r.option("metadata", Reader::text)? })
    })
}

/// Where the open transactions begin, and in how many places they lie, follows from their streams.
fn note_open(feed: &mut Feed) {
    let Feed { open, partitions, num_extents, named_bytes, .. } = feed;
    for stream in open.values().filter(|stream| stream.transaction.is_some()) {
        *num_extents += stream.num_extents;
        *named_bytes += stream.named_bytes();
        for (partition, part) in &stream.parts {
            let partition = partitions.get_mut(partition.0 as usize);
            if let (Some(partition), Some(first)) = (partition, part.extents.first()) {
                partition.transactions.get_or_insert_default().open.insert((first.base, stream.id));
            }
        }
    }
}
