//! One stream, counted from 0 in each partition: the same indexes before and after its seal.

use bytes::Bytes;

use super::history;
use super::pieces::{self, Piece};
use super::published::{OpenStreamReading, PartitionEnds, Published};
use super::reading::{Budget, ViewError};
use crate::model::{CommitNumber, Extent, PartitionId, StreamId, label_hash};
use crate::store::{PartitionFiles, ReadError};

/// Where a stream's records are.
pub(super) enum StreamReading {
    Open(OpenStreamReading),
    Sealed(CommitNumber),
}

pub(super) fn by_id(feed: &dyn Published, id: StreamId) -> Result<StreamReading, ViewError> {
    let streams = feed.streams();
    if id >= streams {
        return Err(ViewError::NotOpenYet { wanted: id, streams });
    }
    if let Some(open) = feed.open_stream(id) {
        return Ok(StreamReading::Open(open));
    }
    let start = feed.history();
    match feed.files().commits().of_stream(id, start.manifest, feed.commits())? {
        Some(row) => Ok(StreamReading::Sealed(row.commit)),
        None if start.manifest > CommitNumber(0) => Err(ViewError::StreamGone { stream: id, oldest: start.manifest }),
        None => Err(ViewError::NeverSealed { stream: id }),
    }
}

/// The newest stream with that label; an open one is newer than any sealed one.
pub(super) fn by_label(feed: &dyn Published, label: &str) -> Result<StreamReading, ViewError> {
    if let Some(id) = feed.open_stream_labelled(label) {
        return by_id(feed, id);
    }
    match newest_sealed(feed, label)? {
        Some(commit) => Ok(StreamReading::Sealed(commit)),
        None => Err(ViewError::LabelUnknown { label: label.to_owned() }),
    }
}

fn newest_sealed(feed: &dyn Published, label: &str) -> Result<Option<CommitNumber>, ViewError> {
    let history = feed.files().commits();
    let mut end = feed.commits();
    while let Some(row) = history.newest_with_label(label_hash(label), feed.history().manifest, end)? {
        // Labels may share a hash: the manifest decides.
        if history::label_of(feed, row.commit)?.as_deref() == Some(label) {
            return Ok(Some(row.commit));
        }
        end = row.commit;
    }
    Ok(None)
}

/// How many records of the open stream were deleted from the partition.
pub(super) fn open_start(open: &OpenStreamReading, partition: PartitionId, ends: PartitionEnds) -> i64 {
    let deleted = |e: &Extent| (ends.log_start.0 - e.base.0).clamp(0, e.count);
    open.extents(partition).iter().map(deleted).sum()
}

/// How many durable records the open stream has in the partition.
pub(super) fn open_len(open: &OpenStreamReading, partition: PartitionId, ends: PartitionEnds) -> i64 {
    let durable = |e: &Extent| (ends.high_watermark.0 - e.base.0).clamp(0, e.count);
    open.extents(partition).iter().map(durable).sum()
}

pub(super) fn read_open(
    files: &PartitionFiles,
    open: &OpenStreamReading,
    partition: PartitionId,
    from: i64,
    budget: Budget,
) -> Result<Vec<Bytes>, ReadError> {
    let mut view_base = 0;
    let pieces = open.extents(partition).iter().map(|extent| {
        let piece = Piece { view_base, log_base: extent.base, count: extent.count };
        view_base += extent.count;
        piece
    });
    pieces::read(files, pieces.into_iter().map(Ok), from, budget)
}
