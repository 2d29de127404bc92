//! The part of an index that is in memory: a hash table whose entries stand in the order of their hashes.
//!
//! An entry's home is the part of the table that its hash's first bits say; entries that share a home stand behind one another,
//! in order. So a walk over the slots gives a sorted run without sorting, and a table is grown, or written, in one pass.

use std::sync::Arc;

use super::entry::{Entry, Last, part_of};
use super::memory::{Held, Memory, Sharer};

/// See the module.
pub struct Table {
    memory: Arc<Memory>,
    held: Held,
    /// None while it has the smallest size.
    sharer: Option<Sharer>,
    slots: Vec<Slot>,
    /// Slots that are homes; a few more stand behind them, for the last homes' entries.
    num_homes: u64,
    num_used: usize,
    num_dirty: usize,
}

/// An entry, with two flags in its place; all zeros when it is free.
#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u128,
    place: u64,
    value: u64,
}

const SLOT_BYTES: usize = size_of::<Slot>();
const USED: u64 = 1 << 63;
/// No run on disk has it yet.
const DIRTY: u64 = 1 << 62;

/// Slots of the smallest table.
const HOMES_MIN: u64 = 1024;
const BEHIND: usize = 64;

impl Table {
    pub fn new(memory: Arc<Memory>) -> Table {
        let held = memory.take_needed(bytes_of(HOMES_MIN));
        Table {
            memory,
            held,
            sharer: None,
            slots: new_slots(HOMES_MIN),
            num_homes: HOMES_MIN,
            num_used: 0,
            num_dirty: 0,
        }
    }

    /// Entries that no run holds yet.
    pub fn num_dirty(&self) -> usize {
        self.num_dirty
    }

    pub fn get(&self, hash: u128) -> Option<Last> {
        let slot = self.slots[self.find(hash)?];
        Some(Last { place: slot.place & !(USED | DIRTY), value: slot.value })
    }

    /// True when `num` more entries can be put.
    pub fn has_room(&self, num: usize) -> bool {
        self.num_used + num <= room_of(self.num_homes)
    }

    /// Grows until there is room for `num` more entries; false when the budget does not have it.
    pub fn grow(&mut self, num: usize) -> bool {
        let wanted = self.num_used + num;
        let homes_max = (self.memory.share() / SLOT_BYTES) as u64;
        let mut homes = self.num_homes;
        while room_of(homes) < wanted {
            homes *= 2;
        }
        // The share is no power of two of anything: the last step goes up to it.
        let homes = if room_of(homes_max) >= wanted { homes.min(homes_max) } else { homes };
        if homes > homes_max {
            return false;
        }
        let Some(held) = self.memory.take(bytes_of(homes), self.held.bytes()) else { return false };
        let entries = std::mem::replace(&mut self.slots, new_slots(homes));
        (self.held, self.num_homes) = (held, homes);
        self.sharer.get_or_insert_with(|| self.memory.sharer());
        self.refill(&entries);
        true
    }

    /// Forgets all, and takes no more memory than its share, or than `num` entries need if that is more.
    pub fn clear(&mut self, num: usize) {
        let share = (self.memory.share() / SLOT_BYTES) as u64;
        let needed = HOMES_MIN.max((num as u64).div_ceil(3) * 4);
        let homes = self.num_homes.min(share).max(needed);
        self.resize(homes);
    }

    /// Forgets all, and takes as little memory as it can.
    pub fn shrink(&mut self) {
        if self.num_homes > HOMES_MIN {
            self.resize(HOMES_MIN);
            self.sharer = None;
        }
    }

    /// The record with this hash that stands last. There must be room.
    pub fn put(&mut self, hash: u128, last: Last) {
        let (at, is_there) = self.place_of(hash);
        if !is_there {
            assert!(self.has_room(1), "a table of {} entries has no room for one more", self.num_used);
            self.open(at);
            self.num_used += 1;
        }
        if !is_there || self.slots[at].place & DIRTY == 0 {
            self.num_dirty += 1;
        }
        self.slots[at] = Slot { hash, place: last.place | USED | DIRTY, value: last.value };
    }

    /// The entries that no run holds yet, in the order of their hashes.
    pub fn dirty(&self) -> impl Iterator<Item = Entry> + '_ {
        let dirty = self.slots.iter().filter(|slot| slot.place & DIRTY != 0);
        dirty.map(|slot| Entry {
            hash: slot.hash,
            last: Last { place: slot.place & !(USED | DIRTY), value: slot.value },
        })
    }

    /// A run holds them all now.
    pub fn mark_clean(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.place &= !DIRTY);
        self.num_dirty = 0;
    }

    fn find(&self, hash: u128) -> Option<usize> {
        let (at, is_there) = self.place_of(hash);
        is_there.then_some(at)
    }

    /// Where the hash stands, or where it is to be put.
    #[inline]
    fn place_of(&self, hash: u128) -> (usize, bool) {
        let mut at = part_of(hash, self.num_homes) as usize;
        while let Some(slot) = self.slots.get(at) {
            if slot.place == 0 || slot.hash >= hash {
                return (at, slot.place != 0 && slot.hash == hash);
            }
            at += 1;
        }
        (at, false)
    }

    /// Frees a slot, by moving what stands there and behind it by one.
    fn open(&mut self, at: usize) {
        let behind = self.slots[at..].iter().position(|slot| slot.place == 0);
        let end = at + behind.unwrap_or(self.slots.len() - at);
        if end == self.slots.len() {
            self.slots.resize(end + BEHIND, Slot::default());
        }
        self.slots.copy_within(at..end, at + 1);
    }

    fn resize(&mut self, homes: u64) {
        let held = self.memory.take_needed(bytes_of(homes));
        (self.held, self.num_homes) = (held, homes);
        (self.num_used, self.num_dirty) = (0, 0);
        // Given back before the other one is taken.
        self.slots = Vec::new();
        self.slots = new_slots(homes);
    }

    /// Puts what stands in `entries`, which are in order, into the empty slots.
    fn refill(&mut self, entries: &[Slot]) {
        let mut next = 0;
        for slot in entries.iter().filter(|slot| slot.place != 0) {
            let at = next.max(part_of(slot.hash, self.num_homes) as usize);
            if at >= self.slots.len() {
                self.slots.resize(at + BEHIND, Slot::default());
            }
            self.slots[at] = *slot;
            next = at + 1;
        }
    }
}

/// Zeros, which the system gives without touching them.
fn new_slots(homes: u64) -> Vec<Slot> {
    vec![Slot::default(); homes as usize + BEHIND]
}

/// Entries in so many homes: three quarters, so that few stand far from home.
fn room_of(homes: u64) -> usize {
    (homes / 4 * 3) as usize
}

fn bytes_of(homes: u64) -> usize {
    homes as usize * SLOT_BYTES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::disk::SplitMix;

    fn last(place: u64) -> Last {
        Last { place, value: place * 3 }
    }

    #[test]
    fn it_is_a_map_in_order() {
        let mut random = SplitMix::new(5);
        let mut table = Table::new(Memory::new(1 << 24));
        let mut model = BTreeMap::new();
        for step in 0..60_000 {
            if !table.has_room(1) {
                assert!(table.grow(1));
            }
            // All bits, or all in the last homes, where entries stand behind the table.
            let spread = u128::from(random.below(20_000)) << 113;
            let hash = if random.chance(1, 50) { u128::MAX - u128::from(random.below(500)) } else { spread };
            assert_eq!(table.get(hash), model.get(&hash).copied());
            table.put(hash, last(step));
            model.insert(hash, last(step));
        }
        let expected: Vec<Entry> = model.iter().map(|(hash, last)| Entry { hash: *hash, last: *last }).collect();
        assert_eq!(table.dirty().collect::<Vec<_>>(), expected);
        assert_eq!(table.num_dirty(), expected.len());
    }

    #[test]
    fn only_what_was_put_since_is_dirty() {
        let mut table = Table::new(Memory::new(1 << 20));
        (0..100).for_each(|hash| table.put(hash << 100, last(1)));
        table.mark_clean();
        table.put(7 << 100, last(2));
        table.put(1_000 << 100, last(3));
        let dirty: Vec<u128> = table.dirty().map(|entry| entry.hash >> 100).collect();
        assert_eq!((dirty, table.num_dirty()), (vec![7, 1_000], 2));
        assert_eq!(table.get(8 << 100), Some(last(1)));
    }

    #[test]
    fn it_keeps_to_the_budget() {
        let memory = Memory::new(1 << 20);
        let mut table = Table::new(memory.clone());
        let mut num = 0_u64;
        while table.has_room(1) || table.grow(1) {
            num += 1;
            table.put(u128::from(num) << 110, last(num));
        }
        assert!((5_000..7_000).contains(&num), "{num} entries of {SLOT_BYTES} bytes in a quarter of 1 MiB");
        assert!(memory.held() <= 1 << 18, "{}", memory.held());
        table.clear(1);
        assert!(table.get(1 << 110).is_none() && table.has_room(5_000));
        table.shrink();
        assert_eq!(memory.held(), HOMES_MIN as usize * SLOT_BYTES);
        assert!(table.has_room(700) && !table.has_room(800));
    }
}
