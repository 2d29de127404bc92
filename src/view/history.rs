//! The history topics: `..commits` and `..streams` are read as they are stored, one batch a commit or event.

use bytes::Bytes;

use super::link::Links;
use super::published::{Index, Published};
use super::reading::{Budget, Found, ViewError};
use crate::batch;
use crate::model::{CommitNumber, CommitState, Manifest, ManifestPart, Offset, PartitionId, Timestamp};
use crate::store::ReadError;

/// A manifest is never larger.
const MANIFEST_BYTES_MAX: usize = 64 << 20;

/// Manifests told anew in one read.
const RETOLD_MAX: i64 = 256;

pub(super) fn commits(feed: &dyn Published, from: i64, end: i64, budget: Budget) -> Result<Vec<Bytes>, ViewError> {
    let links = match feed.index() {
        Index::Kept { links, .. } => Some(links),
        Index::None | Index::Failed { .. } => None,
    };
    let known = links.as_ref().map_or(0, |links| links.indexed().0).max(feed.history().whole.0);
    if from < known {
        return retold(feed, links.as_deref(), (from, end.min(known).min(from + RETOLD_MAX)), budget);
    }
    let bytes = feed.files().commits().read(CommitNumber(from), CommitNumber(end), budget.max_bytes)?;
    Ok(fitting(bytes, budget))
}

/// What was stored at the seal is told with what is left now, since manifests outlive the records, and with what the index
/// knows.
fn retold(
    feed: &dyn Published,
    links: Option<&dyn Links>,
    (from, end): (i64, i64),
    budget: Budget,
) -> Result<Vec<Bytes>, ViewError> {
    let mut parts = Vec::new();
    let mut room = budget.max_bytes;
    for commit in (from..end).map(CommitNumber) {
        let stored = feed.files().commits().read(commit, CommitNumber(commit.0 + 1), 0)?;
        let mut manifest = manifest_in(commit, &stored)?;
        manifest.state = state_of(feed, commit, &manifest);
        // What the index has lost it makes anew; until then manifests are told without it.
        let counts = links.and_then(|links| links.counts(commit).ok().flatten());
        (manifest.duplicates, manifest.new_keys) = counts.map(|counts| (counts.duplicates, counts.new_keys)).unzip();
        let as_stored = manifest.state == CommitState::Live && counts.is_none();
        let batch = if as_stored { stored } else { manifest.to_batch() };
        if batch.len() > room && !(parts.is_empty() && budget.at_least_one) {
            break;
        }
        room = room.saturating_sub(batch.len());
        parts.push(batch);
    }
    Ok(parts)
}

fn state_of(feed: &dyn Published, commit: CommitNumber, manifest: &Manifest) -> CommitState {
    if commit < feed.history().commit {
        return CommitState::Deleted;
    }
    let start = |part: &ManifestPart| feed.partition(PartitionId(part.partition)).map_or(0, |ends| ends.feed_start.0);
    let parts = &manifest.partitions;
    if parts.iter().all(|part| part.feed_base >= start(part)) {
        CommitState::Live
    } else if parts.iter().all(|part| part.feed_base + part.count <= start(part)) {
        CommitState::Deleted
    } else {
        CommitState::Partial
    }
}

pub(super) fn events(feed: &dyn Published, from: i64, end: i64, budget: Budget) -> Result<Vec<Bytes>, ReadError> {
    let bytes = feed.files().streams().read(from, end, budget.max_bytes)?;
    Ok(fitting(bytes, budget))
}

/// The store gives one batch at least, however large.
fn fitting(bytes: Bytes, budget: Budget) -> Vec<Bytes> {
    let fits = budget.at_least_one || bytes.len() <= budget.max_bytes;
    if fits && !bytes.is_empty() { vec![bytes] } else { Vec::new() }
}

pub(super) fn commit_at(feed: &dyn Published, time: Timestamp) -> Result<Option<Found>, ReadError> {
    let commits = feed.commits();
    let history = feed.files().commits();
    let commit = history.first_sealed_from(time, feed.history().manifest, commits)?;
    if commit >= commits {
        return Ok(None);
    }
    Ok(Some(Found { offset: commit.0, timestamp: history.row(commit)?.sealed }))
}

pub(super) fn event_at(feed: &dyn Published, time: Timestamp) -> Result<Option<Found>, ReadError> {
    let events = feed.events();
    let event = feed.files().streams().first_from(time, feed.history().event, events)?;
    if event >= events {
        return Ok(None);
    }
    let stored = feed.files().streams().read(event, event + 1, 0)?;
    let at = batch::BatchHeader::parse(&stored).map_or(time, |header| Timestamp(header.max_timestamp));
    Ok(Some(Found { offset: event, timestamp: at }))
}

/// The label of the stream that became this commit, as its manifest says.
pub(super) fn label_of(feed: &dyn Published, commit: CommitNumber) -> Result<Option<String>, ViewError> {
    let stored = feed.files().commits().read(commit, CommitNumber(commit.0 + 1), 0)?;
    Ok(manifest_in(commit, &stored)?.label)
}

fn manifest_in(commit: CommitNumber, stored: &Bytes) -> Result<Manifest, ViewError> {
    let bad = |error: String| ViewError::BadBatch { offset: Offset(commit.0), error };
    let header = batch::BatchHeader::parse(stored).map_err(|e| bad(e.to_string()))?;
    if batch::checksum(stored) != header.crc {
        // Told anew it would get a checksum that holds.
        return Err(bad("its checksum does not hold".to_owned()));
    }
    let records = batch::records(stored, MANIFEST_BYTES_MAX).map_err(|e| bad(e.to_string()))?;
    let Some(record) = records.iter().next() else { return Err(bad("it holds no record".to_owned())) };
    let record = record.map_err(|e| bad(e.to_string()))?;
    Manifest::parse(record.value.unwrap_or_default()).map_err(|e| bad(e.to_string()))
}
