//! Batches of one record, found by their number: a log of them, and a table with a row for each.
//!
//! Batches that an earlier process wrote are held against their checksums, and against the numbers and lengths around them,
//! when they are first read. The table rests on the log, and is made anew from it when it is lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use super::chunks::Chunks;
use super::error::FileError;
use super::indexed::{Derive, Indexed};
use super::rows::{Layout, Row, RowFile};
use super::shelf::Shelf;
use super::single;
use super::stretches::Stretches;

/// See the module. The first field of a row is where the batch starts. `end` is always one past the newest record that may
/// be seen.
pub struct Records {
    log: Arc<Chunks>,
    pub rows: RowFile<Indexed>,
    found: Found,
    /// What was verified.
    sound: Stretches,
}

/// What was there when this process began.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The first record that is needed.
    pub first: u64,
    /// One past the last one.
    pub end: u64,
    /// Where the log ended.
    pub log_bytes: u64,
}

/// A table of records: its layout, and what its rows say of each.
pub struct Kind {
    pub layout: &'static Layout,
    pub derive: Derive,
}

/// A batch's first 12 bytes end with the length of what follows them.
const BATCH_LENGTH_END: u64 = 12;

impl Records {
    /// The records in `<name>.log` and `<name>.index` of a folder; touches nothing.
    pub fn new(
        shelf: &Arc<Shelf>,
        folder: &Path,
        name: &str,
        kind: &Kind,
        found: Found,
        gone: &Arc<AtomicBool>,
    ) -> Records {
        let path = |extension| -> PathBuf { folder.join(format!("{name}.{extension}")) };
        let log = Arc::new(Chunks::new(shelf.clone(), path("log"), found.log_bytes, gone.clone()));
        let origin = Indexed { log: log.clone(), log_bytes: found.log_bytes, derive: kind.derive };
        let known = (found.first, found.end);
        let rows = RowFile::new(shelf.clone(), path("index"), kind.layout, known, gone.clone(), origin);
        Records { log, rows, found, sound: Stretches::default() }
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Bytes of batches written.
    pub fn log_bytes(&self) -> u64 {
        self.log.end()
    }

    /// What was there when this process began.
    pub fn found(&self) -> Found {
        self.found
    }

    /// Appends record `number`, whose row starts with `position`.
    pub fn append(&self, number: u64, row: Row, batch: &Bytes) -> Result<(), FileError> {
        self.log.append(row[0], batch)?;
        self.rows.append(number, &[row])
    }

    /// Batches of the records from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
    /// They end before one that is damaged.
    pub fn read(&self, from: u64, end: u64, bytes_max: usize) -> Result<Bytes, FileError> {
        if from >= end {
            return Ok(Bytes::new());
        }
        let start = self.rows.row(from)?[0];
        // Not past a piece of the file, unless the first one reaches over its end: so that nothing is copied.
        let limit = (start + bytes_max as u64).min(self.log.piece_end(start));
        // How many records end within the limit: a record ends where the next one starts.
        let fitting = self.rows.partition_point(from, end, |row| row[0] <= limit)?.saturating_sub(1);
        let mut stop = fitting.max(from + 1);
        if self.position_of(end)? <= limit {
            stop = end;
        }
        let bytes = self.log.slice(start, self.position_of(stop)?)?;
        self.verified(from, start, bytes)
    }

    /// Where record `number` starts, which may be one past the last.
    pub fn position_of(&self, number: u64) -> Result<u64, FileError> {
        if number == self.found.end {
            return Ok(self.found.log_bytes);
        }
        if number < self.rows.num_rows() {
            return Ok(self.rows.row(number)?[0]);
        }
        // Not the log's end: the next record may stand there already, which is not durable yet.
        let last = self.rows.row(number - 1)?[0];
        let head = self.log.slice(last, last + BATCH_LENGTH_END)?;
        let length = head[8..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        Ok(last + BATCH_LENGTH_END + u64::from(length))
    }

    /// Removes the files that only hold records below `number`; `names` are those of all files in the folder.
    pub fn remove_below(&self, number: u64, names: &[String]) -> Result<usize, FileError> {
        let position = match number < self.rows.num_rows() {
            true => self.rows.row(number)?[0],
            false => self.log.end(),
        };
        Ok(self.log.remove_below(position, names)? + self.rows.remove_below(number, names)?)
    }

    /// What of `bytes`, the batches from record `from` on, is as it was written; an error when the first is not.
    fn verified(&self, from: u64, start: u64, bytes: Bytes) -> Result<Bytes, FileError> {
        let end = start + bytes.len() as u64;
        if start >= self.found.log_bytes || self.sound.holds(start, end) {
            return Ok(bytes);
        }
        let mut at = 0;
        let mut number = from;
        while at < bytes.len() {
            match single::check(&bytes[at..], number) {
                Ok(len) => at += len,
                Err(what) if at == 0 => return Err(self.log.damaged(start, format!("record {number}: {what}"))),
                Err(_) => break,
            }
            number += 1;
        }
        self.sound.add(start, start + at as u64);
        Ok(bytes.slice(..at))
    }
}
