//! A filter over the hashes of a run: says of most hashes that are not in it that they are not.
//!
//! One block of 64 bytes for 51 entries, in the order of the hashes like all else; an entry sets six bits in its block. Of
//! hashes that are not there, one in eighty passes.

use super::entry::part_of;

/// Words of a block.
const BLOCK: usize = 8;
const BITS_PER_ENTRY: u64 = 10;
const NUM_BITS: u32 = 6;
/// Bits that choose one of a block's.
const CHOICE: u32 = 9;

/// See the module.
pub struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// Words of a filter over so many entries.
    pub fn num_words(num_entries: u64) -> usize {
        (num_entries * BITS_PER_ENTRY).div_ceil(64 * BLOCK as u64).max(1) as usize * BLOCK
    }

    pub fn new(num_entries: u64) -> Filter {
        Filter { words: vec![0; Filter::num_words(num_entries)] }
    }

    /// One that was stored.
    pub fn of_words(words: Vec<u64>) -> Filter {
        Filter { words }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn add(&mut self, hash: u128) {
        let block = self.block_of(hash);
        for (word, bit) in bits_of(hash) {
            self.words[block + word] |= bit;
        }
    }

    /// False: no entry with that hash was added.
    pub fn may_hold(&self, hash: u128) -> bool {
        let block = self.block_of(hash);
        bits_of(hash).all(|(word, bit)| self.words[block + word] & bit != 0)
    }

    fn block_of(&self, hash: u128) -> usize {
        part_of(hash, (self.words.len() / BLOCK) as u64) as usize * BLOCK
    }
}

/// From the low half of the hash; the high half chose the block.
fn bits_of(hash: u128) -> impl Iterator<Item = (usize, u64)> {
    let low = hash as u64;
    (0..NUM_BITS).map(move |index| {
        let choice = (low >> (index * CHOICE)) as usize & ((1 << CHOICE) - 1);
        (choice / 64, 1 << (choice % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SplitMix;

    #[test]
    fn all_that_was_added_passes_and_little_else() {
        let mut random = SplitMix::new(1);
        let mut hash = || u128::from(random.draw()) << 64 | u128::from(random.draw());
        let added: Vec<u128> = (0..10_000).map(|_| hash()).collect();
        let mut filter = Filter::new(10_000);
        added.iter().for_each(|hash| filter.add(*hash));
        assert!(added.iter().all(|hash| filter.may_hold(*hash)));
        let passed = (0..100_000).filter(|_| filter.may_hold(hash())).count();
        assert!((500..2_000).contains(&passed), "{passed} of 100,000");
        assert!(Filter::of_words(filter.words().to_vec()).may_hold(added[5]));
    }
}
