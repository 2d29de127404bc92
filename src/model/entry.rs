//! The facts that the journal keeps. A new journaled fact is a new variant here; the compiler then
//! leads to `apply` and to the codec.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::feed::HistoryStart;
use super::ids::{FeedId, FeedOffset, Offset, PartitionId, ProducerId, StreamId, Timestamp};
use super::subscription::GroupKind;
use super::transaction::Identity;

/// One journaled fact. Entries are applied in journal order, live and at recovery alike.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A feed exists from here on.
    FeedCreated(FeedCreated),
    /// A feed and all its history is gone.
    FeedDeleted { feed: FeedId, at: Timestamp },
    /// A feed has `partitions` partitions now (more than before).
    PartitionsAdded { feed: FeedId, partitions: u32, at: Timestamp },
    /// A feed's overrides are now exactly these.
    FeedConfigured { feed: FeedId, overrides: BTreeMap<String, String> },
    /// The dynamic configs of the broker (`broker`: Some(node id)) or of the cluster default (None) are now exactly these.
    BrokerConfigured { broker: Option<i32>, overrides: BTreeMap<String, String> },
    /// A producer id was given out; ids below or equal are never given again.
    ProducerOpened { producer: ProducerId },
    /// The idempotent producers of a partition (none: of the control topic `..seal`) that last wrote before `before` are forgotten.
    ProducersForgotten { feed: FeedId, partition: Option<PartitionId>, before: Timestamp },
    /// A batch stands at the end of a partition's log.
    Appended(Appended),
    /// Streams ended and became commits, all at once.
    Sealed(Sealed),
    /// No commit sealed later may carry a seal time below `at`: a time-bounded view was answered as complete up to there.
    TimeFloor { at: Timestamp },
    /// A feed's history, or the log of a partition, begins later from here on.
    Trimmed(Trimmed),
    /// A consumer group reads on elsewhere.
    PositionsMoved(PositionsMoved),
    /// A consumer group has no position any more on these topics and partitions.
    PositionsForgotten { group: String, positions: Vec<(String, PartitionId)> },
    /// What lasts of a consumer group's membership changed.
    GroupKept(GroupKept),
    /// A consumer group is gone with its positions.
    GroupDeleted { group: String },
    /// A transactional id has this producer from here on.
    ProducerBound(ProducerBound),
    /// An open transaction touches more than before; it begins with the first.
    Enlisted(Enlisted),
    /// An open transaction moves positions of a group if it commits.
    PositionsStaged(PositionsStaged),
    /// The stream that an open transaction has on a feed got a name, and is sealed even when it holds nothing.
    StreamNamed(StreamNamed),
    /// A transaction ended: on all partitions, on all feeds, and with all positions at once.
    TransactionEnded(TransactionEnded),
    /// The transactional ids that were last used before `before` and have nothing open are forgotten.
    TransactionalIdsForgotten { before: Timestamp },
    /// A consumer group's configs are now exactly these. They do not go with the group.
    GroupConfigured { group: String, overrides: BTreeMap<String, String> },
}

/// See [`Entry::FeedCreated`].
#[derive(Clone, Debug, PartialEq)]
pub struct FeedCreated {
    pub feed: FeedId,
    pub name: String,
    pub topic_id: Uuid,
    pub partitions: u32,
    pub overrides: BTreeMap<String, String>,
    pub at: Timestamp,
}

/// See [`Entry::Appended`].
#[derive(Clone, Debug, PartialEq)]
pub struct Appended {
    pub feed: FeedId,
    pub partition: PartitionId,
    /// The offset of the batch's first record.
    pub base_offset: Offset,
    pub at: Timestamp,
    /// The stream that the batch belongs to; opened by this entry if it is new.
    pub stream: StreamId,
    /// True when the batch starts a new segment. Decided once, so that replay lays out the same files.
    pub roll: bool,
    /// When the stream's age seals it, by the settings of this moment. `apply` knows no settings.
    pub due: Timestamp,
    /// The least timestamp of a record, for the manifest; the batch's header tells only the greatest.
    pub timestamp_min: Timestamp,
    /// Records with a null value (tombstones), for the manifest.
    pub tombstones: u32,
    /// The label that the batch's first record gives its stream (header `streamstack-stream`); only kept from the first batch of a stream.
    pub label: Option<String>,
    /// The whole record batch as the producer sent it. The first 16 bytes (base offset, length, leader
    /// epoch) are replaced when it is written: see `batch::placed_head`.
    pub batch: Bytes,
}

/// See [`Entry::Sealed`]. Commit numbers, feed offsets and runs follow from the state and are not repeated here.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// Seal time. Not below any earlier seal time of the feeds involved, nor below the time floor.
    pub at: Timestamp,
    /// In order. Several feeds when a transaction spans them; the same feed twice when its implicit stream is cut first.
    pub streams: Vec<StreamSealed>,
}

/// See [`Entry::Trimmed`]. Nothing begins earlier than before.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    pub feed: FeedId,
    pub at: Timestamp,
    pub start: HistoryStart,
    /// The partitions that begin later, by number.
    pub partitions: Vec<PartitionStart>,
}

/// See [`Entry::PositionsMoved`].
#[derive(Clone, Debug, PartialEq)]
pub struct PositionsMoved {
    pub group: String,
    pub at: Timestamp,
    pub positions: Vec<MovedPosition>,
}

impl PositionsMoved {
    /// True when a position of them is to be forgotten at a time that its client gave.
    pub fn some_expire(&self) -> bool {
        self.positions.iter().any(|moved| moved.expires.is_some())
    }
}

/// One partition's new position. The topic may be a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedPosition {
    pub topic: String,
    pub partition: PartitionId,
    pub offset: i64,
    /// -1: not told.
    pub leader_epoch: i32,
    pub metadata: String,
    /// When it is forgotten, if its client said so.
    pub expires: Option<Timestamp>,
}

/// See [`Entry::GroupKept`]. If the group was of another kind, nothing of its members before is left.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupKept {
    pub group: String,
    pub kind: GroupKind,
    pub at: Timestamp,
    pub head: Bytes,
    /// The members that changed, or left (none).
    pub members: Vec<(String, Option<Bytes>)>,
}

/// See [`Entry::ProducerBound`]. Nothing is open then.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerBound {
    pub id: String,
    pub identity: Identity,
    /// What the producer went on from, if it did: when it names that again it gets the same answer.
    pub previous: Option<Identity>,
    pub timeout_ms: i32,
    pub at: Timestamp,
}

/// See [`Entry::Enlisted`]. What is named here was not part of the transaction before.
#[derive(Clone, Debug, PartialEq)]
pub struct Enlisted {
    pub producer: ProducerId,
    pub at: Timestamp,
    pub partitions: Vec<(FeedId, PartitionId)>,
    /// Feeds to whose `..seal` it writes.
    pub seals: Vec<FeedId>,
    pub groups: Vec<String>,
}

/// See [`Entry::PositionsStaged`].
#[derive(Clone, Debug, PartialEq)]
pub struct PositionsStaged {
    pub producer: ProducerId,
    pub moved: PositionsMoved,
}

/// See [`Entry::StreamNamed`].
#[derive(Clone, Debug, PartialEq)]
pub struct StreamNamed {
    pub feed: FeedId,
    pub at: Timestamp,
    /// The batch to `..seal`, so that a repeat is known.
    pub by: SealProducer,
    pub label: Option<String>,
    /// JSON.
    pub metadata: Option<String>,
}

/// See [`Entry::TransactionEnded`]. What the transaction touched follows from the state.
#[derive(Clone, Debug, PartialEq)]
pub struct TransactionEnded {
    pub id: String,
    /// Its producer.
    pub by: Identity,
    /// The time of the markers and of the seals.
    pub at: Timestamp,
    pub reason: EndReason,
    /// What becomes a commit, in order: on a feed its implicit stream, which is cut, before the transaction's.
    pub seals: Vec<StreamSealed>,
    /// Partitions where the marker starts a new segment.
    pub rolls: Vec<(FeedId, PartitionId)>,
    pub marker_epoch: i16,
    /// Who goes on.
    pub next: Identity,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Committed,
    Aborted,
    /// The same by the second transaction protocol: the producer goes on with the next epoch.
    CommittedNext,
    AbortedNext,
    /// Another producer took over the transactional id.
    Fenced,
    /// It was open for longer than its producer said it would be.
    TimedOut,
    /// The operator's command.
    Operator,
}

/// Where a partition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionStart {
    pub partition: PartitionId,
    /// The first offset of its log.
    pub log: Offset,
    /// The first offset of its feed space.
    pub feed: FeedOffset,
    /// The first row of its runs that is kept.
    pub run: u64,
}

/// One stream that ended in a seal, and with it one commit of its feed.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSealed {
    pub feed: FeedId,
    /// The stream. When it holds no batch it is opened and sealed by this entry: an empty commit.
    pub stream: StreamId,
    pub reason: SealReason,
    /// Names the stream unless its first record did.
    pub label: Option<String>,
    /// JSON, as sent to `..seal`.
    pub metadata: Option<String>,
    /// On the first stream that a batch of an idempotent producer to `..seal` seals, so that a repeat is known.
    pub sealed_by: Option<SealProducer>,
}

/// Identity of the `..seal` batch that asked for a seal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SealProducer {
    pub producer: ProducerId,
    pub epoch: i16,
    /// Of its first record.
    pub sequence: i32,
    /// How many records it holds; each seals one stream.
    pub records: u32,
}

/// Why a stream was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SealReason {
    /// `streamstack.seal.ms` after its first record.
    Time,
    /// `streamstack.seal.records` reached, or as many places in the logs as a stream may lie in.
    Records,
    /// `streamstack.seal.bytes` reached.
    Bytes,
    /// Header `streamstack-seal` on a batch's last record.
    Header,
    /// A record sent to `<feed>..seal`.
    Control,
    /// The operator's command.
    Operator,
    /// Cut before a transaction's commit.
    Cut,
    /// EndTxn(commit).
    Transaction,
}
