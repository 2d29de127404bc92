//! Publishing: what is durable becomes visible to readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::handles::{Catalog, FeedConfig, FeedEnds, FeedHandle};
use super::indexer::Inbox;
use super::settings::LiveSettings;
use crate::metrics;
use crate::model::{Appended, Entry, Extent, FeedCreated, FeedId, TailWrite, Timestamp, Told};
use crate::store::Store;
use crate::view::{PartitionEnds, Published};

/// Carries durable facts into the handles.
pub struct Publisher {
    catalog: Arc<Catalog>,
    store: Arc<Store>,
    settings: Arc<LiveSettings>,
    indexer: Arc<Inbox>,
    time_floor: AtomicI64,
}

impl Publisher {
    /// A publisher into `catalog`.
    pub fn new(
        catalog: Arc<Catalog>,
        store: Arc<Store>,
        settings: Arc<LiveSettings>,
        indexer: Arc<Inbox>,
        floor: Timestamp,
    ) -> Publisher {
        Publisher { catalog, store, settings, indexer, time_floor: AtomicI64::new(floor.0) }
    }

    /// No seal yet to come carries an earlier time.
    pub fn time_floor(&self) -> Timestamp {
        Timestamp(self.time_floor.load(Ordering::Acquire))
    }

    /// Shows a durable group to readers that look; [`Publisher::wake`] tells those that sleep.
    pub fn publish(&self, entries: &[Entry], writes: &[TailWrite]) {
        // Extents first: a stream's records are found as open until its commit is there.
        entries.iter().for_each(|entry| self.publish_entry(entry));
        writes.iter().for_each(|write| self.publish_write(write));
        // Last: whoever sees the floor must find every commit that was sealed before it.
        for entry in entries {
            if let Entry::TimeFloor { at } = entry {
                self.time_floor.store(at.0, Ordering::Release);
            }
        }
    }

    /// Wakes the readers that wait for what the group brought.
    pub fn wake(&self, writes: &[TailWrite]) {
        for write in writes {
            match write {
                TailWrite::Batch { feed, partition, .. } | TailWrite::Runs { feed, partition, .. } => {
                    self.with(*feed, |handle| {
                        if let Some(p) = handle.partition(*partition) {
                            p.wake();
                        }
                    });
                }
                // Whoever waits may wait below the new start.
                TailWrite::Trimmed { feed, .. } => {
                    self.with(*feed, FeedHandle::wake_all);
                    self.tell_indexer(*feed, Inbox::trim);
                }
                TailWrite::StreamEvent { feed, .. } => self.with(*feed, FeedHandle::wake_history),
                TailWrite::Commit { feed, .. } => {
                    self.with(*feed, FeedHandle::wake_history);
                    self.tell_indexer(*feed, Inbox::look_at);
                }
                _ => {}
            }
        }
    }

    fn publish_entry(&self, entry: &Entry) {
        match entry {
            Entry::FeedCreated(created) => self.publish_feed(created),
            Entry::FeedDeleted { feed, .. } => {
                if let Some(handle) = self.catalog.remove(*feed) {
                    handle.wake_all();
                    self.indexer.look_at(*feed);
                }
            }
            Entry::PartitionsAdded { feed, partitions, .. } => {
                self.with(*feed, |handle| handle.publish_partitions(*partitions));
                self.catalog.changed();
            }
            Entry::FeedConfigured { feed, overrides } => {
                let config = self.settings.feed_config(overrides.clone());
                self.with(*feed, |handle| handle.publish_config(config));
                self.tell_indexer(*feed, Inbox::look_at);
            }
            Entry::BrokerConfigured { broker, overrides } => {
                self.settings.set_dynamic(*broker, overrides.clone());
                for handle in self.catalog.all() {
                    let config = self.settings.feed_config((*handle.overrides()).clone());
                    handle.publish_config(config);
                    self.tell_indexer(handle.id, Inbox::look_at);
                }
            }
            Entry::GroupConfigured { group, overrides } => self.settings.set_group(group, overrides.clone()),
            Entry::Appended(appended) => self.publish_appended(appended),
            // The floor comes last of all; see `publish`.
            Entry::TimeFloor { .. } => {}
            // Published by their writes, or read from the state alone.
            Entry::ProducerOpened { .. }
            | Entry::ProducersForgotten { .. }
            | Entry::Sealed(_)
            | Entry::Trimmed(_)
            | Entry::PositionsMoved(_)
            | Entry::PositionsForgotten { .. }
            | Entry::GroupKept(_)
            | Entry::GroupDeleted { .. }
            | Entry::ProducerBound(_)
            | Entry::Enlisted(_)
            | Entry::PositionsStaged(_)
            | Entry::StreamNamed(_)
            | Entry::TransactionEnded(_)
            | Entry::TransactionalIdsForgotten { .. } => {}
        }
    }

    fn publish_feed(&self, created: &FeedCreated) {
        let Some(files) = self.store.feed(created.feed) else {
            // Deleted again in the same group.
            return;
        };
        let partitions = vec![PartitionEnds::default(); created.partitions as usize];
        let ends = FeedEnds { partitions, ..FeedEnds::default() };
        let config: FeedConfig = self.settings.feed_config(created.overrides.clone());
        let handle = FeedHandle::new(created.feed, created.name.clone(), created.topic_id, files, config, ends);
        self.catalog.insert(Arc::new(handle));
    }

    fn publish_appended(&self, appended: &Appended) {
        let count = crate::batch::record_span(&appended.batch);
        self.with(appended.feed, |handle| {
            let extent = Extent { base: appended.base_offset, count };
            handle.publish_extent(appended.stream, appended.partition, extent, appended.label.as_deref());
        });
    }

    fn publish_write(&self, write: &TailWrite) {
        match write {
            TailWrite::Batch { feed, partition, end_offset, last_stable, .. } => self.with(*feed, |handle| {
                if let Some(p) = handle.partition(*partition) {
                    p.publish_end(*end_offset, *last_stable);
                }
            }),
            TailWrite::Runs { feed, partition, runs, .. } => self.with(*feed, |handle| {
                if let (Some(p), Some(last)) = (handle.partition(*partition), runs.last()) {
                    p.publish_feed_end(last.feed_base.plus(last.count));
                }
            }),
            TailWrite::Commit { feed, row, .. } => {
                metrics::all().streams_sealed.increment();
                self.with(*feed, |handle| handle.publish_commit(row.commit, row.stream, row.sealed));
            }
            TailWrite::StreamEvent { feed, event, stream, told, .. } => self.with(*feed, |handle| {
                handle.publish_event(*event);
                match told {
                    Told::Opened { owner: Some(owner) } => handle.publish_open(*stream, owner),
                    Told::Aborted => handle.publish_aborted(*stream),
                    // Found by its first record, and until its commit is there.
                    Told::Opened { owner: None } | Told::Sealed => {}
                }
            }),
            TailWrite::Trimmed { feed, start, partitions } => {
                let partitions: Vec<_> = partitions.iter().map(|log| log.start).collect();
                self.with(*feed, |handle| handle.publish_start(*start, &partitions));
            }
            // Looked up below the stable end, which comes with the marker.
            TailWrite::Aborted { .. } => {}
            TailWrite::FeedCreated { .. } | TailWrite::FeedDeleted { .. } | TailWrite::PartitionsAdded { .. } => {}
        }
    }

    fn tell_indexer(&self, feed: FeedId, tell: fn(&Inbox, FeedId)) {
        self.with(feed, |handle| {
            if handle.has_index() {
                tell(&self.indexer, feed);
            }
        });
    }

    fn with(&self, feed: FeedId, publish: impl FnOnce(&FeedHandle)) {
        if let Some(handle) = self.catalog.by_id(feed) {
            publish(&handle);
        }
    }
}

/// So that `Published` is the one description of what readers see.
const _: fn(&FeedHandle) -> &dyn Published = |handle| handle;
