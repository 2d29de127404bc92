//! Transactions have an order: no cycle of "wrote before" (in feed space, on each partition) and "read what it wrote".

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Event, History, Txn};
use super::index::Index;
use super::{Fault, Kind};

type Edges = BTreeMap<Txn, BTreeSet<Txn>>;

/// So many transactions of a cycle are named.
const NAMED_MAX: usize = 8;

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut edges = Edges::new();
    write_write(history, index, &mut edges);
    write_read(history, index, &mut edges);
    let caught = without_order(edges);
    match caught.is_empty() {
        true => Vec::new(),
        false => {
            let named: Vec<_> = caught.iter().take(NAMED_MAX).collect();
            vec![Fault::new(Kind::Cycle, format!("{} transactions have no order: {named:?}", caught.len()))]
        }
    }
}

fn write_write(history: &History, index: &Index, edges: &mut Edges) {
    for rows in history.found.feed.values() {
        let txns: Vec<Txn> = rows.iter().filter_map(|(_, value)| index.txn_of(*value)).collect();
        txns.windows(2).filter(|pair| pair[0] != pair[1]).for_each(|pair| add(edges, pair[0], pair[1]));
    }
}

fn write_read(history: &History, index: &Index, edges: &mut Edges) {
    for event in &history.events {
        let Event::Polled { row: (_, value), txn: Some(reader), .. } = *event else { continue };
        let Some(writer) = index.txn_of(value) else { continue };
        // What became of a reader that was aborted concerns nobody.
        if writer != reader && index.txns.contains_key(&reader) && index.is_committed(reader) {
            add(edges, writer, reader);
        }
    }
}

fn add(edges: &mut Edges, before: Txn, after: Txn) {
    edges.entry(before).or_default().insert(after);
    edges.entry(after).or_default();
}

/// Takes away who has nobody before it, and then who has nobody after it, as long as there is one; who is left is in a
/// cycle or between two.
fn without_order(edges: Edges) -> BTreeSet<Txn> {
    let left = peeled(edges);
    let mut back = Edges::new();
    for (before, afters) in &left {
        back.entry(*before).or_default();
        afters.iter().filter(|after| left.contains_key(after)).for_each(|after| add(&mut back, *after, *before));
    }
    peeled(back).into_keys().collect()
}

fn peeled(mut edges: Edges) -> Edges {
    let mut num_before: BTreeMap<Txn, usize> = edges.keys().map(|txn| (*txn, 0)).collect();
    edges.values().flatten().for_each(|after| *num_before.entry(*after).or_default() += 1);
    let mut first: Vec<Txn> = num_before.iter().filter(|(_, num)| **num == 0).map(|(txn, _)| *txn).collect();
    while let Some(txn) = first.pop() {
        for after in edges.remove(&txn).unwrap_or_default() {
            let num = num_before.get_mut(&after).expect("counted above");
            *num -= 1;
            if *num == 0 {
                first.push(after);
            }
        }
    }
    edges
}
