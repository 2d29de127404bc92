//! What readers were shown: all of it, in order, nothing aborted, and nothing before its time.

use std::collections::BTreeMap;

use super::history::{Event, Found, History, Isolation, Place, Row};
use super::index::{Index, Outcome};
use super::{Fault, Kind};

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut faults = skips(history);
    for (at, event) in history.events.iter().enumerate() {
        if let Event::Polled { place, row, isolation, .. } = *event {
            faults.extend(aborted(index, place, row, isolation));
            faults.extend(dirty(&history.found, index, at, place, row, isolation));
        }
    }
    let shown = history.found.committed.iter().chain(&history.found.feed);
    for (place, row) in shown.flat_map(|(place, rows)| rows.iter().map(|row| (*place, *row))) {
        faults.extend(aborted(index, place, row, Isolation::Committed));
    }
    faults
}

fn skips(history: &History) -> Vec<Fault> {
    let mut last: BTreeMap<(u32, u32, Place), i64> = BTreeMap::new();
    let mut faults = Vec::new();
    for event in &history.events {
        let Event::Polled { reader, assignment, place, row: (offset, _), isolation, .. } = *event else { continue };
        let Some(before) = last.insert((reader, assignment, place), offset) else { continue };
        if offset <= before {
            let what = format!("reader {reader} got {place:?} offset {offset} after {before}");
            faults.push(Fault::new(Kind::PollSkip, what));
        }
        let shown = history.found.shown(place, isolation).into_iter().flatten();
        if let Some((left_out, value)) = shown.into_iter().find(|(shown, _)| (before + 1..offset).contains(shown)) {
            let what = format!("reader {reader} got {place:?} {before} and {offset}, and not {left_out}, {value:?}");
            faults.push(Fault::new(Kind::PollSkip, what));
        }
    }
    faults
}

fn shows_committed_only(place: Place, isolation: Isolation) -> bool {
    isolation == Isolation::Committed || place != place.plain()
}

fn aborted(index: &Index, place: Place, (offset, value): Row, isolation: Isolation) -> Option<Fault> {
    let aborted = index.fate_of(value).is_some_and(|fate| fate.outcome() == Outcome::Aborted);
    let refused = index.sends.get(&value).is_some_and(|send| send.refused);
    let wrong = refused || aborted && shows_committed_only(place, isolation);
    wrong.then(|| {
        let what = format!("{value:?} of {:?} at {place:?} {offset}, refused: {refused}", index.txn_of(value));
        Fault::new(Kind::AbortedRead, what)
    })
}

fn dirty(found: &Found, index: &Index, at: usize, place: Place, row: Row, isolation: Isolation) -> Option<Fault> {
    let (offset, value) = row;
    let told = |what: &str| Some(Fault::new(Kind::Dirty, format!("{value:?} at {place:?} {offset}: {what}")));
    if !index.sends.contains_key(&value) {
        return told("nobody sent it");
    }
    let is_durable = found.shown(place, isolation).is_some_and(|rows| rows.binary_search(&row).is_ok());
    if !is_durable {
        return told("shown, and gone at the end");
    }
    let asked = index.fate_of(value).map(|fate| fate.asked.is_some_and(|asked| asked < at));
    match asked {
        Some(false) if shows_committed_only(place, isolation) => told("shown before its commit was asked for"),
        _ => None,
    }
}
