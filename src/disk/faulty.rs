//! A disk in memory that loses power, for tests: POSIX durability rules, seeded faults, crash images.
//!
//! It is part of the library, not of a test module, because integration tests boot whole stores on it.
//! Nothing of the running broker uses it.
//!
//! What the disk may do, and what it is taken not to do:
//!
//! | fault | modelled as |
//! |--|--|
//! | power loss, unsynced bytes | each write since the file's last sync is kept, dropped, torn at 512-byte sectors, or lands in another order |
//! | power loss, unsynced size | the file may have its new size with zeros where the bytes were dropped |
//! | power loss, unsynced names | each creation, rename and unlink since the folder's last sync is kept or dropped, in order (a prefix) or one by one; a rename is one step |
//! | process crash | everything written is there, synced or not ([`FaultyDisk::kill_image`]) |
//! | failed write | half of it is in the file |
//! | failed sync | the bytes stay readable, but no later sync makes them durable: only writing them again does (as Linux does) |
//! | failed create, rename, unlink, resize, allocate, folder sync, read | the error, and nothing changed |
//! | no space | a write past the capacity keeps what fits and fails with ENOSPC; allocations fail whole |
//! | not modelled | a synced sector never changes by itself (tests flip bytes with a write); a sector is written whole or not at all |
//!
//! Every operation that changes the disk has a number, from 1, so that a test can run a history once to
//! count them and then crash at each. The operation at the crash is in flight: it fails, and an image may
//! hold it, or part of it, or nothing. Afterwards the process is dead: everything fails. Same calls, same seed, same images.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, DiskFile, OpenMode};
use file::FaultyFile;
use state::State;

mod content;
mod file;
mod image;
mod plan;
mod state;

pub use image::CrashPolicy;
pub use plan::{Failure, Op, Traced};

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct FaultyDisk {
    state: Arc<Mutex<State>>,
}

impl FaultyDisk {
    /// An empty disk: one root folder, no faults, room without end.
    pub fn new() -> FaultyDisk {
        FaultyDisk::of(State::new())
    }

    fn of(state: State) -> FaultyDisk {
        FaultyDisk { state: Arc::new(Mutex::new(state)) }
    }

    /// The process dies in operation `number` (the first is 1).
    pub fn crash_at(&self, number: u64) {
        self.state().plan.crash_at(number);
    }

    /// Arms a failure, counted from now.
    pub fn fail(&self, failure: Failure) {
        self.state().plan.fail(failure);
    }

    /// Takes back all armed failures (not a crash).
    pub fn heal(&self) {
        self.state().plan.heal();
    }

    /// The disk holds no more than `bytes` from here on; `None` for room without end.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Operations that changed the disk so far.
    pub fn num_ops(&self) -> u64 {
        self.state().plan.num_ops()
    }

    /// All operations that changed the disk, in order.
    pub fn trace(&self) -> Vec<Traced> {
        self.state().plan.trace().to_vec()
    }

    /// True once the crash point is reached.
    pub fn is_dead(&self) -> bool {
        self.state().plan.is_dead()
    }

    /// What a power loss now may leave behind, as a disk of its own, without faults or locks.
    pub fn crash_image(&self, policy: CrashPolicy) -> FaultyDisk {
        FaultyDisk::of(self.state().after_power_loss(policy))
    }

    /// What a crash of the process alone leaves behind: all of it, unsynced as it was.
    pub fn kill_image(&self) -> FaultyDisk {
        FaultyDisk::of(self.state().after_kill())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of a test thread while it held the lock leaves the state as it is: still a disk.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FaultyDisk {
    fn default() -> FaultyDisk {
        FaultyDisk::new()
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let id = self.state().open(path, mode)?;
        Ok(Arc::new(FaultyFile::new(self.clone(), id, path, mode != OpenMode::Read)))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.state().exists(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.state().list(folder)
    }

    fn create_dir_all(&self, folder: &Path) -> io::Result<()> {
        self.state().create_dir_all(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.state().remove_file(path)
    }

    fn remove_dir_all(&self, folder: &Path) -> io::Result<()> {
        self.state().remove_dir_all(folder)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        self.state().sync_dir(folder)
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        self.state().free_bytes()
    }

    fn total_bytes(&self, _path: &Path) -> io::Result<u64> {
        self.state().total_bytes()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        let mut state = self.state();
        state.open(path, OpenMode::Create)?;
        if !state.locks.insert(path.to_owned()) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process holds it"));
        }
        Ok(Box::new(Lock { disk: self.clone(), path: path.to_owned() }))
    }
}

/// A held lock, given back when dropped.
struct Lock {
    disk: FaultyDisk,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.disk.state().locks.remove(&self.path);
    }
}

#[cfg(test)]
mod tests;
