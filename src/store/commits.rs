//! A feed's commits: manifests in `commits.log`, one record batch a commit, and `commits.index`, one row a commit.

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::model::{CommitNumber, CommitRow, StreamId, Timestamp};

use super::error::FileError;
use super::rows::{Row, RowFile, Rows};
use super::shelf::Shelf;
use super::tail::TailFile;

/// See the module. `end` is always one past the newest commit that may be seen.
pub struct Commits {
    log: Arc<TailFile>,
    rows: RowFile,
}

/// A batch's first 12 bytes end with the length of what follows them.
const BATCH_LENGTH_END: u64 = 12;

impl Commits {
    pub fn new(shelf: &Arc<Shelf>, folder: &Path, num_commits: u64, log_bytes: u64, gone: &Arc<AtomicBool>) -> Commits {
        Commits {
            log: TailFile::new(shelf.clone(), folder.join("commits.log"), log_bytes, gone.clone()),
            rows: RowFile::new(shelf.clone(), folder.join("commits.index"), num_commits, gone.clone()),
        }
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    pub fn index_path(&self) -> &Path {
        self.rows.path()
    }

    /// Commits written, published or not.
    pub fn num_written(&self) -> Result<u64, FileError> {
        self.rows.num_rows()
    }

    /// Bytes of manifests written.
    pub fn log_bytes(&self) -> Result<u64, FileError> {
        self.log.end()
    }

    pub fn append(&self, position: u64, row: &CommitRow, manifest: &Bytes) -> Result<(), FileError> {
        self.log.append(position, &[IoSlice::new(manifest)])?;
        self.rows.append(row.commit.0 as u64, &[encode(row)])
    }

    /// The manifests of commits from `from` to `end` as stored, in at most `bytes_max` bytes, though always one if there is any.
    pub fn read(&self, from: CommitNumber, end: CommitNumber, bytes_max: usize) -> Result<Bytes, FileError> {
        if from >= end {
            return Ok(Bytes::new());
        }
        let start = self.row(from)?.position;
        let limit = start + bytes_max as u64;
        // How many commits end within the limit: a commit ends where the next one starts.
        let fitting = self.rows.partition_point(from.0 as u64, end.0 as u64, |row| row[0] <= limit)?.saturating_sub(1);
        let mut stop = CommitNumber(fitting as i64).max(CommitNumber(from.0 + 1));
        if self.position_of(end)? <= limit {
            stop = end;
        }
        self.log.slice(start, self.position_of(stop)?)
    }

    /// The index row of a commit below the end.
    pub fn row(&self, commit: CommitNumber) -> Result<CommitRow, FileError> {
        Ok(decode(commit, &self.rows.row(commit.0 as u64)?))
    }

    /// The first of the commits `[first, end)` with seal time at or after `time`; `end` if there is none.
    pub fn first_sealed_from(
        &self,
        time: Timestamp,
        first: CommitNumber,
        end: CommitNumber,
    ) -> Result<CommitNumber, FileError> {
        let number = self.rows.partition_point(first.0 as u64, end.0 as u64, |row| (row[2] as i64) < time.0)?;
        Ok(CommitNumber(number as i64))
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

    fn last_where(
        &self,
        first: CommitNumber,
        end: CommitNumber,
        holds: impl Fn(&Row) -> bool,
    ) -> Result<Option<CommitRow>, FileError> {
        let found = self.rows.last_where(first.0 as u64, end.0 as u64, |_, row| holds(row))?;
        Ok(found.map(|(number, row)| decode(CommitNumber(number as i64), &row)))
    }

    /// Where the manifest of `commit` starts, which may be one past the last.
    fn position_of(&self, commit: CommitNumber) -> Result<u64, FileError> {
        if (commit.0 as u64) < self.rows.num_rows()? {
            return Ok(self.row(commit)?.position);
        }
        // Not the log's end: the next manifest may stand there already, which is not durable yet.
        let last = self.row(CommitNumber(commit.0 - 1))?.position;
        let head = self.log.slice(last, last + BATCH_LENGTH_END)?;
        let length = head[8..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        Ok(last + BATCH_LENGTH_END + u64::from(length))
    }
}

/// The rows in `bytes`, from commit 0 on.
pub fn decode_all(bytes: Bytes) -> impl Iterator<Item = CommitRow> {
    let rows = Rows::new(bytes);
    (0..rows.len()).map(move |index| decode(CommitNumber(index as i64), &rows.at(index)))
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
