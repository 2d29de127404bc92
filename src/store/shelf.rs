//! What all stored files share: the disk, the open files, what is dirty, and the indexes in memory.

use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::Disk;

use super::dirty::Dirty;
use super::error::FileError;
use super::handles::Handles;
use super::segment::Segment;

/// See the module.
pub struct Shelf {
    pub disk: Arc<dyn Disk>,
    pub handles: Handles,
    pub dirty: Dirty,
    /// The index of a growing segment is stored each time it covers so many bytes more.
    pub index_save_bytes: u64,
    loaded: Mutex<Vec<Arc<Segment>>>,
}

impl Shelf {
    pub fn new(disk: Arc<dyn Disk>, num_open_max: usize, index_save_bytes: u64) -> Arc<Shelf> {
        let handles = Handles::new(num_open_max);
        Arc::new(Shelf { disk, handles, dirty: Dirty::default(), index_save_bytes, loaded: Mutex::default() })
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
