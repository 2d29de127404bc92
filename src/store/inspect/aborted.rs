//! The table of a partition's aborted transactions, held against the markers in its log.

use std::path::Path;

use crate::model::{AbortedRow, Offset};

use super::super::aborted::decode;
use super::super::chunks::start_of;
use super::super::error::FileError;
use super::super::feed::PartitionEnds;
use super::super::row::ABORTED;
use super::super::rows::ROW_BYTES;
use super::super::span::Source;
use super::pieces::Pieces;
use super::{Feed, Item};

/// Rows must be in the order of their markers, and tell what the log tells: `expected`, if all of that could be read.
pub fn check(
    feed: &Feed<'_>,
    path: &Path,
    ends: &PartitionEnds,
    expected: Option<&Vec<AbortedRow>>,
    item: Item,
) -> Item {
    let rows = match read(feed, path, ends.num_aborted) {
        Ok(rows) => rows,
        Err(error) => return item.with(Err(error)),
    };
    let item = item.fact("rows", rows.len());
    if let Some(pair) = rows.windows(2).find(|pair| pair[0].1.last > pair[1].1.last) {
        return item
            .damaged(pair[1].0 * ROW_BYTES, format!("row {} is of an earlier marker than the one before", pair[1].0));
    }
    let wrong = expected.into_iter().flatten().find_map(|expected| differs(&rows, expected, ends.start));
    match wrong {
        Some((number, what)) => item.damaged(number * ROW_BYTES, format!("{what}; remove the file, it is made anew")),
        None => item,
    }
}

/// Those that are there, with their numbers.
fn read(feed: &Feed<'_>, path: &Path, end: u64) -> Result<Vec<(u64, AbortedRow)>, FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let names = feed.disk.list(folder).unwrap_or_default();
    let first = names.iter().filter_map(|name| start_of(path, name)).min().unwrap_or(0) / ROW_BYTES;
    let (from, to) = (first.min(end) * ROW_BYTES, end * ROW_BYTES);
    let bytes = Pieces::open(feed.disk, path, from, to)?.slice(from, to)?;
    let decode = |(bytes, number): (&[u8], u64)| {
        let row = ABORTED.decode_any(number, bytes);
        let damaged = |flaw| {
            let what = format!("row {number}: {flaw}; it is made anew when it is next used");
            FileError::damaged(path, number * ROW_BYTES, what)
        };
        row.map(|row| (number, decode(&row))).map_err(damaged)
    };
    bytes.chunks_exact(ROW_BYTES as usize).zip(first..).map(decode).collect()
}

/// What is wrong with the row of a transaction that the log tells of, and its number.
fn differs(rows: &[(u64, AbortedRow)], expected: &AbortedRow, start: Offset) -> Option<(u64, String)> {
    let at = rows.partition_point(|(_, row)| row.last < expected.last);
    let number = rows.get(at).or(rows.last()).map_or(0, |(number, _)| *number);
    let found = rows.get(at).map(|(_, row)| row).filter(|row| row.last == expected.last);
    // Of what was deleted, the first records may be gone.
    let is_told = |row: &AbortedRow| {
        row.producer == expected.producer && (row.first == expected.first || row.first < start.min(expected.first))
    };
    match found {
        _ if expected.last < start => None,
        Some(row) if is_told(row) => None,
        Some(row) => Some((number, format!("row {number} tells of {row:?} where the log holds {expected:?}"))),
        None => Some((number, format!("no row tells of the transaction aborted at offset {}", expected.last))),
    }
}
