//! How many connections may be open at a time, over all listeners.
//!
//! Two bounds: `max.connections`, above which a connection is closed at once, and the file handles that the process
//! may have, at which accepting waits. The store's own handles are kept free, so that a crowd of clients never
//! keeps the journal from opening its next file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Handles for what is neither a connection nor counted by the store: journal, manifest, listeners, logs.
const HANDLES_ASIDE: usize = 100;

/// At least so many connections, however few handles there are.
const CONNECTIONS_MIN: usize = 16;

/// See the module.
pub struct Gate {
    handles: Arc<Semaphore>,
    num_handles: usize,
    num_admitted: Arc<AtomicUsize>,
}

/// A file handle for one connection.
pub struct Handle {
    _permit: OwnedSemaphorePermit,
}

/// One connection's place.
pub struct Admitted {
    num_admitted: Arc<AtomicUsize>,
    _handle: Handle,
}

impl Gate {
    /// A gate for a process that may have `num_files` open, `num_stored` of which the store uses.
    pub fn new(num_files: usize, num_stored: usize) -> Gate {
        let num_handles = num_files.saturating_sub(num_stored + HANDLES_ASIDE).max(CONNECTIONS_MIN);
        let num_handles = num_handles.min(Semaphore::MAX_PERMITS);
        Gate { handles: Arc::new(Semaphore::new(num_handles)), num_handles, num_admitted: Arc::default() }
    }

    /// Connections that the handles are enough for.
    pub fn num_handles(&self) -> usize {
        self.num_handles
    }

    /// True while accepting has to wait for a connection to end.
    pub fn is_full(&self) -> bool {
        self.handles.available_permits() == 0
    }

    /// Completes when there is a handle for one more connection.
    pub async fn handle(&self) -> Handle {
        let permit = self.handles.clone().acquire_owned().await;
        Handle { _permit: permit.expect("the gate is never closed") }
    }

    /// Lets a connection in, unless `max` are there already.
    pub fn admit(&self, handle: Handle, max: usize) -> Option<Admitted> {
        let admitted =
            self.num_admitted.fetch_update(Ordering::AcqRel, Ordering::Acquire, |num| (num < max).then_some(num + 1));
        admitted.ok().map(|_| Admitted { num_admitted: self.num_admitted.clone(), _handle: handle })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.num_admitted.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_counted_over_their_lives() {
        let gate = Gate::new(1_000, 100);
        let first = gate.admit(gate.handle().await, 2).unwrap();
        let second = gate.admit(gate.handle().await, 2).unwrap();
        assert!(gate.admit(gate.handle().await, 2).is_none());
        drop(first);
        assert!(gate.admit(gate.handle().await, 2).is_some());
        drop(second);
    }

    #[tokio::test]
    async fn the_stores_handles_stay_free() {
        let gate = Gate::new(700, 500);
        let mut admitted = Vec::new();
        for _ in 0..100 {
            admitted.extend(gate.admit(gate.handle().await, usize::MAX));
        }
        assert!(gate.is_full());
        assert!(tokio::time::timeout(std::time::Duration::ZERO, gate.handle()).await.is_err());
        admitted.pop();
        gate.handle().await;
        assert_eq!(Gate::new(50, 500).num_handles(), CONNECTIONS_MIN);
    }
}
