//! Positions of groups go where commits say, as a part of their transaction, and nowhere else.
//!
//! Each group is moved by one client at a time, the owner of the partition, in one transaction after another.

use std::collections::BTreeMap;

use super::history::{Event, History, Place, Txn};
use super::index::Index;
use super::{Fault, Kind};

type Key = (u32, Place);

#[derive(Default)]
struct Moves {
    /// What its last known commit said.
    settled: Option<i64>,
    /// What commits said of which the outcome was not known yet.
    maybe: Vec<(Txn, i64)>,
}

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut staged: BTreeMap<Txn, Vec<(Key, i64)>> = BTreeMap::new();
    let mut moves: BTreeMap<Key, Moves> = BTreeMap::new();
    for event in &history.events {
        match *event {
            Event::Staged { txn, group, place, offset } => {
                staged.entry(txn).or_default().push(((group, place), offset));
            }
            Event::Committing { txn } => {
                for (key, offset) in staged.get(&txn).into_iter().flatten() {
                    moves.entry(*key).or_default().maybe.push((txn, *offset));
                }
            }
            Event::Ended { txn, committed } => {
                let keys = staged.get(&txn).into_iter().flatten();
                keys.for_each(|(key, _)| moves.entry(*key).or_default().end(txn, committed));
            }
            Event::Position { group, place, offset } => {
                let moved = moves.entry((group, place)).or_default();
                let told = moved.see(offset);
                faults.extend(
                    told.map(|what| Fault::new(Kind::PositionBack, format!("group {group}, {place:?}: {what}"))),
                );
            }
            _ => {}
        }
    }
    faults.extend(moves.into_iter().filter_map(|(key, moved)| at_the_end(history, index, key, moved)));
    faults
}

impl Moves {
    fn end(&mut self, txn: Txn, committed: bool) {
        let said = self.maybe.iter().rposition(|(other, _)| *other == txn);
        if let (Some(at), true) = (said, committed) {
            self.settled = Some(self.maybe[at].1);
            self.maybe.drain(..=at);
        }
        self.maybe.retain(|(other, _)| *other != txn);
    }

    /// Says what is wrong with a position that was told.
    fn see(&mut self, offset: Option<i64>) -> Option<String> {
        if offset == self.settled {
            return None;
        }
        match self.maybe.iter().rposition(|(_, said)| Some(*said) == offset) {
            Some(at) => {
                self.settled = offset;
                self.maybe.drain(..=at);
                None
            }
            None => Some(format!("{offset:?}, but {:?} was committed, and perhaps {:?}", self.settled, self.maybe)),
        }
    }
}

/// Positions and records of a transaction tell the same.
fn at_the_end(history: &History, index: &Index, key: Key, mut moved: Moves) -> Option<Fault> {
    let (group, place) = key;
    // Those of which records tell that they were committed, or were not.
    let tells = |txn: &Txn| index.txns[txn].values.iter().any(|value| index.sends[value].acked);
    if let Some(last) = moved.maybe.iter().rposition(|(txn, _)| tells(txn) && index.is_committed(*txn)) {
        moved.settled = Some(moved.maybe[last].1);
        moved.maybe.drain(..=last);
    }
    moved.maybe.retain(|(txn, _)| !tells(txn));
    let found = history.found.positions.get(&key).copied();
    let what = moved.see(found)?;
    Some(Fault::new(Kind::Torn, format!("at the end group {group} stands in {place:?} at {what}")))
}
