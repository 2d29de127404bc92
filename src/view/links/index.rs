//! The index of a feed's keys, or of its identities: hash -> the newest record with it. A log-structured one of our own.
//!
//! What was seen lately is in a table in memory; what does not fit, and what a checkpoint must keep, goes to sorted runs. A run
//! is written without being synced, and is used by nobody after a crash unless a checkpoint synced and named it: the index is
//! derived from the history, so it needs no journal. Of runs of about one size four are merged into one, which also drops what
//! lies below the history's start.
//!
//! Why not an embedded store: entries are 32 bytes each, spread evenly by their hash, written by one thread that knows
//! thousands of lookups ahead. So a page is found by its fence without a tree, lookups go through a run in order, and there
//! is nothing to log, compress or share.

use std::sync::Arc;

use super::entry::Last;
use super::files::Files;
use super::hasher::Secret;
use super::memory::Memory;
use super::run::merge::merge;
use super::run::writer::{NewRun, Writer};
use super::run::{Run, RunId, Wanted};
use super::table::Table;
use crate::store::FileError;

/// Runs of about one size that are merged.
const RUNS_MERGED: usize = 4;
/// More of them are never there: each costs a look into its filter.
const RUNS_MAX: usize = 12;
/// Bytes of a run an entry, with all that belongs to it.
const RUN_ENTRY_BYTES: u64 = 48;
/// Entries of a run of the smallest size.
const SMALL_RUN: u64 = 4096;

/// See the module.
pub struct Index {
    letter: u8,
    secret: Secret,
    files: Files,
    memory: Arc<Memory>,
    table: Table,
    /// The newest first.
    runs: Vec<Run>,
    next_run: u64,
    /// Runs below were synced.
    num_synced: u64,
    /// Files of merged runs are there, which the last checkpoint may still name.
    has_merged: bool,
}

impl Index {
    /// An empty one.
    pub fn new(letter: u8, secret: Secret, files: Files, memory: Arc<Memory>) -> Index {
        let table = Table::new(memory.clone());
        Index { letter, secret, files, memory, table, runs: Vec::new(), next_run: 0, num_synced: 0, has_merged: false }
    }

    /// One that a checkpoint described.
    pub fn open(
        letter: u8,
        secret: Secret,
        files: Files,
        memory: Arc<Memory>,
        next_run: u64,
        runs: &[RunId],
    ) -> Result<Index, FileError> {
        let mut index = Index::new(letter, secret, files, memory);
        for id in runs {
            let held = index.memory.take_needed(Run::memory_of(id));
            index.runs.push(Run::open(&index.files, &secret, *id, held)?);
        }
        (index.next_run, index.num_synced) = (next_run, next_run);
        Ok(index)
    }

    /// What the table knows.
    #[inline]
    pub fn get(&self, hash: u128) -> Option<Last> {
        self.table.get(hash)
    }

    /// Looks in the runs for hashes that the table does not have, and tells those that are there.
    pub fn find(&self, mut wanted: Vec<Wanted>, mut found: impl FnMut(u32, Last)) -> Result<(), FileError> {
        if self.runs.is_empty() {
            return Ok(());
        }
        // All else is in this order too, so that each run is gone through once, from front to back.
        wanted.sort_unstable_by_key(|one| one.hash);
        for run in self.runs.iter() {
            let mut rest = Vec::with_capacity(wanted.len());
            run.find(&wanted, &mut rest, &mut found)?;
            wanted = rest;
        }
        Ok(())
    }

    /// Sees to it that `num` entries can be put. What is in the table may go to disk for it.
    pub fn make_room(&mut self, num: usize, is_kept: &dyn Fn(u64) -> bool) -> Result<(), FileError> {
        if !self.table.has_room(num) && !self.table.grow(num) {
            self.flush(is_kept)?;
            self.table.clear(num);
        }
        Ok(())
    }

    /// See [`Table::put`].
    #[inline]
    pub fn put(&mut self, hash: u128, last: Last) {
        self.table.put(hash, last);
    }

    /// Writes what no run holds yet to one. The table keeps it for lookups.
    pub fn flush(&mut self, is_kept: &dyn Fn(u64) -> bool) -> Result<(), FileError> {
        if self.table.num_dirty() == 0 {
            return Ok(());
        }
        let run = self.write_run(self.table.num_dirty() as u64, 0, |writer| {
            self.table.dirty().try_for_each(|entry| writer.push(&entry))
        })?;
        self.next_run += 1;
        self.runs.insert(0, run);
        self.table.mark_clean();
        self.merge_ripe(is_kept)
    }

    /// Gives back the memory of the table, if all that it holds is on disk.
    pub fn rest(&mut self) {
        if self.table.num_dirty() == 0 {
            self.table.shrink();
        }
    }

    /// Makes the runs durable; their names need their folder synced as well.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.runs.iter().filter(|run| run.id.number >= self.num_synced).try_for_each(Run::sync)?;
        self.num_synced = self.next_run;
        Ok(())
    }

    /// The runs there are, and the number of the next one.
    pub fn state(&self) -> (u64, Vec<RunId>) {
        (self.next_run, self.runs.iter().map(|run| run.id).collect())
    }

    /// True once when files of merged runs are there to be removed.
    pub fn take_merged(&mut self) -> bool {
        std::mem::take(&mut self.has_merged)
    }

    /// The next run. Half of one does not stay, least of all on a disk that is full.
    fn write_run(
        &self,
        num_entries_max: u64,
        held: usize,
        fill: impl FnOnce(&mut Writer) -> Result<(), FileError>,
    ) -> Result<Run, FileError> {
        let (files, secret, letter, number) = (&self.files, &self.secret, self.letter, self.next_run);
        let new = NewRun { files, secret, letter, number, num_entries_max };
        let name = RunId { letter, number, num_entries: 0, num_filter_words: 0 }.name();
        let written = Writer::create(&new, &self.memory, held).and_then(|mut writer| {
            fill(&mut writer)?;
            writer.finish()
        });
        // The next try writes over it if it cannot be removed.
        written.inspect_err(|_| drop(files.remove(&name)))
    }

    /// What a merge writes is there beside the old runs until a checkpoint lets them go, and others need the disk as well.
    fn has_room_for(&self, num_entries: u64) -> Result<bool, FileError> {
        let folder = &self.files.folder;
        let free = self.files.disk.free_bytes(folder).map_err(FileError::io(folder))?;
        Ok(free / 2 >= num_entries.saturating_mul(RUN_ENTRY_BYTES))
    }

    fn merge_ripe(&mut self, is_kept: &dyn Fn(u64) -> bool) -> Result<(), FileError> {
        while let Some(num) = num_ripe(&self.runs.iter().map(|run| run.id.num_entries).collect::<Vec<_>>()) {
            let runs = &self.runs[..num];
            let num_entries = runs.iter().map(|run| run.id.num_entries).sum();
            // They are merged once there is room; until then lookups take longer.
            if !self.has_room_for(num_entries)? {
                return Ok(());
            }
            let held = runs.iter().map(Run::held).sum();
            let merged = self.write_run(num_entries, held, |writer| merge(runs, is_kept, writer))?;
            self.next_run += 1;
            self.runs.splice(..num, [merged]).for_each(|run| run.close());
            self.has_merged = true;
        }
        Ok(())
    }
}

/// How many of the newest runs are to be merged, given the sizes of all. Those up to some size are, once they are four or more
/// and make a larger one: so an entry is written once for each size. And all are, once they are too many to look through.
fn num_ripe(sizes: &[u64]) -> Option<usize> {
    let largest = sizes.iter().max()?;
    let mut size_max = SMALL_RUN;
    loop {
        let num = sizes.iter().take_while(|size| **size <= size_max).count();
        let total: u128 = sizes[..num].iter().map(|size| u128::from(*size)).sum();
        if num >= RUNS_MAX || num >= RUNS_MERGED && total > u128::from(size_max) {
            return Some(num);
        }
        if size_max >= *largest {
            return None;
        }
        size_max = size_max.saturating_mul(RUNS_MERGED as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_about_one_size_are_merged() {
        assert_eq!(num_ripe(&[]), None);
        assert_eq!(num_ripe(&[1, 1, 1, 1]), None);
        assert_eq!(num_ripe(&[1, 4096, 9, 1]), Some(4));
        assert_eq!(num_ripe(&[20_000; 4]), Some(4));
        assert_eq!(num_ripe(&[20_000, 20_000, 20_000, 20_000, 900_000]), Some(4));
        assert_eq!(num_ripe(&[20_000, 20_000, 20_000, 900_000]), None);
        assert_eq!(num_ripe(&[10, 10, 20_000, 900_000]), None, "a large one is not written for little");
        assert_eq!(num_ripe(&[10, 100_000, 10, 10, 10]), None, "nor because it stands between small ones");
        assert_eq!(num_ripe(&[1; 11]), None);
        assert_eq!(num_ripe(&[1; 12]), Some(12));
        assert_eq!(num_ripe(&[u64::MAX; 4]), Some(4));
    }
}
