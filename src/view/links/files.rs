//! The folder that holds a feed's index, and how its files are opened.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::{Disk, OpenMode, waiting};
use crate::store::{FileError, Handles, OpenFile, Slot};

/// See the module.
#[derive(Clone)]
pub struct Files {
    pub disk: Arc<dyn Disk>,
    pub handles: Arc<Handles>,
    pub folder: PathBuf,
}

/// One file of the folder, open or closed.
pub struct IndexFile {
    files: Files,
    pub path: PathBuf,
    slot: Arc<Slot>,
}

impl Files {
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file of that name; touches nothing.
    pub fn file(&self, name: &str) -> IndexFile {
        IndexFile { files: self.clone(), path: self.path(name), slot: Arc::default() }
    }

    /// The names in the folder; none when there is no folder.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        match self.disk.list(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names.map_err(FileError::io(&self.folder)),
        }
    }

    /// Removes a file, which may be gone already.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path(name);
        match self.disk.remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(FileError::io(&path)),
        }
    }

    /// Makes the names in the folder durable.
    pub fn sync_names(&self) -> Result<(), FileError> {
        self.disk.sync_dir(&self.folder).map_err(FileError::io(&self.folder))
    }
}

impl IndexFile {
    /// The file, made if it is missing.
    pub fn create(&self) -> Result<Arc<OpenFile>, FileError> {
        self.open_as(OpenMode::Create)
    }

    /// The file, which is there.
    pub fn open(&self) -> Result<Arc<OpenFile>, FileError> {
        self.open_as(OpenMode::Write)
    }

    fn open_as(&self, mode: OpenMode) -> Result<Arc<OpenFile>, FileError> {
        self.files.handles.get(&self.slot, || {
            waiting::ask().map_err(FileError::io(&self.path))?;
            self.files.disk.open(&self.path, mode).map_err(FileError::io(&self.path))
        })
    }

    pub fn size(&self) -> Result<u64, FileError> {
        self.open()?.file.size().map_err(FileError::io(&self.path))
    }

    pub fn sync(&self) -> Result<(), FileError> {
        self.open()?.file.sync_data().map_err(FileError::io(&self.path))
    }

    /// Lets go of the open file; whoever reads from it is not disturbed.
    pub fn close(&self) {
        self.slot.close();
    }
}
