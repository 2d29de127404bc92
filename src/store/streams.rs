//! A feed's stream events: `streams.log`, one record batch an event, its base offset the event's number, and
//! `streams.index`, one row an event: its position and the greatest time up to it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::model::Timestamp;

use super::error::FileError;
use super::records::{Found, Kind, Records};
use super::row;
use super::rows::Row;
use super::shelf::Shelf;
use super::span::Span;

/// See the module.
pub struct Streams {
    records: Records,
    /// The first event that is kept.
    first: AtomicI64,
    /// The greatest time up to the event of that number, which was the last one appended.
    last: Mutex<Option<(i64, i64)>>,
}

pub const KIND: Kind = Kind { layout: &row::EVENTS, derive: row_of };

impl Streams {
    pub fn new(shelf: &Arc<Shelf>, folder: &Path, found: Found, gone: &Arc<AtomicBool>) -> Streams {
        Streams {
            records: Records::new(shelf, folder, "streams", &KIND, found, gone),
            first: AtomicI64::new(found.first as i64),
            last: Mutex::new(None),
        }
    }

    pub fn path(&self) -> &Path {
        self.records.path()
    }

    /// Bytes of events written, those removed included.
    pub fn log_bytes(&self) -> u64 {
        self.records.log_bytes()
    }

    pub fn append(&self, position: u64, event: i64, at: Timestamp, batch: &Bytes) -> Result<(), FileError> {
        let greatest = self.greatest_before(event)?.max(at.0);
        self.records.append(event as u64, [position, greatest as u64, 0, 0], batch)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((event, greatest));
        Ok(())
    }

    /// The events from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
    pub fn read(&self, from: i64, end: i64, bytes_max: usize) -> Result<Bytes, FileError> {
        self.records.read(from as u64, end as u64, bytes_max)
    }

    /// The first of the events `[first, end)` at or after `time`; `end` if there is none.
    pub fn first_from(&self, time: Timestamp, first: i64, end: i64) -> Result<i64, FileError> {
        let number = self.records.rows.partition_point(first as u64, end as u64, |row| (row[1] as i64) < time.0)?;
        Ok(number as i64)
    }

    /// Events below are not read any more.
    pub(super) fn trim(&self, first: i64) {
        self.first.store(first, Ordering::Release);
    }

    pub(super) fn remove_below(&self, event: i64, names: &[String]) -> Result<usize, FileError> {
        self.records.remove_below(event as u64, names)
    }

    /// Times may go back, by a clock or after a floor; the rows' do not, so that they can be searched.
    fn greatest_before(&self, event: i64) -> Result<i64, FileError> {
        match *self.last.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((last, greatest)) if last + 1 == event => return Ok(greatest),
            _ => {}
        }
        match event > self.first.load(Ordering::Acquire) {
            true => Ok(self.records.rows.row(event as u64 - 1)?[1] as i64),
            false => Ok(i64::MIN),
        }
    }
}

/// The row that an event gives. Times before the first one kept are forgotten.
fn row_of(span: Span, _batch: &Bytes, before: Option<Row>) -> Result<Row, String> {
    let greatest = before.map_or(i64::MIN, |[_, greatest, ..]| greatest as i64).max(span.max_timestamp.0);
    Ok([span.position, greatest as u64, 0, 0])
}
