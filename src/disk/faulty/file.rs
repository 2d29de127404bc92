//! An open file of the faulty disk.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::FaultyDisk;
use super::plan::{Op, Verdict, dead};
use super::state::{File, NodeId, State, Unsynced};
use crate::disk::mapping::CopySource;
use crate::disk::{DiskFile, Map};

pub(super) struct FaultyFile {
    disk: FaultyDisk,
    id: NodeId,
    path: PathBuf,
    writable: bool,
}

impl FaultyFile {
    pub(super) fn new(disk: FaultyDisk, id: NodeId, path: &Path, writable: bool) -> FaultyFile {
        FaultyFile { disk, id, path: path.to_owned(), writable }
    }

    fn may_write(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EBADF)) }
    }
}

impl DiskFile for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        let state = self.disk.state();
        state.plan.alive()?;
        Ok(state.file(self.id)?.live.size())
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.plan.read()?;
        Ok(state.file(self.id)?.live.read(buf, at))
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.may_write()?;
        let mut state = self.disk.state();
        let verdict = state.plan.change(Op::Write, &self.path, buf.len() as u64)?;
        let fits = bytes_that_fit(&state, self.id, buf.len(), at)?;
        let file = state.file_mut(self.id)?;
        match verdict {
            Verdict::Failed(error) => {
                file.write(&buf[..buf.len() / 2], at);
                Err(error)
            }
            Verdict::InFlight => {
                file.write(&buf[..fits], at);
                Err(dead())
            }
            Verdict::Done => {
                file.write(&buf[..fits], at);
                if fits < buf.len() { Err(no_space()) } else { Ok(()) }
            }
        }
    }

    fn write_all_vectored_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        if all.is_empty() {
            return Ok(());
        }
        self.write_all_at(&all, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let verdict = state.plan.change(Op::Sync, &self.path, 0)?;
        let file = state.file_mut(self.id)?;
        match verdict {
            Verdict::Done => {
                file.sync();
                Ok(())
            }
            Verdict::Failed(error) => {
                // The kernel marks the pages clean: they stay readable, and no later sync writes them.
                file.unsynced.clear();
                Err(error)
            }
            Verdict::InFlight => Err(dead()),
        }
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.may_write()?;
        let mut state = self.disk.state();
        let verdict = state.plan.change(Op::Truncate, &self.path, size)?;
        if let Verdict::Failed(error) = verdict {
            return Err(error);
        }
        // Growing a file this way makes a hole, which takes no room; room is counted all the same.
        let grows = size.saturating_sub(state.file(self.id)?.room());
        if grows > state.free() {
            return Err(no_space());
        }
        let file = state.file_mut(self.id)?;
        file.live.set_size(size);
        file.allocated = file.allocated.min(size);
        file.unsynced.push(Unsynced::Size(size));
        if matches!(verdict, Verdict::InFlight) { Err(dead()) } else { Ok(()) }
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        self.may_write()?;
        let mut state = self.disk.state();
        match state.plan.change(Op::Allocate, &self.path, size)? {
            Verdict::Failed(error) => return Err(error),
            Verdict::InFlight => return Err(dead()),
            Verdict::Done => {}
        }
        let grows = size.saturating_sub(state.file(self.id)?.room());
        if grows > state.free() {
            return Err(no_space());
        }
        let file = state.file_mut(self.id)?;
        file.allocated = file.allocated.max(size);
        Ok(())
    }

    fn map(&self, size: u64) -> io::Result<Map> {
        self.disk.state().plan.alive()?;
        Ok(Map::copied(Arc::new(Window { disk: self.disk.clone(), id: self.id, size })))
    }
}

/// The map of a file: copies what the file holds when asked.
struct Window {
    disk: FaultyDisk,
    id: NodeId,
    size: u64,
}

impl CopySource for Window {
    fn copy(&self, start: u64, end: u64) -> io::Result<Bytes> {
        if start > end || end > self.size {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the range lies outside the map"));
        }
        let mut state = self.disk.state();
        state.plan.read()?;
        let live = &state.file(self.id)?.live;
        if end > live.size() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than the range"));
        }
        let mut bytes = BytesMut::zeroed((end - start) as usize);
        live.read(&mut bytes, start);
        Ok(bytes.freeze())
    }
}

impl File {
    fn write(&mut self, bytes: &[u8], at: u64) {
        if bytes.is_empty() {
            return;
        }
        self.live.write(bytes, at);
        self.unsynced.push(Unsynced::Write { at, bytes: Bytes::copy_from_slice(bytes) });
    }

    fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            match change {
                Unsynced::Write { at, bytes } => self.durable.write(&bytes, at),
                Unsynced::Size(size) => self.durable.set_size(size),
            }
        }
    }
}

fn bytes_that_fit(state: &State, id: NodeId, count: usize, at: u64) -> io::Result<usize> {
    let end = state.file(id)?.room() + state.free();
    Ok(end.saturating_sub(at).min(count as u64) as usize)
}

fn no_space() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSPC)
}
