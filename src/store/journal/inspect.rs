//! The journal as an operator sees it, offline: every file, every frame, every fault. Changes nothing.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::files::{Listing, NamedFile, read_file};
use super::frame::{FrameFault, FrameHead};
use super::header::{FileHeader, HEADER_BYTES, HeaderFault};
use super::residue::claim_behind;
use super::walk::Walk;
use crate::disk::Disk;
use crate::model::Lsn;

/// One thing found, in the order of the files and of the bytes in each.
#[derive(Debug)]
pub enum Found {
    File {
        file: PathBuf,
        bytes: u64,
        header: Result<FileHeader, HeaderFault>,
    },
    Frame {
        file: PathBuf,
        position: u64,
        head: FrameHead,
    },
    /// No further frame stands in the file. `proof`: a later frame of the same life says that entries below this lsn were durable.
    End {
        file: PathBuf,
        position: u64,
        lsn: Lsn,
        fault: FrameFault,
        proof: Option<Lsn>,
    },
    /// The next file does not start where the one before ends.
    Gap {
        file: PathBuf,
        expected: Lsn,
        found: Lsn,
    },
    Unreadable {
        file: PathBuf,
        error: JournalError,
    },
}

/// See [`inspect`].
pub struct Inspection<'a> {
    disk: &'a dyn Disk,
    files: std::vec::IntoIter<NamedFile>,
    expected: Option<Lsn>,
    found: VecDeque<Found>,
}

/// Lists and verifies the journal in `dir`, a file at a time.
pub fn inspect<'a>(disk: &'a dyn Disk, dir: &Path) -> Result<Inspection<'a>, JournalError> {
    let listing = Listing::read(disk, dir).map_err(JournalError::io("list", dir))?;
    Ok(Inspection { disk, files: listing.files.into_iter(), expected: None, found: VecDeque::new() })
}

impl Iterator for Inspection<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        while self.found.is_empty() {
            let file = self.files.next()?;
            self.look_at(&file);
        }
        self.found.pop_front()
    }
}

impl Inspection<'_> {
    fn look_at(&mut self, named: &NamedFile) {
        let file = named.path.clone();
        let content = match read_file(self.disk, &file) {
            Ok(content) => content,
            Err(error) => return self.found.push_back(Found::Unreadable { file, error }),
        };
        if let Some(expected) = self.expected.filter(|expected| *expected != named.first) {
            self.found.push_back(Found::Gap { file: file.clone(), expected, found: named.first });
        }
        let header = FileHeader::decode(&content);
        self.found.push_back(Found::File { file: file.clone(), bytes: content.len() as u64, header });
        let Ok(header) = header else { return self.expected = None };
        let mut walk = Walk::new(&content, &header);
        let fault = loop {
            match walk.step() {
                Ok(frame) => self.found.push_back(Found::Frame {
                    file: file.clone(),
                    position: frame.position as u64,
                    head: frame.head,
                }),
                Err(fault) => break fault,
            }
        };
        let (position, lsn) = (walk.position, walk.next);
        let behind = claim_behind(&content, position.max(HEADER_BYTES), header.generation);
        let proof = behind.map(|claim| claim.synced).filter(|synced| *synced > lsn);
        self.found.push_back(Found::End { file, position: position as u64, lsn, fault, proof });
        self.expected = Some(lsn);
    }
}
