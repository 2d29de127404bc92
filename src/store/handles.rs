//! Open files and their maps, capped in number. A file is opened when it is first asked for and closed
//! when too many others were used since; whoever still reads from it keeps what it holds.
//!
//! A file may be closed here while it has unsynced bytes. The kernel keeps a failed write-back of such a
//! file for whoever syncs it next, so the checkpoint, which opens it again, is told.

use std::cmp::Reverse;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use bytes::Bytes;

use crate::disk::{DiskFile, Map, waiting};

/// When there are too many, one in so many is closed at once: who uses many in turn does not look for one at each.
const SHARE_CLOSED: usize = 16;

/// The smallest map; a map that became too small is replaced by one of at least twice the size.
const MAP_BYTES_MIN: u64 = 1 << 20;

/// The set of open files of a store.
pub struct Handles {
    num_max: usize,
    ticks: AtomicU64,
    open: Mutex<Vec<Weak<Slot>>>,
}

/// The place of one file among the open ones; empty while the file is closed.
#[derive(Default)]
pub struct Slot {
    used: AtomicU64,
    file: RwLock<Option<Arc<OpenFile>>>,
}

/// A file with the map through which it is read.
pub struct OpenFile {
    pub file: Arc<dyn DiskFile>,
    map: RwLock<Option<Window>>,
}

struct Window {
    size: u64,
    map: Map,
}

impl Handles {
    /// At most about `num_max` files are open at a time.
    pub fn new(num_max: usize) -> Handles {
        Handles { num_max: num_max.max(1), ticks: AtomicU64::new(0), open: Mutex::new(Vec::new()) }
    }

    /// The open file of `slot`, opened by `open` when it is closed.
    pub fn get<E>(
        &self,
        slot: &Arc<Slot>,
        open: impl FnOnce() -> Result<Arc<dyn DiskFile>, E>,
    ) -> Result<Arc<OpenFile>, E> {
        slot.used.store(self.ticks.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if let Some(file) = slot.opened() {
            return Ok(file);
        }
        let opened = {
            let mut place = slot.file.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(file) = place.as_ref() {
                return Ok(file.clone());
            }
            let opened = Arc::new(OpenFile { file: open()?, map: RwLock::new(None) });
            *place = Some(opened.clone());
            opened
        };
        // Only after the slot's lock is gone: closing another file takes that one's lock.
        self.make_room_for(slot);
        Ok(opened)
    }

    /// How many files are open now.
    pub fn num_open(&self) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter(|slot| slot.strong_count() > 0).count()
    }

    fn make_room_for(&self, slot: &Arc<Slot>) {
        let mut closing = Vec::new();
        {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.len() >= self.num_max {
                open.retain(|slot| slot.strong_count() > 0);
            }
            if open.len() >= self.num_max {
                let num_kept = self.num_max - self.num_max.div_ceil(SHARE_CLOSED);
                closing = least_used(&mut open, num_kept);
            }
            open.push(Arc::downgrade(slot));
        }
        for slot in closing.iter().filter_map(Weak::upgrade) {
            slot.close();
        }
    }
}

impl Slot {
    fn opened(&self) -> Option<Arc<OpenFile>> {
        if waiting::is_allowed() {
            return read(&self.file).clone();
        }
        // Whoever opens the file holds the lock, and may take long; the opening itself asks whether it may be waited for.
        self.file.try_read().map_or(None, |file| file.clone())
    }

    /// Closes the file; readers that hold it or bytes of it are not disturbed.
    pub fn close(&self) {
        *self.file.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl OpenFile {
    /// The bytes `[start, end)`, which lie inside the file. `fresh`: this process wrote them a short while ago, so that no
    /// disk has to be waited for.
    pub fn slice(&self, start: u64, end: u64, fresh: bool) -> io::Result<Bytes> {
        let map = self.map(end)?;
        if fresh || waiting::is_allowed() {
            // Faulted in first, so that a disk that cannot read is an error here and not a signal at the first touch.
            map.prefault(start, end)?;
        } else if !map.is_resident(start, end)? {
            return Err(waiting::refuse());
        }
        map.slice(start, end)
    }

    /// A map of at least `end` bytes. The lock is not held while the disk is waited for.
    fn map(&self, end: u64) -> io::Result<Map> {
        if let Some(window) = read(&self.map).as_ref().filter(|window| window.size >= end) {
            return Ok(window.map.clone());
        }
        let mut place = self.map.write().unwrap_or_else(PoisonError::into_inner);
        let size_before = place.as_ref().map_or(0, |window| window.size);
        if let Some(window) = place.as_ref().filter(|window| window.size >= end) {
            return Ok(window.map.clone());
        }
        let size = end.next_power_of_two().max(size_before * 2).max(MAP_BYTES_MIN);
        let map = self.file.map(size)?;
        *place = Some(Window { size, map: map.clone() });
        Ok(map)
    }
}

/// Takes out all but the `num_kept` used last.
fn least_used(open: &mut Vec<Weak<Slot>>, num_kept: usize) -> Vec<Weak<Slot>> {
    let used = |slot: &Weak<Slot>| slot.upgrade().map_or(0, |slot| slot.used.load(Ordering::Relaxed));
    // Looked at once: files are used meanwhile.
    let mut by_use: Vec<(u64, Weak<Slot>)> = open.drain(..).map(|slot| (used(&slot), slot)).collect();
    if let Some(last_kept) = num_kept.checked_sub(1) {
        by_use.select_nth_unstable_by_key(last_kept, |(used, _)| Reverse(*used));
    }
    let closing = by_use.split_off(num_kept);
    open.extend(by_use.into_iter().map(|(_, slot)| slot));
    closing.into_iter().map(|(_, slot)| slot).collect()
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
