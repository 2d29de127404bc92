//! When the group looks at its clocks next: at the soonest of its deadlines, or before it.
//!
//! Deadlines mostly move away, with each heartbeat; finding the soonest among many members then would cost more than
//! looking once too early.

use crate::model::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Alarm {
    at: Option<Timestamp>,
}

impl Alarm {
    pub fn at(&self) -> Option<Timestamp> {
        self.at
    }

    /// There is a deadline at that time.
    pub fn by(&mut self, time: Timestamp) {
        self.at = Some(self.at.map_or(time, |at| at.min(time)));
    }

    /// These are all the deadlines that there are.
    pub fn reset(&mut self, deadlines: impl Iterator<Item = Timestamp>) {
        self.at = deadlines.min();
    }
}
