//! The aborted transactions of a partition made anew from its log: each ends with a marker, and begins with the first batch
//! of its producer after the marker before.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::aborted::encode;
use super::error::FileError;
use super::log::{Log, LogEnd};
use super::rows::{Origin, Row};
use super::segment::Segment;
use super::span::Span;
use crate::batch::{BatchError, BatchHeader, Marker, read_marker};
use crate::model::{AbortedRow, Offset, ProducerId};

/// The log as the origin of `aborted.index`.
pub struct Markers {
    pub log: Arc<Log>,
    /// Where it ended when this process began.
    pub end: LogEnd,
}

/// What the batches of a log say of its transactions, seen one after another from its front on.
#[derive(Default)]
pub struct Transactions {
    open: BTreeMap<ProducerId, Offset>,
    /// Where the open ones begin.
    starts: BTreeSet<Offset>,
    /// Those aborted, of which a record is there, in the order of their markers.
    pub aborted: Vec<AbortedRow>,
}

impl Transactions {
    /// Takes in the next batch, which ends before offset `end`.
    pub fn see(&mut self, batch: &Bytes, end: Offset) -> Result<(), BatchError> {
        let header = BatchHeader::parse(batch)?;
        if !header.attributes.is_transactional() {
            return Ok(());
        }
        let (producer, offset) = (ProducerId(header.producer_id), Offset(header.base_offset));
        if !header.attributes.is_control() {
            if let Entry::Vacant(place) = self.open.entry(producer) {
                place.insert(offset);
                self.starts.insert(offset);
            }
            return Ok(());
        }
        let Some(first) = self.open.remove(&producer) else { return Ok(()) };
        self.starts.remove(&first);
        if read_marker(batch)? == Some(Marker::Abort) {
            let last_stable = self.starts.first().copied().unwrap_or(end);
            self.aborted.push(AbortedRow { producer, first, last: offset, last_stable });
        }
        Ok(())
    }
}

impl Origin for Markers {
    /// Transactions of which no record is left are asked for by nobody. They come first, and keep their numbers.
    fn rows(&self, first: u64, end: u64, _stored: Option<Row>) -> Result<Vec<Row>, FileError> {
        let mut found = self.walk()?.aborted;
        let needed = (end - first) as usize;
        if found.len() > needed {
            // Rows of a first part may be gone while the segment is there that holds their markers.
            found.drain(..found.len() - needed);
        }
        let gone = std::iter::repeat_n(&GONE, needed - found.len());
        Ok(gone.chain(&found).map(encode).collect())
    }
}

/// A transaction of which nothing is left.
const GONE: AbortedRow =
    AbortedRow { producer: ProducerId(0), first: Offset(0), last: Offset(-1), last_stable: Offset(0) };

impl Markers {
    fn walk(&self) -> Result<Transactions, FileError> {
        let mut transactions = Transactions::default();
        for segment in self.log.segments()? {
            let end = match segment.base {
                base if base < self.end.segment => segment.end()?,
                base if base == self.end.segment => self.end.position,
                _ => break,
            };
            let mut walk = segment.walk(end);
            while let Some(span) = walk.next()? {
                see(&mut transactions, &segment, span)?;
            }
        }
        Ok(transactions)
    }
}

fn see(transactions: &mut Transactions, segment: &Arc<Segment>, span: Span) -> Result<(), FileError> {
    // A damaged header would be believed.
    segment.last_sound(span.base_offset, span, span)?;
    let batch = segment.bytes(span.position, span.end())?;
    let seen = transactions.see(&batch, span.end_offset);
    seen.map_err(|error| FileError::damaged(segment.path(), span.position, error.to_string()))
}
