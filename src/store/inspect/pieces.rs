//! A history file as it lies there: in pieces, whose names say where each starts.

use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};

use crate::disk::Disk;

use super::super::chunks::{path_of, start_of};
use super::super::error::FileError;
use super::super::span::Source;
use super::Plain;

/// The pieces that hold the bytes asked for.
pub struct Pieces {
    path: PathBuf,
    pieces: Vec<(u64, Plain)>,
    pub end: u64,
}

impl Pieces {
    /// Those that hold `[from, end)`, which is known to be stored.
    pub fn open(disk: &dyn Disk, path: &Path, from: u64, end: u64) -> Result<Pieces, FileError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let names = disk.list(folder).unwrap_or_default();
        let mut starts: Vec<u64> = names.iter().filter_map(|name| start_of(path, name)).filter(|s| *s < end).collect();
        starts.sort_unstable();
        let first = starts.partition_point(|start| *start <= from).saturating_sub(1);
        let mut pieces = Vec::new();
        let mut due = starts.get(first).copied().unwrap_or(0).min(from);
        for (index, start) in starts.iter().enumerate().skip(first) {
            let stop = starts.get(index + 1).copied().unwrap_or(end);
            let path = path_of(path, *start);
            match Plain::known(disk, path.clone(), stop - start)? {
                Some(plain) if *start == due => pieces.push((*start, plain)),
                _ => return Err(FileError::Missing { path: path_of(&path, due), expected: start - due }),
            }
            due = stop;
        }
        match due == end {
            true => Ok(Pieces { path: path.to_owned(), pieces, end }),
            false => Err(FileError::Missing { path: path_of(path, due), expected: end - due }),
        }
    }
}

impl Source for Pieces {
    fn path(&self) -> &Path {
        &self.path
    }

    fn slice(&self, start: u64, end: u64) -> Result<Bytes, FileError> {
        let mut bytes = BytesMut::with_capacity((end - start) as usize);
        for (index, (base, plain)) in self.pieces.iter().enumerate() {
            let stop = self.pieces.get(index + 1).map_or(self.end, |(next, _)| *next).min(end);
            let from = start.max(*base);
            if from < stop {
                bytes.extend_from_slice(&plain.slice(from - base, stop - base)?);
            }
        }
        Ok(bytes.freeze())
    }
}
