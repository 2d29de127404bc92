//! What open transactions hold in memory until they end: all that they touch, and the positions that wait with them.

use std::ops::{AddAssign, SubAssign};

use super::super::entry::MovedPosition;
use super::super::state::State;
use super::OpenTransaction;
use super::enlist::EnlistError;
use super::open::Transactional;

/// Bytes that all open transactions together may hold.
pub const HELD_BYTES_MAX: u64 = 512 << 20;

/// What one thing takes beside its names.
const HEAD: u64 = 128;
/// What a partition or a feed takes.
const PLACE: u64 = 32;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Positions that wait for an end.
    pub positions: u64,
    /// Bytes of their metadata.
    pub metadata_bytes: u64,
    /// Bytes of all of it, about.
    pub bytes: u64,
}

impl Transactional {
    pub(super) fn held(&self) -> Held {
        self.open.as_ref().map_or(Held::default(), OpenTransaction::held)
    }
}

impl OpenTransaction {
    /// What it holds.
    pub fn held(&self) -> Held {
        let mut held = Held { bytes: HEAD, ..Held::default() };
        for (group, positions) in &self.staged {
            held.positions += positions.num_positions;
            held.metadata_bytes += positions.metadata_bytes;
            held.bytes += HEAD + group.len() as u64;
        }
        let places = self.partitions.len() + self.streams.len() + self.seals.len();
        held.bytes += PLACE * places as u64 + groups_bytes(&self.groups);
        held.bytes += HEAD * held.positions + held.metadata_bytes;
        held
    }
}

impl State {
    /// There is room for so much more.
    pub(super) fn check_held(&self, more: u64) -> Result<(), EnlistError> {
        let bytes = self.transactions.held().bytes;
        match more > 0 && bytes + more > HELD_BYTES_MAX {
            true => Err(EnlistError::TooMuchHeld { bytes }),
            false => Ok(()),
        }
    }
}

/// What so many partitions take, each of which may open a stream on its feed.
pub(super) fn places_bytes(num: usize) -> u64 {
    2 * PLACE * num as u64
}

/// What the positions take.
pub(super) fn positions_bytes(positions: &[MovedPosition]) -> u64 {
    positions.iter().map(|moved| HEAD + moved.metadata.len() as u64).sum()
}

/// What the names take.
pub(super) fn groups_bytes<'a>(groups: impl IntoIterator<Item = &'a String>) -> u64 {
    groups.into_iter().map(|group| HEAD + group.len() as u64).sum()
}

impl AddAssign for Held {
    fn add_assign(&mut self, more: Held) {
        let Held { positions, metadata_bytes, bytes } = more;
        self.positions += positions;
        self.metadata_bytes += metadata_bytes;
        self.bytes += bytes;
    }
}

impl SubAssign for Held {
    fn sub_assign(&mut self, less: Held) {
        let Held { positions, metadata_bytes, bytes } = less;
        self.positions -= positions;
        self.metadata_bytes -= metadata_bytes;
        self.bytes -= bytes;
    }
}
