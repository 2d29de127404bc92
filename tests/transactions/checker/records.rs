//! Records one by one: none is lost or doubled, an offset holds one for ever, and each producer's stand in its order.

use std::collections::BTreeMap;

use super::history::{Event, History, Place, Row, Value};
use super::index::{Index, Outcome};
use super::{Fault, Kind};

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut faults = lost(history, index);
    faults.extend(duplicates(history));
    faults.extend(inconsistent_offsets(history, index));
    faults.extend(disorder(history));
    faults
}

fn lost(history: &History, index: &Index) -> Vec<Fault> {
    let log: Vec<Value> = sorted(history.found.log.values());
    let is_lost = |value: &Value| {
        let committed = index.fate_of(*value).is_none_or(|fate| fate.outcome() == Outcome::Committed);
        log.binary_search(value).is_err() || committed && !index.committed.contains(value)
    };
    let acked = index.sends.iter().filter(|(_, send)| send.acked);
    let lost = acked.filter(|(value, _)| is_lost(value));
    lost.map(|(value, send)| {
        let in_log = log.binary_search(value).is_ok();
        let what = format!("{value:?} of {:?} in {:?}, in the log: {in_log}", send.txn, send.place);
        Fault::new(Kind::Lost, what)
    })
    .collect()
}

fn sorted<'a>(rows: impl Iterator<Item = &'a Vec<Row>>) -> Vec<Value> {
    let mut values: Vec<Value> = rows.flatten().map(|(_, value)| *value).collect();
    values.sort_unstable();
    values
}

fn duplicates(history: &History) -> Vec<Fault> {
    let found = &history.found;
    let mut faults = Vec::new();
    for space in [&found.log, &found.committed, &found.feed] {
        let mut seen: BTreeMap<Value, (Place, i64)> = BTreeMap::new();
        for (place, (offset, value)) in rows(space) {
            if let Some(before) = seen.insert(value, (place, offset)) {
                faults.push(Fault::new(Kind::Duplicate, format!("{value:?} at {before:?} and at {place:?} {offset}")));
            }
        }
    }
    faults
}

fn rows(space: &BTreeMap<Place, Vec<Row>>) -> impl Iterator<Item = (Place, Row)> {
    space.iter().flat_map(|(place, rows)| rows.iter().map(|row| (*place, *row)))
}

fn inconsistent_offsets(history: &History, index: &Index) -> Vec<Fault> {
    let found = &history.found;
    let mut seen: BTreeMap<(Place, i64), Value> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut see = |place: Place, (offset, value): Row, how: &str| {
        let known = *seen.entry((place, offset)).or_insert(value);
        if known != value {
            let what = format!("{place:?} offset {offset} holds {known:?}, and was {how} as {value:?}");
            faults.push(Fault::new(Kind::InconsistentOffset, what));
        }
    };
    rows(&found.log).for_each(|(place, row)| see(place, row, "read at the end"));
    rows(&found.committed).for_each(|(place, row)| see(place, row, "read committed at the end"));
    rows(&found.feed).for_each(|(place, row)| see(place, row, "read at the end"));
    for event in &history.events {
        match *event {
            Event::Acked { value, offset: Some(offset) } => {
                see(index.sends[&value].place, (offset, value), "acknowledged");
            }
            Event::Polled { place, row, .. } => see(place, row, "polled"),
            _ => {}
        }
    }
    faults
}

fn disorder(history: &History) -> Vec<Fault> {
    let mut faults = Vec::new();
    for space in [&history.found.log, &history.found.feed] {
        let mut last: BTreeMap<(Place, u32), Value> = BTreeMap::new();
        for (place, (offset, value)) in rows(space) {
            if let Some(before) = last.insert((place, value.producer), value).filter(|before| before.n >= value.n) {
                let what = format!("{value:?} stands behind {before:?} at {place:?} {offset}");
                faults.push(Fault::new(Kind::Order, what));
            }
        }
    }
    faults
}
