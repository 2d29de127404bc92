//! All transactional ids, and the ways to find one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use super::super::ids::{ProducerId, Timestamp};
use super::held::Held;
use super::open::Transactional;
use super::{TRANSACTIONAL_ID_BYTES_MAX, TRANSACTIONAL_IDS_MAX};

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
    /// Those without an open transaction, longest unused first.
    idle: BTreeSet<(Timestamp, ProducerId)>,
    /// What the ids themselves take.
    id_bytes: u64,
    /// Of all open transactions together.
    pub(in super::super) held: Held,
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

    /// Those that come after `id` by name; all if none is named.
    pub fn after(&self, id: Option<&str>) -> impl Iterator<Item = (&str, &Transactional)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_id.range::<str, _>((from, Bound::Unbounded)).map(|(id, known)| (id.as_str(), known))
    }

    /// What all open transactions together hold.
    pub fn held(&self) -> Held {
        self.held
    }

    /// Groups that open transactions are to move, each as often as transactions are to.
    pub fn num_staging(&self) -> usize {
        self.staging.len()
    }

    /// The ids whose open transaction is to move positions on that feed or a view of it.
    pub(in super::super) fn staging_on(&self, feed: &str) -> impl Iterator<Item = &str> {
        let is_on = move |(group, id): &&(String, String)| {
            let open = self.by_id[id].open();
            open.and_then(|open| open.staged_for(group)).is_some_and(|positions| positions.is_on(feed))
        };
        self.staging.iter().filter(is_on).map(|(_, id)| id.as_str())
    }

    /// The ids that were last used before that time have to be forgotten, so that there is room for a new one. `Some(None)`:
    /// there is; none: not even then.
    pub(in super::super) fn room_for(&self, id: &str) -> Option<Option<Timestamp>> {
        let (mut num, mut taken) = (self.by_id.len() + 1, self.id_bytes + id_bytes(id));
        let mut before = None;
        let is_room = |num, taken| num <= TRANSACTIONAL_IDS_MAX && taken <= TRANSACTIONAL_ID_BYTES_MAX;
        for (at, producer) in &self.idle {
            // Those that were used at the same time go together.
            let goes_too = before.is_some_and(|before: Timestamp| at.0 < before.0);
            if !goes_too && is_room(num, taken) {
                break;
            }
            before = Some(Timestamp(at.0.saturating_add(1)));
            (num, taken) = (num - 1, taken - id_bytes(&self.ids[producer]));
        }
        is_room(num, taken).then_some(before)
    }

    /// The ids that were last used before `before` and have nothing open.
    pub(in super::super) fn unused_since(&self, before: Timestamp) -> impl Iterator<Item = &str> {
        let unused = self.idle.iter().take_while(move |(at, _)| *at < before);
        unused.map(|(_, producer)| self.ids[producer].as_str())
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
            if before.open.is_none() {
                self.idle.remove(&(before.at, before.producer));
            }
            self.id_bytes -= id_bytes(&id);
            self.held -= before.held();
        }
        if let Some(after) = change(before) {
            self.insert(id, after);
        }
    }

    pub(in super::super) fn insert(&mut self, id: String, known: Transactional) {
        self.ids.insert(known.producer, id.clone());
        self.due.extend(known.due().map(|at| (at, id.clone())));
        self.staging.extend(known.staged_groups().map(|group| (group.to_owned(), id.clone())));
        if known.open.is_none() {
            self.idle.insert((known.at, known.producer));
        }
        self.id_bytes += id_bytes(&id);
        self.held += known.held();
        self.by_id.insert(id, known);
    }

    /// Panics if the ways to find ids do not lead to them.
    pub(in super::super) fn check(&self) {
        let mut again = Transactions::default();
        self.by_id.iter().for_each(|(id, known)| again.insert(id.clone(), known.clone()));
        assert_eq!(*self, again, "what follows from the transactional ids");
        assert_eq!(self.ids.len(), self.by_id.len(), "each transactional id has a producer of its own");
    }
}

/// What an id takes by itself, with what leads to it.
fn id_bytes(id: &str) -> u64 {
    const COPIES: u64 = 2;
    COPIES * id.len() as u64
}
