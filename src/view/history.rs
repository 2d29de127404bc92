//! The history topics: `..commits` and `..streams` are read as they are stored, one batch a commit or event.

use bytes::Bytes;

use super::published::Published;
use super::reading::{Budget, Found, ViewError};
use crate::batch;
use crate::model::{CommitNumber, Offset, Timestamp};
use crate::store::ReadError;

/// A manifest is never larger.
const MANIFEST_BYTES_MAX: usize = 64 << 20;

pub(super) fn commits(feed: &dyn Published, from: i64, end: i64, budget: Budget) -> Result<Vec<Bytes>, ReadError> {
    let bytes = feed.files().commits().read(CommitNumber(from), CommitNumber(end), budget.max_bytes)?;
    Ok(fitting(bytes, budget))
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
    let event = feed.files().streams().first_from(time, events)?;
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
    let bad = |error: String| ViewError::BadBatch { offset: Offset(commit.0), error };
    let records = batch::records(&stored, MANIFEST_BYTES_MAX).map_err(|e| bad(e.to_string()))?;
    let Some(record) = records.iter().next() else { return Ok(None) };
    let record = record.map_err(|e| bad(e.to_string()))?;
    let manifest: serde_json::Value =
        serde_json::from_slice(record.value.unwrap_or_default()).map_err(|e| bad(e.to_string()))?;
    Ok(manifest["label"].as_str().map(str::to_owned))
}
