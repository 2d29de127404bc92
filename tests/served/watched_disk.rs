//! A disk that calls back before it writes, syncs or reads: to hold an operation up, or to panic in it.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use streamstack::disk::{Disk, DiskFile, Map, Op, OpenMode};

type Callback = Arc<dyn Fn(Op) + Send + Sync>;

pub struct WatchedDisk {
    disk: Arc<dyn Disk>,
    before: Callback,
}

struct WatchedFile {
    file: Arc<dyn DiskFile>,
    before: Callback,
}

impl WatchedDisk {
    pub fn new(disk: Arc<dyn Disk>, before: impl Fn(Op) + Send + Sync + 'static) -> Arc<WatchedDisk> {
        Arc::new(WatchedDisk { disk, before: Arc::new(before) })
    }
}

impl Disk for WatchedDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(path, mode)?;
        Ok(Arc::new(WatchedFile { file, before: self.before.clone() }))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn create_dir_all(&self, folder: &Path) -> io::Result<()> {
        self.disk.create_dir_all(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }

    fn remove_dir_all(&self, folder: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(folder)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        self.disk.sync_dir(folder)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.free_bytes(path)
    }

    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.total_bytes(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        self.disk.lock(path)
    }
}

impl DiskFile for WatchedFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        (self.before)(Op::Read);
        self.file.read_at(buf, at)
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        (self.before)(Op::Write);
        self.file.write_all_at(buf, at)
    }

    fn write_all_vectored_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        (self.before)(Op::Write);
        self.file.write_all_vectored_at(parts, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        (self.before)(Op::Sync);
        self.file.sync_data()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file.set_size(size)
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        self.file.allocate(size)
    }

    fn map(&self, size: u64) -> io::Result<Map> {
        (self.before)(Op::Read);
        self.file.map(size)
    }
}

/// Lets operations through, or not.
#[derive(Clone, Default)]
pub struct Gate {
    closed: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    pub fn close(&self) {
        *self.closed.0.lock().unwrap() = true;
    }

    pub fn open(&self) {
        *self.closed.0.lock().unwrap() = false;
        self.closed.1.notify_all();
    }

    /// Returns at once, or when the gate is opened.
    pub fn pass(&self) {
        let closed = self.closed.0.lock().unwrap();
        drop(self.closed.1.wait_while(closed, |closed| *closed).unwrap());
    }
}
