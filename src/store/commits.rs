//! A feed's commits: manifests in `commits.log`, one record batch a commit, and `commits.index`, one row a commit.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde::Deserialize;

use crate::batch::batch_lengths;
use crate::model::{CommitNumber, CommitRow, ManifestPart, StreamId, Timestamp, label_hash};

use super::error::FileError;
use super::records::{Found, Kind, Records};
use super::row;
use super::rows::Row;
use super::shelf::Shelf;
use super::single;
use super::span::Span;

/// See the module. `end` is always one past the newest commit that may be seen, `first` the oldest one kept.
pub struct Commits {
    records: Records,
}

pub const KIND: Kind = Kind { layout: &row::COMMITS, derive: row_of };

/// Manifests read at once by who reads them all.
const LOT_BYTES: usize = 1 << 20;

/// What of a manifest its row says.
#[derive(Deserialize)]
struct Labelled {
    label: Option<String>,
}

/// What of a manifest the runs of partitions say.
#[derive(Deserialize)]
struct Placed {
    partitions: Vec<ManifestPart>,
}

impl Commits {
    pub fn new(shelf: &Arc<Shelf>, folder: &Path, found: Found, gone: &Arc<AtomicBool>) -> Commits {
        Commits { records: Records::new(shelf, folder, "commits", &KIND, found, gone) }
    }

    pub fn path(&self) -> &Path {
        self.records.path()
    }

    pub fn index_path(&self) -> &Path {
        self.records.rows.path()
    }

    /// Commits written, published or not, those removed included.
    pub fn num_written(&self) -> u64 {
        self.records.rows.num_rows()
    }

    /// Bytes of manifests written, those removed included.
    pub fn log_bytes(&self) -> u64 {
        self.records.log_bytes()
    }

    pub fn append(&self, position: u64, row: &CommitRow, manifest: &Bytes) -> Result<(), FileError> {
        debug_assert_eq!(position, row.position);
        self.records.append(row.commit.0 as u64, encode(row), manifest)
    }

    /// The manifests of commits from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
    pub fn read(&self, from: CommitNumber, end: CommitNumber, bytes_max: usize) -> Result<Bytes, FileError> {
        self.records.read(from.0 as u64, end.0 as u64, bytes_max)
    }

    /// The index row of a commit below the end.
    pub fn row(&self, commit: CommitNumber) -> Result<CommitRow, FileError> {
        Ok(decode(commit, &self.records.rows.row(commit.0 as u64)?))
    }

    /// Where the manifest of `commit` starts, which may be one past the last.
    pub fn position_of(&self, commit: CommitNumber) -> Result<u64, FileError> {
        self.records.position_of(commit.0 as u64)
    }

    /// The first of the commits `[first, end)` whose manifest starts at `position` or later; `end` if there is none.
    pub fn first_at(&self, position: u64, first: CommitNumber, end: CommitNumber) -> Result<CommitNumber, FileError> {
        self.first_where_not(first, end, |row| row[0] < position)
    }

    /// The first of the commits `[first, end)` with seal time at or after `time`; `end` if there is none.
    pub fn first_sealed_from(
        &self,
        time: Timestamp,
        first: CommitNumber,
        end: CommitNumber,
    ) -> Result<CommitNumber, FileError> {
        self.first_where_not(first, end, |row| (row[2] as i64) < time.0)
    }

    /// The newest of the commits `[first, end)` whose label has this hash; whether it has the label, its manifest says.
    pub fn newest_with_label(
        &self,
        label_hash: u64,
        first: CommitNumber,
        end: CommitNumber,
    ) -> Result<Option<CommitRow>, FileError> {
        self.last_where(first, end, |row| row[3] == label_hash)
    }

    /// The commit that a stream became, if it is one of `[first, end)`.
    pub fn of_stream(
        &self,
        stream: StreamId,
        first: CommitNumber,
        end: CommitNumber,
    ) -> Result<Option<CommitRow>, FileError> {
        self.last_where(first, end, |row| row[1] as i64 == stream.0)
    }

    /// Shows the places of the records of each commit that earlier processes wrote and that is kept.
    pub(super) fn for_each_found(
        &self,
        mut each: impl FnMut(CommitNumber, Vec<ManifestPart>) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let (mut next, end) = (self.records.rows.first(), self.records.found().end);
        while next < end {
            let lot = self.records.read(next, end, LOT_BYTES)?;
            let mut at = 0;
            for len in batch_lengths(&lot) {
                let parsed = single::key_and_value(&lot.slice(at..at + len), |_, value| {
                    serde_json::from_slice::<Placed>(value).map_err(|error| error.to_string())
                });
                let damaged =
                    |what| FileError::damaged(self.path(), 0, format!("the manifest of commit {next}: {what}"));
                each(CommitNumber(next as i64), parsed.map_err(damaged)?.partitions)?;
                at += len;
                next += 1;
            }
        }
        Ok(())
    }

    pub(super) fn remove_below(&self, commit: CommitNumber, names: &[String]) -> Result<usize, FileError> {
        self.records.remove_below(commit.0 as u64, names)
    }

    fn first_where_not(
        &self,
        first: CommitNumber,
        end: CommitNumber,
        holds: impl Fn(&Row) -> bool,
    ) -> Result<CommitNumber, FileError> {
        let number = self.records.rows.partition_point(first.0 as u64, end.0 as u64, holds)?;
        Ok(CommitNumber(number as i64))
    }

    fn last_where(
        &self,
        first: CommitNumber,
        end: CommitNumber,
        holds: impl Fn(&Row) -> bool,
    ) -> Result<Option<CommitRow>, FileError> {
        let found = self.records.rows.last_where(first.0 as u64, end.0 as u64, holds)?;
        Ok(found.map(|(number, row)| decode(CommitNumber(number as i64), &row)))
    }
}

/// The row that a manifest gives.
fn row_of(span: Span, batch: &Bytes, _before: Option<Row>) -> Result<Row, String> {
    single::key_and_value(batch, |key, value| {
        let stream = std::str::from_utf8(key).ok().and_then(|key| key.parse().ok()).ok_or("its key is no stream")?;
        let manifest: Labelled = serde_json::from_slice(value).map_err(|error| error.to_string())?;
        let label_hash = manifest.label.as_deref().map_or(0, label_hash);
        let commit = CommitNumber(span.base_offset.0);
        let (position, sealed) = (span.position, span.max_timestamp);
        Ok(encode(&CommitRow { commit, position, stream: StreamId(stream), sealed, label_hash }))
    })
}

fn encode(row: &CommitRow) -> Row {
    [row.position, row.stream.0 as u64, row.sealed.0 as u64, row.label_hash]
}

pub fn decode(commit: CommitNumber, row: &Row) -> CommitRow {
    CommitRow {
        commit,
        position: row[0],
        stream: StreamId(row[1] as i64),
        sealed: Timestamp(row[2] as i64),
        label_hash: row[3],
    }
}
