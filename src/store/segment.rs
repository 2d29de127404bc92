//! One segment: a file of record batches, byte for byte in Kafka's format, with its sparse index.
//!
//! The checksum of a batch is verified when it is produced, once in the life of a process when a batch that an earlier one
//! wrote is first read (see `sound`), and by `inspect`; not at each read, which would cost a pass over the bytes.

mod sound;

use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use crate::disk::{OpenMode, waiting};
use crate::model::{Offset, Timestamp};

use super::error::FileError;
use super::index::Index;
use super::shelf::Shelf;
use super::span::{Span, Walk};
use super::stretches::Stretches;
use super::tail::TailFile;

/// See the module.
pub struct Segment {
    pub base: Offset,
    file: Arc<TailFile>,
    shelf: Arc<Shelf>,
    index_path: PathBuf,
    /// None until first asked for, and again after an idle while.
    index: RwLock<Option<Index>>,
    /// What was verified.
    sound: Stretches,
    /// Bytes that the stored index covers, as far as known.
    saved: AtomicU64,
    /// Written to since the last upkeep.
    busy: AtomicBool,
    /// No longer the partition's last segment.
    sealed: AtomicBool,
    /// Among the segments that the next upkeep visits.
    loaded: AtomicBool,
}

/// A batch to be written, as the state placed it.
pub struct Placed {
    pub base_offset: Offset,
    pub end_offset: Offset,
    pub max_timestamp: Timestamp,
    /// The first 16 bytes: base offset, length, leader epoch.
    pub head: [u8; 16],
    pub batch: Bytes,
}

impl Segment {
    /// The segment in `<stem>.log` and `<stem>.index` of `file`'s folder.
    pub fn new(shelf: Arc<Shelf>, base: Offset, file: Arc<TailFile>) -> Arc<Segment> {
        let index_path = file.path().with_extension("index");
        Arc::new(Segment {
            base,
            file,
            shelf,
            index_path,
            index: RwLock::new(None),
            sound: Stretches::default(),
            saved: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            sealed: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
        })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// One past the last byte written.
    pub fn end(&self) -> Result<u64, FileError> {
        self.file.end()
    }

    pub fn is_gone(&self) -> bool {
        self.file.is_gone()
    }

    /// Cuts what lies past the known end.
    pub fn settle(&self) -> Result<(), FileError> {
        self.file.settle()
    }

    /// Nothing is appended any more.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    /// Nothing reads it any more, but for whoever has begun to. Its index is not stored again.
    pub fn retire(&self) {
        self.file.retire();
    }

    /// Lets go of the file, which was removed: the disk gets its room back when the last reader is done.
    pub fn close(&self) {
        self.file.close();
    }

    /// Appends the batches with one write.
    pub fn append(self: &Arc<Self>, position: u64, batches: &[Placed]) -> Result<(), FileError> {
        self.load_index()?;
        let mut parts = Vec::with_capacity(batches.len() * 2);
        for placed in batches {
            parts.push(IoSlice::new(&placed.head));
            parts.push(IoSlice::new(&placed.batch[placed.head.len()..]));
        }
        self.file.append(position, &parts)?;
        self.busy.store(true, Ordering::Release);
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // Dropped, or loaded again by a reader who saw the new bytes already: then there is nothing to add.
        if let Some(index) = index.as_mut().filter(|index| index.covered == position) {
            for placed in batches {
                index.add(placed.base_offset, placed.end_offset, placed.max_timestamp, placed.batch.len() as u64);
            }
        }
        Ok(())
    }

    /// The batch that holds `offset`, or the first one after it; none when there is none below `end`.
    pub fn find(self: &Arc<Self>, offset: Offset, end: Offset) -> Result<Option<Span>, FileError> {
        let (start, stop) =
            self.with_index(|index| (index.at_offset(offset).map_or(0, |row| row.position), index.covered))?;
        let mut walk = Walk::new(&self.file, start, stop);
        let mut found = None;
        while let Some(span) = walk.next()? {
            if span.end_offset > offset || span.base_offset >= end {
                found = Some(span);
                break;
            }
        }
        match found.filter(|span| span.end_offset <= end) {
            None => self.check_that_none_is_missed(start, found.map_or(stop, |span| span.end())).map(|()| None),
            found => Ok(found),
        }
    }

    /// The last batch that starts at or after `first`, ends at or below offset `end`, and ends at most `bytes_max` bytes
    /// after `first` starts; `first` itself when no other does.
    pub fn last_within(self: &Arc<Self>, first: Span, end: Offset, bytes_max: u64) -> Result<Span, FileError> {
        let limit = first.position + bytes_max;
        let (row, stop) = self.with_index(|index| (index.at_position(limit, end), index.covered))?;
        let mut last = first;
        let start = row.map_or(0, |row| row.position).max(first.position);
        if start > first.position {
            // The row's batch may itself reach too far; the one before it then is the last. Rows are rare, so walk from
            // the row before unless the row's own batch fits.
            if let Some(span) = Walk::new(&self.file, start, stop).next()?
                && (span.end_offset > end || span.end() > limit)
            {
                return self.last_before(first, start);
            }
        }
        let mut walk = Walk::new(&self.file, start, stop);
        loop {
            match walk.next() {
                Ok(Some(span)) if span.end_offset <= end && span.end() <= limit => last = span,
                // Damage behind what was found is told to whoever comes that far.
                Ok(_) | Err(FileError::Damaged { .. }) => return Ok(last),
                Err(error) => return Err(error),
            }
        }
    }

    /// The batch that ends where the one at `position` starts, not before `first`.
    fn last_before(self: &Arc<Self>, first: Span, position: u64) -> Result<Span, FileError> {
        let row = self.with_index(|index| index.at_position(position - 1, Offset(i64::MAX)))?;
        let mut last = first;
        let mut walk = Walk::new(&self.file, row.map_or(0, |row| row.position).max(first.position), position);
        while let Some(span) = walk.next()? {
            last = span;
        }
        Ok(last)
    }

    /// The first offset of the last batch that starts at or before byte `position`.
    pub fn offset_at(self: &Arc<Self>, position: u64) -> Result<Offset, FileError> {
        let (start, stop) = self.with_index(|index| {
            let row = index.at_position(position, Offset(i64::MAX));
            (row.map_or(0, |row| row.position), index.covered)
        })?;
        let mut offset = self.base;
        let mut walk = Walk::new(&self.file, start, stop);
        while let Some(span) = walk.next()?.filter(|span| span.position <= position) {
            offset = span.base_offset;
        }
        Ok(offset)
    }

    /// The first batch with an offset in `[from, end)` that may hold a record of `time` or later.
    pub fn find_time(self: &Arc<Self>, time: Timestamp, from: Offset, end: Offset) -> Result<Option<Span>, FileError> {
        let found = self.with_index(|index| {
            let start = index.before_time(time).max(index.at_offset(from)).map_or(0, |row| row.position);
            (index.max_timestamp >= time).then_some((start, index.covered))
        })?;
        let Some((start, stop)) = found else { return Ok(None) };
        let mut walk = Walk::new(&self.file, start, stop);
        while let Some(span) = walk.next()? {
            if span.end_offset > end {
                return Ok(None);
            }
            if span.max_timestamp >= time && span.end_offset > from {
                return Ok(Some(span));
            }
        }
        Ok(None)
    }

    /// The greatest timestamp of the batches that end after `from` and below `end`, all of which are looked at.
    pub fn max_timestamp_from(self: &Arc<Self>, from: Offset, end: Offset) -> Result<Option<Timestamp>, FileError> {
        let (start, stop) =
            self.with_index(|index| (index.at_offset(from).map_or(0, |row| row.position), index.covered))?;
        let mut greatest = None;
        let mut walk = Walk::new(&self.file, start, stop);
        while let Some(span) = walk.next()?.filter(|span| span.end_offset <= end) {
            greatest = greatest.max((span.end_offset > from).then_some(span.max_timestamp));
        }
        Ok(greatest)
    }

    /// The greatest timestamp of the batches below `end`.
    pub fn max_timestamp(self: &Arc<Self>, end: Offset) -> Result<Option<Timestamp>, FileError> {
        let (row, stop, next, max) =
            self.with_index(|index| (index.at_offset(end), index.covered, index.next_offset, index.max_timestamp))?;
        if stop == 0 {
            return Ok(None);
        }
        if next <= end {
            return Ok(Some(max));
        }
        let mut greatest = row.map_or(Timestamp(i64::MIN), |row| row.max_before);
        let mut walk = Walk::new(&self.file, row.map_or(0, |row| row.position), stop);
        while let Some(span) = walk.next()?.filter(|span| span.end_offset <= end) {
            greatest = greatest.max(span.max_timestamp);
        }
        Ok(Some(greatest).filter(|greatest| greatest.0 > i64::MIN))
    }

    /// The batches up to byte `end`, where one ends.
    pub fn walk(&self, end: u64) -> Walk<'_, Arc<TailFile>> {
        Walk::new(&self.file, 0, end)
    }

    /// Between two batch boundaries.
    pub fn bytes(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        self.file.slice(start, end)
    }

    /// Between checkpoints: stores the index if that spares the next start much reading, and forgets it when the
    /// segment is idle. True when it is still in memory.
    pub fn tidy_index(self: &Arc<Self>) -> Result<bool, FileError> {
        let busy = self.busy.swap(false, Ordering::AcqRel);
        let sealed = self.sealed.load(Ordering::Acquire);
        let (covered, whole) = self.with_index(|index| (index.covered, !index.is_flawed))?;
        let saved = self.saved.load(Ordering::Acquire);
        if whole && covered > saved && (sealed || covered - saved >= self.shelf.index_save_bytes) {
            self.save_index()?;
        }
        if busy && !sealed {
            return Ok(true);
        }
        let mut place = self.index.write().unwrap_or_else(PoisonError::into_inner);
        *place = None;
        self.loaded.store(false, Ordering::Release);
        Ok(false)
    }

    /// Writes the index beside the segment, whole or not at all.
    fn save_index(self: &Arc<Self>) -> Result<(), FileError> {
        let (bytes, covered) = self.with_index(|index| (index.encode(self.base), index.covered))?;
        let tmp = self.index_path.with_extension("index.tmp");
        let disk = &self.shelf.disk;
        disk.open(&tmp, OpenMode::Create)
            .and_then(|file| {
                file.set_size(0)?;
                file.write_all_at(&bytes, 0)?;
                file.sync_data()
            })
            .and_then(|()| disk.rename(&tmp, &self.index_path))
            .map_err(FileError::io(&tmp))?;
        self.saved.store(covered, Ordering::Release);
        Ok(())
    }

    fn with_index<T>(self: &Arc<Self>, ask: impl FnOnce(&Index) -> T) -> Result<T, FileError> {
        self.load_index()?;
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        match index.as_ref() {
            Some(index) => Ok(ask(index)),
            // Dropped between the two lines, by a checkpoint.
            None => Ok(ask(&self.read_index()?)),
        }
    }

    /// Reads the index without its lock, which readers at work would wait for.
    fn load_index(self: &Arc<Self>) -> Result<(), FileError> {
        while self.index.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            let index = self.read_index()?;
            let mut place = self.index.write().unwrap_or_else(PoisonError::into_inner);
            // Written to since: the writer takes care of what comes after this, so all that came before must be in it.
            if place.is_none() && index.covered == self.file.end()? {
                *place = Some(index);
                if !self.loaded.swap(true, Ordering::AcqRel) {
                    self.shelf.add_loaded(self.clone());
                }
            }
        }
        Ok(())
    }

    /// The stored index, continued by reading the segment from where it ends or, if it is damaged, from the start.
    fn read_index(&self) -> Result<Index, FileError> {
        waiting::ask().map_err(FileError::io(&self.index_path))?;
        let end = self.file.end()?;
        let stored = self.stored_index();
        if stored.as_ref().is_some_and(|stored| stored.covered > end) {
            // Stored before a crash that took bytes back: once the segment has grown again, its rows would look right.
            self.shelf.disk.remove_file(&self.index_path).map_err(FileError::io(&self.index_path))?;
            self.saved.store(0, Ordering::Release);
        }
        let mut index = match stored {
            Some(stored) if stored.covered == end && self.sealed.load(Ordering::Acquire) => return Ok(stored),
            Some(stored) => stored.cut(end, self.base),
            None => Index::new(self.base),
        };
        let mut walk = Walk::new(&self.file, index.covered, end);
        while let Some(span) = walk.next()? {
            if span.base_offset < index.next_offset {
                return Err(
                    self.damaged(span, format!("offset {} where {} is next", span.base_offset, index.next_offset))
                );
            }
            // Whoever reads a damaged batch is told. Its index is not stored, for it rests on the batch's header.
            index.is_flawed |= self.flaw(span)?.is_some();
            index.add(span.base_offset, span.end_offset, span.max_timestamp, span.num_bytes);
        }
        Ok(index)
    }

    fn stored_index(&self) -> Option<Index> {
        let file = self.shelf.disk.open(&self.index_path, OpenMode::Read).ok()?;
        let mut bytes = vec![0; usize::try_from(file.size().ok()?).ok()?];
        let num_read = file.read_at(&mut bytes, 0).ok()?;
        bytes.truncate(num_read);
        let index = Index::decode(&Bytes::from(bytes), self.base).ok()?;
        self.saved.store(index.covered, Ordering::Release);
        Some(index)
    }
}
