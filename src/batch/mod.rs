//! Kafka record batches of format 2 ("magic 2"): reading, checking and writing them. Plain numbers, no I/O.
//!
//! A batch is a header of 61 bytes and the records, all numbers big-endian:
//!
//! ```text
//!  0  base offset              i64   offset of the first record       \
//!  8  length                   i32   bytes after this field            | written anew by the broker,
//! 12  partition leader epoch   i32                                     / outside the checksum
//! 16  magic                    i8    2
//! 17  crc                      u32   crc32c of everything from byte 21
//! 21  attributes               i16   see `Attributes`
//! 23  last offset delta        i32   offset of the last record - base offset
//! 27  base timestamp           i64   of the first record
//! 35  max timestamp            i64
//! 43  producer id              i64   -1: none
//! 51  producer epoch           i16   -1: none
//! 53  base sequence            i32   -1: none
//! 57  record count             i32
//! 61  records                        one compressed blob unless compression is none
//!
//! record (varints are zigzag, as in protocol buffers):
//!     length varint, attributes i8 (unused), timestamp delta varlong, offset delta varint,
//!     key length varint (-1: null), key, value length varint (-1: null), value,
//!     header count varint, headers
//! header:
//!     key length varint, key, value length varint (-1: null), value
//! ```
//!
//! What producers send is checked once ([`check_produced`]), then stored and served as it came: only the first
//! 16 bytes are replaced ([`placed_head`]).

mod attributes;
mod builder;
mod check;
pub mod codec;
mod control;
mod error;
mod header;
mod keep;
mod raw;
mod records;
mod rewrite;
mod scan;
mod varint;

#[cfg(test)]
mod tests;

pub use attributes::{Attributes, Compression, TimestampType};
pub use builder::{BatchBuilder, NewRecord, Producer};
pub use check::{Batch, Limits, check_produced};
pub use control::{Marker, marker_batch, read_marker};
pub use error::{BatchError, RecordError};
pub use header::{
    BatchHeader, HEADER_LEN, PLACED_HEAD_LEN, batch_lengths, checksum, next_batch, placed_head, record_span,
};
pub use keep::{KeptBatch, keep_records};
pub use records::{Header, Headers, Reached, RecordRef, Records, RecordsError, records};
pub use rewrite::with_log_append_time;
pub use scan::{Facts, SEAL_HEADER, STREAM_HEADER, Seal};
