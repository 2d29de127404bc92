//! Tables: files of rows, found by their number (see `row`).
//!
//! Every row that is read is held against its checksum. All that is in a table stands elsewhere too, in its origin: rows
//! that are lost or damaged are made anew from there, once for all of the table, and one line of the log says so. Rows that
//! this process wrote are not touched by that.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::chunks::Chunks;
use super::error::FileError;
use super::shelf::Shelf;
use crate::disk::waiting;

pub use super::row::{Layout, ROW_BYTES, Row};

/// Where the rows of a table come from.
pub trait Origin: Send + Sync {
    /// The rows `[first, end)`, made anew. `stored` is what the table holds of row `first`, if that can be read.
    fn rows(&self, first: u64, end: u64, stored: Option<Row>) -> Result<Vec<Row>, FileError>;
}

/// A tail file of rows.
pub struct RowFile<O> {
    file: Chunks,
    layout: &'static Layout,
    origin: O,
    /// Rows below are not needed any more.
    first: AtomicU64,
    /// So many were there when this process began.
    num_found: u64,
    /// Held while rows are appended or a piece is replaced.
    writing: Mutex<()>,
    /// Held by the one who makes rows anew.
    renewing: Mutex<()>,
    /// They could not be made anew.
    is_lost: AtomicBool,
}

impl<O: Origin> RowFile<O> {
    /// The file at `path` with rows from `first` on, `num_rows` of them with those that were removed; touches nothing.
    pub fn new(
        shelf: Arc<Shelf>,
        path: PathBuf,
        layout: &'static Layout,
        (first, num_rows): (u64, u64),
        gone: Arc<AtomicBool>,
        origin: O,
    ) -> RowFile<O> {
        RowFile {
            file: Chunks::new(shelf, path, num_rows * ROW_BYTES, gone),
            layout,
            origin,
            first: AtomicU64::new(first),
            num_found: num_rows,
            writing: Mutex::default(),
            renewing: Mutex::default(),
            is_lost: AtomicBool::new(false),
        }
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The first row that is needed.
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Acquire)
    }

    /// Rows written, those removed included.
    pub fn num_rows(&self) -> u64 {
        self.file.end() / ROW_BYTES
    }

    /// Appends rows, the first of which gets number `number`.
    pub fn append(&self, number: u64, rows: &[Row]) -> Result<(), FileError> {
        let numbered = rows.iter().zip(number..);
        let bytes: Vec<u8> = numbered.flat_map(|(row, number)| self.layout.encode(number, row)).collect();
        // A file that is too short is noticed by the first who appends to it.
        self.or_renewed(number == self.num_found, || {
            let _writing = lock(&self.writing);
            self.file.append(number * ROW_BYTES, &bytes)
        })
    }

    /// The rows `[start, end)`, which exist.
    pub fn rows(&self, start: u64, end: u64) -> Result<Vec<Row>, FileError> {
        self.or_renewed(self.was_found(start), || self.stored(start, end))
    }

    pub fn row(&self, number: u64) -> Result<Row, FileError> {
        self.or_renewed(self.was_found(number), || self.stored_row(number))
    }

    /// Removes the files that only hold rows below `number`; `names` are those of all files in the folder.
    pub fn remove_below(&self, number: u64, names: &[String]) -> Result<usize, FileError> {
        let _renewing = lock(&self.renewing);
        self.first.fetch_max(number, Ordering::AcqRel);
        self.file.remove_below(number * ROW_BYTES, names)
    }

    /// The first row of the file that holds row `number`.
    pub fn first_beside(&self, number: u64) -> u64 {
        self.file.piece_start(number * ROW_BYTES) / ROW_BYTES
    }

    /// The first of the rows `[first, end)` that does not fulfil `holds`, which a first part of them does and the rest does
    /// not; `end` if all do.
    pub fn partition_point(&self, first: u64, end: u64, holds: impl Fn(&Row) -> bool) -> Result<u64, FileError> {
        let (mut low, mut high) = (first, end.max(first));
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(&self.row(middle)?) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The newest of the rows `[first, end)` that fulfils `holds`: its number and the row. Reads backward, in pieces.
    pub fn last_where(
        &self,
        first: u64,
        end: u64,
        holds: impl Fn(&Row) -> bool,
    ) -> Result<Option<(u64, Row)>, FileError> {
        const PIECE_ROWS: u64 = 2048;
        let mut end = end;
        while end > first {
            let start = end.saturating_sub(PIECE_ROWS).max(first);
            let piece = self.rows(start, end)?;
            if let Some(index) = piece.iter().rposition(&holds) {
                return Ok(Some((start + index as u64, piece[index])));
            }
            end = start;
        }
        Ok(None)
    }

    fn stored(&self, start: u64, end: u64) -> Result<Vec<Row>, FileError> {
        let bytes = self.file.slice(start * ROW_BYTES, end * ROW_BYTES)?;
        bytes.chunks_exact(ROW_BYTES as usize).zip(start..).map(|(bytes, number)| self.decode(number, bytes)).collect()
    }

    fn stored_row(&self, number: u64) -> Result<Row, FileError> {
        self.decode(number, &self.file.slice(number * ROW_BYTES, (number + 1) * ROW_BYTES)?)
    }

    fn decode(&self, number: u64, bytes: &[u8]) -> Result<Row, FileError> {
        let row = self.layout.decode(number, bytes);
        row.map_err(|flaw| self.file.damaged(number * ROW_BYTES, format!("row {number}: {flaw}")))
    }

    /// An earlier process wrote the row, and it is needed.
    fn was_found(&self, number: u64) -> bool {
        self.first.load(Ordering::Acquire) <= number && number < self.num_found
    }
}

/// Rows that are made anew.
impl<O: Origin> RowFile<O> {
    /// What `work` gives; with rows made anew if it meets a loss that is `renewable` so.
    fn or_renewed<T>(&self, renewable: bool, work: impl Fn() -> Result<T, FileError>) -> Result<T, FileError> {
        match work() {
            Err(flaw) if flaw.is_loss() && renewable && !self.file.is_gone() => {}
            outcome => return outcome,
        }
        waiting::ask().map_err(FileError::io(self.path()))?;
        let _renewing = lock(&self.renewing);
        // Somebody may have renewed them meanwhile.
        let flaw = match work() {
            Err(flaw) if flaw.is_loss() && !self.is_lost.load(Ordering::Acquire) => flaw,
            outcome => return outcome,
        };
        match self.renew() {
            Ok(rows) => {
                tracing::warn!(found = %flaw, rows, "a table of the history was made anew from what it rests on");
                work()
            }
            Err(reason) => {
                // It is not looked for again and again.
                self.is_lost.store(reason.is_loss(), Ordering::Release);
                tracing::error!(found = %flaw, %reason, "a table of the history is lost: it cannot be made anew");
                Err(flaw)
            }
        }
    }

    /// Puts all rows that were found by this process in their places again. Returns how many.
    fn renew(&self) -> Result<usize, FileError> {
        let first = self.first.load(Ordering::Acquire).min(self.num_found);
        let stored = if first < self.num_found { self.stored_row(first).ok() } else { None };
        let rows = self.origin.rows(first, self.num_found, stored)?;
        assert_eq!(rows.len() as u64, self.num_found - first, "{}", self.path().display());
        let mut start = first;
        loop {
            let end = self.file.piece_end(start * ROW_BYTES) / ROW_BYTES;
            self.put_piece(start, end, &rows[(start - first) as usize..])?;
            if end >= self.num_found {
                return Ok(rows.len());
            }
            start = end;
        }
    }

    /// Puts the piece that holds the rows from `start` to `end` in its place, unless it is as it should be.
    fn put_piece(&self, start: u64, end: u64, rows: &[Row]) -> Result<(), FileError> {
        let _writing = lock(&self.writing);
        let end = end.min(self.num_rows());
        let renewed = rows.iter().zip(start..end.min(self.num_found).max(start));
        let mut bytes: Vec<u8> = renewed.flat_map(|(row, number)| self.layout.encode(number, row)).collect();
        if end > self.num_found {
            bytes.extend_from_slice(&self.file.slice(self.num_found.max(start) * ROW_BYTES, end * ROW_BYTES)?);
        }
        match self.file.slice(start * ROW_BYTES, end * ROW_BYTES) {
            Ok(stored) if stored == bytes && !bytes.is_empty() => Ok(()),
            _ => self.file.replace_piece(start * ROW_BYTES, &bytes),
        }
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
