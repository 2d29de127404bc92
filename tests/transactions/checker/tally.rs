//! What runs have come to: without some of each kind they show nothing.

use super::history::{Event, History};
use super::index::{Index, Outcome};

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub committed: usize,
    pub aborted: usize,
    /// Nobody was told how they ended.
    pub untold: usize,
    pub polled: usize,
    pub positions: usize,
    /// Partitions that a member of a group came to own.
    pub owned: usize,
}

impl Tally {
    pub fn count(&mut self, history: &History) {
        for fate in Index::of(history).txns.values() {
            match fate.outcome() {
                Outcome::Committed => self.committed += 1,
                Outcome::Aborted => self.aborted += 1,
                Outcome::Unknown => self.untold += 1,
            }
        }
        let num = |is: fn(&Event) -> bool| history.events.iter().filter(|event| is(event)).count();
        self.polled += num(|event| matches!(event, Event::Polled { .. }));
        self.positions += num(|event| matches!(event, Event::Position { .. }));
        self.owned += num(|event| matches!(event, Event::Owned { owned: true, .. }));
    }

    /// Some of each.
    pub fn is_complete(&self) -> bool {
        let Tally { committed, aborted, untold, polled, positions, owned } = *self;
        [committed, aborted, untold, polled, positions, owned].iter().all(|num| *num > 0)
    }
}
