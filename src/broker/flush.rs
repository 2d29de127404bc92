//! The way to the disk: whoever holds the flush token writes the open group, publishes it and lets the replies go.
//!
//! In `os` mode the task that finds the token free writes at once: a hop to another thread would cost more than the
//! write. In `fsync` mode the flusher thread holds the token, because a sync blocks; groups form while it syncs. So it does
//! in `os` mode for groups that need a sync, and for a while after a write that the disk held up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, TryLockError};
use std::time::Duration;

use tokio::sync::Notify;

use super::core::{Core, Group};
use super::durable::Durable;
use super::publish::Publisher;
use crate::config::Durability;
use crate::disk::Clock;
use crate::metrics;
use crate::store::Store;

/// Rounds that a caller writes for others before the flusher thread takes over.
const INLINE_ROUNDS_MAX: usize = 4;

/// Groups larger than this go to the flusher thread, whatever the mode: the hop costs less than an async worker held up
/// by the copy. At 100 B x 100, five in flight, it gave 1.4 x the requests of an inline limit of 4 MiB.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A write that takes so long was held up by the disk, as when there is more to write back than memory may hold.
const HELD_UP: Duration = Duration::from_millis(20);

/// So long after the last such write the flusher thread goes on: the next ones are likely to be held up too, and an async
/// worker has others to serve.
const HELD_UP_FOR: Duration = Duration::from_secs(1);

/// Flushes groups, one at a time.
pub struct Flush {
    core: Arc<Core>,
    store: Arc<Store>,
    publisher: Arc<Publisher>,
    durable: Arc<Durable>,
    clock: Arc<dyn Clock>,
    durability: Durability,
    token: Mutex<Group>,
    signal: Signal,
    stopping: AtomicBool,
    failure: OnceLock<String>,
    /// Microseconds on the clock until which the disk counts as held up; 0: it does not.
    held_up_until: AtomicU64,
    bytes: AtomicU64,
    replay_cost: AtomicU64,
    grown: Notify,
}

/// How often growth is told, in bytes.
const GROWTH: u64 = 2 << 20;

/// Whoever panics while it writes a group would leave all those waiting whose entries are in it.
struct ToldOnPanic<'a>(&'a Flush);

impl Drop for ToldOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("a panic while a group was written".into());
        }
    }
}

#[derive(Default)]
struct Signal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Flush {
    /// A flush that writes the groups of `core` to `store`.
    pub fn new(
        core: Arc<Core>,
        store: Arc<Store>,
        publisher: Arc<Publisher>,
        durable: Arc<Durable>,
        clock: Arc<dyn Clock>,
        durability: Durability,
        bytes_replayed: u64,
    ) -> Flush {
        Flush {
            core,
            store,
            publisher,
            durable,
            clock,
            durability,
            token: Mutex::default(),
            signal: Signal::default(),
            stopping: AtomicBool::new(false),
            failure: OnceLock::new(),
            held_up_until: AtomicU64::new(0),
            bytes: AtomicU64::new(bytes_replayed),
            replay_cost: AtomicU64::new(bytes_replayed),
            grown: Notify::new(),
        }
    }

    /// The open group holds something: it is written now or soon.
    pub fn kick(&self) {
        // After a failure nothing is written any more, and the process is about to stop.
        if self.core.open_bytes() == 0 || self.failure.get().is_some() {
            return;
        }
        if self.durability == Durability::Os && self.is_quick() {
            self.write_inline();
        } else {
            self.signal.raise();
        }
    }

    /// True when writing the open group takes as long as copying a little memory.
    fn is_quick(&self) -> bool {
        let held_up_until = self.held_up_until.load(Ordering::Relaxed);
        let held_up = held_up_until > 0 && self.clock.elapsed() < Duration::from_micros(held_up_until);
        !held_up && !self.core.open_needs_sync() && self.core.open_bytes() <= INLINE_BYTES_MAX
    }

    /// What made the disk fail, if it did. Nothing is acknowledged after that.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Bytes decided and written, about, those that the start replayed included.
    pub fn bytes_written(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// What the next start has to do without a checkpoint, in bytes of journal, those that this start replayed included.
    pub fn replay_cost(&self) -> u64 {
        self.replay_cost.load(Ordering::Acquire)
    }

    /// Completes each time that some more megabytes were written.
    pub async fn grown(&self) {
        self.grown.notified().await;
    }

    fn count(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Release);
        if before / GROWTH != (before + bytes) / GROWTH {
            self.grown.notify_one();
        }
    }

    /// The flusher thread's work, until [`Flush::stop`].
    pub fn run(&self) {
        while self.signal.wait() {
            self.write_open_groups(usize::MAX);
            if self.stopping.load(Ordering::Acquire) {
                // Whatever came between the last group and the stop.
                self.write_open_groups(usize::MAX);
                return;
            }
        }
    }

    /// The flusher thread ends once all that was decided is written.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.signal.raise();
    }

    fn write_inline(&self) {
        loop {
            let mut spare = match self.token.try_lock() {
                Ok(spare) => spare,
                Err(TryLockError::WouldBlock) => return,
                Err(TryLockError::Poisoned(_)) => return self.fail("a flush panicked".into()),
            };
            let emptied = self.write_groups(&mut spare, INLINE_ROUNDS_MAX);
            drop(spare);
            if !emptied {
                return self.signal.raise();
            }
            // Someone may have found the token taken just before it was given back.
            if self.core.open_bytes() == 0 || self.failure.get().is_some() {
                return;
            }
        }
    }

    fn write_open_groups(&self, rounds_max: usize) {
        match self.token.lock() {
            Ok(mut spare) => {
                self.write_groups(&mut spare, rounds_max);
            }
            Err(_) => self.fail("a flush panicked".into()),
        }
    }

    /// True when nothing is left to write.
    fn write_groups(&self, spare: &mut Group, rounds_max: usize) -> bool {
        let _told = ToldOnPanic(self);
        for _ in 0..rounds_max {
            if self.failure.get().is_some() {
                return true;
            }
            match self.core.take_group(std::mem::take(spare)) {
                None => return true,
                Some(group) => *spare = self.write(group),
            }
        }
        false
    }

    /// Writes, publishes, wakes; gives the emptied buffers back.
    fn write(&self, mut group: Group) -> Group {
        let metrics = metrics::all();
        metrics.group_entries.record(group.entries.len() as u64);
        metrics.group_bytes.record(group.bytes as u64);
        let begun = self.clock.elapsed();
        let written = self.store.write_group(group.first, &group.entries, &group.writes);
        let ended = self.clock.elapsed();
        metrics.group_write_us.record_time(ended - begun);
        if ended - begun >= HELD_UP {
            self.held_up_until.store((ended + HELD_UP_FOR).as_micros() as u64, Ordering::Relaxed);
        }
        match written {
            Ok(num_bytes) => {
                self.replay_cost.fetch_add(replay_cost(num_bytes, &group), Ordering::Release);
                self.count(group.bytes as u64);
                self.publisher.publish(&group.entries, &group.writes);
                self.durable.advance(group.end());
                self.publisher.wake(&group.writes);
            }
            Err(error) => self.fail(error.to_string()),
        }
        group.entries.clear();
        group.writes.clear();
        group
    }

    /// Nothing is acknowledged from here on; whoever waits is told.
    pub fn fail(&self, error: String) {
        metrics::all().journal_failures.increment();
        tracing::error!(%error, "the journal cannot be written; nothing more is acknowledged");
        // Only the first failure counts: what follows is its consequence.
        let _ = self.failure.set(error);
        self.durable.wake_all();
    }
}

/// What a group adds to the next start's work: a batch that stands in its segment only has to be read and verified there.
fn replay_cost(journal_bytes: u64, group: &Group) -> u64 {
    const APART_SHARE: u64 = 32;
    journal_bytes + (group.bytes as u64).saturating_sub(journal_bytes) / APART_SHARE
}

impl Signal {
    fn raise(&self) {
        let mut raised = self.raised.lock().expect("no code panics while it holds the signal");
        if !*raised {
            *raised = true;
            self.changed.notify_one();
        }
    }

    fn wait(&self) -> bool {
        let raised = self.raised.lock().expect("no code panics while it holds the signal");
        let mut raised =
            self.changed.wait_while(raised, |raised| !*raised).expect("no code panics while it holds the signal");
        *raised = false;
        true
    }
}
