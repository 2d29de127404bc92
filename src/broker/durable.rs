//! How far the journal is durable, and who waits for it to get further.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use crate::model::Lsn;

/// The lsn below which every entry is durable (fsync mode) or handed to the operating system (os mode).
#[derive(Default)]
pub struct Durable {
    lsn: AtomicU64,
    waiting: Mutex<Vec<(Lsn, Waker)>>,
}

impl Durable {
    /// Everything below `lsn` is durable already.
    pub fn starting_at(lsn: Lsn) -> Durable {
        Durable { lsn: AtomicU64::new(lsn.0), waiting: Mutex::default() }
    }

    /// The lsn reached.
    pub fn lsn(&self) -> Lsn {
        Lsn(self.lsn.load(Ordering::Acquire))
    }

    /// Entries below `lsn` are durable now: whoever waited for them goes on.
    pub fn advance(&self, lsn: Lsn) {
        self.lsn.store(lsn.0, Ordering::Release);
        let mut ready = Vec::new();
        self.lock().retain(|(wanted, waker)| {
            let keep = *wanted > lsn;
            if !keep {
                ready.push(waker.clone());
            }
            keep
        });
        ready.into_iter().for_each(Waker::wake);
    }

    /// Wakes everybody, for the broker has failed and nothing becomes durable any more.
    pub fn wake_all(&self) {
        let all = std::mem::take(&mut *self.lock());
        all.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Completes once everything below `lsn` is durable.
    pub fn reached(&self, lsn: Lsn) -> Reached<'_> {
        Reached { durable: self, lsn }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Lsn, Waker)>> {
        self.waiting.lock().expect("no code panics while it holds the list of wakers")
    }
}

/// See [`Durable::reached`].
pub struct Reached<'a> {
    durable: &'a Durable,
    lsn: Lsn,
}

impl Future for Reached<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.durable.lsn() >= self.lsn {
            return Poll::Ready(());
        }
        let mut waiting = self.durable.lock();
        // Asked again under the lock: `advance` raises the lsn before it looks for wakers.
        if self.durable.lsn() >= self.lsn {
            return Poll::Ready(());
        }
        match waiting.iter_mut().find(|(lsn, waker)| *lsn == self.lsn && waker.will_wake(cx.waker())) {
            Some(_) => {}
            None => waiting.push((self.lsn, cx.waker().clone())),
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_waiter_goes_on_only_when_its_entries_are_durable() {
        let durable = std::sync::Arc::new(Durable::starting_at(Lsn(3)));
        durable.reached(Lsn(3)).await;
        let waiting = tokio::spawn({
            let durable = durable.clone();
            async move { durable.reached(Lsn(5)).await }
        });
        tokio::task::yield_now().await;
        durable.advance(Lsn(4));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        durable.advance(Lsn(6));
        waiting.await.unwrap();
    }
}
