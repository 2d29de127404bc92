//! The selections that are kept, for all readers of a name: made when first asked for, extended as the index goes on, and
//! the longest unused let go when they take too much memory. They are made again from the links.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use super::{Extents, Selection};
use crate::disk::{Clock, waiting};
use crate::model::{CommitNumber, FeedId};
use crate::store::FileError;
use crate::view::link::Links;
use crate::view::reading::ViewError;
use crate::view::selector::Mode;

/// One that took long to make is kept for so long after its last use, if need be beyond the budget.
const IN_USE: Duration = Duration::from_secs(60);

/// Selections that are made at a time and take long. Each holds one of the threads that may wait for the disk.
const MAKERS_MAX: usize = 4;

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
    num_makers: AtomicUsize,
    clock: Arc<dyn Clock>,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Slot {
    turn: Mutex<Turn>,
    turned: Condvar,
    made: Mutex<Option<Made>>,
    num_bytes: AtomicUsize,
    num_records: AtomicI64,
    /// The number of its last use, and when that was.
    used: AtomicU64,
    used_ms: AtomicU64,
}

/// Whether one makes or extends the selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Free,
    Quick,
    Long,
}

/// The turn of one maker.
struct Taken<'a>(&'a Slot);

/// A place among those who make one for long.
struct Maker<'a>(&'a Selections);

/// A selection, and the links that it was made from: others may know another identity.
struct Made {
    links: Weak<dyn Links>,
    selection: Arc<Selection>,
}

impl Selections {
    /// Selections that take about so much memory, or more when a single one does.
    pub fn within(bytes_max: usize, clock: Arc<dyn Clock>) -> Selections {
        Selections {
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
            bytes_max,
            num_makers: AtomicUsize::new(0),
            clock,
            is_over: AtomicBool::new(false),
        }
    }

    /// The selection that knows all of `extents`. Nobody waits for what another makes for long.
    pub(in crate::view) fn find(
        &self,
        wanted: Wanted,
        links: &Arc<dyn Links>,
        extents: &Extents,
    ) -> Result<Arc<Selection>, ViewError> {
        let slot = self.slot(wanted);
        if let Some(selection) = slot.of(links, extents).filter(|selection| selection.covers(extents)) {
            return Ok(selection);
        }
        let turn = slot.take_turn()?;
        let known = slot.of(links, extents);
        if let Some(selection) = known.as_ref().filter(|selection| selection.covers(extents)) {
            return Ok(selection.clone());
        }
        let mut selection = known.map_or_else(|| Selection::of(wanted.mode), |known| Selection::clone(&known));
        let num_new = selection.num_new(extents);
        let _maker = if num_new > QUICK_MAX { Some(self.make_for_long(wanted, &turn, num_new)?) } else { None };
        selection.extend(&**links, extents)?;
        let selection = Arc::new(selection);
        slot.keep(links, selection.clone());
        self.make_room(wanted);
        Ok(selection)
    }

    fn make_for_long(&self, wanted: Wanted, turn: &Taken<'_>, num_new: i64) -> Result<Maker<'_>, ViewError> {
        may_take_long()?;
        let slots = self.slots();
        let others = slots.iter().filter(|(other, slot)| **other != wanted && self.is_in_use(slot));
        let in_use: usize = others.map(|(_, slot)| slot.num_bytes()).sum();
        drop(slots);
        if in_use > 0 && in_use + num_new as usize / 8 > 2 * self.bytes_max {
            let bytes_max = self.bytes_max;
            let reason = format!(
                "those that were read in the last minute take {in_use} bytes of memory; raise \
                 streamstack.views.selections.bytes, which is {bytes_max}, or read fewer views at a time"
            );
            return Err(ViewError::BeingSelected { reason });
        }
        let one_more = |num: usize| (num < MAKERS_MAX).then_some(num + 1);
        match self.num_makers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => {
                turn.takes_long();
                Ok(Maker(self))
            }
            Err(num) => Err(ViewError::BeingSelected { reason: format!("{num} others come first; ask again") }),
        }
    }

    fn slot(&self, wanted: Wanted) -> Arc<Slot> {
        let slot = self.slots().entry(wanted).or_default().clone();
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        slot.used_ms.store(self.clock.elapsed().as_millis() as u64, Ordering::Relaxed);
        slot
    }

    /// Lets the longest unused go, and somewhat more than must be, so that it is not looked for at each new one. Those in use
    /// that took long to make stay: two that do not fit together would be made again and again.
    fn make_room(&self, wanted: Wanted) {
        let mut num_bytes = self.num_bytes();
        if num_bytes <= self.bytes_max {
            self.is_over.store(false, Ordering::Relaxed);
            return;
        }
        let mut slots = self.slots();
        let may_go = slots.iter().filter(|(other, slot)| **other != wanted && !self.is_in_use(slot));
        let mut by_use: Vec<(u64, Wanted)> =
            may_go.map(|(other, slot)| (slot.used.load(Ordering::Relaxed), *other)).collect();
        by_use.sort_unstable_by_key(|(used, _)| *used);
        for (_, other) in by_use {
            if num_bytes <= self.bytes_max / 8 * 7 {
                break;
            }
            num_bytes -= slots.remove(&other).map_or(0, |slot| slot.num_bytes());
        }
        if num_bytes > self.bytes_max && !self.is_over.swap(true, Ordering::Relaxed) {
            let bytes_max = self.bytes_max;
            tracing::warn!(
                num_bytes,
                bytes_max,
                "views that are read take more than streamstack.views.selections.bytes"
            );
        }
    }

    fn is_in_use(&self, slot: &Slot) -> bool {
        let unused_ms = (self.clock.elapsed().as_millis() as u64).saturating_sub(slot.used_ms.load(Ordering::Relaxed));
        slot.num_records.load(Ordering::Relaxed) > QUICK_MAX && Duration::from_millis(unused_ms) < IN_USE
    }

    /// Memory that they take, about.
    pub fn num_bytes(&self) -> usize {
        self.slots().values().map(|slot| slot.num_bytes()).sum()
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Wanted, Arc<Slot>>> {
        self.slots.lock().expect("no code panics while it holds the selections")
    }
}

impl Drop for Maker<'_> {
    fn drop(&mut self) {
        self.0.num_makers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Taken<'_> {
    fn takes_long(&self) {
        self.set(Turn::Long);
    }

    fn set(&self, turn: Turn) {
        *self.0.turn() = turn;
        self.0.turned.notify_all();
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.set(Turn::Free);
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
        self.num_records.store(selection.num_records(), Ordering::Relaxed);
        *self.made() = Some(Made { links: Arc::downgrade(links), selection });
    }

    /// Another may be at it: an async worker does not wait for that, and nobody does when it takes long.
    fn take_turn(&self) -> Result<Taken<'_>, ViewError> {
        let mut turn = self.turn();
        if *turn == Turn::Quick {
            may_take_long()?;
            let waited = self.turned.wait_while(turn, |turn| *turn == Turn::Quick);
            turn = waited.expect("no code panics while it holds the turn");
        }
        if *turn == Turn::Long {
            return Err(ViewError::BeingSelected { reason: "another reader asked for it; ask again".to_owned() });
        }
        *turn = Turn::Quick;
        Ok(Taken(self))
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().expect("no code panics while it holds the turn")
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
