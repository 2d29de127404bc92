//! Where a partition's feed space lies in its log: `feed.runs`, one row a run, in feed order. The manifests of the commits
//! say the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::model::{CommitNumber, FeedOffset, ManifestPart, Offset, PartitionId, RunRow, SealedPlace};

use super::commits::Commits;
use super::error::FileError;
use super::row;
use super::rows::{Origin, Row, RowFile};
use super::shelf::Shelf;

/// Rows that are looked at in one go.
const PIECE_ROWS: u64 = 2048;

/// See the module.
pub struct Runs {
    rows: RowFile<Manifests>,
}

/// The manifests as the origin of a partition's runs.
pub struct Manifests {
    pub commits: Arc<Commits>,
    pub partition: PartitionId,
}

impl Runs {
    /// The runs from row `first` on, `num_rows` of them with those that were removed; touches nothing.
    pub fn new(
        shelf: Arc<Shelf>,
        folder: PathBuf,
        (first, num_rows): (u64, u64),
        gone: Arc<AtomicBool>,
        manifests: Manifests,
    ) -> Runs {
        let path = folder.join("feed.runs");
        Runs { rows: RowFile::new(shelf, path, &row::RUNS, (first, num_rows), gone, manifests) }
    }

    pub fn path(&self) -> &Path {
        self.rows.path()
    }

    /// Rows written, published or not, those removed included.
    pub fn num_rows(&self) -> u64 {
        self.rows.num_rows()
    }

    /// Appends rows, the first of which gets number `row`.
    pub fn append(&self, row: u64, runs: &[RunRow]) -> Result<(), FileError> {
        let rows: Vec<Row> = runs.iter().map(encode).collect();
        self.rows.append(row, &rows)
    }

    /// The rows `[start, end)`.
    pub fn rows(&self, start: u64, end: u64) -> Result<Vec<RunRow>, FileError> {
        Ok(self.rows.rows(start, end)?.iter().map(decode).collect())
    }

    /// The runs that cover `[from, end)`, whole, at most `num_max` of them: the first one holds `from`. `first` is the first
    /// row that is still there.
    pub fn covering(
        &self,
        first: u64,
        from: FeedOffset,
        end: FeedOffset,
        num_max: usize,
    ) -> Result<Vec<RunRow>, FileError> {
        if from >= end {
            return Ok(Vec::new());
        }
        let num_rows = self.num_rows();
        let after = self.rows.partition_point(first, num_rows, |row| decode(row).feed_base <= from)?;
        let start = after.saturating_sub(1).max(first);
        let stop = num_rows.min(start.saturating_add(num_max as u64));
        let runs = self.rows(start, stop)?;
        Ok(runs.into_iter().skip_while(|run| run.end() <= from).take_while(|run| run.feed_base < end).collect())
    }

    /// Where commit `commit` or, if it has no record here, the first one after it begins, below `end`; `end` if none does.
    /// `first` is the first row that is still there.
    pub fn base_of(&self, first: u64, commit: CommitNumber, end: FeedOffset) -> Result<FeedOffset, FileError> {
        let num_rows = self.num_rows();
        let number = self.rows.partition_point(first, num_rows, |row| decode(row).commit < commit)?;
        if number == num_rows {
            return Ok(end);
        }
        Ok(decode(&self.rows.row(number)?).feed_base.min(end))
    }
}

/// Runs by where they lie in the log, which is in the order of feed space only as long as there are no transactions.
impl Runs {
    /// Where the log and the feed space go on after the commits below `commit`, and the first row that is left then; none
    /// when they have no record here that is still there. `undecided` is the first offset of the log that may yet get a
    /// place in feed space: of an open stream, or the end.
    pub fn after(
        &self,
        first: u64,
        commit: CommitNumber,
        undecided: Offset,
    ) -> Result<Option<(Offset, FeedOffset, u64)>, FileError> {
        let num_rows = self.num_rows();
        let next = self.rows.partition_point(first, num_rows, |row| decode(row).commit < commit)?;
        if next == first {
            return Ok(None);
        }
        let feed = decode(&self.rows.row(next - 1)?).end();
        let mut log = undecided;
        for start in (next..num_rows).step_by(PIECE_ROWS as usize) {
            let kept = self.rows.rows(start, num_rows.min(start + PIECE_ROWS))?;
            log = kept.iter().map(|row| decode(row).log_base).fold(log, Offset::min);
        }
        Ok(Some((log, feed, next)))
    }

    /// The newest commit with a run that begins at or below a log offset.
    pub fn commit_at(&self, first: u64, offset: Offset) -> Result<Option<CommitNumber>, FileError> {
        let found = self.rows.last_where(first, self.num_rows(), |row| decode(row).log_base <= offset)?;
        Ok(found.map(|(_, row)| decode(&row).commit))
    }

    /// The oldest commit that is there with a run that ends after a log offset.
    pub fn commit_after(&self, first: u64, offset: Offset) -> Result<Option<CommitNumber>, FileError> {
        let num_rows = self.num_rows();
        for start in (first..num_rows).step_by(PIECE_ROWS as usize) {
            let piece = self.rows.rows(start, num_rows.min(start + PIECE_ROWS))?;
            let mut runs = piece.iter().map(decode);
            if let Some(run) = runs.find(|run| run.log_base.plus(run.count) > offset) {
                return Ok(Some(run.commit));
            }
        }
        Ok(None)
    }

    /// The commit of the first run that is there and ends after an offset of feed space.
    pub fn commit_after_feed(&self, first: u64, offset: FeedOffset) -> Result<Option<CommitNumber>, FileError> {
        let num_rows = self.num_rows();
        let next = self.rows.partition_point(first, num_rows, |row| decode(row).end() <= offset)?;
        if next == num_rows { Ok(None) } else { Ok(Some(decode(&self.rows.row(next)?).commit)) }
    }

    pub(super) fn remove_below(&self, run: u64, names: &[String]) -> Result<usize, FileError> {
        self.rows.remove_below(run, names)
    }

    /// What is left of feed space without the log below an offset, when every record below it is sealed or aborted.
    pub fn place(&self, first: u64, below: Offset) -> Result<SealedPlace, FileError> {
        let found = self.rows.last_where(first, self.num_rows(), |row| decode(row).log_base < below)?;
        Ok(match found.map(|(_, row)| decode(&row)) {
            Some(run) => SealedPlace {
                feed: run.feed_base.plus(run.count.min(below.0 - run.log_base.0)),
                last_before: Some(run.commit),
            },
            None => SealedPlace { feed: FeedOffset(0), last_before: None },
        })
    }
}

impl RunRow {
    /// One past the run's last feed offset.
    pub fn end(&self) -> FeedOffset {
        self.feed_base.plus(self.count)
    }
}

impl Origin for Manifests {
    fn rows(&self, first: u64, end: u64, _stored: Option<Row>) -> Result<Vec<Row>, FileError> {
        let needed = (end - first) as usize;
        let mut rows = Vec::new();
        if needed == 0 {
            return Ok(rows);
        }
        self.commits.for_each_found(|commit, parts| {
            let of_partition = parts.iter().filter(|part| part.partition == self.partition.0);
            rows.extend(of_partition.flat_map(|part| runs_of(commit, part)).map(|run| encode(&run)));
            Ok(())
        })?;
        // Manifests outlive the runs. The newest run is the last row.
        match rows.len().checked_sub(needed) {
            Some(gone) if gone == 0 || first > 0 => Ok(rows.split_off(gone)),
            _ => {
                let (found, partition) = (rows.len(), self.partition);
                let what =
                    format!("its manifests hold {found} runs of partition {partition}, of rows {first} to {end}");
                Err(FileError::damaged(self.commits.path(), 0, what))
            }
        }
    }
}

fn runs_of(commit: CommitNumber, part: &ManifestPart) -> impl Iterator<Item = RunRow> {
    let mut feed_base = FeedOffset(part.feed_base);
    part.runs.iter().map(move |run| {
        let row = RunRow { commit, feed_base, log_base: Offset(run.log_base), count: run.count };
        feed_base = row.end();
        row
    })
}

fn encode(run: &RunRow) -> Row {
    [run.commit.0 as u64, run.feed_base.0 as u64, run.log_base.0 as u64, run.count as u64]
}

pub fn decode(row: &Row) -> RunRow {
    RunRow {
        commit: CommitNumber(row[0] as i64),
        feed_base: FeedOffset(row[1] as i64),
        log_base: Offset(row[2] as i64),
        count: row[3] as i64,
    }
}
