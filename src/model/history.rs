//! What the history topics hold: a manifest for each commit (`..commits`) and the events of streams (`..streams`).
//! One record each, key = stream number as text, value = JSON with its fields in this order, one batch a record.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::SealReason;
use super::ids::{StreamId, Timestamp};
use crate::batch::{BatchBuilder, NewRecord};

/// The manifest of a commit. Times are milliseconds since 1970 UTC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub feed: String,
    pub commit: i64,
    pub stream: i64,
    pub label: Option<String>,
    pub kind: StreamKind,
    pub reason: SealReason,
    /// Of a stream of kind `transaction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<ManifestTransaction>,
    pub opened: i64,
    /// None: the commit is empty.
    pub first_append: Option<i64>,
    pub last_append: Option<i64>,
    pub sealed: i64,
    /// Those that have records of the commit.
    pub partitions: Vec<ManifestPart>,
    pub records: i64,
    pub bytes: u64,
    pub tombstones: u64,
    /// Records whose identity occurred before in the feed. Told, like the next one, once the feed has an index that knows the
    /// commit; not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Records whose key did not occur before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_keys: Option<u64>,
    /// Commits of other feeds that were published in the same transaction.
    pub siblings: Vec<Sibling>,
    /// As it was sent to `..seal`.
    pub metadata: Option<Box<RawValue>>,
    pub state: CommitState,
}

/// The transaction that a commit came of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestTransaction {
    pub transactional_id: String,
    pub producer_id: i64,
    pub epoch: i16,
}

/// A commit's records in one partition: `[feed_base, feed_base + count)` of its feed space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestPart {
    pub partition: u32,
    pub feed_base: i64,
    pub count: i64,
    pub bytes: u64,
    /// Where they lie in the partition's log, in feed order.
    pub runs: Vec<ManifestRun>,
    pub min_timestamp: i64,
    pub max_timestamp: i64,
}

/// `[log_base, log_base + count)` of a partition's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestRun {
    pub log_base: i64,
    pub count: i64,
}

/// A commit of another feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sibling {
    pub feed: String,
    pub commit: i64,
}

/// How a stream came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKind {
    /// Produced without a transaction.
    Implicit,
    /// What a transaction wrote to the feed.
    Transaction,
}

/// Why a stream became no commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbortReason {
    /// Its producer aborted the transaction.
    Client,
    /// The transaction was open for too long.
    Timeout,
    /// Another producer took over the transactional id.
    Fenced,
    /// The operator's command.
    Operator,
    /// The transaction was committed and had written nothing to the feed.
    Empty,
}

/// What is left of a commit's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// All of them.
    Live,
    /// Some were deleted.
    Partial,
    /// None.
    Deleted,
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEvent {
    pub feed: String,
    pub stream: i64,
    pub at: i64,
    #[serde(flatten)]
    pub event: StreamFact,
}

/// What happened to a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum StreamFact {
    Opened {
        kind: StreamKind,
        label: Option<String>,
        /// Of the transaction that opened it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transactional_id: Option<String>,
    },
    Sealed {
        commit: i64,
        reason: SealReason,
        label: Option<String>,
        records: i64,
        bytes: u64,
    },
    Aborted {
        reason: AbortReason,
        label: Option<String>,
        records: i64,
        bytes: u64,
    },
}

impl Manifest {
    /// Reads the value of a record of `..commits`.
    pub fn parse(json: &[u8]) -> Result<Manifest, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// As a record of `..commits`.
    pub fn to_batch(&self) -> Bytes {
        to_batch(self.commit, Timestamp(self.sealed), StreamId(self.stream), self)
    }
}

impl StreamEvent {
    /// Reads the value of a record of `..streams`.
    pub fn parse(json: &[u8]) -> Result<StreamEvent, serde_json::Error> {
        serde_json::from_slice(json)
    }

    pub(super) fn to_batch(&self, number: i64) -> Bytes {
        to_batch(number, Timestamp(self.at), StreamId(self.stream), self)
    }
}

/// The hash of a label by which `commits.index` finds it; 0 is none. FNV-1a, 64 bits; frozen, since it is stored.
pub fn label_hash(label: &str) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = label.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    hash.max(1)
}

fn to_batch(number: i64, at: Timestamp, stream: StreamId, value: &impl Serialize) -> Bytes {
    let key = stream.to_string();
    let value = serde_json::to_vec(value).expect("strings, numbers and checked JSON can be written");
    let record = NewRecord { timestamp: at.0, key: Some(key.as_bytes()), value: Some(&value), ..NewRecord::default() };
    BatchBuilder::new(number).record(record).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_hashes_are_those_of_fnv_1a() {
        // From the authors' test vectors.
        assert_eq!(label_hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(label_hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
