//! One budget of memory for the indexes of all feeds (`streamstack.views.memory.bytes`).
//!
//! Three quarters of it are given out to what stays: tables in memory, and the filters and fences of runs on disk. The rest is
//! for what comes and goes: a lot of records being indexed, a table while it grows, a merge.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The budget.
pub struct Memory {
    bytes_max: usize,
    held: AtomicUsize,
    /// Tables above their smallest size.
    num_tables: AtomicUsize,
}

/// Bytes of the budget, given back when dropped.
pub struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

/// A place among the tables that share the budget.
pub struct Sharer(Arc<Memory>);

impl Memory {
    pub fn new(bytes_max: usize) -> Arc<Memory> {
        Arc::new(Memory { bytes_max, held: AtomicUsize::new(0), num_tables: AtomicUsize::new(0) })
    }

    /// Bytes given out now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// What one table may take: half of the budget goes to all that are in use, in equal parts. One feed has two.
    pub fn share(&self) -> usize {
        self.bytes_max / 2 / self.num_tables.load(Ordering::Relaxed).max(2)
    }

    /// Takes `bytes` in the place of `instead`, which is given back soon; none when there is not so much left.
    pub fn take(self: &Arc<Self>, bytes: usize, instead: usize) -> Option<Held> {
        let room = self.bytes_max / 4 * 3 + instead;
        let fits = |held: usize| held.checked_add(bytes).filter(|held| *held <= room);
        let taken = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.ok().map(|_| Held { memory: self.clone(), bytes })
    }

    /// Takes bytes that cannot be done without, beyond the budget if need be.
    pub fn take_needed(self: &Arc<Self>, bytes: usize) -> Held {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Held { memory: self.clone(), bytes }
    }

    /// One more table in use.
    pub fn sharer(self: &Arc<Self>) -> Sharer {
        self.num_tables.fetch_add(1, Ordering::Relaxed);
        Sharer(self.clone())
    }
}

impl Held {
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Drop for Sharer {
    fn drop(&mut self) {
        self.0.num_tables.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let memory = Memory::new(400);
        let first = memory.take(200, 0).unwrap();
        assert!(memory.take(101, 0).is_none());
        let second = memory.take(250, first.bytes()).unwrap();
        drop(first);
        assert_eq!(memory.held(), 250);
        let third = memory.take_needed(1000);
        assert!(memory.take(1, 0).is_none());
        drop((second, third));
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn tables_share_half_of_it() {
        let memory = Memory::new(1 << 20);
        let _two = (memory.sharer(), memory.sharer());
        assert_eq!(memory.share(), 1 << 18);
        let more = (memory.sharer(), memory.sharer());
        assert_eq!(memory.share(), 1 << 17);
        drop(more);
        assert_eq!(memory.share(), 1 << 18);
    }
}
