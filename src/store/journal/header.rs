//! The header of a journal file.

use std::fmt;

use crate::model::Lsn;

/// Frames start here: the header has its sector for itself, which is never written again in a file's life.
pub const HEADER_BYTES: usize = 512;

const MAGIC: &[u8; 8] = b"ssjournl";
const VERSION: u32 = 1;

/// See the module doc of the journal for the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    pub generation: u64,
    pub first: Lsn,
    pub synced: Lsn,
    pub size: u64,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    Short,
    Magic,
    Version(u32),
    Crc,
}

impl FileHeader {
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.generation.to_be_bytes());
        bytes[24..32].copy_from_slice(&self.first.0.to_be_bytes());
        bytes[32..40].copy_from_slice(&self.synced.0.to_be_bytes());
        bytes[40..48].copy_from_slice(&self.size.to_be_bytes());
        let crc = crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<FileHeader, HeaderFault> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(HeaderFault::Short)?;
        if bytes[0..8] != *MAGIC {
            return Err(HeaderFault::Magic);
        }
        if u32_at(bytes, 12) != crc(bytes) {
            return Err(HeaderFault::Crc);
        }
        match u32_at(bytes, 8) {
            VERSION => Ok(FileHeader {
                generation: u64_at(bytes, 16),
                first: Lsn(u64_at(bytes, 24)),
                synced: Lsn(u64_at(bytes, 32)),
                size: u64_at(bytes, 40),
            }),
            version => Err(HeaderFault::Version(version)),
        }
    }
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderFault::Short => f.write_str("the file is too short for a header"),
            HeaderFault::Magic => f.write_str("the file does not start as a journal file"),
            HeaderFault::Version(version) => {
                write!(f, "the file has format version {version}, this program reads {VERSION}")
            }
            HeaderFault::Crc => f.write_str("the header does not match its crc"),
        }
    }
}

fn crc(bytes: &[u8; HEADER_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}

/// The number at `at`; the caller has checked that it is there.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().copied().map_or(0, u32::from_be_bytes)
}

/// See [`u32_at`].
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().copied().map_or(0, u64::from_be_bytes)
}
