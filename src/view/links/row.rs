//! A link as it is stored: 16 bytes, two big-endian words, one for the key and one for the identity.
//!
//! ```text
//! bit 63       of the first word: it is a tombstone; of the second: 0
//! bit 62       of the first word: it repeats the value; of the second: 0
//! bits 46..62  partition of the previous place
//! bits 0..46   its feed offset; with the partition all ones: there is none
//! ```

use crate::model::{FeedOffset, PartitionId};
use crate::view::link::{Link, Place};

/// A stored link.
pub type Row = [u64; 2];

pub const ROW_BYTES: usize = 16;

/// Partitions that fit: the last number stands for "none".
pub const PARTITIONS_MAX: u32 = u16::MAX as u32;
/// Feed offsets that fit, in each partition.
pub const OFFSETS_MAX: i64 = 1 << OFFSET_BITS;

const OFFSET_BITS: u32 = 46;
const TOMBSTONE: u64 = 1 << 63;
const REPEATS: u64 = 1 << 62;

/// No place, packed. No place that fits is packed so.
pub const NONE: u64 = REPEATS - 1;

/// The row of a record that has no link to anything.
pub const EMPTY: Row = [NONE, NONE];

/// A place in 62 bits.
pub fn pack(partition: u32, offset: i64) -> u64 {
    assert!(
        partition < PARTITIONS_MAX && (0..OFFSETS_MAX).contains(&offset),
        "{partition}, {offset} do not fit a link"
    );
    u64::from(partition) << OFFSET_BITS | offset as u64
}

/// The partition and the offset of a packed place.
pub fn unpack(place: u64) -> (u32, i64) {
    ((place >> OFFSET_BITS) as u32, (place & (OFFSETS_MAX as u64 - 1)) as i64)
}

/// The row of a record whose previous places are these, packed.
pub fn row(key_before: u64, identity_before: u64, repeats_value: bool, is_tombstone: bool) -> Row {
    let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    [key_before | flag(is_tombstone, TOMBSTONE) | flag(repeats_value, REPEATS), identity_before]
}

#[inline]
pub fn link(row: Row) -> Link {
    Link {
        key_before: place(row[0] & NONE),
        identity_before: place(row[1] & NONE),
        repeats_value: row[0] & REPEATS != 0,
        is_tombstone: row[0] & TOMBSTONE != 0,
    }
}

#[inline]
fn place(packed: u64) -> Option<Place> {
    let (partition, offset) = unpack(packed);
    (packed != NONE).then_some(Place { partition: PartitionId(partition), offset: FeedOffset(offset) })
}

#[inline]
pub fn decode(bytes: &[u8; ROW_BYTES]) -> Row {
    let both = u128::from_be_bytes(*bytes);
    [(both >> 64) as u64, both as u64]
}

pub fn encode(row: Row) -> [u8; ROW_BYTES] {
    (u128::from(row[0]) << 64 | u128::from(row[1])).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_back_from_its_row() {
        let places = [(0, 0), (1, 77), (65_534, OFFSETS_MAX - 1)];
        for key in places {
            for identity in places {
                for flags in 0..4 {
                    let (repeats, tombstone) = (flags & 1 == 1, flags & 2 == 2);
                    let row = row(pack(key.0, key.1), pack(identity.0, identity.1), repeats, tombstone);
                    let found = link(decode(&encode(row)));
                    let place = |(partition, offset)| {
                        Some(Place { partition: PartitionId(partition), offset: FeedOffset(offset) })
                    };
                    assert_eq!((found.key_before, found.identity_before), (place(key), place(identity)));
                    assert_eq!((found.repeats_value, found.is_tombstone), (repeats, tombstone));
                }
            }
        }
        assert_eq!(link(decode(&encode(EMPTY))), Link::default());
    }

    #[test]
    #[should_panic(expected = "do not fit a link")]
    fn a_place_that_stands_for_none_is_no_place() {
        pack(65_535, 0);
    }
}
