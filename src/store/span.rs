//! Walks the batches of a stored log by their headers, without looking at records.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::batch::{BatchHeader, HEADER_LEN};
use crate::model::{Offset, Timestamp};

use super::error::FileError;
use super::tail::TailFile;

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

    /// Reads the header that stands at `position`.
    pub fn parse(bytes: &[u8], position: u64) -> Result<Span, String> {
        let header = BatchHeader::parse(bytes).map_err(|error| error.to_string())?;
        if header.base_offset < 0 || header.last_offset_delta < 0 {
            return Err(format!("offsets {} + {}", header.base_offset, header.last_offset_delta));
        }
        Ok(Span {
            position,
            num_bytes: header.total_len() as u64,
            base_offset: Offset(header.base_offset),
            end_offset: Offset(header.next_offset()),
            max_timestamp: Timestamp(header.max_timestamp),
        })
    }
}

/// A file that batches are read from.
pub trait Source {
    fn path(&self) -> &Path;
    fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError>;
}

impl Source for Arc<TailFile> {
    fn path(&self) -> &Path {
        TailFile::path(self)
    }

    fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        TailFile::slice(self, start, end)
    }
}

/// The batches in `[position, end)` of a file, one after another.
pub struct Walk<'a, S> {
    file: &'a S,
    position: u64,
    end: u64,
    step: Bytes,
    step_at: u64,
}

impl<'a, S: Source> Walk<'a, S> {
    /// A walk that starts at `position`, where a batch starts, and ends at `end`, where one ends.
    pub fn new(file: &'a S, position: u64, end: u64) -> Walk<'a, S> {
        Walk { file, position, end, step: Bytes::new(), step_at: position }
    }

    /// The next batch; none at the end.
    pub fn next(&mut self) -> Result<Option<Span>, FileError> {
        if self.position == self.end {
            return Ok(None);
        }
        let damaged = |what: String| FileError::damaged(self.file.path(), self.position, what);
        let header_end = self.position + HEADER_LEN as u64;
        if header_end > self.end {
            return Err(damaged("the log ends inside a batch header".to_owned()));
        }
        if header_end > self.step_at + self.step.len() as u64 {
            self.step = self.file.slice(self.position, self.end.min(self.position + STEP_BYTES))?;
            self.step_at = self.position;
        }
        let header = &self.step[(self.position - self.step_at) as usize..];
        let span = Span::parse(header, self.position).map_err(damaged)?;
        if span.end() > self.end {
            return Err(damaged(format!("a batch of {} bytes reaches past the end of the log", span.num_bytes)));
        }
        self.position = span.end();
        Ok(Some(span))
    }
}
