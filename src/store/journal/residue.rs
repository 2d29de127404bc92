//! What lies behind the place where reading stopped: valid frames there tell a torn tail from damage.

use super::frame::{FRAME_HEAD_BYTES, FrameHead};
use super::header::u64_at;
use crate::model::Lsn;

/// Zeros are skipped in pieces of this size: a fresh file is mostly zeros.
const PIECE: usize = 4096;
const ZEROS: [u8; PIECE] = [0; PIECE];

/// The valid frames found in a range that cannot be read in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Residue {
    /// The end of the last one; 0 when there is none.
    pub(super) end: usize,
    /// The one that says the most about what was durable.
    pub(super) claim: Option<Claim>,
}

/// A place in the journal that says: entries below `synced` were durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) position: usize,
    pub(super) synced: Lsn,
}

/// Looks at every byte from `start` on for frames of `generation`. Inside a valid frame it does not look:
/// its payload is the clients' and proves nothing.
pub(super) fn residue(content: &[u8], start: usize, generation: u64) -> Residue {
    let mut residue = Residue::default();
    let mut at = start;
    while at + FRAME_HEAD_BYTES <= content.len() {
        if content.get(at..at + PIECE) == Some(&ZEROS) {
            // A frame's generation is not 0, so no frame starts where its whole head is zeros.
            at += PIECE - FRAME_HEAD_BYTES;
            continue;
        }
        match frame_of(content, at, generation) {
            Some(head) => {
                at += head.bytes as usize;
                residue.end = at;
                residue.take(Claim { position: at - head.bytes as usize, synced: head.synced });
            }
            None => at += 1,
        }
    }
    residue
}

impl Residue {
    fn take(&mut self, claim: Claim) {
        if self.claim.is_none_or(|best| best.synced < claim.synced) {
            self.claim = Some(claim);
        }
    }
}

fn frame_of(content: &[u8], at: usize, generation: u64) -> Option<FrameHead> {
    if u64_at(content, at + 16) != generation {
        return None;
    }
    FrameHead::read(content, at).ok()
}
