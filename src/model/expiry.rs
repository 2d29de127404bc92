//! Which positions of a subscription are old enough to be forgotten, as Kafka counts it (KIP-211).

use std::collections::BTreeSet;

use super::ids::{PartitionId, Timestamp};
use super::subscription::{Position, Subscription};

/// What is known of those who read with a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readers {
    /// They are members of no group: each commit is the last sign of one.
    Unknown,
    /// The last member left then.
    LeftAt(Timestamp),
    /// Members read these topics.
    Reading(BTreeSet<String>),
    /// Members are there, and what they read is not known, as while they agree on it anew.
    Agreeing,
}

impl Subscription {
    /// The positions that nobody used for `retention_ms`.
    pub fn expired(&self, readers: &Readers, retention_ms: i64, now: Timestamp) -> Vec<(String, PartitionId)> {
        let is_old = |since: Timestamp| now.0.saturating_sub(since.0) >= retention_ms;
        let is_expired = |topic: &str, position: &Position| match readers {
            Readers::Unknown => is_old(position.at),
            // An operator may have moved it since.
            Readers::LeftAt(left) => is_old(position.at.max(*left)),
            Readers::Reading(topics) => !topics.contains(topic) && is_old(position.at),
            Readers::Agreeing => false,
        };
        let expired = self.positions().filter(|(topic, _, position)| is_expired(topic, position));
        expired.map(|(topic, partition, _)| (topic.to_owned(), partition)).collect()
    }
}
