//! The running machine: the core and its lock, the flusher, what is published, and upkeep.

mod aliases;
mod aside;
mod core;
mod durable;
mod expiry;
mod feeds;
mod flush;
mod groups;
mod handles;
mod held;
mod indexer;
mod keep;
mod positions;
mod publish;
mod retention;
mod settings;
mod survey;
mod told;
mod transactions;
mod trim;
mod uncommitted;
mod upkeep;
mod views;
mod waiters;

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

pub use self::aliases::AliasError;
use self::aside::Aside;
use self::core::Core;
pub use self::core::Gated;
use self::durable::Durable;
pub use self::feeds::{CreateFeed, CreatedFeed};
use self::flush::Flush;
use self::groups::Groups;
pub use self::groups::{
    Asked, CommitError, Committer, ListedGroup, StageError, Subscribable, UnreadableGroup, topic_name_of,
};
pub use self::handles::{Catalog, FeedConfig, FeedEnds, FeedHandle, PartitionHandle};
use self::indexer::Inbox;
pub use self::positions::Unstable;
use self::publish::Publisher;
pub use self::settings::{Dynamic, GroupConfig, LiveSettings};
pub use self::survey::ProducerSeen;
pub use self::trim::DeleteError;
pub use self::views::{ResolveError, ViewHandle, ViewIds};
pub use self::waiters::Sleeper;
use crate::config::{self, ServerConfig, Settings};
use crate::disk::{Clock, Disk, limits};
use crate::model::{
    Append, AppendError, AppendOutcome, Decision, Feed, Lsn, OpenStream, Seal, SealError, SealOutcome, State, Timestamp,
};
use crate::store::{self, Store, StoreError, StoreOptions};
use crate::view::{OpenStreamReading, PartitionEnds, Selections};

/// A running broker. All of it is shared: connections call it from many tasks.
pub struct Broker {
    settings: Arc<LiveSettings>,
    core: Arc<Core>,
    store: Arc<Store>,
    flush: Arc<Flush>,
    durable: Arc<Durable>,
    publisher: Arc<Publisher>,
    catalog: Arc<Catalog>,
    clock: Arc<dyn Clock>,
    view_ids: ViewIds,
    selections: Arc<Selections>,
    indexer: Arc<Inbox>,
    groups: Groups,
    aside: Aside,
    deadline_changed: Notify,
    space_left: AtomicBool,
    /// Free bytes above the floor when the disk was last looked at, and the bytes written until then.
    spare_space: AtomicU64,
    written_at_look: AtomicU64,
    /// The cost of a replay when the last checkpoint was made, counted from the start.
    checkpointed: AtomicU64,
    /// Size of the state in the last checkpoint.
    image_bytes: AtomicU64,
    /// Bytes written when the journal was last looked at, and whether it was not marked as idle since.
    marked: AtomicU64,
    needs_mark: AtomicBool,
    stopping: AtomicBool,
    stop: Notify,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    flusher: Option<std::thread::JoinHandle<()>>,
    indexer: Option<std::thread::JoinHandle<()>>,
    upkeep: Option<tokio::task::JoinHandle<()>>,
    retention: Option<tokio::task::JoinHandle<()>>,
    groups: Option<tokio::task::JoinHandle<()>>,
}

/// Bytes that may wait for the disk, unless `queued.max.request.bytes` says otherwise.
const QUEUED_BYTES_MAX: usize = 64 << 20;

/// Why a broker did not start or stop well.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Group(#[from] UnreadableGroup),
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    #[error("the journal could not be written: {0}")]
    Failed(String),
}

impl Broker {
    /// Opens the data folder, recovers it, and starts the flusher and the upkeep (on the current tokio runtime).
    pub fn open(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>, config: ServerConfig) -> Result<Arc<Broker>, BrokerError> {
        let opened = Store::open(disk, config.settings.data_dir.clone(), options_of(&config.settings))?;
        let store = Arc::new(opened.store);
        let dynamic = Dynamic {
            broker: opened.state.broker_overrides(Some(config.settings.node_id)).clone(),
            cluster: opened.state.broker_overrides(None).clone(),
        };
        let durability = config.settings.durability;
        let selections = Arc::new(Selections::within(config.settings.views_selections_bytes, clock.clone()));
        let settings = Arc::new(LiveSettings::new(config, dynamic));
        for (group, overrides) in opened.state.configured_groups() {
            settings.set_group(group, overrides.clone());
        }
        let catalog = Arc::new(Catalog::default());
        handles_of(&opened.state, &store, &settings).for_each(|handle| catalog.insert(Arc::new(handle)));
        let floor = opened.state.time_floor();
        let indexer = Arc::<Inbox>::default();
        let publisher =
            Arc::new(Publisher::new(catalog.clone(), store.clone(), settings.clone(), indexer.clone(), floor));
        let durable = Arc::new(Durable::starting_at(opened.lsn));
        let core = Arc::new(Core::new(opened.state, opened.lsn));
        let groups = Groups::restore(&core, settings.clone(), clock.elapsed())?;
        let flush = Arc::new(Flush::new(
            core.clone(),
            store.clone(),
            publisher.clone(),
            durable.clone(),
            clock.clone(),
            durability,
            opened.report.num_bytes,
        ));
        let broker = Arc::new(Broker {
            settings,
            core,
            store,
            flush,
            durable,
            publisher,
            catalog,
            clock,
            view_ids: ViewIds::default(),
            selections,
            indexer,
            groups,
            aside: Aside::default(),
            deadline_changed: Notify::new(),
            space_left: AtomicBool::new(true),
            spare_space: AtomicU64::new(u64::MAX),
            written_at_look: AtomicU64::new(0),
            checkpointed: AtomicU64::new(0),
            image_bytes: AtomicU64::new(0),
            marked: AtomicU64::new(0),
            needs_mark: AtomicBool::new(true),
            stopping: AtomicBool::new(false),
            stop: Notify::new(),
            threads: Mutex::default(),
        });
        broker.watch_free_space();
        broker.start()?;
        Ok(broker)
    }

    fn start(self: &Arc<Broker>) -> Result<(), BrokerError> {
        let flush = self.flush.clone();
        let flusher = std::thread::Builder::new().name("flusher".into()).spawn(move || flush.run());
        let indexing = indexer::Indexer::new(self.clone());
        let indexer = std::thread::Builder::new().name("indexer".into()).spawn(move || indexing.run());
        let upkeep = tokio::spawn(upkeep::run(self.clone()));
        let retention = tokio::spawn(upkeep::retain(self.clone()));
        let groups = tokio::spawn(groups::run(self.clone()));
        let mut threads = self.threads.lock().expect("no code panics while it holds the threads");
        *threads = Threads {
            flusher: Some(flusher.map_err(BrokerError::Thread)?),
            indexer: Some(indexer.map_err(BrokerError::Thread)?),
            upkeep: Some(upkeep),
            retention: Some(retention),
            groups: Some(groups),
        };
        Ok(())
    }

    /// Bytes of requests that may wait: those that came whole for the disk, and those on their way in for their end.
    pub fn queued_bytes_max(&self) -> usize {
        self.settings.typed().queued_request_bytes_max.unwrap_or(QUEUED_BYTES_MAX)
    }

    /// Files that the store keeps open, at most.
    pub fn num_files_max(&self) -> usize {
        num_files_max()
    }

    /// Writes what was decided, makes a checkpoint and closes the journal. Call it when no connection is left.
    pub async fn shut_down(self: &Arc<Broker>) -> Result<(), BrokerError> {
        self.stopping.store(true, Ordering::Release);
        self.stop.notify_waiters();
        let threads = std::mem::take(&mut *self.threads.lock().expect("no code panics while it holds the threads"));
        for task in threads.upkeep.into_iter().chain(threads.retention).chain(threads.groups) {
            task.abort();
            // Aborted on purpose: its answer says nothing.
            let _ = task.await;
        }
        self.indexer.stop();
        self.flush.stop();
        let broker = self.clone();
        let closing = tokio::task::spawn_blocking(move || {
            if threads.indexer.is_some_and(|thread| thread.join().is_err()) {
                tracing::error!("the indexer thread panicked; what it left is made good at the next start");
            }
            broker.close(threads.flusher)
        });
        closing.await.unwrap_or_else(|panic| Err(BrokerError::Failed(panic.to_string())))
    }

    fn close(&self, flusher: Option<std::thread::JoinHandle<()>>) -> Result<(), BrokerError> {
        if flusher.is_some_and(|thread| thread.join().is_err()) {
            return Err(BrokerError::Failed("the flusher thread panicked".into()));
        }
        match self.failure() {
            Some(failure) => Err(BrokerError::Failed(failure.to_owned())),
            None => {
                match self.checkpoint() {
                    Ok(()) => {}
                    Err(error @ StoreError::Poisoned { .. }) => return Err(error.into()),
                    // The journal holds everything: the next start replays it.
                    Err(error) => tracing::warn!(%error, "stopped without a checkpoint"),
                }
                Ok(self.store.mark_idle()?)
            }
        }
    }

    /// The configuration in force.
    pub fn settings(&self) -> &Arc<LiveSettings> {
        &self.settings
    }

    /// The id that `meta.properties` keeps.
    pub fn cluster_id(&self) -> &str {
        &self.store.meta().cluster_id
    }

    /// The published feeds.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Time that never goes back, for seals and deadlines.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.clock.steady_ms())
    }

    /// The wall's time, for records that are stamped when they arrive.
    pub fn wall_now(&self) -> Timestamp {
        Timestamp(self.clock.wall_ms())
    }

    /// Appends a checked batch.
    pub fn append(&self, append: Append<'_>) -> Gated<Result<AppendOutcome, AppendError>> {
        self.submit(|state| state.decide_append(append))
    }

    /// Seals a feed's stream at the client's or operator's wish.
    pub fn seal(&self, seal: Seal) -> Gated<Result<SealOutcome, SealError>> {
        self.submit(|state| state.decide_seal(seal))
    }

    /// Completes once everything below `lsn` is durable; an error says why that will never be.
    pub async fn durable(&self, lsn: Lsn) -> Result<(), BrokerError> {
        if !self.is_durable(lsn) {
            self.kick();
        }
        let reached = self.durable.reached(lsn);
        tokio::pin!(reached);
        std::future::poll_fn(|cx| {
            use std::future::Future;
            if let Some(failure) = self.failure() {
                return std::task::Poll::Ready(Err(BrokerError::Failed(failure.to_owned())));
            }
            let polled = reached.as_mut().poll(cx).map(Ok);
            // Asked again now that the waker is known: a failure in between woke nobody.
            match (polled, self.failure()) {
                (std::task::Poll::Pending, Some(failure)) => {
                    std::task::Poll::Ready(Err(BrokerError::Failed(failure.to_owned())))
                }
                (polled, _) => polled,
            }
        })
        .await
    }

    /// True when everything below `lsn` is durable already.
    pub fn is_durable(&self, lsn: Lsn) -> bool {
        self.durable.lsn() >= lsn
    }

    /// False when the disk is too full to take records.
    pub fn has_space(&self) -> bool {
        self.space_left.load(Ordering::Acquire) && {
            // Between two looks at the disk, what was written since counts (journal and segments: twice).
            let written = 2 * (self.flush.bytes_written() - self.written_at_look.load(Ordering::Acquire));
            written <= self.spare_space.load(Ordering::Acquire)
        }
    }

    /// What made the disk fail, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.flush.failure()
    }

    /// True when so much waits for the disk that a connection should wait before it brings more.
    pub fn is_congested(&self) -> bool {
        self.core.open_bytes() > self.queued_bytes_max()
    }

    fn submit<T, E>(&self, decide: impl FnOnce(&State) -> Result<Decision<T>, E>) -> Gated<Result<T, E>> {
        let submitted = self.core.submit(decide);
        if submitted.deadline_moved {
            self.deadline_changed.notify_one();
        }
        submitted.result
    }

    /// The same for what is never refused.
    fn decide<T>(&self, decide: impl FnOnce(&State) -> Decision<T>) -> Gated<T> {
        self.submit(|state| Ok::<_, Infallible>(decide(state))).map(|Ok(decided)| decided)
    }

    /// Sends what was decided on its way to the disk. Callers that decide several times in a row call it once, after
    /// the last, so that all of it goes in one write.
    pub fn kick(&self) {
        self.flush.kick();
    }

    /// Completes when what waits for the disk now has been written.
    pub async fn relieved(&self) -> Result<(), BrokerError> {
        self.durable(self.core.next()).await
    }

    fn time_floor(&self) -> Timestamp {
        self.publisher.time_floor()
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.core.deadline()
    }

    async fn deadline_changed(&self) {
        self.deadline_changed.notified().await;
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    async fn stop_requested(&self) {
        self.stop.notified().await;
    }

    fn seal_what_is_due(&self) {
        let now = self.now();
        self.decide(|state| state.decide_due(now));
        self.decide(|state| state.decide_timeouts(now, &|feed| self.rolling(feed)));
        self.kick();
    }
}

fn options_of(settings: &Settings) -> StoreOptions {
    StoreOptions {
        durability: match settings.durability {
            config::Durability::Fsync => store::Durability::Fsync,
            config::Durability::Os => store::Durability::Os,
        },
        node_id: settings.node_id,
        journal_file_bytes: settings.journal_file_bytes,
        num_open_files_max: num_files_max(),
        ..StoreOptions::default()
    }
}

/// A part of what the process may have: the rest is for connections. (With 4,096 a seal over a thousand partitions takes half as
/// long, for it writes to two files of each, and opens most of them anew.)
fn num_files_max() -> usize {
    const FILES_MAX: usize = 512;
    FILES_MAX.min(limits::open_files() / 4).max(16)
}

/// What readers see of the recovered feeds.
fn handles_of<'a>(
    state: &'a State,
    store: &'a Arc<Store>,
    settings: &'a LiveSettings,
) -> impl Iterator<Item = FeedHandle> + 'a {
    state.feeds().filter_map(move |feed| {
        let files = store.feed(feed.id())?;
        let config = settings.feed_config(feed.overrides().clone());
        let (name, topic_id) = (feed.name().to_owned(), feed.topic_id());
        Some(FeedHandle::new(feed.id(), name, topic_id, files, config, ends_of(feed)))
    })
}

fn ends_of(feed: &Feed) -> FeedEnds {
    let partitions = feed.partitions().iter().map(|p| PartitionEnds {
        log_start: p.log_start(),
        high_watermark: p.log_end(),
        last_stable: p.last_stable(),
        feed_start: p.feed_start(),
        feed_end: p.feed_end(),
        first_run: p.first_run(),
    });
    FeedEnds {
        partitions: partitions.collect(),
        start: feed.history(),
        commits: feed.next_commit(),
        streams: feed.next_stream(),
        events: feed.stream_events().next,
        sealed_at: feed.last_sealed_at(),
        open: feed.open_streams().map(|stream| (stream.id(), open_reading(stream))).collect(),
    }
}

fn open_reading(stream: &OpenStream) -> OpenStreamReading {
    let mut reading = OpenStreamReading::default();
    reading.owner = stream.owner().map(str::to_owned);
    for (partition, part) in stream.parts() {
        part.extents.iter().for_each(|extent| reading.add(partition, *extent, stream.record_label()));
    }
    reading
}
