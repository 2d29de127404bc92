//! The files of one feed and of its partitions, opened when they are first used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::disk::Disk;
use crate::model::{AbortedRow, FeedId, FeedOffset, HistoryStart, Offset, PartitionId, RunRow, Timestamp};

use super::aborted::Aborted;
use super::commits::Commits;
use super::doomed::{Cut, LogCut};
use super::error::{FileError, ReadError};
use super::handles::Handles;
use super::log::{Log, LogEnd, LogSlice, RecordTime};
use super::markers::Markers;
use super::records::Found;
use super::runs::{Manifests, Runs};
use super::segment::{Placed, Segment};
use super::shelf::Shelf;
use super::streams::Streams;

/// Where a feed's files end, as the state of the manifest says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedEnds {
    pub start: HistoryStart,
    pub num_commits: u64,
    pub commits_bytes: u64,
    pub num_events: u64,
    pub streams_bytes: u64,
    pub partitions: Vec<PartitionEnds>,
}

/// Where a partition's files end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionEnds {
    /// The first offset that is read.
    pub start: Offset,
    pub log: LogEnd,
    pub first_run: u64,
    pub num_runs: u64,
    pub num_aborted: u64,
}

/// See the module.
pub struct FeedFiles {
    pub id: FeedId,
    shelf: Arc<Shelf>,
    folder: PathBuf,
    gone: Arc<AtomicBool>,
    commits: Arc<Commits>,
    streams: Streams,
    partitions: RwLock<Vec<Arc<PartitionFiles>>>,
    /// Held while a folder is added to the feed's, which must not come back once it is removed.
    adding: Mutex<()>,
}

/// The files of one partition.
pub struct PartitionFiles {
    log: Arc<Log>,
    runs: Runs,
    aborted: Aborted,
    shelf: Arc<Shelf>,
    folder: PathBuf,
    /// The folder is known to exist.
    made: AtomicBool,
}

impl FeedFiles {
    /// The feed in `folder`; touches nothing.
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, id: FeedId, ends: &FeedEnds) -> FeedFiles {
        let gone = Arc::<AtomicBool>::default();
        let commits =
            Found { first: ends.start.manifest.0 as u64, end: ends.num_commits, log_bytes: ends.commits_bytes };
        let events = Found { first: ends.start.event as u64, end: ends.num_events, log_bytes: ends.streams_bytes };
        let feed = FeedFiles {
            id,
            commits: Arc::new(Commits::new(&shelf, &folder, commits, &gone)),
            streams: Streams::new(&shelf, &folder, events, &gone),
            partitions: RwLock::default(),
            adding: Mutex::default(),
            shelf,
            folder,
            gone,
        };
        ends.partitions.iter().for_each(|ends| feed.add_partition(*ends));
        feed
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The disk that holds the folder.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.shelf.disk
    }

    /// The open files, among which those of whatever else is kept in the folder count too.
    pub fn handles(&self) -> &Arc<Handles> {
        &self.shelf.handles
    }

    /// Makes a folder in the feed's, if need be. False when the feed was deleted: its folder must not come back.
    pub fn make_folder(&self, name: &str) -> Result<bool, FileError> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_gone() {
            return Ok(false);
        }
        let folder = self.folder.join(name);
        self.shelf.disk.create_dir_all(&folder).map_err(FileError::io(&folder))?;
        Ok(true)
    }

    /// True when there is a folder of that name in the feed's.
    pub fn has_folder(&self, name: &str) -> Result<bool, FileError> {
        let folder = self.folder.join(name);
        self.shelf.disk.exists(&folder).map_err(FileError::io(&folder))
    }

    pub fn commits(&self) -> &Commits {
        &self.commits
    }

    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    pub fn partition(&self, partition: PartitionId) -> Option<Arc<PartitionFiles>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.get(partition.0 as usize).cloned()
    }

    /// See [`Log::sweep`].
    pub(super) fn sweep(&self) -> Result<(), FileError> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner).clone();
        partitions.iter().try_for_each(|partition| partition.log.sweep())
    }

    pub fn num_partitions(&self) -> u32 {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).len() as u32
    }

    /// From here on there are `num` partitions.
    pub(super) fn grow(&self, num: u32) {
        while self.num_partitions() < num {
            self.add_partition(PartitionEnds::default());
        }
    }

    /// Removes the files that nothing needs after `cut`, which is one of the partition, if one is named. Returns how many
    /// went.
    pub(super) fn remove_below(&self, partition: Option<PartitionId>, cut: Cut) -> Result<usize, FileError> {
        match (partition.and_then(|partition| self.partition(partition)), cut) {
            (Some(files), Cut::Log(cut)) => files.remove_below(cut),
            (None, Cut::History(start)) => self.remove_history_below(start),
            _ => Ok(0),
        }
    }

    fn remove_history_below(&self, start: HistoryStart) -> Result<usize, FileError> {
        let names = self.shelf.disk.list(&self.folder).map_err(FileError::io(&self.folder))?;
        Ok(self.commits.remove_below(start.manifest, &names)? + self.streams.remove_below(start.event, &names)?)
    }

    /// Events below the start are not read any more.
    pub(super) fn trim(&self, start: HistoryStart) {
        self.streams.trim(start.event);
    }

    /// The feed was deleted: its files may be missing.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// From here on missing files are no errors.
    pub(super) fn mark_gone(&self) {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        self.gone.store(true, Ordering::Release);
    }

    fn add_partition(&self, ends: PartitionEnds) {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        let partition = PartitionId(partitions.len() as u32);
        let folder = self.folder.join(partition.to_string());
        let manifests = Manifests { commits: self.commits.clone(), partition };
        let rows = (ends.first_run, ends.num_runs);
        let log = Arc::new(Log::new(self.shelf.clone(), folder.clone(), self.gone.clone(), ends.start, ends.log));
        let markers = Markers { log: log.clone(), end: ends.log };
        partitions.push(Arc::new(PartitionFiles {
            log,
            runs: Runs::new(self.shelf.clone(), folder.clone(), rows, self.gone.clone(), manifests),
            aborted: Aborted::new(self.shelf.clone(), folder.clone(), ends.num_aborted, self.gone.clone(), markers),
            made: AtomicBool::new(ends != PartitionEnds::default()),
            shelf: self.shelf.clone(),
            folder,
        }));
    }
}

impl PartitionFiles {
    /// See [`Log::read`].
    pub fn read(&self, from: Offset, end: Offset, bytes_max: usize) -> Result<LogSlice, ReadError> {
        self.log.read(from, end, bytes_max)
    }

    /// See [`Log::find_time`].
    pub fn find_time(
        &self,
        time: Timestamp,
        from: Offset,
        end: Offset,
        decoded_bytes_max: usize,
    ) -> Result<Option<RecordTime>, ReadError> {
        self.log.find_time(time, from, end, decoded_bytes_max)
    }

    /// See [`Log::max_timestamp`].
    pub fn max_timestamp(&self, from: Offset, end: Offset) -> Result<Option<Timestamp>, ReadError> {
        self.log.max_timestamp(from, end)
    }

    /// See [`Log::offset_before`].
    pub fn offset_before(&self, bytes: u64) -> Result<Option<Offset>, FileError> {
        self.log.offset_before(bytes)
    }

    /// The first offset that is read.
    pub fn start(&self) -> Result<Offset, ReadError> {
        self.log.start()
    }

    pub fn segments(&self) -> Result<Vec<Arc<Segment>>, FileError> {
        self.log.segments()
    }

    /// Bytes of all segments.
    pub fn log_bytes(&self) -> Result<u64, FileError> {
        self.segments()?.iter().map(|segment| segment.end()).sum()
    }

    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// The aborted transactions.
    pub fn aborted(&self) -> &Aborted {
        &self.aborted
    }

    /// The runs that cover `[from, end)` of the feed space; see [`Runs::covering`].
    pub fn runs_covering(
        &self,
        first: u64,
        from: FeedOffset,
        end: FeedOffset,
        num_max: usize,
    ) -> Result<Vec<RunRow>, FileError> {
        self.runs.covering(first, from, end, num_max)
    }

    /// See [`Log::trim`].
    pub(super) fn trim(&self, start: Offset, emptied: bool) {
        self.log.trim(start, emptied);
    }

    /// Removes the files that nothing needs after `cut`. Returns how many went.
    pub(super) fn remove_below(&self, cut: LogCut) -> Result<usize, FileError> {
        let names = match self.shelf.disk.list(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            names => names.map_err(FileError::io(&self.folder))?,
        };
        let num_removed =
            self.log.remove_below(cut.log, cut.emptied, &names)? + self.runs.remove_below(cut.run, &names)?;
        Ok(num_removed + self.aborted.remove_below(cut.log, &names)?)
    }

    pub(super) fn append(&self, segment: Offset, position: u64, batches: &[Placed]) -> Result<(), FileError> {
        self.make_folder()?;
        self.log.append(segment, position, batches)
    }

    pub(super) fn append_runs(&self, row: u64, runs: &[RunRow]) -> Result<(), FileError> {
        self.make_folder()?;
        self.runs.append(row, runs)
    }

    pub(super) fn append_aborted(&self, row: u64, aborted: &AbortedRow) -> Result<(), FileError> {
        self.make_folder()?;
        self.aborted.append(row, aborted)
    }

    fn make_folder(&self) -> Result<(), FileError> {
        if !self.made.load(Ordering::Acquire) {
            self.shelf.disk.create_dir_all(&self.folder).map_err(FileError::io(&self.folder))?;
            self.made.store(true, Ordering::Release);
        }
        Ok(())
    }
}
