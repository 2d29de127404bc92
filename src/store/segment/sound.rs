//! Batches that an earlier process wrote are held against their checksums when they are first read: a disk that turned a bit
//! must not have its bytes served. What holds is remembered, so that a byte is looked at once in the life of a process.
//!
//! The checksum leaves out a batch's offset, its length and its leader epoch. So it is also seen to that offsets ascend from
//! batch to batch, from the index row before the first one to the batch after the last one, and that the epoch is ours.

use std::sync::Arc;

use crate::batch::{BatchHeader, checksum};
use crate::disk::waiting;
use crate::model::Offset;
use crate::store::error::FileError;
use crate::store::span::{Span, Walk};

use super::Segment;

/// Every batch is stored with this one.
const LEADER_EPOCH: i32 = 0;

/// What a walk found.
#[derive(Default)]
struct Found {
    /// The last batch of those wanted up to which all are sound.
    last: Option<Span>,
    /// What is wrong with the batch before the first one wanted.
    before: Option<FileError>,
    is_whole: bool,
}

impl Segment {
    /// The last of the batches from `first`, which was found for `offset`, to `last` up to which all are as they were written;
    /// an error when the first is not.
    pub fn last_sound(self: &Arc<Self>, offset: Offset, first: Span, last: Span) -> Result<Span, FileError> {
        let holds_offset = first.base_offset <= offset;
        if holds_offset && (self.file.is_own(first.position) || self.sound.holds(first.position, last.end())) {
            return Ok(last);
        }
        let row = self.with_index(|index| index.at_offset(offset).map(|row| (row.position, row.offset)))?;
        let (start, expected) = row.unwrap_or((0, self.base));
        let found = self.look_through(start, expected, first.position, last.end())?;
        match found.before {
            // The batch before claims to end before `offset`, and cannot be believed.
            Some(flaw) if !holds_offset => Err(flaw),
            _ => Ok(found.last.unwrap_or(first)),
        }
    }

    /// Nothing was found in `[start, end)`, which begins at a row of the index: is that to be believed?
    pub(super) fn check_that_none_is_missed(self: &Arc<Self>, start: u64, end: u64) -> Result<(), FileError> {
        if self.file.is_own(start) || self.sound.holds(start, end) {
            return Ok(());
        }
        let expected = self.with_index(|index| index.at_position(start, Offset(i64::MAX)).map(|row| row.offset))?;
        let found = self.look_through(start, expected.unwrap_or(self.base), end, end)?;
        found.before.map_or(Ok(()), Err)
    }

    /// Verifies the batches in `[start, end)`, of which those from `wanted` on are to be read. An error when the first of
    /// those is damaged.
    fn look_through(self: &Arc<Self>, start: u64, expected: Offset, wanted: u64, end: u64) -> Result<Found, FileError> {
        waiting::ask().map_err(FileError::io(self.path()))?;
        let (mut found, mut expected) = (Found { is_whole: true, ..Found::default() }, expected);
        // One batch further than asked for, which the last one must not reach into.
        let mut walk = Walk::new(&self.file, start, self.file.end()?);
        let mut ahead = walk.next();
        loop {
            let span = match ahead {
                Ok(Some(span)) if span.position < end => span,
                Ok(_) => break,
                Err(FileError::Damaged { .. }) if found.last.is_some() => break,
                Err(error) => return Err(error),
            };
            ahead = walk.next();
            let next = ahead.as_ref().ok().and_then(Option::as_ref);
            let flaw = match self.misplaced(span, expected, next) {
                None => self.flaw(span)?,
                misplaced => misplaced,
            };
            expected = span.end_offset;
            match (flaw, span.position < wanted) {
                (None, true) => found.before = None,
                (Some(flaw), true) => (found.before, found.is_whole) = (Some(flaw), false),
                (None, false) => found.last = Some(span),
                (Some(_), false) if found.last.is_some() => break,
                (Some(flaw), false) => return Err(flaw),
            }
        }
        if let Some(last) = found.last {
            self.sound.add(if found.is_whole { start } else { wanted }, last.end());
        } else if found.is_whole && start < end {
            self.sound.add(start, end);
        }
        Ok(found)
    }

    /// What is wrong with a batch's offsets, seen from those around it.
    fn misplaced(&self, span: Span, expected: Offset, next: Option<&Span>) -> Option<FileError> {
        let Span { base_offset, end_offset, .. } = span;
        if base_offset < expected {
            return Some(self.damaged(span, format!("offset {base_offset} where {expected} is next")));
        }
        let next = next.filter(|next| next.base_offset < end_offset)?.base_offset;
        Some(self.damaged(span, format!("the batch at offset {base_offset} reaches past the next one, at {next}")))
    }

    /// What is wrong with a batch by itself.
    pub(super) fn flaw(&self, span: Span) -> Result<Option<FileError>, FileError> {
        let batch = self.file.slice(span.position, span.end())?;
        Ok(match BatchHeader::parse(&batch) {
            Err(error) => Some(self.damaged(span, error.to_string())),
            Ok(header) if header.leader_epoch != LEADER_EPOCH => Some(
                self.damaged(span, format!("leader epoch {} where {LEADER_EPOCH} was written", header.leader_epoch)),
            ),
            Ok(header) if checksum(&batch) != header.crc => Some(
                self.damaged(span, format!("the checksum of the batch at offset {} does not hold", span.base_offset)),
            ),
            Ok(_) => None,
        })
    }

    pub(super) fn damaged(&self, span: Span, what: String) -> FileError {
        FileError::damaged(self.file.path(), span.position, what)
    }
}
