//! Reading a run from front to back.

use super::super::entry::{ENTRY_BYTES, Entry};
use super::super::page::{HEAD_BYTES, PAGE_BYTES};
use super::{PAGE_ENTRIES, Run};
use crate::store::FileError;

/// Pages read at once.
const BUFFER_PAGES: u64 = 32;

/// See the module.
pub struct Reader<'a> {
    run: &'a Run,
    buffer: Vec<u8>,
    /// The first page in the buffer.
    first_page: u64,
    /// The number of the next entry.
    next: u64,
}

impl<'a> Reader<'a> {
    pub fn new(run: &'a Run) -> Reader<'a> {
        Reader { run, buffer: Vec::new(), first_page: 0, next: 0 }
    }

    /// The next entry; none at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, FileError> {
        if self.next == self.run.id.num_entries {
            return Ok(None);
        }
        let (page, index) = (self.next / PAGE_ENTRIES as u64, (self.next % PAGE_ENTRIES as u64) as usize);
        if index == 0 {
            self.load(page)?;
        }
        let start = (page - self.first_page) as usize * PAGE_BYTES;
        let (entries, _) = self.buffer[start + HEAD_BYTES..].as_chunks::<ENTRY_BYTES>();
        self.next += 1;
        Ok(Some(Entry::decode(&entries[index])))
    }

    /// Sees to it that the page is in the buffer, and sound.
    fn load(&mut self, page: u64) -> Result<(), FileError> {
        let end = self.first_page + (self.buffer.len() / PAGE_BYTES) as u64;
        if page >= end {
            let num_pages = BUFFER_PAGES.min(self.run.id.num_pages() - page);
            self.buffer.resize(num_pages as usize * PAGE_BYTES, 0);
            let (path, open) = (&self.run.file.path, self.run.file.open()?);
            let read = open.file.read_at(&mut self.buffer, page * PAGE_BYTES as u64).map_err(FileError::io(path))?;
            self.buffer.truncate(read);
            self.first_page = page;
        }
        let start = (page - self.first_page) as usize * PAGE_BYTES;
        let bytes = self.buffer.get(start..start + PAGE_BYTES).unwrap_or_default();
        self.run.check(bytes, page).map(drop)
    }
}
