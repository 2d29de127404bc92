//! The aborted transactions of a partition: `aborted.index`, one row each, in the order of their markers. It rests on nothing
//! else that is stored in one place, so that one that is lost or damaged is refused.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::model::{AbortedRow, Offset, ProducerId};

use super::error::FileError;
use super::row;
use super::rows::{Origin, Row, RowFile};
use super::shelf::Shelf;

/// Rows that are looked at in one go.
const PIECE_ROWS: u64 = 256;

/// See the module.
pub struct Aborted {
    rows: RowFile<Nowhere>,
}

/// Rows that cannot be made anew.
struct Nowhere(PathBuf);

impl Origin for Nowhere {
    fn rows(&self, first: u64, _end: u64, _stored: Option<Row>) -> Result<Vec<Row>, FileError> {
        let what = "aborted transactions are kept nowhere else: restore the file from a backup";
        Err(FileError::damaged(&self.0, first * row::ROW_BYTES, what))
    }
}

impl Aborted {
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, num_rows: u64, gone: Arc<AtomicBool>) -> Aborted {
        let path = folder.join("aborted.index");
        Aborted { rows: RowFile::new(shelf, path.clone(), &row::ABORTED, (0, num_rows), gone, Nowhere(path)) }
    }

    /// Rows written, published or not.
    pub fn num_rows(&self) -> u64 {
        self.rows.num_rows()
    }

    /// Appends a row, which gets number `row`.
    pub fn append(&self, row: u64, aborted: &AbortedRow) -> Result<(), FileError> {
        self.rows.append(row, &[encode(aborted)])
    }

    /// The aborted transactions with a record or their marker in `[from, end)` of the log, by their first record.
    pub fn within(&self, from: Offset, end: Offset) -> Result<Vec<AbortedRow>, FileError> {
        let num_rows = self.num_rows();
        let mut next = self.rows.partition_point(0, num_rows, |row| decode(row).last < from)?;
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
}

fn encode(row: &AbortedRow) -> Row {
    [row.producer.0 as u64, row.first.0 as u64, row.last.0 as u64, row.last_stable.0 as u64]
}

fn decode(row: &Row) -> AbortedRow {
    let [producer, first, last, last_stable] = row.map(|field| field as i64);
    let (first, last, last_stable) = (Offset(first), Offset(last), Offset(last_stable));
    AbortedRow { producer: ProducerId(producer), first, last, last_stable }
}
