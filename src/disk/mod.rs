//! Everything that touches files, the clock or randomness goes through here, so that tests can put a
//! faulty disk and a still clock in its place.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

mod clock;
pub mod entropy;
mod faulty;
pub mod limits;
mod mapping;
mod os;
mod random;
pub mod waiting;

pub use clock::{ManualClock, OsClock};
pub use faulty::{CrashPolicy, Failure, FaultyDisk, Op, Traced};
pub use mapping::Map;
pub use os::OsDisk;
pub use random::SplitMix;

/// How a file is opened. Nothing ever truncates at open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Must exist; read only.
    Read,
    /// Must exist; read and write.
    Write,
    /// Made when missing; read and write.
    Create,
}

/// A folder tree with the durability rules of a POSIX disk: written bytes may be lost, torn or
/// reordered until the file is synced; a new or renamed name until its folder is synced.
pub trait Disk: Send + Sync + 'static {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Names in a folder, sorted. A missing folder is `NotFound`.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    fn create_dir_all(&self, folder: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, folder: &Path) -> io::Result<()>;
    fn sync_dir(&self, folder: &Path) -> io::Result<()>;
    /// Bytes that may still be written below `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Size of the volume that holds `path`.
    fn total_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Takes the exclusive lock on the file (made when missing), held until dropped; `WouldBlock` when another holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>>;
}

/// An open file. All methods may be called from several threads.
pub trait DiskFile: Send + Sync {
    fn size(&self) -> io::Result<u64>;
    /// Reads up to `buf.len()` bytes; fewer only at the end of the file.
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize>;
    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()>;
    /// Writes all the parts, one after another, from `at`.
    fn write_all_vectored_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()>;
    /// Durable from here on: every byte written before, and the file's size.
    fn sync_data(&self) -> io::Result<()>;
    /// Cuts or extends the file. Never while any of the file past `size` is mapped.
    fn set_size(&self, size: u64) -> io::Result<()>;
    /// Reserves room without changing the size.
    fn allocate(&self, size: u64) -> io::Result<()>;
    /// Maps `[0, size)` read-only; `size` may lie past the end of the file, for the file to grow into.
    fn map(&self, size: u64) -> io::Result<Map>;
}

/// Time, as the broker sees it.
pub trait Clock: Send + Sync + 'static {
    /// Wall time, ms since 1970 UTC. May step in either direction.
    fn wall_ms(&self) -> i64;
    /// Never goes back, starts at the wall time, and runs at the pace of the monotonic clock; see [`Clock::follow_wall`].
    fn steady_ms(&self) -> i64;
    /// From now on the steady clock makes up what it differs from the wall's, at half the speed of time. Asked for now and
    /// then by whoever keeps the clock running for long.
    fn follow_wall(&self) {}
    /// Time since some fixed point, monotonic.
    fn elapsed(&self) -> Duration;
}
