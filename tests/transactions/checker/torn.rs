//! A transaction is there as a whole or not at all: its records in the plain topics and in feed space.

use std::collections::BTreeSet;

use super::history::{History, Txn, Value};
use super::index::{Fate, Index};
use super::{Fault, Kind};

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let feed: BTreeSet<Value> = history.found.feed.values().flatten().map(|(_, value)| *value).collect();
    let mut faults = Vec::new();
    for (txn, fate) in &index.txns {
        faults.extend(part(index, *txn, fate, &index.committed, "the plain topics"));
        faults.extend(part(index, *txn, fate, &feed, "feed space"));
    }
    faults
}

/// Some of its acknowledged records are shown, or it is told to be committed, and others are not.
fn part(index: &Index, txn: Txn, fate: &Fate, shown: &BTreeSet<Value>, space: &str) -> Option<Fault> {
    let acked: Vec<&Value> = fate.values.iter().filter(|value| index.sends[value].acked).collect();
    let missing: Vec<&&Value> = acked.iter().filter(|value| !shown.contains(value)).collect();
    let wrong = index.is_committed(txn) && !missing.is_empty();
    let what = || format!("{txn:?} is committed, and {space} lack {missing:?} of {acked:?}");
    wrong.then(|| Fault::new(Kind::Torn, what()))
}
