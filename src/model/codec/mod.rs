//! Entries and the state as bytes. All numbers big-endian; formats are frozen, each has a version and a golden file.
//!
//! ```text
//! group:  entries, one after another; the journal's frame knows how many
//! entry:  kind u8, version u8, length u32 of what follows, fields (see `entry`)
//! text:   length u32, UTF-8          option: 0, or 1 and the value
//! map:    count u32, then name and value as texts, by name
//! ```

mod entry;
mod fields;
mod state;

use bytes::{BufMut, Bytes, BytesMut};

use super::entry::Entry;
use fields::Reader;

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
}

/// The entries as the parts of one vectored write. Large batches are parts of their own, not copied.
pub fn encode_group(entries: &[Entry]) -> Vec<Bytes> {
    let mut parts = Parts::default();
    for entry in entries {
        parts.put(entry);
    }
    parts.finish()
}

/// The entries of a group. Their batches are slices of `group`.
pub fn decode_group(group: Bytes) -> Result<Vec<Entry>, CodecError> {
    let mut reader = Reader::new(group);
    let mut entries = Vec::new();
    while !reader.is_empty() {
        entries.push(entry::read(&mut reader)?);
    }
    Ok(entries)
}

#[derive(Default)]
struct Parts {
    parts: Vec<Bytes>,
    open: BytesMut,
}

impl Parts {
    fn put(&mut self, entry: &Entry) {
        let start = self.open.len();
        let tail = entry::put(&mut self.open, entry);
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
