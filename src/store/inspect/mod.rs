//! A data folder as an operator sees it, offline: what each file holds and whether it holds together.
//! Changes nothing.
//!
//! The manifest says how much of every tail file is known to be stored. What lies past that is written
//! again from the journal at the next start, so it is shown and not judged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::model::{FeedId, State};

use super::ends::ends_of;
use super::error::{FileError, StoreError};
use super::feed::FeedEnds;
use super::manifest::Manifests;
use super::meta::Meta;
use super::span::Source;

mod aborted;
mod history;
mod journal;
mod pieces;
mod segments;

/// What a fact is about; one table each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Manifest,
    Journal,
    Frame,
    Entry,
    Segment,
    Batch,
    Index,
    Runs,
    Aborted,
    Commits,
    Streams,
}

/// What is looked at. Everything that is stored is verified; frames, entries and batches are shown one by one when asked for.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only this feed's files.
    pub feed: Option<FeedId>,
    pub frames: bool,
    pub entries: bool,
    pub batches: bool,
}

/// One thing found.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: Kind,
    pub file: PathBuf,
    pub at: u64,
    pub facts: Map<String, Value>,
    /// What is wrong, if anything is.
    pub damage: Option<String>,
}

/// Takes what is found.
pub type Sink<'a> = &'a mut dyn FnMut(Item);

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Manifest => "manifest",
            Kind::Journal => "journal",
            Kind::Frame => "frame",
            Kind::Entry => "entry",
            Kind::Segment => "segment",
            Kind::Batch => "batch",
            Kind::Index => "index",
            Kind::Runs => "runs",
            Kind::Aborted => "aborted",
            Kind::Commits => "commits",
            Kind::Streams => "streams",
        }
    }
}

impl Item {
    fn new(kind: Kind, file: &Path, at: u64) -> Item {
        Item { kind, file: file.to_owned(), at, facts: Map::new(), damage: None }
    }

    fn fact(mut self, name: &str, value: impl Into<Value>) -> Item {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    fn damaged(mut self, at: u64, what: impl ToString) -> Item {
        self.at = at;
        self.damage = Some(what.to_string());
        self
    }

    /// Notes the first of the troubles met.
    fn with(self, outcome: Result<(), FileError>) -> Item {
        match outcome {
            Err(FileError::Damaged { at, what, .. }) if self.damage.is_none() => self.damaged(at, what),
            Err(error) if self.damage.is_none() => {
                let at = self.at;
                self.damaged(at, error)
            }
            _ => self,
        }
    }
}

/// Looks at the data folder `dir`. Fails when it is not one, is in use, or has no manifest that can be read.
pub fn inspect(disk: &Arc<dyn Disk>, dir: &Path, selection: &Selection, sink: Sink<'_>) -> Result<(), StoreError> {
    let Some(_) = Meta::read(&**disk, dir)? else { return Err(without_meta(&**disk, dir)) };
    let _lock = match disk.lock(&dir.join(".lock")) {
        Ok(lock) => Some(lock),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(StoreError::InUse { path: dir.to_owned() });
        }
        // A read-only copy can be looked at all the same.
        Err(_) => None,
    };
    let state = manifests(disk, dir, sink)?;
    journal::inspect(&**disk, &dir.join("journal"), selection, sink)?;
    for (feed, ends) in ends_of(&state) {
        if selection.feed.is_none_or(|only| only == feed) {
            let folder = dir.join("feeds").join(feed.to_string());
            inspect_feed(&Feed { disk: &**disk, id: feed, folder }, &ends, selection, sink);
        }
    }
    Ok(())
}

fn without_meta(disk: &dyn Disk, dir: &Path) -> StoreError {
    match disk.list(dir) {
        Ok(names) if !names.is_empty() => StoreError::NoMeta { dir: dir.to_owned() },
        _ => StoreError::NoData { dir: dir.to_owned() },
    }
}

/// A feed that is looked at.
struct Feed<'a> {
    disk: &'a dyn Disk,
    id: FeedId,
    folder: PathBuf,
}

fn inspect_feed(feed: &Feed<'_>, ends: &FeedEnds, selection: &Selection, sink: Sink<'_>) {
    for (partition, ends) in ends.partitions.iter().enumerate() {
        segments::inspect(feed, partition as u32, ends, selection, sink);
    }
    history::commits(feed, ends, sink);
    history::streams(feed, ends, sink);
}

/// Shows the manifests and returns the newest one's state.
fn manifests(disk: &Arc<dyn Disk>, dir: &Path, sink: Sink<'_>) -> Result<State, StoreError> {
    let manifests = Manifests::new(disk.clone(), dir.join("manifest"));
    let mut newest = None;
    let mut unusable = String::from("there is none");
    for lsn in manifests.list()? {
        let path = manifests.path(lsn);
        let item = Item::new(Kind::Manifest, &path, 0).fact("lsn", lsn.0);
        let read = manifests.read(lsn).and_then(|manifest| {
            let state =
                State::decode(&manifest.state).map_err(|error| FileError::damaged(&path, 0, error.to_string()))?;
            Ok((manifest.state.len(), state))
        });
        match read {
            Ok((num_bytes, state)) => {
                sink(
                    item.fact("bytes", num_bytes)
                        .fact("feeds", state.feeds().len())
                        .fact("partitions", state.num_partitions()),
                );
                newest = newest.or(Some(state));
            }
            Err(error) => {
                unusable = error.to_string();
                sink(item.with(Err(error)));
            }
        }
    }
    newest.ok_or(StoreError::NoManifest { newest: unusable })
}

/// A file read as it is.
struct Plain {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    size: u64,
}

impl Plain {
    fn open(disk: &dyn Disk, path: PathBuf) -> Result<Plain, FileError> {
        let file = disk.open(&path, OpenMode::Read).map_err(FileError::io(&path))?;
        let size = file.size().map_err(FileError::io(&path))?;
        Ok(Plain { path, file, size })
    }

    /// A file of which `expected` bytes are known to be stored; none when it need not be there and is not.
    fn known(disk: &dyn Disk, path: PathBuf, expected: u64) -> Result<Option<Plain>, FileError> {
        match Plain::open(disk, path.clone()) {
            Ok(plain) if plain.size < expected => Err(FileError::Short { path, size: plain.size, expected }),
            Ok(plain) => Ok(Some(plain)),
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => match expected {
                0 => Ok(None),
                _ => Err(FileError::Missing { path, expected }),
            },
            Err(error) => Err(error),
        }
    }
}

impl Source for Plain {
    fn path(&self) -> &Path {
        &self.path
    }

    fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        let mut bytes = vec![0; (end - start) as usize];
        let num_read = self.file.read_at(&mut bytes, start).map_err(FileError::io(&self.path))?;
        if num_read < bytes.len() {
            return Err(FileError::Short { path: self.path.clone(), size: start + num_read as u64, expected: end });
        }
        Ok(Bytes::from(bytes))
    }
}
