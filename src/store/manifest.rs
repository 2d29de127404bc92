//! The manifest: the state at an lsn, in a file of its own named by that lsn. The two newest are kept.
//!
//! ```text
//! 0   8  "SSMANIF1"
//! 8   8  lsn: entries below it are in the state
//! 16  8  length of the state
//! 24  4  crc32c of all other bytes
//! 28     the state, as `State::encode` writes it
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::disk::{Disk, OpenMode};
use crate::model::Lsn;

use super::error::FileError;

const MAGIC: &[u8; 8] = b"SSMANIF1";
const HEADER_BYTES: usize = 28;
const CRC_AT: usize = 24;
/// The older one serves when the newest is damaged.
const NUM_KEPT: usize = 2;

/// The folder of manifests.
pub struct Manifests {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
}

/// A manifest as read.
#[derive(Debug)]
pub struct Manifest {
    pub lsn: Lsn,
    pub state: Bytes,
}

impl Manifests {
    pub fn new(disk: Arc<dyn Disk>, folder: PathBuf) -> Manifests {
        Manifests { disk, folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lsns of the manifests there are, newest first, whether valid or not.
    pub fn list(&self) -> Result<Vec<Lsn>, FileError> {
        let names = self.disk.list(&self.folder).map_err(FileError::io(&self.folder))?;
        let mut lsns: Vec<Lsn> = names.iter().filter_map(|name| lsn_of(name)).collect();
        lsns.sort_by(|a, b| b.cmp(a));
        Ok(lsns)
    }

    pub fn path(&self, lsn: Lsn) -> PathBuf {
        self.folder.join(format!("{:020}", lsn.0))
    }

    pub fn read(&self, lsn: Lsn) -> Result<Manifest, FileError> {
        let path = self.path(lsn);
        let bytes = read_whole(&*self.disk, &path)?;
        let manifest = decode(&bytes).map_err(|(at, what)| FileError::damaged(&path, at, what))?;
        if manifest.lsn != lsn {
            return Err(FileError::damaged(&path, 8, format!("it holds the state at lsn {}", manifest.lsn)));
        }
        Ok(manifest)
    }

    /// Writes a manifest, whole or not at all, and removes those no longer needed. Returns the lsn of the oldest one kept,
    /// up to which the journal may be trimmed.
    pub fn write(&self, lsn: Lsn, state: &Bytes) -> Result<Lsn, FileError> {
        let path = self.path(lsn);
        write_whole(&*self.disk, &path, &encode(lsn, state))?;
        let lsns = self.list()?;
        let (kept, old) = lsns.split_at(lsns.len().min(NUM_KEPT));
        for lsn in old {
            let path = self.path(*lsn);
            self.disk.remove_file(&path).map_err(FileError::io(&path))?;
        }
        Ok(kept.last().copied().unwrap_or(lsn))
    }

    /// Takes a damaged manifest out of the way, without destroying it.
    pub fn set_aside(&self, lsn: Lsn) -> Result<(), FileError> {
        let path = self.path(lsn);
        self.disk.rename(&path, &path.with_extension("damaged")).map_err(FileError::io(&path))?;
        self.disk.sync_dir(&self.folder).map_err(FileError::io(&self.folder))
    }

    /// Removes what an interrupted write left, and makes the names that are there durable: a process may have ended between
    /// giving one and syncing it, and the journal is trimmed up to what a manifest says.
    pub fn settle(&self) -> Result<(), FileError> {
        for name in self.disk.list(&self.folder).map_err(FileError::io(&self.folder))? {
            if name.ends_with(".tmp") {
                let path = self.folder.join(name);
                self.disk.remove_file(&path).map_err(FileError::io(&path))?;
            }
        }
        self.disk.sync_dir(&self.folder).map_err(FileError::io(&self.folder))
    }
}

/// Puts a file with this content at `path`: after a crash it is there as a whole or as it was before.
pub fn write_whole(disk: &dyn Disk, path: &Path, content: &[u8]) -> Result<(), FileError> {
    let mut tmp = path.as_os_str().to_owned();
    tmp.push(".tmp");
    let tmp = PathBuf::from(tmp);
    let folder = path.parent().unwrap_or(Path::new("."));
    let file = disk.open(&tmp, OpenMode::Create).map_err(FileError::io(&tmp))?;
    file.set_size(0).and_then(|()| file.write_all_at(content, 0)).map_err(FileError::io(&tmp))?;
    file.sync_data().map_err(FileError::io(&tmp))?;
    disk.rename(&tmp, path).map_err(FileError::io(path))?;
    disk.sync_dir(folder).map_err(FileError::io(folder))
}

pub fn read_whole(disk: &dyn Disk, path: &Path) -> Result<Bytes, FileError> {
    let file = disk.open(path, OpenMode::Read).map_err(FileError::io(path))?;
    let size = file.size().map_err(FileError::io(path))?;
    let mut bytes = vec![0; size as usize];
    let num_read = file.read_at(&mut bytes, 0).map_err(FileError::io(path))?;
    bytes.truncate(num_read);
    Ok(Bytes::from(bytes))
}

pub fn encode(lsn: Lsn, state: &Bytes) -> Bytes {
    let mut buf = BytesMut::with_capacity(HEADER_BYTES + state.len());
    buf.put_slice(MAGIC);
    buf.put_u64(lsn.0);
    buf.put_u64(state.len() as u64);
    buf.put_u32(0);
    buf.put_slice(state);
    let crc = checksum(&buf);
    buf[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_be_bytes());
    buf.freeze()
}

/// The manifest in `bytes`, or where and why it is damaged.
pub fn decode(bytes: &Bytes) -> Result<Manifest, (u64, &'static str)> {
    if bytes.len() < HEADER_BYTES {
        return Err((bytes.len() as u64, "it is shorter than a header"));
    }
    if &bytes[..8] != MAGIC {
        return Err((0, "not a manifest of a known format"));
    }
    let mut header = &bytes[8..HEADER_BYTES];
    let (lsn, length, crc) = (header.get_u64(), header.get_u64(), header.get_u32());
    if length != (bytes.len() - HEADER_BYTES) as u64 {
        return Err((16, "its length does not fit the file"));
    }
    if crc != checksum(bytes) {
        return Err((CRC_AT as u64, "its checksum does not hold"));
    }
    Ok(Manifest { lsn: Lsn(lsn), state: bytes.slice(HEADER_BYTES..) })
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..CRC_AT]), &bytes[HEADER_BYTES..])
}

fn lsn_of(name: &str) -> Option<Lsn> {
    (name.len() == 20).then(|| name.parse().ok().map(Lsn)).flatten()
}
