//! Clocks: the machine's, and one that tests turn by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use super::Clock;

/// The clock of the machine.
#[derive(Debug)]
pub struct OsClock {
    started: Instant,
    steady: RwLock<Steady>,
}

/// A time that goes towards the wall's without ever standing still or going back.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// Since the start, in ms.
    from: i64,
    /// What the time was then.
    at: i64,
    /// What the wall's time was ahead then, or behind (negative).
    behind: i64,
}

impl OsClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub fn new() -> OsClock {
        OsClock { started: Instant::now(), steady: RwLock::new(Steady { from: 0, at: wall_ms(), behind: 0 }) }
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
        let steady = *self.steady.read().unwrap_or_else(PoisonError::into_inner);
        steady.after(whole_ms(self.elapsed()))
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn follow_wall(&self) {
        let mut steady = self.steady.write().unwrap_or_else(PoisonError::into_inner);
        *steady = steady.towards(whole_ms(self.elapsed()), wall_ms());
    }
}

impl Steady {
    /// The time when `elapsed` ms have passed since the start. A difference to the wall is made up at half the speed of
    /// time, so that a deadline comes at most half as late again, or a third too early.
    fn after(self, elapsed: i64) -> i64 {
        let passed = (elapsed - self.from).max(0);
        let made_up = self.behind.abs().min(passed / 2) * self.behind.signum();
        self.at.saturating_add(passed).saturating_add(made_up)
    }

    /// The same time, which from here on goes towards `wall`.
    fn towards(self, elapsed: i64, wall: i64) -> Steady {
        let at = self.after(elapsed);
        Steady { from: elapsed.max(self.from), at, behind: wall.saturating_sub(at) }
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
    fn a_wall_clock_that_is_set_is_followed_slowly_and_never_back() {
        for jump in [3_600_000, -3_600_000, 86_400_000, -1, 7] {
            let mut steady = Steady { from: 0, at: 1_000_000_000, behind: 0 };
            let wall = |elapsed: i64| 1_000_000_000 + elapsed + jump;
            let mut last = steady.after(0);
            let mut num_ticks = 0;
            while steady.after(num_ticks * 1_000) != wall(num_ticks * 1_000) {
                for elapsed in [0, 1, 500, 999].map(|ms| num_ticks * 1_000 + ms) {
                    let now = steady.after(elapsed);
                    assert!((last..=last + 751).contains(&now), "{last} {now} {jump}");
                    last = now;
                }
                num_ticks += 1;
                steady = steady.towards(num_ticks * 1_000, wall(num_ticks * 1_000));
            }
            assert!(num_ticks <= jump.abs() / 500 + 2, "{num_ticks} s for {jump}");
        }
    }

    #[test]
    fn the_machines_clock_starts_near_the_wall_time_and_never_goes_back() {
        let clock = OsClock::new();
        let first = clock.steady_ms();
        clock.follow_wall();
        assert!((clock.wall_ms() - first).abs() < 60_000);
        assert!((0..1000).scan(first, |last, _| Some(std::mem::replace(last, clock.steady_ms()))).is_sorted());
    }
}
