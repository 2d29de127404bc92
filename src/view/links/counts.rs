//! What indexing a commit found out about it.

use super::row::Row;
use crate::view::link::CommitCounts;

/// Bits of each count: more records than a commit can have.
const BITS: u32 = 42;
const MASK: u128 = (1 << BITS) - 1;

impl CommitCounts {
    pub(super) fn to_row(self) -> Row {
        let fields = [self.duplicates, self.new_keys, self.tombstones];
        let packed = fields.iter().fold(0, |packed, field| packed << BITS | u128::from(*field) & MASK);
        [(packed >> 64) as u64, packed as u64]
    }

    pub(super) fn of_row(row: Row) -> CommitCounts {
        let packed = u128::from(row[0]) << 64 | u128::from(row[1]);
        let field = |index: u32| (packed >> (index * BITS) & MASK) as u64;
        CommitCounts { duplicates: field(2), new_keys: field(1), tombstones: field(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_from_their_row() {
        let counts = CommitCounts { duplicates: 1 << 41, new_keys: (1 << 42) - 1, tombstones: 77 };
        assert_eq!(CommitCounts::of_row(counts.to_row()), counts);
        assert_eq!(CommitCounts::of_row(CommitCounts::default().to_row()), CommitCounts::default());
    }
}
