//! Opening a data folder: from the newest manifest, by replaying the journal, to the state and the files
//! as they were when the last group was acknowledged. A crash on the way changes nothing: the next start does it again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bytes::Bytes;

use crate::disk::{Clock, Disk, OsClock, entropy};
use crate::model::{Entry, FeedId, Lsn, State, TailWrite, codec};

use super::bodies::{BodyReader, Gap};
use super::directory::{Directory, WriteError, feed_of};
use super::ends::ends_of;
use super::error::{FileError, StoreError};
use super::journal::{Durability, Journal, JournalError, JournalOptions, Taken};
use super::manifest::Manifests;
use super::meta::{META_FILE, Meta, MetaError};
use super::shelf::Shelf;
use super::{Store, StoreOptions};

pub const JOURNAL_FOLDER: &str = "journal";
const MANIFEST_FOLDER: &str = "manifest";
const FEEDS_FOLDER: &str = "feeds";
const LOCK_FILE: &str = ".lock";

/// An opened store with the state that its journal gives.
pub struct Opened {
    pub store: Store,
    pub state: State,
    /// The lsn of the next entry.
    pub lsn: Lsn,
    pub report: Report,
}

/// What a start did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The manifest that it started from.
    pub manifest: Lsn,
    pub num_entries: u64,
    pub num_bytes: u64,
    pub took: Duration,
    /// Feeds whose half removed folders were removed.
    pub num_leftovers: usize,
    /// A newer manifest that was damaged and not used.
    pub damaged_manifest: Option<String>,
    /// Where the journal's torn tail was dropped.
    pub dropped: Option<super::journal::Dropped>,
}

impl Store {
    /// Opens the data folder `dir`, or sets one up.
    pub fn open(disk: Arc<dyn Disk>, dir: PathBuf, options: StoreOptions) -> Result<Opened, StoreError> {
        let clock = OsClock::new();
        let mut opened = Opening::start(disk, dir, options)?.run()?;
        opened.report.took = clock.elapsed();
        Ok(opened)
    }
}

/// One start.
struct Opening {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    options: StoreOptions,
    meta: Meta,
    lock: Box<dyn Send + Sync>,
    manifests: Manifests,
}

impl Opening {
    /// Takes the lock and makes sure that the folder is ours; sets it up when it is new.
    fn start(disk: Arc<dyn Disk>, dir: PathBuf, options: StoreOptions) -> Result<Opening, StoreError> {
        refuse_foreign(&*disk, &dir)?;
        disk.create_dir_all(&dir).map_err(FileError::io(&dir))?;
        let lock = take_lock(&*disk, &dir)?;
        let manifests = Manifests::new(disk.clone(), dir.join(MANIFEST_FOLDER));
        let mut meta = match Meta::read(&*disk, &dir)? {
            Some(meta) => meta,
            None => set_up(&disk, &dir, &options, &manifests)?,
        };
        meta.check(&dir, options.node_id, options.cluster_id.as_deref())?;
        check_complete(&*disk, &dir)?;
        manifests.settle()?;
        meta.upgrade(&*disk, &dir)?;
        // The same holds for the name of the file that says whose data this is.
        disk.sync_dir(&dir).map_err(FileError::io(&dir))?;
        Ok(Opening { disk, dir, options, meta, lock, manifests })
    }

    /// From the newest manifest that can be used.
    fn run(self) -> Result<Opened, StoreError> {
        let mut damaged = Vec::new();
        for lsn in self.manifests.list()? {
            match self.read_state(lsn) {
                Ok(state) => return self.run_from(lsn, state, &damaged),
                Err(error) => {
                    tracing::error!(%error, "a manifest cannot be used; trying the one before it");
                    damaged.push((lsn, error.to_string()));
                }
            }
        }
        match damaged.into_iter().next() {
            Some((_, newest)) => Err(StoreError::NoManifest { newest }),
            None => Err(StoreError::Emptied { dir: self.manifests.folder().to_owned(), what: "the manifest" }),
        }
    }

    fn read_state(&self, lsn: Lsn) -> Result<State, FileError> {
        let manifest = self.manifests.read(lsn)?;
        State::decode(&manifest.state)
            .map_err(|error| FileError::damaged(&self.manifests.path(lsn), 0, error.to_string()))
    }

    fn run_from(self, lsn: Lsn, state: State, damaged: &[(Lsn, String)]) -> Result<Opened, StoreError> {
        let newest = damaged.first().map(|(_, what)| what.clone());
        let mut opened = match (self.replay_from(lsn, state), &newest) {
            // An older manifest is of no use without the journal that follows it.
            (Err(StoreError::Journal(JournalError::Missing { .. })), Some(newest)) => {
                return Err(StoreError::NoManifest { newest: newest.clone() });
            }
            (outcome, _) => outcome?,
        };
        for (lsn, _) in damaged {
            opened.store.manifests.set_aside(*lsn)?;
        }
        opened.report.damaged_manifest = newest;
        Ok(opened)
    }

    fn replay(&self, lsn: Lsn, state: State, end: Option<Gap>) -> Result<Replayed, StoreError> {
        let StoreOptions { num_open_files_max, index_save_bytes, chunk_bytes, .. } = self.options;
        let shelf = Shelf::new(self.disk.clone(), num_open_files_max, index_save_bytes, chunk_bytes);
        let feeds = self.dir.join(FEEDS_FOLDER);
        let directory = Directory::new(shelf.clone(), feeds.clone(), lsn, &ends_of(&state));
        let bodies = BodyReader::new(self.disk.clone(), feeds);
        let broken = BTreeMap::new();
        let mut replay = Replay { state, next: lsn, directory: &directory, broken, bodies, end, num_bytes: 0 };
        shelf.begin_replay();
        let journal = Journal::open(
            self.disk.clone(),
            self.dir.join(JOURNAL_FOLDER),
            journal_options(&self.options)?,
            lsn,
            &mut |first, count, payload| Ok(replay.group(first, count, payload)?),
        )?;
        let Replay { state, next, broken, bodies, num_bytes, .. } = replay;
        let gap = bodies.first_gap().cloned();
        if let Some((feed, source)) = broken.into_iter().next().filter(|_| gap.is_none()) {
            return Err(WriteError { feed, source }.into());
        }
        Ok(Replayed { num_apart: bodies.num_read(), shelf, directory, journal, state, next, num_bytes, gap })
    }

    fn replay_from(self, lsn: Lsn, state: State) -> Result<Opened, StoreError> {
        let mut replayed = self.replay(lsn, state, None)?;
        if let Some(gap) = replayed.gap.take() {
            // Known only at the end: a deletion might have explained it.
            replayed = self.replay(lsn, self.read_state(lsn)?, Some(gap))?;
        }
        let Replayed { shelf, directory, journal, state, next, num_bytes, num_apart, gap: _ } = replayed;
        directory.end_replay()?;
        if self.options.durability == Durability::Fsync && num_apart > 0 {
            // The journal will claim them as durable.
            shelf.dirty.sync(&*self.disk)?;
        }
        let num_leftovers = settle_folders(&*self.disk, &directory, &state)?;
        let recovery = journal.recovery();
        let report = Report {
            manifest: lsn,
            num_entries: next.0 - lsn.0,
            num_bytes,
            num_leftovers,
            dropped: recovery.dropped.clone(),
            ..Report::default()
        };
        let store = Store {
            disk: self.disk,
            dir: self.dir,
            durability: self.options.durability,
            apart_bytes_min: self.options.apart_bytes_min,
            meta: self.meta,
            shelf,
            directory,
            manifests: self.manifests,
            spares: journal.spares(),
            journal: Mutex::new(journal),
            checkpoint: Mutex::new(()),
            poisoned: OnceLock::new(),
            _lock: self.lock,
        };
        Ok(Opened { store, state, lsn: next, report })
    }
}

/// What one replay gave.
struct Replayed {
    shelf: Arc<Shelf>,
    directory: Directory,
    journal: Journal,
    state: State,
    next: Lsn,
    num_bytes: u64,
    num_apart: u64,
    /// A batch that the journal left to its segment is not there, and no later entry says why.
    gap: Option<Gap>,
}

/// The journal's groups become state and tail files again.
struct Replay<'a> {
    state: State,
    next: Lsn,
    directory: &'a Directory,
    /// Feeds whose files are not as the manifest says. The journal may hold the deletion that explains it.
    broken: BTreeMap<FeedId, FileError>,
    bodies: BodyReader,
    /// The journal ends here, because of this.
    end: Option<Gap>,
    num_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
enum ReplayError {
    #[error("a group starts at entry {first} and does not hold entry {expected}, which is due")]
    Order { first: Lsn, expected: Lsn },
    #[error("a group of {found} entries is announced as one of {expected}")]
    Count { found: usize, expected: u32 },
    #[error(transparent)]
    Codec(#[from] codec::CodecError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Body(#[from] FileError),
}

impl Replay<'_> {
    fn group(&mut self, first: Lsn, count: u32, payload: Bytes) -> Result<Taken, ReplayError> {
        if let Some(gap) = self.end.as_ref().filter(|gap| gap.lsn <= first) {
            return Ok(Taken::Torn(gap.what.clone()));
        }
        self.num_bytes += payload.len() as u64;
        let entries = self.decode(first, payload)?;
        if entries.len() != count as usize {
            return Err(ReplayError::Count { found: entries.len(), expected: count });
        }
        // A manifest may stand inside a group: its state was taken while the group was open.
        let known = self.next.0.checked_sub(first.0).filter(|known| *known < u64::from(count));
        let Some(known) = known else { return Err(ReplayError::Order { first, expected: self.next }) };
        self.next = first.plus(count.into());
        self.apply(&entries[known as usize..])?;
        Ok(Taken::Whole)
    }

    fn decode(&mut self, first: Lsn, payload: Bytes) -> Result<Vec<Entry>, ReplayError> {
        let bodies = &mut self.bodies;
        let decoded = codec::decode_group(payload, &mut |apart| bodies.batch(apart, first));
        match self.bodies.take_failure() {
            Some(failure) => Err(failure.into()),
            None => Ok(decoded?),
        }
    }

    fn apply(&mut self, entries: &[Entry]) -> Result<(), WriteError> {
        let mut writes = Vec::new();
        for entry in entries {
            self.state.apply(entry, &mut writes);
        }
        let mut by_feed: BTreeMap<FeedId, Vec<TailWrite>> = BTreeMap::new();
        for write in writes.into_iter().filter(|write| !self.is_behind_gap(write)) {
            by_feed.entry(feed_of(&write)).or_default().push(write);
        }
        by_feed.into_iter().try_for_each(|(feed, writes)| self.write_feed(feed, &writes))
    }

    fn write_feed(&mut self, feed: FeedId, writes: &[TailWrite]) -> Result<(), WriteError> {
        let deletion = writes.iter().position(|write| matches!(write, TailWrite::FeedDeleted { .. }));
        if deletion.is_some() {
            self.bodies.explain(feed);
        }
        if self.broken.contains_key(&feed) {
            let Some(deletion) = deletion else { return Ok(()) };
            self.broken.remove(&feed);
            return self.directory.write(self.next, &writes[deletion..]);
        }
        match self.directory.write(self.next, writes) {
            Err(error) if error.source.is_absence() => {
                self.broken.insert(feed, error.source);
                if deletion.is_some() { self.write_feed(feed, writes) } else { Ok(()) }
            }
            outcome => outcome,
        }
    }

    fn is_behind_gap(&self, write: &TailWrite) -> bool {
        matches!(write, TailWrite::Batch { feed, partition, .. } if self.bodies.has_gap(*feed, *partition))
    }
}

/// A folder that holds anything that is not ours, and no word of us, belongs to somebody else.
fn refuse_foreign(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    const OURS: [&str; 6] =
        [LOCK_FILE, JOURNAL_FOLDER, MANIFEST_FOLDER, FEEDS_FOLDER, "meta.properties.tmp", "lost+found"];
    let names = match disk.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        names => names.map_err(FileError::io(dir))?,
    };
    if names.iter().any(|name| name == META_FILE) {
        return Ok(());
    }
    match names.into_iter().find(|name| !OURS.contains(&name.as_str())) {
        Some(name) => {
            Err(MetaError::Foreign { path: dir.to_owned(), what: format!("it holds {name:?} and no {META_FILE}") }
                .into())
        }
        None => Ok(()),
    }
}

fn take_lock(disk: &dyn Disk, dir: &Path) -> Result<Box<dyn Send + Sync>, StoreError> {
    let path = dir.join(LOCK_FILE);
    match disk.lock(&path) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(StoreError::InUse { path: dir.to_owned() }),
        outcome => Ok(outcome.map_err(FileError::io(&path))?),
    }
}

/// Makes an empty journal, an empty manifest and last the file that says that both are there.
fn set_up(disk: &Arc<dyn Disk>, dir: &Path, options: &StoreOptions, manifests: &Manifests) -> Result<Meta, StoreError> {
    let feeds = dir.join(FEEDS_FOLDER);
    for folder in [manifests.folder(), &feeds] {
        disk.create_dir_all(folder).map_err(FileError::io(folder))?;
    }
    let empty = manifests.list()?.iter().all(|lsn| *lsn == Lsn(0))
        && disk.list(&feeds).map_err(FileError::io(&feeds))?.is_empty();
    if !empty {
        return Err(StoreError::NoMeta { dir: dir.to_owned() });
    }
    let mut num_groups = 0;
    let journal = dir.join(JOURNAL_FOLDER);
    Journal::open(disk.clone(), journal, journal_options(options)?, Lsn(0), &mut |_, _, _| {
        num_groups += 1;
        Ok(Taken::Whole)
    })?;
    if num_groups > 0 {
        return Err(StoreError::NoMeta { dir: dir.to_owned() });
    }
    manifests.write(Lsn(0), &State::default().encode())?;
    let cluster_id = match &options.cluster_id {
        Some(id) => id.clone(),
        None => random_id().map_err(FileError::io(dir))?,
    };
    let meta = Meta::new(cluster_id, options.node_id);
    meta.write(&**disk, dir)?;
    if let Some(parent) = dir.parent() {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        disk.sync_dir(parent).map_err(FileError::io(parent))?;
    }
    Ok(meta)
}

/// A folder that was in use holds these; one of them empty means that data was taken away.
fn check_complete(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    let emptied = |what| StoreError::Emptied { dir: dir.to_owned(), what };
    let holds = |folder: &str, accept: &dyn Fn(&str) -> bool| match disk.list(&dir.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        names => names.map(|names| names.iter().any(|name| accept(name))).map_err(FileError::io(dir)),
    };
    if !holds(JOURNAL_FOLDER, &|name| name.ends_with(".journal") || name.starts_with("give-up-from-"))? {
        return Err(emptied("the journal"));
    }
    if !holds(MANIFEST_FOLDER, &|_| true)? {
        return Err(emptied("the manifest"));
    }
    if !disk.exists(&dir.join(FEEDS_FOLDER)).map_err(FileError::io(dir))? {
        return Err(emptied("the folder of feeds"));
    }
    Ok(())
}

/// Holds the folders of feeds against the state: half removed ones are removed; one that cannot be placed, or is
/// missing, stops the start. Looks into none of them. Returns how many were removed.
fn settle_folders(disk: &dyn Disk, directory: &Directory, state: &State) -> Result<usize, StoreError> {
    let names = disk.list(directory.folder()).map_err(FileError::io(directory.folder()))?;
    let mut missing: BTreeSet<FeedId> = directory.ids().into_iter().collect();
    let mut num_removed = 0;
    for name in names {
        let Some(feed) = name.parse().ok().map(FeedId) else {
            tracing::warn!(name, "a file among the folders of feeds that is not ours");
            continue;
        };
        if missing.remove(&feed) {
            continue;
        }
        if feed >= state.next_feed() {
            return Err(StoreError::Unplaced { path: directory.feed_folder(feed) });
        }
        directory.remove_folder(feed)?;
        num_removed += 1;
    }
    match missing.first() {
        Some(feed) => Err(StoreError::Emptied { dir: directory.feed_folder(*feed), what: "the folder of a feed" }),
        None => Ok(num_removed),
    }
}

fn journal_options(options: &StoreOptions) -> Result<JournalOptions, FileError> {
    let salt = match options.journal_salt {
        Some(salt) => salt,
        None => u32::from_be_bytes(entropy::bytes().map_err(FileError::io(Path::new(JOURNAL_FOLDER)))?),
    };
    Ok(JournalOptions { file_bytes: options.journal_file_bytes, durability: options.durability, salt })
}

/// A random UUID as Kafka writes one: base64 of its 16 bytes, for URLs, without padding.
fn random_id() -> io::Result<String> {
    loop {
        let id = base64(entropy::uuid()?.as_bytes());
        // A leading dash would look like an option on a command line.
        if !id.starts_with('-') {
            return Ok(id);
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().enumerate().fold(0_u32, |bits, (index, byte)| bits | u32::from(*byte) << (16 - 8 * index));
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
        }
    }
    text
}
