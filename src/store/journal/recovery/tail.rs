//! Makes what was recovered durable before anything relies on it.

use std::collections::VecDeque;
use std::io;

use super::reader::{End, Uncertain};
use crate::disk::{Disk, DiskFile, OpenMode};
use crate::store::journal::JournalError;
use crate::store::journal::files::{NamedFile, read_range};

/// Zeros are written in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

/// Writes the frames again that may be in the page cache only, wipes what lies behind the end, and syncs.
pub(super) fn secure(
    disk: &dyn Disk,
    kept: &[NamedFile],
    end: &End,
    uncertain: &VecDeque<Uncertain>,
) -> Result<(), JournalError> {
    for (index, named) in kept.iter().enumerate() {
        let path = &named.path;
        let file = disk.open(path, OpenMode::Write).map_err(JournalError::io("open", path))?;
        let mut frames = uncertain.iter().filter(|frame| frame.file == index);
        if let Some(first) = frames.next() {
            let stop = frames.next_back().unwrap_or(first).end;
            let bytes = read_range(disk, path, first.position, stop).map_err(JournalError::io("read", path))?;
            file.write_all_at(&bytes, first.position).map_err(JournalError::io("write", path))?;
        }
        if index + 1 == kept.len() {
            wipe(&*file, end).map_err(JournalError::io("wipe the end of", path))?;
        }
        file.sync_data().map_err(JournalError::io("sync", path))?;
    }
    Ok(())
}

/// Whatever an unsynced frame left here could join the journal again: the frame behind it once the gap is
/// filled, or a torn one when the next frame in its place is torn too and brings the sector that it lacked.
fn wipe(file: &dyn DiskFile, end: &End) -> io::Result<()> {
    let zeros = vec![0; PIECE_BYTES.min(end.zeros_from - end.position)];
    for at in (end.position..end.zeros_from).step_by(PIECE_BYTES) {
        file.write_all_at(&zeros[..(end.zeros_from - at).min(PIECE_BYTES)], at as u64)?;
    }
    // Only when the operator gave up what was cut off.
    if end.bytes < end.header.size {
        file.set_size(end.header.size)?;
    }
    Ok(())
}
