//! Deletions from the front, as clients ask for them.

use std::sync::Arc;

use super::Broker;
use super::handles::FeedHandle;
use super::retention;
use crate::model::{CommitNumber, DeleteRecords, Offset, PartitionId, SealedPlace, TrimError};
use crate::store::FileError;
use crate::view::{PartitionEnds, Published};

/// Why nothing is deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    #[error(transparent)]
    Trim(#[from] TrimError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the deletion could not be made durable: {0}")]
    Failed(String),
}

impl Broker {
    /// Drops the commits below a number (none: all that are durable) with their manifests, and completes when that is
    /// durable. The outcome is the oldest commit whose manifest is kept.
    pub async fn delete_commits(
        &self,
        feed: &Arc<FeedHandle>,
        below: Option<CommitNumber>,
    ) -> Result<CommitNumber, DeleteError> {
        let commits = Published::commits(&**feed);
        let below = below.unwrap_or(commits);
        if below > commits {
            return Err(TrimError::AboveCommits { below, commits }.into());
        }
        let (looked_at, now) = (feed.clone(), self.now());
        let wish = self.read_aside(move || retention::drop_below(&looked_at, below, below, now)).await?;
        let decided = self.submit(|state| state.decide_drop_commits(wish));
        self.durable(decided.durable_at).await.map_err(|error| DeleteError::Failed(error.to_string()))?;
        Ok(decided.value?.manifest)
    }

    /// Deletes the records of a partition's log below an offset (none: all that no open transaction holds), and completes when that is
    /// durable. The outcome is where the log begins.
    pub async fn delete_records(
        &self,
        feed: &Arc<FeedHandle>,
        partition: PartitionId,
        below: Option<Offset>,
    ) -> Result<Offset, DeleteError> {
        loop {
            let ends = published(feed, partition)?;
            // As far as it may: no record of an open transaction goes.
            let below = below.unwrap_or(ends.last_stable);
            let looked_at = feed.clone();
            let sealed = self.read_aside(move || sealed_place(&looked_at, partition, ends, below)).await?;
            let wish = DeleteRecords { feed: feed.id, partition, below, sealed, now: self.now() };
            let decided = self.submit(|state| state.decide_delete_records(wish));
            self.durable(decided.durable_at).await.map_err(|error| DeleteError::Failed(error.to_string()))?;
            match decided.value {
                // The seal that was in the way is durable now, and its runs are there to be looked up.
                Err(TrimError::Behind) => {}
                outcome => return Ok(outcome?),
            }
        }
    }
}

fn published(feed: &FeedHandle, partition: PartitionId) -> Result<PartitionEnds, TrimError> {
    let unknown = || TrimError::UnknownPartition { partition, partitions: feed.partitions() };
    Published::partition(feed, partition).ok_or_else(unknown)
}

/// None while a record below belongs to an open stream. Looked at in this order, for what is not open any more has its runs.
fn sealed_place(
    feed: &FeedHandle,
    partition: PartitionId,
    ends: PartitionEnds,
    below: Offset,
) -> Result<Option<SealedPlace>, FileError> {
    if feed.open_start(partition).is_some_and(|open| open < below) {
        return Ok(None);
    }
    match feed.files.partition(partition) {
        Some(files) => files.runs().place(ends.first_run, below).map(Some),
        None => Ok(None),
    }
}
