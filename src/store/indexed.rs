//! The rows of a table made anew from the log whose records it is for.

use std::sync::Arc;

use bytes::Bytes;

use super::chunks::Chunks;
use super::error::FileError;
use super::rows::{Origin, Row};
use super::single;
use super::span::{Span, Walk};
use crate::batch::HEADER_LEN;

/// What the row of a record says, from its place, its batch and the row before; or what is wrong with the record.
pub type Derive = fn(Span, &Bytes, Option<Row>) -> Result<Row, String>;

/// A log of single records.
pub struct Indexed {
    pub log: Arc<Chunks>,
    /// How much of it earlier processes wrote.
    pub log_bytes: u64,
    pub derive: Derive,
}

/// One step of the search for a record.
const STEP_BYTES: u64 = 64 << 10;

impl Origin for Indexed {
    fn rows(&self, first: u64, end: u64, stored: Option<Row>) -> Result<Vec<Row>, FileError> {
        let mut rows = Vec::new();
        if first == end {
            return Ok(rows);
        }
        let (mut number, start) = match stored {
            Some(row) => (first, row[0]),
            None => self.first_record(first)?,
        };
        let mut walk = Walk::new(&*self.log, start, self.log_bytes);
        while let Some(span) = walk.next().map_err(|error| self.placed(error))? {
            let batch = self.log.slice(span.position, span.end())?;
            let damaged = |what: String| self.log.damaged(span.position, format!("record {number}: {what}"));
            single::check(&batch, number).map_err(damaged)?;
            if number >= first {
                rows.push((self.derive)(span, &batch, rows.last().copied()).map_err(damaged)?);
            }
            number += 1;
        }
        match number == end {
            true => Ok(rows),
            false => Err(self.log.damaged(self.log_bytes, format!("it holds {number} records of {end}"))),
        }
    }
}

impl Indexed {
    /// The number and the place of the first record in what is left of the log, which may begin inside of one. No later
    /// than `first`.
    fn first_record(&self, first: u64) -> Result<(u64, u64), FileError> {
        let start = self.log.first_start()?.unwrap_or(0);
        if start == 0 {
            return Ok((0, 0));
        }
        let mut at = start;
        while at < self.log_bytes {
            let step = self.log.slice(at, self.log_bytes.min(at + STEP_BYTES + HEADER_LEN as u64))?;
            let heads = step.windows(HEADER_LEN).take(STEP_BYTES as usize);
            let plausible = heads.zip(at..).filter(|(head, _)| looks_like_a_head(head));
            let mut found = plausible.filter_map(|(head, at)| Span::parse(head, at).ok());
            if let Some(span) = found.find(|span| span.base_offset.0 as u64 <= first && self.is_record(*span)) {
                return Ok((span.base_offset.0 as u64, span.position));
            }
            at += STEP_BYTES;
        }
        Err(self.log.damaged(start, format!("no record up to {first} is left to begin with")))
    }

    /// True when a whole batch stands there.
    fn is_record(&self, span: Span) -> bool {
        let batch = (span.end() <= self.log_bytes).then(|| self.log.slice(span.position, span.end()).ok()).flatten();
        batch.is_some_and(|batch| single::check(&batch, span.base_offset.0 as u64) == Ok(batch.len()))
    }

    /// The same error, with the piece that holds the byte.
    fn placed(&self, error: FileError) -> FileError {
        match error {
            FileError::Damaged { path, at, what } if path == self.log.path() => self.log.damaged(at, what),
            error => error,
        }
    }
}

/// Tells most bytes apart from a batch's head: its number is small and its format is 2.
fn looks_like_a_head(bytes: &[u8]) -> bool {
    bytes[0] == 0 && bytes[16] == 2
}
