//! One input's handling: the time it comes at and what it leads to.

use super::super::{Answer, Effect, Event, Ticket};
use crate::model::Timestamp;

pub(super) struct Turn<'a> {
    pub now: Timestamp,
    pub effects: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    pub fn answer(&mut self, to: Ticket, answer: Answer) {
        self.effects.push(Effect::Reply { to, answer });
    }

    pub fn tell(&mut self, event: Event) {
        self.effects.push(Effect::Event(event));
    }

    /// The time `ms` from now.
    pub fn after(&self, ms: i64) -> Timestamp {
        Timestamp(self.now.0 + ms)
    }
}
