//! The pure machine: no file, clock, lock or await in here. `decide` reads, `apply` changes.
//!
//! ```text
//! decide_*(&State, wish, now) -> Decision { entries, outcome }    may refuse; knows the settings
//! State::apply(&mut State, &Entry) -> TailWrites                  may not; knows nothing but state and entry
//! ```
//!
//! An entry says what was decided and cannot be derived: the segment that a batch rolls, the time of a seal. What
//! follows from the state (feed offsets, commit numbers, positions in files) is worked out in `apply`.

mod append;
mod apply;
mod check;
pub mod codec;
mod decision;
pub mod entry;
mod expiry;
mod feed;
mod feeds;
pub mod group;
mod history;
pub mod ids;
mod name;
mod producers;
mod seal;
mod share;
mod state;
mod stream;
mod subscription;
mod transaction;
mod trim;
pub mod writes;

#[cfg(test)]
mod tests;

pub use append::{Append, AppendError, AppendOutcome, FeedSettings};
pub use decision::Decision;
pub use entry::{
    Appended, EndReason, Enlisted, Entry, FeedCreated, GroupKept, MovedPosition, PartitionStart, PositionsMoved,
    PositionsStaged, ProducerBound, SealProducer, SealReason, Sealed, StreamNamed, StreamSealed, TransactionEnded,
    Trimmed,
};
pub use expiry::Readers;
pub use feed::{EventLog, Feed, HistoryStart, Partition, Segment, VIEW};
pub use feeds::{
    AddPartitionsError, ConfigureError, CreateFeedError, DeleteFeedError, FEEDS_MAX, PARTITIONS_MAX,
    PARTITIONS_TOTAL_MAX, PartitionsError,
};
pub use history::{
    AbortReason, CommitState, Manifest, ManifestPart, ManifestRun, ManifestTransaction, Sibling, StreamEvent,
    StreamFact, StreamKind, label_hash,
};
pub use ids::{CommitNumber, FeedId, FeedOffset, Lsn, Offset, PartitionId, ProducerId, StreamId, Timestamp};
pub use name::{NAME_LEN_MAX, NameFault, check_feed_name, feed_of_topic, split_feed};
pub use producers::{Producers, SequenceError};
pub use seal::{
    LABEL_BYTES_MAX, METADATA_BYTES_MAX, SEALS_MAX, Seal, SealError, SealOutcome, SealWish, SealingProducer,
};
pub use state::{Overrides, State};
pub use stream::{AppendSpan, EXTENTS_MAX, EXTENTS_TOTAL_MAX, Extent, OpenStream, StreamPart};
pub use subscription::{
    GroupKind, Kept, METADATA_BYTES_TOTAL_MAX, POSITIONS_TOTAL_MAX, Position, SUBSCRIPTIONS_MAX, Subscription,
    SubscriptionError,
};
pub use transaction::{
    Bind, BindError, EndError, EndTransaction, Ending, Enlist, EnlistError, HELD_BYTES_MAX, Held, Identity,
    InTransaction, NameError, NameOutcome, NameStream, OpenTransaction, Rolling, StagePositions,
    TRANSACTION_GROUPS_MAX, TRANSACTION_PARTITIONS_MAX, TRANSACTIONAL_ID_BYTES_MAX, TRANSACTIONAL_IDS_MAX,
    Transactional, Transactions,
};
pub use trim::{DeleteRecords, DropCommits, SealedPlace, TrimError};
pub use writes::{AbortedRow, CommitRow, RunRow, TailWrite, Told, TrimmedLog};
