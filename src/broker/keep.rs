//! Keeping the disk: its free space, the journal at rest, and checkpoints.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Broker;
use crate::metrics;
use crate::model::{Lsn, State};
use crate::store::StoreError;

/// A large state is written less often: no more than a small part of what is written is states.
const JOURNAL_PER_STATE: u64 = 16;

impl Broker {
    pub(super) fn watch_free_space(&self) {
        let floor = self.settings.typed().disk_free_bytes_min;
        let written = self.flush.bytes_written();
        let has_space = match self.store.free_bytes() {
            Ok(free) => {
                self.written_at_look.store(written, Ordering::Release);
                self.spare_space.store(free.saturating_sub(floor), Ordering::Release);
                metrics::all().disk_free_bytes.set(i64::try_from(free).unwrap_or(i64::MAX));
                free >= floor
            }
            Err(error) => {
                tracing::warn!(%error, "cannot ask how much space is free");
                true
            }
        };
        if self.space_left.swap(has_space, Ordering::AcqRel) != has_space {
            tracing::warn!(has_space, floor, "free disk space crossed streamstack.disk.free.min.bytes");
        }
    }

    pub(super) fn mark_idle_journal(&self) {
        let written = self.flush.bytes_written();
        let before = self.marked.swap(written, Ordering::AcqRel);
        if written != before || !self.needs_mark.swap(false, Ordering::AcqRel) {
            // Written to since the last look, or marked already.
            self.needs_mark.fetch_or(written != before, Ordering::AcqRel);
            return;
        }
        if let Err(error) = self.store.mark_idle() {
            self.flush.fail(format!("cannot mark the journal as idle: {error}"));
        }
    }

    pub(super) fn checkpoint_if_due(&self) {
        let written = self.flush.replay_cost() - self.checkpointed.load(Ordering::Acquire);
        metrics::all().journal_bytes.set(i64::try_from(written).unwrap_or(i64::MAX));
        // Deleted files give room only after a checkpoint.
        let needs_room = !self.space_left.load(Ordering::Acquire) && self.store.has_doomed();
        let state_bytes = self.image_bytes.load(Ordering::Acquire);
        let due = self.settings.typed().checkpoint_bytes.max(state_bytes * JOURNAL_PER_STATE);
        if written < due && !needs_room {
            return;
        }
        match self.checkpoint() {
            Ok(()) => {}
            Err(error @ StoreError::Poisoned { .. }) => self.flush.fail(error.to_string()),
            Err(error) => {
                metrics::all().checkpoint_failures.increment();
                tracing::error!(%error, "checkpoint failed; the journal grows until one succeeds");
            }
        }
    }

    /// Writes the state as of now, so that a restart need not replay what came before.
    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        let written = self.flush.replay_cost();
        let image = self.core.look(State::encode);
        self.image_bytes.store(image.value.len() as u64, Ordering::Release);
        self.wait_for(image.durable_at);
        if self.failure().is_some() {
            return Ok(());
        }
        let begun = self.clock.elapsed();
        self.store.checkpoint(&image.value, image.durable_at)?;
        metrics::all().checkpoint_us.record_time(self.clock.elapsed() - begun);
        self.checkpointed.store(written, Ordering::Release);
        Ok(())
    }

    /// Waits on this thread until everything below `lsn` is written, or the disk has failed.
    pub(super) fn wait_for(&self, lsn: Lsn) {
        while !self.is_durable(lsn) && self.failure().is_none() {
            self.flush.kick();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
