//! Room for frames on their way in, one budget for all connections.
//!
//! A frame above a small allowance takes its whole length from the budget before more of it is read, and gives it back
//! when it has come whole. So thousands of half frames hold no more memory than the budget. A connection that holds
//! room while others wait for it has to get on: see [`HELD_MAX`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Frames up to this length are read without asking: a connection's buffer is as large anyway.
pub const FREE_BYTES: usize = 64 << 10;

/// Others wait: a frame that has taken longer than this loses its connection.
pub const HELD_MAX: Duration = Duration::from_secs(20);

/// How long one waits before those that hold room are looked at.
const PATIENCE: Duration = Duration::from_secs(5);

/// A permit stands for so many bytes.
const UNIT: usize = 1 << 10;

/// The budget.
pub struct Room {
    units: Arc<Semaphore>,
    num_units: usize,
    crowded: Notify,
}

/// Room taken by one frame; given back when dropped.
pub struct Held {
    _permit: OwnedSemaphorePermit,
    since: Instant,
}

impl Room {
    /// Room for `bytes` at a time, or for one frame if that is longer.
    pub fn new(bytes: usize, frame_max: usize) -> Arc<Room> {
        let num_units = units(bytes.max(frame_max));
        Arc::new(Room { units: Arc::new(Semaphore::new(num_units)), num_units, crowded: Notify::new() })
    }

    /// Room for a frame of `len` bytes, if there is some right now and nobody waits.
    pub fn try_take(&self, len: usize) -> Option<Held> {
        let permit = self.units.clone().try_acquire_many_owned(self.units_of(len)).ok()?;
        Some(Held { _permit: permit, since: Instant::now() })
    }

    /// Room for a frame of `len` bytes, in the order of asking.
    pub async fn take(self: Arc<Room>, len: usize) -> Held {
        let asked = self.units.clone().acquire_many_owned(self.units_of(len));
        tokio::pin!(asked);
        loop {
            tokio::select! {
                permit = &mut asked => {
                    let permit = permit.expect("the budget is never closed");
                    return Held { _permit: permit, since: Instant::now() };
                }
                () = tokio::time::sleep(PATIENCE) => self.crowded.notify_waiters(),
            }
        }
    }

    /// Completes when others have waited for room for a while.
    pub async fn crowded(&self) {
        self.crowded.notified().await;
    }

    fn units_of(&self, len: usize) -> u32 {
        u32::try_from(units(len).min(self.num_units)).unwrap_or(u32::MAX)
    }
}

impl Held {
    /// The frame has had its time.
    pub fn is_overdue(&self) -> bool {
        self.since.elapsed() >= HELD_MAX
    }
}

/// Fits a permit count: a semaphore holds at least 2^29.
fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).min(1 << 28)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn room_is_given_in_order_and_comes_back() {
        let room = Room::new(1 << 20, 100);
        let held = room.try_take(1 << 20).unwrap();
        assert!(room.try_take(1).is_none());
        let mut waiting = tokio::spawn(room.clone().take(800 << 10));
        assert!(tokio::time::timeout(Duration::ZERO, &mut waiting).await.is_err());
        drop(held);
        let held = waiting.await.unwrap();
        assert!(room.try_take(800 << 10).is_none());
        assert!(room.try_take(100 << 10).is_some());
        drop(held);
    }

    #[tokio::test]
    async fn one_frame_always_fits() {
        let room = Room::new(1, 5_000_000);
        assert!(room.try_take(5_000_000).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_long_says_so_and_who_holds_long_is_overdue() {
        let room = Room::new(1 << 20, 100);
        let held = room.try_take(1 << 20).unwrap();
        let waiting = tokio::spawn(room.clone().take(1));
        room.crowded().await;
        assert!(!held.is_overdue());
        tokio::time::advance(HELD_MAX).await;
        assert!(held.is_overdue());
        drop(held);
        waiting.await.unwrap();
    }
}
