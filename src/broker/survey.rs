//! What the operator's tools ask of the machine: where the data lies, how large its volume is, who produces.

use std::path::PathBuf;

use super::Broker;
use super::core::Gated;
use super::handles::FeedHandle;
use crate::model::{PartitionId, ProducerId, Producers, State, Timestamp};
use crate::store::FileError;

/// An idempotent producer, as one partition knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerSeen {
    pub id: ProducerId,
    pub epoch: i16,
    pub last_sequence: i32,
    pub last_at: Timestamp,
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
        self.look_at_producers(|state| Some(state.feed(feed.id)?.partition(partition)?.producers()))
    }

    /// Those that the feed's control topic `..seal` remembers.
    pub fn seal_producers(&self, feed: &FeedHandle) -> Gated<Option<Vec<ProducerSeen>>> {
        self.look_at_producers(|state| Some(state.feed(feed.id)?.seal_producers()))
    }

    fn look_at_producers(&self, find: impl FnOnce(&State) -> Option<&Producers>) -> Gated<Option<Vec<ProducerSeen>>> {
        let expiration_ms = self.settings.typed().producer_id_expiration_ms;
        let expired = Timestamp(self.now().0.saturating_sub(expiration_ms));
        self.core.look(|state| find(state).map(|producers| seen(producers, expired)))
    }
}

/// Without those silent since before `expired`, which count as unknown.
fn seen(producers: &Producers, expired: Timestamp) -> Vec<ProducerSeen> {
    let known = producers.iter().filter(|(_, producer)| producer.last_at() >= expired);
    let seen = known.map(|(id, producer)| ProducerSeen {
        id,
        epoch: producer.epoch(),
        last_sequence: producer.last_sequence().unwrap_or(-1),
        last_at: producer.last_at(),
    });
    seen.collect()
}
