//! A set of feed offsets of one partition, one bit each, in pages that are shared until they are changed: a copy costs little,
//! so that readers keep the set that they began with while a newer one is made of it.

use std::sync::{Arc, LazyLock};

const WORD_BITS: i64 = 64;
const PAGE_WORDS: usize = 512;
const PAGE_BITS: i64 = PAGE_WORDS as i64 * WORD_BITS;

type Page = [u64; PAGE_WORDS];

static FULL: LazyLock<Arc<Page>> = LazyLock::new(|| Arc::new([u64::MAX; PAGE_WORDS]));
static EMPTY: LazyLock<Arc<Page>> = LazyLock::new(|| Arc::new([0; PAGE_WORDS]));

/// A subset of the offsets `[base, end)`.
#[derive(Clone, Debug)]
pub(in crate::view) struct Bits {
    base: i64,
    end: i64,
    /// Bits at `end` and behind it are 1, ready for the set to grow.
    pages: Vec<Arc<Page>>,
}

impl Bits {
    /// Of no offsets; grows from `base` on.
    pub fn starting_at(base: i64) -> Bits {
        Bits { base, end: base, pages: Vec::new() }
    }

    pub fn base(&self) -> i64 {
        self.base
    }

    pub fn end(&self) -> i64 {
        self.end
    }

    /// All offsets up to `end` come to the set.
    pub fn grow(&mut self, end: i64) {
        assert!(end >= self.end, "a set up to {} shrinks to {end}", self.end);
        self.end = end;
        let num_pages = self.num_of(PAGE_BITS) as usize;
        self.pages.resize_with(num_pages, || FULL.clone());
    }

    /// To take out a few. With many pages to copy it is quicker than [`Bits::edit`] up to about one offset a page.
    pub fn remove(&mut self, offset: i64) {
        let (page, word, mask) = self.place(offset);
        Arc::make_mut(&mut self.pages[page])[word] &= !mask;
    }

    /// To take out many.
    pub fn edit(&mut self) -> Edit<'_> {
        Edit { base: self.base, end: self.end, pages: self.pages.iter_mut().map(Arc::make_mut).collect() }
    }

    /// Pages in which nothing or all is left take no memory of their own any more.
    pub fn settle(&mut self) {
        for page in &mut self.pages {
            for uniform in [&*FULL, &*EMPTY] {
                if !Arc::ptr_eq(page, uniform) && **page == **uniform {
                    *page = uniform.clone();
                }
            }
        }
    }

    /// The offsets below `start` are not asked for any more.
    pub fn forget_below(&mut self, start: i64) {
        let num_pages = ((start.min(self.end) - self.base) / PAGE_BITS).max(0);
        self.pages.drain(..num_pages as usize);
        self.base += num_pages * PAGE_BITS;
    }

    pub fn contains(&self, offset: i64) -> bool {
        if offset < self.base || offset >= self.end {
            return false;
        }
        let (page, word, mask) = self.place(offset);
        self.pages[page][word] & mask != 0
    }

    /// The first offset of the set at or after `from`.
    pub fn next(&self, from: i64) -> Option<i64> {
        let from = from.max(self.base);
        if from >= self.end {
            return None;
        }
        let first = (from - self.base) / WORD_BITS;
        let mut word = self.word(first) & (u64::MAX << ((from - self.base) % WORD_BITS));
        let mut number = first;
        let num_words = self.num_of(WORD_BITS);
        while word == 0 {
            number += 1;
            if number >= num_words {
                return None;
            }
            word = self.word(number);
        }
        let offset = self.base + number * WORD_BITS + i64::from(word.trailing_zeros());
        (offset < self.end).then_some(offset)
    }

    /// The last offset of the set.
    pub fn last(&self) -> Option<i64> {
        let num_words = self.num_of(WORD_BITS);
        (0..num_words).rev().find_map(|number| {
            let word = self.word(number) & self.mask_of(number, self.base, self.end);
            (word != 0).then(|| self.base + number * WORD_BITS + 63 - i64::from(word.leading_zeros()))
        })
    }

    /// How many offsets of `[from, end)` are in the set.
    pub fn count(&self, from: i64, end: i64) -> i64 {
        let (from, end) = (from.max(self.base), end.min(self.end));
        if from >= end {
            return 0;
        }
        let (first, last) = ((from - self.base) / WORD_BITS, (end - 1 - self.base) / WORD_BITS);
        (first..=last).map(|n| i64::from((self.word(n) & self.mask_of(n, from, end)).count_ones())).sum()
    }

    /// Pages in use.
    pub fn num_pages(&self) -> i64 {
        self.pages.len() as i64
    }

    /// Bytes of memory that the set may have to itself.
    pub fn num_bytes(&self) -> usize {
        let is_own = |page: &&Arc<Page>| !Arc::ptr_eq(page, &FULL) && !Arc::ptr_eq(page, &EMPTY);
        self.pages.iter().filter(is_own).count() * size_of::<Page>() + self.pages.len() * size_of::<Arc<Page>>()
    }

    /// Words or pages that the offsets take.
    fn num_of(&self, bits: i64) -> i64 {
        (self.end - self.base + bits - 1) / bits
    }

    fn word(&self, number: i64) -> u64 {
        let number = number as usize;
        self.pages[number / PAGE_WORDS][number % PAGE_WORDS]
    }

    /// Those bits of a word that stand for offsets of `[from, end)`.
    fn mask_of(&self, number: i64, from: i64, end: i64) -> u64 {
        let start = self.base + number * WORD_BITS;
        let low = u64::MAX << (from - start).clamp(0, WORD_BITS - 1);
        let high = u64::MAX >> (start + WORD_BITS - end).clamp(0, WORD_BITS - 1);
        low & high
    }

    fn place(&self, offset: i64) -> (usize, usize, u64) {
        assert!(offset >= self.base && offset < self.end, "{offset} is not of {}..{}", self.base, self.end);
        place(self.base, offset)
    }
}

fn place(base: i64, offset: i64) -> (usize, usize, u64) {
    let bit = (offset - base) as usize;
    let word = bit / WORD_BITS as usize;
    (word / PAGE_WORDS, word % PAGE_WORDS, 1 << (bit % WORD_BITS as usize))
}

/// A set whose pages are all its own for as long as this lives.
pub(in crate::view) struct Edit<'a> {
    base: i64,
    end: i64,
    pages: Vec<&'a mut Page>,
}

impl Edit<'_> {
    pub fn base(&self) -> i64 {
        self.base
    }

    pub fn end(&self) -> i64 {
        self.end
    }

    #[inline(always)]
    pub fn remove(&mut self, offset: i64) {
        assert!(offset >= self.base && offset < self.end, "{offset} is not of {}..{}", self.base, self.end);
        let (page, word, mask) = place(self.base, offset);
        self.pages[page][word] &= !mask;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::disk::SplitMix;

    /// The same as a set of numbers.
    struct Model {
        start: i64,
        end: i64,
        offsets: BTreeSet<i64>,
    }

    fn check(bits: &Bits, model: &Model, random: &mut SplitMix) {
        assert_eq!(bits.last(), model.offsets.last().copied());
        for _ in 0..20 {
            let span = (model.end - model.start + 200) as u64;
            let from = model.start + random.below(span) as i64 - 100;
            let end = from + random.below(span) as i64;
            let clamped = from.max(model.start);
            assert_eq!(bits.contains(clamped), model.offsets.contains(&clamped), "{clamped}");
            assert_eq!(bits.next(clamped), model.offsets.range(clamped..).next().copied(), "{clamped}");
            let counted = model.offsets.range(clamped..end.max(clamped)).count() as i64;
            assert_eq!(bits.count(clamped, end), counted, "{clamped}..{end}");
        }
    }

    #[test]
    fn it_equals_a_set_of_numbers_whatever_is_done_to_it() {
        for seed in 0..5 {
            println!("seed {seed}");
            let mut random = SplitMix::new(seed);
            let base = random.below(1000) as i64;
            let mut bits = Bits::starting_at(base);
            let mut model = Model { start: base, end: base, offsets: BTreeSet::new() };
            for _ in 0..25 {
                let most = [1, 70, 5000, 40_000][random.below(4) as usize];
                let end = model.end + random.below(most) as i64;
                bits.grow(end);
                model.offsets.extend(model.end..end);
                model.end = end;
                let kept = (bits.clone(), model.offsets.last().copied());
                let victims: Vec<i64> = (0..random.below(3000))
                    .map(|_| model.start + random.below((model.end - model.start + 1) as u64) as i64)
                    .filter(|offset| *offset < model.end)
                    .collect();
                if random.below(2) == 0 {
                    victims.iter().for_each(|offset| bits.remove(*offset));
                } else {
                    let mut edit = bits.edit();
                    victims.iter().for_each(|offset| edit.remove(*offset));
                }
                victims.iter().for_each(|offset| {
                    model.offsets.remove(offset);
                });
                match random.below(8) {
                    0 => bits.settle(),
                    1 => {
                        model.start = model.start + (model.end - model.start) / 3;
                        bits.forget_below(model.start);
                        model.offsets = model.offsets.split_off(&bits.base());
                        model.start = model.start.max(bits.base());
                    }
                    _ => {}
                }
                assert_eq!(kept.0.last(), kept.1, "a copy changed with its original");
                check(&bits, &model, &mut random);
            }
        }
    }

    #[test]
    fn a_set_of_all_or_nothing_takes_little_memory() {
        let mut bits = Bits::starting_at(7);
        bits.grow(7 + 100 * PAGE_BITS);
        assert!(bits.num_bytes() < 2048, "{}", bits.num_bytes());
        let mut edit = bits.edit();
        (7..7 + 50 * PAGE_BITS).for_each(|offset| edit.remove(offset));
        bits.settle();
        assert!(bits.num_bytes() < 2048, "{}", bits.num_bytes());
        assert_eq!(bits.count(0, i64::MAX), 50 * PAGE_BITS);
        assert_eq!(bits.next(0), Some(7 + 50 * PAGE_BITS));
    }
}
