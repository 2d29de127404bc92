//! Reads the files in order and hands their groups on, up to the place where it has to stop.

use std::collections::VecDeque;
use std::path::PathBuf;

use bytes::Bytes;

use super::Dropped;
use crate::disk::Disk;
use crate::model::Lsn;
use crate::store::journal::files::{NamedFile, read_file};
use crate::store::journal::header::{FileHeader, u64_at};
use crate::store::journal::residue::{Claim, claim_behind, zeros_from};
use crate::store::journal::walk::{PlacedFrame, Walk};
use crate::store::journal::{JournalError, Replay, Taken};

/// Where reading stopped, and all that the decision about it needs.
pub(super) struct Stop {
    /// The entry that is due there.
    pub(super) lsn: Lsn,
    pub(super) file: PathBuf,
    pub(super) byte: u64,
    /// What stands there instead.
    pub(super) found: String,
    /// Why it cannot be a torn tail, when the place alone tells.
    pub(super) damage: Option<String>,
    /// Files up to here are whole, the last of them up to `end`.
    pub(super) num_kept: usize,
    pub(super) end: Option<End>,
    /// The journal says of itself that everything before is durable.
    pub(super) at_rest: bool,
}

/// The end of the last file that is kept.
pub(super) struct End {
    pub(super) header: FileHeader,
    pub(super) position: usize,
    /// A valid frame behind it.
    pub(super) claim: Option<Claim>,
    /// From here on the file holds zeros only.
    pub(super) zeros_from: usize,
    /// A frame of this life of the file was begun there.
    pub(super) torn: bool,
    /// Bytes that the file has.
    pub(super) bytes: u64,
}

/// A frame that no later one says was durable.
pub(super) struct Uncertain {
    pub(super) file: usize,
    pub(super) position: u64,
    pub(super) end: u64,
    last: Lsn,
}

pub(super) struct Reader<'a> {
    disk: &'a dyn Disk,
    files: &'a [NamedFile],
    from: Lsn,
    replay: Replay<'a>,
    /// Entries below were durable, as far as read.
    pub(super) claim: Lsn,
    pub(super) uncertain: VecDeque<Uncertain>,
    pub(super) num_groups: u64,
    pub(super) num_entries: u64,
}

/// A file that was read up to the end of its frames.
struct ReadFile {
    content: Bytes,
    header: FileHeader,
    position: usize,
    next: Lsn,
    found: String,
}

impl<'a> Reader<'a> {
    pub(super) fn new(disk: &'a dyn Disk, files: &'a [NamedFile], from: Lsn, replay: Replay<'a>) -> Reader<'a> {
        let uncertain = VecDeque::new();
        Reader { disk, files, from, replay, claim: Lsn(0), uncertain, num_groups: 0, num_entries: 0 }
    }

    /// Reads all there is. `files` holds at least one.
    pub(super) fn read(&mut self) -> Result<Stop, JournalError> {
        let mut last: Option<ReadFile> = None;
        for (index, named) in self.files.iter().enumerate() {
            // The first file may start below what is needed, not above.
            let due = last.as_ref().map_or(named.first.min(self.from), |file| file.next);
            if named.first > due {
                return Ok(self.stop_at_gap(index, due, last));
            }
            let content = read_file(self.disk, &named.path)?;
            let header = match header_of(&content, named, due) {
                Ok(header) => header,
                Err(found) => return Ok(self.stop_at_header(index, due, found, last)),
            };
            last = Some(self.read_frames(index, content, header)?);
        }
        Ok(self.stop_at_end(self.files.len(), last))
    }

    fn read_frames(&mut self, index: usize, content: Bytes, header: FileHeader) -> Result<ReadFile, JournalError> {
        self.take_claim(header.synced);
        let mut walk = Walk::new(&content, &header);
        let (position, next, found) = loop {
            let (position, next) = (walk.position, walk.next);
            match walk.step().map(|frame| self.take_frame(index, frame)) {
                Ok(taken) => match taken? {
                    Taken::Whole => {}
                    Taken::Torn(found) => break (position, next, found),
                },
                Err(fault) => break (position, next, fault.to_string()),
            }
        };
        Ok(ReadFile { content, header, position, next, found })
    }

    fn take_frame(&mut self, index: usize, frame: PlacedFrame) -> Result<Taken, JournalError> {
        let PlacedFrame { position, head, payload } = frame;
        let position = position as u64;
        if head.count > 0 && head.end() > self.from {
            let taken = (self.replay)(head.first, head.count, payload)
                .map_err(|source| JournalError::replay(&self.files[index].path, position, head.first, source))?;
            if taken != Taken::Whole {
                return Ok(taken);
            }
            self.num_groups += 1;
            self.num_entries += u64::from(head.count);
        }
        self.uncertain.push_back(Uncertain { file: index, position, end: position + head.bytes, last: head.end() });
        self.take_claim(head.synced);
        Ok(Taken::Whole)
    }

    fn take_claim(&mut self, synced: Lsn) {
        self.claim = self.claim.max(synced);
        while self.uncertain.front().is_some_and(|frame| frame.last <= self.claim) {
            self.uncertain.pop_front();
        }
    }

    /// No file, or no further frame, follows.
    fn stop_at_end(&self, num_kept: usize, last: Option<ReadFile>) -> Stop {
        let lsn = last.as_ref().map_or(self.from, |file| file.next);
        let found = last.as_ref().map_or_else(String::new, |file| file.found.clone());
        let short = last.as_ref().and_then(short);
        let end = last.map(ReadFile::end);
        let file = self.files[num_kept.saturating_sub(1)].path.clone();
        let byte = end.as_ref().map_or(0, |end| (end.position as u64).min(end.bytes));
        Stop { lsn, file, byte, found, damage: short, num_kept, end, at_rest: self.claim == lsn }
    }

    /// The file `index` starts further on.
    fn stop_at_gap(&self, index: usize, due: Lsn, last: Option<ReadFile>) -> Stop {
        let mut stop = self.stop_at_end(index, last);
        let next = format!("the next file starts at entry {}", self.files[index].first);
        stop.found = if index == 0 { next } else { format!("{}, and {next}", stop.found) };
        Stop { lsn: due, ..stop }
    }

    /// The file `index` has no header that fits.
    fn stop_at_header(&self, index: usize, due: Lsn, found: String, last: Option<ReadFile>) -> Stop {
        let damage = Some("a header is durable before its file gets its name".to_owned());
        let file = self.files[index].path.clone();
        let lsn = if index == 0 { self.from } else { due };
        Stop { lsn, file, byte: 0, found, damage, ..self.stop_at_end(index, last) }
    }
}

impl ReadFile {
    fn end(self) -> End {
        let ReadFile { content, header, position, .. } = self;
        End {
            header,
            position,
            claim: claim_behind(&content, position, header.generation),
            zeros_from: zeros_from(&content, position),
            torn: content.len() >= position + 24 && u64_at(&content, position + 16) == header.generation,
            bytes: content.len() as u64,
        }
    }
}

impl Stop {
    /// What the operator should know was dropped.
    pub(super) fn dropped(&self, files: &[NamedFile]) -> Option<Dropped> {
        let torn = self.end.as_ref().is_some_and(|end| end.torn || end.claim.is_some());
        let dropped = torn || self.damage.is_some() || self.num_kept < files.len();
        let Stop { file, byte, lsn, found, .. } = self;
        dropped.then(|| Dropped { file: file.clone(), byte: *byte, lsn: *lsn, found: found.clone() })
    }
}

fn header_of(content: &Bytes, named: &NamedFile, due: Lsn) -> Result<FileHeader, String> {
    let header = FileHeader::decode(content).map_err(|fault| fault.to_string())?;
    if header.first != named.first {
        return Err(format!("the header says that the file starts at entry {}", header.first));
    }
    if header.first < due {
        return Err(format!("the file starts at entry {}, which the file before holds already", header.first));
    }
    Ok(header)
}

fn short(file: &ReadFile) -> Option<String> {
    let (bytes, size) = (file.content.len() as u64, file.header.size);
    (bytes < size).then(|| format!("the file has {bytes} bytes of the {size} that its header says"))
}
