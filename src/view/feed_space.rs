//! Feed space: sealed batches in seal order, found through the partition's runs.

use bytes::Bytes;

use super::pieces::{self, Piece};
use super::published::PartitionEnds;
use super::reading::Budget;
use crate::model::{CommitNumber, FeedOffset, RunRow};
use crate::store::{PartitionFiles, ReadError};

/// A stretch of a partition's feed space, shown from `shift` less on (0: as feed offsets).
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub start: FeedOffset,
    pub end: FeedOffset,
    pub shift: i64,
    /// The first row of the runs that is still there.
    first_run: u64,
}

impl Stretch {
    /// What `commits` (first included, end excluded; None: no end) occupy of the partition's feed space.
    pub fn of_commits(
        files: &PartitionFiles,
        first: CommitNumber,
        end: Option<CommitNumber>,
        ends: PartitionEnds,
    ) -> Result<Stretch, ReadError> {
        let PartitionEnds { feed_end, first_run, .. } = ends;
        let start = files.runs().base_of(first_run, first, feed_end)?;
        let end = match end {
            Some(commit) => files.runs().base_of(first_run, commit, feed_end)?,
            None => feed_end,
        };
        Ok(Stretch { start, end, shift: 0, first_run })
    }

    /// What of it begins at `start` or later.
    pub fn from(self, start: FeedOffset) -> Stretch {
        Stretch { start: self.start.max(start).min(self.end), ..self }
    }

    /// The same stretch, counted from 0.
    pub fn counted_from_zero(self) -> Stretch {
        Stretch { shift: self.start.0, ..self }
    }

    /// Batches from the view offset `from` on.
    pub fn read(&self, files: &PartitionFiles, from: i64, budget: Budget) -> Result<Vec<Bytes>, ReadError> {
        pieces::read(files, self.pieces(files, from), from.max(0), budget)
    }

    /// The runs from the view offset `from` on, looked up in lots as they are asked for: a range may hold any number.
    fn pieces(&self, files: &PartitionFiles, from: i64) -> impl Iterator<Item = Result<Piece, ReadError>> {
        let mut next = Some(from);
        let lots = std::iter::from_fn(move || {
            let lot = files.runs_covering(self.first_run, FeedOffset(next? + self.shift), self.end, RUNS_MAX);
            let more = lot.as_ref().ok().filter(|runs| runs.len() == RUNS_MAX).and_then(|runs| runs.last());
            next = more.map(|last| last.feed_base.0 + last.count - self.shift);
            Some(lot)
        });
        lots.flat_map(|lot| match lot {
            Ok(runs) => runs.iter().map(|run| Ok(self.piece(run))).collect(),
            Err(error) => vec![Err(error.into())],
        })
    }

    /// The run that holds view offset `offset`, or the first one after it in the stretch.
    pub fn run_at(&self, files: &PartitionFiles, offset: i64) -> Result<Option<RunRow>, ReadError> {
        let runs = files.runs_covering(self.first_run, FeedOffset(offset + self.shift), self.end, 1)?;
        Ok(runs.into_iter().next())
    }

    fn piece(&self, run: &RunRow) -> Piece {
        // A commit's runs are whole in the stretch, for its bounds are bounds of commits.
        Piece { view_base: run.feed_base.0 - self.shift, log_base: run.log_base, count: run.count }
    }
}

/// Runs looked up at once.
const RUNS_MAX: usize = 64;
