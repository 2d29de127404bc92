//! Read-only maps of files: the only unsafe code of the house.
//!
//! A map may be longer than its file; the file then grows into it and the map sees the new bytes.
//! Touching a mapped page that lies wholly past the end of the file, or that the disk cannot read,
//! kills the process with SIGBUS. Hence the rules: a mapped file is never cut below what was read of it (see
//! [`DiskFile::set_size`](super::DiskFile::set_size)), slices are asked for written ranges only, and
//! ranges that may be cold go through [`Map::prefault`] first, which turns both faults into errors.

#![expect(unsafe_code, reason = "maps are memory that the compiler does not know; this file answers for them")]

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

/// A read-only window on a file that sees later writes. Clones share the window.
#[derive(Clone)]
pub struct Map {
    window: Window,
}

#[derive(Clone)]
enum Window {
    /// The bytes of the map, made once; slices share them.
    Mapped { bytes: Bytes, map: Arc<Mmap> },
    /// A file that only lives in memory: its content is copied at each slice.
    Copied(Arc<dyn CopySource>),
}

/// What stands behind a [`Map`] of a disk without real files.
pub(super) trait CopySource: Send + Sync {
    /// The bytes `[start, end)` as they are now; `UnexpectedEof` past the end of the file.
    fn copy(&self, start: u64, end: u64) -> io::Result<Bytes>;
}

/// Gives `Bytes` the map to hold on to.
struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Map {
    /// Maps `[0, size)` of an open file.
    pub(super) fn of_file(file: &File, size: u64) -> io::Result<Map> {
        if size == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a map holds at least one byte"));
        }
        let size = usize::try_from(size).map_err(|_| out_of_range(0, size, usize::MAX as u64))?;
        // SAFETY: the map is read-only and shared. Tail files and segments are only appended to and never cut below
        // what was published, and readers take slices of published ranges only, whose bytes are not written again. A
        // journal file is mapped by the start that replays it, which lets go of every slice before it writes to one.
        // So no byte behind a slice changes or vanishes.
        let map = Arc::new(unsafe { MmapOptions::new().len(size).map(file)? });
        let bytes = Bytes::from_owner(Owner(Arc::clone(&map)));
        Ok(Map { window: Window::Mapped { bytes, map } })
    }

    pub(super) fn copied(source: Arc<dyn CopySource>) -> Map {
        Map { window: Window::Copied(source) }
    }

    /// The bytes `[start, end)`, which must lie inside the file. No copy on the real disk.
    pub fn slice(&self, start: u64, end: u64) -> io::Result<Bytes> {
        match &self.window {
            Window::Mapped { bytes, .. } => {
                let (start, end) = checked(start, end, bytes.len())?;
                Ok(bytes.slice(start..end))
            }
            Window::Copied(source) => source.copy(start, end),
        }
    }

    /// Reads `[start, end)` into memory. A short file or a disk that cannot read is an error here, where
    /// touching the slice would kill the process. Blocks on the disk (needs Linux 5.14).
    pub fn prefault(&self, start: u64, end: u64) -> io::Result<()> {
        match &self.window {
            Window::Mapped { map, .. } => {
                let (start, end) = checked(start, end, map.len())?;
                populate(map, start, end)
            }
            Window::Copied(source) => source.copy(start, end).map(drop),
        }
    }

    /// True when every page of `[start, end)` is in memory, so that reading the slice will not wait for the disk.
    pub fn is_resident(&self, start: u64, end: u64) -> io::Result<bool> {
        match &self.window {
            Window::Mapped { map, .. } => {
                let (start, end) = checked(start, end, map.len())?;
                resident(map, start, end)
            }
            Window::Copied(_) => Ok(true),
        }
    }
}

fn populate(map: &Mmap, start: usize, end: usize) -> io::Result<()> {
    if start == end {
        return Ok(());
    }
    map.advise_range(memmap2::Advice::PopulateRead, start, end - start).map_err(|error| match error.raw_os_error() {
        // The kernel's way to say that touching the range would raise SIGBUS.
        Some(libc::EFAULT) => io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("bytes {start}..{end} cannot be read: the file is shorter, or its disk fails"),
        ),
        _ => error,
    })
}

fn resident(map: &Mmap, start: usize, end: usize) -> io::Result<bool> {
    let page = rustix::param::page_size();
    let first = start - start % page;
    let mut pages = vec![0_u8; (end - first).div_ceil(page)];
    // SAFETY: `first` is inside the map and page-aligned (maps start on a page), `end` is at most the map's
    // length, and `pages` has one byte for each page of the range, which is all that mincore writes.
    let result = unsafe { libc::mincore(map.as_ptr().add(first) as *mut _, end - first, pages.as_mut_ptr()) };
    match result {
        0 => Ok(pages.iter().all(|page| page & 1 == 1)),
        _ => Err(io::Error::last_os_error()),
    }
}

fn checked(start: u64, end: u64, size: usize) -> io::Result<(usize, usize)> {
    if start > end || end > size as u64 {
        return Err(out_of_range(start, end, size as u64));
    }
    // Both are at most `size`, which is a usize.
    Ok((start as usize, end as usize))
}

fn out_of_range(start: u64, end: u64, size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("bytes {start}..{end} lie outside a map of {size} bytes"))
}

#[cfg(test)]
mod tests {
    use super::super::{Disk, OpenMode, OsDisk};
    use super::*;

    #[test]
    fn a_file_grows_into_its_map() {
        let folder = tempfile::tempdir().unwrap();
        let file = OsDisk.open(&folder.path().join("f"), OpenMode::Create).unwrap();
        file.write_all_at(b"hello", 0).unwrap();
        let map = file.map(1 << 20).unwrap();
        assert_eq!(&map.slice(1, 5).unwrap()[..], b"ello");
        file.write_all_at(&[7; 10_000], 5).unwrap();
        assert_eq!(&map.slice(5, 10_005).unwrap()[..], &[7; 10_000]);
        assert!(map.slice(0, (1 << 20) + 1).is_err());
        assert!(map.slice(5, 4).is_err());
    }

    #[test]
    fn a_slice_outlives_its_map_and_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = OsDisk.open(&folder.path().join("f"), OpenMode::Create).unwrap();
        file.write_all_at(b"hello", 0).unwrap();
        let slice = file.map(4096).unwrap().slice(0, 5).unwrap();
        OsDisk.remove_file(&folder.path().join("f")).unwrap();
        drop(file);
        assert_eq!(&slice[..], b"hello");
    }

    #[test]
    fn prefault_past_the_end_of_the_file_is_an_error_not_a_signal() {
        let folder = tempfile::tempdir().unwrap();
        let file = OsDisk.open(&folder.path().join("f"), OpenMode::Create).unwrap();
        file.write_all_at(&[1; 5000], 0).unwrap();
        let map = file.map(1 << 20).unwrap();
        map.prefault(0, 5000).unwrap();
        assert!(map.is_resident(100, 5000).unwrap());
        let error = map.prefault(4000, 100_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(!map.is_resident(4000, 100_000).unwrap());
        map.prefault(10, 10).unwrap();
        assert!(map.is_resident(10, 10).unwrap());
    }
}
