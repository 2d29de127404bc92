//! What is on the disk: journal, segments and the other tail files, manifest, recovery.
//!
//! ```text
//! <data>/meta.properties, .lock
//! <data>/journal/                                  every entry, in order: what an answer waits for
//! <data>/manifest/<lsn>                            the state at an lsn
//! <data>/feeds/<feed>/commits.log, commits.index   manifests of commits, and where each lies
//! <data>/feeds/<feed>/streams.log, streams.index   stream events
//! <data>/feeds/<feed>/<partition>/<offset>.log     segments, byte for byte Kafka's; .index beside them
//! <data>/feeds/<feed>/<partition>/feed.runs        where the feed space lies in the log
//! <data>/feeds/<feed>/<partition>/aborted.index    aborted transactions
//!                                                  (all but segments go on in a new file each 1 MiB: see `chunks`)
//! ```
//!
//! Tables (`commits.index`, `streams.index`, `feed.runs`) say nothing that the logs of manifests and events do not say: one that
//! is lost or damaged is made anew from them when it is first used (see `rows`).
//!
//! All but journal and manifest are tail files: written along with the journal, synced at a checkpoint,
//! and after a crash written again, from where the manifest says they end, by replaying the journal.
//! With durability `os`, where an answer waits for no sync, large batches are written to their segments only, first, and
//! the journal says where they stand and what their checksum is: half the copying, and half the bytes for the disk.
//!
//! A folder of a feed appears and vanishes only after the entry that says so is durable, in both
//! durabilities. So at a start a feed's folder that the state does not know is either one that a
//! deletion left half removed (its id was given before) or not ours to touch (then the start is refused).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;

use crate::disk::{Disk, OpenMode};
use crate::model::{Entry, FeedId, Lsn, TailWrite, codec};

use directory::{Directory, changes_folders};
use journal::{Journal, Spares};
use manifest::Manifests;
use shelf::Shelf;

mod aborted;
mod bodies;
mod chunks;
mod commits;
mod directory;
mod dirty;
mod doomed;
mod ends;
mod error;
mod feed;
mod handles;
mod index;
mod indexed;
pub mod inspect;
pub mod journal;
mod log;
mod manifest;
mod markers;
mod meta;
mod records;
mod recovery;
mod row;
mod rows;
mod runs;
mod segment;
mod shelf;
mod single;
mod span;
mod streams;
mod stretches;
mod tail;
#[cfg(test)]
mod tests;

pub use aborted::Aborted;
pub use commits::Commits;
pub use directory::WriteError;
pub use error::{FileError, ReadError, StoreError};
pub use feed::{FeedFiles, PartitionFiles};
pub use handles::{Handles, OpenFile, Slot};
pub use journal::Durability;
pub use log::{LogSlice, RecordTime};
pub use manifest::{read_whole, write_whole};
pub use meta::{Meta, MetaError};
pub use recovery::{Opened, Report};
pub use runs::Runs;
pub use segment::Segment;
pub use streams::Streams;

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    pub durability: Durability,
    pub node_id: i32,
    /// Refuse the data of any other cluster; a new folder gets this id, or a random one.
    pub cluster_id: Option<String>,
    /// Size of a journal file.
    pub journal_file_bytes: u64,
    /// About how many files may be open at a time.
    pub num_open_files_max: usize,
    /// The index of a growing segment is stored each time it covers so many bytes more.
    pub index_save_bytes: u64,
    /// With durability `os`, batches of at least so many bytes are left out of the journal, whose entries name their
    /// place in a segment instead.
    pub apart_bytes_min: usize,
    /// Size of the files that runs, commits and stream events are kept in, a multiple of 32. It is part of the format: only
    /// tests have another one.
    pub chunk_bytes: u64,
    /// The half of the journal's generations that clients cannot guess; random when none is given.
    pub journal_salt: Option<u32>,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            durability: Durability::Fsync,
            node_id: 1,
            cluster_id: None,
            journal_file_bytes: journal::FILE_BYTES_DEFAULT,
            num_open_files_max: 512,
            index_save_bytes: 1 << 20,
            apart_bytes_min: 1 << 10,
            chunk_bytes: 1 << 20,
            journal_salt: None,
        }
    }
}

/// An open data folder.
pub struct Store {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    durability: Durability,
    apart_bytes_min: usize,
    meta: Meta,
    shelf: Arc<Shelf>,
    directory: Directory,
    manifests: Manifests,
    journal: Mutex<Journal>,
    spares: Spares,
    /// Held by the one checkpoint that runs.
    checkpoint: Mutex<()>,
    poisoned: OnceLock<String>,
    _lock: Box<dyn Send + Sync>,
}

impl Store {
    /// Whose data this is.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The files of a feed. Readers use them beside the writer.
    pub fn feed(&self, feed: FeedId) -> Option<Arc<FeedFiles>> {
        self.directory.feed(feed)
    }

    /// How many files are open now, the journal's aside.
    pub fn num_open_files(&self) -> usize {
        self.shelf.handles.num_open()
    }

    /// Bytes that may still be written to the disk.
    pub fn free_bytes(&self) -> Result<u64, FileError> {
        self.disk.free_bytes(&self.dir).map_err(FileError::io(&self.dir))
    }

    /// Size of the volume that holds the data folder.
    pub fn total_bytes(&self) -> Result<u64, FileError> {
        self.disk.total_bytes(&self.dir).map_err(FileError::io(&self.dir))
    }

    /// Writes a group: its entries to the journal as one frame, and what they put into the tail files. When this
    /// returns the group may be acknowledged: it survives a power loss (`fsync`) or a crash of the process (`os`).
    /// After an error the store takes nothing more, and the process must stop. Returns how many bytes went to the journal.
    pub fn write_group(&self, first: Lsn, entries: &[Entry], writes: &[TailWrite]) -> Result<u64, StoreError> {
        self.check_whole()?;
        let outcome = if writes.iter().any(changes_folders) {
            self.write_folders(first, entries, writes)
        } else {
            match self.durability {
                Durability::Fsync => self.write_synced(first, entries, writes),
                Durability::Os => self.write_apart(first, entries, writes),
            }
        };
        self.poison_on_error(outcome)
    }

    /// Everything that the entries below `lsn` wrote to tail files is made durable, then `state`, which is the state at
    /// `lsn`, replaces the journal up to there. Runs beside writers; they wait only while the journal is trimmed. Every
    /// group with an entry below `lsn` must have been written before.
    pub fn checkpoint(&self, state: &Bytes, lsn: Lsn) -> Result<(), StoreError> {
        let _only = lock(&self.checkpoint);
        self.check_whole()?;
        let secured = self.secure_tails(lsn);
        self.poison_on_error(secured)?;
        // An error from here to the trim (no space) leaves things as they are: the next checkpoint starts over.
        self.shelf.tidy_indexes()?;
        let oldest = self.manifests.write(lsn, state)?;
        let trimmed = self.journal().and_then(|mut journal| Ok(journal.trim(oldest)?));
        self.poison_on_error(trimmed)?;
        self.directory.remove_doomed(oldest);
        self.prepare_spare()
    }

    /// True when files of deleted history wait for a checkpoint to be removed.
    pub fn has_doomed(&self) -> bool {
        self.directory.has_doomed()
    }

    /// Makes sure that the next journal file need not be written while a group waits. Takes as long as writing one takes.
    pub fn prepare_spare(&self) -> Result<(), StoreError> {
        self.spares.prepare()?;
        Ok(())
    }

    /// The journal comes to rest: damage to its last group can then be told from one that was never whole.
    pub fn mark_idle(&self) -> Result<(), StoreError> {
        self.check_whole()?;
        let marked = self.mark_idle_if_still();
        self.poison_on_error(marked)
    }

    fn mark_idle_if_still(&self) -> Result<(), StoreError> {
        let end = self.journal()?.next();
        if self.durability == Durability::Os {
            // The mark says that all is durable, the batches that stand apart included.
            self.shelf.dirty.sync(&*self.disk)?;
        }
        let mut journal = self.journal()?;
        if journal.next() == end {
            journal.mark_idle()?;
        }
        Ok(())
    }

    fn write_synced(&self, first: Lsn, entries: &[Entry], writes: &[TailWrite]) -> Result<u64, StoreError> {
        let payload = codec::encode_group(entries);
        let end = first.plus(entries.len() as u64);
        let mut journal = self.journal()?;
        journal.append(first, entries.len() as u32, &payload)?;
        self.directory.write(end, writes)?;
        journal.sync()?;
        Ok(bytes_of(&payload))
    }

    /// A crash of the process leaves the page cache, so a batch need not be written twice: the segment has it before the
    /// journal says so. A power loss may take one and leave the other: the journal then ends there.
    fn write_apart(&self, first: Lsn, entries: &[Entry], writes: &[TailWrite]) -> Result<u64, StoreError> {
        let payload = codec::encode_group_apart(entries, writes, self.apart_bytes_min);
        let end = first.plus(entries.len() as u64);
        let mut journal = self.journal()?;
        self.directory.write(end, writes)?;
        journal.append(first, entries.len() as u32, &payload)?;
        Ok(bytes_of(&payload))
    }

    /// Folders change only after their entry, and all that comes before it, is durable.
    fn write_folders(&self, first: Lsn, entries: &[Entry], writes: &[TailWrite]) -> Result<u64, StoreError> {
        let payload = codec::encode_group(entries);
        let end = first.plus(entries.len() as u64);
        let mut journal = self.journal()?;
        if self.durability == Durability::Os {
            self.shelf.dirty.sync(&*self.disk)?;
        }
        journal.append(first, entries.len() as u32, &payload)?;
        journal.sync()?;
        self.directory.write(end, writes)?;
        Ok(bytes_of(&payload))
    }

    fn secure_tails(&self, lsn: Lsn) -> Result<(), StoreError> {
        self.shelf.dirty.sync(&*self.disk)?;
        if self.durability == Durability::Os {
            // A manifest must not be ahead of the journal: the next start would miss entries between the two.
            self.sync_journal_files()?;
        }
        let mut journal = self.journal()?;
        assert!(lsn <= journal.next(), "a checkpoint at {lsn} while the journal ends at {}", journal.next());
        if journal.synced() < lsn {
            match self.durability {
                Durability::Fsync => journal.sync()?,
                // Groups written since the tails were synced rest on segments that are not.
                Durability::Os => journal.sync_to(lsn)?,
            }
        }
        Ok(())
    }

    /// Brings the journal's bytes to the disk beside the writer, so that the sync that makes it wait finds little left.
    fn sync_journal_files(&self) -> Result<(), FileError> {
        let folder = self.dir.join(recovery::JOURNAL_FOLDER);
        for name in self.disk.list(&folder).map_err(FileError::io(&folder))? {
            let path = folder.join(&name);
            // Only a checkpoint recycles files, and this is the one that runs.
            if name.ends_with(".journal") {
                let file = self.disk.open(&path, OpenMode::Write).map_err(FileError::io(&path))?;
                file.sync_data().map_err(FileError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Refused after a panic inside the journal: what it left half done must not be built upon.
    fn journal(&self) -> Result<MutexGuard<'_, Journal>, StoreError> {
        let because = || "a panic while the journal was written".to_owned();
        self.journal.lock().map_err(|_| StoreError::Poisoned { because: because() })
    }

    fn check_whole(&self) -> Result<(), StoreError> {
        match self.poisoned.get() {
            Some(because) => Err(StoreError::Poisoned { because: because.clone() }),
            None => Ok(()),
        }
    }

    fn poison_on_error<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &outcome {
            let because = error.to_string();
            tracing::error!(because, "the store takes nothing more");
            // Another error came first: that one stays.
            let _ = self.poisoned.set(because);
        }
        outcome
    }
}

fn bytes_of(parts: &[Bytes]) -> u64 {
    parts.iter().map(|part| part.len() as u64).sum()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
