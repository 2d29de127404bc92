//! The real disk: files through the kernel.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;

use super::{Disk, DiskFile, Map, OpenMode};

/// Parts that the kernel takes in one vectored write (IOV_MAX on Linux).
const PARTS_MAX: usize = 1024;

/// The disk of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsDisk;

#[expect(clippy::disallowed_methods, reason = "this is where files are reached")]
impl Disk for OsDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::Write => options.write(true),
            OpenMode::Create => options.write(true).create(true).truncate(false),
        };
        Ok(Arc::new(OsFile { file: options.open(path)? }))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir_all(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir_all(&self, folder: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(folder)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let room = statvfs(path)?;
        Ok(room.f_bavail.saturating_mul(room.f_frsize))
    }

    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        let room = statvfs(path)?;
        Ok(room.f_blocks.saturating_mul(room.f_frsize))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::WouldBlock, "another process holds it")),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

struct OsFile {
    file: File,
}

impl DiskFile for OsFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match self.file.read_at(&mut buf[done..], at + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(buf, at)
    }

    fn write_all_vectored_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        write_all_parts(parts, at, |parts, at| Ok(rustix::io::pwritev(&self.file, parts, at)?))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file.set_len(size)
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        if size == 0 {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, size) {
            // A file system that cannot reserve: the write itself will find out whether there is room.
            Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn map(&self, size: u64) -> io::Result<Map> {
        Map::of_file(&self.file, size)
    }
}

/// Calls `write` until every part is written: over partial writes, interrupts and the kernel's limit of parts.
fn write_all_parts(
    parts: &[IoSlice<'_>],
    mut at: u64,
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> io::Result<usize>,
) -> io::Result<()> {
    let mut parts = parts.to_vec();
    let mut rest = parts.as_mut_slice();
    // Drops leading empty parts, so that a write of no bytes at all ends here.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match write(&rest[..rest.len().min(PARTS_MAX)], at) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the disk takes no more bytes")),
            Ok(count) => {
                at += count as u64;
                IoSlice::advance_slices(&mut rest, count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_writes_and_interrupts_go_on_where_they_stopped() {
        let parts: Vec<Vec<u8>> = (0..3000_u32).map(|n| n.to_be_bytes()[..(n % 5) as usize % 4].to_vec()).collect();
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut written = Vec::new();
        let mut calls = 0;
        write_all_parts(&slices, 100, |parts, at| {
            calls += 1;
            if calls % 3 == 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            assert!(parts.len() <= PARTS_MAX);
            assert_eq!(at, 100 + written.len() as u64);
            let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            let count = all.len().min(700);
            written.extend_from_slice(&all[..count]);
            Ok(count)
        })
        .unwrap();
        assert_eq!(written, parts.concat());
    }

    #[test]
    fn vectored_write_past_iov_max_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = OsDisk.open(&folder.path().join("f"), OpenMode::Create).unwrap();
        let parts = vec![[1_u8, 2, 3]; 2500];
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        file.allocate(1 << 20).unwrap();
        file.write_all_vectored_at(&slices, 10).unwrap();
        file.write_all_vectored_at(&[], 10).unwrap();
        file.sync_data().unwrap();
        assert_eq!(file.size().unwrap(), 7510);
        let mut back = vec![0; 8000];
        assert_eq!(file.read_at(&mut back, 10).unwrap(), 7500);
        assert_eq!(&back[..7500], parts.concat());
    }

    #[test]
    fn a_lock_is_exclusive_until_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = OsDisk.lock(&path).unwrap();
        assert_eq!(OsDisk.lock(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(held);
        OsDisk.lock(&path).unwrap();
    }

    #[test]
    fn folders_list_sorted_and_a_missing_one_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        OsDisk.create_dir_all(&deep).unwrap();
        for name in ["z", "y", "x"] {
            OsDisk.open(&deep.join(name), OpenMode::Create).unwrap();
        }
        OsDisk.rename(&deep.join("z"), &deep.join("w")).unwrap();
        OsDisk.remove_file(&deep.join("y")).unwrap();
        OsDisk.sync_dir(&deep).unwrap();
        assert_eq!(OsDisk.list(&deep).unwrap(), ["w", "x"]);
        assert!(OsDisk.free_bytes(&deep).unwrap() > 0);
        assert!(OsDisk.total_bytes(&deep).unwrap() >= OsDisk.free_bytes(&deep).unwrap());
        OsDisk.remove_dir_all(&folder.path().join("a")).unwrap();
        assert_eq!(OsDisk.list(&deep).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(OsDisk.open(&deep.join("x"), OpenMode::Write).err().unwrap().kind(), io::ErrorKind::NotFound);
    }
}
