//! What the operator's tools ask of the machine: where the data lies, how large its volume is, who produces.

use std::path::PathBuf;

use super::Broker;
use super::core::Gated;
use super::handles::FeedHandle;
use crate::model::{Offset, PartitionId, ProducerId, Producers, Timestamp};
use crate::store::FileError;

/// A producer with sequences, as one partition knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerSeen {
    pub id: ProducerId,
    pub epoch: i16,
    pub last_sequence: i32,
    pub last_at: Timestamp,
    /// Where its open transaction begins in the partition.
    pub transaction_start: Option<Offset>,
}

impl Broker {
    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        let dir = self.store.dir();
        std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned())
    }

    /// Size of the volume that holds the data folder.
    pub fn volume_bytes(&self) -> Result<u64, FileError> {
        self.store.total_bytes()
    }

    /// Bytes of that volume that may still be written.
    pub fn free_bytes(&self) -> Result<u64, FileError> {
        self.store.free_bytes()
    }

    /// The idempotent producers that a partition remembers; none for a partition that is not there.
    pub fn producers(&self, feed: &FeedHandle, partition: PartitionId) -> Gated<Option<Vec<ProducerSeen>>> {
        let (id, expired) = (feed.id, self.producers_expired());
        self.core.look(|state| {
            let start = |producer| state.transaction_start(id, partition, producer);
            Some(seen(state.feed(id)?.partition(partition)?.producers(), expired, start))
        })
    }

    /// Those that the feed's control topic `..seal` remembers.
    pub fn seal_producers(&self, feed: &FeedHandle) -> Gated<Option<Vec<ProducerSeen>>> {
        let expired = self.producers_expired();
        self.core.look(|state| Some(seen(state.feed(feed.id)?.seal_producers(), expired, |_| None)))
    }

    fn producers_expired(&self) -> Timestamp {
        let expiration_ms = self.settings.typed().producer_id_expiration_ms;
        Timestamp(self.now().0.saturating_sub(expiration_ms))
    }
}

/// Without those silent since before `expired`, which count as unknown unless they have a transaction open.
fn seen(producers: &Producers, expired: Timestamp, start: impl Fn(ProducerId) -> Option<Offset>) -> Vec<ProducerSeen> {
    let seen = producers.iter().map(|(id, producer)| ProducerSeen {
        id,
        epoch: producer.epoch(),
        last_sequence: producer.last_sequence().unwrap_or(-1),
        last_at: producer.last_at(),
        transaction_start: start(id),
    });
    seen.filter(|seen| seen.last_at >= expired || seen.transaction_start.is_some()).collect()
}
