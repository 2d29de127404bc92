//! Batches that a group's bytes leave out, because their segments hold them already.

use bytes::{Bytes, BytesMut};

use super::super::ids::{FeedId, Offset, PartitionId};
use super::super::writes::TailWrite;
use crate::batch::{BatchHeader, HEADER_LEN, checksum};

/// A batch that stands in a segment, and all of it that the journal holds: its header, which says how long it is and
/// what its checksum is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    pub feed: FeedId,
    pub partition: PartitionId,
    /// The segment's base offset.
    pub segment: Offset,
    pub position: u64,
    /// The batch's first [`HEADER_LEN`] bytes.
    pub head: Bytes,
    pub header: BatchHeader,
}

/// Why a batch cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoBody(pub String);

/// Brings the whole batch.
pub type Bodies<'a> = &'a mut dyn FnMut(&Apart) -> Result<Bytes, NoBody>;

/// Where a batch was written.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) segment: Offset,
    pub(super) position: u64,
}

pub(super) fn place_of(write: &TailWrite) -> Option<Place> {
    match write {
        // Markers follow from their entry and stand in no other.
        TailWrite::Batch { segment, position, batch, .. } if !is_control(batch) => {
            Some(Place { segment: *segment, position: *position })
        }
        _ => None,
    }
}

fn is_control(batch: &[u8]) -> bool {
    BatchHeader::parse(batch).is_ok_and(|header| header.attributes.is_control())
}

impl Apart {
    /// Bytes of the whole batch.
    pub fn num_bytes(&self) -> usize {
        self.header.total_len()
    }

    /// Whether these bytes are the batch.
    pub fn check(&self, found: &[u8]) -> Result<(), NoBody> {
        if found.len() != self.num_bytes() || found[..HEADER_LEN] != self.head[..] {
            return Err(NoBody(format!(
                "other bytes stand where the batch at offset {} should",
                self.header.base_offset
            )));
        }
        if checksum(found) != self.header.crc {
            let base = self.header.base_offset;
            return Err(NoBody(format!("the checksum of the batch at offset {base} does not hold")));
        }
        Ok(())
    }

    /// A batch of the same length and header, with zeros for records: enough for the state, not for a reader.
    pub fn hollow(&self) -> Bytes {
        let mut batch = BytesMut::zeroed(self.num_bytes());
        batch[..HEADER_LEN].copy_from_slice(&self.head);
        batch.freeze()
    }
}
