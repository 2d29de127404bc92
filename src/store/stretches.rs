//! Stretches of a file that were verified, so that a byte is looked at once in the life of a process.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stretches that are remembered. Who reads here and there in a file may have the same bytes verified twice.
const RANGES_MAX: usize = 64;

/// Stretches of bytes that hold, apart from one another.
#[derive(Default)]
pub struct Stretches(Mutex<Vec<Range<u64>>>);

impl Stretches {
    /// True when all of `[start, end)` was verified.
    pub fn holds(&self, start: u64, end: u64) -> bool {
        self.ranges().iter().any(|range| range.start <= start && end <= range.end)
    }

    /// `[start, end)` was verified.
    pub fn add(&self, start: u64, end: u64) {
        let mut ranges = self.ranges();
        let (touching, apart): (Vec<_>, Vec<_>) = ranges.drain(..).partition(|r| r.start <= end && start <= r.end);
        let merged = touching.iter().fold(start..end, |all, r| all.start.min(r.start)..all.end.max(r.end));
        *ranges = apart;
        if ranges.len() >= RANGES_MAX {
            ranges.remove(0);
        }
        ranges.push(merged);
    }

    fn ranges(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
