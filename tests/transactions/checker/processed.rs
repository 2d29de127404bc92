//! What the members of a group process is processed once: no record by two committed transactions, and none is left out below
//! the group's position.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Event, History, Place, Row, Txn};
use super::index::Index;
use super::{Fault, Kind};

/// Of a group in a partition.
#[derive(Default)]
struct Processed {
    by: BTreeMap<Row, Txn>,
}

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut processed: BTreeMap<(u32, Place), Processed> = BTreeMap::new();
    let groups = groups_of_members(history);
    let staged = staged(history, &groups);
    for event in &history.events {
        let Event::Polled { place, row, txn: Some(txn), .. } = *event else { continue };
        let Some(group) = staged.get(&(txn, place)).filter(|_| index.is_committed(txn)) else { continue };
        let seen = processed.entry((*group, place)).or_default();
        if let Some(other) = seen.by.insert(row, txn).filter(|other| *other != txn) {
            let what = format!("{row:?} of {place:?} was processed by {other:?} and by {txn:?} of group {group}");
            faults.push(Fault::new(Kind::Duplicate, what));
        }
    }
    for ((group, place), end) in &history.found.positions {
        if !groups.contains(group) {
            continue;
        }
        let seen = processed.remove(&(*group, *place)).unwrap_or_default();
        let below = history.found.committed.get(place).into_iter().flatten().filter(|(offset, _)| offset < end);
        let left_out = below.filter(|row| !seen.by.contains_key(row));
        faults.extend(left_out.map(|row| {
            Fault::new(Kind::Lost, format!("{row:?} of {place:?} lies below {end} and group {group} left it out"))
        }));
    }
    faults
}

/// Those whose members own partitions.
fn groups_of_members(history: &History) -> BTreeSet<u32> {
    let group = |event: &Event| match event {
        Event::Owned { group, .. } => Some(*group),
        _ => None,
    };
    history.events.iter().filter_map(group).collect()
}

/// The group that a transaction moves in a partition.
fn staged(history: &History, groups: &BTreeSet<u32>) -> BTreeMap<(Txn, Place), u32> {
    let staged = |event: &Event| match *event {
        Event::Staged { txn, group, place, .. } => Some(((txn, place), group)),
        _ => None,
    };
    history.events.iter().filter_map(staged).filter(|(_, group)| groups.contains(group)).collect()
}
