//! The journal: one append-only order of groups of entries, and the only file that an answer waits for.
//!
//! # Files
//!
//! | name | what it is |
//! |--|--|
//! | `<lsn, 20 digits>.journal` | frames from that lsn on; its header was synced before it got the name |
//! | `*.spare` | an already written file, to be recycled: overwriting one and syncing it is several times faster than growing a file |
//! | `*.tmp` | a spare in the making; removed at the next start |
//! | `give-up-from-<lsn, 20 digits>` | made by the operator: see below |
//!
//! All numbers are big-endian. Each life of a file has a generation of its own, higher than every one
//! before, with a random half that no client can guess; a frame counts only under its file's generation,
//! so what an earlier life left behind never replays.
//!
//! ```text
//! header, 512 bytes                         frame
//!   0  8  magic "ssjournl"                    0  4  length: bytes from 8 on
//!   8  4  format version, 1                   4  4  crc32c of 0..4 and 8..end
//!  12  4  crc32c of 0..12 and 16..512         8  8  first lsn
//!  16  8  generation                         16  8  generation
//!  24  8  first lsn                          24  8  synced: entries below were durable when this was written
//!  32  8  synced, as in a frame              32  4  count of entries; 0 marks an idle journal
//!  40  8  size: the file is at least so long 36     payload
//!  48     zeros
//! ```
//!
//! Frames follow each other without gaps. A group larger than a file gets a file as large as it needs.
//!
//! # Torn or damaged
//!
//! Reading stops where entry `n` is due and no valid frame stands. If anything valid behind it says that
//! entries past `n` were durable (`synced` above `n`), `n` was durable and is damaged: the start is
//! refused, naming file, byte and remedy. Otherwise `n` was still on its way to the disk, nobody was told of
//! it, and the torn tail is dropped. A `.journal` file whose header is bad, or that is shorter than its
//! header says, is damaged: both were durable before the first frame.
//! The last synced group has nothing behind it that tells; the idle mark, an empty frame written when the
//! journal comes to rest, does.
//!
//! The remedy: the operator restores the file from a copy, or gives up what follows by making the file
//! `give-up-from-<n>`; the next start then drops the entries from `n` on, and the file.
//!
//! A group may rest on bytes outside the journal (batches that stand in their segments). If they are not there at a
//! start, its frame counts as not there; `synced` then says whether that is a torn tail or damage, as for any other.
//!
//! What is recovered is written once more and synced before it is relied on: it may be in the page cache
//! only, left there by a process whose sync failed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::disk::Disk;
use crate::model::Lsn;

mod append;
mod error;
mod files;
mod frame;
mod header;
mod inspect;
mod recovery;
mod residue;
mod spares;
mod walk;

pub use append::Journal;
pub use error::JournalError;
pub use frame::FRAME_HEAD_BYTES;
pub use header::HEADER_BYTES;
pub use inspect::{Found, Inspection, inspect};
pub use recovery::{Dropped, Recovery};
pub use spares::Spares;

/// The usual size of a file.
pub const FILE_BYTES_DEFAULT: u64 = 64 << 20;

/// When names must be durable. Bytes are durable when [`Journal::sync`] says so, in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged record survives a power loss.
    Fsync,
    /// It survives a crash of the process; starting a file does not wait for the folder's sync. Groups may rest on
    /// files that are synced later than the journal: see [`Journal::sync_to`].
    Os,
}

/// How a journal is kept.
#[derive(Clone, Copy, Debug)]
pub struct JournalOptions {
    /// Size of a new file.
    pub file_bytes: u64,
    pub durability: Durability,
    /// The half of new generations that clients cannot guess: [`entropy`](crate::disk::entropy), or fixed in tests.
    pub salt: u32,
}

/// What the store does with a group: its first lsn, its count and its payload.
pub type Replay<'a> = &'a mut dyn FnMut(Lsn, u32, Bytes) -> Result<Taken, ReplayError>;

/// Whether the store could take a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Whole,
    /// Something that the group rests on, outside the journal, is not there, and this says what: the group counts as one
    /// that never reached the disk, like a frame whose bytes did not.
    Torn(String),
}

/// Why the store cannot take a group that the journal holds.
pub type ReplayError = Box<dyn std::error::Error + Send + Sync>;

impl Journal {
    /// Opens the journal in `dir`, or starts one, and hands every group that reaches past `from` to `replay`.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        options: JournalOptions,
        from: Lsn,
        replay: Replay<'_>,
    ) -> Result<Journal, JournalError> {
        recovery::open(disk, dir, options, from, replay)
    }
}

fn give_up_name(lsn: Lsn) -> String {
    format!("give-up-from-{:020}", lsn.0)
}

fn remedy(dir: &Path, lsn: Lsn) -> String {
    format!(
        "restore it from a copy, or give up the entries from {lsn} on: create the empty file {} and start again",
        dir.join(give_up_name(lsn)).display()
    )
}

#[cfg(test)]
mod tests;
