//! Ids given to clients that have not joined with them yet (KIP-394), the oldest first.

use std::collections::{BTreeMap, VecDeque};

use super::PENDING_MAX;
use crate::model::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Pending {
    until: BTreeMap<String, Timestamp>,
    /// In the order in which they were given. Some are gone.
    order: VecDeque<String>,
}

impl Pending {
    pub fn add(&mut self, id: String, until: Timestamp) {
        if self.until.len() >= PENDING_MAX {
            self.drop_oldest();
        }
        self.until.insert(id.clone(), until);
        self.order.push_back(id);
    }

    pub fn len(&self) -> usize {
        self.until.len()
    }

    pub fn drop_oldest(&mut self) {
        // Some in this order are gone already.
        while let Some(oldest) = self.order.pop_front() {
            if self.until.remove(&oldest).is_some() {
                return;
            }
        }
    }

    /// False when there was none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let removed = self.until.remove(id).is_some();
        self.forget_gone();
        removed
    }

    pub fn is_empty(&self) -> bool {
        self.until.is_empty()
    }

    /// Drops those whose time is over; tells whether there were any.
    pub fn expire(&mut self, now: Timestamp) -> bool {
        let before = self.until.len();
        self.until.retain(|_, until| *until > now);
        self.forget_gone();
        self.until.len() < before
    }

    pub fn deadlines(&self) -> impl Iterator<Item = Timestamp> {
        self.until.values().copied()
    }

    fn forget_gone(&mut self) {
        if self.order.len() > 2 * self.until.len() {
            self.order.retain(|id| self.until.contains_key(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_pushes_out_the_oldest_and_takes_no_more_room() {
        let mut pending = Pending::default();
        for id in 0..3 * PENDING_MAX {
            pending.add(id.to_string(), Timestamp(1));
        }
        assert_eq!((pending.until.len(), pending.order.len()), (PENDING_MAX, PENDING_MAX));
        assert!(!pending.remove("0") && pending.remove(&(3 * PENDING_MAX - 1).to_string()));
    }

    #[test]
    fn ids_that_came_back_leave_nothing_behind() {
        let mut pending = Pending::default();
        for id in 0..1_000 {
            pending.add(id.to_string(), Timestamp(1));
            assert!(pending.remove(&id.to_string()));
        }
        assert!(pending.is_empty() && pending.order.is_empty());
    }
}
