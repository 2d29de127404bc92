//! Reading frames one after another until none follows.

use bytes::Bytes;

use super::frame::{FrameFault, FrameHead};
use super::header::{FileHeader, HEADER_BYTES};
use crate::model::Lsn;

/// Walks the frames of one file's content.
pub(super) struct Walk<'a> {
    content: &'a Bytes,
    generation: u64,
    /// Where the next frame starts.
    pub(super) position: usize,
    /// The lsn that it must have.
    pub(super) next: Lsn,
}

/// A frame in its place.
pub(super) struct PlacedFrame {
    pub(super) position: usize,
    pub(super) head: FrameHead,
    pub(super) payload: Bytes,
}

impl<'a> Walk<'a> {
    pub(super) fn new(content: &'a Bytes, header: &FileHeader) -> Walk<'a> {
        Walk { content, generation: header.generation, position: HEADER_BYTES, next: header.first }
    }

    /// The next frame, or why there is none.
    pub(super) fn step(&mut self) -> Result<PlacedFrame, FrameFault> {
        let head = FrameHead::read(self.content, self.position)?;
        if head.generation != self.generation {
            return Err(FrameFault::Generation(head.generation));
        }
        if head.first != self.next {
            return Err(FrameFault::OutOfOrder(head.first));
        }
        let position = self.position;
        let end = position + head.bytes as usize;
        let payload = self.content.slice(position + super::FRAME_HEAD_BYTES..end);
        self.position = end;
        self.next = head.end();
        Ok(PlacedFrame { position, head, payload })
    }
}
