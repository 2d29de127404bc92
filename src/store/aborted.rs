//! The aborted transactions of a partition: `aborted.index`, one row each, in the order of their markers. The log says the same
//! (see `markers`). Rows of transactions that ended below its start are of no use, and their files go.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::disk::waiting;
use crate::model::{AbortedRow, Offset, ProducerId};

use super::chunks::start_of;
use super::error::FileError;
use super::markers::Markers;
use super::row;
use super::rows::{ROW_BYTES, Row, RowFile};
use super::shelf::Shelf;

/// Rows that are looked at in one go.
const PIECE_ROWS: u64 = 256;

/// See the module.
pub struct Aborted {
    rows: RowFile<Markers>,
    shelf: Arc<Shelf>,
    folder: PathBuf,
    /// The first row that is there; unknown until it is asked for.
    first: AtomicU64,
}

const UNKNOWN: u64 = u64::MAX;

impl Aborted {
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, num_rows: u64, gone: Arc<AtomicBool>, markers: Markers) -> Aborted {
        let path = folder.join("aborted.index");
        let rows = RowFile::new(shelf.clone(), path, &row::ABORTED, (0, num_rows), gone, markers);
        Aborted { rows, shelf, folder, first: AtomicU64::new(UNKNOWN) }
    }

    /// Rows written, published or not, those removed included.
    pub fn num_rows(&self) -> u64 {
        self.rows.num_rows()
    }

    /// Appends a row, which gets number `row`.
    pub fn append(&self, row: u64, aborted: &AbortedRow) -> Result<(), FileError> {
        self.rows.append(row, &[encode(aborted)])
    }

    /// The aborted transactions with a record or their marker in `[from, end)` of the log, by their first record.
    pub fn within(&self, from: Offset, end: Offset) -> Result<Vec<AbortedRow>, FileError> {
        loop {
            let first = self.first()?;
            match self.look(first, from, end) {
                // Removed meanwhile; no row of theirs is asked for.
                Err(error) if error.is_absence() && self.first()? > first => {}
                outcome => return outcome,
            }
        }
    }

    /// Removes the files with nothing but rows of transactions that ended below `start`; `names` are those of all files in
    /// the folder.
    pub(super) fn remove_below(&self, start: Offset, names: &[String]) -> Result<usize, FileError> {
        let num_rows = self.num_rows();
        let first = self.first_of(names, num_rows);
        let kept = self.rows.partition_point(first, num_rows, |row| decode(row).last < start)?;
        // Before they go: whoever misses them looks here again.
        self.first.store(self.rows.first_beside(kept).max(first), Ordering::Release);
        self.rows.remove_below(kept, names)
    }

    fn look(&self, first: u64, from: Offset, end: Offset) -> Result<Vec<AbortedRow>, FileError> {
        let num_rows = self.num_rows();
        let mut next = self.rows.partition_point(first, num_rows, |row| decode(row).last < from)?;
        let mut found = Vec::new();
        'rows: while next < num_rows {
            let piece = self.rows.rows(next, num_rows.min(next + PIECE_ROWS))?;
            for row in piece.iter().map(decode) {
                if row.first < end {
                    found.push(row);
                }
                if row.last_stable >= end {
                    break 'rows;
                }
            }
            next += piece.len() as u64;
        }
        found.sort_unstable_by_key(|row| (row.first, row.last));
        Ok(found)
    }

    fn first(&self) -> Result<u64, FileError> {
        let known = self.first.load(Ordering::Acquire);
        let num_rows = self.num_rows();
        if known != UNKNOWN || num_rows == 0 {
            return Ok(known.min(num_rows));
        }
        waiting::ask().map_err(FileError::io(&self.folder))?;
        let names = self.shelf.disk.list(&self.folder).map_err(FileError::io(&self.folder))?;
        let listed = self.first_of(&names, num_rows);
        // What was removed since is known better.
        let outcome = self.first.compare_exchange(UNKNOWN, listed, Ordering::AcqRel, Ordering::Acquire);
        Ok(outcome.map_or_else(|known| known, |_| listed))
    }

    fn first_of(&self, names: &[String], num_rows: u64) -> u64 {
        let starts = names.iter().filter_map(|name| start_of(self.rows.path(), name));
        // The last file is never removed: without any they were lost.
        starts.min().map_or(0, |start| start / ROW_BYTES).min(num_rows)
    }
}

pub fn encode(row: &AbortedRow) -> Row {
    [row.producer.0 as u64, row.first.0 as u64, row.last.0 as u64, row.last_stable.0 as u64]
}

pub fn decode(row: &Row) -> AbortedRow {
    let [producer, first, last, last_stable] = row.map(|field| field as i64);
    let (first, last, last_stable) = (Offset(first), Offset(last), Offset(last_stable));
    AbortedRow { producer: ProducerId(producer), first, last, last_stable }
}
