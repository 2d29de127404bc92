//! Reads that may have to wait for the disk: on threads that may, a bounded number of them at a time; and what is told of
//! those that fail.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::Broker;
use crate::disk::waiting;
use crate::metrics;

/// Threads that wait for the disk at a time. Whoever comes later waits for one of them, and for no worker.
const WAITING_MAX: usize = 64;

/// The same fault is told once in so long.
const TOLD_AGAIN: Duration = Duration::from_secs(60);

/// Faults that are remembered.
const TOLD_MAX: usize = 256;

/// See the module.
pub(super) struct Aside {
    places: Semaphore,
    /// What was told last, and when.
    told: Mutex<BTreeMap<String, Duration>>,
}

impl Default for Aside {
    fn default() -> Aside {
        Aside { places: Semaphore::new(WAITING_MAX), told: Mutex::default() }
    }
}

impl Broker {
    /// What `read` makes of `subject`, which comes back too: here and now if all that it needs is in memory, else from a
    /// thread that may wait for the disk. There it is read a second time.
    pub async fn read<S, T>(&self, mut subject: S, read: fn(&mut S) -> T) -> (S, T)
    where
        S: Send + 'static,
        T: Send + 'static,
    {
        match waiting::without(|| read(&mut subject)) {
            Some(made) => (subject, made),
            None => {
                self.read_aside(move || {
                    let made = read(&mut subject);
                    (subject, made)
                })
                .await
            }
        }
    }

    /// What `read` gives, made by a thread that may wait for the disk.
    pub async fn read_aside<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> T {
        let _place = self.aside.places.acquire().await.expect("the semaphore is never closed");
        metrics::all().reads_aside.increment();
        match tokio::task::spawn_blocking(read).await {
            Ok(made) => made,
            // As if it had happened here: it ends the connection.
            Err(error) => resume_unwind(error.into_panic()),
        }
    }

    /// Something stored cannot be read. A reader asks again and again: the log tells it once a minute.
    pub fn tell_unreadable(&self, topic: &str, partition: i32, error: String) {
        if waiting::was_refused() {
            return;
        }
        metrics::all().read_errors.increment();
        let now = self.clock.elapsed();
        let mut told = self.aside.told.lock().expect("no code panics while it holds what was told");
        if told.get(&error).is_some_and(|at| now < *at + TOLD_AGAIN) {
            return;
        }
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        tracing::error!(topic, partition, %error, "stored records cannot be read");
        told.insert(error, now);
    }
}
