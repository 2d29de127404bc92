//! Reads that may have to wait for the disk: on threads that may, a bounded number of them at a time; and what is told of
//! those that fail.

use std::panic::resume_unwind;

use tokio::sync::Semaphore;

use super::Broker;
use super::told::Told;
use crate::disk::waiting;
use crate::metrics;

/// Threads that wait for the disk at a time. Whoever comes later waits for one of them, and for no worker.
const WAITING_MAX: usize = 64;

/// See the module.
pub(super) struct Aside {
    places: Semaphore,
    told: Told,
}

impl Default for Aside {
    fn default() -> Aside {
        Aside { places: Semaphore::new(WAITING_MAX), told: Told::default() }
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
        if self.aside.told.is_news(&error, self.clock.elapsed()) {
            tracing::error!(topic, partition, %error, "stored records cannot be read");
        }
    }

    /// A view cannot be read, or not yet, and most answers have no room to say why.
    pub fn tell_refused_view(&self, topic: &str, may_come: bool, reason: &str) {
        let what = format!("{topic} {may_come}");
        if waiting::was_refused() || !self.aside.told.is_news(&what, self.clock.elapsed()) {
            return;
        }
        match may_come {
            true => tracing::info!(topic, reason, "a client asks for a view that is not there yet"),
            false => tracing::warn!(topic, reason, "a client asks for a view that cannot be read"),
        }
    }
}
