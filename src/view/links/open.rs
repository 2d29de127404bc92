//! Opening an index: what a checkpoint describes, or else a new one.

use bytes::Bytes;

use super::Options;
use super::checkpoint::{self, Checkpoint, LETTERS};
use super::error::LinksError;
use super::files::Files;
use super::gather::Gatherer;
use super::hasher::{Hasher, Secret};
use super::index::Index;
use super::lot::Position;
use super::memory::Memory;
use super::shared::Shared;
use super::source::Source;
use super::strip::Extent;
use super::writer::Writer;
use crate::config::Identity;
use crate::disk::entropy;
use crate::model::CommitNumber;
use crate::store::{FileError, read_whole};
use crate::view::link::CommitCounts;
use std::sync::Arc;

/// What an index is opened with.
pub struct Opening<'a> {
    pub source: &'a dyn Source,
    pub files: Files,
    pub identity: Identity,
    pub memory: Arc<Memory>,
    pub options: Options,
    /// What the source's were before anything of it was looked at.
    pub losses: u64,
}

/// Why nothing that is stored is used.
enum Unusable {
    /// There is nothing.
    Nothing,
    /// It is of no use, though nothing is wrong with it.
    Outdated(&'static str),
    Lost(FileError),
    /// The disk failed: that tells nothing of what is stored.
    Failed(FileError),
}

impl From<FileError> for Unusable {
    fn from(error: FileError) -> Unusable {
        if error.is_loss() { Unusable::Lost(error) } else { Unusable::Failed(error) }
    }
}

impl Opening<'_> {
    pub fn open(self) -> Result<(Writer, Shared), LinksError> {
        let folder = self.files.folder.display().to_string();
        let unusable = match self.recover() {
            Ok((mut writer, shared)) => {
                writer.remove_garbage(&shared)?;
                return Ok((writer, shared));
            }
            Err(unusable) => unusable,
        };
        match unusable {
            Unusable::Failed(error) => return Err(error.into()),
            Unusable::Nothing => tracing::info!(folder, "an index for views is built"),
            Unusable::Outdated(reason) => tracing::info!(folder, reason, "the index for views is built anew"),
            Unusable::Lost(found) => tracing::warn!(folder, %found, "the index for views is built anew"),
        }
        self.begin()
    }

    /// The index as the checkpoint describes it.
    fn recover(&self) -> Result<(Writer, Shared), Unusable> {
        let checkpoint = self.read()?;
        self.check(&checkpoint)?;
        let files = self.files.clone();
        let secret = checkpoint.secret;
        let indexes = checkpoint.indexes.iter().zip(LETTERS).map(|(index, letter)| {
            Index::open(letter, secret, files.clone(), self.memory.clone(), index.next_run, &index.runs)
        });
        let mut indexes = indexes.collect::<Result<Vec<Index>, FileError>>()?.into_iter();
        let Some(keys) = indexes.next() else { return Err(Unusable::Outdated("it has no index of keys")) };
        // The strip of counts is made even when nothing was counted.
        let extents = checkpoint.strips.into_iter();
        let indexed = checkpoint.commit;
        let shared = Shared::new(files, secret, i64::from(self.options.piece_pages), indexed, extents.collect());
        let strips = shared.strips();
        strips.iter().try_for_each(|strip| strip.settle())?;
        // If the commits before the one that is being indexed were dropped before they were, they count as indexed now.
        shared.publish(indexed, &self.starts());
        let ends = shared.strips()[1..].iter().map(|strip| strip.extent().end()).collect();
        let at = Position { commit: checkpoint.commit, partition: checkpoint.partition, ends };
        let hasher = Hasher::new(self.identity.clone(), secret);
        let mut writer = self.writer(hasher, secret, at, keys, indexes.next());
        (writer.counts, writer.mark) = (checkpoint.counts, checkpoint.mark);
        Ok((writer, shared))
    }

    fn read(&self) -> Result<Checkpoint, Unusable> {
        let path = self.files.path(checkpoint::NAME);
        if !self.files.disk.exists(&path).map_err(FileError::io(&path))? {
            return Err(Unusable::Nothing);
        }
        let bytes: Bytes = read_whole(&*self.files.disk, &path)?;
        Checkpoint::decode(&bytes).map_err(|what| Unusable::Lost(FileError::damaged(&path, 0, what)))
    }

    /// Is it of this history, and made as it would be made now?
    fn check(&self, checkpoint: &Checkpoint) -> Result<(), Unusable> {
        if checkpoint.identity != self.identity.to_string() {
            return Err(Unusable::Outdated("streamstack.dedup.identity was another one"));
        }
        if checkpoint.piece_pages != self.options.piece_pages {
            return Err(Unusable::Outdated("its files were of another size"));
        }
        let source = self.source;
        if checkpoint.commit > source.commits().0 || checkpoint.strips.len() > source.partitions() as usize + 1 {
            return Err(Unusable::Outdated("it is ahead of the history"));
        }
        let partitions = (0..).zip(checkpoint.strips.iter().skip(1));
        let partitions = partitions.collect::<Vec<_>>();
        let is_ahead = |(partition, extent): (u32, &Extent)| extent.end() > source.space(partition).1;
        if partitions.iter().copied().any(is_ahead) {
            return Err(Unusable::Outdated("it is ahead of the history"));
        }
        // Rows stay until their deletion was seen to leave none behind that they are between.
        let has_lost = |(partition, extent): (u32, &Extent)| source.space(partition).0.min(extent.end()) > extent.first;
        if source.whole() > source.start() && source.partitions() > 1 && partitions.iter().copied().any(has_lost) {
            return Err(Unusable::Outdated("records between others were deleted"));
        }
        let mark = checkpoint.mark.map(|_| source.mark(CommitNumber(checkpoint.commit - 1)));
        let mark = mark.transpose().map_err(Unusable::Failed)?;
        if mark != checkpoint.mark.map(Some) {
            return Err(Unusable::Outdated("it is of another history"));
        }
        Ok(())
    }

    /// An index of nothing, with which all that was stored goes.
    fn begin(&self) -> Result<(Writer, Shared), LinksError> {
        if self.source.is_gone() {
            return Err(LinksError::Gone);
        }
        let folder = &self.files.folder;
        give_up(&self.files)?;
        // The feed's folder, which holds the name of this one.
        if let Some(parent) = folder.parent() {
            self.files.disk.sync_dir(parent).map_err(FileError::io(parent))?;
        }
        let secret: Secret = entropy::bytes().map_err(FileError::io(folder))?;
        let start = self.source.start().0;
        let hasher = Hasher::new(self.identity.clone(), secret);
        let index = |letter| Index::new(letter, secret, self.files.clone(), self.memory.clone());
        let identities = (!hasher.by_key_alone()).then(|| index(LETTERS[1]));
        let starts = self.starts();
        let extents = std::iter::once(start).chain(starts.iter().copied()).map(Extent::starting_at).collect();
        let at = Position { commit: start, partition: 0, ends: starts };
        let mut writer = self.writer(hasher, secret, at, index(LETTERS[0]), identities);
        let shared = Shared::new(self.files.clone(), secret, i64::from(self.options.piece_pages), start, extents);
        writer.remove_garbage(&shared)?;
        Ok((writer, shared))
    }

    fn starts(&self) -> Vec<i64> {
        (0..self.source.partitions()).map(|partition| self.source.space(partition).0).collect()
    }

    fn writer(&self, hasher: Hasher, secret: Secret, at: Position, keys: Index, identities: Option<Index>) -> Writer {
        Writer {
            files: self.files.clone(),
            options: self.options,
            secret,
            hasher,
            at,
            counts: CommitCounts::default(),
            keys,
            identities,
            mark: None,
            gatherer: Gatherer::default(),
            losses: self.losses,
            num_unsaved: 0,
            is_changed: false,
            has_garbage: false,
        }
    }
}

/// What is stored is not to be used again, whatever happens next: the checkpoint goes first, and durably.
pub fn give_up(files: &Files) -> Result<(), FileError> {
    files.remove(checkpoint::NAME)?;
    files.sync_names()
}
