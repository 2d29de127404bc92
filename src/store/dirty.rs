//! What must be synced before a manifest may say that it is stored: files written and folders with new
//! names since the last checkpoint.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::Disk;

use super::error::FileError;
use super::tail::TailFile;

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

    /// Syncs all that is marked now. What is written while this runs is marked again, for the next checkpoint.
    pub fn sync(&self, disk: &dyn Disk) -> Result<(), FileError> {
        let marks = std::mem::take(&mut *self.marks.lock().unwrap_or_else(PoisonError::into_inner));
        for file in &marks.files {
            file.dirty.store(false, Ordering::Release);
            file.sync()?;
        }
        for (folder, gone) in &marks.folders {
            match disk.sync_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && gone.load(Ordering::Acquire) => (),
                outcome => outcome.map_err(FileError::io(folder))?,
            }
        }
        Ok(())
    }
}
