//! Where the hashes of a lot's records stood before: in the lot itself, in the table, or on disk. Changes nothing.

use super::entry::Last;
use super::index::Index;
use super::lot::{Lot, Record};
use super::row::{NONE, pack};
use super::run::Wanted;
use crate::store::FileError;

/// What was found for one kind of hash.
pub struct Resolved {
    /// For each record the newest one before it with its hash; the place is [`NONE`] when there is none.
    pub before: Vec<Last>,
    /// For each hash of the lot the record that has it last.
    pub last: Vec<u32>,
}

const NOWHERE: Last = Last { place: NONE, value: 0 };

/// The record's own place and value.
pub fn own(record: &Record) -> Last {
    Last { place: pack(record.partition, record.offset), value: record.hashes.value }
}

pub fn resolve(lot: &Lot, index: &Index, hash_of: impl Fn(&Record) -> Option<u128>) -> Result<Resolved, FileError> {
    let records = &lot.records;
    let mut before = vec![NOWHERE; records.len()];
    let mut seen = Seen::new(records.len());
    let mut wanted = Vec::new();
    for (number, record) in (0..).zip(records) {
        let Some(hash) = hash_of(record) else { continue };
        let place = &mut before[number as usize];
        match seen.replace(hash, number, |other| hash_of(&records[other as usize]) == Some(hash)) {
            Some(other) => *place = own(&records[other as usize]),
            None => match index.get(hash) {
                Some(last) => *place = last,
                None => wanted.push(Wanted { hash, record: number }),
            },
        }
    }
    index.find(wanted, |number, last| before[number as usize] = last)?;
    Ok(Resolved { before, last: seen.into_last() })
}

/// The hashes of a lot, each with the number of the record that has it last: a table of numbers, small enough for the
/// processor's cache.
struct Seen {
    /// Number + 1; 0 is free.
    slots: Vec<u32>,
    mask: usize,
}

impl Seen {
    fn new(num: usize) -> Seen {
        let size = (num * 2).next_power_of_two().max(2);
        Seen { slots: vec![0; size], mask: size - 1 }
    }

    /// From now on the hash is that of record `number`; gives back the record that had it before, which `is_it` knows.
    #[inline]
    fn replace(&mut self, hash: u128, number: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize & self.mask;
        loop {
            match self.slots[at].checked_sub(1) {
                Some(other) if is_it(other) => {
                    self.slots[at] = number + 1;
                    return Some(other);
                }
                Some(_) => at = (at + 1) & self.mask,
                None => {
                    self.slots[at] = number + 1;
                    return None;
                }
            }
        }
    }

    fn into_last(self) -> Vec<u32> {
        self.slots.into_iter().filter_map(|slot| slot.checked_sub(1)).collect()
    }
}
