//! The feeds that have files, and the tail writes that change them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use crate::batch::placed_head;
use crate::model::{FeedId, Lsn, Offset, PartitionId, TailWrite};

use super::doomed::Doomed;
use super::error::FileError;
use super::feed::{FeedEnds, FeedFiles};
use super::segment::Placed;
use super::shelf::Shelf;

/// See the module.
pub struct Directory {
    shelf: Arc<Shelf>,
    folder: PathBuf,
    feeds: RwLock<HashMap<FeedId, Arc<FeedFiles>>>,
    doomed: Doomed,
}

/// A folder is emptied so often, when somebody makes files in it meanwhile.
const REMOVALS_MAX: usize = 100;

/// A tail write that failed, and the feed it belongs to.
#[derive(Debug, thiserror::Error)]
#[error("feed {feed}: {source}")]
pub struct WriteError {
    pub feed: FeedId,
    pub source: FileError,
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.shelf.let_go();
    }
}

impl Directory {
    /// The feeds in `folder`, with their files' ends as a state at `lsn` says; touches nothing.
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, lsn: Lsn, ends: &BTreeMap<FeedId, FeedEnds>) -> Directory {
        let doomed = Doomed::of_state(lsn, ends);
        let directory = Directory { shelf, folder, feeds: RwLock::default(), doomed };
        for (feed, ends) in ends {
            directory.insert(*feed, ends);
        }
        directory
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    #[cfg(test)]
    pub fn shelf(&self) -> &Arc<Shelf> {
        &self.shelf
    }

    pub fn feed(&self, feed: FeedId) -> Option<Arc<FeedFiles>> {
        self.feeds.read().unwrap_or_else(PoisonError::into_inner).get(&feed).cloned()
    }

    pub fn ids(&self) -> Vec<FeedId> {
        self.feeds.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    pub fn feed_folder(&self, feed: FeedId) -> PathBuf {
        self.folder.join(feed.to_string())
    }

    /// Carries the writes out, in order; batches for one partition that follow each other go out as one write. A state at
    /// `lsn` knows of them.
    pub fn write(&self, lsn: Lsn, writes: &[TailWrite]) -> Result<(), WriteError> {
        let mut gathered = Gathered::default();
        for write in writes {
            let feed = feed_of(write);
            if changes_folders(write) || matches!(write, TailWrite::Trimmed { .. }) {
                self.flush(&mut gathered)?;
            }
            self.write_one(lsn, write, &mut gathered).map_err(|source| WriteError { feed, source })?;
        }
        self.flush(&mut gathered)
    }

    /// What the replay left past the ends of files goes.
    pub fn end_replay(&self) -> Result<(), FileError> {
        self.shelf.end_replay()?;
        let feeds: Vec<_> = self.feeds.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        feeds.iter().try_for_each(|feed| feed.sweep())
    }

    fn write_one(&self, lsn: Lsn, write: &TailWrite, gathered: &mut Gathered) -> Result<(), FileError> {
        match write {
            TailWrite::FeedCreated { feed, partitions } => self.create(*feed, *partitions),
            TailWrite::FeedDeleted { feed } => self.delete(*feed),
            TailWrite::PartitionsAdded { feed, partitions } => {
                self.known(*feed)?.grow(*partitions);
                Ok(())
            }
            TailWrite::Batch { .. } => {
                gathered.add(write);
                Ok(())
            }
            TailWrite::Runs { feed, partition, row, runs } => {
                self.partition(*feed, *partition)?.append_runs(*row, runs)
            }
            TailWrite::Aborted { feed, partition, row, aborted } => {
                self.partition(*feed, *partition)?.append_aborted(*row, aborted)
            }
            TailWrite::Commit { feed, position, row, batch } => {
                self.known(*feed)?.commits().append(*position, row, batch)
            }
            TailWrite::StreamEvent { feed, event, position, at, batch, .. } => {
                self.known(*feed)?.streams().append(*position, *event, *at, batch)
            }
            TailWrite::Trimmed { feed, start, partitions } => {
                self.known(*feed)?.trim(*start);
                for log in partitions {
                    self.partition(*feed, log.start.partition)?.trim(log.start.log, log.emptied);
                }
                self.doomed.trimmed(lsn, *feed, *start, partitions);
                Ok(())
            }
        }
    }

    fn flush(&self, gathered: &mut Gathered) -> Result<(), WriteError> {
        for run in std::mem::take(&mut gathered.runs) {
            self.partition(run.feed, run.partition)
                .and_then(|partition| partition.append(run.segment, run.position, &run.batches))
                .map_err(|source| WriteError { feed: run.feed, source })?;
        }
        Ok(())
    }

    /// True when files wait to be removed.
    pub fn has_doomed(&self) -> bool {
        !self.doomed.is_empty()
    }

    /// Removes the files that no state from `lsn` on needs. What cannot be removed is tried again next time.
    pub fn remove_doomed(&self, lsn: Lsn) {
        for (feed, partition, cut) in self.doomed.take(lsn) {
            // A feed that was deleted meanwhile took its files along.
            let Some(files) = self.feed(feed) else { continue };
            match files.remove_below(partition, cut) {
                Ok(0) => (),
                Ok(num_removed) => tracing::debug!(%feed, num_removed, "files of deleted history removed"),
                Err(_) if files.is_gone() => (),
                Err(error) => {
                    tracing::warn!(%feed, %error, "files of deleted history cannot be removed; it is tried again");
                    self.doomed.put_back(lsn, feed, partition, cut);
                }
            }
        }
    }

    fn create(&self, feed: FeedId, partitions: u32) -> Result<(), FileError> {
        let folder = self.feed_folder(feed);
        self.shelf.disk.create_dir_all(&folder).map_err(FileError::io(&folder))?;
        self.shelf.dirty.add_folder(self.folder.clone(), Arc::new(AtomicBool::new(false)));
        self.insert(feed, &FeedEnds::default());
        self.known(feed)?.grow(partitions);
        Ok(())
    }

    fn delete(&self, feed: FeedId) -> Result<(), FileError> {
        let removed = self.feeds.write().unwrap_or_else(PoisonError::into_inner).remove(&feed);
        if let Some(files) = removed {
            files.mark_gone();
        }
        self.remove_folder(feed)
    }

    /// Removes the folder of a feed that was deleted; does nothing when it is gone already.
    pub fn remove_folder(&self, feed: FeedId) -> Result<(), FileError> {
        let folder = self.feed_folder(feed);
        let is_refilled = |error: &io::Error| error.kind() == io::ErrorKind::DirectoryNotEmpty;
        let remove = || self.shelf.disk.remove_dir_all(&folder);
        // The indexer may make files in it until it finds that the feed is gone.
        let outcome = (0..REMOVALS_MAX).map(|_| remove()).find(|outcome| !outcome.as_ref().is_err_and(is_refilled));
        match outcome.unwrap_or_else(remove) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            outcome => outcome.map_err(FileError::io(&folder))?,
        }
        self.shelf.dirty.add_folder(self.folder.clone(), Arc::new(AtomicBool::new(false)));
        Ok(())
    }

    fn insert(&self, feed: FeedId, ends: &FeedEnds) {
        let files = FeedFiles::new(self.shelf.clone(), self.feed_folder(feed), feed, ends);
        self.feeds.write().unwrap_or_else(PoisonError::into_inner).insert(feed, Arc::new(files));
    }

    fn known(&self, feed: FeedId) -> Result<Arc<FeedFiles>, FileError> {
        self.feed(feed).ok_or_else(|| FileError::Missing { path: self.feed_folder(feed), expected: 0 })
    }

    fn partition(&self, feed: FeedId, partition: PartitionId) -> Result<Arc<super::feed::PartitionFiles>, FileError> {
        let files = self.known(feed)?;
        let path = || files.folder().join(partition.to_string());
        files.partition(partition).ok_or_else(|| FileError::Missing { path: path(), expected: 0 })
    }
}

/// True for writes that make or remove a feed or partitions. Their entry must be durable first: a folder that
/// is not known to the state is refused at the next start, and a removed one does not come back.
pub fn changes_folders(write: &TailWrite) -> bool {
    matches!(write, TailWrite::FeedCreated { .. } | TailWrite::FeedDeleted { .. } | TailWrite::PartitionsAdded { .. })
}

pub fn feed_of(write: &TailWrite) -> FeedId {
    match write {
        TailWrite::FeedCreated { feed, .. }
        | TailWrite::FeedDeleted { feed }
        | TailWrite::PartitionsAdded { feed, .. }
        | TailWrite::Batch { feed, .. }
        | TailWrite::Aborted { feed, .. }
        | TailWrite::Runs { feed, .. }
        | TailWrite::Commit { feed, .. }
        | TailWrite::StreamEvent { feed, .. }
        | TailWrite::Trimmed { feed, .. } => *feed,
    }
}

/// Batches that wait for the end of their group.
#[derive(Default)]
struct Gathered {
    runs: Vec<Run>,
}

/// Batches that follow each other in one segment.
struct Run {
    feed: FeedId,
    partition: PartitionId,
    segment: Offset,
    position: u64,
    end: u64,
    batches: Vec<Placed>,
}

impl Gathered {
    fn add(&mut self, write: &TailWrite) {
        let TailWrite::Batch {
            feed, partition, segment, position, base_offset, end_offset, max_timestamp, batch, ..
        } = write
        else {
            return;
        };
        let placed = Placed {
            base_offset: *base_offset,
            end_offset: *end_offset,
            max_timestamp: *max_timestamp,
            head: placed_head(batch, base_offset.0),
            batch: batch.clone(),
        };
        let end = position + batch.len() as u64;
        // The last one first: most groups touch few partitions, and a partition's batches come together.
        let same = |run: &&mut Run| {
            (run.feed, run.partition, run.segment, run.end) == (*feed, *partition, *segment, *position)
        };
        match self.runs.iter_mut().rev().find(same) {
            Some(run) => {
                run.batches.push(placed);
                run.end = end;
            }
            None => self.runs.push(Run {
                feed: *feed,
                partition: *partition,
                segment: *segment,
                position: *position,
                end,
                batches: vec![placed],
            }),
        }
    }
}
