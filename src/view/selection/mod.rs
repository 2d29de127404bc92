//! Which records of a range a mode emits: a bitmap over each partition's feed space, made from the links in one pass and
//! extended as the feed grows.
//!
//! At first all records of the range are in; the pass takes out those that are not emitted. So neither the order of
//! the pass over the partitions matters, nor where it was cut into steps:
//!
//! | mode | taken out |
//! |---|---|
//! | dedup | a record whose identity came before in the range |
//! | changed | a record that repeats the value that its key had before in the range |
//! | latest | the record that had the key before |
//! | live | that, and tombstones |

mod bits;
mod kept;

use std::ops::Range;

pub(super) use self::bits::Bits;
use self::bits::Edit;
pub use self::kept::Selections;
pub(super) use self::kept::{Wanted, may_take_long};
use super::link::{Link, Links, Place};
use super::selector::Mode;
use crate::model::{FeedOffset, PartitionId};
use crate::store::FileError;

/// Links that are looked at in one go.
const LOT: i64 = 4096;

/// More links than so many for each page of bits: all pages are made ready to be changed beforehand.
const MANY: i64 = 4;

/// Where a range begins and how far it is looked at, by partition.
pub(super) type Extents = Vec<Range<FeedOffset>>;

/// The emitted records of a range. The partitions may be known to different depths of the history.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    mode: Mode,
    starts: Vec<FeedOffset>,
    partitions: Vec<Bits>,
    /// Superseded records that lie past what is looked at of their partitions.
    ahead: Vec<Place>,
}

impl Selection {
    /// Of nothing yet.
    pub fn of(mode: Mode) -> Selection {
        assert!(mode != Mode::Raw, "all records of a raw view are emitted");
        Selection { mode, starts: Vec::new(), partitions: Vec::new(), ahead: Vec::new() }
    }

    /// The emitted records of a partition; none for a partition that it does not know.
    pub fn partition(&self, partition: PartitionId) -> Option<&Bits> {
        self.partitions.get(partition.0 as usize)
    }

    /// True when it can be extended to `extents`: none that it took out would be emitted now that the range begins later,
    /// and none that it is to look at was deleted.
    pub fn goes_on_to(&self, extents: &Extents) -> bool {
        let supersedes = matches!(self.mode, Mode::Latest | Mode::Live);
        self.starts
            .iter()
            .zip(&self.partitions)
            .zip(extents)
            .all(|((start, bits), extent)| *start == extent.start || (supersedes && extent.start.0 <= bits.end()))
    }

    /// True when it knows all of `extents`.
    pub fn covers(&self, extents: &Extents) -> bool {
        self.partitions.len() >= extents.len() && self.num_new(extents) == 0
    }

    /// Records of `extents` that it does not know yet.
    pub fn num_new(&self, extents: &Extents) -> i64 {
        let new = |(index, extent): (usize, &Range<FeedOffset>)| {
            let known = self.partitions.get(index).map_or(extent.start.0, Bits::end);
            (extent.end.0 - known).max(0)
        };
        extents.iter().enumerate().map(new).sum()
    }

    /// Takes in the records up to the ends of `extents`, which are indexed.
    pub fn extend(&mut self, links: &dyn Links, extents: &Extents) -> Result<(), FileError> {
        let num_new = self.num_new(extents);
        let new = self.grow(extents);
        let num_pages: i64 = self.partitions.iter().map(Bits::num_pages).sum();
        let ahead = std::mem::take(&mut self.ahead);
        let is_large = num_new > MANY * num_pages;
        let mut pass = Pass {
            mode: self.mode,
            starts: &self.starts,
            takers: self.partitions.iter_mut().map(|bits| Taker::of(bits, is_large)).collect(),
            ahead: &mut self.ahead,
        };
        ahead.into_iter().for_each(|place| pass.take_out(place));
        for (index, new) in new.into_iter().enumerate() {
            pass.over(links, PartitionId(index as u32), new)?;
        }
        drop(pass);
        if is_large {
            self.partitions.iter_mut().for_each(Bits::settle);
        }
        Ok(())
    }

    /// All records up to the ends are in; gives what is new of each partition.
    fn grow(&mut self, extents: &Extents) -> Extents {
        let mut new = Vec::with_capacity(extents.len());
        for (index, extent) in extents.iter().enumerate() {
            if index == self.partitions.len() {
                self.starts.push(extent.start);
                self.partitions.push(Bits::starting_at(extent.start.0));
            }
            let bits = &mut self.partitions[index];
            let from = bits.end();
            bits.grow(extent.end.0.max(from));
            new.push(FeedOffset(from)..FeedOffset(bits.end()));
            if matches!(self.mode, Mode::Latest | Mode::Live) {
                bits.forget_below(extent.start.0);
            }
        }
        new
    }

    /// How many records were looked at.
    pub fn num_records(&self) -> i64 {
        self.partitions.iter().map(|bits| bits.end() - bits.base()).sum()
    }

    /// Bytes of memory, about.
    pub fn num_bytes(&self) -> usize {
        self.partitions.iter().map(Bits::num_bytes).sum::<usize>() + self.ahead.len() * size_of::<Place>()
    }
}

/// One pass over new links.
struct Pass<'a> {
    mode: Mode,
    starts: &'a [FeedOffset],
    takers: Vec<Taker<'a>>,
    ahead: &'a mut Vec<Place>,
}

impl Pass<'_> {
    fn over(&mut self, links: &dyn Links, partition: PartitionId, new: Range<FeedOffset>) -> Result<(), FileError> {
        for from in (new.start.0..new.end.0).step_by(LOT as usize) {
            let end = FeedOffset(new.end.0.min(from + LOT));
            let lot = links.read(partition, FeedOffset(from), end)?;
            assert_eq!(lot.len() as i64, end.0 - from, "links of partition {partition} from {from} to {end}");
            for (offset, link) in (from..).map(FeedOffset).zip(&lot) {
                self.look_at(Place { partition, offset }, link);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn look_at(&mut self, place: Place, link: &Link) {
        match self.mode {
            Mode::Raw => {}
            Mode::Dedup => self.take_out_if(place, self.is_within(link.identity_before)),
            Mode::Changed => self.take_out_if(place, link.repeats_value && self.is_within(link.key_before)),
            Mode::Latest => self.supersede(link.key_before),
            Mode::Live => {
                self.supersede(link.key_before);
                self.take_out_if(place, link.is_tombstone);
            }
        }
    }

    fn is_within(&self, before: Option<Place>) -> bool {
        before
            .is_some_and(|place| self.starts.get(place.partition.0 as usize).is_none_or(|start| place.offset >= *start))
    }

    fn supersede(&mut self, before: Option<Place>) {
        if let Some(place) = before {
            self.take_out(place);
        }
    }

    fn take_out_if(&mut self, place: Place, is_out: bool) {
        if is_out {
            self.take_out(place);
        }
    }

    fn take_out(&mut self, place: Place) {
        let taken = self.takers.get_mut(place.partition.0 as usize).is_some_and(|taker| taker.take(place.offset.0));
        if !taken {
            self.ahead.push(place);
        }
    }
}

/// Takes records of one partition out.
enum Taker<'a> {
    Few(&'a mut Bits),
    Many(Edit<'a>),
}

impl<'a> Taker<'a> {
    fn of(bits: &'a mut Bits, is_large: bool) -> Taker<'a> {
        if is_large { Taker::Many(bits.edit()) } else { Taker::Few(bits) }
    }

    /// False when the record is still to come. What lies before the range is not in it.
    #[inline(always)]
    fn take(&mut self, offset: i64) -> bool {
        let (base, end) = match self {
            Taker::Few(bits) => (bits.base(), bits.end()),
            Taker::Many(edit) => (edit.base(), edit.end()),
        };
        match self {
            _ if offset >= end => return false,
            _ if offset < base => {}
            Taker::Few(bits) => bits.remove(offset),
            Taker::Many(edit) => edit.remove(offset),
        }
        true
    }
}

#[cfg(test)]
mod tests;
