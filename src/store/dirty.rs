//! What must be synced before a manifest may say that it is stored: files written and folders with new
//! names since the last checkpoint.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::Disk;

use super::error::FileError;
use super::tail::TailFile;

/// From so many files on, several threads sync.
const MANY: usize = 64;
const THREADS: usize = 16;

/// The set of dirty files and folders.
#[derive(Default)]
pub struct Dirty {
    marks: Mutex<Marks>,
}

#[derive(Default)]
struct Marks {
    files: Vec<Arc<TailFile>>,
    /// With the mark that tells whether the feed was deleted meanwhile.
    folders: BTreeMap<PathBuf, Arc<AtomicBool>>,
}

impl Dirty {
    pub fn add_file(&self, file: Arc<TailFile>) {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).files.push(file);
    }

    pub fn add_folder(&self, folder: PathBuf, gone: Arc<AtomicBool>) {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).folders.insert(folder, gone);
    }

    /// Forgets all that is marked.
    pub fn let_go(&self) {
        *self.marks.lock().unwrap_or_else(PoisonError::into_inner) = Marks::default();
    }

    /// Syncs all that is marked now. What is written while this runs is marked again, for the next checkpoint.
    pub fn sync(&self, disk: &dyn Disk) -> Result<(), FileError> {
        let marks = std::mem::take(&mut *self.marks.lock().unwrap_or_else(PoisonError::into_inner));
        all(&marks.files, |file| {
            file.dirty.store(false, Ordering::Release);
            file.sync()
        })?;
        let folders: Vec<_> = marks.folders.iter().collect();
        all(&folders, |(folder, gone)| match disk.sync_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && gone.load(Ordering::Acquire) => Ok(()),
            outcome => outcome.map_err(FileError::io(folder)),
        })
    }
}

/// Syncs each of `these`; many at a time when there are many. A file system brings the syncs that wait at one time to
/// the disk together: 5,000 small files one after another took 20 s.
fn all<T: Sync>(these: &[T], sync: impl Fn(&T) -> Result<(), FileError> + Sync) -> Result<(), FileError> {
    if these.len() < MANY {
        return these.iter().try_for_each(sync);
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(this) = these.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync(this)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        // Waits for all of them; the first error counts.
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        outcomes.into_iter().try_for_each(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
