//! Entries and the state as bytes. All numbers big-endian; formats are frozen, each has a version and a golden file.
//!
//! ```text
//! group:  entries, one after another; the journal's frame knows how many
//! entry:  kind u8, version u8, length u32 of what follows, fields (see `entry`)
//! text:   length u32, UTF-8          option: 0, or 1 and the value
//! map:    count u32, then name and value as texts, by name
//! ```
//!
//! An append in version 1 holds its batch; in version 2 the batch's header and the place in a segment where all of it
//! was written before: see [`Apart`].

mod apart;
mod entry;
pub(super) mod fields;
mod open_streams;
mod state;
mod subscription;
mod transaction;

use bytes::{BufMut, Bytes, BytesMut};

use super::entry::Entry;
use super::writes::TailWrite;
use fields::Reader;

pub use apart::{Apart, Bodies, NoBody};

/// Batches up to this size are copied between the fields: a part of a vectored write of its own costs more.
const COPIED_MAX: usize = 1024;

/// Why bytes are no entries, or no state. `at` counts from the start of the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("byte {at}: the data ends inside {what}")]
    Short { at: usize, what: &'static str },
    #[error("byte {at}: no entry has kind {kind}")]
    Kind { at: usize, kind: u8 },
    #[error("byte {at}: version {version} of {what} is not one that this program reads; use the one that wrote it")]
    Version { at: usize, what: &'static str, version: u8 },
    #[error("byte {at}: {what} cannot be {found}")]
    Value { at: usize, what: &'static str, found: i64 },
    #[error("byte {at}: {what} is not UTF-8")]
    Text { at: usize, what: &'static str },
    #[error("byte {at}: the metadata is not JSON")]
    Metadata { at: usize },
    #[error("byte {at}: the batch is damaged: {fault}")]
    Batch { at: usize, fault: String },
    #[error("byte {at}: {left} bytes too many")]
    Excess { at: usize, left: usize },
    #[error("byte {at}: the batch that was written apart is not there: {fault}")]
    Apart { at: usize, fault: String },
}

/// The entries as the parts of one vectored write. Large batches are parts of their own, not copied.
pub fn encode_group(entries: &[Entry]) -> Vec<Bytes> {
    let mut parts = Parts::default();
    for entry in entries {
        parts.put(entry, None);
    }
    parts.finish()
}

/// The entries, with batches of at least `bytes_min` bytes left out: `writes`, which is what these entries ask of the
/// disk, says where they stand already.
pub fn encode_group_apart(entries: &[Entry], writes: &[TailWrite], bytes_min: usize) -> Vec<Bytes> {
    let mut parts = Parts::default();
    let mut places = writes.iter().filter_map(apart::place_of);
    for entry in entries {
        let place = match entry {
            // Each append writes one batch, in the same order.
            Entry::Appended(appended) => places.next().filter(|_| appended.batch.len() >= bytes_min),
            _ => None,
        };
        parts.put(entry, place);
    }
    parts.finish()
}

/// The entries of a group. Their batches are slices of `group`, or come from `bodies`.
pub fn decode_group(group: Bytes, bodies: Bodies<'_>) -> Result<Vec<Entry>, CodecError> {
    let mut reader = Reader::new(group);
    let mut entries = Vec::new();
    while !reader.is_empty() {
        entries.push(entry::read(&mut reader, bodies)?);
    }
    Ok(entries)
}

#[derive(Default)]
struct Parts {
    parts: Vec<Bytes>,
    open: BytesMut,
}

impl Parts {
    fn put(&mut self, entry: &Entry, place: Option<apart::Place>) {
        let start = self.open.len();
        let tail = entry::put(&mut self.open, entry, place);
        let fields = self.open.len() - start - entry::HEAD_BYTES;
        let length = u32::try_from(fields + tail.len()).expect("an entry is smaller than 4 GiB");
        self.open[start + 2..start + entry::HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
        if tail.len() <= COPIED_MAX {
            self.open.put_slice(&tail);
        } else {
            self.parts.push(self.open.split().freeze());
            self.parts.push(tail);
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        if !self.open.is_empty() {
            self.parts.push(self.open.freeze());
        }
        self.parts
    }
}
