//! What all stored files share: the disk, the open files, what is dirty, and the indexes in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::Disk;

use super::dirty::Dirty;
use super::error::FileError;
use super::handles::Handles;
use super::segment::Segment;
use super::tail::TailFile;

/// See the module.
pub struct Shelf {
    pub disk: Arc<dyn Disk>,
    pub handles: Arc<Handles>,
    pub dirty: Dirty,
    /// The index of a growing segment is stored each time it covers so many bytes more.
    pub index_save_bytes: u64,
    /// Size of the pieces of history files; the same for the life of a data folder.
    pub chunk_bytes: u64,
    loaded: Mutex<Vec<Arc<Segment>>>,
    replaying: AtomicBool,
    /// Files opened while the journal is replayed, which may hold more than their known end.
    uncut: Mutex<Vec<Arc<TailFile>>>,
}

impl Shelf {
    pub fn new(disk: Arc<dyn Disk>, num_open_max: usize, index_save_bytes: u64, chunk_bytes: u64) -> Arc<Shelf> {
        let handles = Arc::new(Handles::new(num_open_max));
        Arc::new(Shelf {
            disk,
            handles,
            dirty: Dirty::default(),
            index_save_bytes,
            chunk_bytes,
            loaded: Mutex::default(),
            replaying: AtomicBool::new(false),
            uncut: Mutex::default(),
        })
    }

    /// While the journal is replayed, what lies past the known ends stays: it may be the batches that the journal left
    /// to the segments.
    pub fn begin_replay(&self) {
        self.replaying.store(true, Ordering::Release);
    }

    pub fn is_replaying(&self) -> bool {
        self.replaying.load(Ordering::Acquire)
    }

    /// The known ends are the true ones: what lies past them goes.
    pub fn end_replay(&self) -> Result<(), FileError> {
        self.replaying.store(false, Ordering::Release);
        let uncut = std::mem::take(&mut *self.uncut.lock().unwrap_or_else(PoisonError::into_inner));
        uncut.iter().try_for_each(TailFile::cut)
    }

    /// A file opened during the replay.
    pub fn add_uncut(&self, file: Arc<TailFile>) {
        self.uncut.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    /// Lets go of what is listed here, unsynced as it is. The listed files hold the shelf: a shelf that nobody makes let go
    /// stays in memory for the life of the process, and its files stay open.
    pub fn let_go(&self) {
        self.uncut.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.dirty.let_go();
    }

    /// A segment whose index came into memory.
    pub fn add_loaded(&self, segment: Arc<Segment>) {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(segment);
    }

    /// Stores the indexes that are worth it and forgets those of idle segments.
    pub fn tidy_indexes(&self) -> Result<(), FileError> {
        let visited = std::mem::take(&mut *self.loaded.lock().unwrap_or_else(PoisonError::into_inner));
        for segment in visited.into_iter().filter(|segment| !segment.is_gone()) {
            match segment.tidy_index() {
                Ok(true) => self.add_loaded(segment),
                Ok(false) => (),
                Err(_) if segment.is_gone() => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
