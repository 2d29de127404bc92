//! Stretches of a view that lie in one stretch of the log, and how they are read without copying a record.

use bytes::{BufMut, Bytes, BytesMut};

use super::reading::Budget;
use crate::batch;
use crate::model::Offset;
use crate::store::{LogSlice, PartitionFiles, ReadError};

/// View offsets `[view_base, view_base + count)` are the log offsets `[log_base, log_base + count)`: whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub view_base: i64,
    pub log_base: Offset,
    pub count: i64,
}

impl Piece {
    fn view_end(&self) -> i64 {
        self.view_base + self.count
    }

    fn log_end(&self) -> Offset {
        self.log_base.plus(self.count)
    }
}

/// Whole batches from the one that holds view offset `from` on.
pub(super) fn read(
    files: &PartitionFiles,
    pieces: impl IntoIterator<Item = Result<Piece, ReadError>>,
    from: i64,
    budget: Budget,
) -> Result<Vec<Bytes>, ReadError> {
    let mut parts = Vec::new();
    let mut room = budget.max_bytes;
    for piece in pieces {
        let piece = piece?;
        if piece.view_end() <= from {
            continue;
        }
        let start = piece.log_base.plus((from - piece.view_base).max(0));
        let budget = Budget { max_bytes: room, at_least_one: budget.at_least_one && parts.is_empty() };
        let Some(slice) = read_slice(files, start, piece.log_end(), budget)? else { break };
        room = room.saturating_sub(slice.bytes.len());
        let whole = slice.next_offset == piece.log_end();
        rebase(slice.bytes, piece.view_base - piece.log_base.0, &mut parts);
        if !whole || room == 0 {
            break;
        }
    }
    Ok(parts)
}

/// Whole batches of the log from the one that holds `from`; None when nothing is there or fits.
pub(super) fn read_slice(
    files: &PartitionFiles,
    from: Offset,
    end: Offset,
    budget: Budget,
) -> Result<Option<LogSlice>, ReadError> {
    let slice = files.read(from, end, budget.max_bytes)?;
    // The store gives one batch at least, however large.
    let fits = budget.at_least_one || slice.bytes.len() <= budget.max_bytes;
    Ok((fits && !slice.bytes.is_empty()).then_some(slice))
}

/// Adds `by` to the base offset of every batch. The offset lies outside the checksum, so the rest goes out as stored.
pub(super) fn rebase(batches: Bytes, by: i64, parts: &mut Vec<Bytes>) {
    if by == 0 {
        parts.push(batches);
        return;
    }
    let lengths: Vec<usize> = batch::batch_lengths(&batches).collect();
    let mut heads = BytesMut::with_capacity(lengths.len() * BASE_OFFSET_LEN);
    let mut rest = batches;
    parts.reserve(lengths.len() * 2);
    for length in lengths {
        let stored = rest.split_to(length);
        heads.put_i64(base_offset(&stored) + by);
        parts.push(heads.split().freeze());
        parts.push(stored.slice(BASE_OFFSET_LEN..));
    }
}

const BASE_OFFSET_LEN: usize = 8;

fn base_offset(batch: &[u8]) -> i64 {
    let head = batch[..BASE_OFFSET_LEN].try_into().expect("8 bytes");
    i64::from_be_bytes(head)
}
