//! Readings of a feed. A view has bounds and gives whole record batches; it keeps no state of its own.
//!
//! | reading | content | where |
//! |---|---|---|
//! | plain | the partition's log | `plain.rs` |
//! | feed space | runs of sealed batches, re-based (`..feed`, commits, ranges) | `feed_space.rs` |
//! | one stream | its batches from index 0, open or sealed | `stream.rs` |
//! | history | the manifests (`..commits`), the stream events (`..streams`) | `history.rs` |
//!
//! Re-basing changes only the first 8 bytes of a batch, which lie outside its checksum, so the records are never copied.

mod bounded;
mod feed_space;
mod history;
pub mod link;
pub mod links;
pub mod name;
mod pieces;
mod plain;
mod published;
mod reading;
pub mod selector;
mod stream;

pub use bounded::SealClock;
pub use published::{OpenStreamReading, PartitionEnds, Published};
pub use reading::{Bounds, Budget, Extremes, Found, Isolation, Reading, View, ViewError, ViewReadError};
pub use selector::{Mode, Selector, ViewName};
