//! Walks the batches of a stored log by their headers, without looking at records.

use std::sync::Arc;

use bytes::Bytes;

use crate::model::{Offset, Timestamp};

use super::error::FileError;
use super::tail::TailFile;

/// The bytes of a record batch before its records.
pub const BATCH_HEADER_BYTES: u64 = 61;
/// What the length field does not count: the base offset and the length itself.
const LENGTH_FROM: i64 = 12;
/// One step of a walk.
const STEP_BYTES: u64 = 64 << 10;

/// Where a batch lies in its file and what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub position: u64,
    pub num_bytes: u64,
    pub base_offset: Offset,
    /// One past the last offset.
    pub end_offset: Offset,
    pub max_timestamp: Timestamp,
}

impl Span {
    /// One past the batch's last byte.
    pub fn end(&self) -> u64 {
        self.position + self.num_bytes
    }

    /// Reads a header (61 bytes or more) that stands at `position`.
    pub fn parse(header: &[u8], position: u64) -> Result<Span, &'static str> {
        let length = i64::from(i32::from_be_bytes(array(header, 8)));
        let base = i64::from_be_bytes(array(header, 0));
        let last_delta = i32::from_be_bytes(array(header, 23));
        if header[16] != 2 {
            return Err("not a batch of format 2");
        }
        if length + LENGTH_FROM < BATCH_HEADER_BYTES as i64 || last_delta < 0 || base < 0 {
            return Err("impossible length or offset");
        }
        Ok(Span {
            position,
            num_bytes: (length + LENGTH_FROM) as u64,
            base_offset: Offset(base),
            end_offset: Offset(base).plus(i64::from(last_delta) + 1),
            max_timestamp: Timestamp(i64::from_be_bytes(array(header, 35))),
        })
    }
}

/// The batches in `[position, end)` of a file, one after another.
pub struct Walk<'a> {
    file: &'a Arc<TailFile>,
    position: u64,
    end: u64,
    step: Bytes,
    step_at: u64,
}

impl<'a> Walk<'a> {
    /// A walk that starts at `position`, where a batch starts, and ends at `end`, where one ends.
    pub fn new(file: &'a Arc<TailFile>, position: u64, end: u64) -> Walk<'a> {
        Walk { file, position, end, step: Bytes::new(), step_at: position }
    }

    /// The next batch; none at the end.
    pub fn next(&mut self) -> Result<Option<Span>, FileError> {
        if self.position == self.end {
            return Ok(None);
        }
        let damaged = |what| FileError::damaged(self.file.path(), self.position, what);
        let header_end = self.position + BATCH_HEADER_BYTES;
        if header_end > self.end {
            return Err(damaged("the log ends inside a batch header"));
        }
        if header_end > self.step_at + self.step.len() as u64 {
            self.step = self.file.slice(self.position, self.end.min(self.position + STEP_BYTES))?;
            self.step_at = self.position;
        }
        let header = &self.step[(self.position - self.step_at) as usize..];
        let span = Span::parse(header, self.position).map_err(damaged)?;
        if span.end() > self.end {
            return Err(damaged("the batch's length reaches past the end of the log"));
        }
        self.position = span.end();
        Ok(Some(span))
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
