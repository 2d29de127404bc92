//! The pure machine: no file, clock, lock or await in here. `decide` reads, `apply` changes.

pub mod entry;
pub mod ids;
pub mod writes;

pub use entry::{Appended, Entry, FeedCreated, SealProducer, SealReason, Sealed, StreamSealed};
pub use ids::{CommitNumber, FeedId, FeedOffset, Lsn, Offset, PartitionId, ProducerId, StreamId, Timestamp};
pub use writes::{CommitRow, RunRow, TailWrite};
