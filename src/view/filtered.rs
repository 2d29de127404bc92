//! What a mode shows of a range of commits: dedup, latest, live, changed. Its ends are tight: a record stands right before the
//! end, so that whoever reads to the end comes there.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::bounded::{self, CommitRange};
use super::emitted;
use super::feed_space::Stretch;
use super::link::Links;
use super::published::{Index, PartitionEnds, Published};
use super::reading::{Bounds, Budget, Found, ViewError, ViewReadError};
use super::selection::{Bits, Extents, Selection, Selections, Wanted, may_take_long};
use super::selector::Mode;
use crate::model::{FeedOffset, PartitionId, RunRow, Timestamp};
use crate::store::{PartitionFiles, ReadError};

/// So many partitions are not looked up on an async worker.
const MANY_PARTITIONS: u32 = 64;

/// See the module.
pub(super) struct Filtered {
    range: CommitRange,
    mode: Mode,
    selections: Arc<Selections>,
    /// Where the range lies, looked up when it is first read. Of a following range only the starts count, and partitions that
    /// were added since lie in it whole.
    spans: OnceLock<Vec<Range<FeedOffset>>>,
}

impl Filtered {
    /// The range in that mode, of a feed that has been indexed so far.
    pub fn open(
        feed: &dyn Published,
        range: CommitRange,
        mode: Mode,
        selections: Arc<Selections>,
    ) -> Result<Filtered, ViewError> {
        let filtered = Filtered { range, mode, selections, spans: OnceLock::new() };
        filtered.links(feed)?;
        Ok(filtered)
    }

    /// The offsets of what is emitted. Here and below, what is known of the partitions at `moment` is not looked up again.
    pub fn bounds(
        &self,
        feed: &dyn Published,
        moment: &mut Moment,
        partition: PartitionId,
    ) -> Result<Bounds, ViewReadError> {
        Ok(self.look_in(feed, moment, partition)?.bounds())
    }

    /// Whole batches from the first emitted record at or after `from`.
    pub fn read(
        &self,
        feed: &dyn Published,
        moment: &mut Moment,
        partition: PartitionId,
        from: i64,
        budget: Budget,
    ) -> Result<(Bounds, Vec<Bytes>), ViewReadError> {
        let look = self.look_in(feed, moment, partition)?;
        let bounds = look.check(from)?;
        match emitted::read(&look.files, look.ends.first_run, look.bits(), from, budget) {
            Ok(parts) => Ok((bounds, parts)),
            Err(error) => {
                // What was looked for may have been deleted meanwhile.
                self.look_in(feed, &mut Moment::default(), partition)?.check(from)?;
                Err(error.into())
            }
        }
    }

    /// The first emitted record of a commit that was sealed at `time` or later.
    pub fn find_time(
        &self,
        feed: &dyn Published,
        moment: &mut Moment,
        partition: PartitionId,
        time: Timestamp,
    ) -> Result<Option<Found>, ViewReadError> {
        let look = self.look_in(feed, moment, partition)?;
        let bounds = look.bounds();
        if bounds.start >= bounds.end {
            return Ok(None);
        }
        let history = feed.files().commits();
        let commit = history.first_sealed_from(time, feed.history().manifest, feed.commits())?.max(self.range.first);
        let end = FeedOffset(look.bits().end());
        let start = look.files.runs().base_of(look.ends.first_run, commit, end)?.max(look.extent.start);
        let Some(offset) = look.bits().next(start.0) else { return Ok(None) };
        let Some(run) = look.run_at(offset)? else { return Ok(None) };
        Ok(Some(Found { offset, timestamp: history.row(run.commit)?.sealed }))
    }

    /// The newest seal time of an emitted record, and the first one that has it.
    pub fn newest(
        &self,
        feed: &dyn Published,
        moment: &mut Moment,
        partition: PartitionId,
    ) -> Result<Option<Found>, ViewReadError> {
        let look = self.look_in(feed, moment, partition)?;
        let bounds = look.bounds();
        if bounds.start >= bounds.end {
            return Ok(None);
        }
        let Some(run) = look.run_at(bounds.end - 1)? else { return Ok(None) };
        let sealed = feed.files().commits().row(run.commit)?.sealed;
        self.find_time(feed, moment, partition, sealed)
    }

    /// The links, if they know what the name needs.
    fn links(&self, feed: &dyn Published) -> Result<Arc<dyn Links>, ViewError> {
        let (links, following, failure) = match feed.index() {
            Index::Kept { links, wanted, losses, failure } if losses == feed.losses() => (links, wanted, failure),
            // It is begun anew: deleted records stand between those that are left.
            Index::Kept { wanted, .. } => {
                let wanted = self.range.end.unwrap_or(wanted);
                return Err(ViewError::NotIndexed { indexed: feed.history().commit.min(wanted), wanted });
            }
            Index::None => return Err(ViewError::IndexNeeded),
            Index::Failed { reason } => return Err(ViewError::IndexFailed { reason }),
        };
        let (wanted, indexed) = (self.range.end.unwrap_or(following), links.indexed());
        match failure {
            Some(reason) if self.range.end.is_none() || indexed < wanted => Err(ViewError::IndexFailed { reason }),
            _ if indexed < wanted => Err(ViewError::NotIndexed { indexed, wanted }),
            _ => Ok(links),
        }
    }

    fn look_in(
        &self,
        feed: &dyn Published,
        moment: &mut Moment,
        partition: PartitionId,
    ) -> Result<Look, ViewReadError> {
        let found = match &moment.0 {
            Some(found) => found,
            None => &*moment.0.insert(self.find(feed)?),
        };
        self.look_at(feed, found, partition)
    }

    fn find(&self, feed: &dyn Published) -> Result<Whole, ViewReadError> {
        let links = self.links(feed)?;
        let mut extents = self.extents(feed, &*links)?;
        let wanted = Wanted { feed: feed.files().id, first: self.range.first, end: self.range.end, mode: self.mode };
        loop {
            match self.selections.find(wanted, &links, &extents) {
                Ok(selection) => return Ok(Whole { links, extents, selection }),
                Err(error @ ViewError::BeingSelected { .. }) => return Err(error.into()),
                Err(error) => {
                    // What was to be looked at may have been deleted meanwhile.
                    let before = std::mem::replace(&mut extents, self.extents(feed, &*links)?);
                    if before == extents {
                        return Err(self.of_links(feed, error));
                    }
                }
            }
        }
    }

    fn look_at(&self, feed: &dyn Published, found: &Whole, partition: PartitionId) -> Result<Look, ViewReadError> {
        let no_partition = || ViewReadError::NoPartition { partition };
        let extent = found.extents.get(partition.0 as usize).cloned().ok_or_else(no_partition)?;
        let ends = feed.partition(partition).ok_or_else(no_partition)?;
        let files = feed.files().partition(partition).ok_or_else(no_partition)?;
        let valid_end = if self.range.end.is_none() { ends.feed_end.0 } else { extent.end.0 };
        // Records may have been deleted since: the links that were read lead through them, or were made anew.
        let links = self.links(feed)?;
        if !Arc::ptr_eq(&links, &found.links) {
            return Err(ViewError::NotIndexed { indexed: links.indexed(), wanted: links.indexed() }.into());
        }
        Ok(Look { partition, extent, valid_end, ends, files, selection: found.selection.clone() })
    }

    /// Links that are damaged are made anew: they are waited for, unlike records.
    fn of_links(&self, feed: &dyn Published, error: ViewError) -> ViewReadError {
        let is_loss = matches!(&error, ViewError::Read(ReadError::File(error)) if error.is_loss());
        match feed.index() {
            Index::Kept { wanted, .. } if is_loss => {
                let wanted = self.range.end.unwrap_or(wanted);
                ViewError::NotIndexed { indexed: feed.history().commit.min(wanted), wanted }.into()
            }
            _ => error.into(),
        }
    }

    /// What of each partition lies in the range, is still there and indexed.
    fn extents(&self, feed: &dyn Published, links: &dyn Links) -> Result<Extents, ViewReadError> {
        let spans = match self.spans.get() {
            Some(spans) => spans,
            None => {
                let spans = self.look_up_spans(feed)?;
                self.spans.get_or_init(|| spans)
            }
        };
        if self.range.end.is_some() {
            // All of it, or nothing.
            if self.range.first < feed.history().whole {
                may_look_up_all(feed)?;
            }
            bounded::check_whole(feed, self.range)?;
            return Ok(spans.clone());
        }
        let extent = |index: u32| {
            let partition = PartitionId(index);
            let first = spans.get(index as usize).map_or(FeedOffset(0), |span| span.start);
            let start = first.max(feed.partition(partition).map_or(FeedOffset(0), |ends| ends.feed_start));
            start..links.end(partition).max(start)
        };
        Ok((0..feed.partitions()).map(extent).collect())
    }

    fn look_up_spans(&self, feed: &dyn Published) -> Result<Vec<Range<FeedOffset>>, ViewReadError> {
        let CommitRange { first, end } = self.range;
        if first.0 == 0 && end.is_none() {
            return Ok(vec![FeedOffset(0)..FeedOffset(0); feed.partitions() as usize]);
        }
        may_look_up_all(feed)?;
        let mut spans = Vec::new();
        for partition in (0..feed.partitions()).map(PartitionId) {
            let no_partition = ViewReadError::NoPartition { partition };
            let (Some(ends), Some(files)) = (feed.partition(partition), feed.files().partition(partition)) else {
                return Err(no_partition);
            };
            let stretch = Stretch::of_commits(&files, first, end, ends)?;
            spans.push(stretch.start..stretch.end);
        }
        Ok(spans)
    }
}

/// An error where all partitions are to be looked up and this may take long.
fn may_look_up_all(feed: &dyn Published) -> Result<(), ViewReadError> {
    if feed.partitions() > MANY_PARTITIONS {
        may_take_long()?;
    }
    Ok(())
}

/// The view as it is found when it is first read, for whoever reads many partitions of it one after the other.
#[derive(Default)]
pub(super) struct Moment(Option<Whole>);

/// All partitions as they were found at one moment.
struct Whole {
    /// What it was looked up in.
    links: Arc<dyn Links>,
    extents: Extents,
    selection: Arc<Selection>,
}

/// A partition as it was found at one moment.
struct Look {
    partition: PartitionId,
    extent: Range<FeedOffset>,
    /// Positions up to here are valid, whatever is emitted.
    valid_end: i64,
    ends: PartitionEnds,
    files: Arc<PartitionFiles>,
    selection: Arc<Selection>,
}

impl Look {
    fn bits(&self) -> &Bits {
        self.selection.partition(self.partition).expect("a selection knows all partitions of the extents it covers")
    }

    fn bounds(&self) -> Bounds {
        let start = self.extent.start.0;
        let end = self.bits().last().map_or(start, |last| last + 1).max(start);
        Bounds { start: self.bits().next(start).unwrap_or(end), end }
    }

    /// The bounds, if one may read on at `from`.
    fn check(&self, from: i64) -> Result<Bounds, ViewReadError> {
        let bounds = self.bounds();
        match from < self.extent.start.0 || from > self.valid_end.max(bounds.end) {
            true => Err(ViewReadError::OutOfRange { offset: from, bounds }),
            false => Ok(bounds),
        }
    }

    fn run_at(&self, offset: i64) -> Result<Option<RunRow>, ViewReadError> {
        let end = FeedOffset(self.bits().end());
        let runs = self.files.runs_covering(self.ends.first_run, FeedOffset(offset), end, 1)?;
        Ok(runs.into_iter().next())
    }
}
