//! A feed's stream events: `streams.log`, one record batch an event, its base offset the event's number.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::model::{Offset, Timestamp};

use super::error::FileError;
use super::segment::{Placed, Segment};
use super::shelf::Shelf;
use super::tail::TailFile;

/// See the module. One segment that is never rolled: an event is a few hundred bytes.
pub struct Streams {
    segment: Arc<Segment>,
}

impl Streams {
    pub fn new(shelf: &Arc<Shelf>, folder: &Path, log_bytes: u64, gone: &Arc<AtomicBool>) -> Streams {
        let file = TailFile::new(shelf.clone(), folder.join("streams.log"), log_bytes, gone.clone());
        Streams { segment: Segment::new(shelf.clone(), Offset(0), file) }
    }

    pub fn path(&self) -> &Path {
        self.segment.path()
    }

    /// Bytes of events written.
    pub fn log_bytes(&self) -> Result<u64, FileError> {
        self.segment.end()
    }

    pub fn append(&self, position: u64, event: i64, at: Timestamp, batch: &Bytes) -> Result<(), FileError> {
        let mut head = [0; 16];
        head.copy_from_slice(&batch[..16]);
        let (base_offset, end_offset) = (Offset(event), Offset(event + 1));
        self.segment
            .append(position, &[Placed { base_offset, end_offset, max_timestamp: at, head, batch: batch.clone() }])
    }

    /// The events from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
    pub fn read(&self, from: i64, end: i64, bytes_max: usize) -> Result<Bytes, FileError> {
        let Some(first) = self.segment.find(Offset(from), Offset(end))? else { return Ok(Bytes::new()) };
        let last = self.segment.last_within(first, Offset(end), bytes_max as u64)?;
        self.segment.bytes(first.position, last.end())
    }

    /// The first event at or after `time`; `end` if there is none.
    pub fn first_from(&self, time: Timestamp, end: i64) -> Result<i64, FileError> {
        Ok(self.segment.find_time(time, Offset(0), Offset(end))?.map_or(end, |span| span.base_offset.0))
    }
}
