//! Which commits a name means, and whether they are all there yet.

use super::feed_space::Stretch;
use super::published::Published;
use super::reading::ViewError;
use super::selector::Selector;
use crate::model::{CommitNumber, FeedOffset, PartitionId, Timestamp};

/// Commits `first..end`; no end: the feed's end, whatever it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitRange {
    pub first: CommitNumber,
    pub end: Option<CommitNumber>,
}

/// What a view must know of time: seals yet to come carry `floor` or later.
#[derive(Clone, Copy, Debug)]
pub struct SealClock {
    pub now: Timestamp,
    pub floor: Timestamp,
}

/// The commits of a selector over feed space. None: the selector is of another kind.
pub(super) fn commit_range(
    feed: &dyn Published,
    selector: &Selector,
    clock: SealClock,
) -> Result<Option<CommitRange>, ViewError> {
    Ok(Some(match selector {
        Selector::Feed => CommitRange { first: CommitNumber(0), end: None },
        Selector::Since(first) => {
            sealed_before(feed, *first)?;
            CommitRange { first: *first, end: None }
        }
        Selector::Commit(commit) => sealed_range(feed, *commit, *commit)?,
        Selector::Commits { first, last } => sealed_range(feed, *first, *last)?,
        Selector::Upto(last) => sealed_range(feed, CommitNumber(0), *last)?,
        Selector::Sealed { from, to, .. } => sealed_between(feed, *from, *to, clock)?,
        _ => return Ok(None),
    }))
}

fn sealed_range(feed: &dyn Published, first: CommitNumber, last: CommitNumber) -> Result<CommitRange, ViewError> {
    let end = CommitNumber(last.0 + 1);
    sealed_before(feed, end)?;
    Ok(CommitRange { first, end: Some(end) })
}

/// All commits below `end` exist, or the name has to wait.
fn sealed_before(feed: &dyn Published, end: CommitNumber) -> Result<(), ViewError> {
    let commits = feed.commits();
    if end > commits { Err(ViewError::NotSealedYet { wanted: CommitNumber(end.0 - 1), commits }) } else { Ok(()) }
}

fn sealed_between(
    feed: &dyn Published,
    from: Timestamp,
    to: Timestamp,
    clock: SealClock,
) -> Result<CommitRange, ViewError> {
    if clock.now < to {
        return Err(ViewError::NotOverYet { until: to });
    }
    if clock.floor < to && feed.sealed_at() < to {
        return Err(ViewError::FloorNeeded { at: to });
    }
    // Counted after the floor is known: whatever was sealed before it is published by then, and later seals lie outside.
    let commits = feed.commits();
    let (history, start) = (feed.files().commits(), feed.history());
    if start.manifest > CommitNumber(0) && from <= start.manifest_sealed {
        // Commits of that time are gone with their manifests, so that nothing is known of them.
        return Err(ViewError::CommitsDropped { wanted: CommitNumber(start.manifest.0 - 1), oldest: start.commit });
    }
    let first = history.first_sealed_from(from, start.manifest, commits)?;
    let end = history.first_sealed_from(to, start.manifest, commits)?;
    Ok(CommitRange { first, end: Some(end) })
}

/// A name with an end shows all that it means or nothing: its commits must not have lost a record.
pub(super) fn check_whole(feed: &dyn Published, range: CommitRange) -> Result<(), ViewError> {
    let Some(end) = range.end.filter(|end| range.first < *end) else { return Ok(()) };
    check_kept(feed, range)?;
    if range.first >= feed.history().whole {
        return Ok(());
    }
    for index in 0..feed.partitions() {
        let partition = PartitionId(index);
        let (Some(ends), Some(files)) = (feed.partition(partition), feed.files().partition(partition)) else {
            continue;
        };
        let stretch = Stretch::of_commits(&files, range.first, Some(end), ends)?;
        check_stretch(feed, range, partition, stretch)?;
    }
    Ok(())
}

/// What was looked up in a partition for a name with an end is all of it. Call it after the look: whatever a deletion made
/// the look miss is known by then.
pub(super) fn check_stretch(
    feed: &dyn Published,
    range: CommitRange,
    partition: PartitionId,
    stretch: Stretch,
) -> Result<(), ViewError> {
    let Some(end) = range.end.filter(|end| range.first < *end) else { return Ok(()) };
    check_kept(feed, range)?;
    let start = feed.partition(partition).map_or(FeedOffset(0), |ends| ends.feed_start);
    if stretch.start < stretch.end && stretch.start < start {
        let last = CommitNumber(end.0 - 1);
        return Err(ViewError::RecordsDeleted { first: range.first, last, partition });
    }
    Ok(())
}

fn check_kept(feed: &dyn Published, range: CommitRange) -> Result<(), ViewError> {
    let oldest = feed.history().commit;
    match range.first < oldest {
        true => Err(ViewError::CommitsDropped { wanted: range.first, oldest }),
        false => Ok(()),
    }
}
