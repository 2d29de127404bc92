//! The writing side: groups are appended, synced, and trimmed when a manifest has passed them.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::files::{NamedFile, journal_path};
use super::frame::{FRAME_HEAD_BYTES, FrameHead, frame_bytes};
use super::header::{FileHeader, HEADER_BYTES};
use super::recovery::{Recovered, Recovery};
use super::spares::Spares;
use super::{Durability, JournalError, JournalOptions};
use crate::disk::{Disk, DiskFile, OpenMode};
use crate::model::Lsn;

/// The journal, open for writing. One writer; what it has written is read only at the next start.
pub struct Journal {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    options: JournalOptions,
    /// Oldest first; the last is written to.
    files: VecDeque<NamedFile>,
    current: Current,
    next: Lsn,
    synced: Lsn,
    /// The highest that any file has had, spares included: frames that an earlier life left in one must stay old.
    generation: u64,
    /// The last frame says that everything before it is durable.
    at_rest: bool,
    /// Files with unsynced bytes that are no longer written to, by their first lsn.
    unsynced: Vec<(Lsn, Arc<dyn DiskFile>)>,
    unsynced_names: bool,
    spares: Spares,
    broken: Option<String>,
    recovery: Recovery,
}

/// The file that is written to.
pub(super) struct Current {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) path: PathBuf,
    pub(super) generation: u64,
    /// Where the next frame goes.
    pub(super) position: u64,
    /// Frames end here, the idle mark included.
    pub(super) size: u64,
}

impl Journal {
    pub(super) fn recovered(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        options: JournalOptions,
        spares: Spares,
        recovered: Recovered,
    ) -> Journal {
        let Recovered { files, current, at_rest, synced, generation, recovery } = recovered;
        Journal {
            disk,
            dir,
            options,
            files,
            generation: generation.max(current.generation),
            current,
            next: recovery.end,
            synced,
            at_rest,
            unsynced: Vec::new(),
            unsynced_names: false,
            spares,
            broken: None,
            recovery,
        }
    }

    /// The lsn that the next group starts with.
    pub fn next(&self) -> Lsn {
        self.next
    }

    /// Entries below are durable.
    pub fn synced(&self) -> Lsn {
        self.synced
    }

    /// What the start found.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The spare files, for whoever prepares them beside the writer.
    pub fn spares(&self) -> Spares {
        self.spares.clone()
    }

    /// Makes sure that a spare file is ready. Takes long: see [`Spares::prepare`] to do it beside the writer.
    pub fn prepare_spare(&self) -> Result<bool, JournalError> {
        self.spares.prepare()
    }

    /// Writes one group as one frame: after a crash all of it is there or nothing. Not durable before [`Journal::sync`].
    pub fn append(&mut self, first: Lsn, count: u32, payload: &[Bytes]) -> Result<(), JournalError> {
        self.check_whole()?;
        assert_eq!(first, self.next, "groups follow each other without gaps");
        assert!(count > 0, "a group holds an entry");
        let bytes = frame_bytes(payload)
            .ok_or_else(|| JournalError::TooLarge { bytes: payload.iter().map(Bytes::len).sum() })?;
        if self.current.position + bytes + FRAME_HEAD_BYTES as u64 > self.current.size {
            self.start_file(bytes)?;
        }
        self.write_frame(count, bytes, payload)?;
        self.next = first.plus(count.into());
        self.at_rest = false;
        Ok(())
    }

    /// Everything appended is durable from here on, and so is, its caller says, all that it rests on.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.sync_to(self.next)
    }

    /// Everything appended is durable from here on, but only the entries below `lsn` with all that they rest on.
    pub fn sync_to(&mut self, lsn: Lsn) -> Result<(), JournalError> {
        self.check_whole()?;
        let synced = self.sync_all();
        self.poison_on_error(synced)?;
        self.synced = self.synced.max(lsn);
        Ok(())
    }

    /// True when the last frame says that everything before it is durable.
    pub fn is_at_rest(&self) -> bool {
        self.at_rest
    }

    /// Syncs, and closes with a frame that says so: damage to the last group is then told from a torn one.
    /// For a journal that comes to rest, and at the end. Does nothing when the mark is there already.
    pub fn mark_idle(&mut self) -> Result<(), JournalError> {
        self.check_whole()?;
        if self.at_rest {
            return Ok(());
        }
        self.sync()?;
        self.write_frame(0, FRAME_HEAD_BYTES as u64, &[])?;
        self.sync()?;
        self.at_rest = true;
        Ok(())
    }

    /// Gives up the files that hold nothing from `before` on: a manifest has passed them.
    pub fn trim(&mut self, before: Lsn) -> Result<(), JournalError> {
        self.check_whole()?;
        let mut passed = Vec::new();
        while self.files.get(1).is_some_and(|second| second.first <= before) {
            passed.extend(self.files.pop_front());
        }
        if passed.is_empty() {
            return Ok(());
        }
        let first = self.files.front().map_or(before, |file| file.first);
        self.unsynced.retain(|(unsynced, _)| *unsynced >= first);
        let recycled = self.spares.take_in(passed);
        self.unsynced_names = false;
        self.poison_on_error(recycled)
    }

    fn check_whole(&self) -> Result<(), JournalError> {
        match &self.broken {
            Some(because) => Err(JournalError::Poisoned { because: because.clone() }),
            None => Ok(()),
        }
    }

    fn poison_on_error<T>(&mut self, result: Result<T, JournalError>) -> Result<T, JournalError> {
        if let Err(error) = &result {
            self.broken = Some(error.to_string());
        }
        result
    }

    fn write_frame(&mut self, count: u32, bytes: u64, payload: &[Bytes]) -> Result<(), JournalError> {
        let Current { generation, position, .. } = self.current;
        let head = FrameHead { first: self.next, generation, synced: self.synced, count, bytes }.encode(payload);
        let mut parts = Vec::with_capacity(payload.len() + 1);
        parts.push(IoSlice::new(&head));
        parts.extend(payload.iter().map(|part| IoSlice::new(part)));
        let written = self.current.file.write_all_vectored_at(&parts, position);
        self.poison_on_error(written.map_err(JournalError::io("write", &self.current.path)))?;
        self.current.position += bytes;
        Ok(())
    }

    fn sync_all(&mut self) -> Result<(), JournalError> {
        for (first, file) in self.unsynced.drain(..) {
            file.sync_data().map_err(JournalError::io("sync", &journal_path(&self.dir, first)))?;
        }
        let current = &self.current;
        current.file.sync_data().map_err(JournalError::io("sync", &current.path))?;
        if std::mem::take(&mut self.unsynced_names) {
            self.disk.sync_dir(&self.dir).map_err(JournalError::io("sync", &self.dir))?;
        }
        Ok(())
    }

    /// Goes on in another file, large enough for a frame of `bytes`. Until it has its name nothing of the
    /// journal is touched: an error up to there (no space) leaves the journal whole.
    fn start_file(&mut self, bytes: u64) -> Result<(), JournalError> {
        let size = self.options.file_bytes.max(file_bytes_for(bytes));
        let header = FileHeader {
            generation: generation_after(self.generation, self.options.salt),
            first: self.next,
            synced: self.synced,
            size,
        };
        let fresh = self.spares.with_header(&header)?;
        let named = self.name_file(&fresh, header);
        let current = self.poison_on_error(named)?;
        self.generation = current.generation;
        let last = std::mem::replace(&mut self.current, current);
        self.unsynced.extend(self.files.back().map(|file| (file.first, last.file)));
        self.unsynced_names = self.options.durability == Durability::Os;
        // A file without frames is replaced by one of the same name.
        if self.files.back().is_some_and(|file| file.first == self.next) {
            self.files.pop_back();
        }
        self.files.push_back(NamedFile { first: self.next, path: self.current.path.clone() });
        Ok(())
    }

    fn name_file(&self, fresh: &Path, header: FileHeader) -> Result<Current, JournalError> {
        let names = match self.options.durability {
            Durability::Fsync => Names::Sync,
            Durability::Os => Names::Leave,
        };
        name_file(&*self.disk, &self.dir, fresh, header, names)
    }
}

/// Whether a new name must be durable at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Sync,
    Leave,
}

/// Makes a file with a durable header part of the journal.
pub(super) fn name_file(
    disk: &dyn Disk,
    dir: &Path,
    fresh: &Path,
    header: FileHeader,
    names: Names,
) -> Result<Current, JournalError> {
    let path = journal_path(dir, header.first);
    disk.rename(fresh, &path).map_err(JournalError::io("rename a file to", &path))?;
    if names == Names::Sync {
        disk.sync_dir(dir).map_err(JournalError::io("sync", dir))?;
    }
    let file = disk.open(&path, OpenMode::Write).map_err(JournalError::io("open", &path))?;
    Ok(Current { file, path, generation: header.generation, position: HEADER_BYTES as u64, size: header.size })
}

/// The size of a file that holds a frame of `bytes` and the idle mark.
fn file_bytes_for(bytes: u64) -> u64 {
    (HEADER_BYTES + FRAME_HEAD_BYTES) as u64 + bytes
}

/// The generation of the next life of a file: a higher count, and a half that no client can guess.
pub(super) fn generation_after(last: u64, salt: u32) -> u64 {
    (((last >> 32) + 1) << 32) | u64::from(salt)
}
