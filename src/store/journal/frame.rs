//! Frames: one group of entries each, written and read back whole.

use std::fmt;

use bytes::Bytes;

use super::header::{u32_at, u64_at};
use crate::model::Lsn;

/// Bytes of a frame before its payload.
pub const FRAME_HEAD_BYTES: usize = 36;

/// What the length field does not count: itself and the crc.
const UNCOUNTED: usize = 8;

/// See the module doc of the journal for the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    pub first: Lsn,
    pub generation: u64,
    pub synced: Lsn,
    pub count: u32,
    /// Bytes of the whole frame.
    pub bytes: u64,
}

/// Why no valid frame stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// Nothing but zeros, or the end of the file.
    Nothing,
    /// The length field cannot be.
    Length(u32),
    Crc,
    Generation(u64),
    OutOfOrder(Lsn),
}

/// Bytes of a frame with this payload; `None` when the length field cannot hold it.
pub(super) fn frame_bytes(payload: &[Bytes]) -> Option<u64> {
    let bytes = payload.iter().map(Bytes::len).sum::<usize>() + FRAME_HEAD_BYTES;
    u32::try_from(bytes - UNCOUNTED).ok()?;
    Some(bytes as u64)
}

impl FrameHead {
    /// The head's bytes, crc included.
    pub(super) fn encode(&self, payload: &[Bytes]) -> [u8; FRAME_HEAD_BYTES] {
        let mut head = [0; FRAME_HEAD_BYTES];
        head[0..4].copy_from_slice(&((self.bytes - UNCOUNTED as u64) as u32).to_be_bytes());
        head[8..16].copy_from_slice(&self.first.0.to_be_bytes());
        head[16..24].copy_from_slice(&self.generation.to_be_bytes());
        head[24..32].copy_from_slice(&self.synced.0.to_be_bytes());
        head[32..36].copy_from_slice(&self.count.to_be_bytes());
        let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..4]), &head[8..]);
        let crc = payload.iter().fold(crc, |crc, part| crc32c::crc32c_append(crc, part));
        head[4..8].copy_from_slice(&crc.to_be_bytes());
        head
    }

    /// Reads the frame at `at` and checks its crc. Whether it belongs there is for the caller to say.
    pub(super) fn read(content: &[u8], at: usize) -> Result<FrameHead, FrameFault> {
        let rest = content.get(at..).unwrap_or_default();
        if rest.len() < FRAME_HEAD_BYTES {
            return Err(FrameFault::Nothing);
        }
        let length = u32_at(rest, 0);
        let Some(frame) = rest.get(..length as usize + UNCOUNTED).filter(|frame| frame.len() >= FRAME_HEAD_BYTES)
        else {
            let nothing = rest[..FRAME_HEAD_BYTES].iter().all(|byte| *byte == 0);
            return Err(if nothing { FrameFault::Nothing } else { FrameFault::Length(length) });
        };
        if u32_at(frame, 4) != crc32c::crc32c_append(crc32c::crc32c(&frame[..4]), &frame[8..]) {
            return Err(FrameFault::Crc);
        }
        Ok(FrameHead {
            first: Lsn(u64_at(frame, 8)),
            generation: u64_at(frame, 16),
            synced: Lsn(u64_at(frame, 24)),
            count: u32_at(frame, 32),
            bytes: frame.len() as u64,
        })
    }

    /// One past the last lsn.
    pub(super) fn end(&self) -> Lsn {
        Lsn(self.first.0.saturating_add(self.count.into()))
    }
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameFault::Nothing => f.write_str("nothing is there"),
            FrameFault::Length(length) => write!(f, "a frame of {length} bytes cannot be there"),
            FrameFault::Crc => f.write_str("the frame does not match its crc"),
            FrameFault::Generation(_) => f.write_str("a frame of an earlier life of the file is there"),
            FrameFault::OutOfOrder(lsn) => write!(f, "the frame of entry {lsn} is there"),
        }
    }
}
