//! A small run in which all is well, and each of the fourteen faults put into it.

mod faults;
mod sound;

use super::{History, Kind, Tally, check};

/// The kinds of faults that are found once `harm` was done to the sound run.
fn kinds(harm: impl FnOnce(&mut History)) -> Vec<Kind> {
    let mut history = sound::history();
    harm(&mut history);
    let mut kinds: Vec<Kind> = check(&history).iter().map(|fault| fault.kind).collect();
    kinds.dedup();
    kinds
}

/// The harm is found, and called by its name.
fn finds(kind: Kind, harm: impl FnOnce(&mut History)) {
    let kinds = kinds(harm);
    assert!(kinds.contains(&kind), "{kind:?} is not among {kinds:?}");
}

#[test]
fn a_sound_run_has_no_fault() {
    let faults = check(&sound::history());
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn runs_without_one_kind_of_events_are_not_enough() {
    let mut tally = Tally::default();
    assert!(!tally.is_complete());
    tally.count(&sound::history());
    assert!(tally.is_complete(), "{tally:?}");
    assert!(!Tally { untold: 0, ..tally }.is_complete());
}
