//! What a client has to do itself where there are no views: read all of the plain topic, and keep what it needs to know.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::pass::{Pass, pass};
use crate::Fault;
use crate::broker::Broker;

/// Of a record of each key and value, the first: as `..dedup`. It keeps 8 bytes of each, which is as little as it can do.
pub fn dedup(broker: &Broker, topic: &str) -> Result<(Pass, u64), Fault> {
    let (hasher, mut seen) = (RandomState::new(), HashSet::new());
    let pass = pass(broker, topic, |record| {
        seen.insert(hasher.hash_one((record.key, record.value)));
    })?;
    Ok((pass, seen.len() as u64))
}

/// The last of each key, with its value: as `..latest`.
pub fn latest(broker: &Broker, topic: &str) -> Result<(Pass, u64), Fault> {
    let mut last: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let pass = pass(broker, topic, |record| match last.get_mut(record.key) {
        Some(value) => {
            value.clear();
            value.extend_from_slice(record.value);
        }
        None => drop(last.insert(record.key.to_owned(), record.value.to_owned())),
    })?;
    Ok((pass, last.len() as u64))
}

/// Those whose value is not the one before of their key: as `..changed`.
pub fn changed(broker: &Broker, topic: &str) -> Result<(Pass, u64), Fault> {
    let (hasher, mut last, mut num_changed) = (RandomState::new(), HashMap::<Vec<u8>, u64>::new(), 0);
    let pass = pass(broker, topic, |record| {
        let value = hasher.hash_one(record.value);
        match last.get_mut(record.key) {
            Some(before) if *before == value => {}
            Some(before) => {
                *before = value;
                num_changed += 1;
            }
            None => {
                last.insert(record.key.to_owned(), value);
                num_changed += 1;
            }
        }
    })?;
    Ok((pass, num_changed))
}
