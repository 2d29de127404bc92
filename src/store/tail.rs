//! A tail file: append-only, its end known from the state, its tail rewritten by replay.
//!
//! Bytes past the known end come from a group that a crash took back. They are cut when the file is first opened, or
//! after the replay that opened it; nobody reads them until then. A file shorter than its known end has lost stored bytes.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;

use crate::disk::{DiskFile, OpenMode, waiting};

use super::error::FileError;
use super::handles::{OpenFile, Slot};
use super::manifest::write_whole;
use super::shelf::Shelf;

/// The end of a file that was complete before the last checkpoint: whatever its size says.
pub const WHOLE: u64 = u64::MAX;

/// So many of the bytes written last are surely in memory still.
const FRESH_BYTES: u64 = 4 << 20;

/// See the module.
pub struct TailFile {
    shelf: Arc<Shelf>,
    path: PathBuf,
    slot: Arc<Slot>,
    end: AtomicU64,
    /// Where this process began to write; past all bytes if it has not.
    written_from: AtomicU64,
    /// The file's size was held against the known end.
    settled: AtomicBool,
    pub(super) dirty: AtomicBool,
    /// The file belongs to a deleted feed.
    gone: Arc<AtomicBool>,
    /// The file is not needed any more and may have been removed.
    retired: AtomicBool,
}

impl TailFile {
    /// The file at `path` that holds `end` bytes; touches nothing.
    pub fn new(shelf: Arc<Shelf>, path: PathBuf, end: u64, gone: Arc<AtomicBool>) -> Arc<TailFile> {
        Arc::new(TailFile {
            shelf,
            path,
            slot: Arc::default(),
            end: AtomicU64::new(end),
            written_from: AtomicU64::new(u64::MAX),
            settled: AtomicBool::new(false),
            dirty: AtomicBool::new(false),
            gone,
            retired: AtomicBool::new(false),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One past the last byte, written though not always synced.
    pub fn end(self: &Arc<Self>) -> Result<u64, FileError> {
        if self.end.load(Ordering::Acquire) == WHOLE {
            self.open()?;
        }
        Ok(self.end.load(Ordering::Acquire))
    }

    /// The feed was deleted, or this part of it: then the file may be missing.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) || self.retired.load(Ordering::Acquire)
    }

    /// From here on it is no error when the file is missing.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    /// Lets go of the open file; readers that hold it or bytes of it are not disturbed.
    pub fn close(&self) {
        self.slot.close();
    }

    /// Appends the parts at `position`, which must be the end.
    pub fn append(self: &Arc<Self>, position: u64, parts: &[IoSlice<'_>]) -> Result<(), FileError> {
        let end = self.end()?;
        if position != end {
            return Err(FileError::NotAtEnd { path: self.path.clone(), end, position });
        }
        let open = self.open_for_write()?;
        open.file.write_all_vectored_at(parts, position).map_err(FileError::io(&self.path))?;
        self.written_from.fetch_min(position, Ordering::AcqRel);
        let written: usize = parts.iter().map(|part| part.len()).sum();
        self.end.store(position + written as u64, Ordering::Release);
        self.mark_dirty();
        if position == 0 {
            self.mark_names_dirty();
        }
        Ok(())
    }

    /// True when what stands from `position` on was written by this process, and so is what it was meant to be.
    pub fn is_own(&self, position: u64) -> bool {
        position >= self.written_from.load(Ordering::Acquire)
    }

    /// The bytes `[start, end)`, without a copy on a real disk. They must lie below the file's end.
    pub fn slice(self: &Arc<Self>, start: u64, end: u64) -> Result<Bytes, FileError> {
        let known = self.end()?;
        assert!(start <= end && end <= known, "{}: {start}..{end} asked of {known} bytes", self.path.display());
        if start == end {
            return Ok(Bytes::new());
        }
        let fresh = self.is_own(start) && known - start <= FRESH_BYTES;
        self.open()?.slice(start, end, fresh).map_err(FileError::io(&self.path))
    }

    /// Puts `bytes` in the place of all that the file holds, whole or not at all. They end where the file is known to end.
    /// Whoever has a map of what was there keeps it.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        let end = self.end.load(Ordering::Acquire);
        assert_eq!(bytes.len() as u64, end, "{} is replaced by another length", self.path.display());
        write_whole(&*self.shelf.disk, &self.path, bytes)?;
        self.slot.close();
        Ok(())
    }

    /// Holds the file's size against its known end, and cuts what lies past it.
    pub fn settle(self: &Arc<Self>) -> Result<(), FileError> {
        let untouched = self.end.load(Ordering::Acquire) == 0;
        if untouched && !self.shelf.disk.exists(&self.path).map_err(FileError::io(&self.path))? {
            return Ok(());
        }
        self.open().map(drop)
    }

    /// Makes everything written so far durable; the file's name needs its folder synced as well.
    pub fn sync(self: &Arc<Self>) -> Result<(), FileError> {
        match self.open().and_then(|open| open.file.sync_data().map_err(FileError::io(&self.path))) {
            Err(error) if error.is_absence() && self.is_gone() => Ok(()),
            outcome => outcome,
        }
    }

    fn open(self: &Arc<Self>) -> Result<Arc<OpenFile>, FileError> {
        self.open_as(OpenMode::Write)
    }

    fn open_for_write(self: &Arc<Self>) -> Result<Arc<OpenFile>, FileError> {
        let new = self.end.load(Ordering::Acquire) == 0;
        self.open_as(if new { OpenMode::Create } else { OpenMode::Write })
    }

    fn open_as(self: &Arc<Self>, mode: OpenMode) -> Result<Arc<OpenFile>, FileError> {
        self.shelf.handles.get(&self.slot, || {
            if !self.settled.load(Ordering::Acquire) {
                // For the first time; later the disk need not be read to open it.
                waiting::ask().map_err(FileError::io(&self.path))?;
            }
            let file = match self.shelf.disk.open(&self.path, mode) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.missing()),
                Err(source) => return Err(FileError::Io { path: self.path.clone(), source }),
            };
            if !self.settled.load(Ordering::Acquire) {
                self.settle_open(&*file)?;
                self.settled.store(true, Ordering::Release);
            }
            Ok(file)
        })
    }

    fn settle_open(self: &Arc<Self>, file: &dyn DiskFile) -> Result<(), FileError> {
        let size = file.size().map_err(FileError::io(&self.path))?;
        let expected = self.end.load(Ordering::Acquire);
        if expected == WHOLE {
            self.end.store(size, Ordering::Release);
            return Ok(());
        }
        if size < expected {
            return Err(FileError::Short { path: self.path.clone(), size, expected });
        }
        if size > expected && self.shelf.is_replaying() {
            self.shelf.add_uncut(self.clone());
        } else if size > expected {
            file.set_size(expected).map_err(FileError::io(&self.path))?;
            // The cut must be durable before the file can become a sealed one, of which only the size tells the end.
            self.mark_dirty();
        }
        Ok(())
    }

    /// Cuts what the replay left past the end.
    pub fn cut(self: &Arc<Self>) -> Result<(), FileError> {
        if self.is_gone() {
            return Ok(());
        }
        let open = self.open()?;
        let end = self.end.load(Ordering::Acquire);
        if open.file.size().map_err(FileError::io(&self.path))? > end {
            open.file.set_size(end).map_err(FileError::io(&self.path))?;
            self.mark_dirty();
        }
        Ok(())
    }

    fn missing(&self) -> FileError {
        let end = self.end.load(Ordering::Acquire);
        FileError::Missing { path: self.path.clone(), expected: if end == WHOLE { 1 } else { end } }
    }

    /// The file's name, and its folder's, may be new. Even if the file was there already: a crash may have left it
    /// without making its name durable.
    fn mark_names_dirty(&self) {
        for folder in self.path.ancestors().skip(1).take(2) {
            self.shelf.dirty.add_folder(folder.to_owned(), self.gone.clone());
        }
    }

    /// After the write, never before: a checkpoint between the two would clear the mark without syncing the write.
    fn mark_dirty(self: &Arc<Self>) {
        if !self.dirty.swap(true, Ordering::AcqRel) {
            self.shelf.dirty.add_file(self.clone());
        }
    }
}
