//! Batches of one record, found by their number: a log of them, and an index with a row for each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use super::chunks::Chunks;
use super::error::FileError;
use super::rows::{Row, RowFile};
use super::shelf::Shelf;

/// See the module. The first field of a row is where the batch starts. `end` is always one past the newest record that may
/// be seen.
pub struct Records {
    log: Chunks,
    pub rows: RowFile,
}

/// A batch's first 12 bytes end with the length of what follows them.
const BATCH_LENGTH_END: u64 = 12;

impl Records {
    /// The records in `log` and `index`, `num` of them; touches nothing.
    pub fn new(
        shelf: &Arc<Shelf>,
        log: PathBuf,
        index: PathBuf,
        num: u64,
        log_bytes: u64,
        gone: &Arc<AtomicBool>,
    ) -> Self {
        Records {
            log: Chunks::new(shelf.clone(), log, log_bytes, gone.clone()),
            rows: RowFile::new(shelf.clone(), index, num, gone.clone()),
        }
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Bytes of batches written.
    pub fn log_bytes(&self) -> u64 {
        self.log.end()
    }

    /// Appends record `number`, whose row starts with `position`.
    pub fn append(&self, number: u64, row: Row, batch: &Bytes) -> Result<(), FileError> {
        self.log.append(row[0], batch)?;
        self.rows.append(number, &[row])
    }

    /// Batches of the records from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
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
        self.log.slice(start, self.position_of(stop)?)
    }

    /// Where record `number` starts, which may be one past the last.
    pub fn position_of(&self, number: u64) -> Result<u64, FileError> {
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
}
