//! Files of rows of 32 bytes, four big-endian numbers each, found by their number.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::{Buf, Bytes};

use super::chunks::Chunks;
use super::error::FileError;
use super::shelf::Shelf;

pub const ROW_BYTES: u64 = 32;

/// A row as stored.
pub type Row = [u64; 4];

/// A tail file of rows.
pub struct RowFile {
    file: Chunks,
}

/// Some rows, one after another.
#[derive(Clone, Debug)]
pub struct Rows {
    bytes: Bytes,
    /// The number of the first.
    pub first: u64,
}

impl RowFile {
    /// The file at `path` with `num_rows` rows; touches nothing.
    pub fn new(shelf: Arc<Shelf>, path: PathBuf, num_rows: u64, gone: Arc<AtomicBool>) -> RowFile {
        RowFile { file: Chunks::new(shelf, path, num_rows * ROW_BYTES, gone) }
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Rows written, those removed included.
    pub fn num_rows(&self) -> u64 {
        self.file.end() / ROW_BYTES
    }

    /// Appends rows, the first of which gets number `number`.
    pub fn append(&self, number: u64, rows: &[Row]) -> Result<(), FileError> {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|field| field.to_be_bytes()).collect();
        self.file.append(number * ROW_BYTES, &bytes)
    }

    /// The rows `[start, end)`, which exist.
    pub fn rows(&self, start: u64, end: u64) -> Result<Rows, FileError> {
        Ok(Rows { bytes: self.file.slice(start * ROW_BYTES, end * ROW_BYTES)?, first: start })
    }

    /// Removes the files that only hold rows below `number`; `names` are those of all files in the folder.
    pub fn remove_below(&self, number: u64, names: &[String]) -> Result<usize, FileError> {
        self.file.remove_below(number * ROW_BYTES, names)
    }

    pub fn row(&self, number: u64) -> Result<Row, FileError> {
        Ok(self.rows(number, number + 1)?.at(0))
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
        holds: impl Fn(u64, &Row) -> bool,
    ) -> Result<Option<(u64, Row)>, FileError> {
        const PIECE_ROWS: u64 = 2048;
        let mut end = end;
        while end > first {
            let piece = self.rows(end.saturating_sub(PIECE_ROWS).max(first), end)?;
            for index in (0..piece.len()).rev() {
                let (number, row) = (piece.first + index as u64, piece.at(index));
                if holds(number, &row) {
                    return Ok(Some((number, row)));
                }
            }
            end = piece.first;
        }
        Ok(None)
    }
}

impl Rows {
    /// The rows in `bytes`, from number 0 on.
    pub fn new(bytes: Bytes) -> Rows {
        Rows { bytes, first: 0 }
    }

    pub fn len(&self) -> usize {
        self.bytes.len() / ROW_BYTES as usize
    }

    pub fn at(&self, index: usize) -> Row {
        let mut bytes = &self.bytes[index * ROW_BYTES as usize..];
        [bytes.get_u64(), bytes.get_u64(), bytes.get_u64(), bytes.get_u64()]
    }

    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }
}
