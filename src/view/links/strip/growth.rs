//! Rows that are put behind those of a strip.

use super::super::row::{EMPTY, Row};
use super::PAGE_ROWS;

/// The page of a strip that is not full, with what is put behind it.
#[derive(Clone, Debug)]
pub struct Growth {
    pub(super) first: i64,
    /// Where the page starts.
    pub(super) start: i64,
    pub(super) rows: Vec<Row>,
}

impl Growth {
    /// One past the last row.
    pub fn end(&self) -> i64 {
        self.start + self.rows.len() as i64
    }

    /// Row `number`. If it does not stand behind the last one, what lies before it was dropped from the history, all of it.
    #[inline]
    pub fn push(&mut self, number: i64, row: Row) {
        if number != self.end() {
            assert!(number > self.end(), "row {number} is put behind row {}", self.end());
            *self = Growth::at(number);
        }
        self.rows.push(row);
    }

    /// One without rows, for the first of them to get this number.
    pub fn at(first: i64) -> Growth {
        let start = first / PAGE_ROWS * PAGE_ROWS;
        Growth { first, start, rows: vec![EMPTY; (first - start) as usize] }
    }
}
