//! Opening the journal: what is whole is replayed, a torn tail is dropped, damage is refused.
//!
//! Every step may be cut short by a crash and done again: nothing is removed before it is decided, the
//! decision reads only what is not removed yet, and what stays is synced last.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::append::{Current, Names, generation_after, name_file};
use super::files::{Listing, NamedFile, read_header};
use super::header::FileHeader;
use super::spares::{Spares, WRITTEN_BYTES};
use super::{Durability, Journal, JournalError, JournalOptions, Replay, give_up_name};
use crate::disk::{Disk, OpenMode};
use crate::model::Lsn;
use reader::{End, Reader, Stop, Uncertain};

mod proof;
mod reader;
mod tail;

/// What a start found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The journal's end: the lsn that the next group gets.
    pub end: Lsn,
    pub num_files: usize,
    /// Groups and entries handed to the store.
    pub num_groups: u64,
    pub num_entries: u64,
    /// Where a torn tail was dropped, or one that the operator gave up.
    pub dropped: Option<Dropped>,
}

/// See [`Recovery::dropped`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub file: PathBuf,
    pub byte: u64,
    /// The first entry that is not there.
    pub lsn: Lsn,
    pub found: String,
}

/// A journal that is ready to be written to.
pub(super) struct Recovered {
    pub(super) files: VecDeque<NamedFile>,
    pub(super) current: Current,
    pub(super) at_rest: bool,
    /// Entries below are durable, with all that they rest on.
    pub(super) synced: Lsn,
    /// The highest that any file had.
    pub(super) generation: u64,
    pub(super) recovery: Recovery,
}

pub(super) fn open(
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    options: JournalOptions,
    from: Lsn,
    replay: Replay<'_>,
) -> Result<Journal, JournalError> {
    make_folder(&*disk, &dir)?;
    let listing = Listing::read(&*disk, &dir).map_err(JournalError::io("list", &dir))?;
    for leftover in &listing.leftovers {
        disk.remove_file(leftover).map_err(JournalError::io("remove", leftover))?;
    }
    let generation = last_generation(&*disk, &listing)?;
    let spares = Spares::open(Arc::clone(&disk), &dir, options.file_bytes, listing.spares)?;
    let opening = Opening { disk: &*disk, dir: &dir, options, from, given_up: listing.given_up, generation };
    let recovered = opening.run(listing.files, &spares, replay)?;
    if let Some(Dropped { file, byte, lsn, found }) = &recovered.recovery.dropped {
        tracing::warn!(file = %file.display(), byte, %lsn, found, "the journal's torn tail is dropped");
    }
    Ok(Journal::recovered(disk, dir, options, spares, recovered))
}

fn make_folder(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    disk.create_dir_all(dir).map_err(JournalError::io("create", dir))?;
    let parent = match dir.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Ok(()),
    };
    disk.sync_dir(parent).map_err(JournalError::io("sync", parent))
}

/// The highest generation that any file had, spares included: their old frames must stay old.
fn last_generation(disk: &dyn Disk, listing: &Listing) -> Result<u64, JournalError> {
    let mut last = 0;
    for path in listing.files.iter().map(|file| &file.path).chain(&listing.spares) {
        last = last.max(read_header(disk, path)?.map_or(0, |header| header.generation));
    }
    Ok(last)
}

/// One start.
struct Opening<'a> {
    disk: &'a dyn Disk,
    dir: &'a Path,
    options: JournalOptions,
    from: Lsn,
    given_up: Vec<Lsn>,
    generation: u64,
}

impl Opening<'_> {
    fn run(&self, mut files: Vec<NamedFile>, spares: &Spares, replay: Replay<'_>) -> Result<Recovered, JournalError> {
        if files.is_empty() {
            return self.start_empty(spares);
        }
        // Files that a manifest passed, which a crash kept from being trimmed.
        let passed: Vec<NamedFile> = files.drain(..first_needed(&files, self.from)).collect();
        let mut reader = Reader::new(self.disk, &files, self.from, replay);
        let stop = reader.read()?;
        self.refuse_damage(&files, &stop)?;
        let (num_groups, num_entries, claim) = (reader.num_groups, reader.num_entries, reader.claim);
        let (current, kept) = self.settle(&files, &stop, &reader.uncertain, spares)?;
        spares.take_in(passed)?;
        self.finish()?;
        let end = stop.lsn.max(self.from);
        let dropped = stop.dropped(&files);
        let synced = match self.options.durability {
            Durability::Fsync => end,
            Durability::Os => claim.max(self.from).min(end),
        };
        let recovery = Recovery { end, num_files: kept.len(), num_groups, num_entries, dropped };
        Ok(Recovered {
            files: kept.into(),
            current,
            at_rest: stop.at_rest,
            synced,
            generation: self.generation,
            recovery,
        })
    }

    /// Makes the decision true on the disk: what is dropped goes, what is kept is durable.
    fn settle(
        &self,
        files: &[NamedFile],
        stop: &Stop,
        uncertain: &VecDeque<Uncertain>,
        spares: &Spares,
    ) -> Result<(Current, Vec<NamedFile>), JournalError> {
        let (kept, dropped) = files.split_at(stop.num_kept);
        // What proves that there was more goes first: a crash from here on leaves nothing to stumble over.
        self.remove(dropped)?;
        match &stop.end {
            Some(end) if stop.lsn >= self.from => {
                tail::secure(self.disk, kept, end, uncertain)?;
                Ok((self.reopen(kept, end)?, kept.to_vec()))
            }
            // The manifest is ahead of the journal: what is left of it is of no use.
            _ => {
                let current = self.new_file(spares)?;
                self.remove(kept)?;
                let named = NamedFile { first: self.from, path: current.path.clone() };
                Ok((current, vec![named]))
            }
        }
    }

    /// No file at all: a first start, unless a manifest says that there was a journal.
    fn start_empty(&self, spares: &Spares) -> Result<Recovered, JournalError> {
        if self.from > Lsn(0) && !self.given_up.contains(&self.from) {
            return Err(JournalError::missing(self.dir, self.from, "there is no journal file at all".to_owned()));
        }
        let current = self.new_file(spares)?;
        self.finish()?;
        let files = VecDeque::from([NamedFile { first: self.from, path: current.path.clone() }]);
        let recovery = Recovery { end: self.from, num_files: 1, num_groups: 0, num_entries: 0, dropped: None };
        Ok(Recovered { files, current, at_rest: true, synced: self.from, generation: self.generation, recovery })
    }

    /// An end that is not the journal's end is refused, unless the operator gave up what follows.
    fn refuse_damage(&self, files: &[NamedFile], stop: &Stop) -> Result<(), JournalError> {
        let proof = match &stop.damage {
            Some(damage) => Some(damage.clone()),
            None => proof::of_later_entries(self.disk, files, stop, self.from)?,
        };
        let Some(proof) = proof.filter(|_| !self.given_up.contains(&stop.lsn)) else { return Ok(()) };
        let found = format!("{}; {proof}", stop.found);
        if stop.num_kept == 0 && stop.damage.is_none() {
            return Err(JournalError::missing(self.dir, stop.lsn, found));
        }
        Err(JournalError::damaged(&stop.file, stop.byte, stop.lsn, found))
    }

    fn new_file(&self, spares: &Spares) -> Result<Current, JournalError> {
        let header = FileHeader {
            generation: generation_after(self.generation, self.options.salt),
            first: self.from,
            synced: self.from,
            // Small, so that it is soon followed by a spare, which is made meanwhile.
            size: self.options.file_bytes.min(WRITTEN_BYTES),
        };
        let fresh = spares.with_header(&header)?;
        name_file(self.disk, self.dir, &fresh, header, Names::Sync)
    }

    fn reopen(&self, kept: &[NamedFile], end: &End) -> Result<Current, JournalError> {
        let path = kept[kept.len() - 1].path.clone();
        let file = self.disk.open(&path, OpenMode::Write).map_err(JournalError::io("open", &path))?;
        let End { header, position, .. } = *end;
        Ok(Current { file, path, generation: header.generation, position: position as u64, size: header.size })
    }

    fn remove(&self, files: &[NamedFile]) -> Result<(), JournalError> {
        for file in files {
            self.disk.remove_file(&file.path).map_err(JournalError::io("remove", &file.path))?;
        }
        Ok(())
    }

    /// The names are made durable; the operator's word counts once.
    fn finish(&self) -> Result<(), JournalError> {
        self.disk.sync_dir(self.dir).map_err(JournalError::io("sync", self.dir))?;
        for lsn in &self.given_up {
            let path = self.dir.join(give_up_name(*lsn));
            self.disk.remove_file(&path).map_err(JournalError::io("remove", &path))?;
        }
        Ok(())
    }
}

/// The index of the file that holds `from`; the first file when none can.
fn first_needed(files: &[NamedFile], from: Lsn) -> usize {
    files.iter().rposition(|file| file.first <= from).unwrap_or(0)
}
