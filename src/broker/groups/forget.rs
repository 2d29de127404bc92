//! Positions that a group loses: at an operator's wish, or because nobody used them for long. Decided under the group's
//! lock, so that none goes that a member has just begun to read.

use std::collections::BTreeSet;

use super::super::{Broker, Gated};
use crate::model::group::GroupError;
use crate::model::{Decision, PartitionId, Readers, Timestamp};

impl Broker {
    /// Forgets positions of a group, but for those in topics that members read, which the outcome names.
    pub fn forget_positions(
        &self,
        group: &str,
        positions: Vec<(String, PartitionId)>,
    ) -> Gated<Result<BTreeSet<String>, GroupError>> {
        if group.is_empty() {
            return Gated { value: Err(GroupError::NoName), durable_at: self.core.next() };
        }
        self.groups.answer(self, group, |running| {
            let machine = &running.machine;
            if !self.knows_group(group, machine) {
                return Gated { value: Err(GroupError::unknown_group(group)), durable_at: self.core.next() };
            }
            if !machine.is_empty() && !machine.tells_topics() {
                return Gated { value: Err(GroupError::NotEmpty), durable_at: self.core.next() };
            }
            let topics: BTreeSet<&str> = positions.iter().map(|(topic, _)| topic.as_str()).collect();
            let read: BTreeSet<String> =
                topics.into_iter().filter(|topic| machine.subscribes_to(topic)).map(str::to_owned).collect();
            let unread = positions.into_iter().filter(|(topic, _)| !read.contains(topic)).collect();
            self.decide(|state| state.decide_forget_positions(group, unread)).map(|_| Ok(read))
        })
    }

    /// Forgets the positions that nobody used for so long, and the group itself when it has no members and none is left.
    /// Returns how many there were.
    pub(in super::super) fn forget_unused(&self, group: &str, retention_ms: i64) -> Result<usize, GroupError> {
        let now = self.now();
        self.groups.with(self, group, |_, running| {
            let machine = &running.machine;
            let topics = self.look_at_positions(group, |subscription| {
                subscription.into_iter().flat_map(|known| known.topics()).map(str::to_owned).collect::<Vec<_>>()
            });
            let read: BTreeSet<String> =
                topics.value.into_iter().filter(|topic| machine.subscribes_to(topic)).collect();
            let forgotten = self.decide(|state| {
                let Some(subscription) = state.subscription(group) else { return Decision::nothing((0, false)) };
                let kept_at = subscription.kept().map_or(Timestamp(i64::MIN), |kept| kept.at);
                let readers = machine.readers(kept_at);
                let expired = subscription.expired(readers, |topic| read.contains(topic), retention_ms, now);
                let num_expired = expired.len();
                // As in Kafka, a group without members that has no position left is gone.
                let is_unused =
                    num_expired == subscription.positions().count() && matches!(readers, Readers::LeftAt(_));
                if is_unused {
                    return state.decide_delete_group(group).map(|_| (num_expired, true));
                }
                state.decide_forget_positions(group, expired).map(|num| (num, false))
            });
            let (num_forgotten, is_deleted) = forgotten.value;
            if is_deleted {
                self.groups.begin_anew(running);
            }
            num_forgotten
        })
    }
}
