//! The selections that are kept, for all readers of a name: made when first asked for, extended as the index goes on, and
//! the longest unused let go when they take too much memory. They are made again from the links.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

use super::{Extents, Selection};
use crate::disk::waiting;
use crate::model::{CommitNumber, FeedId};
use crate::store::FileError;
use crate::view::link::Links;
use crate::view::selector::Mode;

/// Memory for selections. A bit a record: half a billion records that are read in one mode.
const BYTES_MAX: usize = 64 << 20;

/// What one takes beside its bits.
const SLOT_BYTES: usize = 512;

/// More new links than so many are not looked at on an async worker.
const QUICK_MAX: i64 = 16_384;

/// What a selection is of. A following name has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::view) struct Wanted {
    pub feed: FeedId,
    pub first: CommitNumber,
    pub end: Option<CommitNumber>,
    pub mode: Mode,
}

/// See the module.
pub struct Selections {
    slots: Mutex<HashMap<Wanted, Arc<Slot>>>,
    uses: AtomicU64,
    bytes_max: usize,
}

impl Default for Selections {
    fn default() -> Selections {
        Selections::within(BYTES_MAX)
    }
}

#[derive(Default)]
struct Slot {
    /// Held by whoever makes or extends it.
    turn: Mutex<()>,
    made: Mutex<Option<Made>>,
    num_bytes: AtomicUsize,
    used: AtomicU64,
}

/// A selection, and the links that it was made from: others may know another identity.
struct Made {
    links: Weak<dyn Links>,
    selection: Arc<Selection>,
}

impl Selections {
    /// Selections that take about so much memory, or more when a single one does.
    pub fn within(bytes_max: usize) -> Selections {
        Selections { slots: Mutex::default(), uses: AtomicU64::new(0), bytes_max }
    }

    /// The selection that knows all of `extents`.
    pub(in crate::view) fn find(
        &self,
        wanted: Wanted,
        links: &Arc<dyn Links>,
        extents: &Extents,
    ) -> Result<Arc<Selection>, FileError> {
        let slot = self.slot(wanted);
        if let Some(selection) = slot.of(links, extents).filter(|selection| selection.covers(extents)) {
            return Ok(selection);
        }
        let _turn = slot.take_turn()?;
        let known = slot.of(links, extents);
        if let Some(selection) = known.as_ref().filter(|selection| selection.covers(extents)) {
            return Ok(selection.clone());
        }
        let mut selection = known.map_or_else(|| Selection::of(wanted.mode), |known| Selection::clone(&known));
        if selection.num_new(extents) > QUICK_MAX {
            may_take_long()?;
        }
        selection.extend(&**links, extents)?;
        let selection = Arc::new(selection);
        slot.keep(links, selection.clone());
        self.make_room(wanted);
        Ok(selection)
    }

    fn slot(&self, wanted: Wanted) -> Arc<Slot> {
        let slot = self.slots().entry(wanted).or_default().clone();
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        slot
    }

    /// Lets the longest unused go, and somewhat more than must be, so that it is not looked for at each new one.
    fn make_room(&self, wanted: Wanted) {
        let mut num_bytes = self.num_bytes();
        if num_bytes <= self.bytes_max {
            return;
        }
        let mut slots = self.slots();
        let mut by_use: Vec<(u64, Wanted)> =
            slots.iter().map(|(other, slot)| (slot.used.load(Ordering::Relaxed), *other)).collect();
        by_use.sort_unstable_by_key(|(used, _)| *used);
        for (_, other) in by_use.into_iter().filter(|(_, other)| *other != wanted) {
            if num_bytes <= self.bytes_max / 8 * 7 {
                break;
            }
            num_bytes -= slots.remove(&other).map_or(0, |slot| slot.num_bytes());
        }
    }

    /// Memory that they take, about.
    pub fn num_bytes(&self) -> usize {
        self.slots().values().map(|slot| slot.num_bytes()).sum()
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Wanted, Arc<Slot>>> {
        self.slots.lock().expect("no code panics while it holds the selections")
    }
}

impl Slot {
    /// The one made from these links, if it can be extended to `extents`.
    fn of(&self, links: &Arc<dyn Links>, extents: &Extents) -> Option<Arc<Selection>> {
        let made = self.made();
        let made = made.as_ref().filter(|made| std::ptr::addr_eq(made.links.as_ptr(), Arc::as_ptr(links)))?;
        made.selection.goes_on_to(extents).then(|| made.selection.clone())
    }

    fn keep(&self, links: &Arc<dyn Links>, selection: Arc<Selection>) {
        self.num_bytes.store(selection.num_bytes(), Ordering::Relaxed);
        *self.made() = Some(Made { links: Arc::downgrade(links), selection });
    }

    /// Another may be at it for long: an async worker does not wait for that.
    fn take_turn(&self) -> Result<MutexGuard<'_, ()>, FileError> {
        match self.turn.try_lock() {
            Ok(turn) => return Ok(turn),
            // What was half made went with whoever panicked.
            Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        may_take_long()?;
        Ok(self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn made(&self) -> MutexGuard<'_, Option<Made>> {
        self.made.lock().expect("no code panics while it holds a selection")
    }

    fn num_bytes(&self) -> usize {
        SLOT_BYTES + self.num_bytes.load(Ordering::Relaxed)
    }
}

/// An error, which nobody gets to see, where work may not take long: it is done again where it may.
pub(in crate::view) fn may_take_long() -> Result<(), FileError> {
    waiting::ask().map_err(FileError::io(Path::new("a selection of records")))
}
