//! Where consumer groups read on, as it is told. Moving and forgetting positions is the groups' business, for it needs to be
//! known who reads.

use std::collections::BTreeSet;

use super::Broker;
use super::core::Gated;
use crate::model::{PartitionId, Subscription, Transactions};

/// Positions of a group that open transactions are to move: until these have ended, nobody knows where they will be.
pub struct Unstable<'a>(BTreeSet<(&'a str, PartitionId)>);

impl Unstable<'_> {
    fn of<'a>(transactions: &'a Transactions, group: &'a str) -> Unstable<'a> {
        let staged = transactions.staging(group).filter_map(|(_, known)| known.open()?.staged_for(group));
        Unstable(staged.flat_map(Subscription::positions).map(|(topic, partition, _)| (topic, partition)).collect())
    }

    /// The position of that partition is one of them.
    pub fn holds(&self, topic: &str, partition: PartitionId) -> bool {
        self.0.contains(&(topic, partition))
    }
}

impl Broker {
    /// Looks at a group's positions; none when there is no such group.
    pub fn look_at_positions<T>(&self, group: &str, look: impl FnOnce(Option<&Subscription>) -> T) -> Gated<T> {
        self.core.look(|state| look(state.subscription(group)))
    }

    /// The same, and which of them are about to be moved by a transaction.
    pub fn look_at_stable_positions<T>(
        &self,
        group: &str,
        look: impl FnOnce(Option<&Subscription>, &Unstable<'_>) -> T,
    ) -> Gated<T> {
        self.core.look(|state| {
            let unstable = Unstable::of(state.transactions(), group);
            look(state.subscription(group), &unstable)
        })
    }
}
