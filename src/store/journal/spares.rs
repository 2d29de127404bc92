//! Spare files: already written ones, so that starting a file costs the writer a header and a name.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::JournalError;
use super::files::NamedFile;
use super::header::FileHeader;
use crate::disk::{Disk, DiskFile, OpenMode};

/// Spares that are kept; further ones give their room back.
const SPARES_MAX: usize = 4;

/// A spare is written in pieces, each synced, so that no large backlog stands in the way of the writer's sync.
const PIECE_BYTES: u64 = 1 << 20;

/// A file made while the writer waits is written over first if it is no larger than this: syncing into room that was only
/// reserved takes several times longer, because the file system has to note each first write.
pub(super) const WRITTEN_BYTES: u64 = 4 << 20;

/// The spare files of a journal. Clones share them, and work beside the writer.
#[derive(Clone)]
pub struct Spares {
    shared: Arc<Shared>,
}

struct Shared {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    file_bytes: u64,
    /// Their names are durable.
    ready: Mutex<Vec<PathBuf>>,
    num_made: AtomicU64,
}

impl Spares {
    /// Takes over the spares that are there; those of another size are removed.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        file_bytes: u64,
        found: Vec<PathBuf>,
    ) -> Result<Spares, JournalError> {
        let mut ready = Vec::new();
        for path in found {
            let file = disk.open(&path, OpenMode::Read).map_err(JournalError::io("open", &path))?;
            if file.size().map_err(JournalError::io("read", &path))? == file_bytes && ready.len() < SPARES_MAX {
                ready.push(path);
            } else {
                disk.remove_file(&path).map_err(JournalError::io("remove", &path))?;
            }
        }
        let ready = Mutex::new(ready);
        let num_made = AtomicU64::new(0);
        Ok(Spares { shared: Arc::new(Shared { disk, dir: dir.to_owned(), file_bytes, ready, num_made }) })
    }

    /// True when the next file would have to be made while the writer waits.
    pub fn wanted(&self) -> bool {
        self.ready().is_empty()
    }

    /// Writes a spare unless one is ready; true when it did. Takes as long as writing a file takes.
    /// An error (no space) harms nothing.
    pub fn prepare(&self) -> Result<bool, JournalError> {
        if !self.wanted() {
            return Ok(false);
        }
        let tmp = self.new_name("tmp")?;
        let spare = tmp.with_extension("spare");
        if let Err(error) = self.write_zeros(&tmp) {
            self.discard(&tmp);
            return Err(error);
        }
        let disk = &self.shared.disk;
        disk.rename(&tmp, &spare).map_err(JournalError::io("rename a file to", &spare))?;
        disk.sync_dir(&self.shared.dir).map_err(JournalError::io("sync", &self.shared.dir))?;
        self.ready().push(spare);
        Ok(true)
    }

    /// A file with this header, synced, under a name that is not yet the journal's.
    pub(super) fn with_header(&self, header: &FileHeader) -> Result<PathBuf, JournalError> {
        let path = match self.take(header.size) {
            Some(path) => path,
            None => self.new_name("tmp")?,
        };
        match self.write_header(&path, header) {
            Ok(()) => Ok(path),
            Err(error) => {
                self.discard(&path);
                Err(error)
            }
        }
    }

    /// Files that the journal has no use for become spares, or go.
    pub(super) fn take_in(&self, files: Vec<NamedFile>) -> Result<(), JournalError> {
        let disk = &self.shared.disk;
        let mut recycled = Vec::new();
        for file in files {
            let spare = file.path.with_extension("spare");
            if self.ready().len() + recycled.len() < SPARES_MAX && self.fits(&file.path)? {
                disk.rename(&file.path, &spare).map_err(JournalError::io("rename a file to", &spare))?;
                recycled.push(spare);
            } else {
                disk.remove_file(&file.path).map_err(JournalError::io("remove", &file.path))?;
            }
        }
        // A recycled file gets another header: never while its old name may still come back.
        disk.sync_dir(&self.shared.dir).map_err(JournalError::io("sync", &self.shared.dir))?;
        self.ready().append(&mut recycled);
        Ok(())
    }

    fn take(&self, size: u64) -> Option<PathBuf> {
        if size == self.shared.file_bytes { self.ready().pop() } else { None }
    }

    fn fits(&self, path: &Path) -> Result<bool, JournalError> {
        let file = self.shared.disk.open(path, OpenMode::Read).map_err(JournalError::io("open", path))?;
        Ok(file.size().map_err(JournalError::io("read", path))? == self.shared.file_bytes)
    }

    fn write_header(&self, path: &Path, header: &FileHeader) -> Result<(), JournalError> {
        let file = self.shared.disk.open(path, OpenMode::Create).map_err(JournalError::io("create", path))?;
        if file.size().map_err(JournalError::io("read", path))? != header.size {
            file.allocate(header.size).map_err(JournalError::io("reserve room for", path))?;
            if header.size <= WRITTEN_BYTES {
                let zeros = vec![0; header.size as usize];
                file.write_all_at(&zeros, 0).map_err(JournalError::io("write", path))?;
            }
            file.set_size(header.size).map_err(JournalError::io("set the size of", path))?;
        }
        file.write_all_at(&header.encode(), 0).map_err(JournalError::io("write", path))?;
        file.sync_data().map_err(JournalError::io("sync", path))
    }

    fn write_zeros(&self, path: &Path) -> Result<(), JournalError> {
        let file = self.shared.disk.open(path, OpenMode::Create).map_err(JournalError::io("create", path))?;
        let size = self.shared.file_bytes;
        file.allocate(size).map_err(JournalError::io("reserve room for", path))?;
        let zeros = vec![0; PIECE_BYTES.min(size) as usize];
        for at in (0..size).step_by(PIECE_BYTES as usize) {
            self.write_piece(&*file, &zeros[..(size - at).min(PIECE_BYTES) as usize], at)
                .map_err(JournalError::io("write", path))?;
        }
        Ok(())
    }

    fn write_piece(&self, file: &dyn DiskFile, zeros: &[u8], at: u64) -> std::io::Result<()> {
        file.write_all_at(zeros, at)?;
        file.sync_data()
    }

    /// A name that no file has.
    fn new_name(&self, extension: &str) -> Result<PathBuf, JournalError> {
        loop {
            let number = self.shared.num_made.fetch_add(1, Ordering::Relaxed);
            let path = self.shared.dir.join(format!("new-{number}.{extension}"));
            let spare = path.with_extension("spare");
            let there = self.shared.disk.exists(&path).and_then(|there| Ok(there || self.shared.disk.exists(&spare)?));
            if !there.map_err(JournalError::io("look for", &path))? {
                return Ok(path);
            }
        }
    }

    /// Removes a file that could not be made. If that fails too, the next start removes it.
    fn discard(&self, path: &Path) {
        if let Err(error) = self.shared.disk.remove_file(path) {
            tracing::warn!(file = %path.display(), %error, "a useless journal spare could not be removed");
        }
    }

    fn ready(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // Pushes and pops only: a panic elsewhere leaves the list whole.
        self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
