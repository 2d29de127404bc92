//! What lies behind the place where reading stopped: valid frames there tell a torn tail from damage.

use super::frame::{FRAME_HEAD_BYTES, FrameHead};
use super::header::u64_at;
use crate::model::Lsn;

/// Zeros are skipped in pieces of this size: a fresh file is mostly zeros.
const PIECE: usize = 4096;
const ZEROS: [u8; PIECE] = [0; PIECE];

/// A place in the journal that says: entries below `synced` were durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) position: usize,
    pub(super) synced: Lsn,
}

/// The valid frame of `generation` from byte `start` on that claims most; frames may start at any byte.
/// Inside a valid frame it does not look: its payload is the clients' and proves nothing.
pub(super) fn claim_behind(content: &[u8], start: usize, generation: u64) -> Option<Claim> {
    let mut best: Option<Claim> = None;
    let mut at = start;
    while at + FRAME_HEAD_BYTES <= content.len() {
        if content.get(at..at + PIECE) == Some(&ZEROS) {
            // A frame's generation is not 0, so no frame starts where its whole head is zeros.
            at += PIECE - FRAME_HEAD_BYTES;
            continue;
        }
        let Some(head) = frame_of(content, at, generation) else {
            at += 1;
            continue;
        };
        if best.is_none_or(|best| best.synced < head.synced) {
            best = Some(Claim { position: at, synced: head.synced });
        }
        at += head.bytes as usize;
    }
    best
}

/// Where the zeros start that go on to the end of the file; not below `start`.
pub(super) fn zeros_from(content: &[u8], start: usize) -> usize {
    let mut end = content.len();
    while end >= start + PIECE && content[end - PIECE..end] == ZEROS {
        end -= PIECE;
    }
    let rest = &content[start.min(end)..end];
    start + rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

fn frame_of(content: &[u8], at: usize, generation: u64) -> Option<FrameHead> {
    if u64_at(content, at + 16) != generation {
        return None;
    }
    FrameHead::read(content, at).ok()
}
