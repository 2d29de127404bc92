//! The index of a feed: for each sealed record, where its key and its identity stood before (see [`Link`]).
//!
//! ```text
//! <data>/feeds/<feed>/views/links.checkpoint               names all that is in use (see `checkpoint`)
//! <data>/feeds/<feed>/views/l-<partition>.<row>.rows       links, one row a feed offset (see `strip`, `row`)
//! <data>/feeds/<feed>/views/c-0.<row>.rows                 what was counted, one row a commit (see `counts`)
//! <data>/feeds/<feed>/views/k-<number>.run, i-<number>.run where each key and each identity stood last (see `run`, `index`)
//! ```
//!
//! All of it follows from the history and is derived data: no answer to a producer waits for it, and what is lost, damaged or
//! made for another identity is built anew, with one line in the log. It is never believed without its checksum: a wrong link
//! would be a record that a reader never gets.
//!
//! One thread at a time builds it ([`FeedLinks::advance`]), a lot of records after another: their hashes are looked up in the
//! lot itself, in the table in memory, and then, in order, in the runs on disk. Readers go on beside it. A checkpoint is made
//! each some millions of records and when it is asked for; a process that ends in between goes on from the last one.
//!
//! Keys, values and identities are compared by keyed hashes (SipHash-1-3 under a secret of the index): keys and identities
//! by 128 bits, a value with the one before it by 64. Nobody who sees records come and go can make two collide on purpose, and by
//! chance 128 bits do not within the life of a disk. Two different values of one key in a row are taken for the same once in
//! 2^64.
//!
//! # What it costs
//!
//! `cargo bench --bench links`, records of 100 B, identity key+value, 256 MiB of memory, two cores shared with other work, so
//! that the thread's own time on a processor tells more than the clock (in brackets):
//!
//! | records | keys | repeated | records/s of CPU (of the clock) | memory | disk |
//! |---|---|---|---|---|---|
//! | 10^7 | 10^5 | 0 % | 903,000 (369,000) | 117 MiB | 482 MiB |
//! | 10^7 | 10^5 | 90 % | 1,741,000 (800,000) | 116 MiB | 204 MiB |
//! | 10^7 | 10^7 | 0 % | 499,000 (122,000) | 167 MiB | 702 MiB |
//! | 10^7 | 10^7 | 90 % | 411,000 (188,000) | 209 MiB | 628 MiB |
//!
//! With nothing repeated every record is an identity of its own: 10^7 of them, whatever the number of keys. 53 to 130 million
//! rows a second are read from the page cache, and such an index is open again within 90 ms.
//!
//! # What is the identity
//!
//! See [`Identity`]: key and value, key, value, or the last header of a name. A record that lacks the part has no identity, so
//! that a dedup view always shows it.
//!
//! [`Link`]: super::link::Link

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::link::{CommitCounts, Link, Links};
use super::published::Published;
use crate::config::Identity;
use crate::model::{CommitNumber, FeedOffset, PartitionId};
use crate::store::FileError;

mod checkpoint;
mod counts;
mod entry;
mod error;
mod files;
mod filter;
mod gather;
mod hasher;
mod index;
mod lot;
mod memory;
mod open;
mod page;
mod resolve;
mod row;
mod run;
mod shared;
mod sip;
mod source;
mod strip;
mod table;
#[cfg(test)]
mod tests;
mod writer;

pub use error::LinksError;
pub use memory::Memory;

use files::Files;
use open::Opening;
use shared::Shared;
use source::Source;
use writer::Writer;

/// The folder in that of a feed which holds its index.
pub const FOLDER: &str = "views";

/// How an index is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Records that are looked up together.
    pub lot_records: usize,
    /// A checkpoint is made each so many records.
    pub checkpoint_records: usize,
    /// Pages of a file of rows. It is part of the format: only tests have another number.
    pub piece_pages: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { lot_records: 1 << 15, checkpoint_records: 1 << 22, piece_pages: 4096 }
    }
}

/// What [`FeedLinks::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    pub records: usize,
    /// Commits below are indexed.
    pub indexed: CommitNumber,
    /// All that was published is indexed.
    pub caught_up: bool,
}

/// How far an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Commits below are indexed, of those below `commits`.
    pub indexed: CommitNumber,
    pub commits: CommitNumber,
    /// Records indexed of those that the history holds.
    pub records_indexed: i64,
    pub records: i64,
}

/// The index of one feed. A folder has one at a time.
pub struct FeedLinks {
    files: Files,
    identity: Identity,
    losses: u64,
    shared: Shared,
    /// Held by the one who builds. No reader waits for it.
    writer: Mutex<Writer>,
}

impl FeedLinks {
    /// Opens the index of a feed, or begins a new one. Its folder is there already: a feed may be deleted at any time, and
    /// nothing here brings its folder back. Takes as long as reading the filters of its runs takes.
    pub fn open(feed: &dyn Published, identity: Identity, memory: Arc<Memory>) -> Result<FeedLinks, LinksError> {
        FeedLinks::open_in(files_of(feed), &feed, identity, memory, Options::default())
    }

    /// Gives up what is stored: opened after that, the index is built anew.
    pub fn give_up(feed: &dyn Published) -> Result<(), LinksError> {
        Ok(open::give_up(&files_of(feed))?)
    }

    /// What it was built for.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What the feed's losses were when it was opened: once they differ, it is of no more use.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// `tell` is called when a reader finds damage, which the next [`FeedLinks::advance`] then makes an end of.
    pub fn on_damage(&self, tell: impl Fn() + Send + Sync + 'static) {
        self.shared.on_damage(Box::new(tell));
    }

    /// Where a feed's index is kept.
    pub fn folder(feed: &dyn Published) -> PathBuf {
        feed.files().folder().join(FOLDER)
    }

    fn open_in(
        files: Files,
        source: &dyn Source,
        identity: Identity,
        memory: Arc<Memory>,
        options: Options,
    ) -> Result<FeedLinks, LinksError> {
        let losses = source.losses();
        let opening = Opening { source, files: files.clone(), identity: identity.clone(), memory, options, losses };
        let (writer, shared) = opening.open()?;
        Ok(FeedLinks { files, identity, losses, shared, writer: Mutex::new(writer) })
    }

    /// Indexes about so many records more, from where it is. After [`LinksError::Lost`] or [`LinksError::Outdated`] the index is of no more use: it is to be
    /// opened again, which builds it anew. After any other error it may be called again.
    pub fn advance(&self, feed: &dyn Published, records_max: usize) -> Result<Advance, LinksError> {
        self.advance_over(&feed, records_max)
    }

    /// Stores how far it is. Asked for again when nothing was indexed since, it gives back memory.
    pub fn checkpoint(&self, feed: &dyn Published) -> Result<(), LinksError> {
        self.checkpoint_over(&feed)
    }

    /// Lets go of what lies below the history's start. Its files go with the next checkpoint.
    pub fn trim(&self, feed: &dyn Published) {
        self.trim_below(&feed);
    }

    /// How far it is. Waits for nothing.
    pub fn progress(&self, feed: &dyn Published) -> Progress {
        self.progress_over(&feed)
    }

    fn advance_over(&self, source: &dyn Source, records_max: usize) -> Result<Advance, LinksError> {
        let mut writer = self.writer();
        self.or_lost(source, self.check_whole(source).and_then(|()| self.build(&mut writer, source, records_max)))
    }

    fn build(&self, writer: &mut Writer, source: &dyn Source, records_max: usize) -> Result<Advance, LinksError> {
        let mut records = 0;
        let caught_up = loop {
            if writer.num_unsaved >= writer.options.checkpoint_records {
                writer.checkpoint(source, &self.shared)?;
            }
            let room = writer.options.lot_records.min(records_max.saturating_sub(records));
            if room == 0 {
                break false;
            }
            match writer.step(source, &self.shared, room)? {
                Some(num) => records += num,
                None => break true,
            }
        };
        Ok(Advance { records, indexed: CommitNumber(self.shared.indexed()), caught_up })
    }

    fn checkpoint_over(&self, source: &dyn Source) -> Result<(), LinksError> {
        let mut writer = self.writer();
        let stored = self.check_whole(source).and_then(|()| writer.checkpoint(source, &self.shared));
        self.or_lost(source, stored)
    }

    fn trim_below(&self, source: &dyn Source) {
        let mut writer = self.writer();
        let mut is_new = self.shared.counts().trim(source.start().0);
        for (partition, strip) in (0..).zip(self.shared.strips().iter().skip(1)) {
            is_new |= strip.trim(source.space(partition).0);
        }
        writer.is_changed |= is_new;
        writer.has_garbage |= is_new;
    }

    fn progress_over(&self, source: &dyn Source) -> Progress {
        let mut progress = Progress {
            indexed: CommitNumber(self.shared.indexed()),
            commits: source.commits(),
            records_indexed: 0,
            records: 0,
        };
        for partition in 0..source.partitions() {
            let (start, end) = source.space(partition);
            let indexed = self.shared.partition(partition).map_or(0, |strip| strip.published());
            progress.records += end - start;
            progress.records_indexed += (indexed - start).max(0);
        }
        progress
    }

    fn check_whole(&self, source: &dyn Source) -> Result<(), LinksError> {
        if source.is_gone() {
            return Err(LinksError::Gone);
        }
        if source.losses() != self.losses {
            return Err(LinksError::Outdated);
        }
        if self.shared.is_damaged() {
            let what = "a reader found it so";
            return Err(FileError::damaged(&self.files.folder, 0, what).into());
        }
        Ok(())
    }

    /// What is damaged is given up, so that it is built anew by whoever opens it next.
    fn or_lost<T>(&self, source: &dyn Source, outcome: Result<T, LinksError>) -> Result<T, LinksError> {
        match outcome {
            Err(LinksError::File(_)) if source.is_gone() => Err(LinksError::Gone),
            Err(LinksError::File(error)) if error.is_loss() => {
                self.shared.mark_damaged();
                open::give_up(&self.files)?;
                tracing::warn!(folder = %self.files.folder.display(), found = %error, "the index for views is lost");
                Err(LinksError::Lost(error))
            }
            outcome => outcome,
        }
    }

    /// Damage that a reader finds is remembered for the one who builds.
    fn noticing<T>(&self, read: Result<T, FileError>) -> Result<T, FileError> {
        // Absence is no damage: what was read may have been dropped meanwhile.
        if read.as_ref().is_err_and(|error| error.is_loss() && !error.is_absence()) {
            self.shared.found_damaged();
        }
        read
    }

    /// A panic while an index was built may have left anything.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(|poisoned| {
            self.shared.mark_damaged();
            PoisonError::into_inner(poisoned)
        })
    }
}

impl Links for FeedLinks {
    fn indexed(&self) -> CommitNumber {
        CommitNumber(self.shared.indexed())
    }

    fn end(&self, partition: PartitionId) -> FeedOffset {
        FeedOffset(self.shared.partition(partition.0).map_or(0, |strip| strip.published()))
    }

    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError> {
        match self.shared.partition(partition.0) {
            Some(strip) => self.noticing(strip.read(from.0, end.0, row::link)),
            None => Ok(Vec::new()),
        }
    }

    fn counts(&self, commit: CommitNumber) -> Result<Option<CommitCounts>, FileError> {
        let strip = self.shared.counts();
        let extent = strip.extent();
        if commit.0 < extent.first || commit.0 >= extent.published {
            return Ok(None);
        }
        let rows = self.noticing(strip.read(commit.0, commit.0 + 1, CommitCounts::of_row))?;
        Ok(rows.first().copied())
    }
}

fn files_of(feed: &dyn Published) -> Files {
    let stored = feed.files();
    Files { disk: stored.disk().clone(), handles: stored.handles().clone(), folder: FeedLinks::folder(feed) }
}

/// True for a file that an index may have made, in use or not. Others in its folder are let be.
fn is_ours(name: &str) -> bool {
    strip::is_piece(name) || run::is_run(name) || name.starts_with(checkpoint::NAME)
}
