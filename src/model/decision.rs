//! What deciding gives: the facts to journal, and what to tell the caller once they are durable.

use super::entry::Entry;

/// A decision is made on a state and holds for that state alone: apply its entries before deciding again.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<T> {
    /// In order; none when nothing changes.
    pub entries: Vec<Entry>,
    pub outcome: T,
}

impl<T> Decision<T> {
    /// Nothing changes.
    pub fn nothing(outcome: T) -> Decision<T> {
        Decision { entries: Vec::new(), outcome }
    }

    /// The same entries with another outcome.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Decision<U> {
        Decision { entries: self.entries, outcome: f(self.outcome) }
    }

    pub(super) fn one(entry: Entry, outcome: T) -> Decision<T> {
        Decision { entries: vec![entry], outcome }
    }
}
