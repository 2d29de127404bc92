//! The core: the model's state behind one short lock, and the group of entries that the next flush takes.
//!
//! Decisions are taken in the caller, in one total order. The lock is never held over an await, a copy of
//! record bytes or I/O.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;

use crate::model::{Decision, Entry, Lsn, MovedPosition, State, TailWrite, Timestamp};

/// State and open group.
pub struct Core {
    inner: Mutex<Inner>,
    // What the open group holds, to be asked without the lock.
    open_bytes: AtomicUsize,
    open_needs_sync: AtomicBool,
    deadline: AtomicI64,
}

/// No deadline.
const NEVER: i64 = i64::MAX;

struct Inner {
    state: State,
    next: Lsn,
    open: Group,
}

/// Entries decided since the last flush, and what they ask of the disk.
#[derive(Default)]
pub struct Group {
    pub first: Lsn,
    pub entries: Vec<Entry>,
    pub writes: Vec<TailWrite>,
    pub bytes: usize,
}

impl Group {
    /// One past the group's last entry.
    pub fn end(&self) -> Lsn {
        self.first.plus(self.entries.len() as u64)
    }
}

/// A value that may be told to a client only once everything below `durable_at` is durable. Refusals
/// are gated too: they may rest on an entry that a power loss would still take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gated<T> {
    pub value: T,
    pub durable_at: Lsn,
}

impl<T> Gated<T> {
    /// The same gate on another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Gated<U> {
        Gated { value: f(self.value), durable_at: self.durable_at }
    }
}

/// What a submission tells its caller beside the decision.
pub(super) struct Submitted<T, E> {
    pub result: Gated<Result<T, E>>,
    /// The model wants to be asked at another time than before.
    pub deadline_moved: bool,
}

impl Core {
    /// A core in `state`, whose next entry gets `next`.
    pub fn new(state: State, next: Lsn) -> Core {
        let open = Group { first: next, ..Group::default() };
        let deadline = AtomicI64::new(state.deadline().map_or(NEVER, |at| at.0));
        let inner = Mutex::new(Inner { state, next, open });
        Core { inner, open_bytes: AtomicUsize::new(0), open_needs_sync: AtomicBool::new(false), deadline }
    }

    /// Decides on the state as it is and applies what was decided.
    pub(super) fn submit<T, E>(&self, decide: impl FnOnce(&State) -> Result<Decision<T>, E>) -> Submitted<T, E> {
        let mut inner = self.lock();
        let value = decide(&inner.state).map(|decision| {
            if decision.entries.iter().any(needs_sync) {
                self.open_needs_sync.store(true, Ordering::Release);
            }
            inner.take_in(decision.entries);
            self.open_bytes.store(inner.open.bytes, Ordering::Release);
            decision.outcome
        });
        let deadline = inner.state.deadline().map_or(NEVER, |at| at.0);
        // Under the lock, so that the last decision's deadline is the one that stays.
        let moved = self.deadline.swap(deadline, Ordering::AcqRel) != deadline;
        Submitted { result: Gated { value, durable_at: inner.next }, deadline_moved: moved }
    }

    /// When the model next wants to be asked.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let deadline = self.deadline.load(Ordering::Acquire);
        (deadline != NEVER).then_some(Timestamp(deadline))
    }

    /// Looks at the state. What is seen may not be durable yet: see [`Gated`].
    pub fn look<T>(&self, look: impl FnOnce(&State) -> T) -> Gated<T> {
        let inner = self.lock();
        Gated { value: look(&inner.state), durable_at: inner.next }
    }

    /// The entries not yet taken by a flush, if there are any. The buffers of `spare` are used for the next group.
    pub(super) fn take_group(&self, spare: Group) -> Option<Group> {
        let mut inner = self.lock();
        if inner.open.entries.is_empty() {
            return None;
        }
        let next = Group { first: inner.next, bytes: 0, ..spare };
        debug_assert!(next.entries.is_empty() && next.writes.is_empty());
        self.open_bytes.store(0, Ordering::Release);
        self.open_needs_sync.store(false, Ordering::Release);
        Some(std::mem::replace(&mut inner.open, next))
    }

    /// Bytes that wait for a flush; 0: nothing waits.
    pub(super) fn open_bytes(&self) -> usize {
        self.open_bytes.load(Ordering::Acquire)
    }

    /// An entry that waits for a flush makes it wait for the disk in either durability.
    pub(super) fn open_needs_sync(&self) -> bool {
        self.open_needs_sync.load(Ordering::Acquire)
    }

    /// The lsn of the next entry.
    pub(super) fn next(&self) -> Lsn {
        self.lock().next
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic inside `apply` leaves a state that nobody may trust: the process must not go on.
        self.inner.lock().unwrap_or_else(|_| {
            tracing::error!(
                "a decision panicked; the state cannot be trusted, and a restart recovers it from the journal"
            );
            std::process::abort()
        })
    }
}

impl Inner {
    fn take_in(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let num_writes = self.open.writes.len();
            self.state.apply(&entry, &mut self.open.writes);
            self.open.bytes += size_of_entry(&entry, self.open.writes.len() - num_writes);
            self.open.entries.push(entry);
            self.next = self.next.plus(1);
        }
    }
}

/// Folders appear and vanish only after their entry is durable.
fn needs_sync(entry: &Entry) -> bool {
    matches!(entry, Entry::FeedCreated(_) | Entry::FeedDeleted { .. } | Entry::PartitionsAdded { .. })
}

/// Bytes that the entry keeps waiting, for back-pressure.
fn size_of_entry(entry: &Entry, num_writes: usize) -> usize {
    const HEAD: usize = 128;
    match entry {
        Entry::Appended(appended) => HEAD + appended.batch.len(),
        Entry::Sealed(sealed) => sealed.streams.iter().map(|s| HEAD + s.metadata.as_ref().map_or(0, String::len)).sum(),
        Entry::FeedConfigured { overrides, .. }
        | Entry::BrokerConfigured { overrides, .. }
        | Entry::GroupConfigured { overrides, .. } => {
            HEAD + overrides.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
        }
        Entry::PositionsMoved(moved) => {
            let one = |moved: &MovedPosition| HEAD + moved.topic.len() + moved.metadata.len();
            HEAD + moved.group.len() + moved.positions.iter().map(one).sum::<usize>()
        }
        Entry::GroupKept(kept) => {
            let one = |(id, row): &(String, Option<Bytes>)| HEAD + id.len() + row.as_ref().map_or(0, Bytes::len);
            HEAD + kept.head.len() + kept.members.iter().map(one).sum::<usize>()
        }
        Entry::PositionsStaged(staged) => {
            let one = |moved: &MovedPosition| HEAD + moved.topic.len() + moved.metadata.len();
            HEAD + staged.moved.group.len() + staged.moved.positions.iter().map(one).sum::<usize>()
        }
        Entry::Enlisted(enlisted) => {
            let places = 8 * (enlisted.partitions.len() + enlisted.seals.len());
            HEAD + places + enlisted.groups.iter().map(|group| HEAD + group.len()).sum::<usize>()
        }
        Entry::StreamNamed(named) => HEAD + named.metadata.as_ref().map_or(0, String::len),
        // Its markers and manifests are made with it.
        Entry::TransactionEnded(_) => HEAD * (1 + num_writes),
        _ => HEAD,
    }
}
