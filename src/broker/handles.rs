//! What readers see of a feed: ends that are durable, and the files behind them. No reader takes the core's lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use uuid::Uuid;

use super::waiters::{Sleeper, Waiters};
use crate::config::TopicSettings;
use crate::metrics;
use crate::model::{
    CommitNumber, Extent, FeedId, FeedOffset, FeedSettings, HistoryStart, Offset, PartitionId, PartitionStart,
    StreamId, Timestamp,
};
use crate::store::{FeedFiles, FileError};
use crate::view::{Index, OpenStreamReading, PartitionEnds, Published, ViewName};

/// A feed as published.
pub struct FeedHandle {
    pub id: FeedId,
    pub name: String,
    pub topic_id: Uuid,
    pub files: Arc<FeedFiles>,
    partitions: RwLock<Arc<[Arc<PartitionHandle>]>>,
    config: RwLock<Arc<FeedConfig>>,
    start: RwLock<HistoryStart>,
    /// See [`Published::losses`].
    losses: AtomicU64,
    commits: AtomicI64,
    streams: AtomicI64,
    events: AtomicI64,
    sealed_at: AtomicI64,
    open: Mutex<BTreeMap<StreamId, OpenStreamReading>>,
    /// The oldest commit that is kept and its seal time, as last looked up.
    oldest: Mutex<Option<(CommitNumber, Timestamp)>>,
    history: Waiters,
    index: RwLock<Index>,
    indexed: Waiters,
}

/// A feed's configuration: what was set on it, and what follows with the broker's defaults.
pub struct FeedConfig {
    pub overrides: Arc<BTreeMap<String, String>>,
    pub settings: TopicSettings,
    /// The view that the topic is but a name of.
    pub alias: Option<Arc<ViewName>>,
    /// Those of them that the model decides by.
    pub model: FeedSettings,
}

/// A partition as published.
pub struct PartitionHandle {
    log_start: AtomicI64,
    high_watermark: AtomicI64,
    last_stable: AtomicI64,
    feed_start: AtomicI64,
    feed_end: AtomicI64,
    first_run: AtomicU64,
    waiters: Waiters,
}

/// The published numbers with which a handle starts.
#[derive(Clone, Debug, Default)]
pub struct FeedEnds {
    pub partitions: Vec<PartitionEnds>,
    pub start: HistoryStart,
    pub commits: CommitNumber,
    pub streams: StreamId,
    pub events: i64,
    pub sealed_at: Timestamp,
    pub open: BTreeMap<StreamId, OpenStreamReading>,
}

impl FeedHandle {
    /// A handle that publishes `ends`.
    pub fn new(
        id: FeedId,
        name: String,
        topic_id: Uuid,
        files: Arc<FeedFiles>,
        config: FeedConfig,
        ends: FeedEnds,
    ) -> FeedHandle {
        let partitions = ends.partitions.iter().map(|e| Arc::new(PartitionHandle::new(*e))).collect();
        FeedHandle {
            id,
            name,
            topic_id,
            files,
            partitions: RwLock::new(partitions),
            config: RwLock::new(Arc::new(config)),
            start: RwLock::new(ends.start),
            losses: AtomicU64::new(0),
            commits: AtomicI64::new(ends.commits.0),
            streams: AtomicI64::new(ends.streams.0),
            events: AtomicI64::new(ends.events),
            sealed_at: AtomicI64::new(ends.sealed_at.0),
            open: Mutex::new(ends.open),
            oldest: Mutex::default(),
            history: Waiters::default(),
            index: RwLock::new(Index::None),
            indexed: Waiters::default(),
        }
    }

    /// How many partitions the feed has.
    pub fn partitions(&self) -> u32 {
        self.all().len() as u32
    }

    /// The partition, if the feed has it.
    pub fn partition(&self, partition: PartitionId) -> Option<Arc<PartitionHandle>> {
        self.all().get(partition.0 as usize).cloned()
    }

    /// What was set on the feed.
    pub fn overrides(&self) -> Arc<BTreeMap<String, String>> {
        self.config().overrides.clone()
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<FeedConfig> {
        self.config.read().expect("no code panics while it holds a feed's configuration").clone()
    }

    /// The view that the topic is but a name of: then it holds nothing itself.
    pub fn alias(&self) -> Option<Arc<ViewName>> {
        self.config.read().expect("no code panics while it holds a feed's configuration").alias.clone()
    }

    /// Seal time of the oldest commit that is kept. Looked up once, so that idle feeds need no open file.
    pub(super) fn oldest_sealed(&self) -> Result<Option<Timestamp>, FileError> {
        let oldest = self.history().commit;
        if oldest >= Published::commits(self) {
            return Ok(None);
        }
        let mut known = self.oldest.lock().expect("no code panics while it holds the oldest commit");
        if let Some((_, sealed)) = known.filter(|(commit, _)| *commit == oldest) {
            return Ok(Some(sealed));
        }
        let sealed = self.files.commits().row(oldest)?.sealed;
        *known = Some((oldest, sealed));
        Ok(Some(sealed))
    }

    /// `sleeper` is woken when something new of partition `partition` or of the feed's history is published.
    pub fn wake_for(&self, partition: PartitionId, sleeper: &Sleeper) {
        if let Some(handle) = self.partition(partition) {
            handle.waiters.add(sleeper);
        }
    }

    /// `sleeper` is woken at the next commit or stream event.
    pub fn wake_for_history(&self, sleeper: &Sleeper) {
        self.history.add(sleeper);
    }

    /// `sleeper` is woken when the feed's index has gone on, or cannot.
    pub fn wake_for_index(&self, sleeper: &Sleeper) {
        self.indexed.add(sleeper);
    }

    /// Where the open streams begin in a partition's log.
    pub(super) fn open_start(&self, partition: PartitionId) -> Option<Offset> {
        let open = self.open_streams();
        open.values().filter_map(|stream| stream.extents(partition).first()).map(|extent| extent.base).min()
    }

    pub(super) fn publish_config(&self, config: FeedConfig) {
        *self.config.write().expect("no code panics while it holds a feed's configuration") = Arc::new(config);
    }

    pub(super) fn publish_partitions(&self, count: u32) {
        let mut all = self.partitions.write().expect("no code panics while it holds the partitions");
        let more = (all.len()..count as usize).map(|_| Arc::new(PartitionHandle::new(PartitionEnds::default())));
        *all = all.iter().cloned().chain(more).collect();
    }

    pub(super) fn publish_extent(&self, stream: StreamId, partition: PartitionId, extent: Extent, label: Option<&str>) {
        self.open_streams().entry(stream).or_default().add(partition, extent, label);
        // After it can be found: a number below the end that is not found is one that never became a commit.
        self.streams.fetch_max(stream.0 + 1, Ordering::Release);
    }

    /// A transaction opened the stream.
    pub(super) fn publish_open(&self, stream: StreamId, owner: &str) {
        self.open_streams().entry(stream).or_default().owner = Some(owner.to_owned());
        self.streams.fetch_max(stream.0 + 1, Ordering::Release);
    }

    /// The stream became no commit.
    pub(super) fn publish_aborted(&self, stream: StreamId) {
        self.streams.fetch_max(stream.0 + 1, Ordering::Release);
        self.open_streams().remove(&stream);
    }

    pub(super) fn publish_commit(&self, commit: CommitNumber, stream: StreamId, sealed: Timestamp) {
        self.sealed_at.store(sealed.0, Ordering::Release);
        self.commits.store(commit.0 + 1, Ordering::Release);
        self.streams.fetch_max(stream.0 + 1, Ordering::Release);
        // Last, so that a reader always finds the stream, open or sealed.
        self.open_streams().remove(&stream);
    }

    /// The history first: whoever sees that a partition begins later can see why.
    pub(super) fn publish_start(&self, start: HistoryStart, partitions: &[PartitionStart]) {
        // Before all: whoever sees the new starts must see that his links may lead through what is gone.
        if start.commit == self.history().commit && self.lose_sealed(partitions) {
            self.losses.fetch_add(1, Ordering::SeqCst);
        }
        *self.start.write().expect("no code panics while it holds the start of a history") = start;
        for start in partitions {
            if let Some(partition) = self.partition(start.partition) {
                partition.publish_start(*start);
            }
        }
    }

    /// One of several partitions is to begin after sealed records that it has.
    fn lose_sealed(&self, partitions: &[PartitionStart]) -> bool {
        let loses = |start: &PartitionStart| {
            let ends = self.partition(start.partition).map(|partition| partition.published()).unwrap_or_default();
            ends.feed_start < start.feed.min(ends.feed_end)
        };
        self.partitions() > 1 && partitions.iter().any(loses)
    }

    pub(super) fn publish_event(&self, event: i64) {
        self.events.store(event + 1, Ordering::Release);
    }

    pub(super) fn publish_index(&self, index: Index) {
        *self.index.write().expect("no code panics while it holds a feed's index") = index;
        self.wake_indexed();
    }

    pub(super) fn has_index(&self) -> bool {
        !matches!(self.index(), Index::None)
    }

    pub(super) fn wake_indexed(&self) {
        self.indexed.wake();
    }

    pub(super) fn wake_history(&self) {
        self.history.wake();
    }

    /// Wakes every reader: the feed is gone and each must look again.
    pub(super) fn wake_all(&self) {
        self.all().iter().for_each(|p| p.waiters.wake());
        self.history.wake();
        self.indexed.wake();
    }

    fn all(&self) -> Arc<[Arc<PartitionHandle>]> {
        self.partitions.read().expect("no code panics while it holds the partitions").clone()
    }

    fn open_streams(&self) -> std::sync::MutexGuard<'_, BTreeMap<StreamId, OpenStreamReading>> {
        self.open.lock().expect("no code panics while it holds the open streams")
    }
}

impl PartitionHandle {
    fn new(ends: PartitionEnds) -> PartitionHandle {
        PartitionHandle {
            log_start: AtomicI64::new(ends.log_start.0),
            high_watermark: AtomicI64::new(ends.high_watermark.0),
            last_stable: AtomicI64::new(ends.last_stable.0),
            feed_start: AtomicI64::new(ends.feed_start.0),
            first_run: AtomicU64::new(ends.first_run),
            feed_end: AtomicI64::new(ends.feed_end.0),
            waiters: Waiters::default(),
        }
    }

    /// The durable ends.
    pub fn published(&self) -> PartitionEnds {
        PartitionEnds {
            log_start: Offset(self.log_start.load(Ordering::Acquire)),
            last_stable: Offset(self.last_stable.load(Ordering::Acquire)),
            high_watermark: Offset(self.high_watermark.load(Ordering::Acquire)),
            feed_start: FeedOffset(self.feed_start.load(Ordering::Acquire)),
            feed_end: FeedOffset(self.feed_end.load(Ordering::Acquire)),
            first_run: self.first_run.load(Ordering::Acquire),
        }
    }

    fn publish_start(&self, start: PartitionStart) {
        // What is gone is decided.
        self.last_stable.fetch_max(start.log.0, Ordering::AcqRel);
        self.log_start.store(start.log.0, Ordering::Release);
        self.feed_start.store(start.feed.0, Ordering::Release);
        self.first_run.store(start.run, Ordering::Release);
    }

    /// The end first: what is stable never lies behind it.
    pub(super) fn publish_end(&self, end: Offset, last_stable: Offset) {
        self.high_watermark.store(end.0, Ordering::Release);
        self.last_stable.store(last_stable.0, Ordering::Release);
    }

    pub(super) fn publish_feed_end(&self, end: FeedOffset) {
        self.feed_end.store(end.0, Ordering::Release);
    }

    pub(super) fn wake(&self) {
        self.waiters.wake();
    }
}

impl Published for FeedHandle {
    fn partitions(&self) -> u32 {
        FeedHandle::partitions(self)
    }

    fn partition(&self, partition: PartitionId) -> Option<PartitionEnds> {
        FeedHandle::partition(self, partition).map(|p| p.published())
    }

    fn history(&self) -> HistoryStart {
        *self.start.read().expect("no code panics while it holds the start of a history")
    }

    fn losses(&self) -> u64 {
        self.losses.load(Ordering::SeqCst)
    }

    fn commits(&self) -> CommitNumber {
        CommitNumber(self.commits.load(Ordering::Acquire))
    }

    fn events(&self) -> i64 {
        self.events.load(Ordering::Acquire)
    }

    fn streams(&self) -> StreamId {
        StreamId(self.streams.load(Ordering::Acquire))
    }

    fn sealed_at(&self) -> Timestamp {
        Timestamp(self.sealed_at.load(Ordering::Acquire))
    }

    fn open_stream(&self, stream: StreamId) -> Option<OpenStreamReading> {
        self.open_streams().get(&stream).cloned()
    }

    fn open_stream_labelled(&self, label: &str) -> Option<StreamId> {
        self.open_streams().iter().rev().find(|(_, s)| s.label() == Some(label)).map(|(id, _)| *id)
    }

    fn files(&self) -> &Arc<FeedFiles> {
        &self.files
    }

    fn index(&self) -> Index {
        self.index.read().expect("no code panics while it holds a feed's index").clone()
    }
}

/// The published feeds, by name and by topic id.
#[derive(Default)]
pub struct Catalog {
    feeds: RwLock<Names>,
    version: AtomicU64,
}

#[derive(Default)]
struct Names {
    by_name: BTreeMap<String, Arc<FeedHandle>>,
    by_topic_id: HashMap<Uuid, Arc<FeedHandle>>,
    by_id: HashMap<FeedId, Arc<FeedHandle>>,
}

impl Catalog {
    /// Another number whenever a feed was made, deleted or got partitions.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// A feed changed in a way that the version tells.
    pub(super) fn changed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// The feed of that name.
    pub fn by_name(&self, name: &str) -> Option<Arc<FeedHandle>> {
        self.read().by_name.get(name).cloned()
    }

    /// The feed with that topic id.
    pub fn by_topic_id(&self, id: &Uuid) -> Option<Arc<FeedHandle>> {
        self.read().by_topic_id.get(id).cloned()
    }

    /// The feed with that number.
    pub fn by_id(&self, id: FeedId) -> Option<Arc<FeedHandle>> {
        self.read().by_id.get(&id).cloned()
    }

    /// All feeds, ordered by name.
    pub fn all(&self) -> Vec<Arc<FeedHandle>> {
        self.read().by_name.values().cloned().collect()
    }

    /// Feeds whose name is `from` or later in order, at most `max` of them.
    pub fn page(&self, from: &str, max: usize) -> Vec<Arc<FeedHandle>> {
        self.read().by_name.range(from.to_owned()..).take(max).map(|(_, feed)| feed.clone()).collect()
    }

    pub(super) fn insert(&self, feed: Arc<FeedHandle>) {
        let mut names = self.write();
        names.by_name.insert(feed.name.clone(), feed.clone());
        names.by_topic_id.insert(feed.topic_id, feed.clone());
        names.by_id.insert(feed.id, feed);
        metrics::all().feeds.set(names.by_id.len() as i64);
        self.changed();
    }

    pub(super) fn remove(&self, id: FeedId) -> Option<Arc<FeedHandle>> {
        let mut names = self.write();
        let feed = names.by_id.remove(&id)?;
        metrics::all().feeds.set(names.by_id.len() as i64);
        names.by_topic_id.remove(&feed.topic_id);
        // A feed of the same name may have been made since.
        if names.by_name.get(&feed.name).is_some_and(|f| f.id == id) {
            names.by_name.remove(&feed.name);
        }
        self.changed();
        Some(feed)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Names> {
        self.feeds.read().expect("no code panics while it holds the catalog")
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Names> {
        self.feeds.write().expect("no code panics while it holds the catalog")
    }
}
