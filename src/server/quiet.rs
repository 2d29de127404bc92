//! A bound on log lines that clients can cause at will.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Lines told in one period; further ones are counted.
const LINES_MAX: u32 = 10;
const PERIOD: Duration = Duration::from_secs(10);

/// Tells which lines are worth writing.
#[derive(Default)]
pub struct Quiet {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    period: u64,
    told: u32,
    held_back: u64,
}

impl Quiet {
    /// At `now`, counted from any fixed moment: whether to write the line, and how many were held back since the last
    /// one that was written.
    pub fn admit(&self, now: Duration) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let period = now.as_secs() / PERIOD.as_secs();
        if state.period != period {
            *state = State { period, told: 0, ..*state };
        }
        if state.told == LINES_MAX {
            state.held_back += 1;
            return None;
        }
        state.told += 1;
        Some(std::mem::take(&mut state.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_broken_connections_is_a_few_lines_and_a_count() {
        let quiet = Quiet::default();
        let at = |seconds| quiet.admit(Duration::from_secs(seconds));
        let told: Vec<Option<u64>> = (0..1000).map(|_| at(3)).collect();
        assert_eq!(told.iter().flatten().count(), LINES_MAX as usize);
        assert_eq!(at(9), None);
        assert_eq!(at(10), Some(991));
        assert_eq!(at(10), Some(0));
    }
}
