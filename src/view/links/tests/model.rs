//! What the links of a history are, found out in the plainest way.

use std::collections::HashMap;

use super::history::{History, TestRecord};
use crate::config::Identity;
use crate::model::{FeedOffset, PartitionId};
use crate::view::link::CommitCounts;
use crate::view::link::{Link, Place};

/// Links of all records, by partition and offset, and counts of all commits.
pub struct Model {
    pub links: Vec<Vec<Link>>,
    pub counts: Vec<CommitCounts>,
}

type Part<'a> = Option<&'a [u8]>;

/// As if nothing had been dropped.
pub fn links(history: &History, identity: &Identity) -> Model {
    let mut links: Vec<Vec<Link>> = vec![Vec::new(); history.num_partitions() as usize];
    let mut keys: HashMap<&[u8], (Place, Part<'_>)> = HashMap::new();
    let mut identities: HashMap<(Part<'_>, Part<'_>), Place> = HashMap::new();
    let mut counts = Vec::new();
    for commit in 0..history.num_commits() {
        let mut counted = CommitCounts::default();
        for partition in 0..history.num_partitions() {
            let first = links[partition as usize].len();
            let records = (first..).zip(&history.records(partition)[first..]);
            for (offset, record) in records.take_while(|(_, record)| record.commit == commit) {
                let place = Place { partition: PartitionId(partition), offset: FeedOffset(offset as i64) };
                let value = record.value.as_deref();
                let key_before = record.key.as_deref().and_then(|key| keys.insert(key, (place, value)));
                let identity_before = identity_of(record, identity).and_then(|it| identities.insert(it, place));
                let link = Link {
                    key_before: key_before.map(|(place, _)| place),
                    identity_before,
                    repeats_value: key_before.is_some_and(|(_, before)| before == value),
                    is_tombstone: record.key.is_some() && value.is_none(),
                };
                counted.duplicates += u64::from(identity_before.is_some());
                counted.new_keys += u64::from(record.key.is_some() && key_before.is_none());
                counted.tombstones += u64::from(link.is_tombstone);
                links[partition as usize].push(link);
            }
        }
        counts.push(counted);
    }
    Model { links, counts }
}

fn identity_of<'a>(record: &'a TestRecord, identity: &Identity) -> Option<(Part<'a>, Part<'a>)> {
    let (key, value) = (record.key.as_deref(), record.value.as_deref());
    match identity {
        Identity::KeyAndValue => Some((key, value)),
        Identity::Key => Some((Some(key?), None)),
        Identity::Value => Some((None, Some(value?))),
        Identity::Header(name) => {
            let (_, value) = record.headers.iter().rev().find(|(other, _)| other == name)?;
            Some((Some(value.as_deref()?), None))
        }
    }
}
