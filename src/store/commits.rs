//! A feed's commits: manifests in `commits.log`, one record batch a commit, and `commits.index`, one row a commit.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::model::{CommitNumber, CommitRow, StreamId, Timestamp};

use super::error::FileError;
use super::records::Records;
use super::rows::{Row, Rows};
use super::shelf::Shelf;

/// See the module. `end` is always one past the newest commit that may be seen, `first` the oldest one kept.
pub struct Commits {
    records: Records,
}

impl Commits {
    pub fn new(shelf: &Arc<Shelf>, folder: &Path, num_commits: u64, log_bytes: u64, gone: &Arc<AtomicBool>) -> Commits {
        let (log, index) = (folder.join("commits.log"), folder.join("commits.index"));
        Commits { records: Records::new(shelf, log, index, num_commits, log_bytes, gone) }
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
        let found = self.records.rows.last_where(first.0 as u64, end.0 as u64, |_, row| holds(row))?;
        Ok(found.map(|(number, row)| decode(CommitNumber(number as i64), &row)))
    }
}

/// The rows in `bytes`, from commit `first` on.
pub fn decode_all(first: CommitNumber, bytes: Bytes) -> impl Iterator<Item = CommitRow> {
    let rows = Rows::new(bytes);
    (0..rows.len()).map(move |index| decode(CommitNumber(first.0 + index as i64), &rows.at(index)))
}

fn encode(row: &CommitRow) -> Row {
    [row.position, row.stream.0 as u64, row.sealed.0 as u64, row.label_hash]
}

fn decode(commit: CommitNumber, row: &Row) -> CommitRow {
    CommitRow {
        commit,
        position: row[0],
        stream: StreamId(row[1] as i64),
        sealed: Timestamp(row[2] as i64),
        label_hash: row[3],
    }
}
