//! Readings of a feed. A view has bounds and gives whole record batches; it keeps no state of its own.
//!
//! | reading | content | where |
//! |---|---|---|
//! | plain | the partition's log | `plain.rs` |
//! | feed space | runs of sealed batches, re-based (`..feed`, commits, ranges) | `feed_space.rs` |
//! | dedup, latest, live, changed | of a range, the records that the mode emits, found through the feed's links | `filtered.rs`, `selection/`, `emitted.rs` |
//! | one stream | its batches from index 0, open or sealed | `stream.rs` |
//! | history | the manifests (`..commits`), the stream events (`..streams`) | `history.rs` |
//!
//! Re-basing changes only the first 8 bytes of a batch, which lie outside its checksum, so the records are never copied. Only
//! a batch of which a mode emits a part is made anew, with the bytes of those records as they are.

mod bounded;
mod emitted;
mod feed_space;
mod filtered;
mod history;
pub mod link;
pub mod links;
pub mod name;
mod pieces;
mod plain;
mod published;
mod reader;
mod reading;
mod selection;
pub mod selector;
mod stream;

pub use bounded::SealClock;
pub use published::{Index, OpenStreamReading, PartitionEnds, Published};
pub use reader::Reader;
pub use reading::{Bounds, Budget, Extremes, Found, Isolation, Reading, View, ViewError, ViewReadError};
pub use selection::Selections;
pub use selector::{Mode, Selector, ViewName};
