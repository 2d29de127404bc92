//! A partition has one owner in a group at a time.

use std::collections::BTreeMap;

use super::history::{Event, History};
use super::index::Index;
use super::{Fault, Kind};

pub fn check(history: &History, _: &Index) -> Vec<Fault> {
    let mut owners = BTreeMap::new();
    let mut faults = Vec::new();
    for event in &history.events {
        let Event::Owned { group, place, member, owned } = *event else { continue };
        let key = (group, place);
        if !owned {
            if owners.get(&key) == Some(&member) {
                owners.remove(&key);
            }
        } else if let Some(other) = owners.insert(key, member).filter(|other| *other != member) {
            let what = format!("{place:?} of group {group} belongs to members {other} and {member}");
            faults.push(Fault::new(Kind::TwoOwners, what));
        }
    }
    faults
}
