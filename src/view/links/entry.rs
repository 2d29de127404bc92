//! What the index holds of a key or an identity: where it stood last.

/// Bytes of a stored entry: hash, place and value, big-endian.
pub const ENTRY_BYTES: usize = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub hash: u128,
    pub last: Last,
}

/// The newest record with a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// Its place, packed (see `row`).
    pub place: u64,
    /// The hash of its value; 0 in an index of identities.
    pub value: u64,
}

impl Entry {
    pub fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..16].copy_from_slice(&self.hash.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.last.place.to_be_bytes());
        bytes[24..].copy_from_slice(&self.last.value.to_be_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; ENTRY_BYTES]) -> Entry {
        let [high, low, place, value] = std::array::from_fn(|index| {
            let word = bytes[index * 8..][..8].try_into().expect("the slice has eight bytes");
            u64::from_be_bytes(word)
        });
        Entry { hash: u128::from(high) << 64 | u128::from(low), last: Last { place, value } }
    }
}

/// Which of `num` equal parts of all hashes this one lies in. Keyed hashes are spread evenly, so that this is where to look for
/// it in anything that is ordered by hash.
#[inline]
pub fn part_of(hash: u128, num: u64) -> u64 {
    let high = (hash >> 64) as u64;
    ((u128::from(high) * u128::from(num)) >> 64) as u64
}
