//! Fetches that sleep until something new is published.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

/// One sleeping fetch.
pub type Sleeper = Arc<Notify>;

/// The sleepers of one partition or of one feed's history.
#[derive(Default)]
pub struct Waiters {
    // Publishing asks this first, so that a feed that nobody follows costs no lock.
    any: AtomicBool,
    sleepers: Mutex<Vec<Weak<Notify>>>,
}

impl Waiters {
    /// `sleeper` is woken at the next publication. It must look at what is published after this call
    /// and before it sleeps, or it may miss what was published just before.
    pub fn add(&self, sleeper: &Sleeper) {
        let mut sleepers = self.sleepers.lock().expect("no code panics while it holds the list of sleepers");
        // A fetch that ended leaves a dead entry behind; a quiet partition polled for ever must not collect them.
        if sleepers.len() == sleepers.capacity() {
            sleepers.retain(|s| s.strong_count() > 0);
        }
        sleepers.push(Arc::downgrade(sleeper));
        self.any.store(true, Ordering::SeqCst);
        // Pairs with the fence in `wake`: either the sleeper sees what was published, or the publisher sees the sleeper.
        fence(Ordering::SeqCst);
    }

    /// Wakes and forgets all sleepers. Call it after the new ends are published.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if !self.any.load(Ordering::SeqCst) {
            return;
        }
        let sleepers = {
            let mut sleepers = self.sleepers.lock().expect("no code panics while it holds the list of sleepers");
            self.any.store(false, Ordering::SeqCst);
            std::mem::take(&mut *sleepers)
        };
        for sleeper in sleepers.iter().filter_map(Weak::upgrade) {
            sleeper.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_is_woken_once_by_what_comes_after_it() {
        let waiters = Waiters::default();
        let sleeper = Sleeper::default();
        waiters.wake();
        waiters.add(&sleeper);
        waiters.wake();
        sleeper.notified().await;
        assert!(waiters.sleepers.lock().unwrap().is_empty());
    }

    #[test]
    fn dead_sleepers_do_not_collect() {
        let waiters = Waiters::default();
        for _ in 0..10_000 {
            waiters.add(&Sleeper::default());
        }
        assert!(waiters.sleepers.lock().unwrap().capacity() < 64);
    }
}
