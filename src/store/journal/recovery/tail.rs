//! Makes what was recovered durable before anything relies on it.

use std::collections::VecDeque;

use super::reader::{End, Uncertain};
use crate::disk::{Disk, OpenMode};
use crate::store::journal::JournalError;
use crate::store::journal::files::{NamedFile, read_range};

/// Wipes what lies behind the end, writes the frames again that may be in the page cache only, and syncs.
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
            // A frame that stays behind the end could join the journal again once the gap is filled.
            if end.residue.end > end.position {
                let zeros = vec![0; end.residue.end - end.position];
                file.write_all_at(&zeros, end.position as u64).map_err(JournalError::io("write", path))?;
            }
            // Only when the operator gave up what was cut off.
            if end.bytes < end.header.size {
                file.set_size(end.header.size).map_err(JournalError::io("set the size of", path))?;
            }
        }
        file.sync_data().map_err(JournalError::io("sync", path))?;
    }
    Ok(())
}
