//! Which positions of a subscription are old enough to be forgotten, as Kafka counts it (KIP-211).

use super::ids::{PartitionId, Timestamp};
use super::subscription::{Position, Subscription};

/// What is known of those who read with a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// They are members of no group: each commit is the last sign of one.
    Unknown,
    /// The last member left then.
    LeftAt(Timestamp),
    /// Members are there, and agree on what they read.
    Reading,
    /// Members are there, and it is not known what they read, as while they agree on it anew.
    Agreeing,
}

impl Subscription {
    /// The positions that nobody used for `retention_ms`; members read the topics of which `is_read` says so.
    pub fn expired(
        &self,
        readers: Readers,
        is_read: impl Fn(&str) -> bool,
        retention_ms: i64,
        now: Timestamp,
    ) -> Vec<(String, PartitionId)> {
        // A time that the client gave goes before all that the broker would count from.
        let is_old = |position: &Position, since: Timestamp| match position.expires {
            Some(at) => now >= at,
            None => now.0.saturating_sub(since.0) >= retention_ms,
        };
        let is_expired = |topic: &str, position: &Position| match readers {
            Readers::Unknown => is_old(position, position.at),
            // An operator may have moved it since.
            Readers::LeftAt(left) => is_old(position, position.at.max(left)),
            Readers::Reading => is_old(position, position.at) && !is_read(topic),
            Readers::Agreeing => false,
        };
        let expired = self.positions().filter(|(topic, _, position)| is_expired(topic, position));
        expired.map(|(topic, partition, _)| (topic.to_owned(), partition)).collect()
    }
}
