//! What all clients of a run write down, in the order in which they do.

use std::sync::Mutex;

use super::super::checker::Event;

#[derive(Default)]
pub struct Ledger(Mutex<Vec<Event>>);

impl Ledger {
    pub fn say(&self, event: Event) {
        self.say_all([event]);
    }

    pub fn say_all(&self, events: impl IntoIterator<Item = Event>) {
        self.0.lock().unwrap().extend(events);
    }

    pub fn into_events(self) -> Vec<Event> {
        self.0.into_inner().unwrap()
    }
}
