//! Retention: whole commits that are too old, too many or too much are dropped, oldest first, and what is deleted goes
//! from the disk.

use super::Broker;
use super::handles::FeedHandle;
use crate::config::TopicSettings;
use crate::model::{
    CommitNumber, DropCommits, HistoryStart, Lsn, Offset, PartitionId, PartitionStart, Timestamp, TrimError,
};
use crate::store::{FileError, ReadError, StoreError};
use crate::view::Published;

/// The two manifests kept must both know of a deletion before its files go.
const CHECKPOINTS: usize = 2;

impl Broker {
    /// Drops what the feeds' retention lets go and removes the files of what was deleted. Waits for the disk.
    pub fn enforce_retention(&self) -> Result<(), StoreError> {
        let mut decided = Lsn(0);
        for feed in self.catalog.all() {
            match self.retain(&feed) {
                Ok(lsn) => decided = decided.max(lsn),
                // Deleted meanwhile.
                Err(_) if self.catalog.by_id(feed.id).is_none() => {}
                Err(error) => tracing::error!(feed = feed.name, %error, "retention cannot look at the feed's history"),
            }
        }
        // Only what is written is known to have files that may go.
        self.wait_for(decided);
        for _ in 0..CHECKPOINTS {
            if !self.store.has_doomed() {
                break;
            }
            // A checkpoint of its own needs an entry of its own.
            self.raise_time_floor(self.now().max(Timestamp(self.time_floor().0 + 1)));
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Returns the lsn at which what was decided is durable.
    fn retain(&self, feed: &FeedHandle) -> Result<Lsn, ReadError> {
        let settings = &feed.config().settings;
        let start = feed.history();
        let commit = self.first_retained(feed, settings, start)?;
        if commit == start.commit && start.manifest == start.commit {
            return self.drop_uncommitted(feed, settings);
        }
        let manifest = first_manifest(feed, settings.retention_manifests_bytes, start, commit)?;
        if (commit, manifest) == (start.commit, start.manifest) {
            return self.drop_uncommitted(feed, settings);
        }
        let wish = drop_below(feed, commit, manifest, self.now())?;
        let decided = self.submit(|state| state.decide_drop_commits(wish));
        match decided.value {
            Ok(begins) => {
                tracing::debug!(
                    feed = feed.name,
                    commit = begins.commit.0,
                    manifest = begins.manifest.0,
                    "history dropped"
                );
            }
            Err(TrimError::UnknownFeed { .. }) => {}
            Err(error) => tracing::error!(feed = feed.name, %error, "retention was refused"),
        }
        Ok(decided.durable_at)
    }

    /// The oldest commit that retention keeps.
    fn first_retained(
        &self,
        feed: &FeedHandle,
        settings: &TopicSettings,
        start: HistoryStart,
    ) -> Result<CommitNumber, FileError> {
        let commits = Published::commits(feed);
        let mut first = start.commit;
        if first == commits {
            return Ok(first);
        }
        if settings.delete {
            first = first.max(by_count(settings, commits)).max(by_bytes(feed, settings)?);
            if let Some(oldest) = self.expired(feed, settings)? {
                first = first.max(feed.files.commits().first_sealed_from(oldest, start.commit, commits)?);
            }
            if first > start.commit
                && let Some(held) = self.first_held(feed, settings, start)?
            {
                first = first.min(held).max(start.commit);
            }
        }
        Ok(first.max(first_with_records(feed, start, commits)?).min(commits))
    }

    /// The seal time from which on commits are kept, if the oldest one is older.
    fn expired(&self, feed: &FeedHandle, settings: &TopicSettings) -> Result<Option<Timestamp>, FileError> {
        if settings.retention_ms < 0 {
            return Ok(None);
        }
        let oldest = Timestamp(self.now().0.saturating_sub(settings.retention_ms));
        Ok(feed.oldest_sealed()?.filter(|sealed| *sealed < oldest).map(|_| oldest))
    }
}

/// The wish to drop the commits below `commit` and the manifests below `manifest`.
pub(super) fn drop_below(
    feed: &FeedHandle,
    commit: CommitNumber,
    manifest: CommitNumber,
    now: Timestamp,
) -> Result<DropCommits, FileError> {
    let mut start = HistoryStart { commit, manifest, whole: commit, ..feed.history() };
    if manifest > feed.history().manifest {
        start.manifest_sealed = feed.files.commits().row(CommitNumber(manifest.0 - 1))?.sealed;
        // Events of the kept commits come after the last seal of the dropped ones.
        start.event = feed.files.streams().first_from(start.manifest_sealed, start.event, feed.events())?;
    }
    let mut partitions = Vec::new();
    for partition in (0..feed.partitions()).map(PartitionId) {
        let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
            continue;
        };
        // In this order: what is not open any more below that end has its runs.
        let ends = handle.published();
        let undecided = feed.open_start(partition).map_or(ends.high_watermark, |open| open.min(ends.high_watermark));
        if let Some((log, feed, run)) = files.runs().after(ends.first_run, commit, undecided)? {
            partitions.push(PartitionStart { partition, log, feed, run });
        }
    }
    Ok(DropCommits { feed: feed.id, start, partitions, now })
}

fn by_count(settings: &TopicSettings, commits: CommitNumber) -> CommitNumber {
    match settings.retention_commits {
        ..0 => CommitNumber(0),
        kept => CommitNumber(commits.0.saturating_sub(kept)),
    }
}

/// As in Kafka no partition is kept larger, and none is made smaller for its own sake.
fn by_bytes(feed: &FeedHandle, settings: &TopicSettings) -> Result<CommitNumber, FileError> {
    let mut first = CommitNumber(0);
    let Ok(bytes) = u64::try_from(settings.retention_bytes) else { return Ok(first) };
    for partition in (0..feed.partitions()).map(PartitionId) {
        let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
            continue;
        };
        if handle.published().high_watermark == Offset(0) {
            continue;
        }
        let Some(offset) = files.offset_before(bytes)? else { continue };
        // The commit that holds the offset is needed to keep that many bytes.
        first = first.max(files.runs().commit_at(handle.published().first_run, offset)?.unwrap_or(first));
    }
    Ok(first)
}

/// DeleteRecords may have left nothing of the oldest commits.
fn first_with_records(
    feed: &FeedHandle,
    start: HistoryStart,
    commits: CommitNumber,
) -> Result<CommitNumber, FileError> {
    if start.whole == start.commit {
        return Ok(start.commit);
    }
    let mut first = start.whole.min(commits);
    for partition in (0..feed.partitions()).map(PartitionId) {
        let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
            continue;
        };
        let ends = handle.published();
        first = first.min(files.runs().commit_after_feed(ends.first_run, ends.feed_start)?.unwrap_or(first));
    }
    Ok(first)
}

/// Of the commits below `commit`, which are dropped, so many manifests are kept.
fn first_manifest(
    feed: &FeedHandle,
    bytes_max: i64,
    start: HistoryStart,
    commit: CommitNumber,
) -> Result<CommitNumber, FileError> {
    let Ok(bytes_max) = u64::try_from(bytes_max) else { return Ok(start.manifest) };
    let commits = feed.files.commits();
    let end = commits.position_of(commit)?;
    commits.first_at(end.saturating_sub(bytes_max), start.manifest, commit)
}
