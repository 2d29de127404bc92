//! Which commits a name means, and whether they are all there yet.

use super::published::Published;
use super::reading::ViewError;
use super::selector::Selector;
use crate::model::{CommitNumber, Timestamp};

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
    let history = feed.files().commits();
    let first = history.first_sealed_from(from, commits)?;
    let end = history.first_sealed_from(to, commits)?;
    Ok(CommitRange { first, end: Some(end) })
}
