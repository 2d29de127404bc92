//! A tail file in pieces: one stretch of bytes in files of a fixed size, so that what lies at its front can be removed.
//!
//! The first piece has the plain name, `commits.log`; each other one the position of its first byte behind it,
//! `commits.log.00000000000001048576`. Positions are those of the whole, and stay when pieces are removed.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::{Bytes, BytesMut};

use super::error::FileError;
use super::shelf::Shelf;
use super::span::Source;
use super::tail::TailFile;

/// See the module.
pub struct Chunks {
    shelf: Arc<Shelf>,
    path: PathBuf,
    end: AtomicU64,
    gone: Arc<AtomicBool>,
    /// Those that were used, by number.
    files: RwLock<BTreeMap<u64, Arc<TailFile>>>,
}

impl Chunks {
    /// The pieces of `path` that end at byte `end`; touches nothing.
    pub fn new(shelf: Arc<Shelf>, path: PathBuf, end: u64, gone: Arc<AtomicBool>) -> Chunks {
        Chunks { shelf, path, end: AtomicU64::new(end), gone, files: RwLock::default() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One past the last byte, written though not always synced.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// The feed was deleted.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Where the piece that holds `position` starts.
    pub fn piece_start(&self, position: u64) -> u64 {
        position / self.size() * self.size()
    }

    /// Where the piece that holds `position` ends.
    pub fn piece_end(&self, position: u64) -> u64 {
        (position / self.size() + 1) * self.size()
    }

    /// Appends bytes at `position`, which must be the end.
    pub fn append(&self, position: u64, bytes: &[u8]) -> Result<(), FileError> {
        let end = self.end();
        if position != end {
            return Err(FileError::NotAtEnd { path: self.path.clone(), end, position });
        }
        let (mut at, mut rest) = (position, bytes);
        while !rest.is_empty() {
            let room = (self.piece_end(at) - at) as usize;
            let (piece, more) = rest.split_at(room.min(rest.len()));
            self.file(at / self.size()).append(at % self.size(), &[IoSlice::new(piece)])?;
            (at, rest) = (at + piece.len() as u64, more);
        }
        self.end.store(at, Ordering::Release);
        Ok(())
    }

    /// Puts `bytes` in the place of all that the piece holds from `start` on, as a whole or not at all. What lies in the piece
    /// before `start` is not needed any more. Whoever has read from it keeps what it read.
    pub fn replace_piece(&self, start: u64, bytes: &[u8]) -> Result<(), FileError> {
        let mut piece = vec![0; (start % self.size()) as usize];
        piece.extend_from_slice(bytes);
        self.file(start / self.size()).replace(&piece)
    }

    /// The byte at `position` is not what was written; names the piece that holds it.
    pub fn damaged(&self, position: u64, what: impl Into<String>) -> FileError {
        let start = position / self.size() * self.size();
        FileError::damaged(&path_of(&self.path, start), position - start, what)
    }

    /// Where the pieces begin that are there one after another up to the last; none when there is none. Of deleted ones, a
    /// crash in the midst of it may leave any.
    pub fn first_start(&self) -> Result<Option<u64>, FileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let names = self.shelf.disk.list(folder).map_err(FileError::io(folder))?;
        let mut starts: Vec<u64> = names.iter().filter_map(|name| start_of(&self.path, name)).collect();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        let whole = starts.iter().zip(0..).take_while(|(start, back)| **start + back * self.size() == starts[0]);
        Ok(whole.last().map(|(start, _)| *start))
    }

    /// The bytes `[start, end)`, without a copy if they lie in one piece.
    pub fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        let known = self.end();
        assert!(start <= end && end <= known, "{}: {start}..{end} asked of {known} bytes", self.path.display());
        if start == end {
            return Ok(Bytes::new());
        }
        if end <= self.piece_end(start) {
            return self.slice_of_piece(start, end);
        }
        let mut bytes = BytesMut::with_capacity((end - start) as usize);
        let mut at = start;
        while at < end {
            let stop = self.piece_end(at).min(end);
            bytes.extend_from_slice(&self.slice_of_piece(at, stop)?);
            at = stop;
        }
        Ok(bytes.freeze())
    }

    /// Removes the pieces that lie wholly below `position`; `names` are those of all files in the folder. Returns how many
    /// went.
    pub fn remove_below(&self, position: u64, names: &[String]) -> Result<usize, FileError> {
        let first_kept = position / self.size();
        let mut num_removed = 0;
        for name in names {
            let Some(start) = start_of(&self.path, name).filter(|start| start / self.size() < first_kept) else {
                continue;
            };
            if let Some(file) = self.write().remove(&(start / self.size())) {
                file.retire();
                file.close();
            }
            let path = self.path.with_file_name(name);
            match self.shelf.disk.remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                outcome => outcome.map_err(FileError::io(&path))?,
            }
            num_removed += 1;
        }
        if let Some(folder) = self.path.parent().filter(|_| num_removed > 0) {
            self.shelf.dirty.add_folder(folder.to_owned(), self.gone.clone());
        }
        Ok(num_removed)
    }

    fn slice_of_piece(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        let (number, size) = (start / self.size(), self.size());
        self.file(number).slice(start % size, end - number * size)
    }

    fn size(&self) -> u64 {
        self.shelf.chunk_bytes
    }

    fn file(&self, number: u64) -> Arc<TailFile> {
        let known = self.files.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        known.unwrap_or_else(|| self.write().entry(number).or_insert_with(|| self.open(number)).clone())
    }

    fn open(&self, number: u64) -> Arc<TailFile> {
        let start = number * self.size();
        let end = self.end().saturating_sub(start).min(self.size());
        TailFile::new(self.shelf.clone(), path_of(&self.path, start), end, self.gone.clone())
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<u64, Arc<TailFile>>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Chunks {
    fn path(&self) -> &Path {
        Chunks::path(self)
    }

    fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        Chunks::slice(self, start, end)
    }
}

/// The name of the piece of `path` that starts at byte `start`.
pub fn path_of(path: &Path, start: u64) -> PathBuf {
    if start == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{start:020}"));
    PathBuf::from(name)
}

/// Where the piece of `path` with that file name starts; none if it is no piece of it.
pub fn start_of(path: &Path, name: &str) -> Option<u64> {
    let plain = path.file_name()?.to_str()?;
    match name.strip_prefix(plain)? {
        "" => Some(0),
        suffix => suffix.strip_prefix('.').filter(|digits| digits.len() == 20)?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_known_by_their_names() {
        let path = Path::new("/data/feeds/1/commits.log");
        assert_eq!(path_of(path, 0), path);
        let second = path_of(path, 1 << 20);
        assert_eq!(second, Path::new("/data/feeds/1/commits.log.00000000000001048576"));
        assert_eq!(start_of(path, "commits.log.00000000000001048576"), Some(1 << 20));
        assert_eq!(start_of(path, "commits.log"), Some(0));
        for other in ["commits.index", "commits.log.1", "commits.log.0000000000000104857x", "commits.logs"] {
            assert_eq!(start_of(path, other), None, "{other}");
        }
    }
}
