//! A sorted run of an index on disk: entries that were in memory, or that a merge made of other runs. Never changed.
//!
//! ```text
//! pages of 127 entries, in the order of their hashes
//! pages of 510 words: the first half of each page's first hash (the fences), then the words of the filter
//! ```
//!
//! Fences and filter are in memory while the run is in use, so that a lookup reads one page, and mostly none if the hash is not
//! there. Pages are read, not mapped: what an index takes of memory stays in its budget.

use super::entry::{ENTRY_BYTES, Entry, Last};
use super::files::{Files, IndexFile};
use super::filter::Filter;
use super::memory::Held;
use super::page::{PAGE_BYTES, ROOM_BYTES, Seal};
use crate::store::FileError;

pub mod merge;
pub mod reader;
pub mod writer;

/// Entries of a page.
pub const PAGE_ENTRIES: usize = ROOM_BYTES / ENTRY_BYTES;
/// Words of a page behind the entries.
pub const PAGE_WORDS: usize = ROOM_BYTES / 8;

/// What tells a run and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId {
    pub letter: u8,
    /// Given once in the life of an index.
    pub number: u64,
    pub num_entries: u64,
    /// None when there was no room for a filter.
    pub num_filter_words: u64,
}

/// See the module.
pub struct Run {
    pub id: RunId,
    file: IndexFile,
    seal: Seal,
    fences: Vec<u64>,
    filter: Option<Filter>,
    held: Held,
}

/// A hash that is looked for, and for which record.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub hash: u128,
    pub record: u32,
}

impl RunId {
    pub fn name(&self) -> String {
        name_of(self.letter, self.number)
    }

    pub fn num_pages(&self) -> u64 {
        self.num_entries.div_ceil(PAGE_ENTRIES as u64)
    }

    fn num_word_pages(&self) -> u64 {
        (self.num_pages() + self.num_filter_words).div_ceil(PAGE_WORDS as u64)
    }

    pub fn num_bytes(&self) -> u64 {
        (self.num_pages() + self.num_word_pages()) * PAGE_BYTES as u64
    }

    fn words_held(&self) -> usize {
        (self.num_pages() + self.num_filter_words) as usize * 8
    }
}

/// The name of a run's file.
pub fn name_of(letter: u8, number: u64) -> String {
    format!("{}-{number:020}.run", char::from(letter).to_ascii_lowercase())
}

/// True for a name that a run may have.
pub fn is_run(name: &str) -> bool {
    name.ends_with(".run")
}

impl Run {
    /// The run as it is stored.
    pub fn open(files: &Files, secret: &[u8; 16], id: RunId, held: Held) -> Result<Run, FileError> {
        let seal = Seal::new(id.letter, secret, id.number);
        let file = files.file(&id.name());
        let size = file.size()?;
        if size != id.num_bytes() {
            return Err(FileError::damaged(&file.path, size, format!("{} bytes of it are known", id.num_bytes())));
        }
        let mut run = Run { id, file, seal, fences: Vec::new(), filter: None, held };
        let mut words = run.read_words()?;
        let filter = words.split_off(id.num_pages() as usize);
        run.fences = words;
        run.filter = (!filter.is_empty()).then(|| Filter::of_words(filter));
        Ok(run)
    }

    /// Bytes of the budget that a run takes.
    pub fn memory_of(id: &RunId) -> usize {
        id.words_held()
    }

    pub fn held(&self) -> usize {
        self.held.bytes()
    }

    pub fn sync(&self) -> Result<(), FileError> {
        self.file.sync()
    }

    pub fn close(&self) {
        self.file.close();
    }

    /// Looks for the hashes, which are in order. Those found are told, the others put into `rest`.
    pub fn find(
        &self,
        wanted: &[Wanted],
        rest: &mut Vec<Wanted>,
        mut found: impl FnMut(u32, Last),
    ) -> Result<(), FileError> {
        let mut page = Page { bytes: vec![0; PAGE_BYTES], number: u64::MAX };
        for one in wanted {
            match self.find_one(one.hash, &mut page)? {
                Some(last) => found(one.record, last),
                None => rest.push(*one),
            }
        }
        Ok(())
    }

    fn find_one(&self, hash: u128, page: &mut Page) -> Result<Option<Last>, FileError> {
        if self.filter.as_ref().is_some_and(|filter| !filter.may_hold(hash)) {
            return Ok(None);
        }
        let fence = (hash >> 64) as u64;
        let mut number = self.fences.partition_point(|first| *first <= fence);
        // Hashes with one first half may begin in the page before the one that begins with it.
        while number > 0 {
            number -= 1;
            self.load(page, number as u64)?;
            let entry = search(self.rows(page)?, hash);
            if entry.is_some() || self.fences[number] < fence {
                return Ok(entry);
            }
        }
        Ok(None)
    }

    fn load(&self, page: &mut Page, number: u64) -> Result<(), FileError> {
        if page.number != number {
            page.number = u64::MAX;
            let open = self.file.open()?;
            let at = number * PAGE_BYTES as u64;
            let read = open.file.read_at(&mut page.bytes, at).map_err(FileError::io(&self.file.path))?;
            self.check(&page.bytes[..read], number)?;
            page.number = number;
        }
        Ok(())
    }

    fn rows<'a>(&self, page: &'a Page) -> Result<&'a [[u8; ENTRY_BYTES]], FileError> {
        let first = page.number * PAGE_ENTRIES as u64;
        let num = (self.id.num_entries - first).min(PAGE_ENTRIES as u64) as usize;
        let (entries, _) = page.bytes[PAGE_BYTES - ROOM_BYTES..].as_chunks();
        Ok(&entries[..num])
    }

    fn check<'a>(&self, page: &'a [u8], number: u64) -> Result<&'a [u8], FileError> {
        match self.seal.rows(page, number) {
            Ok((_, rows)) => Ok(rows),
            Err(flaw) => {
                let what = format!("page {number}: {flaw}");
                Err(FileError::damaged(&self.file.path, number * PAGE_BYTES as u64, what))
            }
        }
    }

    fn read_words(&self) -> Result<Vec<u64>, FileError> {
        let num = self.id.words_held() / 8;
        let mut words = Vec::with_capacity(num);
        let open = self.file.open()?;
        let mut page = vec![0; PAGE_BYTES];
        for number in self.id.num_pages()..self.id.num_pages() + self.id.num_word_pages() {
            let at = number * PAGE_BYTES as u64;
            let read = open.file.read_at(&mut page, at).map_err(FileError::io(&self.file.path))?;
            let (stored, _) = self.check(&page[..read], number)?.as_chunks();
            words.extend(stored.iter().take(num - words.len()).map(|word| u64::from_be_bytes(*word)));
        }
        Ok(words)
    }
}

/// The page that was read last.
struct Page {
    bytes: Vec<u8>,
    number: u64,
}

fn search(entries: &[[u8; ENTRY_BYTES]], hash: u128) -> Option<Last> {
    let at = entries.binary_search_by(|entry| Entry::decode(entry).hash.cmp(&hash)).ok()?;
    Some(Entry::decode(&entries[at]).last)
}
