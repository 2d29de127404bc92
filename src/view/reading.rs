//! One reading of one feed: which offsets it has and the batches that stand there.

use std::sync::Arc;

use bytes::Bytes;

use super::bounded::{self, CommitRange, SealClock};
use super::feed_space::Stretch;
use super::filtered::{Filtered, Moment};
use super::history;
use super::published::Published;
use super::reader::Reader;
use super::selection::Selections;
use super::selector::{Mode, Selector, ViewName};
use super::stream::{self, StreamReading};
use super::{plain, published::PartitionEnds};
use crate::model::{AbortedRow, CommitNumber, Offset, PartitionId, StreamId, Timestamp};
use crate::store::{FileError, PartitionFiles, ReadError};

/// An open view. Its bounds are asked anew at each read, since following views grow.
pub struct View {
    pub(super) feed: Arc<dyn Published>,
    pub(super) content: Content,
}

pub(super) enum Content {
    Plain,
    Space(CommitRange),
    Filtered(Filtered),
    Stream(StreamReading),
    CommitLog,
    StreamLog,
    /// The writable control topic: every record that it was sent is a commit, and reading gives none.
    Seal,
}

/// View offsets `[start, end)`; the end is reachable: a record stands right before it, or `start == end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub start: i64,
    pub end: i64,
}

/// A record found by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub offset: i64,
    pub timestamp: Timestamp,
}

/// How much to read.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub max_bytes: usize,
    /// One batch is read even if it is larger than `max_bytes` (KIP-74), so that a reader always gets on.
    pub at_least_one: bool,
}

/// What was read, ready for a vectored write.
#[derive(Debug, Default)]
pub struct Reading {
    pub parts: Vec<Bytes>,
    /// Aborted transactions that the parts hold batches of, by their first record. Asked for by readers of committed
    /// records, of the plain topic: nothing else holds any.
    pub aborted: Vec<AbortedRow>,
}

/// How far a partition goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// One past the last durable record.
    pub high_watermark: i64,
    /// What lies below is decided; of a view, all.
    pub last_stable: i64,
}

impl From<Vec<Bytes>> for Reading {
    fn from(parts: Vec<Bytes>) -> Reading {
        Reading { parts, aborted: Vec::new() }
    }
}

impl Reading {
    /// How many bytes the parts have together.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// True when nothing was read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Whether records of open streams are shown, where it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
}

/// Why a view cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("commit {wanted} is not sealed yet: the feed has {commits} commits")]
    NotSealedYet { wanted: CommitNumber, commits: CommitNumber },
    #[error("the time range ends at {until} ms, which has not passed yet")]
    NotOverYet { until: Timestamp },
    /// The broker journals the floor, after which the name can be answered.
    #[error("the time range up to {at} ms is being closed")]
    FloorNeeded { at: Timestamp },
    #[error("stream {wanted} is not open yet: the feed has had {streams} streams")]
    NotOpenYet { wanted: StreamId, streams: StreamId },
    #[error("commit {wanted} was deleted, by retention or DeleteRecords; the oldest that is kept is commit {oldest}")]
    CommitsDropped { wanted: CommitNumber, oldest: CommitNumber },
    #[error(
        "commits {first} to {last} are not whole any more: records of theirs in partition {partition} were deleted"
    )]
    RecordsDeleted { first: CommitNumber, last: CommitNumber, partition: PartitionId },
    #[error("stream {stream} is not among the commits from {oldest} on; what came before was deleted")]
    StreamGone { stream: StreamId, oldest: CommitNumber },
    #[error("stream {stream} of the feed never became a commit")]
    NeverSealed { stream: StreamId },
    #[error("no stream of the feed carries the label {label:?} yet")]
    LabelUnknown { label: String },
    /// The broker begins to index the feed, after which the name can be answered.
    #[error("the feed's index, which this name needs, is being opened")]
    IndexNeeded,
    #[error("the feed's index knows {indexed} commits, and this name needs {wanted} of them: it is being built")]
    NotIndexed { indexed: CommitNumber, wanted: CommitNumber },
    /// Another reader has it looked up.
    #[error("which records the name shows is being looked up for the first time: {reason}")]
    BeingSelected { reason: String },
    #[error("the feed's index, which this name needs, cannot be kept: {reason}")]
    IndexFailed { reason: Arc<str> },
    #[error("the batch at offset {offset} cannot be read: {error}")]
    BadBatch { offset: Offset, error: String },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<FileError> for ViewError {
    fn from(error: FileError) -> Self {
        ViewError::Read(error.into())
    }
}

/// Why a read of an open view gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ViewReadError {
    #[error("no partition {partition}")]
    NoPartition { partition: PartitionId },
    #[error("offset {offset} is outside {} to {}", bounds.start, bounds.end)]
    OutOfRange { offset: i64, bounds: Bounds },
    #[error(transparent)]
    View(#[from] ViewError),
}

impl From<FileError> for ViewReadError {
    fn from(error: FileError) -> Self {
        ViewReadError::View(error.into())
    }
}

impl From<ReadError> for ViewReadError {
    fn from(error: ReadError) -> Self {
        ViewReadError::View(error.into())
    }
}

impl View {
    /// The feed's log itself.
    pub fn plain(feed: Arc<dyn Published>) -> View {
        View { feed, content: Content::Plain }
    }

    /// The view of that name on its feed. Modes find among the selections what their records are.
    pub fn open(
        feed: Arc<dyn Published>,
        name: &ViewName,
        clock: SealClock,
        selections: &Arc<Selections>,
    ) -> Result<View, ViewError> {
        let content = match &name.selector {
            Selector::CommitLog => Content::CommitLog,
            Selector::StreamLog => Content::StreamLog,
            Selector::Seal => Content::Seal,
            Selector::Stream(id) => Content::Stream(stream::by_id(&*feed, *id)?),
            Selector::Named(label) => Content::Stream(stream::by_label(&*feed, label)?),
            selector => match bounded::commit_range(&*feed, selector, clock)? {
                Some(range) => {
                    bounded::check_whole(&*feed, range)?;
                    match name.mode {
                        Mode::Raw => Content::Space(range),
                        mode => Content::Filtered(Filtered::open(&*feed, range, mode, selections.clone())?),
                    }
                }
                None => unreachable!("{selector:?} is a selector over feed space"),
            },
        };
        if let Content::Stream(StreamReading::Sealed(commit)) = &content {
            bounded::check_whole(&*feed, one(*commit))?;
        }
        Ok(View { feed, content })
    }

    /// How many partitions the view has: its feed's, or 1 for history and control.
    pub fn partitions(&self) -> u32 {
        match self.content {
            Content::CommitLog | Content::StreamLog | Content::Seal => 1,
            _ => self.feed.partitions(),
        }
    }

    /// True for the control topic that seals.
    pub fn is_seal(&self) -> bool {
        matches!(self.content, Content::Seal)
    }

    /// True when it shows what the feed's index knows, which comes after the seal.
    pub fn is_filtered(&self) -> bool {
        matches!(self.content, Content::Filtered(_))
    }

    /// The offsets that the view has in a partition now.
    pub fn bounds(&self, partition: PartitionId, isolation: Isolation) -> Result<Bounds, ViewReadError> {
        match &self.content {
            Content::CommitLog | Content::StreamLog | Content::Seal if partition.0 > 0 => {
                Err(ViewReadError::NoPartition { partition })
            }
            Content::CommitLog => Ok(Bounds { start: self.feed.history().manifest.0, end: self.feed.commits().0 }),
            Content::StreamLog => Ok(Bounds { start: self.feed.history().event, end: self.feed.events() }),
            Content::Seal => Ok(Bounds { start: self.feed.commits().0, end: self.feed.commits().0 }),
            Content::Plain => Ok(plain::bounds(self.ends(partition)?, isolation)),
            Content::Space(range) => Ok(bounds_of(self.stretch(*range, partition)?)),
            Content::Filtered(filtered) => filtered.bounds(&*self.feed, &mut Moment::default(), partition),
            Content::Stream(reading) => self.stream_bounds(reading, partition, isolation),
        }
    }

    /// Whole batches from the one that holds `from` on.
    pub fn read(
        &self,
        partition: PartitionId,
        from: i64,
        budget: Budget,
        isolation: Isolation,
    ) -> Result<(Bounds, Reading), ViewReadError> {
        self.reader().read(partition, from, budget, isolation)
    }

    /// To read many partitions, or to ask of them, at about the same time.
    pub fn reader(&self) -> Reader<'_> {
        Reader::of(self)
    }

    pub(super) fn read_anew(
        &self,
        partition: PartitionId,
        from: i64,
        budget: Budget,
        isolation: Isolation,
    ) -> Result<(Bounds, Reading), ViewReadError> {
        self.read_once(partition, from, budget, isolation).or_else(|error| {
            // What was looked for may have been deleted since the bounds were asked.
            let bounds = self.bounds(partition, isolation)?;
            match from < bounds.start {
                true => Err(ViewReadError::OutOfRange { offset: from, bounds }),
                false => Err(error),
            }
        })
    }

    fn read_once(
        &self,
        partition: PartitionId,
        from: i64,
        budget: Budget,
        isolation: Isolation,
    ) -> Result<(Bounds, Reading), ViewReadError> {
        let bounds = self.bounds(partition, isolation)?;
        if from < bounds.start || from > self.valid_end(partition, bounds)? {
            return Err(ViewReadError::OutOfRange { offset: from, bounds });
        }
        if from >= bounds.end {
            return Ok((bounds, Reading::default()));
        }
        let parts = match &self.content {
            Content::Plain => {
                let files = self.files(partition)?;
                return Ok((bounds, plain::read(&files, from, bounds.end, budget, isolation)?));
            }
            Content::CommitLog => history::commits(&*self.feed, from, bounds.end, budget)?,
            Content::StreamLog => history::events(&*self.feed, from, bounds.end, budget)?,
            Content::Seal => Vec::new(),
            Content::Space(range) => self.stretch(*range, partition)?.read(&*self.files(partition)?, from, budget)?,
            Content::Stream(reading) => self.read_stream(reading, partition, from, budget)?,
            Content::Filtered(_) => unreachable!("its reader reads it"),
        };
        Ok((bounds, parts.into()))
    }

    /// How far the partition goes, whoever may see it, for a reader at `from` who was given `bounds`: a position in the
    /// gap past a tight end is valid, and must not look as if the log had shrunk.
    pub fn extremes(&self, partition: PartitionId, bounds: Bounds, from: i64) -> Extremes {
        match (&self.content, self.feed.partition(partition)) {
            (Content::Plain, Some(ends)) => {
                Extremes { high_watermark: ends.high_watermark.0, last_stable: ends.last_stable.0 }
            }
            _ => Extremes { high_watermark: bounds.end.max(from), last_stable: bounds.end.max(from) },
        }
    }

    /// The first record at or after `time`: record time on the plain topic, seal time on views.
    pub fn find_time(
        &self,
        partition: PartitionId,
        time: Timestamp,
        isolation: Isolation,
    ) -> Result<Option<Found>, ViewReadError> {
        self.reader().find_time(partition, time, isolation)
    }

    pub(super) fn find_time_anew(
        &self,
        partition: PartitionId,
        time: Timestamp,
        isolation: Isolation,
    ) -> Result<Option<Found>, ViewReadError> {
        let bounds = self.bounds(partition, isolation)?;
        if bounds.start >= bounds.end {
            return Ok(None);
        }
        match &self.content {
            Content::CommitLog => Ok(history::commit_at(&*self.feed, time)?),
            Content::StreamLog => Ok(history::event_at(&*self.feed, time)?),
            Content::Seal => Ok(None),
            Content::Plain => Ok(plain::find_time(&*self.files(partition)?, bounds, time)?),
            Content::Filtered(_) => unreachable!("its reader finds it"),
            Content::Space(range) => {
                let stretch = self.stretch(*range, partition)?;
                self.sealed_at_or_after(partition, range.first, stretch, time)
            }
            Content::Stream(StreamReading::Open(_)) => Ok(None),
            Content::Stream(StreamReading::Sealed(commit)) => {
                let stretch = self.stretch(one(*commit), partition)?.counted_from_zero();
                self.sealed_at_or_after(partition, *commit, stretch, time)
            }
        }
    }

    /// The newest time in the partition and the first record that has it.
    pub fn newest(&self, partition: PartitionId, isolation: Isolation) -> Result<Option<Found>, ViewReadError> {
        self.reader().newest(partition, isolation)
    }

    pub(super) fn newest_anew(
        &self,
        partition: PartitionId,
        isolation: Isolation,
    ) -> Result<Option<Found>, ViewReadError> {
        let bounds = self.bounds(partition, isolation)?;
        if bounds.start >= bounds.end {
            return Ok(None);
        }
        match &self.content {
            Content::Plain => Ok(plain::newest(&*self.files(partition)?, bounds)?),
            Content::Filtered(_) => unreachable!("its reader finds it"),
            _ => {
                let last = self.feed.sealed_at();
                match self.find_time(partition, last, isolation)? {
                    Some(found) => Ok(Some(found)),
                    None => self.newest_sealed(partition, bounds),
                }
            }
        }
    }

    fn newest_sealed(&self, partition: PartitionId, bounds: Bounds) -> Result<Option<Found>, ViewReadError> {
        let Some(stretch) = self.sealed_stretch(partition)? else { return Ok(None) };
        let Some(row) = stretch.run_at(&*self.files(partition)?, bounds.end - 1)? else { return Ok(None) };
        let sealed = self.feed.files().commits().row(row.commit)?.sealed;
        Ok(Some(Found { offset: (row.feed_base.0 - stretch.shift).max(bounds.start), timestamp: sealed }))
    }

    fn sealed_stretch(&self, partition: PartitionId) -> Result<Option<Stretch>, ViewReadError> {
        Ok(match &self.content {
            Content::Space(range) => Some(self.stretch(*range, partition)?),
            Content::Stream(StreamReading::Sealed(commit)) => {
                Some(self.stretch(one(*commit), partition)?.counted_from_zero())
            }
            _ => None,
        })
    }

    fn sealed_at_or_after(
        &self,
        partition: PartitionId,
        first: CommitNumber,
        stretch: Stretch,
        time: Timestamp,
    ) -> Result<Option<Found>, ViewReadError> {
        let history = self.feed.files().commits();
        let commit = history.first_sealed_from(time, self.feed.history().manifest, self.feed.commits())?.max(first);
        let files = self.files(partition)?;
        // The commit may hold nothing in this partition: then the next one that does.
        let start = files.runs().base_of(self.ends(partition)?.first_run, commit, stretch.end)?.max(stretch.start);
        let Some(row) = stretch.run_at(&files, start.0 - stretch.shift)? else { return Ok(None) };
        let timestamp = history.row(row.commit)?.sealed;
        Ok(Some(Found { offset: row.feed_base.max(stretch.start).0 - stretch.shift, timestamp }))
    }

    /// Where reading may start: on following views a position up to the feed's end is valid (SEMANTICS 5.4), and on the
    /// plain topic one that an open transaction keeps readers of committed records from.
    fn valid_end(&self, partition: PartitionId, bounds: Bounds) -> Result<i64, ViewReadError> {
        match &self.content {
            Content::Space(CommitRange { end: None, .. }) => Ok(self.ends(partition)?.feed_end.0.max(bounds.end)),
            Content::Plain => Ok(self.ends(partition)?.high_watermark.0.max(bounds.end)),
            _ => Ok(bounds.end),
        }
    }

    fn stream_bounds(
        &self,
        reading: &StreamReading,
        partition: PartitionId,
        isolation: Isolation,
    ) -> Result<Bounds, ViewReadError> {
        let ends = self.ends(partition)?;
        match reading {
            StreamReading::Open(_) if isolation == Isolation::ReadCommitted => Ok(Bounds { start: 0, end: 0 }),
            StreamReading::Open(open) => Ok(Bounds {
                start: stream::open_start(open, partition, ends),
                end: stream::open_len(open, partition, ends),
            }),
            StreamReading::Sealed(commit) => Ok(bounds_of(self.stretch(one(*commit), partition)?.counted_from_zero())),
        }
    }

    fn read_stream(
        &self,
        reading: &StreamReading,
        partition: PartitionId,
        from: i64,
        budget: Budget,
    ) -> Result<Vec<Bytes>, ViewReadError> {
        let files = self.files(partition)?;
        Ok(match reading {
            StreamReading::Open(open) => stream::read_open(&files, open, partition, from, budget)?,
            StreamReading::Sealed(commit) => {
                self.stretch(one(*commit), partition)?.counted_from_zero().read(&files, from, budget)?
            }
        })
    }

    fn stretch(&self, range: CommitRange, partition: PartitionId) -> Result<Stretch, ViewReadError> {
        let ends = self.ends(partition)?;
        let stretch = Stretch::of_commits(&*self.files(partition)?, range.first, range.end, ends)?;
        if range.end.is_none() {
            return Ok(stretch.from(ends.feed_start));
        }
        bounded::check_stretch(&*self.feed, range, partition, stretch)?;
        Ok(stretch)
    }

    fn ends(&self, partition: PartitionId) -> Result<PartitionEnds, ViewReadError> {
        self.feed.partition(partition).ok_or(ViewReadError::NoPartition { partition })
    }

    fn files(&self, partition: PartitionId) -> Result<Arc<PartitionFiles>, ViewReadError> {
        self.feed.files().partition(partition).ok_or(ViewReadError::NoPartition { partition })
    }
}

fn one(commit: CommitNumber) -> CommitRange {
    CommitRange { first: commit, end: Some(CommitNumber(commit.0 + 1)) }
}

fn bounds_of(stretch: Stretch) -> Bounds {
    Bounds { start: stretch.start.0 - stretch.shift, end: stretch.end.0 - stretch.shift }
}
