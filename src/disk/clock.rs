//! Clocks: the machine's, and one that tests turn by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::Clock;

/// The clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct OsClock {
    started: Instant,
    started_wall_ms: i64,
}

impl OsClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub fn new() -> OsClock {
        OsClock { started: Instant::now(), started_wall_ms: wall_ms() }
    }
}

impl Default for OsClock {
    fn default() -> OsClock {
        OsClock::new()
    }
}

impl Clock for OsClock {
    fn wall_ms(&self) -> i64 {
        wall_ms()
    }

    fn steady_ms(&self) -> i64 {
        self.started_wall_ms.saturating_add(whole_ms(self.elapsed()))
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
fn wall_ms() -> i64 {
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => whole_ms(since),
        Err(before) => -whole_ms(before.duration()),
    }
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A clock for tests: it stands still until it is turned.
#[derive(Debug)]
pub struct ManualClock {
    wall_ms: AtomicI64,
    steady_ms: AtomicI64,
    started_ms: i64,
}

impl ManualClock {
    pub fn new(wall_ms: i64) -> ManualClock {
        ManualClock { wall_ms: wall_ms.into(), steady_ms: wall_ms.into(), started_ms: wall_ms }
    }

    /// Time passes: both clocks go on by `ms`.
    pub fn advance_ms(&self, ms: u32) {
        self.wall_ms.fetch_add(ms.into(), Ordering::SeqCst);
        self.steady_ms.fetch_add(ms.into(), Ordering::SeqCst);
    }

    /// Somebody sets the wall clock, forward or back. The steady clock does not notice.
    pub fn set_wall_ms(&self, wall_ms: i64) {
        self.wall_ms.store(wall_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn wall_ms(&self) -> i64 {
        self.wall_ms.load(Ordering::SeqCst)
    }

    fn steady_ms(&self) -> i64 {
        self.steady_ms.load(Ordering::SeqCst)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.steady_ms().saturating_sub(self.started_ms).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_back_leaves_the_steady_one() {
        let clock = ManualClock::new(1_000_000);
        clock.advance_ms(5);
        clock.set_wall_ms(10);
        clock.advance_ms(5);
        assert_eq!((clock.wall_ms(), clock.steady_ms()), (15, 1_000_010));
        assert_eq!(clock.elapsed(), Duration::from_millis(10));
    }

    #[test]
    fn the_machines_clock_starts_near_the_wall_time_and_never_goes_back() {
        let clock = OsClock::new();
        let first = clock.steady_ms();
        assert!((clock.wall_ms() - first).abs() < 60_000);
        assert!((0..1000).scan(first, |last, _| Some(std::mem::replace(last, clock.steady_ms()))).is_sorted());
    }
}
