//! Writing a run, entry by entry in the order of their hashes.

use std::sync::Arc;

use super::super::entry::Entry;
use super::super::files::{Files, IndexFile};
use super::super::filter::Filter;
use super::super::memory::{Held, Memory};
use super::super::page::{PAGE_BYTES, ROOM_BYTES, Seal};
use super::{PAGE_ENTRIES, PAGE_WORDS, Run, RunId};
use crate::store::{FileError, OpenFile};

/// Bytes written at once.
const BUFFER_BYTES: usize = 64 * PAGE_BYTES;

/// What a run is written for.
pub struct NewRun<'a> {
    pub files: &'a Files,
    pub secret: &'a [u8; 16],
    pub letter: u8,
    pub number: u64,
    /// There may be fewer.
    pub num_entries_max: u64,
}

/// See the module.
pub struct Writer {
    id: RunId,
    file: IndexFile,
    open: Arc<OpenFile>,
    seal: Seal,
    held: Held,
    fences: Vec<u64>,
    filter: Option<Filter>,
    /// Rows of the page that is being filled.
    rows: Vec<u8>,
    num_pages: u64,
    buffer: Vec<u8>,
    num_written: u64,
}

impl Writer {
    /// Begins a run. Of the budget it takes what its fences need, and what a filter needs if there is so much, in the place of
    /// `instead`.
    pub fn create(new: &NewRun<'_>, memory: &Arc<Memory>, instead: usize) -> Result<Writer, FileError> {
        let (letter, number, num_entries) = (new.letter, new.number, new.num_entries_max);
        let bare = RunId { letter, number, num_entries, num_filter_words: 0 };
        let full = RunId { num_filter_words: Filter::num_words(num_entries) as u64, ..bare };
        let (id, held, filter) = match memory.take(Run::memory_of(&full), instead) {
            Some(held) => (full, held, Some(Filter::new(num_entries))),
            None => (bare, memory.take_needed(Run::memory_of(&bare)), None),
        };
        let file = new.files.file(&id.name());
        let open = file.create()?;
        open.file.set_size(0).map_err(FileError::io(&file.path))?;
        Ok(Writer {
            file,
            open,
            seal: Seal::new(letter, new.secret, number),
            held,
            fences: Vec::with_capacity(bare.num_pages() as usize),
            filter,
            rows: Vec::with_capacity(ROOM_BYTES),
            num_pages: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            num_written: 0,
            id: RunId { num_entries: 0, ..id },
        })
    }

    pub fn push(&mut self, entry: &Entry) -> Result<(), FileError> {
        if self.id.num_entries.is_multiple_of(PAGE_ENTRIES as u64) {
            self.end_page(PAGE_ENTRIES)?;
            self.fences.push((entry.hash >> 64) as u64);
        }
        if let Some(filter) = &mut self.filter {
            filter.add(entry.hash);
        }
        self.rows.extend_from_slice(&entry.encode());
        self.id.num_entries += 1;
        Ok(())
    }

    /// The run, written whole though not synced.
    pub fn finish(mut self) -> Result<Run, FileError> {
        self.end_page((self.id.num_entries % PAGE_ENTRIES as u64) as usize)?;
        let fences = std::mem::take(&mut self.fences);
        let filter = self.filter.take();
        let words = fences.iter().chain(filter.iter().flat_map(|filter| filter.words()));
        for word in words {
            if self.rows.len() == PAGE_WORDS * 8 {
                self.end_page(PAGE_WORDS)?;
            }
            self.rows.extend_from_slice(&word.to_be_bytes());
        }
        self.end_page(self.rows.len() / 8)?;
        self.write()?;
        let (id, file, seal, held) = (self.id, self.file, self.seal, self.held);
        Ok(Run { id, file, seal, fences, filter, held })
    }

    fn end_page(&mut self, num_rows: usize) -> Result<(), FileError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.seal.put_page(&mut self.buffer, self.num_pages, num_rows, &self.rows);
        self.rows.clear();
        self.num_pages += 1;
        if self.buffer.len() >= BUFFER_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), FileError> {
        self.open.file.write_all_at(&self.buffer, self.num_written).map_err(FileError::io(&self.file.path))?;
        self.num_written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
