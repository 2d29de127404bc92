//! All transactional ids, and the ways to find one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::ids::{ProducerId, Timestamp};
use super::open::Transactional;

/// All transactional ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transactions {
    by_id: BTreeMap<String, Transactional>,
    // These follow from `by_id` and are not stored.
    ids: HashMap<ProducerId, String>,
    /// When open transactions time out, soonest first.
    due: BTreeSet<(Timestamp, String)>,
    /// Groups with the ids whose open transaction is to move positions of theirs.
    staging: BTreeSet<(String, String)>,
}

impl Transactions {
    /// The transactional id of that name.
    pub fn get(&self, id: &str) -> Option<&Transactional> {
        self.by_id.get(id)
    }

    /// The transactional id that has that producer now.
    pub fn of_producer(&self, producer: ProducerId) -> Option<(&str, &Transactional)> {
        let id = self.ids.get(&producer)?;
        Some((id.as_str(), &self.by_id[id]))
    }

    /// All of them by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Transactional)> {
        self.by_id.iter().map(|(id, known)| (id.as_str(), known))
    }

    /// The open transactions that are to move positions of a group.
    pub fn staging(&self, group: &str) -> impl Iterator<Item = (&str, &Transactional)> {
        let from = (group.to_owned(), String::new());
        let of_group = self.staging.range(from..).take_while(move |(other, _)| other == group);
        of_group.map(|(_, id)| (id.as_str(), &self.by_id[id]))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The open transactions that time out at `now` or before, soonest first.
    pub(in super::super) fn due(&self, now: Timestamp) -> impl Iterator<Item = (&str, &Transactional)> {
        let due = self.due.iter().take_while(move |(at, _)| *at <= now);
        due.map(|(_, id)| (id.as_str(), &self.by_id[id]))
    }

    /// When the next open transaction times out.
    pub(in super::super) fn deadline(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Changes one, or makes it, and keeps what follows from it in step.
    pub(in super::super) fn change(
        &mut self,
        id: &str,
        change: impl FnOnce(Option<Transactional>) -> Option<Transactional>,
    ) {
        let (id, before) = match self.by_id.remove_entry(id) {
            Some((id, before)) => (id, Some(before)),
            None => (id.to_owned(), None),
        };
        if let Some(before) = &before {
            self.ids.remove(&before.producer);
            if let Some(at) = before.due() {
                self.due.remove(&(at, id.clone()));
            }
            for group in before.staged_groups() {
                self.staging.remove(&(group.to_owned(), id.clone()));
            }
        }
        if let Some(after) = change(before) {
            self.insert(id, after);
        }
    }

    pub(in super::super) fn insert(&mut self, id: String, known: Transactional) {
        self.ids.insert(known.producer, id.clone());
        self.due.extend(known.due().map(|at| (at, id.clone())));
        self.staging.extend(known.staged_groups().map(|group| (group.to_owned(), id.clone())));
        self.by_id.insert(id, known);
    }

    /// The ids whose open transaction fulfils `holds`.
    pub(in super::super) fn open_where(&self, holds: impl Fn(&super::OpenTransaction) -> bool) -> Vec<String> {
        let with = |(id, known): (&String, &Transactional)| known.open().is_some_and(&holds).then(|| id.clone());
        self.by_id.iter().filter_map(with).collect()
    }

    /// Panics if the ways to find ids do not lead to them.
    pub(in super::super) fn check(&self) {
        let mut again = Transactions::default();
        self.by_id.iter().for_each(|(id, known)| again.insert(id.clone(), known.clone()));
        assert_eq!(*self, again, "what follows from the transactional ids");
        assert_eq!(self.ids.len(), self.by_id.len(), "each transactional id has a producer of its own");
    }
}
